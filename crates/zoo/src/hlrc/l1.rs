//! The L1 cache of a compute unit in hLRC.

use super::l1_table::{LineAction, LineEvent, LineState};
use super::plans::{L1Plans, Step};
use crate::parts::{
    AccessSite, FirstLevel, ResourceNeeds, ToBank, answer, answer_bytes, first_lines, first_views, performed,
};
use crate::parts::{Answer, ToL1 as Shared};
use crate::registration::{
    EvictableStates, Operand, Params, RegistrationProtocol, ToL1, give_back, register, victims,
};
use core::fmt::Debug;
use core::hash::Hash;
use core::marker::PhantomData;
use proto::parts::{FlushWaiter, Lines, Place};
use proto::{
    ByteMask, Cause, Controller, Cx, Disposition, Hit, Homes, Input, Key, KindLevel, LineAddr, Load, Op,
    Order, Protocol, Rank, RequestInput, Row, SetIndex, Slot, Table, TimerClass, Way,
};

/// A state transition table for the lines of an L1. The variants of hLRC use different tables.
pub trait Rows:
    Table<State = LineState, Event = LineEvent, Action = LineAction> + Clone + Eq + Hash + Debug
{
}
impl<T: Table<State = LineState, Event = LineEvent, Action = LineAction> + Clone + Eq + Hash + Debug> Rows
    for T
{
}

/// A waiter for a flush of the cache: a request, or the return of a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Waiter {
    /// The request of this compute unit in this slot waits for the flush.
    Request(Slot),
    /// The return of this line's registration to the bank waits for the flush.
    Return(LineAddr),
}

impl From<Slot> for Waiter {
    fn from(slot: Slot) -> Self {
        Waiter::Request(slot)
    }
}

impl<P: Protocol> FlushWaiter<P> for Waiter {
    fn flushed(self, cx: &mut Cx<'_, P>) -> Option<Self> {
        match self {
            Waiter::Request(slot) => {
                cx.fx.resume(slot);
                None
            }
            Waiter::Return(_) => Some(self),
        }
    }
}

/// The L1 cache of a compute unit. `T` is the table of its lines, which differs between the
/// variants of hLRC.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct L1<T> {
    cache: FirstLevel<LineState, Waiter>,
    retains: bool,
    rows: PhantomData<T>,
}

proto::clone_in_place! { [T] L1<T> { cache, retains, rows } }

impl<T: Rows> L1<T> {
    /// An empty cache without outstanding operations.
    #[must_use]
    pub fn new(level: &KindLevel, params: &Params) -> Self {
        L1 { cache: FirstLevel::new(level, LineState::I), retains: params.retains, rows: PhantomData }
    }

