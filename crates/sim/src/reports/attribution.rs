//! Attribution: every cycle of a run is assigned to one cause.
//!
//! **Method.** A run is a sequence of kernels, with the host between them. A kernel is launched,
//! acquires, runs and releases, in this order. Only the running phase needs a rule. It lasts from
//! the kernel's first dispatch to the end of its last wavefront. Each wavefront slot that the
//! kernel uses is, at each cycle of this phase, in one of these states:
//!
//! * not yet started, or between two wavefronts: the cause is launch;
//! * done while other slots still run: the cause is load imbalance;
//! * at its SIMD unit: the cause is computing, or waiting for a turn to issue;
//! * waiting for an operation: the causes are those of this operation.
//!
//! The wait for an operation is divided like the time of its slowest line. The parts are the wait
//! for the L1's port, the acquire, the release, the epoch (a time in which the protocol allows a
//! write), the handshake (messages that change the epoch), the leases (times for which caches may
//! keep lines), the queues on the path of the answer (in the network, at the L2, at memory-side
//! caches and at memory), and the access, which gets the rest. If the operation was issued before the wavefront had to stop, the parts shrink in
//! proportion, and the access gets the cycles lost in rounding. The times of all slots are summed
//! by cause and divided by the number of slots. The cycles lost in this division go to the causes
//! with the largest remainders.

use std::collections::BTreeMap;

use proto::{Symbol, symbols};

use crate::queue::Cycle;

symbols! {
    /// The cause to which a cycle of the run is attributed.
    pub enum Cause {
        /// Launching kernels and starting wavefronts.
        Launch,
        /// Arithmetic on a SIMD unit.
        Compute,
        /// Waiting for a turn at the SIMD unit.
        Issue,
        /// Loading data.
        Load,
        /// Storing data.
        Store,
        /// Performing atomic accesses.
        Atomic,
        /// Acquiring, at operations and at the beginning of kernels.
        Acquire,
        /// Releasing, at operations and at the end of kernels.
        Release,
        /// Waiting for the epoch of a write: a time in which the protocol allows the write.
        Epoch,
        /// Waiting, as a write without its epoch, for the end of a handshake: the messages by which
        /// all compute units change to other epochs.
        Handshake,
        /// Waiting, at fences and acquires, for the end of leases (times for which caches may keep
        /// lines).
        Lease,
        /// Waiting at a barrier for the other wavefronts.
        Barrier,
        /// Access to local memory.
        LocalMemory,
        /// Waiting for the port of the L1.
        QueueL1,
        /// Waiting for busy links of the network.
        QueueNoc,
        /// Waiting for busy banks of the L2.
        QueueL2,
        /// Waiting for busy memory.
        QueueDram,
        /// Waiting for busy memory-side caches.
        QueueMemorySide,
        /// The slot of a wavefront that has ended is idle while other wavefronts still run.
        Imbalance,
        /// The time between kernels, in which the host runs.
        Host,
    }
}

/// The number of causes.
const CAUSES: usize = Cause::Host as usize + 1;

impl Cause {
    /// The name of the cause in results.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Cause::Launch => "launch",
            Cause::Compute => "compute",
            Cause::Issue => "issue",
            Cause::Load => "load",
            Cause::Store => "store",
            Cause::Atomic => "atomic",
            Cause::Acquire => "acquire",
            Cause::Release => "release",
            Cause::Epoch => "epoch",
            Cause::Handshake => "handshake",
            Cause::Lease => "lease",
            Cause::Barrier => "barrier",
            Cause::LocalMemory => "local-memory",
            Cause::QueueL1 => "queue-l1",
            Cause::QueueNoc => "queue-noc",
            Cause::QueueL2 => "queue-l2",
            Cause::QueueDram => "queue-dram",
            Cause::QueueMemorySide => "queue-memory-side",
            Cause::Imbalance => "imbalance",
            Cause::Host => "host",
        }
    }
}

/// A number of cycles for each cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attribution([u64; CAUSES]);

