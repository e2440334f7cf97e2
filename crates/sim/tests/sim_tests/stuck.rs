//! Tests of runs that do not finish: they stop by themselves, with a diagnosis.

use kernel::prelude::*;
use sim::error::{Awaited, Cause, RunError, Stuck};
use sim::{DropMessage, RunOptions};

use crate::common::{run, system, vec_add};

fn impatient() -> RunOptions {
    RunOptions { patience_cycles: 3000, ..RunOptions::default() }
}

fn stuck(program: Program, options: &RunOptions) -> Stuck {
    match run(&system("hlrc-8cu"), program, options) {
        Err(RunError::Stuck(stuck)) => *stuck,
        other => panic!("expected a stuck run, found {other:?}"),
    }
}

/// A program with one kernel of `groups` work-groups of `waves` wavefronts, which share one flag.
fn with_flag<F>(groups: u32, waves: u32, body: impl Fn(Wave, Array<u32>) -> F + 'static) -> Program
where
    F: Future<Output = ()> + 'static,
{
    Program::new("with-flag", move |host| async move {
        let flag = host.alloc::<u32>("flag", 1);
        let kernel = Kernel::new("wait", move |w: Wave| body(w, flag));
        host.launch(kernel, Grid::new(groups, waves)).await;
        Answer::new()
    })
}

async fn spin(w: Wave, flag: Array<u32>) {
    while w.atomic_load(flag, 0u64, acquire(Level::Device)).await == 0 {}
}

#[test]
fn a_spin_on_a_flag_that_is_never_set_names_the_flag_and_its_value() {
    let found = stuck(with_flag(1, 1, spin), &impatient());
    assert!(matches!(found.cause, Cause::NoProgress { .. }), "{found}");
    let spins = |what: &Awaited| matches!(what, Awaited::Spins { what: "load", place, value: Some(0) } if place.contains("`flag[0]`"));
    assert!(found.waits.iter().any(|wait| spins(&wait.what)), "{found}");
    let text = found.to_string();
    assert!(text.contains("kernel `wait`, work-group 0, wavefront 0"), "{text}");
    assert!(text.contains("stuck.rs:"), "{text}");
    assert!(text.contains("waits for the end of kernel `wait`"), "{text}");
}

#[test]
fn a_spin_that_writes_unchanged_values_is_not_progress() {
    let program = with_flag(2, 1, |w, flag| async move {
        w.store(flag, 0u64, 1).await;
        while w.exchange(flag, 0u64, 1, relaxed(Level::Device)).await != 0 {
            w.store(flag, 0u64, 1).await;
        }
    });
    let found = stuck(program, &impatient());
    assert!(matches!(found.cause, Cause::NoProgress { .. }), "{found}");
}

#[test]
fn a_barrier_that_a_wavefront_skips_reports_arrived_and_ended_wavefronts() {
    let program = with_flag(1, 3, |w, _| async move {
        if w.index() != 1 {
            w.barrier().await;
        }
    });
    let found = stuck(program, &impatient());
    assert_eq!(found.cause, Cause::NothingMoves);
    let at_barrier = Awaited::Barrier { arrived: 2, ended: 1, waves: 3 };
    assert_eq!(found.waits.iter().filter(|wait| wait.what == at_barrier).count(), 2, "{found}");
    assert!(found.to_string().contains("of 3 wavefronts, 2 arrived and 1 ended without arriving"), "{found}");
}

#[test]
fn a_spin_on_a_work_group_without_room_reports_those_not_dispatched() {
    let full = system("hlrc-8cu").cu.wavefront_slots * 8;
    let program = with_flag(full + 5, 1, move |w, flag| async move {
        if w.work_group() < full {
            spin(w, flag).await;
        } else {
            w.atomic_store(flag, 0u64, 1, release(Level::Device)).await;
        }
    });
    let found = stuck(program, &impatient());
    assert!(matches!(found.cause, Cause::NoProgress { .. }));
    let text = found.to_string();
    assert!(text.contains(&format!("of {} work-groups, 5 not yet dispatched", full + 5)), "{text}");
    assert!(text.contains("not yet dispatched"), "{text}");
}

#[test]
fn a_dropped_reply_of_an_l2_is_reported_with_the_message_and_its_waiter() {
    let drop = Some(DropMessage { name: "Data".to_owned(), nth: 3 });
    let found = stuck(vec_add(1000), &RunOptions { drop, seed: 5, ..impatient() });
    assert_eq!(found.cause, Cause::NothingMoves);
    let text = found.to_string();
    assert!(text.contains("seed 5"), "{text}");
    assert!(text.contains("for the answer to its load"), "{text}");
    assert!(text.contains("waits for the fill of line"), "{text}");
    assert!(text.contains("Data, lost on purpose"), "{text}");
}

#[test]
fn a_message_that_is_never_sent_cannot_be_dropped() {
    let drop = |name: &str, nth| Some(DropMessage { name: name.to_owned(), nth });
    for (name, nth) in [("Nonsense", 1), ("Data", 1_000_000)] {
        let options = RunOptions { drop: drop(name, nth), ..RunOptions::default() };
        let error = run(&system("hlrc-8cu"), vec_add(100), &options).unwrap_err();
        assert!(matches!(error, RunError::NothingDropped { .. }), "{error}");
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn a_long_loop_without_stores_is_not_reported_as_a_spin() {
    let program = Program::new("long", |host| async move {
        let data = host.alloc::<u32>("data", 4096);
        let kernel = Kernel::new("sum", move |w: Wave| async move {
            let mut sum = 0;
            for i in 0..4096u64 {
                sum += w.load(data, i).await;
            }
            w.store(data, 0u64, sum).await;
        });
        host.launch(kernel, Grid::new(1, 1)).await;
        Answer::new().with_array("data", &host, data).await
    });
    let outcome = run(&system("hlrc-8cu"), program, &impatient()).unwrap();
    assert!(outcome.cycles > 10 * impatient().patience_cycles);
}

#[test]
fn a_small_patience_applies_as_soon_as_computation_ends() {
    let given_up = |system: &sim::config::System, program: Program| {
        let Err(RunError::Stuck(found)) = run(system, program, &impatient()) else { panic!("it spins") };
        let Cause::NoProgress { idle_cycles } = found.cause else { panic!("{found}") };
        assert!(idle_cycles > 2 * impatient().patience_cycles, "{found}");
        found.cycle
    };
    // The patience elapses twice: first without progress, then without a new operation.
    let twice = 2 * impatient().patience_cycles + 1000;
    let mut slow = system("hlrc-8cu");
    slow.launch.kernel_cycles = 100_000;
    assert!(given_up(&slow, with_flag(1, 1, spin)) < 100_000 + twice);
    let long_before = Program::new("long-before", |host| async move {
        let flag = host.alloc::<u32>("flag", 1);
        let work = Kernel::new("work", move |w: Wave| async move {
            kernel::charge(Class::FloatAdd, 25_000);
            w.store(flag, 0u64, 0).await;
        });
        host.launch(work, Grid::new(1, 1)).await;
        host.launch(Kernel::new("wait", move |w: Wave| spin(w, flag)), Grid::new(1, 1)).await;
        Answer::new()
    });
    assert!(given_up(&system("hlrc-8cu"), long_before) < 100_000 + 2 * 2500 + twice);
}

#[test]
fn a_long_computation_is_awaited_while_others_spin_and_a_spin_with_pauses_is_found() {
    let program = |sets: bool| {
        with_flag(2, 1, move |w, flag| async move {
            if w.work_group() == 0 && sets {
                kernel::charge(Class::FloatAdd, 10_000);
                w.atomic_store(flag, 0u64, 1, release(Level::Device)).await;
            }
            while w.atomic_load(flag, 0u64, acquire(Level::Device)).await == 0 {
                kernel::charge(Class::FloatAdd, 1250);
            }
        })
    };
    assert!(run(&system("hlrc-8cu"), program(true), &impatient()).is_ok());
    let found = stuck(program(false), &impatient());
    assert!(matches!(found.cause, Cause::NoProgress { .. }), "{found}");
}

#[test]
fn no_patience_is_too_small_for_a_program_that_makes_progress() {
    let nothing = RunOptions { patience_cycles: 1, ..RunOptions::default() };
    for name in ["hlrc-8cu", "hrf-8cu", "stc-8cu", "titan-v"] {
        run(&system(name), vec_add(2000), &nothing).unwrap();
        run(&system(name), crate::common::histogram(2000), &nothing).unwrap();
        run(&system(name), crate::common::host_flag(3), &nothing).unwrap();
    }
}

#[test]
fn a_run_longer_than_its_limit_is_stopped() {
    let options = RunOptions { cycles_max: Some(2500), ..RunOptions::default() };
    let found = stuck(vec_add(10_000), &options);
    assert!(matches!(found.cause, Cause::TooLong { cycles } if cycles > 2500));
}

#[test]
fn an_index_beyond_the_end_is_an_error_of_the_program() {
    let program = with_flag(1, 1, |w, flag| async move {
        w.store(flag, 7u64, 1).await;
    });
    let error = run(&system("hlrc-8cu"), program, &RunOptions::default()).unwrap_err();
    assert!(matches!(error, RunError::Fault(_)));
    assert!(error.to_string().contains("element 7 of `flag`"), "{error}");
}
