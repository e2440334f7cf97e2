//! The L1 of a compute unit: a read cache and a write cache.

use super::l1_table::{L1Action, L1Event, L1State, Step};
use super::write_cache::{Cover, Entry, Marker, WriteCache};
use super::{Missing, Quick, ToL1, Variant};
use crate::parts::{self, AccessSite, FirstLevel, Operand, ResourceNeeds, ToBank, answer, first_lines};
use core::marker::PhantomData;
use proto::parts::{AckCounts, Lines, Place};
use proto::{
    Cause, Controller, Cx, Disposition, Hit, Homes, Input, Key, KindLevel, LineAddr, LineView, Load, Op,
    Order, Rank, RequestInput, SetIndex, Spending, TimerClass, Way,
};

/// The L1 of a compute unit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct L1<V> {
    cache: FirstLevel<L1State>,
    write: WriteCache,
    /// The acks of markers that are due to each waiting release.
    releases: AckCounts,
    variant: PhantomData<V>,
}

impl<V: Variant> L1<V> {
    /// An empty cache without outstanding operations.
    #[must_use]
    pub fn new(level: &KindLevel, params: &super::Params) -> Self {
        L1 {
            cache: FirstLevel::new(level, L1State::I),
            write: WriteCache::new(params.shapes[0]),
            releases: AckCounts::default(),
            variant: PhantomData,
        }
    }

