//! The waits of an operation by cause: the port, an acquire, a release, an epoch (a time in which
//! the protocol allows a write), a handshake (messages that change the epoch), leases (times for
//! which caches may keep lines), and queues.
//!
//! The waits of an operation are those of its slowest line. The protocol reports each change of the
//! activity (access, acquire, release, epoch, handshake or lease) on which the request for a line
//! spends its time. The messages that bring the answer carry the cycles that they waited in queues.

use proto::{Op, Spending};

use crate::queue::Cycle;
use crate::reports::attribution::{QueueWaits, small};

/// The cycles that an operation has waited, with one count for each cause. The access itself is not
/// included. An operation takes far fewer than 2^32 cycles. Cycles above this limit count as
/// access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waits {
    /// Cycles of waiting for the L1's port.
    pub(crate) port: u32,
    pub(crate) acquire: u32,
    pub(crate) release: u32,
    /// Cycles of waiting in queues of the network, during any activity. The next three fields,
    /// `bank`, `dram` and `side`, are the cycles of waiting in queues of L2 banks, of memory and of
    /// memory-side caches.
    pub(crate) noc: u32,
    pub(crate) bank: u32,
    pub(crate) dram: u32,
    pub(crate) side: u32,
    /// The cycles of the field `acquire` that were spent in queues. The field `release_queued` is
    /// the same for `release`.
    pub(crate) acquire_queued: u32,
    pub(crate) release_queued: u32,
    /// Cycles of waiting for an epoch (a time in which the protocol allows a write), without the
    /// time in queues.
    pub(crate) epoch: u32,
    /// Cycles of waiting for the end of a handshake (messages by which all compute units change to
    /// other epochs), without the time in queues.
    pub(crate) handshake: u32,
    /// Cycles of waiting for the end of leases (times for which caches may keep lines), without the
    /// time in queues.
    pub(crate) lease: u32,
}

impl Waits {
    pub(crate) fn add(&mut self, more: &Waits) {
        self.port = self.port.saturating_add(more.port);
        self.acquire = self.acquire.saturating_add(more.acquire);
        self.release = self.release.saturating_add(more.release);
        self.noc = self.noc.saturating_add(more.noc);
        self.bank = self.bank.saturating_add(more.bank);
        self.dram = self.dram.saturating_add(more.dram);
        self.side = self.side.saturating_add(more.side);
        self.acquire_queued = self.acquire_queued.saturating_add(more.acquire_queued);
        self.release_queued = self.release_queued.saturating_add(more.release_queued);
        self.epoch = self.epoch.saturating_add(more.epoch);
        self.handshake = self.handshake.saturating_add(more.handshake);
        self.lease = self.lease.saturating_add(more.lease);
    }
}

/// The account of the time of a request: its waits so far, its current activity (access, acquire or
/// release), and the cycle at which this activity began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent {
    waits: Waits,
    on: Spending,
    since: Cycle,
}

impl Spent {
    /// The account of a request that reaches its station (controller). Before that, it has waited
    /// `waited` cycles for the port.
    #[inline]
    pub(crate) fn new(now: Cycle, op: Op, waited: Cycle) -> Spent {
        let on = match op {
            Op::KernelBegin(_) => Spending::Acquire,
            Op::KernelEnd(_) => Spending::Release,
            Op::Load | Op::Store | Op::Rmw(_) | Op::Fence => Spending::Access,
        };
        Spent { waits: Waits { port: small(waited), ..Waits::default() }, on, since: now }
    }

    /// Ends the current activity of the request and begins the activity `on`. An input of the
    /// station (controller) causes this change; `queue_waits` has the cycles that the input has
    /// waited in queues.
    pub(crate) fn set_activity(&mut self, now: Cycle, on: Spending, queue_waits: QueueWaits) {
        *self = Spent { waits: self.until(now, queue_waits), on, since: now };
    }

    /// The waits of the request up to cycle `now`, at which an input of its station (controller)
    /// arrives. `queue_waits` has the cycles that the input has waited in queues. The input may
    /// have been sent before the request's current activity began. Therefore its cycles in queues
    /// count only up to the duration of this activity.
    #[inline]
    pub(crate) fn until(&self, now: Cycle, queue_waits: QueueWaits) -> Waits {
        let mut waits = self.waits;
        let all = small(now - self.since);
        let mut left = all;
        let mut take = |queued: u32| {
            let taken = queued.min(left);
            left -= taken;
            taken
        };
        if queue_waits != QueueWaits::default() {
            waits.dram = waits.dram.saturating_add(take(queue_waits.dram));
            waits.side = waits.side.saturating_add(take(queue_waits.side));
            waits.bank = waits.bank.saturating_add(take(queue_waits.bank));
            waits.noc = waits.noc.saturating_add(take(queue_waits.noc));
        }
        match self.on {
            Spending::Access => {}
            Spending::Acquire => {
                waits.acquire = waits.acquire.saturating_add(all);
                waits.acquire_queued = waits.acquire_queued.saturating_add(all - left);
            }
            Spending::Release => {
                waits.release = waits.release.saturating_add(all);
                waits.release_queued = waits.release_queued.saturating_add(all - left);
            }
            Spending::Epoch => waits.epoch = waits.epoch.saturating_add(left),
            Spending::Handshake => waits.handshake = waits.handshake.saturating_add(left),
            Spending::Lease => waits.lease = waits.lease.saturating_add(left),
        }
        waits
    }
}
