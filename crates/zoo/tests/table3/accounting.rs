//! What every protocol must tell statistics: driven on the bench of Table 3.
//!
//! A controller that forgets to count is not wrong, only what is said of it. So
//! it is asked things of which the right count is known whatever the protocol.

use crate::bench::{Bench, Seen, access};
use crate::observe::{HERE, X};
use proto::{Level, LineAddr, Op, Order, Protocol, Request, Rmw, RmwKind, Slot, Spending, Width};
use zoo::Visit;

/// A line beside that of the variable.
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

/// Every step that a request sets off, until all is at rest.
fn seen<P: Protocol>(bench: &mut Bench<P>, cu: u16, slot: Slot, request: &Request) -> Vec<Seen> {
    let mut all = vec![bench.ask(cu, slot, request)];
    while let Some(seen) = bench.go_on() {
        all.push(seen);
    }
    assert!(bench.is_answered(slot), "{}: {request:?}", P::INFO.name);
    all
}

fn sum(seen: &[Seen], level: &str, of: impl Fn(&proto::Uses) -> u32) -> u32 {
    seen.iter().filter(|seen| seen.level == level).map(|seen| of(&seen.uses)).sum()
}

fn for_all<V: Visit<Output = ()> + Copy>(visit: V) {
    for info in zoo::ALL {
        assert!(zoo::with(info.name, visit).is_some());
    }
}

/// A word that nobody has asked for is nowhere near: an access that needs its
/// value sends for it, and that is no hit.
#[test]
fn what_is_asked_for_first_is_never_a_hit() {
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
                    let all = seen(&mut Bench::<P>::new(0), HERE, Slot(0), &request);
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

/// What takes a registration away from another cache has found the line there.
#[test]
fn an_atomic_that_finds_its_line_registered_elsewhere_is_counted() {
    #[derive(Clone, Copy)]
    struct Taken;
    impl Visit for Taken {
        type Output = ();
        fn visit<P: Protocol>(self) {
            // At system scope all registrations are recalled first.
            for level in [Level::WorkGroup, Level::Device] {
                let mut bench = Bench::<P>::new(0);
                let own = atomic(X, update(), Order::AcqRel, Level::WorkGroup);
                let first = seen(&mut bench, THERE, Slot(0), &own);
                let is_registered = sum(&first, "l2", |uses| uses.lines_registered) > 0;
                let second = seen(&mut bench, HERE, Slot(1), &atomic(X, update(), Order::AcqRel, level));
                let found = sum(&second, "l2", |uses| uses.sync_remote);
                assert_eq!(found, u32::from(is_registered), "{}: {level:?}", P::INFO.name);
            }
        }
    }
    for_all(Taken);
}

/// A release that waits for a flush says so, and an acquire that waits for an
/// invalidation of the L2.
#[test]
fn what_a_request_waits_for_beside_its_access_is_told() {
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
                let all = seen(&mut bench, HERE, Slot(1), &atomic(X, op, order, level));
                let waits = match on {
                    Spending::Release => sum(&all, "l1", |uses| uses.flushes.total()) > 0,
                    _ => sum(&all, "l2", |uses| uses.invalidations.total()) > 0,
                };
                let is_told = all.iter().any(|seen| seen.spends.contains(&(Slot(1), on)));
                assert!(!waits || is_told, "{name}: {order:?} {level:?}");
                let is_access = all.iter().any(|seen| seen.spends.contains(&(Slot(1), Spending::Access)));
                let first = all.iter().flat_map(|seen| &seen.spends).find(|(slot, _)| *slot == Slot(1));
                let began = first.is_none_or(|(_, on)| *on == Spending::Access);
                assert!(began || is_access, "{name}: {order:?} {level:?}: its access is never told");
            }
        }
    }
    for_all(Spent);
}