    /// Performs one step of a request's plan. Returns `None` if the request goes on with the next step.
    fn perform<P: Quick>(
        &mut self,
        step: Step,
        ask: RequestInput<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Option<Disposition> {
        let line = ask.req.line;
        if ask.req.order != Order::Plain && step != Step::AnswerIt {
            let on = if step == Step::Release { Spending::Release } else { Spending::Access };
            cx.fx.spend(ask.slot, on);
        }
        match step {
            Step::Load => Some(self.load(ask, cx)),
            Step::Put => {
                self.make_room(Some(line), cx);
                self.event(line, L1Event::Store, Operand::Request(ask), cx).unless_done()
            }
            Step::Release => Some(self.release(ask, cx)),
            Step::Trail => {
                self.mark(Marker { requester: cx.me, slot: None }, ask, cx);
                None
            }
            Step::Leave => self.event(line, L1Event::Leave, Operand::Nothing, cx).unless_done(),
            Step::Mark => {
                self.make_room(None, cx);
                self.write.queue(line);
                None
            }
            Step::Atomic => self.cache.lower.below(ask, AccessSite::System, cx),
            Step::AnswerIt => answer(ask, cx),
        }
    }

    /// Performs a load. If it needs a miss register or a way, and none is free, the load waits.
    fn load<P: Quick>(&mut self, ask: RequestInput<'_>, cx: &mut Cx<'_, P>) -> Disposition {
        let place = self.cache.array.place(ask.req.line, cx.world.homes);
        let state = place.way.map_or(L1State::I, |way| self.cache.array.state(way));
        let mut event = L1Event::Load;
        if state != L1State::V {
            cx.fx.uses.tag_lookups += 1;
            event = match self.write.cover(place.line, ask.req.mask) {
                Cover::None => L1Event::Load,
                Cover::Part => L1Event::LoadPart,
                Cover::Whole => L1Event::LoadCovered,
            };
        }
        let register = matches!(state, L1State::I | L1State::W) && event != L1Event::LoadCovered;
        let needs = ResourceNeeds { entry: false, register, way: register };
        match self.cache.lacks(place, needs, cx) {
            Some(wait) => wait,
            None => self.transition(place, state, event, Operand::Request(ask), cx),
        }
    }

    /// Begins a release. The request waits for the acks of its marker.
    fn release<P: Quick>(&mut self, ask: RequestInput<'_>, cx: &mut Cx<'_, P>) -> Disposition {
        cx.fx.uses.flushes.count(Cause::of(ask.req));
        cx.stage += 1;
        self.mark(Marker { requester: cx.me, slot: Some(ask.slot) }, ask, cx);
        Disposition::Stall(Key::Slot(ask.slot))
    }

    /// Puts a marker into the S-FIFO. If there is nothing before it, it passes to the L2 at once.
    fn mark<P: Quick>(&mut self, marker: Marker, ask: RequestInput<'_>, cx: &mut Cx<'_, P>) {
        if self.write.is_empty() || cx.world.params.lacks(Missing::MarkerOrder) {
            return self.pass(marker, cx);
        }
        self.make_room(None, cx);
        let is_of_all = matches!(ask.req.op, Op::KernelEnd(_)) || !cx.world.params.splits;
        match is_of_all {
            true => self.write.mark(marker),
            false => self.write.mark_of(marker, ask.req.issuer),
        }
    }

    /// Sends a marker to all banks of the L2, behind the writes that have left.
    fn pass<P: Quick>(&mut self, marker: Marker, cx: &mut Cx<'_, P>) {
        let mut banks = 0;
        for bank in cx.world.levels.all_below(cx.me) {
            cx.fx.send(bank, super::ToL2::Marker { marker });
            banks += 1;
        }
        if let Some(slot) = marker.slot {
            self.releases.expect(slot, banks);
        }
    }

    /// Frees an entry of a full S-FIFO, and a way for a line that will be written.
    fn make_room<P: Quick>(&mut self, line: Option<LineAddr>, cx: &mut Cx<'_, P>) {
        if self.write.is_full() {
            self.pop(cx);
        }
        if let Some(victim) = line.and_then(|line| self.write.victim(line)) {
            self.leave(victim, cx);
        }
    }

    /// Removes the oldest entry of the S-FIFO. Its line leaves the write cache.
    fn pop<P: Quick>(&mut self, cx: &mut Cx<'_, P>) {
        match self.write.pop() {
            Some(Entry::Line(line)) if self.write.get(line).is_some() => self.leave(line, cx),
            Some(Entry::Marker(marker)) => self.pass(marker, cx),
            Some(Entry::Line(_)) | None => {}
        }
    }

    fn leave<P: Quick>(&mut self, line: LineAddr, cx: &mut Cx<'_, P>) {
        if let Disposition::Impossible(why) = self.event(line, L1Event::Leave, Operand::Nothing, cx) {
            cx.impossible(why);
        }
    }

    fn message<P: Quick>(&mut self, msg: &ToL1, cx: &mut Cx<'_, P>) -> Disposition {
        match *msg {
            ToL1::Inv { line } => self.event(line, L1Event::Inv, Operand::Nothing, cx),
            ToL1::Bank(parts::ToL1::Data { line, ref data }) => {
                let is_written = self.write.get(line).is_some();
                let event = if is_written { L1Event::DataWritten } else { L1Event::Data };
                self.event(line, event, Operand::Fill(data), cx)
            }
            ToL1::Bank(parts::ToL1::BankDone { slot }) if self.releases.answered(slot, cx) => {
                Disposition::Done
            }
            ToL1::Bank(ref msg) => self.cache.lower.message(msg, cx),
        }
    }
}

impl<V: Variant, P: Quick> Lines<P> for L1<V> {
    type Operand<'a> = Operand<'a>;

    first_lines! { cache: V::L1, absent: L1State::I }

    fn classify(&self, place: Place, event: L1Event, _: Operand<'_>) -> (L1State, L1Event) {
        (place.way.map_or(L1State::I, |way| self.cache.array.state(way)), event)
    }

