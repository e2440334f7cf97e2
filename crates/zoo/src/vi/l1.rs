//! The L1 cache of a compute unit in `vi`.
//!
//! A protocol with further steps in its plans (lists of steps) wraps this cache in its own
//! controller. That controller delegates the shared steps, and all inputs except for requests, to
//! this cache.

use super::l1_table::{L1Plans, L1Table, LineAction, LineEvent, LineState};
use super::step::Step;
use crate::parts::{
    FirstLevel, HasBankMessages, LowerLevel, Operand, ResourceNeeds, ToL1, first_lines, first_views,
    performed,
};
use core::fmt::Debug;
use core::hash::Hash;
use proto::parts::{FlushWaiter, Lines, Place};
use proto::{
    Cause, Controller, Cx, Disposition, Hit, Homes, Input, Issuer, Key, KindLevel, LineAddr, Load, Op, Plans,
    Protocol, RequestInput, Slot, TimerClass,
};

/// A record of the writers of dirty lines. The record decides which lines a release flushes. The
/// type `()` records nothing: with it, a release flushes all lines.
pub trait Writers: Clone + Eq + Hash + Debug + Default + 'static {
    /// Records that `issuer` has written to a line.
    fn wrote(&mut self, line: LineAddr, issuer: Issuer) {
        let _ = (line, issuer);
    }

    /// Removes a line, which has become clean, from the record.
    fn left(&mut self, line: LineAddr) {
        let _ = line;
    }

    /// Begins the flush that a release makes: of all lines, or only of the lines that the record
    /// selects.
    fn flush<P: Protocol, W: Copy + Eq + From<Slot>>(
        &self,
        lower: &mut LowerLevel<W>,
        ask: RequestInput<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Option<Disposition> {
        lower.flush(ask, cx)
    }
}

impl Writers for () {}

/// The L1 cache of a compute unit. A value of the type `W` identifies a waiter for a flush. `N` is
/// the record of the writers of its dirty lines.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct L1<W = Slot, N = ()> {
    cache: FirstLevel<LineState, W>,
    writers: N,
}

proto::clone_in_place! { [W: Clone, N: Clone] L1<W, N> { cache, writers } }

impl<W: Copy + Eq, N: Writers> L1<W, N> {
    /// An empty cache without outstanding operations.
    #[must_use]
    pub fn new(level: &KindLevel, (): &()) -> Self {
        L1 { cache: FirstLevel::new(level, LineState::I), writers: N::default() }
    }

    /// Performs one step of a request's plan (list of steps). Returns `None` if the request goes on
    /// with the next step.
    #[inline]
    pub fn perform<P: HasBankMessages>(
        &mut self,
        step: Step,
        ask: RequestInput<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Option<Disposition>
    where
        W: FlushWaiter<P>,
    {
        step.spends(ask, cx.fx);
        match step {
            Step::Here => Some(self.here(ask, cx)),
            Step::Pass => self.event(ask.req.line, LineEvent::Pass, Operand::Nothing, cx).unless_done(),
            Step::Flush => self.writers.flush(&mut self.cache.lower, ask, cx),
            Step::Invalidate => self.invalidate(Cause::of(ask.req), cx).unless_done(),
            Step::Below
            | Step::BelowSystem
            | Step::Post
            | Step::FlushBanks
            | Step::InvalidateBanks
            | Step::AnswerIt => step.descend(&mut self.cache.lower, ask, cx),
        }
    }

    /// The line that answers a non-atomic load at once. `None` if there is no such line, or if the
    /// load's plan (list of steps) does not begin with the step `here`.
    #[inline]
    pub fn hit<Q: Plans>(&self, load: &Load, homes: &Homes, here: Q::Step) -> Option<Hit<'_>> {
        self.cache.hit::<L1Table, Q>(load, homes, here, (LineEvent::Load, LineAction::Reply))
    }

