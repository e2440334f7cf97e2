//! If a program has an error, its run ends with this error. The error names the place in the
//! source.

use core::future::Future;

use kernel::prelude::*;
use kernel::reference::{self, Awaited, Options, RunError, Stuck, StuckCause};
use kernel::{FaultKind, Issuer};

/// The error of a program whose host launches one kernel over two arrays: `a` of 100 elements, and
/// `b` of 8 elements.
fn error_of<F>(grid: Grid, body: impl Fn(Wave, Array<u32>, Array<u32>) -> F + 'static) -> RunError
where
    F: Future<Output = ()> + 'static,
{
    let program = Program::new("under-test", move |host| async move {
        let (a, b) = (host.alloc::<u32>("a", 100), host.alloc::<u32>("b", 8));
        host.launch(Kernel::new("faulty", move |w| body(w, a, b)), grid).await;
        Answer::new()
    });
    error(program)
}

fn error(program: Program) -> RunError {
    let options = Options { idle_steps_max: 1000, ..Options::default() };
    match reference::run(program, &options) {
        Err(error) => error,
        Ok(outcome) => panic!("expected an error, found {outcome:?}"),
    }
}

fn fault(error: RunError) -> (Issuer, FaultKind, u32) {
    match error {
        RunError::Fault(fault) => (fault.issuer, fault.kind, fault.site.line()),
        RunError::Stuck(stuck) => panic!("expected a fault, found {stuck:?}"),
    }
}

fn stuck(error: RunError) -> Stuck {
    match error {
        RunError::Stuck(stuck) => *stuck,
        RunError::Fault(fault) => panic!("expected a stuck run, found {fault}"),
    }
}

fn beyond(array: &str, lane: usize, index: u64, len: u64) -> FaultKind {
    FaultKind::OutOfBounds { array: array.to_owned(), lane, index, len }
}

#[test]
fn an_index_beyond_the_end_names_array_kernel_lane_and_place() {
    let line = line!() + 2;
    let error = error_of(Grid::new(3, 2), |w, a, _| async move {
        w.load(a, Unit(w.first_item())).await;
    });
    let text = error.to_string();
    let (issuer, kind, at) = fault(error);
    assert_eq!(issuer, Issuer::Wave { kernel: "faulty".to_owned(), work_group: 0, wave: 1 });
    assert_eq!(kind, beyond("a", 36, 100, 100));
    assert_eq!(at, line);
    assert!(text.contains("lane 36 accesses element 100 of `a`, which has 100 elements"), "{text}");
}

#[test]
fn only_active_lanes_are_checked_and_the_lowest_is_named() {
    let kinds = [
        error_of(Grid::new(1, 1), |w, _, b| async move {
            let far = w.lane_id() * 3;
            w.below(0, 3).load(b, far).await;
            w.when(Mask(0b1010_0010)).store(b, far, far).await;
        }),
        error_of(Grid::new(1, 1), |w, _, b| async move {
            w.below(0, 8).load(b, Unit(0)).await;
            w.when(Mask(0b1001)).load(b, Unit(u64::MAX - 1)).await;
        }),
        error_of(Grid::new(1, 1), |w, _, b| async move {
            w.when(Mask::NONE).load(b, 999).await;
            w.when(Mask(0b1000)).fetch_add(b, 8, 1, relaxed(Level::Device)).await;
        }),
        error_of(Grid::new(1, 1), |w, a, _| async move {
            w.load(a.slice(10..20), 10).await;
        }),
        error_of(Grid::new(1, 1).lds_bytes(16), |w, _, _| async move {
            w.load(w.lds::<u32>(0, 4), 4).await;
        }),
    ];
    let found: Vec<_> = kinds.into_iter().map(|e| fault(e).1).collect();
    let want = [
        beyond("b", 5, 15, 8),
        beyond("b", 0, u64::MAX - 1, 8),
        beyond("b", 3, 8, 8),
        beyond("a", 0, 10, 10),
        beyond("the local memory", 0, 4, 4),
    ];
    assert_eq!(found, want);
}

#[test]
fn a_fault_ends_the_run_even_if_the_access_is_not_awaited() {
    let (_, kind, _) = fault(error_of(Grid::new(1, 1), |w, _, b| async move {
        w.store(b, 8, 1);
        w.store(b, 9, 1);
    }));
    assert_eq!(kind, beyond("b", 0, 8, 8));
}

#[test]
fn a_kernel_can_end_the_run_with_a_message() {
    let error = error_of(Grid::new(1, 1), |w, _, _| async move {
        w.fail("queue 3 is full: 64 tasks").await;
    });
    assert!(error.to_string().ends_with("work-group 0, wavefront 0: queue 3 is full: 64 tasks"), "{error}");
}

#[test]
fn local_memory_beyond_the_size_in_the_grid_is_refused() {
    let (_, kind, _) = fault(error_of(Grid::new(1, 1).lds_bytes(16), |w, _, _| async move {
        w.store(w.lds::<u32>(4, 4), 0, 1).await;
    }));
    let array = "the local memory".to_owned();
    assert_eq!(kind, FaultKind::BadSlice { array, first: 4, count: 16, len: 16 });
}

#[test]
fn a_work_group_larger_than_a_compute_unit_is_refused() {
    for (grid, what, needs, has) in [
        (Grid::new(1, 9), "wavefronts", 9, 8),
        (Grid::new(1, 1).lds_bytes(40_000), "bytes of local memory", 40_000, 32_768),
    ] {
        let (issuer, kind, _) = fault(error_of(grid, |_, _, _| async {}));
        assert_eq!(issuer, Issuer::Host { program: "under-test".to_owned() });
        assert_eq!(kind, FaultKind::DoesNotFit { kernel: "faulty".to_owned(), what, needs, has });
    }
}

#[test]
fn errors_of_the_host_are_faults() {
    let too_long = Program::new("under-test", |host| async move {
        let a = host.alloc::<u32>("a", 2);
        host.write(a, &[1, 2, 3]).await;
        Answer::new()
    });
    let array = "a".to_owned();
    assert_eq!(fault(error(too_long)).1, FaultKind::BadSlice { array, first: 0, count: 3, len: 2 });
    let too_large = Program::new("under-test", |host| async move {
        let _ = host.alloc::<u64>("a", u64::MAX / 4);
        host.fence(Order::SeqCst).await;
        Answer::new()
    });
    assert_eq!(fault(error(too_large)).1, FaultKind::TooMany { what: "bytes of memory", max: 1 << 48 });
    let beyond_the_end = Program::new("under-test", |host| async move {
        let a = host.alloc::<u32>("a", 2);
        host.load(a, 2).await;
        Answer::new()
    });
    assert_eq!(fault(error(beyond_the_end)).1, beyond("a", 0, 2, 2));
}

#[test]
fn an_endless_spin_is_reported_with_its_place() {
    let line = line!() + 2;
    let error = error_of(Grid::new(1, 1), |w, a, _| async move {
        while w.atomic_load(a, 0, acquire(Level::Device)).await == 0 {}
    });
    let text = error.to_string();
    let stuck = stuck(error);
    assert_eq!(stuck.cause, StuckCause::NoProgress { steps: 1001 });
    let waits: Vec<_> = stuck.waits.iter().map(|w| w.what.clone()).collect();
    assert_eq!(waits, [Awaited::Kernel("faulty".to_owned()), Awaited::Spins]);
    assert_eq!(stuck.waits[1].site.line(), line);
    assert!(text.contains("kernel `faulty`, work-group 0, wavefront 0 runs without progress"), "{text}");
}

#[test]
fn a_barrier_skipped_by_one_wavefront_is_reported() {
    let stuck = stuck(error_of(Grid::new(1, 3), |w, _, _| async move {
        if w.index() != 1 {
            w.barrier().await;
        }
    }));
    assert_eq!(stuck.cause, StuckCause::Deadlock);
    let barrier = Awaited::Barrier { arrived: 2, ended: 1, waves: 3 };
    let waits: Vec<_> = stuck.waits.into_iter().map(|w| w.what).collect();
    assert_eq!(waits, [Awaited::Kernel("faulty".to_owned()), barrier.clone(), barrier]);
}

#[test]
fn a_spin_on_an_undispatched_work_group_is_reported() {
    let stuck = stuck(error_of(Grid::new(17, 1), |w, a, _| async move {
        if w.work_group() == w.work_groups() - 1 {
            w.atomic_store(a, 0, 1, release(Level::Device)).await;
        }
        while w.atomic_load(a, 0, acquire(Level::Device)).await == 0 {}
    }));
    assert_eq!(stuck.undispatched, [("faulty".to_owned(), 1)]);
    assert_eq!(stuck.waits.len(), 17);
}

#[test]
fn a_run_that_exceeds_its_operations_ends() {
    let program = Program::new("flicker", |host| async move {
        let a = host.alloc::<u32>("a", 1);
        loop {
            host.rmw(a, 0, RmwKind::Add, 1, Order::Relaxed).await;
        }
    });
    let options = Options { idle_steps_max: 100, steps_max: 5000, ..Options::default() };
    let cause = reference::run(program, &options).err().map(|e| stuck(e).cause);
    assert_eq!(cause, Some(StuckCause::TooLong { steps: 5001 }));
}
