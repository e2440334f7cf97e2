//! Tests of the issue rules.

use super::*;

use IssueKind::{Fence, Load, Rmw, Store};
use IssueRule::{Gpu, InOrder, RmoFifo, RmoForwarding, ScWriteBuffer, Tso, TsoForwarding};
use Order::{Acquire, Plain, Relaxed, Release, SeqCst};
use Verdict::{Forward, Hold, Keep, Send};

fn op(id: u32, kind: IssueKind, order: Order, first: u64) -> IssueOp {
    IssueOp { id: IssueId(id), kind, order, first, last: first + 3 }
}

fn verdict(rule: IssueRule, first: IssueOp, second: IssueOp) -> Verdict {
    let mut issue = Issue::new(rule);
    assert_eq!(issue.offer(first, |_| true), Send);
    issue.offer(second, |_| true)
}

#[test]
fn each_rule_allows_the_overlaps_of_its_model() {
    let (x, y) = (0, 8);
    let cases = [
        // Each entry: rule, earlier operation, later operation, verdict about the later one.
        (InOrder, op(0, Load, Plain, x), op(1, Load, Plain, y), Hold),
        (Gpu, op(0, Load, Plain, x), op(1, Load, Plain, y), Send),
        (Gpu, op(0, Load, Plain, x), op(1, Store, Plain, x), Hold),
        (Gpu, op(0, Load, Plain, x), op(1, Load, Plain, x), Send),
        (Gpu, op(0, Load, Plain, x), op(1, Load, Relaxed, x), Send),
        (Gpu, op(0, Load, Relaxed, x), op(1, Load, Relaxed, y), Send),
        (Gpu, op(0, Load, Relaxed, x), op(1, Load, Relaxed, x), Hold),
        (Gpu, op(0, Load, Relaxed, x), op(1, Load, Plain, x + 2), Hold),
        (RmoForwarding, op(0, Load, Relaxed, x), op(1, Load, Plain, x), Hold),
        (Gpu, op(0, Load, Acquire, x), op(1, Load, Plain, y), Hold),
        (Gpu, op(0, Load, Plain, x), op(1, Store, Release, y), Hold),
        (Gpu, op(0, Store, Release, x), op(1, Load, Plain, y), Send),
        (Gpu, op(0, Store, SeqCst, x), op(1, Load, SeqCst, y), Hold),
        (Gpu, op(0, Rmw, Relaxed, x), op(1, Fence, Acquire, y), Hold),
        (ScWriteBuffer, op(0, Store, Plain, x), op(1, Load, Plain, y), Hold),
        (ScWriteBuffer, op(0, Store, Plain, x), op(1, Store, Plain, y), Keep),
        (ScWriteBuffer, op(0, Load, Plain, x), op(1, Store, Plain, y), Hold),
        (TsoForwarding, op(0, Store, Plain, x), op(1, Load, Plain, y), Send),
        (TsoForwarding, op(0, Store, Plain, x), op(1, Load, Plain, x), Forward(IssueId(0))),
        (TsoForwarding, op(0, Store, Plain, x), op(1, Load, Plain, x + 2), Hold),
        (TsoForwarding, op(0, Store, Plain, x), op(1, Load, Acquire, x), Hold),
        (TsoForwarding, op(0, Store, Plain, x), op(1, Store, Plain, y), Keep),
        (TsoForwarding, op(0, Store, Plain, x), op(1, Fence, SeqCst, y), Hold),
        (RmoForwarding, op(0, Store, Plain, x), op(1, Load, Plain, x), Forward(IssueId(0))),
        (RmoForwarding, op(0, Store, Plain, x), op(1, Store, Plain, y), Send),
    ];
    for (rule, first, second, want) in cases {
        assert_eq!(verdict(rule, first, second), want, "{rule:?}: {first:?} then {second:?}");
    }
}

