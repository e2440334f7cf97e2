//! The interface between a program and its driver (the program that executes its operations).

use core::future::Future;

use kernel::prelude::*;
use kernel::{Action, Addressing, Coords, OpId, Polled, Session, Space, WaveTask};
use proto::{AccessMode, ArrayId, KernelId, LineAddr, Rmw, Width};

/// Starts one wavefront of a kernel over two arrays. The operation that launches the kernel is not
/// complete.
fn start<F>(body: impl Fn(Wave, Array<u32>, Array<f64>) -> F + 'static) -> (Session, WaveTask)
where
    F: Future<Output = ()> + 'static,
{
    let program = Program::new("under-test", move |host| async move {
        let (a, b) = (host.alloc::<u32>("a", 1000), host.alloc::<f64>("b", 10));
        let kernel = Kernel::new("body", move |w| body(w, a, b)).uses([a.slice(10..50).read(), b.write()]);
        host.launch(kernel, Grid::new(2, 3).lds_bytes(256)).await;
        Answer::new().with("done", &[1u8])
    });
    let mut session = Session::new(program, Shape::default());
    let polled = session.poll_host();
    let launched = session.ops().posted().to_vec();
    assert_eq!(polled, Polled::Waiting(launched[0]));
    assert_eq!(session.ops().get(launched[0]).action, Action::Launch(KernelId(0)));
    session.ops().clear_posted();
    let at = Coords { work_group: 1, wave: 2, compute_unit: 3 };
    let task = session.spawn(KernelId(0), at);
    (session, task)
}

fn posted(session: &Session) -> Vec<OpId> {
    let mut ops = session.ops();
    let ids = ops.posted().to_vec();
    ops.clear_posted();
    ids
}

#[test]
fn a_launch_lists_its_arrays_in_lines() {
    let (session, _) = start(|_, _, _| async {});
    let launch = session.launch(KernelId(0));
    let (a, b) = (session.arrays()[0].clone(), session.arrays()[1].clone());
    assert_eq!((a.name.as_str(), a.len, a.bytes, a.word), ("a", 1000, 4000, "u32"));
    assert_eq!((launch.name.as_str(), launch.grid.waves), ("body", 3));
    assert_eq!(b.base.0 % kernel::ARRAY_ALIGN_BYTES, 0);
    assert!(b.base.0 >= a.base.0 + a.bytes);
    let uses: Vec<_> = launch.uses.iter().map(|u| (u.array, u.first, u.lines, u.mode)).collect();
    // Elements 10 to 49 are bytes 40 to 199: lines 0 to 3 of 64 bytes.
    let want_a = (a.id, LineAddr(a.base.0 / 64), 4, AccessMode::Read);
    let want_b = (b.id, LineAddr(b.base.0 / 64), 2, AccessMode::Write);
    assert_eq!(uses, [want_a, want_b]);
}

#[test]
fn an_array_may_start_right_after_another_one() {
    let program = Program::new("behind", |host| async move {
        let _ = host.alloc::<u32>("a", 3);
        let _ = host.alloc_behind::<u32>("b", 2);
        let _ = host.alloc::<u32>("c", 1);
        Answer::new()
    });
    let mut session = Session::new(program, Shape::default());
    let _ = session.poll_host();
    let bases: Vec<u64> = session.arrays().iter().map(|array| array.base.0 - kernel::FIRST_ADDR).collect();
    assert_eq!(bases, [0, 12, kernel::ARRAY_ALIGN_BYTES]);
}

#[test]
fn operations_posted_before_an_await_are_all_in_flight_in_program_order() {
    let line = line!() + 2;
    let (session, mut task) = start(|w, a, b| async move {
        let x = w.load(a, Unit(w.first_item() % 64 + 5));
        let y = w.when(Mask(0b110)).atomic_load(b, w.lane_id(), acquire(Level::Device).remote());
        let (x, y) = (x.await, y.await);
        w.store(w.lds::<u32>(128, 8), 3, x.get(1) + y.get(2) as u32);
    });
    let Polled::Waiting(first) = task.poll() else { panic!("expected to wait") };
    let ids = posted(&session);
    assert_eq!((ids.len(), ids[0]), (2, first));
    let base = session.arrays()[0].base.0;
    {
        let ops = session.ops();
        let (x, y) = (ops.get(ids[0]), ops.get(ids[1]));
        assert_eq!((x.action, x.space, x.width, x.exec), (Action::Load, Space::Global, Width::W4, Mask(!0)));
        assert_eq!((x.array, x.semantics, x.site.line()), (ArrayId(1), Semantics::PLAIN, line));
        assert!(matches!(x.addressing, Addressing::Unit(at) if at.0 == base + 20), "{:?}", x.addressing);
        assert_eq!(x.addr(63).0, base + 20 + 63 * 4);
        assert_eq!(
            (y.addressing, y.width, y.exec, y.site.line()),
            (Addressing::Gather, Width::W8, Mask(6), line + 1)
        );
        assert_eq!((y.semantics.order, y.semantics.level), (Order::Acquire, Level::Device));
        assert!(y.semantics.hints.remote && !y.semantics.hints.commutative);
        assert_eq!(y.addr(2).0, session.arrays()[1].base.0 + 16);
    }
    {
        // The second operation completes first. The wavefront still waits for the first operation.
        let mut ops = session.ops();
        ops.get_mut(ids[1]).set_value(2, 5f64.to_bits());
        ops.complete(ids[1]);
        ops.get_mut(ids[0]).set_value(1, 37);
        ops.complete(ids[0]);
    }
    assert_eq!(task.poll(), Polled::Ended);
    let last = posted(&session)[0];
    let ops = session.ops();
    let store = ops.get(last);
    assert_eq!((store.action, store.space, store.exec), (Action::Store, Space::Lds, Mask(1)));
    assert_eq!((store.addr(0).0, store.value(0)), (128 + 12, 42));
}

#[test]
fn arithmetic_is_charged_to_the_operation_it_precedes() {
    let (session, mut task) = start(|w, a, _| async move {
        let i = w.lane_id() * 2 + 1;
        let x = w.load(a, i).await;
        let y = x.to_f32().sqrt() / 3.0;
        let big = x.to_u64() + 1u64;
        w.store(a, i, y.to_u32());
        let _ = big.eq(7u64);
    });
    task.poll();
    let load = posted(&session)[0];
    let of = |id, class| session.ops().get(id).work.of(class);
    assert_eq!((of(load, Class::IntMul), of(load, Class::Int), of(load, Class::Convert)), (1, 1, 0));
    assert!(task.tail_work().is_zero());
    session.ops().complete(load);
    assert_eq!(task.poll(), Polled::Ended);
    let store = posted(&session)[0];
    assert_eq!((of(store, Class::FloatSqrt), of(store, Class::FloatDiv)), (1, 1));
    // There are three conversions. The addition on eight-byte lanes counts twice.
    assert_eq!((of(store, Class::Convert), of(store, Class::Int)), (3, 2));
    assert_eq!(task.tail_work().iter().collect::<Vec<_>>(), [(Class::Compare, 2)]);
}

#[test]
fn a_compare_exchange_has_an_expected_value_per_lane() {
    let (session, mut task) = start(|w, a, _| async move {
        let lanes = w.when(Mask(0b101));
        let id = w.lane_id();
        lanes.compare_exchange(a, id, id + 7, id + 9, relaxed(Level::WorkGroup)).await;
        w.update(a, 5, RmwKind::Xor, 3, relaxed(Level::Device)).await;
    });
    task.poll();
    let cas = posted(&session)[0];
    let expected = |lane: u64| {
        let kind = RmwKind::CompareExchange { expected: lane + 7 };
        Some(Rmw { kind, width: Width::W4, uses_value: true })
    };
    {
        let mut ops = session.ops();
        let op = ops.get(cas);
        assert_eq!((op.rmw(0), op.rmw(2), op.value(2)), (expected(0), expected(2), 11));
        assert!(op.reads() && op.is_access());
        ops.complete(cas);
    }
    task.poll();
    let update = posted(&session)[0];
    let ops = session.ops();
    assert!(!ops.get(update).reads());
    assert_eq!(ops.get(update).rmw(0).map(|r| r.kind), Some(RmwKind::Xor));
}

#[test]
fn operation_numbers_are_recycled() {
    let (session, mut task) = start(|w, a, _| async move {
        for i in 0..1000 {
            let x = w.load(a, i);
            w.store(a, Unit(0), w.lane_id());
            drop(w.load(a, 0));
            x.await;
        }
    });
    let before = session.ops().in_flight();
    let mut highest = 0;
    while task.poll() != Polled::Ended {
        let ids = posted(&session);
        let mut ops = session.ops();
        highest = ids.iter().map(|id| id.0).max().unwrap_or(0).max(highest);
        ids.into_iter().for_each(|id| ops.complete(id));
    }
    assert_eq!(session.ops().in_flight(), before);
    assert!(highest < 5, "operation {highest} was posted");
}

#[test]
fn results_are_zero_in_inactive_lanes() {
    for exec in [Mask(0b11_1111), Mask(0b1011_0000), Mask(!0), Mask(1 << 63)] {
        let (session, mut task) = start(move |w, a, _| async move {
            let loaded = w.when(exec).load(a, Unit(0)).await;
            let ones = Lanes::splat(!0u32);
            let old = w.when(exec).exchange(a, w.lane_id(), ones, relaxed(Level::Device)).await;
            w.store(a, Unit(0), loaded);
            w.store(a, Unit(0), old);
        });
        for _ in 0..2 {
            task.poll();
            let id = posted(&session)[0];
            let mut ops = session.ops();
            let op = ops.get_mut(id);
            op.exec.iter().for_each(|lane| op.set_value(lane, 7));
            ops.complete(id);
        }
        task.poll();
        for id in posted(&session) {
            for lane in 0..64 {
                let want = if exec.has(lane) { 7 } else { 0 };
                assert_eq!(session.ops().get(id).value(lane), want, "lane {lane} under {exec:?}");
            }
        }
    }
}

#[test]
fn the_answer_exists_after_the_host_has_ended() {
    let (mut session, _) = start(|_, _, _| async {});
    assert_eq!(session.answer(), None);
    let op = session.launch(KernelId(0)).op;
    session.ops().complete(op);
    assert_eq!(session.poll_host(), Polled::Ended);
    assert_eq!(session.answer().map(|a| a.expect("done", &[1u8])), Some(Ok(())));
    assert_eq!(session.poll_host(), Polled::Ended);
}

#[test]
#[should_panic(expected = "awaits a future that is not an operation of its handle")]
fn awaiting_another_future_panics() {
    let (_session, mut task) = start(|_, _, _| core::future::pending());
    task.poll();
}

#[test]
#[should_panic(expected = "is completed twice")]
fn completing_an_operation_twice_panics() {
    let (session, mut task) = start(|w, a, _| async move {
        w.load(a, 0).await;
    });
    task.poll();
    let id = posted(&session)[0];
    session.ops().complete(id);
    session.ops().complete(id);
}
