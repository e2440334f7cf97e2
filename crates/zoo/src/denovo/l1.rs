//! The L1 cache of a compute unit in DeNovo.

use super::l1_table::{L1Table, LineAction, LineEvent, LineState};
use super::plans::{L1Plans, Step};
use crate::parts::{
    AccessSite, Answer, FirstLevel, ResourceNeeds, ToBank, ToL1 as Shared, answer, first_lines, performed,
};
use crate::registration::{
    EvictableStates, Operand, Params, RegistrationProtocol, ToL1, give_back, register, victims,
};
use proto::parts::{CacheArray, Lines, Place};
use proto::{
    ByteMask, Cause, Controller, Cx, Disposition, Hit, Homes, Input, Key, KindLevel, LineAddr, LineData,
    LineView, Load, Op, Rank, RequestInput, Row, SetIndex, Table, TimerClass, Way, WritePolicy,
};
use std::collections::BTreeMap;

/// The L1 cache of a compute unit in DeNovo.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct L1 {
    /// The lines of the cache, its miss registers, and its outstanding operations at the banks. A
    /// miss register is in use for each fill and for each registration that an atomic needs.
    cache: FirstLevel<LineState>,
    /// The lines whose registration has been requested for stored data. Releases wait for these
    /// registrations. The value for a line is a bit (the parity), which distinguishes registrations
    /// before a release from later registrations.
    stored: BTreeMap<LineAddr, bool>,
    retains: bool,
}

proto::clone_in_place! { [] L1 { cache, stored, retains } }

impl L1 {
    /// An empty cache without outstanding operations.
    #[must_use]
    pub fn new(level: &KindLevel, params: &Params) -> Self {
        let cache = FirstLevel::new(level, LineState::I);
        L1 { cache, stored: BTreeMap::new(), retains: params.retains }
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
            Step::Here if ask.req.op == Op::Load => Some(self.here(ask, LineEvent::Load, cx)),
            Step::Here => Some(self.here(ask, LineEvent::Store, cx)),
            Step::Register => {
                let stage = cx.stage;
                let disposition = self.here(ask, LineEvent::Atomic, cx);
                let is_requested = cx.stage != stage && self.state(line, cx) != LineState::R;
                Some(if is_requested { Disposition::Stall(Key::Slot(slot)) } else { disposition })
            }
            Step::Perform => self.event(line, LineEvent::Registered, Operand::Request(ask), cx).unless_done(),
            Step::RegisterStores => lower.flush(ask, cx),
            Step::Invalidate => self.invalidate(Cause::of(ask.req), cx).unless_done(),
            Step::Pass if self.cache.array.find(line, cx.world.homes).is_none() => None,
            Step::Pass => self.event(line, LineEvent::Inv, Operand::Nothing, cx).unless_done(),
            Step::BelowSystem => lower.below(ask, AccessSite::System, cx),
            Step::FlushBanks => lower.flush_banks(slot, cx),
            Step::InvalidateBanks => lower.invalidate_banks(slot, cx),
            Step::AnswerIt => answer(ask, cx),
        }
    }

    /// Performs an access on the line in this cache. If the access needs an entry of the store
    /// buffer, a miss register or a way, and none is free, the access waits.
    fn here<P: RegistrationProtocol>(
        &mut self,
        ask: RequestInput<'_>,
        event: LineEvent,
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        let (line, operand) = (ask.req.line, Operand::Request(ask));
        let place = self.cache.array.place(line, cx.world.homes);
        let (state, event) = Lines::<P>::classify(self, place, event, operand);
        // The actions of the row tell which resources the access needs.
        if let Row::Do { actions, next, .. } = L1Table::row(state, event) {
            let does = |action: LineAction| actions.contains(&action);
            let is_new = (does(LineAction::Queue) && !self.cache.is_dirty(place.way))
                || (does(LineAction::Merge) && does(LineAction::Count) && !self.stored.contains_key(&line));
            if is_new && self.entries() >= cx.level().array.store_buffer_entries {
                return Disposition::Stall(Key::StoreBuffer);
            }
            let register = does(LineAction::SendGet) || does(LineAction::SendRegister);
            let needs = ResourceNeeds { entry: false, register, way: next.is_some() };
            if let Some(wait) = self.cache.lacks(place, needs, cx) {
                return wait;
            }
        }
        self.transition(place, state, event, operand, cx)
    }

    fn state<P: RegistrationProtocol>(&self, line: LineAddr, cx: &Cx<'_, P>) -> LineState {
        self.cache.array.find(line, cx.world.homes).map_or(LineState::I, |way| self.cache.array.state(way))
    }

    fn message<P: RegistrationProtocol>(&mut self, msg: &ToL1, cx: &mut Cx<'_, P>) -> Disposition {
        let (line, event) = match *msg {
            ToL1::Shared(Shared::Data { line, .. }) => return self.filled(line, msg, cx),
            ToL1::Shared(ref msg) => return self.cache.lower.message(msg, cx),
            ToL1::Grant { line, .. } => (line, LineEvent::Grant),
            ToL1::Recall { line } => (line, LineEvent::Recall),
            ToL1::Serve { line, .. } => (line, LineEvent::Serve),
            ToL1::Forward { .. } => {
                return Disposition::Impossible("atomics are performed in the L1 of their issuer");
            }
        };
        self.event(line, event, Operand::Message(msg), cx)
    }

    /// The number of store-buffer entries in use. A line with stored data occupies one entry until
    /// the line is registered.
    fn entries(&self) -> u32 {
        self.cache.lower.buffer.lines() + self.stored.len() as u32
    }

    /// Whether a line may leave the store buffer. It may not leave while its fill is under way.
    fn is_ready(array: &CacheArray<LineState>, line: LineAddr, homes: &Homes) -> bool {
        array.find(line, homes).is_none_or(|way| !matches!(array.state(way), LineState::IV | LineState::IX))
    }

    /// Processes a fill that arrives. Until now, the line of this fill could not leave the store
    /// buffer. If the line is the next to leave and must leave now, it leaves in the same step. If
    /// the line waited for the drain timer instead, a load could first begin another fill of the
    /// line, and releases would starve.
    fn filled<P: RegistrationProtocol>(
        &mut self,
        line: LineAddr,
        msg: &ToL1,
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        match self.event(line, LineEvent::Data, Operand::Message(msg), cx) {
            Disposition::Done if self.cache.lower.buffer.next_line() == Some(line) && self.is_due(cx) => {
                self.drain(cx)
            }
            disposition => disposition,
        }
    }

    fn drain<P: RegistrationProtocol>(&mut self, cx: &mut Cx<'_, P>) -> Disposition {
        let homes = cx.world.homes;
        match self.cache.lower.pop(|line| Self::is_ready(&self.cache.array, line, homes), cx) {
            Some(line) => self.event(line, LineEvent::Drain, Operand::Nothing, cx),
            None => Disposition::Done,
        }
    }

    /// Whether the head of the store buffer must leave the buffer now and can leave it. The write
    /// policy, a full buffer or a flush can require this.
    fn is_due<P: RegistrationProtocol>(&self, cx: &Cx<'_, P>) -> bool {
        let (l1, buffer) = (&cx.level().array, &self.cache.lower.buffer);
        let is_eager = l1.policy != WritePolicy::Combining || self.entries() >= l1.store_buffer_entries;
        let is_ready = |line| Self::is_ready(&self.cache.array, line, cx.world.homes);
        (is_eager && buffer.lines() > 0 || buffer.has_flush())
            && !buffer.is_blocked()
            && buffer.next_line().is_none_or(is_ready)
    }

    /// Arms the drain timer if the head of the store buffer must leave the buffer now.
    fn drain_if_due<P: RegistrationProtocol>(&self, cx: &mut Cx<'_, P>) {
        if self.is_due(cx) {
            cx.fx.timer(TimerClass::Drain);
        }
    }

    fn invalidate<P: RegistrationProtocol>(&mut self, cause: Cause, cx: &mut Cx<'_, P>) -> Disposition {
        cx.fx.uses.invalidations.count(cause);
        let mut count = 0;
        let all = |_, state| {
            count += u32::from(state != LineState::R);
            true
        };
        let disposition = self.event_of_all(all, LineEvent::Inv, Operand::Nothing, cx);
        cx.fx.uses.lines_invalidated += count;
        disposition
    }
}