/// The verdicts of the cores of Hechtman's thesis, 3.3, about an operation behind one other
/// operation.
#[test]
fn the_cores_of_the_thesis_let_these_operations_overlap() {
    let rules = [ScWriteBuffer, Tso, IssueRule::Rmo, RmoFifo];
    let (x, y) = (0, 8);
    let cases = [
        // Each entry: earlier operation, later operation, verdicts of the rules about the later one.
        ((Load, Plain, x), (Load, Plain, y), [Hold, Hold, Send, Send]),
        ((Load, Plain, x), (Load, Plain, x), [Hold, Hold, Send, Send]),
        ((Load, Plain, x), (Store, Plain, y), [Hold, Hold, Send, Send]),
        ((Load, Plain, x), (Store, Plain, x), [Hold, Hold, Keep, Keep]),
        ((Load, Plain, x), (Rmw, Relaxed, y), [Hold, Hold, Send, Send]),
        ((Store, Plain, x), (Load, Plain, y), [Hold, Send, Send, Send]),
        ((Store, Plain, x), (Load, Plain, x), [Hold, Hold, Keep, Keep]),
        ((Store, Plain, x), (Load, Plain, x + 2), [Hold, Hold, Keep, Keep]),
        ((Store, Plain, x), (Store, Plain, y), [Keep, Keep, Send, Keep]),
        ((Store, Plain, x), (Store, Plain, x), [Keep; 4]),
        ((Store, Plain, x), (Rmw, Relaxed, y), [Hold, Hold, Send, Send]),
        ((Store, Plain, x), (Rmw, Relaxed, x), [Hold, Hold, Keep, Keep]),
        ((Rmw, Relaxed, x), (Load, Plain, y), [Hold, Hold, Send, Send]),
        ((Rmw, Relaxed, x), (Store, Plain, y), [Hold, Hold, Send, Send]),
        ((Rmw, Relaxed, x), (Load, Plain, x), [Hold, Hold, Keep, Keep]),
        ((Load, Acquire, x), (Load, Plain, y), [Hold; 4]),
        ((Load, Acquire, x), (Store, Plain, y), [Hold; 4]),
        ((Store, Plain, x), (Load, Acquire, y), [Hold, Send, Send, Send]),
        ((Store, Plain, x), (Store, Release, y), [Keep, Keep, Hold, Hold]),
        ((Load, Plain, x), (Store, Release, y), [Hold; 4]),
        ((Store, Release, x), (Load, Plain, y), [Hold, Send, Send, Send]),
        ((Store, SeqCst, x), (Load, Plain, y), [Hold; 4]),
        ((Store, Plain, x), (Store, SeqCst, y), [Hold; 4]),
        ((Store, Plain, x), (Load, SeqCst, y), [Hold; 4]),
        ((Store, Plain, x), (Fence, Release, y), [Hold; 4]),
        ((Load, Plain, x), (Fence, Acquire, y), [Hold; 4]),
        ((Fence, SeqCst, x), (Load, Plain, y), [Hold; 4]),
        ((Fence, SeqCst, x), (Store, Plain, y), [Hold; 4]),
    ];
    for (first, second, want) in cases {
        let [first, second] =
            [(0, first), (1, second)].map(|(id, (kind, order, at))| op(id, kind, order, at));
        let found = rules.map(|rule| verdict(rule, first, second));
        assert_eq!(found, want, "{first:?} then {second:?}");
    }
}

#[test]
fn an_operation_passes_an_older_one_in_whose_gap_it_lies() {
    for (rule, apart, shared) in [(Tso, Send, Hold), (IssueRule::Rmo, Send, Keep), (RmoFifo, Send, Keep)] {
        for (meets, want) in [(false, apart), (true, shared)] {
            let mut issue = Issue::new(rule);
            let scattered = IssueOp { last: 100, ..op(0, Store, Plain, 0) };
            assert_eq!(issue.offer(scattered, |_| true), Send);
            assert_eq!(issue.offer(op(1, Load, Plain, 8), |_| meets), want, "{rule:?}");
        }
    }
    // The other rules compare the ranges.
    let mut issue = Issue::new(Gpu);
    assert_eq!(issue.offer(IssueOp { last: 100, ..op(0, Store, Plain, 0) }, |_| false), Send);
    assert_eq!(issue.offer(op(1, Load, Plain, 8), |_| false), Hold);
}

