//! Footprints: the resources that decide whether two operations commute.

/// The footprint of one operation, or of all future operations of a thread. It has bit sets of
/// locations, channels and barrier groups. A channel is a scope instance in which a release and an
/// acquire can synchronize. Numbers from 64 on share bits with smaller numbers.
/// Sharing can only make operations look dependent that commute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Footprint {
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    /// The channels that the operation writes as a release.
    pub(crate) releases: u64,
    /// The channels that the operation reads as an acquire.
    pub(crate) acquires: u64,
    /// The channels of `releases` in which a release synchronizes with acquires of any location.
    pub(crate) releases_any: u64,
    /// The channels of `acquires` in which an acquire synchronizes with releases of any location.
    pub(crate) acquires_any: u64,
    /// The barrier groups at which the thread arrives.
    pub(crate) arrives: u64,
    /// The barrier groups of `arrives` at which a given number of threads meets, and not all
    /// threads. The order of arrivals matters there.
    pub(crate) arrives_counted: u64,
    /// The barrier groups from which the thread departs.
    pub(crate) departs: u64,
}

impl Footprint {
    /// The union of both footprints.
    pub(crate) fn union(self, other: Footprint) -> Footprint {
        Footprint {
            reads: self.reads | other.reads,
            writes: self.writes | other.writes,
            releases: self.releases | other.releases,
            acquires: self.acquires | other.acquires,
            releases_any: self.releases_any | other.releases_any,
            acquires_any: self.acquires_any | other.acquires_any,
            arrives: self.arrives | other.arrives,
            arrives_counted: self.arrives_counted | other.arrives_counted,
            departs: self.departs | other.departs,
        }
    }

    /// Whether the two operations, of different threads, may fail to commute. A release and an
    /// acquire of one scope never commute, even on different words: their order decides
    /// happens-before.
    pub(crate) fn depends(&self, other: &Footprint) -> bool {
        let words = self.writes & (other.reads | other.writes) | self.reads & other.writes;
        let order = self.releases & other.acquires_any
            | self.releases_any & other.acquires
            | self.acquires & other.releases_any
            | self.acquires_any & other.releases;
        let meet = self.arrives & other.departs
            | self.departs & other.arrives
            | self.arrives_counted & other.arrives
            | self.arrives & other.arrives_counted;
        words | order | meet != 0
    }
}