impl<P: RegistrationProtocol> Lines<P> for L1 {
    type Operand<'a> = Operand<'a>;

    first_lines! { cache: L1Table, absent: LineState::I }

    fn classify(&self, place: Place, event: LineEvent, operand: Operand<'_>) -> (LineState, LineEvent) {
        let Some(way) = place.way else { return (LineState::I, event) };
        let misses = match operand {
            Operand::Request(ask) if event == LineEvent::Load => {
                !self.cache.array.valid(way).contains(ask.req.mask)
            }
            Operand::Request(_) | Operand::Message(_) | Operand::Nothing => false,
        };
        let state = match self.cache.array.state(way) {
            LineState::V if misses => LineState::P,
            LineState::IR if misses => LineState::IP,
            state => state,
        };
        (state, if self.cache.is_dirty(place.way) { event.of_dirty() } else { event })
    }

    fn act(&mut self, action: LineAction, place: Place, operand: Operand<'_>, cx: &mut Cx<'_, P>) {
        let line = place.line;
        if let (LineAction::Bounce, Operand::Message(&ToL1::Serve { requester, .. })) = (action, operand) {
            let mask = ByteMask::full(usize::from(cx.level().line_bytes));
            let (op, site, answer) = (Op::Load, AccessSite::Unregistered, Answer::Line);
            let data = LineData::default();
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
                register(line, ask.req.mask, Some(ask.slot), cx);
            }
            (LineAction::SendRegister, _) => register(line, ByteMask::NONE, None, cx),
            (LineAction::Count, _) => {
                if cache.is_dirty(Some(way)) && !self.stored.contains_key(&line) {
                    self.stored.insert(line, cache.lower.buffer.acks.sent());
                }
            }
            (LineAction::Reply, Operand::Request(ask)) => cache.reply(way, ask, cx),
            (LineAction::Queue, _) => cache.queue_if(!cache.is_dirty(Some(way)), line),
            (LineAction::Merge, Operand::Request(ask)) => {
                cache.write(way, &ask.req.data, ask.req.mask, cx);
            }
            (LineAction::Accept, Operand::Request(ask)) => cx.fx.accept(ask.slot),
            (LineAction::Perform, Operand::Request(ask)) => {
                let req = ask.req;
                let (old, _) = cache.perform(way, req.op, &req.data, req.mask, cx);
                performed(ask, old, cx);
            }
            (LineAction::Unqueue, _) => cache.lower.buffer.remove(line),
            (LineAction::SendLine, Operand::Message(&ToL1::Serve { requester, .. })) => {
                cx.fx.uses.data_reads += 1;
                cx.fx.send(requester, Shared::Data { line, data: cache.array.read(way) });
            }
            (LineAction::SendReturn, _) => give_back(cache, line, way, true, cx),
            (
                LineAction::Fill,
                Operand::Message(ToL1::Shared(Shared::Data { data, .. }) | ToL1::Grant { data, .. }),
            ) => {
                cache.array.keep_dirty(way);
                cache.fill(way, data, cx);
            }
            (LineAction::Answer, _) => cx.fx.reply_waiters(line, cache.array.read(way)),
            // A grant for stored data has no slot, because no request waits only for this grant.
            (LineAction::Resume, Operand::Message(&ToL1::Grant { slot, .. })) => {
                slot.into_iter().for_each(|slot| cx.fx.resume(slot));
            }
            (LineAction::KeepDirty, _) => cache.array.keep_dirty(way),
            (LineAction::EndFill, _) => cache.end_fill(place, cx),
            (LineAction::EndRegister, Operand::Message(&ToL1::Grant { slot, .. })) => {
                if let Some(parity) = self.stored.remove(&line) {
                    if !cache.lower.acked(parity, cx) {
                        cx.impossible("a grant arrives, but no registration of stored data is outstanding");
                    }
                    cx.fx.wake(Key::StoreBuffer);
                }
                match slot {
                    Some(_) => cache.end_fill(place, cx),
                    None => cx.fx.wake(Key::Way(place.set)),
                }
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
            ) => cx.lacks_operand(action),
        }
    }
}

