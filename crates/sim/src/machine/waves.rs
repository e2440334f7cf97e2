//! The operations of wavefronts: their requests, and their completion.

use kernel::OpId;
use proto::Order;
use proto::issue::IssueId;

use super::Machine;
use crate::cores::instr::{Instr, Owner, Phase};
use crate::cores::wave::Stage;
use crate::cores::{Issued, Retired};
use crate::queue::Cycle;
use crate::reports::probe::Probe;

impl<Pr: Probe> Machine<'_, Pr> {
    /// Starts the wavefront in the wavefront slot `number`, and runs its program until it waits.
    #[inline(never)]
    pub(super) fn start_wave(&mut self, now: Cycle, number: u32) {
        self.reports.probe.wave_start(now, self.cores.wave(number).at);
        self.reports.watch.progress(now);
        self.reports.times.started(now, number);
        self.poll_wave(now, number);
    }

    /// Runs the code of a wavefront until it waits for an operation or ends.
    fn poll_wave(&mut self, now: Cycle, number: u32) {
        let Machine { cores, engine, reports, session, .. } = self;
        let retired = cores.poll(engine, reports, session, number);
        self.retire(now, retired);
    }

    /// Queues the arithmetic before a wavefront's next operation, or retires the wavefront if its
    /// code has ended.
    fn next_instruction(&mut self, now: Cycle, number: u32) {
        let Machine { cores, engine, reports, session, .. } = self;
        let retired = cores.go_on(engine, reports, session, number);
        self.retire(now, retired);
    }

    #[inline]
    fn retire(&mut self, now: Cycle, retired: Option<Retired>) {
        if let Some(Retired { at, group }) = retired {
            self.wave_left(now, at, group);
        }
    }

    /// Handles the end of the arithmetic that a SIMD unit runs: offers the operation after it to
    /// the issue rule, and starts the next arithmetic.
    #[inline(never)]
    pub(super) fn simd_done(&mut self, now: Cycle, number: u32) {
        let ended = self.cores.end_arithmetic(now, &mut self.reports, number);
        let Some((wave, op)) = ended else { return };
        if let Some(op) = op {
            self.offer(now, wave, op);
        }
        self.next_instruction(now, wave);
        self.cores.next_arithmetic(&mut self.engine, &mut self.reports, &self.session, number);
    }

    /// Offers an operation to the issue rule, and sends its requests if the rule allows it. The
    /// arithmetic that precedes the operation is done.
    fn offer(&mut self, now: Cycle, number: u32, id: OpId) {
        let Machine { cores, engine, reports, session, .. } = self;
        match cores.offer(engine, reports, session, number, id) {
            Issued::Here => {}
            Issued::Lines { instr } => {
                let parts = self.cores.take_parts();
                self.queue_lines(now, self.cores.agent(number), instr, &parts);
                self.cores.reuse_parts(parts);
                if self.cores.post(&self.session, number, instr, id) {
                    self.accepted(now, number, id);
                }
            }
            Issued::Order { instr } => self.queue_order(now, self.cores.agent(number), instr),
            // A barrier with a release sends the release before the wavefront arrives at the
            // barrier.
            Issued::Barrier { instr, order } if order.releases() => {
                self.queue_fence(now, instr, Order::Release, Phase::BarrierRelease);
            }
            Issued::Barrier { instr, .. } => self.cores.arrive_at_barrier(&mut self.engine, instr),
            Issued::Kept { instr } => {
                if self.cores.post(&self.session, number, instr, id) {
                    self.accepted(now, number, id);
                }
            }
        }
    }

    /// Records that a store or update is accepted: its wavefront need not wait for the answer. If
    /// the wavefront waits for this operation, continues the wavefront.
    fn accepted(&mut self, now: Cycle, number: u32, id: OpId) {
        let wave = self.cores.wave_mut(number);
        if wave.waits_for == Some(id) {
            wave.waits_for = None;
            self.poll_wave(now, number);
        }
    }

    fn queue_fence(&mut self, now: Cycle, instr: u32, order: Order, phase: Phase) {
        if let Some(wave) = self.cores.fence(instr, order, phase) {
            self.queue_order(now, self.cores.agent(wave), instr);
        }
    }

    /// Sends an instruction that the issue rule has kept until now to the port of its station
    /// (controller), or performs its access to local memory.
    fn send_kept(&mut self, now: Cycle, number: u32, issue: IssueId) {
        let Some(instr) = self.cores.issued(number, issue) else { return };
        let kept = self.cores.instr(instr).filter(|instr| instr.phase == Phase::Lds);
        if let Some(op) = kept.and_then(|instr| instr.op) {
            let Machine { cores, engine, reports, session, .. } = self;
            cores.access_lds(engine, reports, session, number, (op, instr));
        } else if !self.holds_back(instr) {
            self.send_held(now, instr);
        }
    }

    /// Sends a request that was held at its core. In a run that follows a script (a list of moves), a
    /// core holds each request until a move names it.
    pub(crate) fn send_held(&mut self, now: Cycle, instr: u32) {
        let agent = match self.cores.instr(instr).map(|instr| instr.owner) {
            Some(Owner::Wave(wave)) => self.cores.agent(wave),
            Some(Owner::Group(group)) => return self.send_for_group(now, group, instr),
            _ => return,
        };
        if let Some(parts) = self.cores.take_kept_parts(instr) {
            self.queue_lines(now, agent, instr, &parts);
        }
    }

    /// Completes an instruction, whose requests are all answered.
    #[inline(never)]
    pub(crate) fn complete(&mut self, now: Cycle, number: u32) {
        let Some(instr) = self.cores.instr_mut(number) else { return };
        instr.close_phase();
        match instr.phase {
            Phase::BarrierRelease => return self.cores.arrive_at_barrier(&mut self.engine, number),
            Phase::BarrierWait => return self.behind_barrier(now, number),
            _ => {}
        }
        let Some(instr) = self.cores.remove(number) else { return };
        if !matches!(instr.owner, Owner::Host(_)) {
            instr.count_wait(now, &mut self.reports.tally.counts);
        }
        match instr.owner {
            Owner::Wave(wave) => self.complete_in_wave(now, wave, &instr),
            Owner::Host(op) => self.host_completed(now, op),
            Owner::Kernel(_) => self.boundary_done(now),
            Owner::Release => self.released_to_host(),
            Owner::Group(group) => self.group_moved(now, group),
        }
    }

    /// Continues a wavefront after a barrier that all wavefronts of its work-group have reached. If
    /// the barrier has acquire semantics, the wavefront acquires first.
    fn behind_barrier(&mut self, now: Cycle, number: u32) {
        self.reports.tally.counts.barriers += 1;
        let Some(instr) = self.cores.instr_mut(number) else { return };
        let Some(op) = instr.op else { return };
        let order = self.session.ops().get(op).semantics.order;
        if order.acquires() {
            return self.queue_fence(now, number, Order::Acquire, Phase::BarrierAcquire);
        }
        instr.phase = Phase::BarrierAcquire;
        self.complete(now, number);
    }

    fn complete_in_wave(&mut self, now: Cycle, number: u32, instr: &Instr) {
        let wave = self.cores.wave_mut(number);
        wave.posted -= u32::from(instr.is_posted);
        wave.issued.retain(|&(issue, _)| issue != instr.issue);
        // A wavefront that has continued with this operation may wait for another one.
        let waits_for_other = instr.is_posted && wave.stage == Stage::Idle && wave.waits_for.is_some();
        if !matches!(wave.stage, Stage::Arithmetic(_)) && !waits_for_other {
            let times = &mut self.reports.times;
            times.held_up(now, number, instr.access_cause(), instr.issued_at, &instr.spent);
        }
        wave.outstanding -= 1;
        if let Some(id) = instr.op {
            let mut ops = self.session.ops();
            let op = ops.get(id);
            if op.reads()
                && let Some(last) = &mut wave.last
                && last.site == op.site
            {
                last.value = op.exec.first().map(|lane| op.value(lane));
            }
            self.reports.probe.complete(wave.at, op, instr.issued_at, now);
            if matches!(instr.phase, Phase::BarrierAcquire) {
                self.reports.probe.barrier(now, wave.at);
            }
            ops.complete(id);
        }
        for next in wave.issue.completed(instr.issue) {
            self.send_kept(now, number, next);
        }
        self.op_completed(now, number, instr.op);
    }

    /// Continues a wavefront after one of its operations has completed.
    fn op_completed(&mut self, now: Cycle, number: u32, op: Option<OpId>) {
        let wave = self.cores.wave_mut(number);
        if let Stage::Held(held) = wave.stage {
            wave.stage = Stage::Idle;
            self.offer(now, number, held);
        }
        let wave = self.cores.wave_mut(number);
        if op.is_some() && wave.waits_for == op {
            wave.waits_for = None;
            return self.poll_wave(now, number);
        }
        self.next_instruction(now, number);
    }
}