    fn perform<P: RegistrationProtocol>(
        &mut self,
        step: Step,
        ask: RequestInput<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Option<Disposition> {
        let (line, slot, lower) = (ask.req.line, ask.slot, &mut self.cache.lower);
        step.spends(ask, cx.fx);
        match step {
            Step::Here => Some(self.here(ask, cx)),
            Step::Perform => self.event(line, LineEvent::Sync, Operand::Request(ask), cx).unless_done(),
            Step::InvalidateRest => self.invalidate(Cause::Atomic, Some(line), cx).unless_done(),
            Step::Pass => self.event(line, LineEvent::Pass, Operand::Nothing, cx).unless_done(),
            Step::Below => lower.below(ask, AccessSite::Here, cx),
            Step::Anywhere => lower.below(ask, AccessSite::Anywhere, cx),
            Step::Unregistered => lower.below(ask, AccessSite::Unregistered, cx),
            Step::BelowSystem => lower.below(ask, AccessSite::System, cx),
            Step::Post => lower.post(ask, cx),
            Step::Flush => lower.flush(ask, cx),
            Step::Invalidate => self.invalidate(Cause::of(ask.req), None, cx).unless_done(),
            Step::FlushBanks => lower.flush_banks(slot, cx),
            Step::InvalidateBanks => lower.invalidate_banks(slot, cx),
            Step::AnswerIt => answer(ask, cx),
        }
    }

    /// Performs an access on the line in this cache. If the access needs an entry of the store
    /// buffer, a miss register or a way, and none is free, the access waits.
    fn here<P: RegistrationProtocol>(&mut self, ask: RequestInput<'_>, cx: &mut Cx<'_, P>) -> Disposition {
        let (stage, operand) = (cx.stage, Operand::Request(ask));
        let place = self.cache.array.place(ask.req.line, cx.world.homes);
        let (state, event) = Lines::<P>::classify(self, place, event_of(ask), operand);
        // The actions of the row tell which resources the access needs.
        if let Row::Do { actions, next, .. } = T::row(state, event) {
            let does = |any_of: &[LineAction]| actions.iter().any(|action| any_of.contains(action));
            let writes = ask.req.op != Op::Load && does(&[LineAction::Merge, LineAction::PerformQueued]);
            let needs = ResourceNeeds {
                entry: writes && !self.cache.is_dirty(place.way),
                register: does(&[LineAction::SendGet, LineAction::SendRegister]),
                way: next.is_some(),
            };
            if let Some(wait) = self.cache.lacks(place, needs, cx) {
                return wait;
            }
        }
        let disposition = self.transition(place, state, event, operand, cx);
        match event {
            // The request continues when the line is registered.
            LineEvent::Sync if cx.stage != stage => Disposition::Stall(Key::Slot(ask.slot)),
            _ => disposition,
        }
    }

    fn message<P: RegistrationProtocol>(&mut self, msg: &ToL1, cx: &mut Cx<'_, P>) -> Disposition {
        let (line, event) = match *msg {
            ToL1::Shared(Shared::Data { line, .. }) => (line, LineEvent::Data),
            ToL1::Shared(ref msg) => return self.cache.lower.message(msg, cx),
            ToL1::Grant { line, .. } => (line, LineEvent::Grant),
            ToL1::Recall { line } => (line, LineEvent::Recall),
            ToL1::Forward { line, .. } => (line, LineEvent::Forward),
            ToL1::Serve { .. } => {
                return Disposition::Impossible(
                    "the L2 itself sends the data of a registered line, so it asks no L1 to send them",
                );
            }
        };
        self.event(line, event, Operand::Message(msg), cx)
    }

    fn drain<P: RegistrationProtocol>(&mut self, cx: &mut Cx<'_, P>) -> Disposition {
        let Some(line) = self.cache.lower.pop(|_| true, cx) else { return Disposition::Done };
        let policy = cx.level().array.policy;
        let event = policy.pick(LineEvent::Drain, LineEvent::Drain, LineEvent::DrainDrop);
        cx.fx.wake(Key::StoreBuffer);
        self.event(line, event, Operand::Nothing, cx)
    }

    fn invalidate<P: RegistrationProtocol>(
        &mut self,
        cause: Cause,
        except: Option<LineAddr>,
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        cx.fx.uses.invalidations.count(cause);
        let mut count = 0;
        let selects = |line, _| {
            count += u32::from(Some(line) != except);
            Some(line) != except
        };
        let disposition = self.event_of_all(selects, LineEvent::Inv, Operand::Nothing, cx);
        cx.fx.uses.lines_invalidated += count;
        disposition
    }

    /// Performs an atomic on the bytes of a line, and answers the atomic. Returns whether the
    /// atomic made a clean line dirty.
    fn atomic<P: RegistrationProtocol>(
        &mut self,
        way: Way,
        operand: Operand<'_>,
        cx: &mut Cx<'_, P>,
    ) -> bool {
        match operand {
            Operand::Request(ask) => {
                let req = ask.req;
                let (old, was_clean) = self.cache.perform(way, req.op, &req.data, req.mask, cx);
                performed(ask, old, cx);
                was_clean
            }
            Operand::Message(&ToL1::Forward { op, mask, ref data, slot, requester, .. }) => {
                let (old, was_clean) = self.cache.perform(way, op, data, mask, cx);
                cx.fx.send(requester, Shared::Done { slot, bytes: answer_bytes(op, mask), data: old });
                was_clean
            }
            Operand::Message(_) | Operand::Nothing => {
                cx.lacks_operand(LineAction::Perform);
                false
            }
        }
    }
}

/// The event of a line that this request causes: the event selects a row of the state transition
/// table.
fn event_of(ask: RequestInput<'_>) -> LineEvent {
    let req = ask.req;
    match req.op {
        _ if req.acquires() || req.releases() => LineEvent::Sync,
        Op::Load if req.order == Order::Plain => LineEvent::Load,
        Op::Store if req.order == Order::Plain => LineEvent::Store,
        _ => LineEvent::Relaxed,
    }
}

impl<P: RegistrationProtocol, T: Rows> Lines<P> for L1<T> {
    type Operand<'a> = Operand<'a>;

    first_lines! { cache: T, absent: LineState::I }

    fn classify(&self, place: Place, event: LineEvent, operand: Operand<'_>) -> (LineState, LineEvent) {
        let Some(way) = place.way else { return (LineState::I, event) };
        let requested = match operand {
            Operand::Request(ask) if ask.req.op != Op::Store => ask.req.mask,
            Operand::Message(&ToL1::Forward { op, mask, .. }) if op != Op::Store => mask,
            Operand::Request(_) | Operand::Message(_) | Operand::Nothing => ByteMask::NONE,
        };
        let misses = !self.cache.array.valid(way).contains(requested);
        let state = match self.cache.array.state(way) {
            LineState::V if misses && event == LineEvent::Load => LineState::P,
            LineState::R if misses => LineState::RP,
            state => state,
        };
        (state, if self.cache.is_dirty(place.way) { event.of_dirty() } else { event })
    }

