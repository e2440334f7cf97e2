//! Names of the things a driver connects.

/// A controller of the machine: its kind within the protocol and which one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId {
    /// The index of its kind in [`crate::Protocol::KINDS`].
    pub kind: u8,
    /// Which one of that kind.
    pub index: u16,
}

/// The name of a request held by the driver: bounded, recycled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u32);

/// A set of a cache array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SetIndex(pub u32);

/// A way of a cache array, counted over all sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Way(pub u32);

/// How gladly a way is given up: the lowest rank goes first, and recency
/// decides among equals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(pub u8);

/// What a parked input waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// A change of this line.
    Line(crate::LineAddr),
    /// Word about this very request.
    Slot(Slot),
    /// A way of this set that can be used.
    Way(SetIndex),
    /// A miss register.
    Miss,
    /// Room in the store buffer.
    StoreBuffer,
    /// Something of the protocol's own.
    Other(u32),
}

crate::symbols! {
    /// What a timer is for. The driver knows how long each runs, if the protocol
    /// does not say it.
    pub enum TimerClass {
        /// The next entry may leave a buffer.
        Drain,
        /// The next epoch.
        Epoch,
        /// A lease has run out. The protocol says when.
        Lease,
    }
}

impl TimerClass {
    /// Does it run for ever? Such a timer keeps no machine busy: a program is
    /// over although it runs. A request that waits for it does not wait in vain.
    #[must_use]
    pub const fn is_periodic(self) -> bool {
        matches!(self, TimerClass::Epoch)
    }

    /// Does the protocol say how long it runs? Without a word it runs for a tick.
    #[must_use]
    pub const fn is_timed(self) -> bool {
        matches!(self, TimerClass::Lease)
    }
}

/// Who sends requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Agent {
    /// A compute unit.
    Cu(u16),
    /// The command processor, which dispatches kernels. Where a protocol has no
    /// controller for it, it shares the entry of a compute unit.
    CommandProcessor,
    /// A host.
    Host(u16),
}

impl Agent {
    /// The controller that it enters where each compute unit and each host has one, of
    /// these kinds. The command processor shares that of the first compute unit.
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