impl<P: RegistrationProtocol> Controller<P> for L1 {
    type Msg = ToL1;

    fn step(&mut self, input: Input<'_, ToL1>, cx: &mut Cx<'_, P>) -> Disposition {
        let disposition = match input {
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
        self.drain_if_due(cx);
        disposition
    }

    #[inline]
    fn hit(&self, load: &Load, homes: &Homes) -> Option<Hit<'_>> {
        let row = (LineEvent::Load, LineAction::Reply);
        self.cache.hit::<L1Table, L1Plans>(load, homes, Step::Here, row)
    }

    fn victims(&self, set: SetIndex, out: &mut Vec<(Way, Rank)>) {
        let (plain, registered, leaving) = (LineState::V, LineState::R, LineState::IE);
        victims(&self.cache.array, set, EvictableStates { plain, registered, leaving }, self.retains, out);
    }

    fn occupied(&self, set: SetIndex, out: &mut Vec<Way>) {
        out.extend(self.cache.array.in_set(set));
    }

    fn limit_ways(&mut self, ways: u32) -> bool {
        self.cache.array.limit_ways(ways);
        true
    }

    fn lines(&self, out: &mut Vec<LineView>) {
        self.cache.array.views::<L1Table>(out);
    }

    fn is_quiet(&self) -> bool {
        self.stored.is_empty() && self.cache.is_quiet()
    }

    fn miscount(&self) -> Option<&'static str> {
        use LineState::{I, IE, IP, IR, IV, IX, P, R, V};
        let (array, acks) = (&self.cache.array, &self.cache.lower.buffer.acks);
        let (mut fills, mut registrations, mut stored) = (0, 0, 0);
        for way in array.occupied(Way(0)) {
            match array.state(way) {
                IV | IX => fills += 1,
                IR | IE => {
                    registrations += 1;
                    stored += u32::from(array.line(way).is_some_and(|line| self.stored.contains_key(&line)));
                }
                I | P | V | IP | R => {}
            }
        }
        // A registration for an atomic occupies a miss register, also if its line has been stored to
        // since.
        let registers = fills + registrations - stored..=fills + registrations;
        if stored as usize != self.stored.len() || stored != acks.outstanding() {
            return Some(
                "the registrations for which releases wait differ from the registrations of stored data \
                 under way",
            );
        }
        self.cache.miscount(registers, |state| !matches!(state, IR | IE | R))
    }

    fn canonicalize(&mut self) {
        self.cache.canonicalize();
    }
}
