//! A bank of the L2, with the versions and leases of its lines.

use super::clock::Receiver;
use super::tables::{BankAction, BankEvent, BankState, BankTable};
use super::{Lease, Leased, Params, ROLLOVER, ToBank, ToL1, ToRollover};
use crate::parts::{self, Answer, BankAccess, BankLines, FIRST, ResourceNeeds, answer_bytes};
use proto::parts::{CacheArray, Lines, Place};
use proto::{
    ByteMask, Cause, Controller, Cx, Disposition, Input, Key, KindLevel, LineAddr, LineData, LineView,
    MemoryAccess, MemoryReply, NodeId, Op, Rank, SetIndex, Slot, Way, WritePolicy,
};
use std::collections::BTreeMap;

/// The key under which accesses wait for the end of a rollover (a restart of all timestamps at
/// zero).
const ROLLED: Key = Key::Other(0);

/// A bank of the L2.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bank {
    store: BankLines<BankState>,
    /// The version and the lease of each line of the bank.
    leases: BTreeMap<LineAddr, Lease>,
    /// The end of the lease of all lines that are not in the bank (`mnow`, `mem_ts`). It is also
    /// their version.
    absent: u32,
    /// Whether no line has entered the bank since the time `absent` became later than the ends of
    /// all leases.
    is_ahead: bool,
    flushes: Flushes,
    /// Whether this bank has requested a rollover.
    overflows: bool,
    /// Whether a rollover (a restart of all timestamps at zero) is under way, so that no access is
    /// performed.
    is_stopped: bool,
    /// The current epoch, which changes when the times start again at zero.
    epoch: bool,
    /// The accesses that wait in this bank and for which it has requested a rollover (a restart of all
    /// timestamps at zero), if such accesses lose their times. The value says whether the rollover has
    /// taken place. Then the time of the access has no meaning, even if a second rollover makes its
    /// epoch the current one again.
    rolled: BTreeMap<(NodeId, Receiver), bool>,
}

/// The requests for a flush of the bank. Those in `now` wait for the flush under way, until memory
/// has acknowledged its writes. A request that arrives during this flush joins the next flush.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Flushes {
    now: Vec<(NodeId, Slot)>,
    next: Vec<(NodeId, Slot)>,
}

/// An access of an L1, with its logical time.
#[derive(Clone, Copy, Debug)]
pub struct TimedAccess<'a> {
    access: BankAccess<'a>,
    /// The logical time before which the access is not performed.
    now: u32,
    /// The version of the L1's copy of the line. `None` if the L1 has no copy.
    version: Option<u32>,
}

/// The sender of an access of a line: the L1, and the receiver of the answer in it.
fn sender(access: &BankAccess<'_>, line: LineAddr) -> (NodeId, Receiver) {
    let receiver = match access.answer {
        Answer::Request(slot) => Receiver::Slot(slot),
        Answer::Line | Answer::Posted { .. } => Receiver::Line(line),
    };
    (access.from, receiver)
}

