//! Identifiers of controllers, requests, ways and timers.

/// A controller of the machine: its kind within the protocol, and its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId {
    /// The index of its kind in [`crate::Protocol::KINDS`].
    pub kind: u8,
    /// The index within that kind.
    pub index: u16,
}

/// The identifier of a request that the driver holds. Slots are bounded and recycled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u32);

/// A set of a cache array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SetIndex(pub u32);

/// A way of a cache array, counted over all sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Way(pub u32);

/// The eviction rank of a way. The lowest rank is evicted first. Recency decides
/// among equal ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(pub u8);

/// The event that a parked input waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// A change of this line.
    Line(crate::LineAddr),
    /// An answer for this request.
    Slot(Slot),
    /// A free way of this set.
    Way(SetIndex),
    /// A free miss register.
    Miss,
    /// A free entry of the store buffer.
    StoreBuffer,
    /// An event that the protocol defines.
    Other(u32),
}

crate::symbols! {
    /// The purpose of a timer. The driver knows its duration, unless the protocol
    /// gives it.
    pub enum TimerClass {
        /// The next entry may leave a buffer.
        Drain,
        /// The next epoch begins.
        Epoch,
        /// A lease expires. The protocol gives the duration.
        Lease,
    }
}

impl TimerClass {
    /// Whether it runs forever. Such a timer does not keep a machine busy: a program
    /// can end while it runs. A request that waits for it is not stuck.
    #[must_use]
    pub const fn is_periodic(self) -> bool {
        matches!(self, TimerClass::Epoch)
    }

    /// Whether the protocol gives its duration. The default is one tick.
    #[must_use]
    pub const fn is_timed(self) -> bool {
        matches!(self, TimerClass::Lease)
    }
}

/// An issuer of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Agent {
    /// A compute unit.
    Cu(u16),
    /// The command processor, which launches kernels. If a protocol has no
    /// controller for it, it shares the entry of a compute unit.
    CommandProcessor,
    /// A host.
    Host(u16),
}

impl Agent {
    /// The controller that its requests enter, if each compute unit has one of kind
    /// `cu` and each host one of kind `host`. The command processor shares that of
    /// the first compute unit.
    #[inline]
    #[must_use]
    pub const fn enters(self, cu: u8, host: u8) -> NodeId {
        match self {
            Agent::Cu(index) => NodeId { kind: cu, index },
            Agent::CommandProcessor => NodeId { kind: cu, index: 0 },
            Agent::Host(index) => NodeId { kind: host, index },
        }
    }
}