    fn act(&mut self, action: LineAction, place: Place, operand: Operand<'_>, cx: &mut Cx<'_, P>) {
        let line = place.line;
        if let (LineAction::Bounce, Operand::Message(msg)) = (action, operand) {
            let &ToL1::Forward { mask, data, op, slot, requester, .. } = msg else {
                return cx.lacks_operand(action);
            };
            let (site, answer) = (AccessSite::Unregistered, Answer::Request(slot));
            return cx
                .fx
                .send(cx.below(line), ToBank::Access { line, mask, data, op, site, answer, requester });
        }
        let Some(way) = place.way else { return cx.lacks_operand(action) };
        let cache = &mut self.cache;
        match (action, operand) {
            (LineAction::SendGet, _) => cache.get(line, cx),
            (LineAction::SendRegister, Operand::Request(ask)) => {
                cache.begin_fill(cx);
                // If the line is already registered here, the request only needs bytes. It then
                // waits for the line, and not for an answer to its slot.
                let slot = (cache.array.state(way) != LineState::R).then_some(ask.slot);
                register(line, ask.req.mask, slot, cx);
            }
            (LineAction::Reply, Operand::Request(ask)) => cache.reply(way, ask, cx),
            (LineAction::Merge, Operand::Request(ask)) => {
                let was_clean = cache.write(way, &ask.req.data, ask.req.mask, cx);
                cache.queue_if(was_clean, line);
            }
            (LineAction::Accept, Operand::Request(ask)) => cx.fx.accept(ask.slot),
            (LineAction::Perform, _) => {
                self.atomic(way, operand, cx);
            }
            (LineAction::PerformQueued, _) => {
                let was_clean = self.atomic(way, operand, cx);
                self.cache.queue_if(was_clean, line);
            }
            (LineAction::Unqueue, _) => cache.unqueue(line, cx),
            (LineAction::WriteOut, _) => cache.write_out(line, way, cx),
            (LineAction::BeginFlush, _) => cache.lower.flush_for(Waiter::Return(line), Cause::Atomic, cx),
            (LineAction::SendReturn, _) => give_back(cache, line, way, false, cx),
            (
                LineAction::Fill,
                Operand::Message(ToL1::Shared(Shared::Data { data, .. }) | ToL1::Grant { data, .. }),
            ) => cache.fill(way, data, cx),
            (LineAction::FillAsked, Operand::Message(ToL1::Grant { mask, data, .. })) => {
                cx.fx.uses.data_writes += 1;
                cache.array.write_clean(way, data, *mask);
            }
            (LineAction::Answer, _) => cx.fx.reply_waiters(line, cache.array.read(way)),
            // A grant that only renews the bytes has no slot, because the request waits for the
            // line.
            (LineAction::Resume, Operand::Message(&ToL1::Grant { slot, .. })) => {
                slot.into_iter().for_each(|slot| cx.fx.resume(slot));
            }
            (LineAction::KeepDirty, _) => cache.array.keep_dirty(way),
            (LineAction::EndFill, _) => cache.end_fill(place, cx),
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
            ) => cx.lacks_operand(action),
        }
    }
}

impl<P: RegistrationProtocol, T: Rows> Controller<P> for L1<T> {
    type Msg = ToL1;

    fn step(&mut self, input: Input<'_, ToL1>, cx: &mut Cx<'_, P>) -> Disposition {
        let mut disposition = match input {
            Input::Request(ask) => cx.follow::<L1Plans>(ask, |step, cx| self.perform(step, ask, cx)),
            Input::Message { msg, .. } => self.message(msg, cx),
            Input::Evict(way) => {
                cx.fx.uses.sync_evictions += u32::from(self.cache.array.state(way) == LineState::R);
                self.event_in(way, LineEvent::Evict, Operand::Nothing, cx)
            }
            Input::Timer(TimerClass::Drain) => self.drain(cx),
            Input::Timer(_) => Disposition::Impossible("the controller has not armed this timer"),
            Input::Memory(_) => Disposition::Impossible("an L1 does not access memory"),
            Input::Tick { .. } => Disposition::Done,
        };
        while let Some(Waiter::Return(line)) = self.cache.lower.flushed() {
            let returned = self.event(line, LineEvent::Flushed, Operand::Nothing, cx);
            if returned != Disposition::Done {
                disposition = returned;
            }
        }
        self.cache.lower.drain_if_due(cx.level().array.policy, cx);
        disposition
    }

    #[inline]
    fn hit(&self, load: &Load, homes: &Homes) -> Option<Hit<'_>> {
        let row = (LineEvent::Load, LineAction::Reply);
        self.cache.hit::<T, L1Plans>(load, homes, Step::Here, row)
    }

    fn victims(&self, set: SetIndex, out: &mut Vec<(Way, Rank)>) {
        let (plain, registered, leaving) = (LineState::V, LineState::R, LineState::RF);
        victims(&self.cache.array, set, EvictableStates { plain, registered, leaving }, self.retains, out);
    }

    fn miscount(&self) -> Option<&'static str> {
        use LineState::{I, IR, IV, IX, P, V, XR};
        let fills = self.cache.array.count_where(|state| matches!(state, IV | IX | IR | XR));
        // As published, flushes skip the dirty bytes of registered lines.
        self.cache.miscount(fills..=fills, |state| matches!(state, I | P | V | IV | IX))
    }

    first_views! { cache: T }
}
