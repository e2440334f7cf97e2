//! The bounded machine that is explored.

use proto::issue::IssueRule;
use proto::{CacheShape, Topology, WritePolicy};

/// The bounds of a machine: small, and yet with every kind of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// What the private caches do with writes.
    pub l1: WritePolicy,
    /// What the shared cache does with writes.
    pub l2: WritePolicy,
    /// Ways of the one set of each private cache, and of each bank.
    pub ways: (u32, u32),
    /// Miss registers of each private cache, and of each bank.
    pub misses: (u32, u32),
    /// Lines that a private cache's store buffer can hold.
    pub store_buffer: u32,
    /// Banks of the shared cache.
    pub banks: u16,
    /// Are lines evicted although nobody needs their ways?
    pub evictions: bool,
    /// Which operations of a thread may overlap.
    pub core: IssueRule,
    /// No core issues while that many messages or operations stand in one
    /// queue. So threads that loop and do not wait for their writes reach
    /// finitely many states.
    pub queue_max: u8,
    /// Does memory answer at once where only one node reaches the line? Nobody
    /// else can tell, and there are fewer states.
    pub merge_memory: bool,
}

impl Bounds {
    /// Two banks, two lines a cache, in-order cores, no evictions but those that
    /// are needed.
    #[must_use]
    pub const fn new(l1: WritePolicy, l2: WritePolicy) -> Bounds {
        Bounds {
            l1,
            l2,
            ways: (2, 2),
            misses: (2, 2),
            store_buffer: 2,
            banks: 2,
            evictions: false,
            core: IssueRule::InOrder,
            queue_max: 16,
            merge_memory: true,
        }
    }

    /// The same with one of everything that a cache can run out of.
    #[must_use]
    pub const fn tight(self) -> Bounds {
        Bounds { ways: (1, 1), misses: (1, 1), store_buffer: 1, ..self }
    }

    /// The same with lines that are evicted at any time, at every level.
    #[must_use]
    pub const fn evicting(self) -> Bounds {
        Bounds { evictions: true, ..self }
    }

    /// The same with every state, and none left out that only repeats what
    /// others show.
    #[must_use]
    pub const fn in_full(self) -> Bounds {
        Bounds { merge_memory: false, ..self }
    }

    /// The same with another core.
    #[must_use]
    pub const fn core(self, core: IssueRule) -> Bounds {
        Bounds { core, ..self }
    }

    /// The machine with so many compute units and bytes a line.
    #[must_use]
    pub fn topology(&self, cus: u16, line_bytes: u16) -> Topology {
        let l1 = CacheShape {
            sets: 1,
            ways: self.ways.0,
            policy: self.l1,
            store_buffer_entries: self.store_buffer,
            miss_registers: self.misses.0,
        };
        let l2 = CacheShape { ways: self.ways.1, policy: self.l2, miss_registers: self.misses.1, ..l1 };
        Topology::banked(cus, self.banks, line_bytes, l1, l2)
    }
}

impl core::fmt::Display for Bounds {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        use proto::Symbol as _;
        write!(
            f,
            "L1 {} with {} ways, L2 {} with {} ways in {} banks, {} cores{}",
            self.l1.name(),
            self.ways.0,
            self.l2.name(),
            self.ways.1,
            self.banks,
            self.core.name(),
            if self.evictions { ", evictions at any time" } else { "" }
        )
    }
}
