//! Issue rules: which operations of one thread or wavefront may overlap.
//!
//! A rule is a pure state machine like any controller, so that a checker
//! checks the core as well as the caches. The driver offers operations in
//! program order, does what the verdict says, and reports completions.

use crate::request::Order;

crate::symbols! {
    /// The rules.
    pub enum IssueRule {
        /// One operation at a time.
        InOrder,
        /// A GPU wavefront: independent accesses overlap; nothing passes an
        /// acquire, and a release waits for all before it.
        Gpu,
        /// Sequentially consistent with a store buffer that loads wait for.
        ScWriteBuffer,
        /// Loads pass older stores and read their own from the buffer.
        Tso,
        /// As the GPU, and loads read their own outstanding stores.
        Rmo,
    }
}

impl IssueRule {
    /// The cores of GPUs: one operation at a time, or wavefronts that overlap
    /// independent accesses.
    pub const GPUS: &'static [IssueRule] = &[IssueRule::InOrder, IssueRule::Gpu];

    /// Its name in machine files and reports.
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
    /// What an operation does to memory.
    pub enum IssueKind {
        /// Reads.
        Load,
        /// Writes.
        Store,
        /// Reads and writes.
        Rmw,
        /// Only orders.
        Fence,
    }
}

/// The driver's name of an operation: bounded, recycled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IssueId(pub u32);

/// An operation as its core sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IssueOp {
    /// Its name.
    pub id: IssueId,
    /// What it does.
    pub kind: IssueKind,
    /// Its order.
    pub order: Order,
    /// The first byte it may touch.
    pub first: u64,
    /// The last byte it may touch.
    pub last: u64,
}

impl IssueOp {
    fn touches(&self, other: &IssueOp) -> bool {
        self.kind != IssueKind::Fence
            && other.kind != IssueKind::Fence
            && self.first <= other.last
            && other.first <= self.last
    }

    fn writes(&self) -> bool {
        matches!(self.kind, IssueKind::Store | IssueKind::Rmw)
    }

    fn conflicts(&self, other: &IssueOp) -> bool {
        self.touches(other) && (self.writes() || other.writes())
    }

    /// Must what it reads be as new as what the older one found? So it is behind
    /// an atomic access of the same bytes.
    fn must_be_as_new_as(&self, older: &IssueOp) -> bool {
        self.touches(older) && older.order.is_atomic()
    }

    /// Is it an acquire, a fence, or sequentially consistent?
    fn is_passed_by_nothing(&self) -> bool {
        let acquires = self.kind != IssueKind::Store && self.order.acquires();
        self.kind == IssueKind::Fence || acquires || self.order == Order::SeqCst
    }

    fn is_plain_store(&self) -> bool {
        self.kind == IssueKind::Store && !self.order.acquires() && !self.order.releases()
    }
}

/// What the driver is to do with an operation that it offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Send it now.
    Send,
    /// The core goes on; the store is sent when [`Issue::completed`] says so.
    Buffer,
    /// Its bytes are those of this older store.
    Forward(IssueId),
    /// Not yet: offer it again after a completion.
    Hold,
}

/// The operations of one thread or wavefront that are under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Issue {
    rule: IssueRule,
    /// Sent and not completed, in program order.
    sent: Vec<IssueOp>,
    /// Stores that the core has left behind, in program order.
    buffered: Vec<IssueOp>,
}

impl Issue {
    /// Nothing under way.
    #[must_use]
    pub fn new(rule: IssueRule) -> Self {
        Issue { rule, sent: Vec::new(), buffered: Vec::new() }
    }

    /// Is nothing under way?
    #[inline]
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.sent.is_empty() && self.buffered.is_empty()
    }

    /// Offers the next operation in program order.
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
            IssueRule::Rmo if self.sent.iter().any(IssueOp::is_passed_by_nothing) => Verdict::Hold,
            IssueRule::Rmo => self.forwarded(op).unwrap_or_else(|| self.relaxed(op)),
            IssueRule::ScWriteBuffer => self.buffered_store(op).unwrap_or(Verdict::Hold),
            IssueRule::Tso if op.kind == IssueKind::Load && !op.order.releases() => self.tso_load(op),
            IssueRule::Tso => self.buffered_store(op).unwrap_or(Verdict::Hold),
        }
    }

    /// A store behind stores goes into the buffer; behind anything else it waits.
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

    /// The youngest older store that the load touches, if there is one: it
    /// gives all the bytes, or the load must wait.
    fn forwarded(&self, op: &IssueOp) -> Option<Verdict> {
        if op.kind != IssueKind::Load || op.order.acquires() {
            let older = self.buffered.iter().rev().chain(self.sent.iter().rev());
            let mut touched = older.filter(|o| o.touches(op) && o.writes());
            return (self.rule == IssueRule::Tso).then(|| touched.next().map(|_| Verdict::Hold)).flatten();
        }
        let older = self.buffered.iter().rev().chain(self.sent.iter().rev());
        let store = older.into_iter().find(|o| o.writes() && o.touches(op))?;
        let covers = store.is_plain_store() && store.first <= op.first && op.last <= store.last;
        Some(if covers { Verdict::Forward(store.id) } else { Verdict::Hold })
    }

    /// Independent accesses overlap; nothing passes an acquire, and no load one
    /// of the same bytes that is atomic; a release, a fence and a sequentially
    /// consistent access wait for all before them.
    fn relaxed(&self, op: &IssueOp) -> Verdict {
        let waits_for_all = op.kind == IssueKind::Fence
            || op.order == Order::SeqCst
            || (op.kind != IssueKind::Load && op.order.releases());
        let blocked = self.sent.iter().any(|older| {
            waits_for_all
                || older.is_passed_by_nothing()
                || older.conflicts(op)
                || op.must_be_as_new_as(older)
        });
        if blocked { Verdict::Hold } else { Verdict::Send }
    }

    /// An operation that was sent is complete. Returns the buffered store that
    /// is to be sent now, if there is one.
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
    fn each_rule_lets_pass_what_its_model_lets_pass() {
        let (x, y) = (0, 8);
        let cases = [
            // rule, earlier, later, verdict
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
    fn a_load_that_reads_an_own_store_passes_no_acquire() {
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
