//! A cache: the L1 of a compute unit, or the cache of a host.

use super::cache_table::{Action, CachePlans, CacheTable, Event, State, Step};
use super::{Coherent, ToCache, ToDirectory};
use crate::parts::{FirstLevel, Operand, ResourceNeeds, answer, first_lines, first_views, performed};
use core::fmt::Debug;
use core::hash::Hash;
use core::marker::PhantomData;
use proto::parts::{Lines, Place};
use proto::{
    ByteMask, Controller, Cx, Disposition, Hit, Homes, Input, Key, KindLevel, LineAddr, LineData, Load, Op,
    Rank, RequestInput, SetIndex, Table, Way,
};

/// A table of a line in a cache: that of `moesi`, or a table with other rows for another directory.
pub trait CacheRows:
    Table<State = State, Event = Event, Action = Action> + Clone + Debug + Eq + Hash
{
}
impl<T: Table<State = State, Event = Event, Action = Action> + Clone + Debug + Eq + Hash> CacheRows for T {}

/// The lines of a cache, and its requests under way at the directory. `T` is the table of the lines.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cache<T = CacheTable> {
    cache: FirstLevel<State>,
    table: PhantomData<T>,
}

impl<T: CacheRows> Cache<T> {
    /// An empty cache.
    #[must_use]
    pub fn new(level: &KindLevel) -> Self {
        Cache { cache: FirstLevel::new(level, State::I), table: PhantomData }
    }

    /// Performs one step in the plan (list of steps) of a request. If the result is `None`, the
    /// request continues with the next step.
    fn perform<P: Coherent>(
        &mut self,
        step: Step,
        ask: RequestInput<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Option<Disposition> {
        match step {
            Step::Here => Some(self.access(ask, cx)),
            Step::AnswerIt => answer(ask, cx),
        }
    }

    /// Carries out the event of an access, unless the access must wait for a way or a miss register.
    fn access<P: Coherent>(&mut self, ask: RequestInput<'_>, cx: &mut Cx<'_, P>) -> Disposition {
        let event = if ask.req.op == Op::Load { Event::Load } else { Event::Store };
        let place = self.cache.array.place(ask.req.line, cx.world.homes);
        let state = place.way.map_or(State::I, |way| self.cache.array.state(way));
        let register = match state {
            State::I => true,
            State::S | State::O => event == Event::Store,
            _ => false,
        };
        let needs = ResourceNeeds { entry: false, register, way: true };
        match self.cache.lacks(place, needs, cx) {
            Some(lacking) => lacking,
            None => self.transition(place, state, event, Operand::Request(ask), cx),
        }
    }

    /// Takes a miss register, and sends a request to the directory.
    fn request<P: Coherent>(&mut self, line: LineAddr, msg: ToDirectory, cx: &mut Cx<'_, P>) {
        self.cache.begin_fill(cx);
        cx.fx.send(cx.below(line), msg);
    }

    /// Performs a store or a read-modify-write on a line that no other cache has, and answers.
    fn write<P: Coherent>(&mut self, way: Way, ask: RequestInput<'_>, cx: &mut Cx<'_, P>) {
        let (op, mask, data) = (ask.req.op, ask.req.mask, &ask.req.data);
        if op == Op::Store {
            self.cache.write(way, data, mask, cx);
            cx.fx.accept(ask.slot);
        } else {
            let (old, _) = self.cache.perform(way, op, data, mask, cx);
            performed(ask, old, cx);
        }
    }

    /// The bytes of the line in a way, and the mask of all bytes.
    fn whole<P: Coherent>(&self, way: Way, cx: &mut Cx<'_, P>) -> (ByteMask, LineData) {
        cx.fx.uses.data_reads += 1;
        (full(cx), self.cache.array.read(way))
    }
}

/// The mask of all bytes of a line.
fn full<P: Coherent>(cx: &Cx<'_, P>) -> ByteMask {
    ByteMask::full(usize::from(cx.level().line_bytes))
}

impl<P: Coherent, T: CacheRows> Lines<P> for Cache<T> {
    type Operand<'a> = Operand<'a>;

    first_lines! { cache: T, absent: State::I }

    fn classify(&self, place: Place, event: Event, _: Operand<'_>) -> (State, Event) {
        (place.way.map_or(State::I, |way| self.cache.array.state(way)), event)
    }