    /// Begins a flush for a waiter that is not a request of this compute unit. The waiter is
    /// answered when the flush completes.
    pub fn flush_for<P: HasBankMessages>(&mut self, waiter: W, cx: &mut Cx<'_, P>)
    where
        W: FlushWaiter<P>,
    {
        self.cache.lower.flush_for(waiter, Cause::Remote, cx);
    }

    /// Arms the drain timer if the write policy or a flush requires that entries leave the store
    /// buffer. A controller must call this method at the end of each of its steps.
    pub fn drain_if_due<P: HasBankMessages>(&self, cx: &mut Cx<'_, P>) {
        self.cache.lower.drain_if_due(cx.level().array.policy, cx);
    }

    /// Performs an access on the line in this cache. If the access needs an entry of the store
    /// buffer, a miss register or a way, and none is free, the access waits.
    fn here<P: HasBankMessages>(&mut self, ask: RequestInput<'_>, cx: &mut Cx<'_, P>) -> Disposition {
        let place = self.cache.array.place(ask.req.line, cx.world.homes);
        let event = match ask.req.op {
            Op::Load => LineEvent::Load,
            Op::Store => LineEvent::Store,
            _ => LineEvent::Rmw,
        };
        let (state, event) = Lines::<P>::classify(self, place, event, Operand::Request(ask));
        let dirties = event == LineEvent::Store || (event == LineEvent::Rmw && state != LineState::IX);
        let needs = ResourceNeeds {
            entry: dirties && !self.cache.is_dirty(place.way),
            register: matches!(state, LineState::I | LineState::P) && event != LineEvent::Store,
            way: true,
        };
        match self.cache.lacks(place, needs, cx) {
            Some(wait) => wait,
            None => self.transition(place, state, event, Operand::Request(ask), cx),
        }
    }

    fn drain<P: HasBankMessages>(&mut self, cx: &mut Cx<'_, P>) -> Disposition
    where
        W: FlushWaiter<P>,
    {
        let Some(line) = self.cache.lower.pop(|_| true, cx) else { return Disposition::Done };
        let policy = cx.level().array.policy;
        let event = policy.pick(LineEvent::Drain, LineEvent::Drain, LineEvent::DrainDrop);
        let disposition = self.event(line, event, Operand::Nothing, cx);
        cx.fx.wake(Key::StoreBuffer);
        disposition
    }

    /// Invalidates the clean bytes of this cache.
    pub fn invalidate<P: HasBankMessages>(&mut self, cause: Cause, cx: &mut Cx<'_, P>) -> Disposition {
        self.invalidate_all(cause, LineEvent::Inv, Operand::Nothing, cx)
    }
}

impl<P: HasBankMessages, W: Copy + Eq, N: Writers> Lines<P> for L1<W, N> {
    type Operand<'a> = Operand<'a>;

    first_lines! { cache: L1Table, absent: LineState::I }

    fn classify(&self, place: Place, event: LineEvent, operand: Operand<'_>) -> (LineState, LineEvent) {
        let Some(way) = place.way else { return (LineState::I, event) };
        let misses = match operand {
            Operand::Request(ask) if ask.req.op != Op::Store => {
                !self.cache.array.valid(way).contains(ask.req.mask)
            }
            Operand::Request(_) | Operand::Fill(_) | Operand::Nothing => false,
        };
        let state = match self.cache.array.state(way) {
            LineState::V if misses => LineState::P,
            state => state,
        };
        (state, if self.cache.is_dirty(place.way) { event.of_dirty() } else { event })
    }

    fn act(&mut self, action: LineAction, place: Place, operand: Operand<'_>, cx: &mut Cx<'_, P>) {
        let Place { line, way: Some(way), .. } = place else { return cx.lacks_operand(action) };
        let cache = &mut self.cache;
        match (action, operand) {
            (LineAction::SendGet, _) => cache.get(line, cx),
            (LineAction::Reply, Operand::Request(ask)) => cache.reply(way, ask, cx),
            (LineAction::Merge, Operand::Request(ask)) => {
                let was_clean = cache.write(way, &ask.req.data, ask.req.mask, cx);
                cache.queue_if(was_clean, line);
                self.writers.wrote(line, ask.req.issuer);
            }
            (LineAction::Accept, Operand::Request(ask)) => cx.fx.accept(ask.slot),
            (LineAction::Perform, Operand::Request(ask)) => {
                let req = ask.req;
                let (old, was_clean) = cache.perform(way, req.op, &req.data, req.mask, cx);
                cache.queue_if(was_clean, line);
                self.writers.wrote(line, req.issuer);
                performed(ask, old, cx);
            }
            (LineAction::Unqueue, _) => cache.unqueue(line, cx),
            (LineAction::WriteOut, _) => {
                cache.write_out(line, way, cx);
                self.writers.left(line);
            }
            (LineAction::Fill, Operand::Fill(data)) => cache.fill(way, data, cx),
            (LineAction::Answer, _) => cx.fx.reply_waiters(line, cache.array.read(way)),
            (LineAction::KeepDirty, _) => cache.array.keep_dirty(way),
            (LineAction::Wake, _) => cache.end_get(place, cx),
            (LineAction::Divert, _) => cx.fx.wake(Key::Line(line)),
            (
                LineAction::Reply
                | LineAction::Merge
                | LineAction::Accept
                | LineAction::Perform
                | LineAction::Fill,
                _,
            ) => cx.lacks_operand(action),
        }
    }
}

impl<P: HasBankMessages, W: FlushWaiter<P>, N: Writers> Controller<P> for L1<W, N> {
    type Msg = ToL1;

    fn step(&mut self, input: Input<'_, ToL1>, cx: &mut Cx<'_, P>) -> Disposition {
        let disposition = match input {
            Input::Request(ask) => cx.follow::<L1Plans>(ask, |step, cx| self.perform(step, ask, cx)),
            Input::Message { msg: ToL1::Data { line, data }, .. } => {
                self.event(*line, LineEvent::Data, Operand::Fill(data), cx)
            }
            Input::Message { msg, .. } => self.cache.lower.message(msg, cx),
            Input::Evict(way) => self.event_in(way, LineEvent::Evict, Operand::Nothing, cx),
            Input::Timer(TimerClass::Drain) => self.drain(cx),
            Input::Timer(_) => Disposition::Impossible("the controller has not armed this timer"),
            Input::Memory(_) => Disposition::Impossible("an L1 does not access memory"),
            Input::Tick { .. } => Disposition::Done,
        };
        self.drain_if_due(cx);
        disposition
    }

    #[inline]
    fn hit(&self, load: &Load, homes: &Homes) -> Option<Hit<'_>> {
        L1::hit::<L1Plans>(self, load, homes, Step::Here)
    }

    fn miscount(&self) -> Option<&'static str> {
        let is_filling = |state| matches!(state, LineState::IV | LineState::IX);
        let fills = self.cache.array.count_where(is_filling);
        self.cache.miscount(fills..=fills, |_| true)
    }

    first_views! { cache: L1Table, settled: LineState::V }
}
