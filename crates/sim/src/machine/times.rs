//! Keeps the account of [`crate::reports::attribution`] while the machine runs.

use proto::Op;

use super::Machine;
use super::access::{Instr, Phase};
use super::wave::Stage;
use crate::queue::Cycle;
use crate::reports::attribution::{Attribution, Cause};
use crate::reports::error::RunError;
use crate::reports::probe::Probe;

/// Where the cycles went so far.
#[derive(Debug, Default)]
pub(super) struct Times {
    /// Of the kernels that have ended.
    run: Attribution,
    /// Of the slots that the running kernel has used.
    slots: Attribution,
    used: Vec<u32>,
    /// When the step began at which the kernel is: its launch, its acquire, its
    /// running or its release.
    since: Cycle,
}

impl Times {
    /// A kernel begins to be launched.
    pub(super) fn launching(&mut self, now: Cycle) {
        self.since = now;
    }

    /// The kernel is launched, has acquired, or has released.
    pub(super) fn step_done(&mut self, now: Cycle, cause: Cause) {
        self.run.add(cause, now - self.since);
        self.since = now;
    }

    /// The account of the whole run, whose host had the rest of the time.
    ///
    /// # Errors
    /// Says what does not add up, if anything.
    pub(super) fn close(mut self, cycles: Cycle) -> Result<Attribution, String> {
        let found = self.run.total();
        let Some(rest) = cycles.checked_sub(found) else {
            return Err(format!("cycles by cause ({found}) are more than the run's ({cycles})"));
        };
        self.run.add(Cause::Host, rest);
        Ok(self.run)
    }
}

impl<Pr: Probe> Machine<'_, Pr> {
    /// A wavefront takes its first step.
    pub(super) fn time_started(&mut self, now: Cycle, number: u32) {
        let wave = &mut self.waves[number as usize];
        if wave.kernels_seen != self.kernels.times.len() as u32 + 1 {
            wave.kernels_seen = self.kernels.times.len() as u32 + 1;
            wave.mark = self.times.since;
            self.times.used.push(number);
        }
        self.time(now, number, Cause::Launch);
    }

    /// The wavefront was busy with something since it was last looked at.
    #[inline]
    pub(super) fn time(&mut self, now: Cycle, number: u32, cause: Cause) {
        let wave = &mut self.waves[number as usize];
        self.times.slots.add(cause, now - wave.mark);
        wave.mark = now;
    }

    /// An operation is complete. If its wavefront stood still, it was for this.
    pub(super) fn time_held_up(&mut self, now: Cycle, number: u32, instr: &Instr) {
        let wave = &mut self.waves[number as usize];
        if matches!(wave.stage, Stage::Arithmetic(_)) {
            return;
        }
        let stood = now - wave.mark;
        wave.mark = now;
        let access = match (instr.phase, instr.ask.op) {
            (Phase::Lds, _) => Cause::LocalMemory,
            (Phase::Simple, Op::Rmw(_)) => Cause::Atomic,
            (Phase::Simple, Op::Load | Op::Store) if instr.ask.order.is_atomic() => Cause::Atomic,
            (Phase::Simple, Op::Load) => Cause::Load,
            (Phase::Simple, Op::Store) => Cause::Store,
            // The way of an order to its station belongs to the order.
            (Phase::Simple, _) if instr.ask.order.releases() => Cause::Release,
            (Phase::Simple, _) => Cause::Acquire,
            _ => Cause::Barrier,
        };
        let all = now - instr.issued_at;
        let slots = &mut self.times.slots;
        if stood == 0 || all == 0 {
            return slots.add(access, stood);
        }
        // Wide enough: no run has 2^64 cycles, and a wait is far shorter.
        let share = |cycles: u32| (u128::from(cycles) * u128::from(stood.min(all)) / u128::from(all)) as u64;
        let spent = &instr.spent;
        let mut left = stood;
        for (cause, cycles) in [
            (Cause::QueueL1, spent.port),
            (Cause::Acquire, spent.acquire.saturating_sub(spent.acquire_queued)),
            (Cause::Release, spent.release.saturating_sub(spent.release_queued)),
            (Cause::QueueNoc, spent.noc),
            (Cause::QueueL2, spent.bank),
            (Cause::QueueDram, spent.dram),
        ] {
            if cycles > 0 {
                let cycles = share(cycles);
                slots.add(cause, cycles);
                left = left.saturating_sub(cycles);
            }
        }
        slots.add(access, left);
    }

    /// The last wavefront of the kernel has retired: the others waited for it.
    pub(super) fn kernel_ran(&mut self, now: Cycle) {
        let times = &mut self.times;
        let (count, cycles) = (times.used.len() as u64, now - times.since);
        for number in times.used.drain(..) {
            times.slots.add(Cause::Imbalance, now - self.waves[number as usize].mark);
        }
        let slots = core::mem::take(&mut times.slots);
        if slots.total() != count * cycles {
            let found = slots.total();
            return self.engine.fail(RunError::Unreconciled(format!(
                "cycles by cause ({found}) do not add up to those of {count} wavefront slots in {cycles} cycles"
            )));
        }
        times.run.add_mean(&slots, count, cycles);
        times.since = now;
    }
}