    fn act(&mut self, action: L1Action, place: Place, operand: Operand<'_>, cx: &mut Cx<'_, P>) {
        let Place { line, way, .. } = place;
        match (action, way, operand) {
            (L1Action::SendGet, Some(way), _) => {
                self.cache.array.keep_dirty(way);
                self.cache.get(line, cx);
            }
            (L1Action::Reply, Some(way), Operand::Request(ask)) => self.cache.reply(way, ask, cx),
            (L1Action::ReplyWritten, _, Operand::Request(ask)) => {
                let Some(dirty) = self.write.get(line) else { return cx.lacks_operand(action) };
                cx.fx.uses.data_reads += 1;
                cx.fx.reply(ask.slot, dirty.data);
            }
            (L1Action::Merge, _, Operand::Request(ask)) => {
                cx.fx.uses.data_writes += 1;
                self.write.write(line, ask.req.mask, &ask.req.data, ask.req.issuer);
            }
            (L1Action::WriteOut, ..) => {
                let Some(dirty) = self.write.take(line) else { return };
                cx.fx.uses.data_reads += 1;
                cx.fx.uses.lines_written_out += 1;
                let (mask, data) = (dirty.mask, dirty.data);
                cx.fx.send(cx.below(line), ToBank::Write { line, mask, data, parity: false });
            }
            (L1Action::Fill, Some(way), Operand::Fill(data)) => self.cache.fill(way, data, cx),
            (L1Action::Answer, _, Operand::Fill(data)) => cx.fx.reply_waiters(line, *data),
            (L1Action::Wake, ..) => self.cache.end_get(place, cx),
            (L1Action::Ack, ..) => {
                cx.fx.uses.lines_invalidated += u32::from(way.is_some());
                cx.fx.send(cx.below(line), super::ToL2::Acked);
            }
            _ => cx.lacks_operand(action),
        }
    }
}

impl<V: Variant, P: Quick> Controller<P> for L1<V> {
    type Msg = ToL1;

    fn step(&mut self, input: Input<'_, ToL1>, cx: &mut Cx<'_, P>) -> Disposition {
        let disposition = match input {
            Input::Request(ask) => cx.follow::<V::Plans>(ask, |step, cx| self.perform(step, ask, cx)),
            Input::Message { msg, .. } => self.message(msg, cx),
            Input::Evict(way) => self.event_in(way, L1Event::Evict, Operand::Nothing, cx),
            Input::Timer(TimerClass::Drain) => {
                self.pop(cx);
                Disposition::Done
            }
            Input::Timer(_) => Disposition::Impossible("the controller has not armed this timer"),
            Input::Memory(_) => Disposition::Impossible("an L1 does not access memory"),
            Input::Tick { .. } => Disposition::Done,
        };
        if self.write.has_marker() {
            cx.fx.timer(TimerClass::Drain);
        }
        disposition
    }

    #[inline]
    fn hit(&self, load: &Load, homes: &Homes) -> Option<Hit<'_>> {
        self.cache.hit::<V::L1, V::Plans>(load, homes, Step::Load, (L1Event::Load, L1Action::Reply))
    }

    fn victims(&self, set: SetIndex, out: &mut Vec<(Way, Rank)>) {
        let is_settled = |state| matches!(state, L1State::V | L1State::W);
        out.extend(self.cache.array.in_set_where(set, is_settled).map(|way| (way, Rank(0))));
    }

    fn occupied(&self, set: SetIndex, out: &mut Vec<Way>) {
        out.extend(self.cache.array.in_set(set));
    }

    fn limit_ways(&mut self, ways: u32) -> bool {
        self.cache.array.limit_ways(ways);
        true
    }

    fn lines(&self, out: &mut Vec<LineView>) {
        self.cache.array.views::<V::L1>(out);
    }

    fn is_quiet(&self) -> bool {
        self.cache.is_quiet() && !self.write.has_marker() && self.releases.is_idle()
    }

    fn miscount(&self) -> Option<&'static str> {
        let is_filling = |state| matches!(state, L1State::IV | L1State::IX);
        let fills = self.cache.array.count_where(is_filling);
        self.cache.miscount(fills..=fills, |_| false).or_else(|| self.write.miscount())
    }

    fn canonicalize(&mut self) {
        self.cache.canonicalize();
    }
}