impl Attribution {
    /// The number of cycles of one cause.
    #[must_use]
    pub fn of(&self, cause: Cause) -> u64 {
        self.0[cause.index()]
    }

    /// The number of cycles of all causes together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The cycles of every cause. The key is the name of the cause.
    #[must_use]
    pub fn entries(&self) -> BTreeMap<&'static str, u64> {
        Cause::ALL.iter().map(|cause| (cause.key(), self.of(*cause))).collect()
    }

    #[inline]
    pub(crate) fn add(&mut self, cause: Cause, cycles: Cycle) {
        self.0[cause.index()] += cycles;
    }

    /// Adds the mean of `count` wavefront slots whose times sum to `slots`. Each slot has `cycles`
    /// cycles, so `cycles` cycles are added in all. If `count` is 0, all these cycles count as
    /// launch.
    pub(crate) fn add_mean(&mut self, slots: &Attribution, count: u64, cycles: Cycle) {
        if count == 0 {
            return self.add(Cause::Launch, cycles);
        }
        let mut left = cycles;
        let mut remainders = [(0, 0); CAUSES];
        for (at, &sum) in slots.0.iter().enumerate() {
            self.0[at] += sum / count;
            left = left.saturating_sub(sum / count);
            remainders[at] = (sum % count, CAUSES - at);
        }
        remainders.sort_unstable();
        for &(_, behind) in remainders.iter().rev().take(usize::try_from(left).unwrap_or(CAUSES)) {
            self.0[CAUSES - behind] += 1;
        }
    }
}

/// The cycles that a message or a memory operation has waited in queues. The waits of the messages
/// that caused it are included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QueueWaits {
    pub(crate) noc: u32,
    pub(crate) bank: u32,
    pub(crate) dram: u32,
    pub(crate) side: u32,
}

impl QueueWaits {
    #[inline]
    pub(crate) fn at_noc(mut self, cycles: u64) -> QueueWaits {
        self.noc = self.noc.saturating_add(small(cycles));
        self
    }

    #[inline]
    pub(crate) fn at_bank(mut self, cycles: u64) -> QueueWaits {
        self.bank = self.bank.saturating_add(small(cycles));
        self
    }

    #[inline]
    pub(crate) fn at_dram(mut self, cycles: u64) -> QueueWaits {
        self.dram = self.dram.saturating_add(small(cycles));
        self
    }

    #[inline]
    pub(crate) fn at_side(mut self, cycles: u64) -> QueueWaits {
        self.side = self.side.saturating_add(small(cycles));
        self
    }
}

/// Converts a number of cycles to 32 bits. A larger number becomes the largest 32-bit number.
#[inline]
pub(crate) fn small(cycles: u64) -> u32 {
    u32::try_from(cycles).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_largest_remainders_take_the_rounding_loss() {
        let mut slots = Attribution::default();
        slots.add(Cause::Load, 10);
        slots.add(Cause::Store, 11);
        slots.add(Cause::Compute, 9);
        let mut mean = Attribution::default();
        mean.add_mean(&slots, 3, 10);
        assert_eq!((mean.of(Cause::Load), mean.of(Cause::Store), mean.of(Cause::Compute)), (3, 4, 3));
    }

    proptest! {
        #[test]
        fn a_mean_adds_up_whatever_the_slots_did(
            parts in proptest::array::uniform20(0u64..1000),
            count in 1u64..300,
        ) {
            let total: u64 = parts.iter().sum();
            let mut slots = Attribution(parts);
            // All slots have the same number of cycles, as `add_mean` requires.
            slots.add(Cause::Imbalance, total.next_multiple_of(count) - total);
            let cycles = slots.total() / count;
            let mut mean = Attribution::default();
            mean.add_mean(&slots, count, cycles);
            prop_assert_eq!(mean.total(), cycles);
            for cause in Cause::ALL {
                let (exact, got) = (slots.of(*cause) / count, mean.of(*cause));
                prop_assert!(got == exact || got == exact + 1);
            }
        }
    }
}
