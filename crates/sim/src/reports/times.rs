//! The bookkeeping during a run for [`crate::attribution`], which attributes cycles to causes.

use crate::queue::Cycle;
use crate::reports::attribution::{Attribution, Cause};
use crate::reports::spent::Waits;

/// The attribution of cycles to causes, up to the current cycle.
#[derive(Debug)]
pub(crate) struct Times {
    /// The cycles of the kernels that have ended, with one sum for each cause.
    run: Attribution,
    /// The cycles of the wavefront slots that the running kernel has used, summed by cause.
    slots: Attribution,
    used: Vec<u32>,
    by_slot: Vec<Slot>,
    /// The number of kernels launched so far.
    kernels: u32,
    /// The cycle at which the kernel's current phase (launch, acquire, run or release) began.
    since: Cycle,
}

/// The account of the time of a wavefront slot.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// The cycle up to which the time of the wavefront slot is attributed to causes.
    mark: Cycle,
    /// The number of the last kernel that used the wavefront slot.
    kernel: u32,
}

impl Times {
    /// Empty accounts for a machine with `slots` wavefront slots.
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

    /// Records that the launch of a kernel begins.
    pub(crate) fn launching(&mut self, now: Cycle) {
        self.kernels += 1;
        self.since = now;
    }

    /// Attributes the time of a kernel's launch, acquire or release to `cause`. This phase ends
    /// now.
    pub(crate) fn phase_done(&mut self, now: Cycle, cause: Cause) {
        self.run.add(cause, now - self.since);
        self.since = now;
    }

    /// Records that a wavefront starts in a wavefront slot. The time of the slot before this cycle
    /// counts as launch.
    pub(crate) fn started(&mut self, now: Cycle, number: u32) {
        let slot = &mut self.by_slot[number as usize];
        if slot.kernel != self.kernels {
            *slot = Slot { mark: self.since, kernel: self.kernels };
            self.used.push(number);
        }
        self.spend(now, number, Cause::Launch);
    }

    /// Attributes to `cause` the part of a wavefront slot's time that has no cause yet.
    #[inline]
    pub(crate) fn spend(&mut self, now: Cycle, number: u32, cause: Cause) {
        let slot = &mut self.by_slot[number as usize];
        self.slots.add(cause, now - slot.mark);
        slot.mark = now;
    }

    /// Attributes the part of a wavefront slot's time that has no cause yet. In this time, the
    /// slot's wavefront waited for an operation. `spent` has the waits of this operation, without
    /// the time of its access.
    pub(crate) fn held_up(
        &mut self,
        now: Cycle,
        number: u32,
        access: Cause,
        issued_at: Cycle,
        spent: &Waits,
    ) {
        let slot = &mut self.by_slot[number as usize];
        let stood = now - slot.mark;
        slot.mark = now;
        let all = now - issued_at;
        let slots = &mut self.slots;
        if stood == 0 || all == 0 {
            return slots.add(access, stood);
        }
        // The product fits into 128 bits: a run has fewer than 2^64 cycles, and each wait is below
        // 2^32.
        let share = |cycles: u32| (u128::from(cycles) * u128::from(stood.min(all)) / u128::from(all)) as u64;
        let mut left = stood;
        for (cause, cycles) in [
            (Cause::QueueL1, spent.port),
            (Cause::Acquire, spent.acquire.saturating_sub(spent.acquire_queued)),
            (Cause::Release, spent.release.saturating_sub(spent.release_queued)),
            (Cause::Epoch, spent.epoch),
            (Cause::Handshake, spent.handshake),
            (Cause::Lease, spent.lease),
            (Cause::QueueNoc, spent.noc),
            (Cause::QueueL2, spent.bank),
            (Cause::QueueDram, spent.dram),
            (Cause::QueueMemorySide, spent.side),
        ] {
            if cycles > 0 {
                let cycles = share(cycles);
                slots.add(cause, cycles);
                left = left.saturating_sub(cycles);
            }
        }
        slots.add(access, left);
    }

    /// Ends the running phase of a kernel. If the wavefronts of a slot ended earlier, the time
    /// since then counts as imbalance.
    ///
    /// # Errors
    /// If the attributed times do not add up to the time of the phase. The error names the sums.
    pub(crate) fn kernel_ran(&mut self, now: Cycle) -> Result<(), String> {
        let (count, cycles) = (self.used.len() as u64, now - self.since);
        for number in self.used.drain(..) {
            self.slots.add(Cause::Imbalance, now - self.by_slot[number as usize].mark);
        }
        let slots = core::mem::take(&mut self.slots);
        if slots.total() != count * cycles {
            let found = slots.total();
            return Err(format!(
                "the cycles of all causes ({found}) do not add up to {count} wavefront slots times {cycles} \
                 cycles"
            ));
        }
        self.run.add_mean(&slots, count, cycles);
        self.since = now;
        Ok(())
    }

    /// The attribution of the whole run. Cycles outside of kernels are attributed to the host.
    ///
    /// # Errors
    /// If the attributed times do not add up to the time of the run. The error names the sums.
    pub(crate) fn close(mut self, cycles: Cycle) -> Result<Attribution, String> {
        let found = self.run.total();
        let Some(rest) = cycles.checked_sub(found) else {
            return Err(format!(
                "the cycles of all causes ({found}) are more than the cycles of the run ({cycles})"
            ));
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
        times.phase_done(10, Cause::Launch);
        times.started(10, 0);
        times.spend(20, 0, Cause::Compute);
        // The operation was issued ten cycles before the wavefront had to stop, so half of the
        // operation's waits count.
        let spent = Waits { port: 4, noc: 8, ..Waits::default() };
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
    fn slots_with_more_cycles_than_their_kernel_are_an_error() {
        let mut times = Times::new(1);
        times.launching(0);
        times.started(0, 0);
        times.spend(30, 0, Cause::Compute);
        times.since = 10;
        assert!(times.kernel_ran(30).is_err_and(|why| why.contains("1 wavefront slots times 20 cycles")));
    }
}
