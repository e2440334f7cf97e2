//! What a step used and why: latency, energy, statistics.

use crate::request::{Op, Request};
use crate::symbols::Symbol;

crate::symbols! {
    /// Why a cache is invalidated or flushed as a whole.
    pub enum Cause {
        /// A kernel begins (invalidation) or ends (flush).
        Kernel,
        /// An operation of this cache's own compute unit acquires (invalidation) or releases (flush).
        Order,
        /// Another controller asks for it, on behalf of somebody else.
        Remote,
        /// The permission to perform an atomic here has come (invalidation) or goes (flush).
        Atomic,
    }
}

/// How many causes there are.
pub const CAUSES: usize = Cause::Atomic as usize + 1;

impl Cause {
    /// The cause of what a request does to the cache it is presented to.
    #[must_use]
    pub fn of(req: &Request) -> Cause {
        match req.op {
            Op::KernelBegin(_) | Op::KernelEnd(_) => Cause::Kernel,
            Op::Load | Op::Store | Op::Rmw(_) | Op::Fence => Cause::Order,
        }
    }
}

crate::symbols! {
    /// On what a request spends its time.
    pub enum Spending {
        /// The access itself, with all that its registration entails.
        Access,
        /// What an acquire must do beside the access: invalidate.
        Acquire,
        /// What a release must do beside the access: flush, or register what was stored.
        Release,
    }
}

/// A count for each cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByCause(pub [u32; CAUSES]);

impl ByCause {
    /// Once more for this cause.
    #[inline]
    pub fn count(&mut self, cause: Cause) {
        self.0[cause.index()] += 1;
    }

    /// For all causes.
    #[inline]
    #[must_use]
    pub fn total(&self) -> u32 {
        self.0.iter().sum()
    }
}

/// What arrays and checks were used by a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Tag lookups.
    pub tag_lookups: u32,
    /// Requests and messages that ask for a line, counted when they first come.
    pub accesses: u32,
    /// Accesses dealt with at once, here.
    pub hits: u32,
    /// Accesses that had to wait.
    pub misses: u32,
    /// Accesses that a controller passed on without looking for bytes.
    pub bypasses: u32,
    /// Lines or permissions that a controller asked for below, in the step of
    /// the request that needs them.
    pub fetches: u32,
    /// Requests for an atomic access. The station counts them when it is known
    /// whether they needed anything from below: something was sent in their
    /// steps, or a fill was under way.
    pub sync_accesses: u32,
    /// Those that did not: they found the word here.
    pub sync_hits: u32,
    /// Atomic accesses from below that found the line registered to another
    /// controller, which had to give it up. Counted where that is found out.
    pub sync_remote: u32,
    /// Registrations (of atomics, where only they are registered) that a
    /// first-level cache lost because it, or a level below, gave up the way.
    pub sync_evictions: u32,
    /// Lines that this controller has registered to another.
    pub lines_registered: u32,
    /// Lines that are no longer registered to another.
    pub lines_unregistered: u32,
    /// Reads of a data line.
    pub data_reads: u32,
    /// Writes of a data line.
    pub data_writes: u32,
    /// Atomic updates performed here.
    pub atomics: u32,
    /// Cache-wide invalidations.
    pub invalidations: ByCause,
    /// Lines that were invalidated by them.
    pub lines_invalidated: u32,
    /// Cache-wide flushes begun, or registrations of all that was stored.
    pub flushes: ByCause,
    /// Lines whose dirty bytes were written out.
    pub lines_written_out: u32,
    /// Lines evicted.
    pub evictions: u32,
    /// Times that another controller kept read-modify-writes from being
    /// performed here.
    pub locks: u32,
    /// Times that this controller told all others of its kind to flush.
    pub flush_broadcasts: u32,
    /// Times that it told them to invalidate.
    pub invalidation_broadcasts: u32,
    /// Times that it told them to hold read-modify-writes back.
    pub lock_broadcasts: u32,
}
