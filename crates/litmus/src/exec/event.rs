//! Events: what a thread does to memory.

use crate::program::{FenceProxy, LocId, Order, Proxy, ScopeId, ThreadId, Value};

/// What an event does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// Reads a word.
    Read,
    /// Writes a word.
    Write,
    /// Orders without an access.
    Fence,
    /// Meets others at a barrier.
    Barrier,
    /// The fence before a barrier.
    BarrierEntry,
    /// The fence after a barrier.
    BarrierExit,
}

/// Which meeting a barrier event takes part in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Meeting {
    /// Who meets.
    pub group: ScopeId,
    /// Which barrier of the text,
    pub instance: Value,
    /// which resource,
    pub id: Value,
    /// and the how-many-eth time of this thread.
    pub round: u16,
    /// How many threads suffice, if not all.
    pub quorum: Option<Value>,
    /// Does the thread go on at once?
    pub arrive: bool,
}

impl Meeting {
    /// What is the same for all who meet.
    #[must_use]
    pub const fn key(&self) -> (ScopeId, Value, Value, u16) {
        (self.group, self.instance, self.id, self.round)
    }
}

/// An event of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Whose; none for the initial writes.
    pub thread: Option<ThreadId>,
    /// The position of its instruction.
    pub instr: usize,
    /// Its source line, 0 where there is none.
    pub line: u32,
    /// What it does.
    pub kind: EventKind,
    /// By which name it reaches memory.
    pub loc: Option<LocId>,
    /// Its order.
    pub order: Order,
    /// Its scope instance.
    pub scope: Option<ScopeId>,
    /// Its path to memory.
    pub proxy: Proxy,
    /// What a proxy fence orders.
    pub fence_proxy: Option<FenceProxy>,
    /// A remote operation.
    pub remote: bool,
    /// A commutative update.
    pub commutative: bool,
    /// Half of a read-modify-write.
    pub rmw: bool,
    /// Does a fence order global memory?
    pub global: bool,
    /// Does a fence order local memory?
    pub local: bool,
    /// Which meeting, for barrier events.
    pub meeting: Option<Meeting>,
    /// Further annotations.
    pub tags: Vec<String>,
}

impl Event {
    /// Does it read?
    #[must_use]
    pub fn reads(&self) -> bool {
        self.kind == EventKind::Read
    }

    /// Does it write?
    #[must_use]
    pub fn writes(&self) -> bool {
        self.kind == EventKind::Write
    }

    /// Is it a fence, or one of a barrier?
    #[must_use]
    pub fn is_fence(&self) -> bool {
        !self.reads() && !self.writes()
    }
}
