//! The bounded machine that is explored.

use proto::issue::IssueRule;
use proto::words::counted;
use proto::{CacheShape, Homes, LineAddr, PagePolicy, Topology, WritePolicy};

use crate::machine::placement::LINES_MAX;

/// The bounds of a machine: small, yet large enough for all kinds of contention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// The write policy of the private caches.
    pub l1: WritePolicy,
    /// The write policy of the shared cache.
    pub l2: WritePolicy,
    /// Ways of the one set of each private cache, and of each bank.
    pub ways: (u32, u32),
    /// Miss registers of each private cache, and of each bank.
    pub misses: (u32, u32),
    /// Lines that a private cache's store buffer can hold.
    pub store_buffer: u32,
    /// Banks of the shared cache, over all chiplets.
    pub banks: u16,
    /// Chiplets that compute units and banks are divided among, in order.
    pub chiplets: u16,
    /// The chiplets of the first two lines. A page has one line, and is placed before the
    /// program begins; further lines are placed round-robin.
    pub pages: (u16, u16),
    /// Whether lines are evicted at any time, not only when a way is needed.
    pub evictions: bool,
    /// Which operations of a thread may overlap.
    pub core: IssueRule,
    /// No core issues while one queue holds that many messages or operations. This keeps the
    /// state space finite for threads that loop without waiting for their writes.
    pub queue_max: u8,
    /// Whether memory answers at once where only one node reaches the line. No other node can
    /// observe the difference, and there are fewer states.
    pub merge_memory: bool,
    /// The most ticks by which one node's clock may be ahead of another's. 0: all clocks tick
    /// together.
    pub skew_ticks: u8,
    /// The most preemptions of work-groups in a run. A work-group continues on another compute
    /// unit, so the machine then has at least two.
    pub preemptions: u8,
}

impl Bounds {
    /// Two banks, two lines in each cache, in-order cores, and evictions only where a way is needed.
    #[must_use]
    pub const fn new(l1: WritePolicy, l2: WritePolicy) -> Bounds {
        Bounds {
            l1,
            l2,
            ways: (2, 2),
            misses: (2, 2),
            store_buffer: 2,
            banks: 2,
            chiplets: 1,
            pages: (0, 0),
            evictions: false,
            core: IssueRule::InOrder,
            queue_max: 16,
            merge_memory: true,
            skew_ticks: 0,
            preemptions: 0,
        }
    }

    /// These bounds with one of each cache resource.
    #[must_use]
    pub const fn tight(self) -> Bounds {
        Bounds { ways: (1, 1), misses: (1, 1), store_buffer: 1, ..self }
    }

    /// These bounds with evictions at any time, at every level.
    #[must_use]
    pub const fn evicting(self) -> Bounds {
        Bounds { evictions: true, ..self }
    }

    /// These bounds without the reduction of memory's answers.
    #[must_use]
    pub const fn in_full(self) -> Bounds {
        Bounds { merge_memory: false, ..self }
    }

    /// These bounds with another core.
    #[must_use]
    pub const fn core(self, core: IssueRule) -> Bounds {
        Bounds { core, ..self }
    }

    /// These bounds on this many chiplets, each with at least one bank, with the pages of the first
    /// two lines on the given chiplets.
    #[must_use]
    pub const fn chiplets(self, chiplets: u16, pages: (u16, u16)) -> Bounds {
        Bounds { banks: self.banks.next_multiple_of(chiplets), chiplets, pages, ..self }
    }

    /// These bounds on this many chiplets, with the first two pages placed in every way. This covers
    /// a first touch by any node.
    pub fn on_chiplets(self, chiplets: u16) -> impl Iterator<Item = Bounds> {
        let pages = (0..chiplets).flat_map(move |first| (0..chiplets).map(move |second| (first, second)));
        pages.map(move |pages| self.chiplets(chiplets, pages))
    }

    /// The homes of the machine's lines.
    #[must_use]
    pub fn homes(&self, topology: &Topology) -> Homes {
        let mut homes = Homes::new(topology, 1).with_policy(PagePolicy::FirstTouch);
        for (line, chiplet) in self.placed() {
            homes.touch(line, chiplet);
        }
        homes
    }

    /// The chiplet of each line, where there are several.
    pub fn placed(&self) -> impl Iterator<Item = (LineAddr, u16)> {
        let Bounds { chiplets, pages, .. } = *self;
        let lines = if chiplets > 1 { LINES_MAX } else { 0 };
        (0..lines).map(move |line| {
            let chiplet = match line {
                0 => pages.0,
                1 => pages.1,
                _ => u16::from(line) % chiplets,
            };
            (LineAddr(u64::from(line)), chiplet)
        })
    }

    /// The number of compute units if the program uses `used`: as many on each chiplet, and at
    /// least two where work-groups are preempted.
    #[must_use]
    pub const fn compute_units(&self, used: u16) -> u16 {
        let used = if self.preemptions > 0 && used < 2 { 2 } else { used };
        used.next_multiple_of(self.chiplets)
    }

    /// These bounds with up to this many preemptions.
    #[must_use]
    pub const fn preempting(self, preemptions: u8) -> Bounds {
        Bounds { preemptions, ..self }
    }

    /// These bounds with clocks that are up to this many ticks apart.
    #[must_use]
    pub const fn skewed(self, skew_ticks: u8) -> Bounds {
        Bounds { skew_ticks, ..self }
    }

    /// The machine with at least this many compute units and this line size.
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
        let (cus, chiplets) = (self.compute_units(cus), self.chiplets);
        Topology { chiplets, ..Topology::banked(cus, self.banks / chiplets, line_bytes, l1, l2) }
    }
}

impl core::fmt::Display for Bounds {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        use proto::Symbol as _;
        write!(
            f,
            "L1 {} with {}, L2 {} with {} in {}, {} cores{}",
            self.l1.name(),
            counted(u64::from(self.ways.0), "way"),
            self.l2.name(),
            counted(u64::from(self.ways.1), "way"),
            counted(u64::from(self.banks), "bank"),
            self.core.name(),
            if self.evictions { ", evictions at any time" } else { "" }
        )?;
        if self.chiplets > 1 {
            let (chiplets, (first, second)) = (self.chiplets, self.pages);
            write!(f, ", {chiplets} chiplets, lines 0 and 1 on chiplets {first} and {second}")?;
        }
        if self.skew_ticks > 0 {
            write!(f, ", clocks up to {} apart", counted(self.skew_ticks.into(), "tick"))?;
        }
        if self.preemptions > 0 {
            write!(f, ", up to {}", counted(self.preemptions.into(), "preemption"))?;
        }
        Ok(())
    }
}
