//! The L1 cache of a compute unit.

use super::l1_table::{LineAction, LineEvent, LineState};
use super::plans::{L1Plans, Step};
use crate::registration::{How, Params, Reach, ToBank, ToL1, answer_bytes, bank, perform};
use crate::vi::Answer;
use core::fmt::Debug;
use core::hash::Hash;
use core::marker::PhantomData;
use proto::parts::{CacheArray, Lines, Place};
use proto::{
    Ask, ByteMask, Cause, Controller, Cx, Disposition, Input, Key, LineAddr, LineData, LineView, NodeId, Op,
    Order, Protocol, Rank, Row, SetIndex, Slot, Symbol, Table, TimerClass, Way, WritePolicy,
};

/// The table of the lines.
pub trait Rows:
    Table<State = LineState, Event = LineEvent, Action = LineAction> + Clone + Eq + Hash + Debug
{
}
impl<T: Table<State = LineState, Event = LineEvent, Action = LineAction> + Clone + Eq + Hash + Debug> Rows
    for T
{
}

/// An L1 cache with the rows of a protocol.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct L1<T> {
    array: CacheArray<LineState>,
    reach: Reach,
    fills: u32,
    retains: bool,
    rows: PhantomData<T>,
}

/// An atomic of another cache.
#[derive(Clone, Copy, Debug)]
pub struct Forwarded<'a> {
    mask: ByteMask,
    data: &'a LineData,
    op: Op,
    slot: Slot,
    asker: NodeId,
}

