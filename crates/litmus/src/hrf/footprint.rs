//! What an operation touches, as far as the order of two operations matters.

/// What one operation, or all that a thread may still do, touches. Bit sets of
/// locations, channels and barrier groups; numbers beyond 64 share bits, which
/// only adds dependence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Footprint {
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    /// Channels written.
    pub(crate) releases: u64,
    /// Channels read.
    pub(crate) acquires: u64,
    /// Channels written so that acquires of any location see it.
    pub(crate) releases_any: u64,
    /// Channels read whatever location was released.
    pub(crate) acquires_any: u64,
    /// Barrier groups come to.
    pub(crate) arrives: u64,
    /// Of these, those where not all of the group meet: who comes first matters.
    pub(crate) arrives_counted: u64,
    /// Barrier groups left.
    pub(crate) departs: u64,
}

impl Footprint {
    /// Both together.
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

    /// May it matter which of two operations of different threads comes first?
    /// A release and an acquire of one scope do not commute even if they reach
    /// different words: which came first decides what happens before what.
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
