//! Keeps the account of [`crate::attribution`] while a machine runs.

use crate::queue::Cycle;
use crate::reports::attribution::{Attribution, Cause};
use crate::reports::spent::Beside;

/// Where the cycles went so far.
#[derive(Debug)]
pub(crate) struct Times {
    /// Of the kernels that have ended.
    run: Attribution,
    /// Of the slots that the running kernel has used.
    slots: Attribution,
    used: Vec<u32>,
    by_slot: Vec<Slot>,
    /// Counts the kernels that were launched.
    kernels: u32,
    /// When the step began at which the kernel is: its launch, its acquire, its
    /// running or its release.
    since: Cycle,
}

/// The account of a wavefront slot.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// Up to when it is known on what its time was spent.
    mark: Cycle,
    /// The last kernel that used it.
    kernel: u32,
}

impl Times {
    /// Of a machine with so many wavefront slots.
    pub(crate) fn new(slots: usize) -> Times {
        Times {
            run: Attribution::default(),
            slots: Attribution::default(),
            used: Vec::new(),
            by_slot: vec![Slot::default(); slots],
            kernels: 0,
            since: 0,
        }
    }

    /// A kernel begins to be launched.
    pub(crate) fn launching(&mut self, now: Cycle) {
        self.kernels += 1;
        self.since = now;
    }

    /// The kernel is launched, has acquired, or has released.
    pub(crate) fn step_done(&mut self, now: Cycle, cause: Cause) {
        self.run.add(cause, now - self.since);
        self.since = now;
    }

    /// A wavefront takes its first step in a slot.
    pub(crate) fn started(&mut self, now: Cycle, number: u32) {
        let slot = &mut self.by_slot[number as usize];
        if slot.kernel != self.kernels {
            *slot = Slot { mark: self.since, kernel: self.kernels };
            self.used.push(number);
        }
        self.spend(now, number, Cause::Launch);
    }

    /// The wavefront in a slot was busy with something since it was last looked at.
    #[inline]
    pub(crate) fn spend(&mut self, now: Cycle, number: u32, cause: Cause) {
        let slot = &mut self.by_slot[number as usize];
        self.slots.add(cause, now - slot.mark);
        slot.mark = now;
    }

    /// The wavefront in a slot has stood still for an operation, which spent this
    /// beside its access.
    pub(crate) fn held_up(
        &mut self,
        now: Cycle,
        number: u32,
        access: Cause,
        issued_at: Cycle,
        spent: &Beside,
    ) {
        let slot = &mut self.by_slot[number as usize];
        let stood = now - slot.mark;
        slot.mark = now;
        let all = now - issued_at;
        let slots = &mut self.slots;
        if stood == 0 || all == 0 {
            return slots.add(access, stood);
        }
        // Wide enough: no run has 2^64 cycles, and a wait is far shorter.
        let share = |cycles: u32| (u128::from(cycles) * u128::from(stood.min(all)) / u128::from(all)) as u64;
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
    ///
    /// # Errors
    /// Says what does not add up, if anything.
    pub(crate) fn kernel_ran(&mut self, now: Cycle) -> Result<(), String> {
        let (count, cycles) = (self.used.len() as u64, now - self.since);
        for number in self.used.drain(..) {
            self.slots.add(Cause::Imbalance, now - self.by_slot[number as usize].mark);
        }
        let slots = core::mem::take(&mut self.slots);
        if slots.total() != count * cycles {
            let found = slots.total();
            return Err(format!(
                "cycles by cause ({found}) do not add up to those of {count} wavefront slots in {cycles} cycles"
            ));
        }
        self.run.add_mean(&slots, count, cycles);
        self.since = now;
        Ok(())
    }

    /// The account of the whole run, whose host had the rest of the time.
    ///
    /// # Errors
    /// Says what does not add up, if anything.
    pub(crate) fn close(mut self, cycles: Cycle) -> Result<Attribution, String> {
        let found = self.run.total();
        let Some(rest) = cycles.checked_sub(found) else {
            return Err(format!("cycles by cause ({found}) are more than the run's ({cycles})"));
        };
        self.run.add(Cause::Host, rest);
        Ok(self.run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_divided_by_what_its_operation_spent_and_the_rest_is_the_access() {
        let mut times = Times::new(2);
        times.launching(0);
        times.step_done(10, Cause::Launch);
        times.started(10, 0);
        times.spend(20, 0, Cause::Compute);
        // Issued ten cycles before the wavefront stood still: half of what it spent.
        let spent = Beside { port: 4, noc: 8, ..Beside::default() };
        times.held_up(30, 0, Cause::Load, 10, &spent);
        times.started(30, 1);
        times.spend(40, 1, Cause::Compute);
        times.kernel_ran(40).unwrap();
        let account = times.close(50).unwrap();
        assert_eq!(account.of(Cause::Launch), 10 + 10);
        assert_eq!(account.total(), 50);
        assert_eq!((account.of(Cause::QueueL1), account.of(Cause::QueueNoc)), (1, 2));
        assert_eq!((account.of(Cause::Load), account.of(Cause::Compute)), (2, 10));
        assert_eq!((account.of(Cause::Imbalance), account.of(Cause::Host)), (5, 10));
    }

    #[test]
    fn a_kernel_whose_slots_lived_longer_than_it_does_not_add_up() {
        let mut times = Times::new(1);
        times.launching(0);
        times.started(0, 0);
        times.spend(30, 0, Cause::Compute);
        times.since = 10;
        assert!(times.kernel_ran(30).is_err_and(|why| why.contains("1 wavefront slots in 20 cycles")));
    }
}
