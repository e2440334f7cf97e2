//! Events: the reads, writes, fences and barriers of an execution.

use crate::program::{FenceProxy, LocId, Order, Proxy, ScopeId, ThreadId, Value};

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// The event reads a word.
    Read,
    /// The event writes a word.
    Write,
    /// The event is a fence, which orders the accesses before and after it.
    Fence,
    /// The event is the arrival of the thread at a barrier, where threads wait for each other.
    Barrier,
    /// The event is the fence before a barrier.
    BarrierEntry,
    /// The event is the fence after a barrier.
    BarrierExit,
}

/// One arrival of a thread at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Meeting {
    /// The scope instance whose threads meet at the barrier.
    pub group: ScopeId,
    /// The number of the barrier in the text of the test.
    pub instance: Value,
    /// The number of the barrier resource that the instruction selects.
    pub id: Value,
    /// The number of earlier arrivals of this thread at the barrier.
    pub round: u16,
    /// The number of threads that must meet. `None` if the barrier waits for all threads of the
    /// scope instance `group` whose code has the barrier.
    pub quorum: Option<Value>,
    /// Whether the thread only arrives at the barrier and does not wait there.
    pub arrive: bool,
}

impl Meeting {
    /// The fields that identify a meeting of threads at a barrier. These fields are equal for all
    /// threads that meet there.
    #[must_use]
    pub const fn key(&self) -> (ScopeId, Value, Value, u16) {
        (self.group, self.instance, self.id, self.round)
    }
}

/// An event of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The thread whose instruction makes the event. `None` for the initial writes.
    pub thread: Option<ThreadId>,
    /// The position of the event's instruction in the code of the thread.
    pub instr: usize,
    /// The source line of the event's instruction, or 0 if the line is unknown.
    pub line: u32,
    /// The kind of the event.
    pub kind: EventKind,
    /// The location that the event accesses. The location may be one of several names of one word.
    pub loc: Option<LocId>,
    /// The memory order of the event.
    pub order: Order,
    /// The scope instance with whose threads the event synchronizes. `None` for an event without a
    /// scope.
    pub scope: Option<ScopeId>,
    /// The proxy (path to memory) that the event uses.
    pub proxy: Proxy,
    /// The proxies (paths to memory) that the event orders, if it is a proxy fence. Otherwise
    /// `None`.
    pub fence_proxy: Option<FenceProxy>,
    /// Whether the event belongs to a remote operation.
    pub remote: bool,
    /// Whether the event belongs to a commutative update: its order among other commutative updates
    /// of the word does not matter.
    pub commutative: bool,
    /// Whether the event belongs to a read-modify-write.
    pub rmw: bool,
    /// Whether the event, if it belongs to a fence or a barrier, orders accesses to global memory.
    pub global: bool,
    /// Whether the event, if it belongs to a fence or a barrier, orders accesses to local memory.
    pub local: bool,
    /// The arrival at a barrier, if the event belongs to a barrier.
    pub meeting: Option<Meeting>,
    /// Those annotations of the instruction for which the event has no other field.
    pub tags: Vec<String>,
}

impl Event {
    /// Whether the event is a read.
    #[must_use]
    pub fn reads(&self) -> bool {
        self.kind == EventKind::Read
    }

    /// Whether the event is a write.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.kind == EventKind::Write
    }

    /// Whether the event is a fence or a barrier event.
    #[must_use]
    pub fn is_fence(&self) -> bool {
        !self.reads() && !self.writes()
    }
}
