//! Issue rules: which operations of one thread or wavefront may overlap.
//!
//! A rule is a pure state machine like a controller, so the verifier covers the core as well as the
//! caches. The driver (such as the simulator) offers operations in program order. For each
//! operation it follows the verdict of the rule, and it reports when the operation is complete.

use smallvec::SmallVec;

use crate::request::Order;

crate::symbols! {
    /// The issue rules of cores. A rule says which operations of one thread may overlap.
    pub enum IssueRule {
        /// One operation at a time: an operation waits until the previous one is complete.
        InOrder,
        /// A GPU wavefront: independent accesses overlap. No later operation passes an acquire. A
        /// release waits for all earlier operations.
        Gpu,
        /// Stores wait in a write buffer, which sends them one by one in program order. Every other
        /// operation waits until the buffer is empty, so the core is sequentially consistent.
        ScWriteBuffer,
        /// Stores wait in a write buffer, which sends them one by one in program order. Loads pass
        /// the stores in the buffer, but cannot read them: a load of a byte that a store in the
        /// buffer writes waits until this store is complete. Every other operation waits until the
        /// buffer is empty.
        Tso,
        /// The rule is `Tso`, but a load reads from the stores in the core's own write buffer.
        TsoForwarding,
        /// Accesses overlap and may complete in any order. Accesses of the same bytes keep their
        /// order if one of them writes: the later access waits for the earlier one, as in a miss
        /// register, and the core continues. No later operation passes an acquire. A release and a
        /// fence wait for all earlier operations.
        Rmo,
        /// The rule is `Rmo`, but the stores wait in a write buffer, which sends them one by one in
        /// program order.
        RmoFifo,
        /// The rule is `Gpu`, but a load reads from the core's own outstanding stores.
        RmoForwarding,
    }
}

impl IssueRule {
    /// The issue rules of GPU cores: one operation at a time, or overlapping independent accesses.
    pub const GPUS: &'static [IssueRule] = &[IssueRule::InOrder, IssueRule::Gpu];

    /// The name of the rule in machine files and reports.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            IssueRule::InOrder => "in-order",
            IssueRule::Gpu => "gpu",
            IssueRule::ScWriteBuffer => "sc-wb",
            IssueRule::Tso => "tso",
            IssueRule::TsoForwarding => "tso-forwarding",
            IssueRule::Rmo => "rmo",
            IssueRule::RmoFifo => "rmo-fifo",
            IssueRule::RmoForwarding => "rmo-forwarding",
        }
    }

    /// Whether the core accepts stores at once, so that a thread never waits for its own store. The
    /// core keeps an accepted store until it is complete.
    #[must_use]
    pub const fn buffers_stores(self) -> bool {
        !matches!(self, IssueRule::InOrder | IssueRule::Gpu)
    }

    /// Whether stores leave the core one by one in program order.
    const fn orders_stores(self) -> bool {
        use IssueRule::{RmoFifo, ScWriteBuffer, Tso, TsoForwarding};
        matches!(self, ScWriteBuffer | Tso | TsoForwarding | RmoFifo)
    }
}

crate::symbols! {
    /// The kind of an operation, by its effect on memory.
    pub enum IssueKind {
        /// The operation reads memory.
        Load,
        /// The operation writes memory.
        Store,
        /// The operation reads and writes memory.
        Rmw,
        /// The operation orders other operations and accesses no memory.
        Fence,
    }
}

/// The number by which the driver (such as the simulator) identifies an operation. The numbers are
/// bounded and used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IssueId(pub u32);

/// The properties of an operation that issue rules use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IssueOp {
    /// The identifier of the operation.
    pub id: IssueId,
    /// The kind of the operation.
    pub kind: IssueKind,
    /// The memory order of the operation.
    pub order: Order,
    /// The address of the first byte that the operation may access.
    pub first: u64,
    /// The address of the last byte that the operation may access.
    pub last: u64,
}

impl IssueOp {
    fn overlaps(&self, other: &IssueOp) -> bool {
        self.kind != IssueKind::Fence
            && other.kind != IssueKind::Fence
            && self.first <= other.last
            && other.first <= self.last
    }

    fn writes(&self) -> bool {
        matches!(self.kind, IssueKind::Store | IssueKind::Rmw)
    }

    fn conflicts(&self, other: &IssueOp) -> bool {
        self.overlaps(other) && (self.writes() || other.writes())
    }

    /// Whether this operation must read values at least as new as those that the `older` operation
    /// read. This is so if both operations access a common byte and the older one is atomic.
    fn is_coherent_after(&self, older: &IssueOp) -> bool {
        self.overlaps(older) && older.order.is_atomic()
    }

