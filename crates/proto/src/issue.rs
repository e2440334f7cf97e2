//! Issue rules: which operations of one thread or wavefront may overlap.
//!
//! A rule is a pure state machine like a controller, so the verifier covers the core as well as the
//! caches. The driver (such as the simulator) offers operations in program order. For each
//! operation it follows the verdict of the rule, and it reports when the operation is complete.

use crate::request::Order;

crate::symbols! {
    /// The issue rules of cores. A rule says which operations of one thread may overlap.
    pub enum IssueRule {
        /// One operation at a time: an operation waits until the previous one is complete.
        InOrder,
        /// A GPU wavefront: independent accesses overlap. No later operation passes an acquire. A
        /// release waits for all earlier operations.
        Gpu,
        /// Stores wait in a store buffer, and loads wait until the buffer is empty, so that the
        /// core is sequentially consistent.
        ScWriteBuffer,
        /// Loads pass older stores and read from the core's own buffered stores.
        Tso,
        /// Independent accesses overlap. No later operation passes an acquire. A release waits for
        /// all earlier operations. Loads read from the core's own outstanding stores.
        Rmo,
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
            IssueRule::Rmo => "rmo",
        }
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
    /// Buffer the store: the core continues, and [`Issue::completed`] returns the store
    /// when it must be sent.
    Buffer,
    /// Read the bytes of the load from this older store.
    Forward(IssueId),
    /// Do not send the operation; offer it again after a completion.
    Hold,
}

/// The outstanding operations of one thread or wavefront.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Issue {
    rule: IssueRule,
    /// Operations that are sent but not complete, in program order.
    sent: Vec<IssueOp>,
    /// Stores in the store buffer, in program order.
    buffered: Vec<IssueOp>,
}

impl Issue {
    /// The state of a core without outstanding operations.
    #[must_use]
    pub fn new(rule: IssueRule) -> Self {
        Issue { rule, sent: Vec::new(), buffered: Vec::new() }
    }

