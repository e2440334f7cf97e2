//! Issue of operations: the issue rule, local memory, and the start of line requests.

use kernel::{Action, OpId, Posted, Session, Space};
use proto::Order;
use proto::issue::{IssueId, Verdict};

use crate::cores::Cores;
use crate::cores::coalesce::LinePart;
use crate::cores::instr::{BufferedStore, Instr, Owner, Phase, RequestHead};
use crate::cores::lds::{perform, turns};
use crate::cores::operands::{describe, examine, forwarded, issue_op, split};
use crate::cores::wave::{LastOp, Stage};
use crate::engine::{Engine, Event};
use crate::queue::Cycle;
use crate::reports::Reports;
use crate::reports::probe::Probe;

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
    /// The operation is a store that waits in the issue rule's buffer while its wavefront
    /// continues.
    Buffered,
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
        let verdict = wave.issue.offer(issue_op(op, issue));
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
            Verdict::Buffer => self.start(engine, reports, session, number, id, (issue, false)),
            Verdict::Forward(from) => self.forward(engine, reports, session, number, id, (issue, from)),
        }
    }

    /// Starts an operation. If `is_sent` is false, the operation is a store, and joins the buffered
    /// stores of its wavefront.
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
                let instr = self.add_to_wave(number, instr);
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
        let addresses = core::array::from_fn(|lane| op.addr(lane).0);
        let parts = self.parts.clone();
        instr.kept = Some(Box::new(BufferedStore { exec: op.exec, data: op.data, addresses, parts }));
        instr.op = None;
        let instr = self.add_to_wave(number, instr);
        self.waves[number as usize].buffered.push((issue, instr));
        Issued::Buffered
    }

    /// Lets a wavefront continue without waiting for a store or update that it has issued, unless
    /// too many of its stores and updates are outstanding. Returns whether the wavefront continues.
    pub(crate) fn post(&mut self, session: &Session, number: u32, instr: u32, id: OpId) -> bool {
        let wave = &mut self.waves[number as usize];
        if wave.posted >= self.system.cu.posted_stores || session.ops().get(id).reads() {
            return false;
        }
        let Some(instr) = self.instrs.get_mut(instr) else { return false };
        instr.is_posted = true;
        wave.posted += 1;
        session.ops().accept(id);
        true
    }

    fn add_to_wave(&mut self, wave: u32, instr: Instr) -> u32 {
        self.waves[wave as usize].outstanding += 1;
        self.instrs.insert(instr)
    }

    /// Splits an operation of the host into line requests, which [`Cores::take_parts`] then
    /// returns. Returns their number.
    pub(crate) fn split(&mut self, op: &Posted) -> usize {
        self.parts.clear();
        split(&mut self.coalescer, op, &mut self.parts);
        self.parts.len()
    }

    /// Removes a store from its wavefront's buffer and returns its instruction.
    pub(crate) fn unbuffer(&mut self, number: u32, issue: IssueId) -> Option<u32> {
        let buffered = &mut self.waves[number as usize].buffered;
        let at = buffered.iter().position(|&(id, _)| id == issue)?;
        Some(buffered.remove(at).1)
    }

    /// Takes the line requests out of a buffered store. `None` if the instruction is not a buffered
    /// store.
    pub(crate) fn take_buffered_parts(&mut self, instr: u32) -> Option<Vec<LinePart>> {
        let kept = self.instrs.get_mut(instr)?.kept.as_mut()?;
        Some(core::mem::take(&mut kept.parts))
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
        let owner = Owner::Wave(number);
        let is_from = |instr: &&Instr| instr.owner == owner && instr.issue == from && instr.op != Some(id);
        let store = self.instrs.iter().map(|(_, instr)| instr).find(is_from);
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
        let instr = Instr::new(now, owner, head, 0);
        let instr = Instr { op: Some(id), issue, is_forwarded: true, done_at: now + 1, ..instr };
        let instr = self.add_to_wave(number, instr);
        engine.at(now + 1, Event::Complete(instr));
        Issued::Here
    }

    /// Performs an access to local memory. The values are available at once; the
    /// banks determine the latency.
    fn access_lds<Pr: Probe>(
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
