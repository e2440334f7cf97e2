//! Tests of the statistics of every protocol, on the bench (test machine) of the tests of Table 3
//! of the hLRC paper.
//!
//! If a count is missing, executions are still right, but reports are wrong. So these tests make
//! accesses whose correct counts are known for any protocol.

use super::bench::{Bench, ObservedStep, access};
use super::observe::{HERE, X};
use proto::{Level, LineAddr, Op, Order, Protocol, Request, Rmw, RmwKind, Slot, Spending, Width};
use zoo::Visit;

/// A line that does not hold the variable whose accesses Table 3 of the hLRC paper describes.
const DATA: LineAddr = LineAddr(2);
const THERE: u16 = 1;
const LEVELS: [Level; 3] = [Level::WorkGroup, Level::Device, Level::System];

fn update() -> Op {
    Op::Rmw(Rmw { kind: RmwKind::Add, width: Width::W4, uses_value: true })
}

fn atomic(line: LineAddr, op: Op, order: Order, level: Level) -> Request {
    let mut request = access(line, op, 1);
    (request.order, request.scope.level) = (order, level);
    request
}

/// Makes a request and returns all steps until the machine is quiet.
fn steps_of<P: Protocol>(bench: &mut Bench<P>, cu: u16, slot: Slot, request: &Request) -> Vec<ObservedStep> {
    let mut all = vec![bench.ask(cu, slot, request)];
    while let Some(step) = bench.next_step() {
        all.push(step);
    }
    assert!(bench.is_answered(slot), "{}: {request:?}", P::INFO.name);
    all
}

fn sum(steps: &[ObservedStep], level: &str, of: impl Fn(&proto::Uses) -> u32) -> u32 {
    steps.iter().filter(|step| step.level == level).map(|step| of(&step.uses)).sum()
}

fn for_all<V: Visit<Output = ()> + Copy>(visit: V) {
    for info in zoo::ALL {
        assert!(zoo::with(info.name, visit).is_some());
    }
}

/// No cache holds a word before its first access. So a first access that needs the value of the
/// word cannot be a hit.
#[test]
fn the_first_access_to_a_word_is_never_a_hit() {
    #[derive(Clone, Copy)]
    struct Cold;
    impl Visit for Cold {
        type Output = ();
        fn visit<P: Protocol>(self) {
            let name = P::INFO.name;
            for level in LEVELS {
                for (op, order) in [
                    (Op::Load, Order::Plain),
                    (Op::Load, Order::Acquire),
                    (update(), Order::Relaxed),
                    (update(), Order::AcqRel),
                ] {
                    let request = atomic(X, op, order, level);
                    let all = steps_of(&mut Bench::<P>::new(0), HERE, Slot(0), &request);
                    let of = |count: fn(&proto::Uses) -> u32| sum(&all, "l1", count);
                    assert_eq!(of(|u| u.accesses), 1, "{name}: {request:?}");
                    assert_eq!(of(|u| u.hits), 0, "{name}: {request:?}");
                    assert_eq!(of(|u| u.misses + u.bypasses), 1, "{name}: {request:?}");
                    let atomics = u32::from(order.is_atomic());
                    assert_eq!(of(|u| u.sync_accesses), atomics, "{name}: {request:?}");
                    assert_eq!(of(|u| u.sync_hits), 0, "{name}: {request:?}");
                }
            }
        }
    }
    for_all(Cold);
}

/// An atomic that takes a registration away from another cache counts as remote.
#[test]
fn an_atomic_to_a_line_registered_elsewhere_is_counted() {
    #[derive(Clone, Copy)]
    struct Taken;
    impl Visit for Taken {
        type Output = ();
        fn visit<P: Protocol>(self) {
            // At system scope all registrations are recalled first.
            for level in [Level::WorkGroup, Level::Device] {
                let mut bench = Bench::<P>::new(0);
                let own = atomic(X, update(), Order::AcqRel, Level::WorkGroup);
                let first = steps_of(&mut bench, THERE, Slot(0), &own);
                let is_registered = sum(&first, "l2", |uses| uses.lines_registered) > 0;
                let again = atomic(X, update(), Order::AcqRel, level);
                let second = steps_of(&mut bench, HERE, Slot(1), &again);
                let remote = sum(&second, "l2", |uses| uses.sync_remote);
                assert_eq!(remote, u32::from(is_registered), "{}: {level:?}", P::INFO.name);
            }
        }
    }
    for_all(Taken);
}

/// The time of a release that waits for a flush is attributed to the release. The time of an
/// acquire that waits for an invalidation of the L2 is attributed to the acquire.
#[test]
fn the_time_of_a_release_and_of_an_acquire_is_attributed() {
    #[derive(Clone, Copy)]
    struct Spent;
    impl Visit for Spent {
        type Output = ();
        fn visit<P: Protocol>(self) {
            let name = P::INFO.name;
            for (level, order, on) in [
                (Level::Device, Order::Release, Spending::Release),
                (Level::System, Order::Release, Spending::Release),
                (Level::System, Order::Acquire, Spending::Acquire),
            ] {
                let mut bench = Bench::<P>::new(0);
                bench.prepare(HERE, Slot(0), &access(DATA, Op::Store, 7));
                let op = if order == Order::Release { Op::Store } else { Op::Load };
                let all = steps_of(&mut bench, HERE, Slot(1), &atomic(X, op, order, level));
                let waits = match on {
                    Spending::Release => sum(&all, "l1", |uses| uses.flushes.total()) > 0,
                    _ => sum(&all, "l2", |uses| uses.invalidations.total()) > 0,
                };
                let is_attributed = all.iter().any(|step| step.spends.contains(&(Slot(1), on)));
                assert!(!waits || is_attributed, "{name}: {order:?} {level:?}");
                let is_access = all.iter().any(|step| step.spends.contains(&(Slot(1), Spending::Access)));
                let first = all.iter().flat_map(|step| &step.spends).find(|(slot, _)| *slot == Slot(1));
                let begins_with_access = first.is_none_or(|(_, on)| *on == Spending::Access);
                let has_access = begins_with_access || is_access;
                assert!(has_access, "{name}: {order:?} {level:?}: no time is attributed to the access");
            }
        }
    }
    for_all(Spent);
}
