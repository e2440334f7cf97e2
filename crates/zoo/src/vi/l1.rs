//! The L1 cache of a compute unit.
//!
//! A protocol that adds steps of its own to plans keeps this cache inside its
//! own controller: it passes on the steps that it shares and all inputs that
//! are not requests.

use super::l1_table::{L1Plans, L1Table, LineAction, LineEvent, LineState};
use super::lower::{Lower, Step, answer, bank};
use super::msg::{ToBank, ToL1};
use core::ops::ControlFlow;
use proto::parts::{CacheArray, Lines, Place, Waits};
use proto::{
    Ask, Cause, Controller, Cx, Disposition, Input, Key, LineAddr, LineData, LineView, Op, Protocol, Rank,
    SetIndex, Shape, Slot, Symbol, TimerClass, Way, WritePolicy,
};

/// An L1 cache. `W` names who may wait for it to flush.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct L1<W = Slot> {
    array: CacheArray<LineState>,
    lower: Lower<W>,
    fills: u32,
}

/// What an event brings with it.
#[derive(Clone, Copy, Debug)]
pub enum Carried<'a> {
    /// A request.
    Request(Ask<'a>),
    /// The bytes of a fill.
    Fill(&'a LineData),
    /// Nothing.
    Nothing,
}

impl<W: Copy + Eq> L1<W> {
    /// An empty cache.
    #[must_use]
    pub fn new(shape: &Shape) -> Self {
        let array = CacheArray::new(&shape.l1, shape.line_bytes, 1, LineState::I);
        L1 { array, lower: Lower::default(), fills: 0 }
    }

    fn request<P>(&mut self, ask: Ask<'_>, cx: &mut Cx<'_, P>) -> Disposition
    where
        P: Protocol<Params = Shape, Msg: From<ToBank>>,
        W: Waits<P>,
    {
        while let Some(step) = cx.step_of::<L1Plans>(ask.req, cx.stage) {
            if let ControlFlow::Break(disposition) = self.perform(step, ask, cx) {
                return disposition;
            }
        }
        Disposition::Done
    }

    /// Performs one step of a plan. Goes on if the request is to take the next
    /// one at once.
    #[inline]
    pub fn perform<P>(&mut self, step: Step, ask: Ask<'_>, cx: &mut Cx<'_, P>) -> ControlFlow<Disposition>
    where
        P: Protocol<Params = Shape, Msg: From<ToBank>>,
        W: Waits<P>,
    {
        let shape = cx.world.params;
        step.spends(ask, cx.fx);
        let parked = match step {
            Step::Here => {
                let stage = cx.stage;
                let disposition = self.here(ask, cx);
                return match cx.stage == stage {
                    true => ControlFlow::Break(disposition),
                    false => ControlFlow::Continue(()),
                };
            }
            Step::Pass => self.line_event(ask.req.line, LineEvent::Pass, Carried::Nothing, cx).not_done(),
            Step::Below => Some(self.lower.below(ask, false, cx)),
            Step::BelowSystem => Some(self.lower.below(ask, true, cx)),
            Step::Post => {
                self.lower.post(ask, cx);
                None
            }
            Step::Flush => {
                let parked = self.lower.flush(ask, cx);
                self.drain_if_due(cx);
                parked
            }
            Step::FlushBanks => self.lower.tell_banks(ask.slot, shape, |slot| ToBank::Flush { slot }, cx),
            Step::Invalidate => self.invalidate(Cause::of(ask.req), cx).not_done(),
            Step::InvalidateBanks => {
                self.lower.tell_banks(ask.slot, shape, |slot| ToBank::Invalidate { slot }, cx)
            }
            Step::AnswerIt => {
                answer(ask, cx);
                None
            }
            Step::Unlocked | Step::LockAll | Step::UnlockAll | Step::FlushOthers | Step::InvalidateOthers => {
                Some(Disposition::Impossible("this cache speaks to no other first-level cache"))
            }
        };
        match parked {
            Some(disposition) => ControlFlow::Break(disposition),
            None => {
                cx.stage += 1;
                ControlFlow::Continue(())
            }
        }
    }

    /// A flush for somebody else, who is told when it is finished.
    pub fn flush_for<P>(&mut self, waiter: W, cx: &mut Cx<'_, P>)
    where
        P: Protocol<Params = Shape, Msg: From<ToBank>>,
        W: Waits<P>,
    {
        self.lower.flush_for(waiter, cx);
        self.drain_if_due(cx);
    }

    /// An access on the line in this cache, once the guards let it.
    fn here<P>(&mut self, ask: Ask<'_>, cx: &mut Cx<'_, P>) -> Disposition
    where
        P: Protocol<Params = Shape, Msg: From<ToBank>>,
    {
        let line = ask.req.line;
        let event = match ask.req.op {
            Op::Load => LineEvent::Load,
            Op::Store => LineEvent::Store,
            _ => LineEvent::Rmw,
        };
        let way = self.array.find(line);
        let state = self.classify(way, Some(ask));
        let shape = cx.world.params;
        let dirties = event == LineEvent::Store || (event == LineEvent::Rmw && state != LineState::IX);
        let is_clean = way.is_none_or(|w| self.array.dirty(w).is_empty());
        if dirties && is_clean && self.lower.buffer.lines() >= shape.l1.store_buffer_entries {
            cx.fx.timer(TimerClass::Drain);
            return Disposition::Stall(Key::StoreBuffer);
        }
        let misses = matches!(state, LineState::I | LineState::P) && event != LineEvent::Store;
        if misses && self.fills >= shape.l1.miss_registers {
            return Disposition::Stall(Key::Miss);
        }
        if way.is_none() && self.array.free_way(line).is_none() {
            return Disposition::NeedWay(self.array.set(line));
        }
        self.transition(Place { line, way }, state, event, Carried::Request(ask), cx)
    }

    fn classify(&self, way: Option<Way>, ask: Option<Ask<'_>>) -> LineState {
        let Some(way) = way else { return LineState::I };
        let state = self.array.state(way);
        let asked = ask.filter(|a| a.req.op != Op::Store).map(|a| a.req.mask);
        match asked {
            Some(mask) if state == LineState::V && !self.array.valid(way).contains(mask) => LineState::P,
            _ => state,
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
        P: Protocol<Params = Shape, Msg: From<ToBank>>,
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
        let state = self.classify(way, None);
        self.transition(Place { line, way }, state, event, carried, cx)
    }

    fn write<P>(&mut self, way: Way, data: &LineData, mask: proto::ByteMask, cx: &mut Cx<'_, P>)
    where
        P: Protocol<Params = Shape>,
    {
        cx.fx.uses.data_writes += 1;
        if self.array.write(way, data, mask)
            && let Some(line) = self.array.line(way)
        {
            self.lower.buffer.push(line);
        }
        self.drain_if_due(cx);
    }

    /// Keeps the buffer draining for as long as something asks for it.
    fn drain_if_due<P>(&mut self, cx: &mut Cx<'_, P>)
    where
        P: Protocol<Params = Shape>,
    {
        let eager = cx.world.params.l1.policy != WritePolicy::Combining && self.lower.buffer.lines() > 0;
        if (eager || self.lower.buffer.has_flush()) && !self.lower.buffer.is_blocked() {
            cx.fx.timer(TimerClass::Drain);
        }
    }

    fn drain<P>(&mut self, cx: &mut Cx<'_, P>) -> Disposition
    where
        P: Protocol<Params = Shape, Msg: From<ToBank>>,
        W: Waits<P>,
    {
        let policy = cx.world.params.l1.policy;
        if let Some(line) = self.lower.pop(cx) {
            let event = match policy {
                WritePolicy::ThroughInvalidate => LineEvent::DrainDrop,
                WritePolicy::Combining | WritePolicy::Through => LineEvent::Drain,
            };
            let done = self.line_event(line, event, Carried::Nothing, cx);
            if done != Disposition::Done {
                return done;
            }
            cx.fx.wake(Key::StoreBuffer);
        }
        self.drain_if_due(cx);
        Disposition::Done
    }

    /// Drops what is clean in this cache.
    pub fn invalidate<P>(&mut self, cause: Cause, cx: &mut Cx<'_, P>) -> Disposition
    where
        P: Protocol<Params = Shape, Msg: From<ToBank>>,
    {
        cx.fx.uses.invalidations.count(cause);
        for way in 0..self.array.way_count() {
            let Some(line) = self.array.line(Way(way)) else { continue };
            cx.fx.uses.lines_invalidated += 1;
            let done = self.line_event(line, LineEvent::Inv, Carried::Nothing, cx);
            if done != Disposition::Done {
                return done;
            }
        }
        Disposition::Done
    }
}

impl<P, W: Copy + Eq> Lines<P> for L1<W>
where
    P: Protocol<Params = Shape, Msg: From<ToBank>>,
{
    type Table = L1Table;
    type Carried<'a> = Carried<'a>;
    const ABSENT: LineState = LineState::I;

    fn array(&mut self) -> &mut CacheArray<LineState> {
        &mut self.array
    }

    fn act(&mut self, action: LineAction, place: Place, carried: Carried<'_>, cx: &mut Cx<'_, P>) {
        let Place { line, way: Some(way) } = place else { return };
        match (action, carried) {
            (LineAction::SendGet, _) => {
                self.fills += 1;
                cx.fx.uses.fetches += 1;
                let to = bank(cx, line);
                cx.fx.send(to, ToBank::Get { line });
            }
            (LineAction::Reply, Carried::Request(ask)) => {
                cx.fx.uses.data_reads += 1;
                cx.fx.reply(ask.slot, self.array.read(way));
            }
            (LineAction::Merge, Carried::Request(ask)) => {
                self.write(way, &ask.req.data, ask.req.mask, cx);
            }
            (LineAction::Accept, Carried::Request(ask)) => cx.fx.accept(ask.slot),
            (LineAction::Perform, Carried::Request(ask)) => {
                let Op::Rmw(rmw) = ask.req.op else { return };
                cx.fx.uses.data_reads += 1;
                cx.fx.uses.atomics += 1;
                let mut bytes = self.array.read(way);
                let old = rmw.perform(&mut bytes, &ask.req.data, ask.req.mask);
                self.write(way, &bytes, ask.req.mask, cx);
                match rmw.uses_value {
                    true => cx.fx.reply(ask.slot, old),
                    false => cx.fx.accept(ask.slot),
                }
            }
            (LineAction::Unqueue, _) => {
                self.lower.buffer.remove(line);
                cx.fx.wake(Key::StoreBuffer);
            }
            (LineAction::WriteOut, _) => {
                let mask = self.array.dirty(way);
                let data = self.array.read(way).masked(mask);
                self.array.clean(way);
                cx.fx.uses.data_reads += 1;
                cx.fx.uses.lines_written_out += 1;
                let parity = self.lower.buffer.acks.sent();
                let to = bank(cx, line);
                cx.fx.send(to, ToBank::Write { line, mask, data, parity });
            }
            (LineAction::Fill, Carried::Fill(data)) => {
                cx.fx.uses.data_writes += 1;
                self.array.fill(way, data);
            }
            (LineAction::Answer, _) => cx.fx.reply_waiters(line, self.array.read(way)),
            (LineAction::KeepDirty, _) => self.array.keep_dirty(way),
            (LineAction::Wake, _) => {
                self.fills = self.fills.saturating_sub(1);
                // What has waited for a way or a register comes before what
                // must ask for this line again.
                cx.fx.wake(Key::Way(self.array.set(line)));
                cx.fx.wake(Key::Miss);
                cx.fx.wake(Key::Line(line));
            }
            (LineAction::Divert, _) => cx.fx.wake(Key::Line(line)),
            (
                LineAction::Reply
                | LineAction::Merge
                | LineAction::Accept
                | LineAction::Perform
                | LineAction::Fill,
                _,
            ) => {}
        }
    }
}

impl<P, W> Controller<P> for L1<W>
where
    P: Protocol<Params = Shape, Msg: From<ToBank>>,
    W: Waits<P>,
{
    type Msg = ToL1;

    fn step(&mut self, input: Input<'_, ToL1>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Request(ask) => self.request(ask, cx),
            Input::Message { msg: ToL1::Data { line, data }, .. } => {
                self.line_event(*line, LineEvent::Data, Carried::Fill(data), cx)
            }
            Input::Message { msg, .. } => {
                let due = self.lower.message(msg, cx);
                self.drain_if_due(cx);
                if due { Disposition::Done } else { Disposition::Impossible("nothing was due") }
            }
            Input::Evict(way) => match self.array.line(way) {
                Some(line) => self.line_event(line, LineEvent::Evict, Carried::Nothing, cx),
                None => Disposition::Impossible("an empty way cannot be given up"),
            },
            Input::Timer(TimerClass::Drain) => self.drain(cx),
            Input::Timer(_) => Disposition::Impossible("no such timer was asked for"),
            Input::Memory(_) => Disposition::Impossible("an L1 does not speak to memory"),
            Input::Tick { .. } => Disposition::Done,
        }
    }

    fn victims(&self, set: SetIndex, out: &mut Vec<(Way, Rank)>) {
        let settled = self.array.in_set_where(set, |state| state == LineState::V);
        out.extend(settled.map(|way| (way, Rank(0))));
    }

    fn lines(&self, out: &mut Vec<LineView>) {
        self.array.views(|state| state.name(), out);
    }

    fn is_quiet(&self) -> bool {
        self.fills == 0 && self.lower.is_quiet()
    }

    fn canonicalize(&mut self) {
        self.array.canonicalize();
        self.lower.canonicalize();
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