#[test]
fn a_load_from_an_own_store_passes_no_acquire() {
    let mut issue = Issue::new(RmoForwarding);
    assert_eq!(issue.offer(op(0, Store, Relaxed, 0), |_| true), Send);
    assert_eq!(issue.offer(op(1, Load, Acquire, 8), |_| true), Send);
    assert_eq!(issue.offer(op(2, Load, Relaxed, 0), |_| true), Hold);
    assert!(issue.completed(IssueId(1)).is_empty());
    assert_eq!(issue.offer(op(2, Load, Relaxed, 0), |_| true), Forward(IssueId(0)));
}

#[test]
fn buffered_stores_leave_one_by_one_in_program_order() {
    for rule in [ScWriteBuffer, Tso, TsoForwarding, RmoFifo] {
        let mut issue = Issue::new(rule);
        for id in 0..3 {
            issue.offer(op(id, Store, Plain, u64::from(id) * 8), |_| true);
        }
        assert_eq!(issue.completed(IssueId(0)).as_slice(), [IssueId(1)]);
        assert_eq!(issue.completed(IssueId(1)).as_slice(), [IssueId(2)]);
        assert!(issue.completed(IssueId(2)).is_empty());
        assert!(issue.is_idle());
    }
}

#[test]
fn a_core_with_relaxed_order_runs_past_accesses_that_wait_for_the_same_bytes() {
    let mut issue = Issue::new(IssueRule::Rmo);
    assert_eq!(issue.offer(op(0, Store, Plain, 0), |_| true), Send);
    assert_eq!(issue.offer(op(1, Load, Plain, 0), |_| true), Keep);
    assert_eq!(issue.offer(op(2, Load, Plain, 0), |_| true), Keep);
    assert_eq!(issue.offer(op(3, Store, Plain, 0), |_| true), Keep);
    assert_eq!(issue.offer(op(4, Load, Plain, 8), |_| true), Send);
    assert_eq!(issue.completed(IssueId(0)).as_slice(), [IssueId(1), IssueId(2)]);
    assert!(issue.completed(IssueId(1)).is_empty());
    assert_eq!(issue.completed(IssueId(2)).as_slice(), [IssueId(3)]);
    // A kept acquire stops the core like one that is sent.
    assert_eq!(issue.offer(op(5, Load, Acquire, 0), |_| true), Keep);
    assert_eq!(issue.offer(op(6, Load, Plain, 16), |_| true), Hold);
}

#[test]
fn a_full_write_buffer_holds_the_next_store() {
    for rule in [ScWriteBuffer, Tso, TsoForwarding, IssueRule::Rmo, RmoFifo, RmoForwarding] {
        let mut issue = Issue::with_buffer(rule, 2);
        for id in 0..2 {
            assert_ne!(issue.offer(op(id, Store, Plain, u64::from(id) * 8), |_| true), Hold, "{rule:?}");
        }
        assert_eq!(issue.offer(op(2, Store, Plain, 16), |_| true), Hold, "{rule:?}");
        if rule != ScWriteBuffer {
            assert_eq!(issue.offer(op(3, Load, Plain, 24), |_| true), Send, "{rule:?}");
            issue.completed(IssueId(3));
        }
        issue.completed(IssueId(0));
        assert_ne!(issue.offer(op(2, Store, Plain, 16), |_| true), Hold, "{rule:?}");
    }
    // A core without a write buffer ignores the number of entries.
    let mut issue = Issue::with_buffer(Gpu, 1);
    assert_eq!(issue.offer(op(0, Store, Plain, 0), |_| true), Send);
    assert_eq!(issue.offer(op(1, Store, Plain, 8), |_| true), Send);
}

/// A sequence of pseudo-random numbers.
struct Draws(u64);