/// What an event brings with it.
#[derive(Clone, Copy, Debug)]
pub enum Carried<'a> {
    /// A request.
    Request(Ask<'a>),
    /// An atomic of another cache.
    Forwarded(Forwarded<'a>),
    /// The bytes of a fill.
    Fill(&'a LineData),
    /// Registration: the bytes that were asked for, the request that waits, and
    /// the bytes of the line.
    Grant(ByteMask, Option<Slot>, &'a LineData),
    /// Nothing.
    Nothing,
}

impl<T: Rows> L1<T> {
    /// An empty cache.
    #[must_use]
    pub fn new(params: &Params) -> Self {
        L1 {
            array: CacheArray::new(&params.shape.l1, params.shape.line_bytes, 1, LineState::I),
            reach: Reach::default(),
            fills: 0,
            retains: params.retains,
            rows: PhantomData,
        }
    }

    fn request<P>(&mut self, ask: Ask<'_>, cx: &mut Cx<'_, P>) -> Disposition
    where
        P: Protocol<Params = Params, Msg: From<ToBank> + From<ToL1>>,
    {
        let line = ask.req.line;
        while let Some(step) = cx.step_of::<L1Plans>(ask.req, cx.stage) {
            step.spends(ask, cx.fx);
            let shape = &cx.world.params.shape;
            let parked = match step {
                Step::Here => {
                    let stage = cx.stage;
                    let event = event_of(ask);
                    let disposition = self.here(ask, event, cx);
                    if cx.stage == stage {
                        return disposition;
                    }
                    if event == LineEvent::Sync {
                        return Disposition::Stall(Key::Slot(ask.slot));
                    }
                    continue;
                }
                Step::Perform => {
                    let place = Place { line, way: self.array.find(line) };
                    let state = self.classify(place.way, Some(ask));
                    self.transition(place, state, LineEvent::Sync, Carried::Request(ask), cx).not_done()
                }
                Step::InvalidateRest => self.invalidate(Cause::Atomic, Some(line), cx).not_done(),
                Step::Pass => self.line_event(line, LineEvent::Pass, Carried::Nothing, cx).not_done(),
                Step::Below => Some(self.reach.below(ask, How::Data, cx)),
                Step::Anywhere => Some(self.reach.below(ask, How::Anywhere, cx)),
                Step::Unregistered => Some(self.reach.below(ask, How::Unregistered, cx)),
                Step::BelowSystem => Some(self.reach.below(ask, How::System, cx)),
                Step::Post => {
                    self.reach.post(ask, cx);
                    None
                }
                Step::Flush => {
                    let parked = self.reach.flush(ask, cx);
                    self.drain_if_due(cx);
                    parked
                }
                Step::Invalidate => self.invalidate(Cause::of(ask.req), None, cx).not_done(),
                Step::FlushBanks => {
                    Some(self.reach.tell_banks(ask.slot, shape, |slot| ToBank::Flush { slot }, cx))
                }
                Step::InvalidateBanks => {
                    Some(self.reach.tell_banks(ask.slot, shape, |slot| ToBank::Invalidate { slot }, cx))
                }
                Step::AnswerIt => {
                    match ask.req.reads() {
                        true => cx.fx.reply(ask.slot, *ask.data),
                        false => cx.fx.accept(ask.slot),
                    }
                    None
                }
            };
            if let Some(disposition) = parked {
                return disposition;
            }
            cx.stage += 1;
        }
        Disposition::Done
    }

    /// An access on the line in this cache, once the guards let it.
    fn here<P>(&mut self, ask: Ask<'_>, event: LineEvent, cx: &mut Cx<'_, P>) -> Disposition
    where
        P: Protocol<Params = Params, Msg: From<ToBank> + From<ToL1>>,
    {
        let line = ask.req.line;
        let way = self.array.find(line);
        let state = self.classify(way, Some(ask));
        let shape = &cx.world.params.shape;
        // What the row would do says what it must find room for.
        if let Row::Do { actions, next, .. } = T::row(state, event) {
            let does = |wanted: &[LineAction]| actions.iter().any(|action| wanted.contains(action));
            let is_clean = way.is_none_or(|w| self.array.dirty(w).is_empty());
            if ask.req.op != Op::Load
                && is_clean
                && does(&[LineAction::Merge, LineAction::PerformQueued])
                && self.reach.buffer.lines() >= shape.l1.store_buffer_entries
            {
                cx.fx.timer(TimerClass::Drain);
                return Disposition::Stall(Key::StoreBuffer);
            }
            let fills = does(&[LineAction::SendGet, LineAction::SendRegister]);
            if fills && self.fills >= shape.l1.miss_registers {
                return Disposition::Stall(Key::Miss);
            }
            if way.is_none() && next.is_some() && self.array.free_way(line).is_none() {
                return Disposition::NeedWay(self.array.set(line));
            }
        }
        self.transition(Place { line, way }, state, event, Carried::Request(ask), cx)
    }

    fn classify(&self, way: Option<Way>, ask: Option<Ask<'_>>) -> LineState {
        let Some(way) = way else { return LineState::I };
        let misses = |ask: Ask<'_>| ask.req.op != Op::Store && !self.array.valid(way).contains(ask.req.mask);
        match self.array.state(way) {
            LineState::V if ask.is_some_and(|a| event_of(a) == LineEvent::Load && misses(a)) => LineState::P,
            LineState::R if ask.is_some_and(misses) => LineState::RP,
            state => state,
        }
    }

    /// An event of a line, wherever it is.
    fn line_event<P>(
        &mut self,
        line: LineAddr,
        event: LineEvent,
        carried: Carried<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Disposition
    where
        P: Protocol<Params = Params, Msg: From<ToBank> + From<ToL1>>,
    {
        let way = self.array.find(line);
        let is_dirty = way.is_some_and(|w| !self.array.dirty(w).is_empty());
        let event = match event {
            LineEvent::Pass if is_dirty => LineEvent::PassDirty,
            LineEvent::Data if is_dirty => LineEvent::DataDirty,
            LineEvent::Evict if is_dirty => LineEvent::EvictDirty,
            LineEvent::Inv if is_dirty => LineEvent::InvDirty,
            event => event,
        };
        let mut state = self.classify(way, None);
        if let (Carried::Forwarded(asked), Some(way), LineState::R) = (carried, way, state)
            && asked.op != Op::Store
            && !self.array.valid(way).contains(asked.mask)
        {
            state = LineState::RP;
        }
        self.transition(Place { line, way }, state, event, carried, cx)
    }

    fn message<P>(&mut self, msg: &ToL1, cx: &mut Cx<'_, P>) -> Disposition
    where
        P: Protocol<Params = Params, Msg: From<ToBank> + From<ToL1>>,
    {
        let (line, event, carried) = match *msg {
            ToL1::Data { line, ref data } => (line, LineEvent::Data, Carried::Fill(data)),
            ToL1::Grant { line, mask, slot, ref data } => {
                (line, LineEvent::Grant, Carried::Grant(mask, slot, data))
            }
            ToL1::Recall { line } => (line, LineEvent::Recall, Carried::Nothing),
            ToL1::Forward { line, mask, ref data, op, slot, asker } => {
                (line, LineEvent::Forward, Carried::Forwarded(Forwarded { mask, data, op, slot, asker }))
            }
            ToL1::Serve { .. } => return Disposition::Impossible("data of a registered line is at the L2"),
            ToL1::WriteAck { .. } | ToL1::Done { .. } | ToL1::BankDone { .. } => {
                let due = self.reach.message(msg, cx);
                return if due { Disposition::Done } else { Disposition::Impossible("nothing was due") };
            }
        };
        self.line_event(line, event, carried, cx)
    }

    fn evict<P>(&mut self, way: Way, cx: &mut Cx<'_, P>) -> Disposition
    where
        P: Protocol<Params = Params, Msg: From<ToBank> + From<ToL1>>,
    {
        let Some(line) = self.array.line(way) else {
            return Disposition::Impossible("an empty way cannot be given up");
        };
        cx.fx.uses.sync_evictions += u32::from(self.array.state(way) == LineState::R);
        self.line_event(line, LineEvent::Evict, Carried::Nothing, cx)
    }

    fn drain<P>(&mut self, cx: &mut Cx<'_, P>) -> Disposition
    where
        P: Protocol<Params = Params, Msg: From<ToBank> + From<ToL1>>,
    {
        let Some(line) = self.reach.pop(|_| true, cx) else { return Disposition::Done };
        let event = match cx.world.params.shape.l1.policy {
            WritePolicy::ThroughInvalidate => LineEvent::DrainDrop,
            WritePolicy::Combining | WritePolicy::Through => LineEvent::Drain,
        };
        cx.fx.wake(Key::StoreBuffer);
        self.line_event(line, event, Carried::Nothing, cx)
    }

    /// Keeps the buffer draining for as long as something asks for it.
    fn drain_if_due<P>(&mut self, cx: &mut Cx<'_, P>)
    where
        P: Protocol<Params = Params>,
    {
        let buffer = &self.reach.buffer;
        let eager = cx.world.params.shape.l1.policy != WritePolicy::Combining && buffer.lines() > 0;
        if (eager || buffer.has_flush()) && !buffer.is_blocked() {
            cx.fx.timer(TimerClass::Drain);
        }
    }

    fn invalidate<P>(&mut self, cause: Cause, but: Option<LineAddr>, cx: &mut Cx<'_, P>) -> Disposition
    where
        P: Protocol<Params = Params, Msg: From<ToBank> + From<ToL1>>,
    {
        cx.fx.uses.invalidations.count(cause);
        for way in 0..self.array.way_count() {
            let Some(line) = self.array.line(Way(way)).filter(|&line| Some(line) != but) else { continue };
            cx.fx.uses.lines_invalidated += 1;
            let done = self.line_event(line, LineEvent::Inv, Carried::Nothing, cx);
            if done != Disposition::Done {
                return done;
            }
        }
        Disposition::Done
    }

    /// Performs an atomic on the bytes of a line, and answers it.
    fn perform<P>(&mut self, way: Way, carried: Carried<'_>, queues: bool, cx: &mut Cx<'_, P>)
    where
        P: Protocol<Params = Params, Msg: From<ToBank> + From<ToL1>>,
    {
        let (op, operands, mask) = match carried {
            Carried::Request(ask) => (ask.req.op, &ask.req.data, ask.req.mask),
            Carried::Forwarded(asked) => (asked.op, asked.data, asked.mask),
            Carried::Fill(_) | Carried::Grant(..) | Carried::Nothing => return,
        };
        cx.fx.uses.data_reads += 1;
        let mut bytes = self.array.read(way);
        let old = perform(&mut bytes, op, operands, mask);
        if op != Op::Load {
            cx.fx.uses.atomics += 1;
            cx.fx.uses.data_writes += 1;
            if self.array.write(way, &bytes, mask)
                && queues
                && let Some(line) = self.array.line(way)
            {
                self.reach.buffer.push(line);
            }
        }
        match carried {
            Carried::Request(ask) if ask.req.reads() => cx.fx.reply(ask.slot, old),
            Carried::Request(ask) => cx.fx.accept(ask.slot),
            Carried::Forwarded(Forwarded { slot, asker, .. }) => {
                cx.fx.send(asker, ToL1::Done { slot, bytes: answer_bytes(op, mask), data: old });
            }
            Carried::Fill(_) | Carried::Grant(..) | Carried::Nothing => {}
        }
    }
}

/// What a request is to the line in this cache.
fn event_of(ask: Ask<'_>) -> LineEvent {
    let req = ask.req;
    match req.op {
        _ if req.acquires() || req.releases() => LineEvent::Sync,
        Op::Load if req.order == Order::Plain => LineEvent::Load,
        Op::Store if req.order == Order::Plain => LineEvent::Store,
        _ => LineEvent::Relaxed,
    }
}

impl<P, T: Rows> Lines<P> for L1<T>
where
    P: Protocol<Params = Params, Msg: From<ToBank> + From<ToL1>>,
{
    type Table = T;
    type Carried<'a> = Carried<'a>;
    const ABSENT: LineState = LineState::I;

    fn array(&mut self) -> &mut CacheArray<LineState> {
        &mut self.array
    }

    fn act(&mut self, action: LineAction, place: Place, carried: Carried<'_>, cx: &mut Cx<'_, P>) {
        let line = place.line;
        if let (LineAction::Bounce, Carried::Forwarded(asked)) = (action, carried) {
            let Forwarded { mask, data, op, slot, asker } = asked;
            let (how, answer) = (How::Unregistered, Answer::Request(slot));
            let access = ToBank::Access { line, mask, data: *data, op, how, answer, asker };
            return cx.fx.send(bank(cx, line), access);
        }
        let Some(way) = place.way else { return };
        match (action, carried) {
            (LineAction::SendGet, _) => {
                self.fills += 1;
                cx.fx.uses.fetches += 1;
                cx.fx.send(bank(cx, line), ToBank::Get { line });
            }
            (LineAction::SendRegister, Carried::Request(ask)) => {
                self.fills += 1;
                cx.fx.uses.fetches += 1;
                // Who only needs the bytes anew waits for the line.
                let slot = (self.array.state(way) != LineState::R).then_some(ask.slot);
                cx.fx.send(bank(cx, line), ToBank::Register { line, mask: ask.req.mask, slot });
            }
            (LineAction::Reply, Carried::Request(ask)) => {
                cx.fx.uses.data_reads += 1;
                cx.fx.reply(ask.slot, self.array.read(way));
            }
            (LineAction::Merge, Carried::Request(ask)) => {
                cx.fx.uses.data_writes += 1;
                if self.array.write(way, &ask.req.data, ask.req.mask) {
                    self.reach.buffer.push(line);
                }
            }
            (LineAction::Accept, Carried::Request(ask)) => cx.fx.accept(ask.slot),
            (LineAction::Perform, _) => self.perform(way, carried, false, cx),
            (LineAction::PerformQueued, _) => self.perform(way, carried, true, cx),
            (LineAction::Unqueue, _) => {
                self.reach.buffer.remove(line);
                cx.fx.wake(Key::StoreBuffer);
            }
            (LineAction::WriteOut, _) => {
                let mask = self.array.dirty(way);
                if mask.is_empty() {
                    return;
                }
                let data = self.array.read(way).masked(mask);
                self.array.clean(way);
                cx.fx.uses.data_reads += 1;
                cx.fx.uses.lines_written_out += 1;
                let parity = self.reach.buffer.acks.sent();
                cx.fx.send(bank(cx, line), ToBank::Write { line, mask, data, parity });
            }
            (LineAction::BeginFlush, _) => self.reach.flush_for(line, cx),
            (LineAction::SendReturn, _) => {
                let mask = self.array.dirty(way);
                let data = self.array.read(way).masked(mask);
                cx.fx.uses.data_reads += u32::from(!mask.is_empty());
                cx.fx.send(bank(cx, line), ToBank::Return { line, mask, data, whole: false });
            }
            (LineAction::Fill, Carried::Fill(data) | Carried::Grant(_, _, data)) => {
                cx.fx.uses.data_writes += 1;
                self.array.fill(way, data);
            }
            (LineAction::FillAsked, Carried::Grant(mask, _, data)) => {
                cx.fx.uses.data_writes += 1;
                self.array.write_clean(way, data, mask);
            }
            (LineAction::Answer, _) => cx.fx.reply_waiters(line, self.array.read(way)),
            (LineAction::Resume, Carried::Grant(_, Some(slot), _)) => cx.fx.resume(slot),
            (LineAction::KeepDirty, _) => self.array.keep_dirty(way),
            (LineAction::EndFill, _) => {
                self.fills = self.fills.saturating_sub(1);
                cx.fx.wake(Key::Way(self.array.set(line)));
                cx.fx.wake(Key::Miss);
            }
            (LineAction::Wake, _) => cx.fx.wake(Key::Line(line)),
            (
                LineAction::SendRegister
                | LineAction::Reply
                | LineAction::Merge
                | LineAction::Accept
                | LineAction::Bounce
                | LineAction::Fill
                | LineAction::FillAsked
                | LineAction::Resume,
                _,
            ) => {}
        }
    }
}

impl<P, T: Rows> Controller<P> for L1<T>
where
    P: Protocol<Params = Params, Msg: From<ToBank> + From<ToL1>>,
{
    type Msg = ToL1;

    fn step(&mut self, input: Input<'_, ToL1>, cx: &mut Cx<'_, P>) -> Disposition {
        let mut done = match input {
            Input::Request(ask) => self.request(ask, cx),
            Input::Message { msg, .. } => self.message(msg, cx),
            Input::Evict(way) => self.evict(way, cx),
            Input::Timer(TimerClass::Drain) => self.drain(cx),
            Input::Timer(_) => Disposition::Impossible("no such timer was asked for"),
            Input::Memory(_) => Disposition::Impossible("an L1 does not speak to memory"),
            Input::Tick { .. } => Disposition::Done,
        };
        while let Some(line) = self.reach.flushed() {
            let given = self.line_event(line, LineEvent::Flushed, Carried::Nothing, cx);
            if given != Disposition::Done {
                done = given;
            }
        }
        self.drain_if_due(cx);
        done
    }

    fn victims(&self, set: SetIndex, out: &mut Vec<(Way, Rank)>) {
        if self.array.in_set_where(set, |state| state == LineState::RF).next().is_some() {
            return;
        }
        let rank = u8::from(self.retains);
        for way in self.array.in_set_where(set, |state| matches!(state, LineState::V | LineState::R)) {
            let is_registered = self.array.state(way) == LineState::R;
            out.push((way, Rank(if is_registered { rank } else { 0 })));
        }
    }

    fn lines(&self, out: &mut Vec<LineView>) {
        self.array.views(|state| state.name(), out);
    }

    fn is_quiet(&self) -> bool {
        self.fills == 0 && self.reach.is_quiet()
    }

    fn canonicalize(&mut self) {
        self.array.canonicalize();
        self.reach.canonicalize();
    }
}

/// Reads `Done` as "go on".
trait NotDone {
    fn not_done(self) -> Option<Disposition>;
}

impl NotDone for Disposition {
    fn not_done(self) -> Option<Disposition> {
        (self != Disposition::Done).then_some(self)
    }
}