/// The operand of an event of a line: the data that the actions of the event's row use.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    /// The access that causes the event.
    Access(TimedAccess<'a>),
    /// The bytes that the bank has fetched.
    Fill(&'a LineData),
    /// The event has no operand.
    Nothing,
}

fn tell_l1s<P: Leased>(msg: ToL1, cx: &mut Cx<'_, P>) {
    let l1s = (0..cx.world.levels.of(FIRST).count).map(|index| NodeId { kind: FIRST, index });
    l1s.for_each(|l1| cx.fx.send(l1, msg));
}

/// Reports a time that a register for a timestamp cannot hold.
fn check_time<P: Leased>(time: u32, cx: &mut Cx<'_, P>) {
    if time > cx.world.params.last {
        cx.impossible("a time is later than the largest timestamp");
    }
}

impl Bank {
    /// An empty bank, at time zero.
    #[must_use]
    pub fn new(level: &KindLevel, _: &Params) -> Self {
        Bank {
            store: BankLines::new(level, BankState::I),
            leases: BTreeMap::new(),
            absent: 0,
            is_ahead: true,
            flushes: Flushes::default(),
            overflows: false,
            is_stopped: false,
            epoch: false,
            rolled: BTreeMap::new(),
        }
    }

    fn message<P: Leased>(&mut self, from: NodeId, msg: &ToBank, cx: &mut Cx<'_, P>) -> Disposition {
        let none = LineData::default();
        match *msg {
            ToBank::Get { line, now, version, epoch, .. } => {
                let mask = ByteMask::full(usize::from(cx.level().line_bytes));
                let access = BankAccess { from, op: Op::Load, mask, data: &none, answer: Answer::Line };
                let is_current = self.is_current(sender(&access, line), epoch);
                let (now, version) = if is_current { (now, version) } else { (0, None) };
                self.access(line, BankEvent::Get, TimedAccess { access, now, version }, cx)
            }
            ToBank::Access { line, mask, ref data, op, is_remote, slot, now, epoch, .. } => {
                let event = match op {
                    _ if is_remote => BankEvent::Remote,
                    Op::Load => BankEvent::Read,
                    Op::Store => BankEvent::Write,
                    _ => BankEvent::Update,
                };
                let access = BankAccess { from, op, mask, data, answer: Answer::Request(slot) };
                let now = if self.is_current(sender(&access, line), epoch) { now } else { 0 };
                self.access(line, event, TimedAccess { access, now, version: None }, cx)
            }
            ToBank::Ask { slot, invalidates } => self.answer_time(from, slot, invalidates, cx),
            ToBank::Shared(parts::ToBank::Flush { slot }) => {
                if self.flushes.now.is_empty() {
                    self.flushes.now.push((from, slot));
                    return self.begin_flush(cx);
                }
                self.flushes.next.push((from, slot));
                Disposition::Done
            }
            ToBank::Shared(_) => Disposition::Impossible("accesses of this protocol carry times"),
            ToBank::Stop => {
                self.is_stopped = true;
                tell_l1s(ToL1::Stopped, cx);
                cx.fx.send(ROLLOVER, ToRollover::Stopped);
                Disposition::Done
            }
            ToBank::Start => {
                (self.is_stopped, self.overflows) = (false, false);
                self.restart();
                self.epoch ^= cx.world.params.variant.carries_epochs;
                self.rolled.values_mut().for_each(|is_over| *is_over = true);
                cx.fx.wake(ROLLED);
                Disposition::Done
            }
        }
    }

    /// Whether the time of an access has a meaning: it is of the current epoch, and the bank has made no
    /// rollover for this access.
    fn is_current(&self, sender: (NodeId, Receiver), epoch: bool) -> bool {
        epoch == self.epoch && self.rolled.get(&sender) != Some(&true)
    }

    /// The end of the lease of a line.
    fn end(&self, line: LineAddr) -> u32 {
        self.leases.get(&line).map_or(self.absent, |lease| lease.end)
    }

    /// The latest end of all leases.
    fn latest(&self) -> u32 {
        self.leases.values().fold(self.absent, |latest, lease| latest.max(lease.end))
    }

    /// Starts again at logical time zero: resets the versions and the leases of all lines.
    fn restart(&mut self) {
        self.leases.values_mut().for_each(|lease| *lease = Lease::default());
        (self.absent, self.is_ahead) = (0, self.leases.is_empty());
    }

    /// Handles an access for which no logical time is left. The bank requests a rollover (a restart
    /// of all timestamps at zero), unless it has done so, and the access waits for the end of the
    /// rollover (`Some`). In `g-tsc` as published, the bank starts again at time zero by itself, and
    /// the access goes on (`None`). `sender` is `None` if the access has no time of its own.
    fn roll_over<P: Leased>(
        &mut self,
        sender: Option<(NodeId, Receiver)>,
        cx: &mut Cx<'_, P>,
    ) -> Option<Disposition> {
        if !cx.world.params.variant.stops {
            self.restart();
            tell_l1s(ToL1::Reset, cx);
            return None;
        }
        if !core::mem::replace(&mut self.overflows, true) {
            cx.fx.send(ROLLOVER, ToRollover::Overflow);
            let noted = sender.filter(|_| cx.world.params.variant.voids_old_times);
            self.rolled.extend(noted.map(|sender| (sender, false)));
        }
        Some(Disposition::Stall(ROLLED))
    }

    /// Carries out an access, if the resources that it needs are free.
    fn access<P: Leased>(
        &mut self,
        line: LineAddr,
        event: BankEvent,
        timed: TimedAccess<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        let (end, params, sender) = (self.end(line), cx.world.params, sender(&timed.access, line));
        if self.is_stopped {
            // The access stays behind those that wait for a fetch of the line.
            let is_behind = params.variant.keeps_turns && cx.has_line_waiter(line);
            return Disposition::Stall(if is_behind { Key::Line(line) } else { ROLLED });
        }
        // A load within the lease does not extend it.
        let overflows = match timed.access.op {
            Op::Load => timed.now > end.max(params.lease_last),
            _ => end >= params.last,
        };
        if overflows && let Some(waits) = self.roll_over(Some(sender), cx) {
            return waits;
        }
        let array = &self.store.array;
        let place = array.place(line, cx.world.homes);
        let (state, event) = Lines::<P>::classify(self, place, event, Operand::Access(timed));
        if params.variant.keeps_turns && (state, event) == (BankState::IV, BankEvent::Remote) {
            return Disposition::Stall(Key::Line(line));
        }
        let fetches = event.needs_bytes() && matches!(state, BankState::I | BankState::P);
        let way = fetches || event == BankEvent::Write;
        let needs = ResourceNeeds { entry: false, register: fetches, way };
        let disposition = match needs.lacks(array, place, self.store.fetches, cx) {
            Some(wait) => wait,
            None => self.transition(place, state, event, Operand::Access(timed), cx),
        };
        if disposition == Disposition::Done {
            self.rolled.remove(&sender);
        }
        disposition
    }

    /// Answers an L1 that asks for the latest end of all leases. If the L1 also asks for an
    /// invalidation of the bank, the answer is a time after all leases: the writes of the host have
    /// no times, so any copy may be older than these writes.
    fn answer_time<P: Leased>(
        &mut self,
        from: NodeId,
        slot: Slot,
        invalidates: bool,
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        if self.is_stopped {
            return Disposition::Stall(ROLLED);
        }
        if invalidates {
            if !self.is_ahead
                && self.latest() >= cx.world.params.last
                && let Some(waits) = self.roll_over(None, cx)
            {
                return waits;
            }
            let latest = self.latest();
            let disposition = self.invalidate_all(Cause::Remote, BankEvent::Inv, Operand::Nothing, cx);
            if disposition != Disposition::Done {
                return disposition;
            }
            if !self.is_ahead {
                (self.absent, self.is_ahead) = (latest + 1, true);
                check_time(self.absent, cx);
            }
        }
        let bytes = cx.world.params.stamp_bytes;
        cx.fx.send(from, ToL1::Time { slot, time: self.latest(), bytes });
        Disposition::Done
    }

    /// Updates the version and the lease of a line for an access. A load extends the lease to its
    /// time if necessary. A write takes a time after the lease.
    fn stamp(&mut self, line: LineAddr, timed: TimedAccess<'_>) {
        let (tracked, is_load) = (self.leases.get_mut(&line), timed.access.op == Op::Load);
        match tracked {
            Some(lease) if is_load => lease.end = lease.end.max(timed.now),
            Some(lease) => {
                let time = timed.now.max(lease.end + 1);
                *lease = Lease { version: time, end: time };
            }
            None if is_load => self.absent = self.absent.max(timed.now),
            None => self.absent = timed.now.max(self.absent + 1),
        }
    }

    fn perform<P: Leased>(&mut self, line: LineAddr, way: Way, timed: TimedAccess<'_>, cx: &mut Cx<'_, P>) {
        let BankAccess { op, mask, data, .. } = timed.access;
        let mut bytes = self.store.read(way, cx);
        let mut old = bytes.masked(mask);
        if let Op::Rmw(rmw) = op {
            cx.fx.uses.atomics += 1;
            cx.fx.uses.atomic_words += mask.count().div_ceil(4);
            cx.fx.uses.data_writes += 1;
            old = rmw.perform(&mut bytes, data, mask);
            self.store.array.write(way, &bytes, mask);
        }
        self.done(line, timed.access, old, cx);
    }

    /// Answers an access that this bank has performed. The answer carries the logical time of the
    /// access.
    fn done<P: Leased>(&self, line: LineAddr, access: BankAccess<'_>, data: LineData, cx: &mut Cx<'_, P>) {
        let Answer::Request(slot) = access.answer else { return };
        let bytes = answer_bytes(access.op, access.mask) + cx.world.params.stamp_bytes;
        let time = self.leases.get(&line).map_or(self.absent, |lease| lease.version);
        let is_write = access.op != Op::Load;
        cx.fx.send(access.from, ToL1::Done { slot, bytes, data, time, epoch: self.epoch, is_write });
    }

    fn memory<P: Leased>(&mut self, reply: &MemoryReply, cx: &mut Cx<'_, P>) -> Disposition {
        let (line, tag) = (reply.op.line, reply.op.tag);
        if tag.node == cx.me {
            return match reply.op.access {
                MemoryAccess::Read => self.event(line, BankEvent::Fill, Operand::Fill(&reply.data), cx),
                _ if !self.store.written(reply) => Disposition::Impossible("no write was outstanding"),
                _ => self.end_flush(cx),
            };
        }
        // The access was stamped when it was passed on. The time of the line is not before that.
        let (data, time, epoch) = (reply.data, self.end(line), self.epoch);
        let bytes = cx.world.params.stamp_bytes;
        let is_write = reply.op.access != MemoryAccess::Read;
        match parts::passed_on(tag) {
            Answer::Line => cx.fx.send(tag.node, ToL1::Bare { line, data, time, epoch, bytes }),
            Answer::Request(slot) => {
                let bytes = bytes + tag.note;
                cx.fx.send(tag.node, ToL1::Done { slot, bytes, data, time, epoch, is_write });
            }
            Answer::Posted { .. } => return Disposition::Impossible("no write is posted"),
        }
        Disposition::Done
    }

    /// Writes all dirty bytes to memory, and begins to wait for the acks.
    fn begin_flush<P: Leased>(&mut self, cx: &mut Cx<'_, P>) -> Disposition {
        cx.fx.uses.flushes.count(Cause::Remote);
        let mut start = Way(0);
        while let Some(way) = self.store.array.next_dirty(start) {
            start = Way(way.0 + 1);
            let disposition = self.event_in(way, BankEvent::Flush, Operand::Nothing, cx);
            if disposition != Disposition::Done {
                return disposition;
            }
        }
        self.store.writes.turn();
        self.end_flush(cx)
    }

    /// If no ack is due, answers the requests of the flush under way, and begins the next flush.
    fn end_flush<P: Leased>(&mut self, cx: &mut Cx<'_, P>) -> Disposition {
        if self.flushes.now.is_empty() || self.store.writes.is_closing() {
            return Disposition::Done;
        }
        for (node, slot) in self.flushes.now.drain(..) {
            cx.fx.send(node, parts::ToL1::BankDone { slot });
        }
        self.flushes.now = core::mem::take(&mut self.flushes.next);
        if self.flushes.now.is_empty() { Disposition::Done } else { self.begin_flush(cx) }
    }
}

impl<P: Leased> Lines<P> for Bank {
    type Table = BankTable;
    type Operand<'a> = Operand<'a>;
    const ABSENT: BankState = BankState::I;

    fn array(&mut self) -> &mut CacheArray<BankState> {
        &mut self.store.array
    }

    fn classify(&self, place: Place, event: BankEvent, operand: Operand<'_>) -> (BankState, BankEvent) {
        let Some(way) = place.way else { return (BankState::I, event) };
        let state = self.store.array.state(way);
        let Operand::Access(timed) = operand else { return (state, event) };
        if state != BankState::V {
            return (state, event);
        }
        if event.needs_bytes() && !self.store.array.valid(way).contains(timed.access.mask) {
            return (BankState::P, event);
        }
        let has_bytes = self.leases.get(&place.line).is_some_and(|l| timed.version == Some(l.version));
        (state, if event == BankEvent::Get && has_bytes { BankEvent::Renew } else { event })
    }

    fn act(&mut self, action: BankAction, place: Place, operand: Operand<'_>, cx: &mut Cx<'_, P>) {
        let Place { line, way, .. } = place;
        let params = cx.world.params;
        match (action, way, operand) {
            (BankAction::Admit, ..) => {
                self.leases.insert(line, Lease { version: self.absent, end: self.absent });
                self.is_ahead = false;
            }
            (BankAction::Retire, ..) => {
                let ended = self.leases.remove(&line).unwrap_or_default();
                self.absent = self.absent.max(ended.end);
            }
            (BankAction::Fetch, ..) => self.store.fetch(line, cx),
            (BankAction::Lease, _, Operand::Access(timed)) => {
                let lease = self.leases.entry(line).or_default();
                let end = timed.now.max(lease.version).saturating_add(params.lease).min(params.lease_last);
                lease.end = lease.end.max(end);
                check_time(lease.end, cx);
            }
            (BankAction::Stamp, _, Operand::Access(timed)) => {
                self.stamp(line, timed);
                check_time(self.end(line), cx);
            }
            (BankAction::SendData, Some(way), Operand::Access(timed)) => {
                let (data, bytes) = (self.store.read(way, cx), 2 * params.stamp_bytes);
                let lease = self.leases.get(&line).copied().unwrap_or_default();
                cx.fx.send(timed.access.from, ToL1::Data { line, data, lease, bytes });
            }
            (BankAction::SendLease, _, Operand::Access(timed)) => {
                let lease = self.leases.get(&line).copied().unwrap_or_default();
                let bytes = params.stamp_bytes;
                cx.fx.send(timed.access.from, ToL1::Renewed { line, lease, bytes });
            }
            (BankAction::Merge, Some(way), Operand::Access(timed)) => self.store.merge(way, timed.access, cx),
            (BankAction::Settle, Some(way), _) => {
                if cx.level().array.policy != WritePolicy::Combining {
                    self.store.write_out(line, way, cx);
                }
            }
            (BankAction::WriteOut, Some(way), _) => self.store.write_out(line, way, cx),
            (BankAction::Ack, _, Operand::Access(timed)) => {
                self.done(line, timed.access, LineData::default(), cx);
            }
            (BankAction::Perform, Some(way), Operand::Access(timed)) => self.perform(line, way, timed, cx),
            (BankAction::PassOn, _, Operand::Access(timed)) => self.store.pass_on(line, timed.access, cx),
            (BankAction::Fill, Some(way), Operand::Fill(data)) => self.store.fill(way, data, cx),
            (BankAction::Wake, ..) => {
                self.store.end_fetch(cx);
                // Waiters for a way or a register have priority over accesses that
                // must fetch this line again.
                cx.fx.wake(Key::Way(place.set));
                cx.fx.wake(Key::Miss);
                cx.fx.wake(Key::Line(line));
            }
            (BankAction::Divert, ..) => cx.fx.wake(Key::Line(line)),
            (
                BankAction::Lease
                | BankAction::Stamp
                | BankAction::SendData
                | BankAction::SendLease
                | BankAction::Merge
                | BankAction::Settle
                | BankAction::WriteOut
                | BankAction::Ack
                | BankAction::Perform
                | BankAction::PassOn
                | BankAction::Fill,
                ..,
            ) => cx.lacks_operand(action),
        }
    }
}

impl<P: Leased> Controller<P> for Bank {
    type Msg = ToBank;

    fn step(&mut self, input: Input<'_, ToBank>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Message { from, msg } => self.message(from, msg, cx),
            Input::Memory(reply) => self.memory(reply, cx),
            Input::Evict(way) => self.event_in(way, BankEvent::Evict, Operand::Nothing, cx),
            Input::Timer(_) => Disposition::Impossible("a bank arms no timer"),
            Input::Request(_) => Disposition::Impossible("no requests of cores enter a bank"),
            Input::Tick { .. } => Disposition::Done,
        }
    }

    fn victims(&self, set: SetIndex, out: &mut Vec<(Way, Rank)>) {
        self.store.array.victims(set, BankState::V, out);
    }

    fn occupied(&self, set: SetIndex, out: &mut Vec<Way>) {
        out.extend(self.store.array.in_set(set));
    }

    fn lines(&self, out: &mut Vec<LineView>) {
        self.store.array.views::<BankTable>(out);
    }

    fn is_quiet(&self) -> bool {
        let is_rolling = self.is_stopped || self.overflows;
        self.rolled.is_empty()
            && self.store.fetches == 0
            && self.store.writes.is_idle()
            && self.flushes.now.is_empty()
            && !is_rolling
    }

    fn miscount(&self) -> Option<&'static str> {
        let array = &self.store.array;
        let leased = array
            .occupied(Way(0))
            .filter(|&way| array.line(way).is_some_and(|line| self.leases.contains_key(&line)));
        if leased.count() != self.leases.len() || array.count_where(|_| true) as usize != self.leases.len() {
            return Some("a lease belongs to no line of the bank, or a line of the bank has no lease");
        }
        self.store.miscount(|state| matches!(state, BankState::IV | BankState::IX))
    }

    fn canonicalize(&mut self) {
        self.store.writes.canonicalize();
        self.store.array.canonicalize();
    }
}