    /// Whether this operation orders all later operations: an acquire, a fence, or a sequentially
    /// consistent access.
    fn blocks_later(&self) -> bool {
        let acquires = self.kind != IssueKind::Store && self.order.acquires();
        self.kind == IssueKind::Fence || acquires || self.order == Order::SeqCst
    }

    fn is_plain_store(&self) -> bool {
        self.kind == IssueKind::Store && !self.order.acquires() && !self.order.releases()
    }
}

/// The decision about an operation that the driver (such as the simulator) offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Send the operation now.
    Send,
    /// Keep the operation at the core. The core continues, and [`Issue::completed`] returns the
    /// operation when it must be sent.
    Keep,
    /// Read the bytes of the load from this older store.
    Forward(IssueId),
    /// Do not send the operation; offer it again after a completion.
    Hold,
}

/// An operation that waits at the core for older operations.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Kept {
    op: IssueOp,
    /// The older operations that must be complete before this one is sent.
    behind: Vec<IssueId>,
}

/// The outstanding operations of one thread or wavefront.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Issue {
    rule: IssueRule,
    /// The number of stores that the write buffer holds.
    entries: u32,
    /// Operations that are sent but not complete, in program order.
    sent: Vec<IssueOp>,
    /// Operations that the core keeps, in program order.
    kept: Vec<Kept>,
}

impl Issue {
    /// The state of a core without outstanding operations. Its write buffer holds any number of
    /// stores.
    #[must_use]
    pub fn new(rule: IssueRule) -> Self {
        Issue::with_buffer(rule, u32::MAX)
    }

    /// The state of a core without outstanding operations. If the rule buffers stores, a store waits
    /// while `entries` older stores are outstanding. A buffer has at least one entry.
    #[must_use]
    pub fn with_buffer(rule: IssueRule, entries: u32) -> Self {
        Issue { rule, entries: entries.max(1), sent: Vec::new(), kept: Vec::new() }
    }

    /// The issue rule of the core.
    #[inline]
    #[must_use]
    pub fn rule(&self) -> IssueRule {
        self.rule
    }

