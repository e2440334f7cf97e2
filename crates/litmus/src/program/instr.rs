//! The instructions of a thread.

use super::{BinaryOp, Expr, Proxy, Reg, ScopeId, Value};

pub use proto::Order;

/// An access to memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// The address, usually [`Expr::Addr`].
    pub address: Expr,
    /// The memory order; [`Order::Plain`] is an ordinary data access.
    pub order: Order,
    /// The scope instance of an atomic access. `None` for a plain access.
    pub scope: Option<ScopeId>,
    /// The proxy (path to memory) that the access uses.
    pub proxy: Proxy,
    /// Whether the access is a remote operation: an operation that also synchronizes with
    /// operations of other threads at narrower scopes.
    pub remote: bool,
    /// Whether the access is a commutative update: its order among other commutative updates of the
    /// same word does not matter.
    pub commutative: bool,
    /// Further annotations of the access. Each annotation is the name of a set of events that a
    /// model uses.
    pub tags: Vec<String>,
}

impl Access {
    /// An ordinary data access.
    #[must_use]
    pub const fn plain(address: Expr) -> Access {
        Access {
            address,
            order: Order::Plain,
            scope: None,
            proxy: Proxy::Generic,
            remote: false,
            commutative: false,
            tags: Vec::new(),
        }
    }

    /// An atomic access with an order and a scope.
    #[must_use]
    pub const fn atomic(address: Expr, order: Order, scope: ScopeId) -> Access {
        Access {
            address,
            order,
            scope: Some(scope),
            proxy: Proxy::Generic,
            remote: false,
            commutative: false,
            tags: Vec::new(),
        }
    }
}

/// The function of a read-modify-write. It computes the new value from the old value and an
/// operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RmwOp {
    /// The sum of the old value and the operand.
    Add,
    /// The difference of the old value and the operand.
    Sub,
    /// The product of the old value and the operand.
    Mul,
    /// The quotient of the old value and the operand. Zero if the operand is zero.
    Div,
    /// The bitwise AND of the old value and the operand.
    And,
    /// The bitwise OR of the old value and the operand.
    Or,
    /// The bitwise XOR of the old value and the operand.
    Xor,
    /// The smaller of the old value and the operand, both signed.
    Min,
    /// The larger of the old value and the operand, both signed.
    Max,
    /// The old value plus one, or zero if the old value has reached the operand.
    Inc,
    /// The old value minus one, or the operand if the old value is zero or above the
    /// operand.
    Dec,
    /// The operand. The old value has no influence on it.
    Exchange,
    /// The sum of the old value and the operand. If the old value equals the number in the field,
    /// the operation writes nothing.
    AddUnless(Value),
}

impl RmwOp {
    /// The value that the operation writes if it reads `old`.
    #[must_use]
    pub fn apply(self, old: Value, operand: Value) -> Value {
        match self {
            RmwOp::Add => old.wrapping_add(operand),
            RmwOp::Sub => old.wrapping_sub(operand),
            RmwOp::Mul => old.wrapping_mul(operand),
            RmwOp::Div => old.checked_div(operand).unwrap_or(0),
            RmwOp::And => old & operand,
            RmwOp::Or => old | operand,
            RmwOp::Xor => old ^ operand,
            RmwOp::Min => old.min(operand),
            RmwOp::Max => old.max(operand),
            RmwOp::Inc if old >= operand => 0,
            RmwOp::Inc => old.wrapping_add(1),
            RmwOp::Dec if old == 0 || old > operand => operand,
            RmwOp::Dec => old.wrapping_sub(1),
            RmwOp::Exchange => operand,
            RmwOp::AddUnless(value) if old == value => old,
            RmwOp::AddUnless(_) => old.wrapping_add(operand),
        }
    }
}

/// A compare-and-swap: writes `desired` if it reads `expected`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cas {
    /// The register that receives the old value.
    pub dst: Option<Reg>,
    /// The register that receives the result: one for success, zero for failure.
    pub success: Option<Reg>,
    /// The access to the word, with the memory order for a compare-and-swap that succeeds.
    pub access: Access,
    /// The expected old value.
    pub expected: Expr,
    /// The value to write.
    pub desired: Expr,
    /// The memory order for a compare-and-swap that fails.
    pub order_failure: Order,
    /// Whether the compare-and-swap may fail although the expected value was read.
    pub weak: bool,
}

/// The accesses that a PTX proxy fence orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FenceProxy {
    /// The fence orders accesses to different virtual addresses of one word.
    Alias,
    /// The fence orders accesses by the generic path to memory with accesses by this other path.
    Path(Proxy),
}

/// A fence, which orders other accesses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fence {
    /// The memory order of the fence.
    pub order: Order,
    /// The scope instance of the fence. `None` for a fence that orders only its own thread's
    /// accesses by different paths to memory.
    pub scope: Option<ScopeId>,
    /// Whether the fence orders global memory.
    pub global: bool,
    /// Whether the fence orders local memory.
    pub local: bool,
    /// The accesses that the fence orders if it is a PTX proxy fence, or `None` for any other
    /// fence.
    pub proxy: Option<FenceProxy>,
    /// Whether the fence is a remote operation: an operation that also synchronizes with operations
    /// of other threads at narrower scopes.
    pub remote: bool,
    /// Further annotations of the fence. Each annotation is the name of a set of events that a
    /// model uses.
    pub tags: Vec<String>,
    /// The word and the key of an SRCU fence of the Linux kernel. `None` for any other fence.
    pub section: Option<Box<Section>>,
}

