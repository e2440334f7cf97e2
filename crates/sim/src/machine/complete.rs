//! The end of an instruction.

use kernel::OpId;

use super::access::{Instr, Phase};
use super::wave::Stage;
use super::{Machine, Owner};
use crate::queue::Cycle;
use crate::reports::probe::Probe;

impl<Pr: Probe> Machine<'_, Pr> {
    /// All of an instruction's requests are answered.
    #[inline(never)]
    pub(super) fn complete(&mut self, now: Cycle, number: u32) {
        let Some(instr) = self.instrs.get_mut(number) else { return };
        instr.close_phase();
        match (instr.phase, instr.owner) {
            (Phase::BarrierRelease, _) => return self.arrive_at_barrier(now, number),
            (Phase::BarrierWait, _) => return self.behind_barrier(now, number),
            _ => {}
        }
        let Some(instr) = self.instrs.remove(number) else { return };
        match instr.owner {
            Owner::Wave(wave) => self.complete_in_wave(now, wave, &instr),
            Owner::Host(op) => self.host_completed(now, op),
            Owner::Kernel(_) => {
                instr.count_wait(now, &mut self.reports.tally.counts);
                self.boundary_done(now);
            }
            Owner::Release => {
                instr.count_wait(now, &mut self.reports.tally.counts);
                self.released_to_host();
            }
            Owner::Group(group) => {
                instr.count_wait(now, &mut self.reports.tally.counts);
                self.group_moved(now, group);
            }
        }
    }

    fn complete_in_wave(&mut self, now: Cycle, number: u32, instr: &Instr) {
        instr.count_wait(now, &mut self.reports.tally.counts);
        let wave = &mut self.waves[number as usize];
        if !matches!(wave.stage, Stage::Arithmetic(_)) {
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
        if let Some(next) = wave.issue.completed(instr.issue) {
            self.send_buffered(now, number, next);
        }
        self.op_completed(now, number, instr.op);
    }

    /// Goes on in a wavefront after one of its operations is complete.
    fn op_completed(&mut self, now: Cycle, number: u32, op: Option<OpId>) {
        let wave = &mut self.waves[number as usize];
        if let Stage::Held(held) = wave.stage {
            wave.stage = Stage::Idle;
            self.offer(now, number, held);
        }
        let wave = &mut self.waves[number as usize];
        if op.is_some() && wave.waits_for == op {
            wave.waits_for = None;
            return self.poll_wave(now, number);
        }
        self.next_instruction(now, number);
    }

    /// The issue rule let the wavefront go on before its store was sent.
    pub(super) fn accept_early(&mut self, now: Cycle, number: u32, id: OpId) {
        self.session.ops().complete(id);
        let wave = &mut self.waves[number as usize];
        if wave.waits_for == Some(id) {
            wave.waits_for = None;
            self.poll_wave(now, number);
        }
    }
}
