//! Footprints. The footprint of an operation is the set of resources that decide whether it
//! commutes with other operations: words, channels (which carry known accesses from releases to
//! acquires) and barrier groups (groups of threads that meet at barriers).

/// The footprint of one operation, or of all future operations of a thread. It has bit sets of
/// locations, channels and barrier groups (groups of threads that meet at barriers). Through a
/// channel, an acquire learns which accesses the releasing threads know. A bit set has 64 bits, so
/// resources with numbers from 64 on share bits with resources with smaller numbers. Because of
/// shared bits, two operations that commute may look dependent. Operations that do not commute
/// never look independent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Footprint {
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    /// The channels to which the operation writes because it is a release. A channel carries
    /// knowledge of accesses from releases to acquires.
    pub(crate) releases: u64,
    /// The channels from which the operation reads because it is an acquire. A channel carries
    /// knowledge of accesses from releases to acquires.
    pub(crate) acquires: u64,
    /// The channels that the operation writes as a release that pairs with acquires of every
    /// location. Empty for a release that pairs only with acquires of its own location. A channel
    /// carries knowledge of accesses from releases to acquires.
    pub(crate) releases_any: u64,
    /// The channels that the operation reads as an acquire that pairs with releases of every
    /// location. Empty for an acquire that pairs only with releases of its own location. A channel
    /// carries knowledge of accesses from releases to acquires.
    pub(crate) acquires_any: u64,
    /// The barrier groups (groups of threads that meet at barriers) at which the thread arrives.
    pub(crate) arrives: u64,
    /// The barrier groups at which the thread arrives and whose barrier waits for a given number of
    /// threads instead of for all threads of the group. At these barriers the order of arrivals
    /// matters.
    pub(crate) arrives_counted: u64,
    /// The barrier groups (groups of threads that meet at barriers) from which the thread departs.
    pub(crate) departs: u64,
}

impl Footprint {
    /// The union of the two footprints.
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

    /// Whether the two operations (of different threads) possibly do not commute. A release and an
    /// acquire that pair do not commute, even if they access different words: their order decides
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
