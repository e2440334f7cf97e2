//! The sizes and the limits of the machine that is explored.

use proto::issue::IssueRule;
use proto::words::counted;
use proto::{CacheShape, Homes, LineAddr, PagePolicy, Topology, WritePolicy};

use crate::machine::placement::LINES_MAX;

/// The sizes and rules of an explored machine, and the limits of its runs. The sizes are small, but
/// large enough for all kinds of contention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// The write policy of the private caches.
    pub l1: WritePolicy,
    /// The write policy of the shared cache.
    pub l2: WritePolicy,
    /// Number of sets of each private cache (first value) and of each bank (second value).
    pub sets: (u32, u32),
    /// Number of ways in each set of a private cache (first value) and of a bank (second value).
    pub ways: (u32, u32),
    /// Number of miss registers of each private cache (first value) and of each bank (second
    /// value).
    pub misses: (u32, u32),
    /// Number of lines that the store buffer of a private cache can hold.
    pub store_buffer: u32,
    /// Number of banks of the shared cache, over all chiplets.
    pub banks: u16,
    /// Number of chiplets. Compute units and banks are divided among them, in order.
    pub chiplets: u16,
    /// The home chiplets of the first two pages. A page has one line, and its home is fixed before
    /// the program begins. The homes of further pages are the chiplets in turn.
    pub pages: (u16, u16),
    /// Whether lines are evicted at any time, not only when a way is needed.
    pub evictions: bool,
    /// The rule of the core: which operations of a thread may overlap.
    pub core: IssueRule,
    /// The queue length at which issue stops: no core issues while one queue holds this number of
    /// messages or operations. The limit keeps the state space finite for threads that loop without
    /// waiting for their writes.
    pub queue_max: u8,
    /// Whether memory answers an operation at once, without a separate move, if only one node
    /// accesses the line. No other node can observe the difference, and the search has fewer
    /// states.
    pub merge_memory: bool,
    /// The maximum number of ticks by which one node's clock may be ahead of another's. 0 means
    /// that all clocks tick together.
    pub skew_ticks: u8,
    /// The maximum number of preemptions of work-groups in a run. If it is not 0, the machine has
    /// at least two compute units, because a preempted work-group continues on another compute
    /// unit.
    pub preemptions: u8,
    /// Whether a message may overtake earlier messages of its channel, even if the protocol assumes
    /// FIFO channels.
    pub overtaking: bool,
}

/// The sizes of a machine's caches that a test may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number of banks of the shared cache. It is rounded up to a multiple of the chiplets.
    pub banks: u16,
    /// Number of sets of each private cache (first value) and of each bank (second value).
    pub sets: (u32, u32),
    /// Number of ways in each set of a private cache (first value) and of a bank (second value).
    pub ways: (u32, u32),
}

impl Bounds {
    /// Default bounds for these write policies: two banks, two lines in each cache, in-order cores,
    /// and evictions only where a way is needed.
    #[must_use]
    pub const fn new(l1: WritePolicy, l2: WritePolicy) -> Bounds {
        Bounds {
            l1,
            l2,
            sets: (1, 1),
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
            overtaking: false,
        }
    }

    /// These bounds, but with only one of each cache resource (way, miss register, store buffer
    /// entry).
    #[must_use]
    pub const fn tight(self) -> Bounds {
        Bounds { ways: (1, 1), misses: (1, 1), store_buffer: 1, ..self }
    }

    /// These bounds, but with caches of this shape.
    #[must_use]
    pub const fn shaped(self, shape: Shape) -> Bounds {
        let Shape { banks, sets, ways } = shape;
        Bounds { banks: banks.next_multiple_of(self.chiplets), sets, ways, ..self }
    }

    /// These bounds, but with evictions at any time and at every level.
    #[must_use]
    pub const fn evicting(self) -> Bounds {
        Bounds { evictions: true, ..self }
    }

    /// These bounds, but memory's answer is always a separate move (`merge_memory` is off).
    #[must_use]
    pub const fn in_full(self) -> Bounds {
        Bounds { merge_memory: false, ..self }
    }

    /// These bounds, but with another issue rule of the core.
    #[must_use]
    pub const fn core(self, core: IssueRule) -> Bounds {
        Bounds { core, ..self }
    }

    /// These bounds, but on this number of chiplets, each with at least one bank, and with the
    /// first two pages on the given chiplets.
    #[must_use]
    pub const fn chiplets(self, chiplets: u16, pages: (u16, u16)) -> Bounds {
        Bounds { banks: self.banks.next_multiple_of(chiplets), chiplets, pages, ..self }
    }

    /// These bounds, but on this number of chiplets, once for each placement of the first two
    /// pages. Together, the placements cover all results of a first-touch policy (the node that
    /// first accesses a page determines the page's chiplet).
    pub fn on_chiplets(self, chiplets: u16) -> impl Iterator<Item = Bounds> {
        let pages = (0..chiplets).flat_map(move |first| (0..chiplets).map(move |second| (first, second)));
        pages.map(move |pages| self.chiplets(chiplets, pages))
    }

    /// These bounds, but with this rule for channels: whether the messages of a channel may
    /// overtake one another.
    #[must_use]
    pub const fn overtaking(self, overtaking: bool) -> Bounds {
        Bounds { overtaking, ..self }
    }

    /// The homes of the machine's lines: the chiplet and bank of each line.
    #[must_use]
    pub fn homes(&self, topology: &Topology) -> Homes {
        let mut homes = Homes::new(topology, 1).with_policy(PagePolicy::FirstTouch);
        for (line, chiplet) in self.placed() {
            homes.touch(line, chiplet);
        }
        homes
    }

    /// Each line with its home chiplet. The iterator is empty if the machine has one chiplet.
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

    /// The number of compute units of a machine for a program that uses `used` of them. The number
    /// is rounded up so that each chiplet has equally many compute units. It is at least two if
    /// work-groups may be preempted.
    #[must_use]
    pub const fn compute_units(&self, used: u16) -> u16 {
        let used = if self.preemptions > 0 && used < 2 { 2 } else { used };
        used.next_multiple_of(self.chiplets)
    }

    /// These bounds, but with up to this number of preemptions in a run.
    #[must_use]
    pub const fn preempting(self, preemptions: u8) -> Bounds {
        Bounds { preemptions, ..self }
    }

    /// These bounds, but with clocks that may be up to this number of ticks apart.
    #[must_use]
    pub const fn skewed(self, skew_ticks: u8) -> Bounds {
        Bounds { skew_ticks, ..self }
    }

    /// The description of a machine with these bounds, at least this number of compute units, and
    /// this line size.
    #[must_use]
    pub fn topology(&self, cus: u16, line_bytes: u16) -> Topology {
        let l1 = CacheShape {
            sets: self.sets.0,
            ways: self.ways.0,
            policy: self.l1,
            store_buffer_entries: self.store_buffer,
            miss_registers: self.misses.0,
            ignores_acquires: false,
        };
        let l2 = CacheShape {
            sets: self.sets.1,
            ways: self.ways.1,
            policy: self.l2,
            miss_registers: self.misses.1,
            ignores_acquires: false,
            ..l1
        };
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
        if self.sets != (1, 1) {
            let (l1, l2) = self.sets;
            write!(f, ", {} in L1 and {} in L2", counted(l1.into(), "set"), counted(l2.into(), "set"))?;
        }
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
        if self.overtaking {
            write!(f, ", channels without order")?;
        }
        Ok(())
    }
}