    fn act(&mut self, action: Action, place: Place, operand: Operand<'_>, cx: &mut Cx<'_, P>) {
        let Place { line, way, .. } = place;
        let directory = cx.below(line);
        match (action, way, operand) {
            (Action::SendGetS, ..) => self.request(line, ToDirectory::GetS { line }, cx),
            (Action::SendGetM, ..) => self.request(line, ToDirectory::GetM { line }, cx),
            (Action::SendUpgrade, ..) => self.request(line, ToDirectory::Upgrade { line }, cx),
            (Action::Reply, Some(way), Operand::Request(ask)) => self.cache.reply(way, ask, cx),
            (Action::Write, Some(way), Operand::Request(ask)) => self.write(way, ask, cx),
            (Action::Fill, Some(way), Operand::Fill(data)) => self.cache.fill(way, data, cx),
            (Action::FillDirty, Some(way), Operand::Fill(data)) => {
                self.cache.write(way, data, full(cx), cx);
            }
            (Action::MarkDirty, Some(way), _) => {
                let data = self.cache.array.read(way);
                self.cache.array.write(way, &data, full(cx));
            }
            (Action::Answer, _, Operand::Fill(data)) => cx.fx.reply_waiters(line, *data),
            (Action::Wake, ..) => {
                // The inputs that wait for the line come first. So a write is performed before the line
                // can leave the cache again.
                cx.fx.wake(Key::Line(line));
                self.cache.end_fill(place, cx);
            }
            (Action::Ack, ..) => cx.fx.send(directory, ToDirectory::Ack { line }),
            (Action::AckBytes, Some(way), _) => {
                let (mask, data) = self.whole(way, cx);
                cx.fx.send(directory, ToDirectory::AckBytes { line, mask, data });
            }
            (Action::Drop, Some(way), _) => {
                self.cache.array.clean(way);
                self.cache.array.keep_dirty(way);
            }
            (Action::SendClean, Some(way), _) => {
                let (_, data) = self.whole(way, cx);
                cx.fx.send(directory, ToDirectory::Clean { line, data });
            }
            (Action::SendDirty, Some(way), _) => {
                let (mask, data) = self.whole(way, cx);
                cx.fx.send(directory, ToDirectory::Dirty { line, mask, data });
            }
            (Action::SendGone, ..) => cx.fx.send(directory, ToDirectory::Gone { line }),
            (Action::Put, Some(way), _) => {
                let (mask, data) = self.cache.dirty_bytes(way);
                cx.fx.uses.data_reads += 1;
                cx.fx.uses.lines_written_out += 1;
                cx.fx.send(directory, ToDirectory::Put { line, mask, data });
            }
            _ => cx.lacks_operand(action),
        }
    }
}

impl<P: Coherent, T: CacheRows> Controller<P> for Cache<T> {
    type Msg = ToCache;

    fn step(&mut self, input: Input<'_, ToCache>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Request(ask) => cx.follow::<CachePlans>(ask, |step, cx| self.perform(step, ask, cx)),
            Input::Message { msg, .. } => {
                let (line, event, operand) = match msg {
                    ToCache::DataS { line, data } => (line, Event::DataS, Operand::Fill(data)),
                    ToCache::DataE { line, data } => (line, Event::DataE, Operand::Fill(data)),
                    ToCache::DataM { line, data } => (line, Event::DataM, Operand::Fill(data)),
                    ToCache::Grant { line } => (line, Event::Grant, Operand::Nothing),
                    ToCache::Inv { line } => (line, Event::Inv, Operand::Nothing),
                    ToCache::Share { line } => (line, Event::Share, Operand::Nothing),
                };
                self.event(*line, event, operand, cx)
            }
            Input::Evict(way) => self.event_in(way, Event::Evict, Operand::Nothing, cx),
            Input::Timer(_) | Input::Memory(_) => {
                Disposition::Impossible("a cache has no timer, and memory is not below it")
            }
            Input::Tick { .. } => Disposition::Done,
        }
    }

    fn hit(&self, load: &Load, homes: &Homes) -> Option<Hit<'_>> {
        self.cache.hit::<T, CachePlans>(load, homes, Step::Here, (Event::Load, Action::Reply))
    }

    fn victims(&self, set: SetIndex, out: &mut Vec<(Way, Rank)>) {
        let is_settled = |state| matches!(state, State::S | State::E | State::O | State::M);
        out.extend(self.cache.array.in_set_where(set, is_settled).map(|way| (way, Rank(0))));
    }

    fn miscount(&self) -> Option<&'static str> {
        let is_requested = |state| matches!(state, State::IS | State::IM | State::SU | State::OU);
        let fills = self.cache.array.count_where(is_requested);
        self.cache.miscount(fills..=fills, |_| false)
    }

    first_views! { cache: T }
}
