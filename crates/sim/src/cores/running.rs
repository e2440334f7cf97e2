//! Execution of wavefronts: the code of their kernels, and their arithmetic on SIMD units.

use kernel::{OpId, Polled, Session, Work};

use crate::cores::Cores;
use crate::cores::wave::Stage;
use crate::engine::{Engine, Event};
use crate::queue::Cycle;
use crate::reports::Reports;
use crate::reports::attribution::Cause;
use crate::reports::error::RunError;
use crate::reports::probe::{Probe, WaveAt};

/// A wavefront that has retired: the compute unit and slot in which it ran, and its work-group.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub(crate) struct Retired {
    pub(crate) at: WaveAt,
    pub(crate) group: u32,
}

impl Cores<'_> {
    /// Runs the code of a wavefront until it waits for an operation or ends. Returns the wavefront
    /// if it has retired.
    #[inline(never)]
    pub(crate) fn poll<Pr: Probe>(
        &mut self,
        engine: &mut Engine,
        reports: &mut Reports<'_, Pr>,
        session: &Session,
        number: u32,
    ) -> Option<Retired> {
        let wave = &mut self.waves[number as usize];
        let task = wave.task.as_mut()?;
        let polled = task.poll();
        let mut ops = session.ops();
        wave.pending.extend(ops.posted());
        ops.clear_posted();
        drop(ops);
        for (tail, more) in wave.tail.0.iter_mut().zip(&task.tail_work().0) {
            *tail = tail.saturating_add(*more);
        }
        match polled {
            Polled::Waiting(op) => wave.waits_for = Some(op),
            Polled::Ended => {
                wave.waits_for = None;
                wave.ended = true;
                wave.task = None;
            }
            Polled::Faulted(fault) => {
                engine.fail(RunError::Fault(fault));
                return None;
            }
        }
        self.go_on(engine, reports, session, number)
    }

    /// Queues the arithmetic that precedes a wavefront's next operation. The wavefront's SIMD unit
    /// runs the arithmetic later. If nothing is left to do, the wavefront retires and is returned.
    pub(crate) fn go_on<Pr: Probe>(
        &mut self,
        engine: &mut Engine,
        reports: &mut Reports<'_, Pr>,
        session: &Session,
        number: u32,
    ) -> Option<Retired> {
        let wave = &mut self.waves[number as usize];
        if wave.stage != Stage::Idle {
            return None;
        }
        if let Some(op) = wave.pending.pop_front() {
            wave.stage = Stage::Arithmetic(Some(op));
        } else if !wave.ended {
            return None;
        } else if wave.tail != Work::default() {
            wave.stage = Stage::Arithmetic(None);
        } else {
            let retires = wave.outstanding == 0;
            return retires.then(|| self.retire(engine.now(), reports, number));
        }
        let units = self.system.cu.simd_units;
        let simd = wave.at.cu * units + wave.at.slot % units;
        self.simds[simd as usize].ready.push(number);
        self.next_arithmetic(engine, reports, session, simd);
        None
    }

    /// Starts the arithmetic of the next ready wavefront of a SIMD unit, if the unit is free.
    pub(crate) fn next_arithmetic<Pr: Probe>(
        &mut self,
        engine: &mut Engine,
        reports: &mut Reports<'_, Pr>,
        session: &Session,
        number: u32,
    ) {
        let simd = &mut self.simds[number as usize];
        if simd.running.is_some() {
            return;
        }
        let rule = self.system.cu.scheduler;
        let Some(next) = simd.take(&self.waves, rule, self.system.cu.wavefront_slots) else { return };
        simd.running = Some(next);
        let now = engine.now();
        reports.times.spend(now, next, Cause::Issue);
        let wave = &mut self.waves[next as usize];
        let (mut cycles, mut ops) = (0, 0);
        if wave.tail != Work::default() {
            (cycles, ops) = self.work_cost.of(&wave.tail);
            wave.tail = Work::default();
        }
        if let Stage::Arithmetic(Some(op)) = wave.stage {
            let (more_cycles, more_ops) = self.work_cost.of(&session.ops().get(op).work);
            // A memory operation adds one issue cycle.
            cycles += more_cycles + 1;
            ops += more_ops;
        }
        let counts = &mut reports.tally.counts;
        counts.vector_ops += ops;
        counts.simd_busy_cycles += cycles;
        reports.watch.busy(now, next, cycles);
        reports.probe.arithmetic(wave.at, now, now + cycles);
        engine.at(now + cycles, Event::Simd(number));
    }

    /// Ends the arithmetic that runs on a SIMD unit. Returns the wavefront, and its next operation,
    /// which may issue now that the arithmetic is done. The operation is `None` if the wavefront
    /// ends after the arithmetic.
    #[inline]
    pub(crate) fn end_arithmetic<Pr: Probe>(
        &mut self,
        now: Cycle,
        reports: &mut Reports<'_, Pr>,
        number: u32,
    ) -> Option<(u32, Option<OpId>)> {
        let wave = self.simds[number as usize].running.take()?;
        reports.times.spend(now, wave, Cause::Compute);
        let stage = core::mem::replace(&mut self.waves[wave as usize].stage, Stage::Idle);
        let op = if let Stage::Arithmetic(op) = stage { op } else { None };
        Some((wave, op))
    }

    /// Suspends the arithmetic that a SIMD unit runs, so that [`Cores::take_up`] can resume it.
    pub(crate) fn set_aside(&mut self, simd: u32) {
        self.simds[simd as usize].running = None;
    }

    /// Resumes the suspended arithmetic of a wavefront on a SIMD unit.
    pub(crate) fn take_up(&mut self, simd: u32, wave: u32) {
        self.simds[simd as usize].running = Some(wave);
    }

    fn retire<Pr: Probe>(&mut self, now: Cycle, reports: &mut Reports<'_, Pr>, number: u32) -> Retired {
        let wave = &mut self.waves[number as usize];
        let (at, group) = (wave.at, wave.group);
        wave.ended = false;
        wave.last = None;
        reports.tally.counts.wavefronts += 1;
        reports.watch.progress(now);
        reports.probe.wave_end(now, at);
        Retired { at, group }
    }
}