    /// Whether no operation is outstanding.
    #[inline]
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.sent.is_empty() && self.kept.is_empty()
    }

    /// Offers the next operation in program order. Returns the decision about it.
    ///
    /// `meets` says whether the operation accesses a byte that the given older operation also
    /// accesses. The rules `Tso`, `Rmo` and `RmoFifo` ask it, for an outstanding operation whose
    /// range of addresses overlaps the range of `op`. All other rules compare the ranges only.
    #[inline]
    pub fn offer(&mut self, op: IssueOp, meets: impl Fn(IssueId) -> bool) -> Verdict {
        let verdict = self.verdict(&op, &meets);
        match verdict {
            Verdict::Send => self.sent.push(op),
            Verdict::Keep => {
                let older = self.outstanding().filter(|older| self.orders(older, &op, &meets));
                let behind = older.map(|older| older.id).collect();
                self.kept.push(Kept { op, behind });
            }
            Verdict::Forward(_) | Verdict::Hold => {}
        }
        verdict
    }

    fn verdict(&self, op: &IssueOp, meets: &impl Fn(IssueId) -> bool) -> Verdict {
        if self.is_idle() {
            return Verdict::Send;
        }
        let is_load = op.kind == IssueKind::Load;
        match self.rule {
            IssueRule::InOrder => Verdict::Hold,
            IssueRule::Gpu => self.relaxed(op),
            _ if op.kind == IssueKind::Store && self.is_full() => Verdict::Hold,
            IssueRule::RmoForwarding if self.sent.iter().any(IssueOp::blocks_later) => Verdict::Hold,
            IssueRule::RmoForwarding => self.forwarded(op).unwrap_or_else(|| self.relaxed(op)),
            IssueRule::Rmo | IssueRule::RmoFifo => self.rmo(op, meets),
            IssueRule::Tso if is_load && op.order != Order::SeqCst => self.tso_load(op, meets),
            IssueRule::TsoForwarding if is_load && !op.order.releases() => self.tso_forwarding_load(op),
            IssueRule::ScWriteBuffer | IssueRule::Tso | IssueRule::TsoForwarding => self.buffered_store(op),
        }
    }

    /// All operations that are not complete.
    fn outstanding(&self) -> impl Iterator<Item = &IssueOp> {
        self.sent.iter().chain(self.kept.iter().map(|kept| &kept.op))
    }

    /// Whether the write buffer holds no further store.
    fn is_full(&self) -> bool {
        let stores = self.outstanding().filter(|older| older.kind == IssueKind::Store);
        stores.count() as u64 >= u64::from(self.entries)
    }

    /// Whether the rule lets `op` be sent only after the `older` operation is complete, while the
    /// core continues.
    fn orders(&self, older: &IssueOp, op: &IssueOp, meets: &impl Fn(IssueId) -> bool) -> bool {
        let are_stores = older.kind == IssueKind::Store && op.kind == IssueKind::Store;
        (are_stores && self.rule.orders_stores()) || (older.conflicts(op) && meets(older.id))
    }

    /// The verdict about an operation that may wait in the write buffer. A store that is not
    /// sequentially consistent waits there if all sent and incomplete operations are stores. Every
    /// other operation waits until all older operations are complete.
    fn buffered_store(&self, op: &IssueOp) -> Verdict {
        let behind_stores = self.sent.iter().all(|o| o.kind == IssueKind::Store);
        let is_kept = op.kind == IssueKind::Store && op.order != Order::SeqCst && behind_stores;
        if is_kept { Verdict::Keep } else { Verdict::Hold }
    }

    /// The verdict about a load under TSO with a write buffer that loads cannot read. The load
    /// passes older stores, except a sequentially consistent one and one that writes a byte of the
    /// load. Loads stay in order.
    fn tso_load(&self, op: &IssueOp, meets: &impl Fn(IssueId) -> bool) -> Verdict {
        let is_behind = |older: &IssueOp| {
            older.kind != IssueKind::Store
                || older.order == Order::SeqCst
                || (older.overlaps(op) && meets(older.id))
        };
        if self.outstanding().any(is_behind) { Verdict::Hold } else { Verdict::Send }
    }

    fn tso_forwarding_load(&self, op: &IssueOp) -> Verdict {
        if self.sent.iter().any(|o| o.kind != IssueKind::Store || o.order == Order::SeqCst) {
            return Verdict::Hold;
        }
        self.forwarded(op).unwrap_or(Verdict::Send)
    }

    /// The verdict for a load that overlaps an older outstanding write. If the youngest such write
    /// is an ordinary store of all the bytes that the load reads, the load reads them from this
    /// store (`Forward`). Otherwise the load waits (`Hold`). A load that acquires never reads from
    /// a store: it waits under TSO. `None` means that this function decides nothing and the caller
    /// must decide.
    fn forwarded(&self, op: &IssueOp) -> Option<Verdict> {
        let kept = self.kept.iter().rev().map(|kept| &kept.op);
        let mut overlapped = kept.chain(self.sent.iter().rev()).filter(|o| o.overlaps(op) && o.writes());
        if op.kind != IssueKind::Load || op.order.acquires() {
            let waits = self.rule == IssueRule::TsoForwarding && overlapped.next().is_some();
            return waits.then_some(Verdict::Hold);
        }
        let store = overlapped.next()?;
        let covers = store.is_plain_store() && store.first <= op.first && op.last <= store.last;
        Some(if covers { Verdict::Forward(store.id) } else { Verdict::Hold })
    }

    /// The verdict of a core with relaxed memory order. An access waits at the core for an older
    /// access of the same bytes, as in a miss register, and the core continues. No later operation
    /// passes an acquire. A release, a fence and a sequentially consistent access wait for all
    /// earlier operations.
    fn rmo(&self, op: &IssueOp, meets: &impl Fn(IssueId) -> bool) -> Verdict {
        let waits_for_all = op.kind == IssueKind::Fence
            || op.order == Order::SeqCst
            || (op.kind != IssueKind::Load && op.order.releases());
        if waits_for_all || self.outstanding().any(IssueOp::blocks_later) {
            Verdict::Hold
        } else if self.outstanding().any(|older| self.orders(older, op, meets)) {
            Verdict::Keep
        } else {
            Verdict::Send
        }
    }

    /// The verdict of a GPU core. Independent accesses overlap. No later operation passes an
    /// acquire. No load passes an atomic access of the same bytes. A release, a fence and a
    /// sequentially consistent access wait for all earlier operations.
    fn relaxed(&self, op: &IssueOp) -> Verdict {
        let waits_for_all = op.kind == IssueKind::Fence
            || op.order == Order::SeqCst
            || (op.kind != IssueKind::Load && op.order.releases());
        let blocked = self.sent.iter().any(|older| {
            waits_for_all || older.blocks_later() || older.conflicts(op) || op.is_coherent_after(older)
        });
        if blocked { Verdict::Hold } else { Verdict::Send }
    }

    /// Reports that a sent operation is complete. Returns the kept operations that must be sent
    /// now, in program order.
    pub fn completed(&mut self, id: IssueId) -> SmallVec<[IssueId; 2]> {
        let mut ready = SmallVec::new();
        let Some(at) = self.sent.iter().position(|o| o.id == id) else { return ready };
        self.sent.remove(at);
        let sent = &mut self.sent;
        self.kept.retain_mut(|kept| {
            kept.behind.retain(|older| *older != id);
            let is_ready = kept.behind.is_empty();
            if is_ready {
                sent.push(kept.op);
                ready.push(kept.op.id);
            }
            !is_ready
        });
        ready
    }
}

#[cfg(test)]
mod tests;