impl Draws {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// An operation with the set of the bytes that it accesses, as bits.
#[derive(Clone, Copy, Debug)]
struct Access {
    op: IssueOp,
    bytes: u32,
}

impl Access {
    fn draw(draws: &mut Draws, id: u32) -> Access {
        let kind = [Load, Load, Store, Store, Store, Rmw, Fence][draws.below(7) as usize];
        let orders = [Plain, Plain, Plain, Plain, Relaxed, Relaxed, Acquire, Release, SeqCst];
        let order = orders[draws.below(9) as usize];
        let lanes = draws.below(3) + 1;
        let bytes = (0..lanes).fold(0u32, |bytes, _| bytes | 3 << (2 * draws.below(12)));
        let (first, last) = (u64::from(bytes.trailing_zeros()), u64::from(bytes.ilog2()));
        Access { op: IssueOp { id: IssueId(id), kind, order, first, last }, bytes }
    }

    /// Whether two accesses share a byte, and one of them writes.
    fn conflicts(&self, other: &Access) -> bool {
        let kinds = [self.op.kind, other.op.kind];
        let writes = kinds.iter().any(|kind| matches!(kind, Store | Rmw));
        !kinds.contains(&Fence) && writes && self.bytes & other.bytes != 0
    }
}

/// Offers random operations to a rule, and lets them complete in a random order. Checks that no
/// operation is sent before an older operation that it conflicts with is complete.
fn offer_at_random(rule: IssueRule, seed: u64) {
    let mut draws = Draws(seed);
    let mut issue = Issue::new(rule);
    // The operations that are not complete, in program order, each with whether it is sent.
    let mut under_way: Vec<(Access, bool)> = Vec::new();
    let mut next = Access::draw(&mut draws, 0);
    for id in 1..400 {
        let sharers: Vec<IssueId> = under_way
            .iter()
            .filter(|(older, _)| older.bytes & next.bytes != 0)
            .map(|(a, _)| a.op.id)
            .collect();
        let verdict = issue.offer(next.op, |older| sharers.contains(&older));
        let conflict = under_way.iter().any(|(older, _)| older.conflicts(&next));
        match verdict {
            Send => {
                assert!(!conflict, "{rule:?}, seed {seed}: {next:?} passes one of {under_way:?}");
                under_way.push((next, true));
            }
            Keep => under_way.push((next, false)),
            Hold | Forward(_) => {}
        }
        // A plain access waits for nothing but the bytes that it shares and the order of stores.
        let is_plain = |access: &Access| access.op.order == Plain && access.op.kind != Fence;
        if is_plain(&next) && under_way.iter().all(|(older, _)| is_plain(older)) {
            match rule {
                IssueRule::Rmo => assert_eq!(verdict, if conflict { Keep } else { Send }, "{next:?}"),
                Tso if next.op.kind == Load => {
                    let loads = under_way.iter().any(|(a, _)| a.op.kind != Store && a.op.id != next.op.id);
                    assert_eq!(verdict, if conflict || loads { Hold } else { Send }, "{next:?}");
                }
                _ => {}
            }
        }
        if verdict != Hold {
            next = Access::draw(&mut draws, id);
        }
        if verdict == Hold || draws.below(2) == 0 {
            complete_one(&mut issue, &mut under_way, &mut draws);
        }
    }
    while !under_way.is_empty() {
        complete_one(&mut issue, &mut under_way, &mut draws);
    }
    assert!(issue.is_idle());
}

/// Completes one of the sent operations. Checks the operations that are then sent.
fn complete_one(issue: &mut Issue, under_way: &mut Vec<(Access, bool)>, draws: &mut Draws) {
    let sent: Vec<usize> = (0..under_way.len()).filter(|&at| under_way[at].1).collect();
    if under_way.is_empty() {
        return;
    }
    let (done, _) = under_way.remove(sent[draws.below(sent.len() as u64) as usize]);
    for id in issue.completed(done.op.id) {
        let at = under_way.iter().position(|(access, _)| access.op.id == id).expect("it is kept");
        assert!(!under_way[at].1, "{id:?} is sent twice");
        under_way[at].1 = true;
        let kept = under_way[at].0;
        let older = under_way[..at].iter().find(|(older, _)| older.conflicts(&kept));
        assert!(older.is_none(), "{kept:?} passes {older:?}");
    }
}

#[test]
fn accesses_of_the_same_bytes_are_sent_in_program_order() {
    use crate::Symbol as _;
    for &rule in IssueRule::ALL {
        for seed in 0..200 {
            offer_at_random(rule, seed);
        }
    }
}
