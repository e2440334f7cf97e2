//! Issue of operations: the issue rule, local memory, and the start of line requests.

use kernel::{Action, OpId, Ops, Posted, Session, Space};
use proto::Order;
use proto::issue::{IssueId, Verdict};

use crate::cores::Cores;
use crate::cores::coalesce::LinePart;
use crate::cores::instr::{Instr, Owner, Phase, RequestHead};
use crate::cores::lds::{perform, turns};
use crate::cores::operands::{describe, examine, forwarded, issue_op, shares_byte, split};
use crate::cores::wave::{LastOp, Stage};
use crate::engine::{Engine, Event};
use crate::queue::Cycle;
use crate::reports::Reports;
use crate::reports::probe::Probe;
use crate::slab::Slab;

/// The result of offering an operation to the issue rule, and the next step for the caller.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub(crate) enum Issued {
    /// The caller sends no request now: the issue rule holds the operation back, or the operation
    /// needs no station (a controller of the protocol).
    Here,
    /// The caller must send the instruction's line requests, which [`Cores::take_parts`] returns.
    Lines { instr: u32 },
    /// The instruction is a fence. The caller must send one request, which accesses no line.
    Order { instr: u32 },
    /// The instruction is a barrier whose acquire and release semantics are `order`.
    Barrier { instr: u32, order: Order },
    /// The issue rule keeps the instruction until earlier ones are complete. Its wavefront
    /// continues.
    Kept { instr: u32 },
}

/// Whether an operation shares a byte with the older instruction `older` of its wavefront. `issued`
/// has the instructions of the wavefront that are not complete.
fn meets(
    (issued, instrs, ops): (&[(IssueId, u32)], &Slab<Instr>, &Ops),
    older: IssueId,
    op: &Posted,
) -> bool {
    let instr = issued.iter().find(|(issue, _)| *issue == older).and_then(|&(_, number)| instrs.get(number));
    let older = instr.and_then(|instr| instr.op);
    older.is_none_or(|older| shares_byte(op, ops.get(older)))
}