/// The word and the key of a fence for sleepable read-copy-update (SRCU) of the Linux kernel. The
/// fence at the start of a critical section returns a key. The fence at the end of the section
/// takes the key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Section {
    /// The address of the word that the SRCU fence names.
    pub address: Expr,
    /// The key that a fence at the end of a critical section takes. `None` for a fence at the
    /// start.
    pub key: Option<Expr>,
    /// The register for the key that a fence at the start of a critical section returns.
    pub dst: Option<Reg>,
}

impl Fence {
    /// Whether the fence has an effect on caches: whether it orders accesses to global memory that
    /// caches can reorder.
    #[must_use]
    pub fn constrains_caches(&self) -> bool {
        self.global
            && self.proxy.is_none()
            && self.scope.is_some()
            && (self.order.acquires() || self.order.releases())
    }
}

/// An execution barrier: no waiting thread passes the barrier before all expected threads have
/// arrived.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Barrier {
    /// The scope instance whose threads meet: a work-group.
    pub group: ScopeId,
    /// The scope of the barrier's fences.
    pub scope: ScopeId,
    /// The memory order of the barrier's fences. An OpenCL barrier has two fences: a release before
    /// the threads meet and an acquire after they meet. In the other formats, a barrier has one
    /// fence with this order.
    pub order: Order,
    /// The number that the text of the test gives to the barrier.
    pub instance: Value,
    /// The number of the barrier resource. Threads meet at barriers with equal `instance` and `id`.
    /// The n-th arrival of one thread meets the n-th arrivals of the other threads.
    pub id: Expr,
    /// The number of threads that must arrive. `None` if the barrier waits for all threads of the
    /// scope instance `group` whose code has the barrier.
    pub quorum: Option<Expr>,
    /// Whether the thread only arrives and does not wait.
    pub arrive: bool,
    /// Whether the barrier orders global memory.
    pub global: bool,
    /// Whether the barrier orders local memory.
    pub local: bool,
    /// Further annotations of the barrier. Each annotation is the name of a set of events that a
    /// model uses.
    pub tags: Vec<String>,
}

/// An instruction of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Instr {
    /// A load, `dst = *address`.
    Load {
        /// The register that receives the value.
        dst: Reg,
        /// The access to memory.
        access: Access,
    },
    /// A store, `*address = value`.
    Store {
        /// The access to memory.
        access: Access,
        /// The value that is stored.
        value: Expr,
    },
    /// A read-modify-write: `dst = *address; *address = op(dst, operand)`, atomically.
    Rmw {
        /// The register that receives the old value. `None` if that value is not used.
        dst: Option<Reg>,
        /// The access to the word.
        access: Access,
        /// The function that computes the new value.
        op: RmwOp,
        /// The operand of the function.
        operand: Expr,
    },
    /// A compare-and-swap.
    Cas(Box<Cas>),
    /// A fence.
    Fence(Fence),
    /// A barrier.
    Barrier(Barrier),
    /// A load that waits until `*address cmp value` holds. The result is the value that the load
    /// then reads. A thread that waits for ever does not terminate.
    Await {
        /// The register that receives the value that the load reads. `None` if that value is not
        /// used.
        dst: Option<Reg>,
        /// The access to memory.
        access: Access,
        /// The comparison that the value must satisfy.
        cmp: BinaryOp,
        /// The right operand of the comparison.
        value: Expr,
    },
    /// An assignment, `dst = value`.
    Assign {
        /// The register that receives the value.
        dst: Reg,
        /// The value that is assigned.
        value: Expr,
    },
    /// Jumps to `target` if `cond` is not zero.
    Branch {
        /// The condition of the jump.
        cond: Expr,
        /// The position in the code at which the thread continues if it jumps.
        target: usize,
        /// The position in the code where the two paths of the branch join. Control dependencies of
        /// the branch end there. `None` if the test does not give this position.
        join: Option<usize>,
    },
    /// Jumps to `target`.
    Jump {
        /// The position in the code at which the thread continues.
        target: usize,
    },
}

impl Instr {
    /// The access to memory. `None` if the instruction makes no access.
    #[must_use]
    pub fn access(&self) -> Option<&Access> {
        match self {
            Instr::Load { access, .. }
            | Instr::Store { access, .. }
            | Instr::Rmw { access, .. }
            | Instr::Await { access, .. } => Some(access),
            Instr::Cas(cas) => Some(&cas.access),
            _ => None,
        }
    }

    /// A mutable reference to the access to memory. `None` if the instruction makes no access.
    pub fn access_mut(&mut self) -> Option<&mut Access> {
        match self {
            Instr::Load { access, .. }
            | Instr::Store { access, .. }
            | Instr::Rmw { access, .. }
            | Instr::Await { access, .. } => Some(access),
            Instr::Cas(cas) => Some(&mut cas.access),
            _ => None,
        }
    }

    /// The scope instance of an atomic access, fence or barrier. `None` for other instructions.
    #[must_use]
    pub fn scope(&self) -> Option<ScopeId> {
        match self {
            Instr::Fence(fence) => fence.scope,
            Instr::Barrier(barrier) => Some(barrier.scope),
            _ => self.access().and_then(|access| access.scope),
        }
    }

    /// Sets the scope instance of an atomic access, fence or barrier. Does not change other
    /// instructions.
    pub fn set_scope(&mut self, scope: ScopeId) {
        match self {
            Instr::Fence(Fence { scope: Some(old), .. }) => *old = scope,
            Instr::Barrier(barrier) => barrier.scope = scope,
            _ => {
                if let Some(Access { scope: Some(old), .. }) = self.access_mut() {
                    *old = scope;
                }
            }
        }
    }

    /// The position in the code to which the instruction may jump. `None` if the instruction is not
    /// a jump or a branch.
    #[must_use]
    pub fn target(&self) -> Option<usize> {
        match self {
            Instr::Branch { target, .. } | Instr::Jump { target } => Some(*target),
            _ => None,
        }
    }
}