    /// Whether no operation is outstanding.
    #[inline]
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.sent.is_empty() && self.buffered.is_empty()
    }

    /// Offers the next operation in program order. Returns the decision about it.
    #[inline]
    pub fn offer(&mut self, op: IssueOp) -> Verdict {
        let verdict = self.verdict(&op);
        match verdict {
            Verdict::Send => self.sent.push(op),
            Verdict::Buffer => self.buffered.push(op),
            Verdict::Forward(_) | Verdict::Hold => {}
        }
        verdict
    }

    fn verdict(&self, op: &IssueOp) -> Verdict {
        if self.is_idle() {
            return Verdict::Send;
        }
        match self.rule {
            IssueRule::InOrder => Verdict::Hold,
            IssueRule::Gpu => self.relaxed(op),
            IssueRule::Rmo if self.sent.iter().any(IssueOp::blocks_later) => Verdict::Hold,
            IssueRule::Rmo => self.forwarded(op).unwrap_or_else(|| self.relaxed(op)),
            IssueRule::ScWriteBuffer => self.buffered_store(op).unwrap_or(Verdict::Hold),
            IssueRule::Tso if op.kind == IssueKind::Load && !op.order.releases() => self.tso_load(op),
            IssueRule::Tso => self.buffered_store(op).unwrap_or(Verdict::Hold),
        }
    }

    /// The verdict `Buffer` for a store that is not sequentially consistent, if all sent and
    /// incomplete operations are stores. Otherwise `None`.
    fn buffered_store(&self, op: &IssueOp) -> Option<Verdict> {
        let behind_stores = self.sent.iter().all(|o| o.kind == IssueKind::Store);
        (op.kind == IssueKind::Store && op.order != Order::SeqCst && behind_stores).then_some(Verdict::Buffer)
    }

    fn tso_load(&self, op: &IssueOp) -> Verdict {
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
        if op.kind != IssueKind::Load || op.order.acquires() {
            let older = self.buffered.iter().rev().chain(self.sent.iter().rev());
            let mut overlapped = older.filter(|o| o.overlaps(op) && o.writes());
            return (self.rule == IssueRule::Tso).then(|| overlapped.next().map(|_| Verdict::Hold)).flatten();
        }
        let older = self.buffered.iter().rev().chain(self.sent.iter().rev());
        let store = older.into_iter().find(|o| o.writes() && o.overlaps(op))?;
        let covers = store.is_plain_store() && store.first <= op.first && op.last <= store.last;
        Some(if covers { Verdict::Forward(store.id) } else { Verdict::Hold })
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

    /// Reports that a sent operation is complete. Returns the buffered store that must
    /// be sent now, if any.
    pub fn completed(&mut self, id: IssueId) -> Option<IssueId> {
        let at = self.sent.iter().position(|o| o.id == id)?;
        self.sent.remove(at);
        if self.buffered.is_empty() || self.sent.iter().any(|o| o.kind != IssueKind::Load) {
            return None;
        }
        let next = self.buffered.remove(0);
        self.sent.push(next);
        Some(next.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(id: u32, kind: IssueKind, order: Order, first: u64) -> IssueOp {
        IssueOp { id: IssueId(id), kind, order, first, last: first + 3 }
    }

    fn verdict(rule: IssueRule, first: IssueOp, second: IssueOp) -> Verdict {
        let mut issue = Issue::new(rule);
        assert_eq!(issue.offer(first), Verdict::Send);
        issue.offer(second)
    }

    use IssueKind::{Fence, Load, Rmw, Store};
    use Order::{Acquire, Plain, Relaxed, Release, SeqCst};

    #[test]
    fn each_rule_allows_the_overlaps_of_its_model() {
        let (x, y) = (0, 8);
        let cases = [
            // Each entry: rule, earlier operation, later operation, verdict about the later one.
            (IssueRule::InOrder, op(0, Load, Plain, x), op(1, Load, Plain, y), Verdict::Hold),
            (IssueRule::Gpu, op(0, Load, Plain, x), op(1, Load, Plain, y), Verdict::Send),
            (IssueRule::Gpu, op(0, Load, Plain, x), op(1, Store, Plain, x), Verdict::Hold),
            (IssueRule::Gpu, op(0, Load, Plain, x), op(1, Load, Plain, x), Verdict::Send),
            (IssueRule::Gpu, op(0, Load, Plain, x), op(1, Load, Relaxed, x), Verdict::Send),
            (IssueRule::Gpu, op(0, Load, Relaxed, x), op(1, Load, Relaxed, y), Verdict::Send),
            (IssueRule::Gpu, op(0, Load, Relaxed, x), op(1, Load, Relaxed, x), Verdict::Hold),
            (IssueRule::Gpu, op(0, Load, Relaxed, x), op(1, Load, Plain, x + 2), Verdict::Hold),
            (IssueRule::Rmo, op(0, Load, Relaxed, x), op(1, Load, Plain, x), Verdict::Hold),
            (IssueRule::Gpu, op(0, Load, Acquire, x), op(1, Load, Plain, y), Verdict::Hold),
            (IssueRule::Gpu, op(0, Load, Plain, x), op(1, Store, Release, y), Verdict::Hold),
            (IssueRule::Gpu, op(0, Store, Release, x), op(1, Load, Plain, y), Verdict::Send),
            (IssueRule::Gpu, op(0, Store, SeqCst, x), op(1, Load, SeqCst, y), Verdict::Hold),
            (IssueRule::Gpu, op(0, Rmw, Relaxed, x), op(1, Fence, Acquire, y), Verdict::Hold),
            (IssueRule::ScWriteBuffer, op(0, Store, Plain, x), op(1, Load, Plain, y), Verdict::Hold),
            (IssueRule::ScWriteBuffer, op(0, Store, Plain, x), op(1, Store, Plain, y), Verdict::Buffer),
            (IssueRule::Tso, op(0, Store, Plain, x), op(1, Load, Plain, y), Verdict::Send),
            (IssueRule::Tso, op(0, Store, Plain, x), op(1, Load, Plain, x), Verdict::Forward(IssueId(0))),
            (IssueRule::Tso, op(0, Store, Plain, x), op(1, Load, Plain, x + 2), Verdict::Hold),
            (IssueRule::Tso, op(0, Store, Plain, x), op(1, Store, Plain, y), Verdict::Buffer),
            (IssueRule::Tso, op(0, Store, Plain, x), op(1, Fence, SeqCst, y), Verdict::Hold),
            (IssueRule::Rmo, op(0, Store, Plain, x), op(1, Load, Plain, x), Verdict::Forward(IssueId(0))),
            (IssueRule::Rmo, op(0, Store, Plain, x), op(1, Store, Plain, y), Verdict::Send),
        ];
        for (rule, first, second, want) in cases {
            assert_eq!(verdict(rule, first, second), want, "{rule:?}: {first:?} then {second:?}");
        }
    }

    #[test]
    fn a_load_from_an_own_store_passes_no_acquire() {
        let mut issue = Issue::new(IssueRule::Rmo);
        assert_eq!(issue.offer(op(0, Store, Relaxed, 0)), Verdict::Send);
        assert_eq!(issue.offer(op(1, Load, Acquire, 8)), Verdict::Send);
        assert_eq!(issue.offer(op(2, Load, Relaxed, 0)), Verdict::Hold);
        assert_eq!(issue.completed(IssueId(1)), None);
        assert_eq!(issue.offer(op(2, Load, Relaxed, 0)), Verdict::Forward(IssueId(0)));
    }

    #[test]
    fn buffered_stores_leave_one_by_one_in_program_order() {
        let mut issue = Issue::new(IssueRule::Tso);
        for id in 0..3 {
            issue.offer(op(id, Store, Plain, u64::from(id) * 8));
        }
        assert_eq!(issue.completed(IssueId(0)), Some(IssueId(1)));
        assert_eq!(issue.completed(IssueId(1)), Some(IssueId(2)));
        assert_eq!(issue.completed(IssueId(2)), None);
        assert!(issue.is_idle());
    }
}
