//! Counters of a step, for latency, energy and statistics.

use crate::request::{Op, Request};
use crate::symbols::Symbol;

crate::symbols! {
    /// The cause of a cache-wide invalidation or flush.
    pub enum Cause {
        /// The beginning (invalidation) or the end (flush) of a kernel.
        Kernel,
        /// An acquire (invalidation) or a release (flush) of this cache's own compute unit.
        Order,
        /// A message from another controller, which acts for another agent (such as a compute
        /// unit).
        Remote,
        /// A permission to perform an atomic in this cache. The cache invalidates when it gets the
        /// permission, and flushes when it loses the permission.
        Atomic,
    }
}

/// The number of causes of a cache-wide invalidation or flush.
pub const CAUSES: usize = Cause::Atomic as usize + 1;

impl Cause {
    /// The cause of an invalidation or flush that a request makes.
    #[must_use]
    pub fn of(req: &Request) -> Cause {
        match req.op {
            Op::KernelBegin(_) | Op::KernelEnd(_) => Cause::Kernel,
            Op::Load | Op::Store | Op::Rmw(_) | Op::Fence => Cause::Order,
        }
    }
}

crate::symbols! {
    /// The part of a request to which the request's time is attributed.
    pub enum Spending {
        /// The access itself, including a registration of the line (a request to own the line) and
        /// the consequences of that registration.
        Access,
        /// The invalidation that an acquire makes.
        Acquire,
        /// The flush that a release makes, or the registration of all stored lines (a request to
        /// own them) that a release makes instead of a flush.
        Release,
        /// The wait of a write for the epoch in which its line may be written.
        Epoch,
        /// The wait of a write, which waits for its epoch, for the end of a handshake: the messages
        /// by which all compute units change to other epochs. No write is issued meanwhile.
        Handshake,
        /// The wait of a fence or an acquire for the end of leases.
        Lease,
    }
}

/// A count for each cause of a cache-wide invalidation or flush.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByCause(pub [u32; CAUSES]);

impl ByCause {
    /// Adds one to the count of a cause.
    #[inline]
    pub fn count(&mut self, cause: Cause) {
        self.0[cause.index()] += 1;
    }

    /// The sum of the counts of all causes.
    #[inline]
    #[must_use]
    pub fn total(&self) -> u32 {
        self.0.iter().sum()
    }
}

/// Counters of one step of a controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Lookups of tags.
    pub tag_lookups: u32,
    /// Requests and messages that ask for a line, each counted when the controller gets it for the
    /// first time.
    pub accesses: u32,
    /// Accesses that the controller answered at once, without waiting.
    pub hits: u32,
    /// Accesses by plain loads.
    pub load_accesses: u32,
    /// Accesses by plain loads that the controller answered at once.
    pub load_hits: u32,
    /// Loads that the controller answered with the bytes of a line that had dirty bytes.
    pub loads_of_dirty_lines: u32,
    /// Accesses by plain loads that the controller passed on without looking for bytes.
    pub load_bypasses: u32,
    /// Accesses that had to wait for an answer from the level below or for a resource.
    pub misses: u32,
    /// Accesses that the controller passed on without looking for bytes.
    pub bypasses: u32,
    /// Lines or permissions that the controller requested from the level below on behalf of a
    /// request. They count in the step of that request.
    pub fetches: u32,
    /// Requests for an atomic access. Such a request is counted when it is complete or begins to
    /// wait for a fill. At this point it is known whether the request needed anything from the
    /// level below: it did if one of its steps sent a message or a memory operation, or if it waits
    /// for a fill.
    pub sync_accesses: u32,
    /// Requests for an atomic access that needed nothing from the level below.
    pub sync_hits: u32,
    /// Atomic accesses to a line that was registered to another controller. The access takes the
    /// registration away from that controller. The controller that detects this loss counts the
    /// access.
    pub sync_remote: u32,
    /// Registrations that a first-level cache lost because of an eviction in that cache or at a
    /// level below. If a protocol registers atomics only, these are registrations of atomics.
    pub sync_evictions: u32,
    /// Lines that this controller has registered to another controller.
    pub lines_registered: u32,
    /// Lines whose registration to another controller has ended.
    pub lines_unregistered: u32,
    /// Reads of a line's bytes from the data array.
    pub data_reads: u32,
    /// Writes of a line's bytes to the data array.
    pub data_writes: u32,
    /// Atomic updates that this controller performed.
    pub atomics: u32,
    /// Words of four bytes that the atomic updates of this controller accessed.
    pub atomic_words: u32,
    /// Invalidations of a whole cache, counted separately for each cause.
    pub invalidations: ByCause,
    /// Lines that were in a cache when this whole cache was invalidated.
    pub lines_invalidated: u32,
    /// Flushes of a whole cache, or registrations of all stored lines, counted separately for each
    /// cause. Each flush or registration is counted when it begins.
    pub flushes: ByCause,
    /// Lines whose dirty bytes were written out to the level below.
    pub lines_written_out: u32,
    /// Lines that were evicted.
    pub evictions: u32,
    /// Locks that another controller put on the read-modify-writes of this controller.
    pub locks: u32,
    /// Broadcasts that ask all other controllers of the same kind to flush.
    pub flush_broadcasts: u32,
    /// Broadcasts that ask all other controllers of the same kind to invalidate.
    pub invalidation_broadcasts: u32,
    /// Broadcasts that ask all other controllers of the same kind to lock their read-modify-writes.
    pub lock_broadcasts: u32,
    /// Changes of epochs that this controller, the epoch management unit, began. An epoch is a time
    /// in which the protocol allows writes to a group of addresses.
    pub changes_begun: u32,
    /// Changes of epochs that this controller, the epoch management unit, completed. An epoch is a
    /// time in which the protocol allows writes to a group of addresses.
    pub changes_ended: u32,
    /// Writes that were blocked, because their epoch (the time in which the protocol allows writes
    /// to the group of addresses that contains their line) had not come.
    pub writes_blocked: u32,
    /// The number of writes that were blocked when this controller changed its epochs (the times in
    /// which the protocol allows writes to groups of addresses).
    pub blocked_at_change: u32,
    /// If the step blocked a write, the number of writes that are blocked at this controller after
    /// the step. A blocked write waits for the time in which the protocol allows it (its epoch).
    pub blocked_now: u32,
}
