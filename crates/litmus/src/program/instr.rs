//! Instructions.

use super::{BinaryOp, Expr, Proxy, Reg, ScopeId, Value};

pub use proto::Order;

/// How memory is reached.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// The address; mostly [`Expr::Addr`].
    pub address: Expr,
    /// The order; [`Order::Plain`] is an ordinary data access.
    pub order: Order,
    /// The scope instance; none for a plain access.
    pub scope: Option<ScopeId>,
    /// The path to memory.
    pub proxy: Proxy,
    /// A remote operation: it pairs with narrower scopes elsewhere.
    pub remote: bool,
    /// An update that may change places with other commutative updates of its word.
    pub commutative: bool,
    /// Further annotations, as a model's own sets.
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

    /// An atomic access.
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

/// The new value of a read-modify-write, of the old value and an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RmwOp {
    /// The sum.
    Add,
    /// The difference.
    Sub,
    /// The product.
    Mul,
    /// The quotient; zero where there is none.
    Div,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// The smaller, signed.
    Min,
    /// The larger, signed.
    Max,
    /// One more, or zero when the operand is reached.
    Inc,
    /// One less, or the operand from zero or from above the operand.
    Dec,
    /// The operand.
    Exchange,
    /// The sum, unless this value is found: then nothing is written.
    AddUnless(Value),
}

impl RmwOp {
    /// The new value.
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

/// A compare-and-swap: `desired` is written if `expected` was read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cas {
    /// Takes the old value.
    pub dst: Option<Reg>,
    /// Takes one for success, zero for failure.
    pub success: Option<Reg>,
    /// The word; its order is that of a success.
    pub access: Access,
    /// The value that must be found.
    pub expected: Expr,
    /// The value to write.
    pub desired: Expr,
    /// The order of a failure.
    pub order_failure: Order,
    /// May it fail although the expected value was found?
    pub weak: bool,
}

/// What a PTX proxy fence orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FenceProxy {
    /// Different virtual addresses of one word.
    Alias,
    /// The generic and one other path.
    Path(Proxy),
}

/// An order without an access.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fence {
    /// The order.
    pub order: Order,
    /// The scope instance; none for a fence that orders only its own thread's
    /// paths to memory.
    pub scope: Option<ScopeId>,
    /// Does it order global memory?
    pub global: bool,
    /// Does it order local memory?
    pub local: bool,
    /// A PTX proxy fence.
    pub proxy: Option<FenceProxy>,
    /// A remote fence.
    pub remote: bool,
    /// Further annotations, as a model's own sets.
    pub tags: Vec<String>,
    /// What it has of an access, if it concerns one word.
    pub section: Option<Box<Section>>,
}

/// The word that a fence concerns, as one of the kernel's sleepable
/// read-copy-update: the beginning of a section yields a key, its end takes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Section {
    /// The address of the word.
    pub address: Expr,
    /// The key that it takes.
    pub key: Option<Expr>,
    /// Where the key goes that it yields.
    pub dst: Option<Reg>,
}

impl Fence {
    /// Does it order anything that a cache could get wrong?
    #[must_use]
    pub fn is_felt(&self) -> bool {
        self.global
            && self.proxy.is_none()
            && self.scope.is_some()
            && (self.order.acquires() || self.order.releases())
    }
}

/// An execution barrier: nobody of `group` passes before all have come.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Barrier {
    /// Who meets: the work-group.
    pub group: ScopeId,
    /// How far its fences reach.
    pub scope: ScopeId,
    /// The order of its fences: release before the meeting and acquire after
    /// it, or both in one.
    pub order: Order,
    /// Which barrier of the text, and
    pub instance: Value,
    /// which barrier resource: those equal in both meet, the n-th time a
    /// thread comes with the n-th time of the others.
    pub id: Expr,
    /// How many threads meet, if not all of the group.
    pub quorum: Option<Expr>,
    /// Does the thread only announce itself, and go on at once?
    pub arrive: bool,
    /// Does it order global memory?
    pub global: bool,
    /// Does it order local memory?
    pub local: bool,
    /// Further annotations, as a model's own sets.
    pub tags: Vec<String>,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Instr {
    /// `dst = *address`.
    Load {
        /// Takes the value.
        dst: Reg,
        /// Whence.
        access: Access,
    },
    /// `*address = value`.
    Store {
        /// Where to.
        access: Access,
        /// What.
        value: Expr,
    },
    /// `dst = *address; *address = op(dst, operand)`, at once.
    Rmw {
        /// Takes the old value, if it is wanted.
        dst: Option<Reg>,
        /// The word.
        access: Access,
        /// The function.
        op: RmwOp,
        /// Its operand.
        operand: Expr,
    },
    /// A compare-and-swap.
    Cas(Box<Cas>),
    /// A fence.
    Fence(Fence),
    /// A barrier.
    Barrier(Barrier),
    /// Waits until `*address cmp value` holds, then goes on with that value
    /// read. A thread that waits for ever has not ended.
    Await {
        /// Takes the value, if it is wanted.
        dst: Option<Reg>,
        /// Whence.
        access: Access,
        /// The comparison.
        cmp: BinaryOp,
        /// What is compared with.
        value: Expr,
    },
    /// `dst = value`.
    Assign {
        /// Takes the value.
        dst: Reg,
        /// What.
        value: Expr,
    },
    /// Goes to `target` if `cond` is not zero.
    Branch {
        /// The condition.
        cond: Expr,
        /// A position in the code.
        target: usize,
        /// Where both ways meet again, if the test says so: control
        /// dependencies end there.
        join: Option<usize>,
    },
    /// Goes to `target`.
    Jump {
        /// A position in the code.
        target: usize,
    },
}

impl Instr {
    /// How it reaches memory, if it does.
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

    /// The same, to be changed.
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

    /// The scope instance of an atomic access, fence or barrier.
    #[must_use]
    pub fn scope(&self) -> Option<ScopeId> {
        match self {
            Instr::Fence(fence) => fence.scope,
            Instr::Barrier(barrier) => Some(barrier.scope),
            _ => self.access().and_then(|access| access.scope),
        }
    }

    /// Gives an atomic access, fence or barrier another scope instance. Others
    /// stay as they are.
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

    /// Where control may go next besides the following instruction.
    #[must_use]
    pub fn target(&self) -> Option<usize> {
        match self {
            Instr::Branch { target, .. } | Instr::Jump { target } => Some(*target),
            _ => None,
        }
    }
}