impl Cores<'_> {
    /// Offers an operation to the issue rule, which decides whether the operation may start now.
    /// The arithmetic that precedes the operation must be done.
    #[inline(never)]
    pub(crate) fn offer<Pr: Probe>(
        &mut self,
        engine: &mut Engine,
        reports: &mut Reports<'_, Pr>,
        session: &Session,
        number: u32,
        id: OpId,
    ) -> Issued {
        let wave = &mut self.waves[number as usize];
        let issue = IssueId(wave.next_issue);
        let mut ops = session.ops();
        for other in self.scopes {
            other.apply(ops.get_mut(id));
        }
        let op = ops.get(id);
        let under_way = (wave.issued.as_slice(), &self.instrs, &*ops);
        let verdict = wave.issue.offer(issue_op(op, issue), |older| meets(under_way, older, op));
        if verdict == Verdict::Hold {
            wave.stage = Stage::Held(id);
            return Issued::Here;
        }
        wave.next_issue = wave.next_issue.wrapping_add(1);
        let lane = op.exec.first().unwrap_or(0);
        let address = (op.is_access() && op.space == Space::Global).then(|| op.addr(lane).0);
        let again = wave.last.filter(|last| last.site == op.site && last.address == address);
        let value = again.and_then(|last| last.value);
        wave.last = Some(LastOp { site: op.site, what: describe(op), address, value });
        reports.probe.issue(engine.now(), wave.at, op);
        drop(ops);
        match verdict {
            Verdict::Send | Verdict::Hold => self.start(engine, reports, session, number, id, (issue, true)),
            Verdict::Keep => self.start(engine, reports, session, number, id, (issue, false)),
            Verdict::Forward(from) => self.forward(engine, reports, session, number, id, (issue, from)),
        }
    }

    /// Whether the issue rule lets an operation of a wavefront issue now.
    pub(crate) fn may_issue(&self, session: &Session, number: u32, id: OpId) -> bool {
        let (wave, ops) = (&self.waves[number as usize], session.ops());
        let op = ops.get(id);
        let under_way = (wave.issued.as_slice(), &self.instrs, &*ops);
        let mut issue = wave.issue.clone();
        issue.offer(issue_op(op, IssueId(wave.next_issue)), |older| meets(under_way, older, op))
            != Verdict::Hold
    }

    /// Starts an operation. If `is_sent` is false, the issue rule keeps the operation.
    fn start<Pr: Probe>(
        &mut self,
        engine: &mut Engine,
        reports: &mut Reports<'_, Pr>,
        session: &Session,
        number: u32,
        id: OpId,
        (issue, is_sent): (IssueId, bool),
    ) -> Issued {
        let at = self.waves[number as usize].at;
        let ops = session.ops();
        let op = ops.get(id);
        let cu = &self.system.cu;
        let head = RequestHead::of(op, at, cu.wavefront_slots, cu.lanes, self.cus_per_chiplet());
        let (action, space, order) = (op.action, op.space, op.semantics.order);
        let mut instr =
            Instr { op: Some(id), issue, ..Instr::new(engine.now(), Owner::Wave(number), head, 1) };
        if reports.watch.is_examining() {
            examine(&mut reports.watch, engine.now(), number, op);
        }
        let counts = &mut reports.tally.counts;
        match (action, space) {
            (Action::Load | Action::Store | Action::Rmw { .. }, Space::Lds) => {
                drop(ops);
                instr.phase = Phase::Lds;
                instr.kept = (!is_sent).then(Box::default);
                let instr = self.add_to_wave(number, instr);
                if !is_sent {
                    return Issued::Kept { instr };
                }
                self.access_lds(engine, reports, session, number, (id, instr));
                return Issued::Here;
            }
            (Action::Load, Space::Global) => counts.loads += 1,
            (Action::Store, Space::Global) => counts.stores += 1,
            (Action::Rmw { .. }, Space::Global) => counts.atomics += 1,
            (Action::Barrier, _) => return Issued::Barrier { instr: self.add_to_wave(number, instr), order },
            _ => {
                counts.fences += 1;
                return Issued::Order { instr: self.add_to_wave(number, instr) };
            }
        }
        self.parts.clear();
        split(&mut self.coalescer, op, &mut self.parts);
        instr.left = self.parts.len() as u32;
        if is_sent {
            return Issued::Lines { instr: self.add_to_wave(number, instr) };
        }
        instr.kept = Some(self.parts.as_slice().into());
        Issued::Kept { instr: self.add_to_wave(number, instr) }
    }

    /// Lets a wavefront continue without waiting for a store or update that it has issued. The write
    /// buffer of an issue rule accepts every store. Otherwise the wavefront waits if too many of its
    /// stores and updates are outstanding. Returns whether the wavefront continues.
    pub(crate) fn post(&mut self, session: &Session, number: u32, instr: u32, id: OpId) -> bool {
        let wave = &mut self.waves[number as usize];
        let (reads, is_store) = {
            let ops = session.ops();
            let op = ops.get(id);
            (op.reads(), matches!(op.action, Action::Store))
        };
        let is_buffered = is_store && wave.issue.rule().buffers_stores();
        if reads || !(is_buffered || wave.posted < self.system.cu.posted_stores) {
            return false;
        }
        let Some(instr) = self.instrs.get_mut(instr) else { return false };
        instr.is_posted = true;
        wave.posted += 1;
        session.ops().accept(id);
        true
    }

    fn add_to_wave(&mut self, wave: u32, instr: Instr) -> u32 {
        let wave = &mut self.waves[wave as usize];
        wave.outstanding += 1;
        let issue = instr.issue;
        let number = self.instrs.insert(instr);
        if wave.issue.rule().buffers_stores() {
            wave.issued.push((issue, number));
        }
        number
    }

    /// Splits an operation of the host into line requests, which [`Cores::take_parts`] then
    /// returns. Returns their number.
    pub(crate) fn split(&mut self, op: &Posted) -> usize {
        self.parts.clear();
        split(&mut self.coalescer, op, &mut self.parts);
        self.parts.len()
    }

    /// The number of an instruction of a wavefront that is not complete, on a machine whose issue
    /// rule buffers stores.
    pub(crate) fn issued(&self, number: u32, issue: IssueId) -> Option<u32> {
        let issued = &self.waves[number as usize].issued;
        issued.iter().find(|&&(id, _)| id == issue).map(|&(_, instr)| instr)
    }

    /// Takes the line requests out of an instruction that the issue rule has kept until now. `None`
    /// if it has not kept the instruction.
    pub(crate) fn take_kept_parts(&mut self, instr: u32) -> Option<Box<[LinePart]>> {
        self.instrs.get_mut(instr)?.kept.take()
    }

    /// Completes a load with the bytes of an older store of the same wavefront. This store is not
    /// complete yet.
    fn forward<Pr: Probe>(
        &mut self,
        engine: &mut Engine,
        reports: &mut Reports<'_, Pr>,
        session: &Session,
        number: u32,
        id: OpId,
        (issue, from): (IssueId, IssueId),
    ) -> Issued {
        let store = self.issued(number, from).and_then(|store| self.instrs.get(store));
        let mut ops = session.ops();
        let Some(values) = store.and_then(|store| forwarded(&ops, store, ops.get(id))) else {
            // The store covers the load's address range but not every word of it.
            self.waves[number as usize].stage = Stage::Held(id);
            return Issued::Here;
        };
        let op = ops.get_mut(id);
        for lane in op.exec.iter() {
            op.set_value(lane, values[lane]);
        }
        let at = self.waves[number as usize].at;
        let cu = &self.system.cu;
        let head = RequestHead::of(op, at, cu.wavefront_slots, cu.lanes, cu.count);
        drop(ops);
        reports.tally.counts.loads += 1;
        let now = engine.now();
        let instr = Instr::new(now, Owner::Wave(number), head, 0);
        let instr = Instr { op: Some(id), issue, is_forwarded: true, done_at: now + 1, ..instr };
        let instr = self.add_to_wave(number, instr);
        engine.at(now + 1, Event::Complete(instr));
        Issued::Here
    }

    /// Performs an access to local memory. The values are available at once; the
    /// banks determine the latency.
    pub(crate) fn access_lds<Pr: Probe>(
        &mut self,
        engine: &mut Engine,
        reports: &mut Reports<'_, Pr>,
        session: &Session,
        number: u32,
        (id, instr): (OpId, u32),
    ) {
        let now: Cycle = engine.now();
        let wave = &self.waves[number as usize];
        let Some(group) = self.groups.get_mut(wave.group) else { return };
        let mut ops = session.ops();
        let op = ops.get_mut(id);
        let turns = u64::from(turns(op, self.system.lds.banks));
        if perform(op, &mut group.lds) {
            reports.watch.progress(now);
        }
        let counts = &mut reports.tally.counts;
        counts.lds_accesses += 1;
        counts.lds_conflict_cycles += turns.saturating_sub(1);
        let unit = &mut self.units[wave.at.cu as usize];
        let start = now.max(unit.lds_free_at);
        unit.lds_free_at = start + turns.max(1);
        let done = start + u64::from(self.system.lds.latency_cycles) + turns.saturating_sub(1);
        engine.at(done, Event::Complete(instr));
    }
}
