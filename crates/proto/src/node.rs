//! Identifiers of controllers, requests, ways and timers.

/// A controller of the machine: its kind within the protocol, and its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId {
    /// The index of the controller's kind in [`crate::Protocol::KINDS`].
    pub kind: u8,
    /// The index of the controller within its kind.
    pub index: u16,
}

/// The number of a request that the driver (such as the simulator) holds. The numbers are bounded
/// and used again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u32);

/// The index of a set in a cache array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SetIndex(pub u32);

/// The index of a way in a cache array, counted over all sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Way(pub u32);

/// The eviction rank of a way. The lowest rank is evicted first. Recency decides
/// among equal ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(pub u8);

/// The event that a parked input waits for. When the event happens, the controller wakes the inputs
/// that are parked under this key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// The state of this line changes.
    Line(crate::LineAddr),
    /// An answer for the request in this slot arrives.
    Slot(Slot),
    /// A way of this set becomes free, or a line of the set becomes evictable.
    Way(SetIndex),
    /// A miss register becomes free.
    Miss,
    /// An entry of the store buffer becomes free.
    StoreBuffer,
    /// An event that the protocol defines. The number, which the protocol chooses, distinguishes
    /// such events.
    Other(u32),
}

crate::symbols! {
    /// The purpose of a timer. The driver (such as the simulator) knows the timer's duration,
    /// unless the protocol gives the duration.
    pub enum TimerClass {
        /// Drain timer: when it expires, the next entry may leave a buffer.
        Drain,
        /// Epoch timer: when it expires, the next epoch (a time in which some addresses may be
        /// written) begins.
        Epoch,
        /// Lease timer: when it expires, a lease ends. The protocol gives the duration.
        Lease,
    }
}

impl TimerClass {
    /// Whether the timer restarts forever. Such a timer does not keep a machine busy: a program can
    /// end while the timer runs. A request that waits for such a timer is not stuck.
    #[must_use]
    pub const fn is_periodic(self) -> bool {
        matches!(self, TimerClass::Epoch)
    }

    /// Whether the protocol can give the timer's duration. If the protocol arms such a timer
    /// without a duration, the duration is one tick.
    #[must_use]
    pub const fn is_timed(self) -> bool {
        matches!(self, TimerClass::Lease)
    }
}

/// An issuer of requests: a compute unit, the command processor or a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Agent {
    /// The compute unit with this number.
    Cu(u16),
    /// The command processor, which launches kernels. If a protocol has no controller of its own
    /// for the command processor, the requests enter the controller of a compute unit.
    CommandProcessor,
    /// The host with this number.
    Host(u16),
}

impl Agent {
    /// The controller that the agent's requests enter, if each compute unit has a controller of
    /// kind `cu` and each host one of kind `host`. The command processor enters the controller of
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
