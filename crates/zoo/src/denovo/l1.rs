//! The L1 cache of a compute unit.

use super::l1_table::{L1Table, LineAction, LineEvent, LineState};
use super::plans::{L1Plans, Step};
use crate::registration::{How, Params, Reach, ToBank, ToL1, bank, perform};
use crate::vi::Answer;
use proto::parts::{CacheArray, Lines, Place};
use proto::{
    Ask, ByteMask, Cause, Controller, Cx, Disposition, Input, Key, LineAddr, LineData, LineView, NodeId, Op,
    Protocol, Rank, Row, SetIndex, Slot, Symbol, Table, TimerClass, Way, WritePolicy,
};
use std::collections::BTreeMap;

/// An L1 cache.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct L1 {
    array: CacheArray<LineState>,
    reach: Reach,
    /// Fills, and registrations for atomics, that are under way.
    fills: u32,
    /// Registrations that releases wait for, with the parity they are counted in.
    stored: BTreeMap<LineAddr, bool>,
    retains: bool,
}

/// What an event brings with it.
#[derive(Clone, Copy, Debug)]
pub enum Carried<'a> {
    /// A request.
    Request(Ask<'a>),
    /// The bytes of a fill.
    Fill(&'a LineData),
    /// Registration: the atomic that waits, and the bytes of the line.
    Grant(Option<Slot>, &'a LineData),
    /// The cache that loads the line.
    Asker(NodeId),
    /// Nothing.
    Nothing,
}

impl L1 {
    /// An empty cache.
    #[must_use]
    pub fn new(params: &Params) -> Self {
        L1 {
            array: CacheArray::new(&params.shape.l1, params.shape.line_bytes, 1, LineState::I),
            reach: Reach::default(),
            fills: 0,
            stored: BTreeMap::new(),
            retains: params.retains,
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
                    let is_load = ask.req.op == Op::Load;
                    return self.here(ask, if is_load { LineEvent::Load } else { LineEvent::Store }, cx);
                }
                Step::Register => {
                    let stage = cx.stage;
                    let disposition = self.here(ask, LineEvent::Atomic, cx);
                    if cx.stage == stage {
                        return disposition;
                    }
                    if self.state(line) != LineState::R {
                        return Disposition::Stall(Key::Slot(ask.slot));
                    }
                    continue;
                }
                Step::Perform => {
                    not_done(self.line_event(line, LineEvent::Registered, Carried::Request(ask), cx))
                }
                Step::RegisterStores => {
                    let parked = self.reach.flush(ask, cx);
                    self.drain_if_due(cx);
                    parked
                }
                Step::Invalidate => not_done(self.invalidate(Cause::of(ask.req), cx)),
                Step::Pass if self.array.find(line).is_none() => None,
                Step::Pass => not_done(self.line_event(line, LineEvent::Inv, Carried::Nothing, cx)),
                Step::BelowSystem => Some(self.reach.below(ask, How::System, cx)),
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
        let misses = |way| !self.array.valid(way).contains(ask.req.mask);
        let state = match (self.state(line), way) {
            (LineState::V, Some(way)) if event == LineEvent::Load && misses(way) => LineState::P,
            (LineState::IR, Some(way)) if event == LineEvent::Load && misses(way) => LineState::IP,
            (state, _) => state,
        };
        let l1 = &cx.world.params.shape.l1;
        // What the row would do says what it must find room for.
        if let Row::Do { actions, next, .. } = L1Table::row(state, event) {
            let does = |wanted: LineAction| actions.contains(&wanted);
            let is_new = (does(LineAction::Queue) && way.is_none_or(|way| self.array.dirty(way).is_empty()))
                || (does(LineAction::Merge) && does(LineAction::Count) && !self.stored.contains_key(&line));
            if is_new && self.entries() >= l1.store_buffer_entries {
                return Disposition::Stall(Key::StoreBuffer);
            }
            let fills = does(LineAction::SendGet) || does(LineAction::SendRegister);
            if fills && self.fills >= l1.miss_registers {
                return Disposition::Stall(Key::Miss);
            }
            if way.is_none() && next.is_some() && self.array.free_way(line).is_none() {
                return Disposition::NeedWay(self.array.set(line));
            }
        }
        self.transition(Place { line, way }, state, event, Carried::Request(ask), cx)
    }

    fn state(&self, line: LineAddr) -> LineState {
        self.array.find(line).map_or(LineState::I, |way| self.array.state(way))
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
        let is_dirty = way.is_some_and(|way| !self.array.dirty(way).is_empty());
        let event = match event {
            LineEvent::Data if is_dirty => LineEvent::DataDirty,
            LineEvent::Evict if is_dirty => LineEvent::EvictDirty,
            LineEvent::Inv if is_dirty => LineEvent::InvDirty,
            event => event,
        };
        self.transition(Place { line, way }, self.state(line), event, carried, cx)
    }

    fn message<P>(&mut self, msg: &ToL1, cx: &mut Cx<'_, P>) -> Disposition
    where
        P: Protocol<Params = Params, Msg: From<ToBank> + From<ToL1>>,
    {
        let (line, event, carried) = match *msg {
            ToL1::Data { line, ref data } => (line, LineEvent::Data, Carried::Fill(data)),
            ToL1::Grant { line, slot, ref data, .. } => (line, LineEvent::Grant, Carried::Grant(slot, data)),
            ToL1::Recall { line } => (line, LineEvent::Recall, Carried::Nothing),
            ToL1::Serve { line, asker } => (line, LineEvent::Serve, Carried::Asker(asker)),
            ToL1::Forward { .. } => {
                return Disposition::Impossible("atomics are performed where they are asked");
            }
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

    /// The entries of the store buffer in use: a line has one until it is registered.
    fn entries(&self) -> u32 {
        self.reach.buffer.lines() + self.stored.len() as u32
    }

    /// A line that is filled keeps its place in the store buffer until then.
    fn is_ready(array: &CacheArray<LineState>, line: LineAddr) -> bool {
        array.find(line).is_none_or(|way| !matches!(array.state(way), LineState::IV | LineState::IX))
    }

    fn drain<P>(&mut self, cx: &mut Cx<'_, P>) -> Disposition
    where
        P: Protocol<Params = Params, Msg: From<ToBank> + From<ToL1>>,
    {
        match self.reach.pop(|line| Self::is_ready(&self.array, line), cx) {
            Some(line) => self.line_event(line, LineEvent::Drain, Carried::Nothing, cx),
            None => Disposition::Done,
        }
    }

    /// Keeps the buffer draining for as long as something asks for it.
    fn drain_if_due<P>(&mut self, cx: &mut Cx<'_, P>)
    where
        P: Protocol<Params = Params>,
    {
        let (l1, buffer) = (&cx.world.params.shape.l1, &self.reach.buffer);
        let is_eager = l1.policy != WritePolicy::Combining || self.entries() >= l1.store_buffer_entries;
        let is_ready = buffer.next_line().is_none_or(|line| Self::is_ready(&self.array, line));
        if (is_eager && buffer.lines() > 0 || buffer.has_flush()) && !buffer.is_blocked() && is_ready {
            cx.fx.timer(TimerClass::Drain);
        }
    }

    fn invalidate<P>(&mut self, cause: Cause, cx: &mut Cx<'_, P>) -> Disposition
    where
        P: Protocol<Params = Params, Msg: From<ToBank> + From<ToL1>>,
    {
        cx.fx.uses.invalidations.count(cause);
        for way in (0..self.array.way_count()).map(Way) {
            let Some(line) = self.array.line(way) else { continue };
            cx.fx.uses.lines_invalidated += u32::from(self.array.state(way) != LineState::R);
            let done = self.line_event(line, LineEvent::Inv, Carried::Nothing, cx);
            if done != Disposition::Done {
                return done;
            }
        }
        Disposition::Done
    }
}

/// Reads `Done` as "go on".
fn not_done(disposition: Disposition) -> Option<Disposition> {
    (disposition != Disposition::Done).then_some(disposition)
}

impl<P> Lines<P> for L1
where
    P: Protocol<Params = Params, Msg: From<ToBank> + From<ToL1>>,
{
    type Table = L1Table;
    type Carried<'a> = Carried<'a>;
    const ABSENT: LineState = LineState::I;

    fn array(&mut self) -> &mut CacheArray<LineState> {
        &mut self.array
    }

    fn act(&mut self, action: LineAction, place: Place, carried: Carried<'_>, cx: &mut Cx<'_, P>) {
        let line = place.line;
        if let (LineAction::Bounce, Carried::Asker(asker)) = (action, carried) {
            let mask = ByteMask::full(usize::from(cx.world.params.shape.line_bytes));
            let (op, how, answer) = (Op::Load, How::Unregistered, Answer::Line);
            let data = LineData::default();
            return cx.fx.send(bank(cx, line), ToBank::Access { line, mask, data, op, how, answer, asker });
        }
        let Some(way) = place.way else { return };
        match (action, carried) {
            (LineAction::SendGet, _) => {
                self.fills += 1;
                cx.fx.uses.fetches += 1;
                cx.fx.send(bank(cx, line), ToBank::Get { line });
            }
            (LineAction::SendRegister, Carried::Request(Ask { slot, req, .. })) => {
                self.fills += 1;
                cx.fx.uses.fetches += 1;
                cx.fx.send(bank(cx, line), ToBank::Register { line, mask: req.mask, slot: Some(slot) });
            }
            (LineAction::SendRegister, _) => {
                cx.fx.send(bank(cx, line), ToBank::Register { line, mask: ByteMask::NONE, slot: None });
            }
            (LineAction::Count, _) => {
                if !self.array.dirty(way).is_empty() && !self.stored.contains_key(&line) {
                    self.stored.insert(line, self.reach.buffer.acks.sent());
                }
            }
            (LineAction::Reply, Carried::Request(ask)) => {
                cx.fx.uses.data_reads += 1;
                cx.fx.reply(ask.slot, self.array.read(way));
            }
            (LineAction::Queue, _) => {
                if self.array.dirty(way).is_empty() {
                    self.reach.buffer.push(line);
                }
            }
            (LineAction::Merge, Carried::Request(ask)) => {
                cx.fx.uses.data_writes += 1;
                self.array.write(way, &ask.req.data, ask.req.mask);
            }
            (LineAction::Accept, Carried::Request(ask)) => cx.fx.accept(ask.slot),
            (LineAction::Perform, Carried::Request(Ask { slot, req, .. })) => {
                cx.fx.uses.data_reads += 1;
                let mut bytes = self.array.read(way);
                let old = perform(&mut bytes, req.op, &req.data, req.mask);
                if req.op != Op::Load {
                    cx.fx.uses.atomics += 1;
                    cx.fx.uses.data_writes += 1;
                    self.array.write(way, &bytes, req.mask);
                }
                match req.reads() {
                    true => cx.fx.reply(slot, old),
                    false => cx.fx.accept(slot),
                }
            }
            (LineAction::Unqueue, _) => self.reach.buffer.remove(line),
            (LineAction::SendLine, Carried::Asker(asker)) => {
                cx.fx.uses.data_reads += 1;
                cx.fx.send(asker, ToL1::Data { line, data: self.array.read(way) });
            }
            (LineAction::SendReturn, _) => {
                let mask = self.array.dirty(way);
                let data = self.array.read(way).masked(mask);
                cx.fx.uses.data_reads += 1;
                cx.fx.send(bank(cx, line), ToBank::Return { line, mask, data, whole: true });
            }
            (LineAction::Fill, Carried::Fill(data) | Carried::Grant(_, data)) => {
                cx.fx.uses.data_writes += 1;
                self.array.keep_dirty(way);
                self.array.fill(way, data);
            }
            (LineAction::Answer, _) => cx.fx.reply_waiters(line, self.array.read(way)),
            (LineAction::Resume, Carried::Grant(Some(slot), _)) => cx.fx.resume(slot),
            (LineAction::KeepDirty, _) => self.array.keep_dirty(way),
            (LineAction::EndFill, _) => self.ended(line, true, cx),
            (LineAction::EndRegister, Carried::Grant(slot, _)) => {
                if let Some(parity) = self.stored.remove(&line) {
                    self.reach.acked(parity, cx);
                    cx.fx.wake(Key::StoreBuffer);
                }
                self.ended(line, slot.is_some(), cx);
            }
            (LineAction::Wake, _) => cx.fx.wake(Key::Line(line)),
            (
                LineAction::Reply
                | LineAction::Merge
                | LineAction::Accept
                | LineAction::Perform
                | LineAction::SendLine
                | LineAction::Bounce
                | LineAction::Fill
                | LineAction::Resume
                | LineAction::EndRegister,
                _,
            ) => {}
        }
    }
}

impl L1 {
    /// What was asked for has come: the way may be given up.
    fn ended<P: Protocol>(&mut self, line: LineAddr, frees_register: bool, cx: &mut Cx<'_, P>) {
        cx.fx.wake(Key::Way(self.array.set(line)));
        if frees_register {
            self.fills = self.fills.saturating_sub(1);
            cx.fx.wake(Key::Miss);
        }
    }
}

impl<P> Controller<P> for L1
where
    P: Protocol<Params = Params, Msg: From<ToBank> + From<ToL1>>,
{
    type Msg = ToL1;

    fn step(&mut self, input: Input<'_, ToL1>, cx: &mut Cx<'_, P>) -> Disposition {
        let done = match input {
            Input::Request(ask) => self.request(ask, cx),
            Input::Message { msg, .. } => self.message(msg, cx),
            Input::Evict(way) => self.evict(way, cx),
            Input::Timer(TimerClass::Drain) => self.drain(cx),
            Input::Timer(_) => Disposition::Impossible("no such timer was asked for"),
            Input::Memory(_) => Disposition::Impossible("an L1 does not speak to memory"),
            Input::Tick { .. } => Disposition::Done,
        };
        self.drain_if_due(cx);
        done
    }

    fn victims(&self, set: SetIndex, out: &mut Vec<(Way, Rank)>) {
        if self.array.in_set_where(set, |state| state == LineState::IE).next().is_some() {
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
        self.fills == 0 && self.stored.is_empty() && self.reach.is_quiet()
    }

    fn canonicalize(&mut self) {
        self.array.canonicalize();
        self.reach.canonicalize();
    }
}
