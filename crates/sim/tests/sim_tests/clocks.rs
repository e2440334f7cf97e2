//! Tests of timed runs of protocols with clocks.

#[path = "../../../explore/tests/explore_tests/clocks/lease.rs"]
#[allow(dead_code, reason = "the simulator runs some of the toys")]
mod lease;
#[path = "../../../explore/tests/explore_tests/clocks/stamp.rs"]
#[allow(dead_code, reason = "the simulator runs some of the toys")]
mod stamp;

use kernel::prelude::*;
use lease::{keeping_long::LongKeeps, long::LongLease, sleeping::NoDeadline, tagging_long::LongTags};
use proto::Protocol;
use sim::config::System;
use sim::{Outcome, RunOptions};
use stamp::{absolute::Absolute, four_bits::FourBits};

use crate::common::{system, vec_add, vec_add_answer};

fn cycles<P: Protocol>(tick_cycles: u32) -> u64 {
    let mut system = system("hrf-8cu");
    system.timers.tick_cycles = tick_cycles;
    let run = sim::run::<P, ()>(&system, vec_add(256), &RunOptions::default(), &mut ());
    let outcome: Outcome = run.expect("it ends");
    outcome.answer.expect("c", &vec_add_answer(256)).expect("the sums");
    outcome.cycles
}

#[test]
fn stamps_of_four_bits_roll_over_in_a_run() {
    assert!(cycles::<FourBits>(1) > 0 && cycles::<Absolute>(1) > 0);
}

/// A program in which one wavefront repeats a load and a store of a word for which its cache has a
/// lease (a time for which the cache may keep the line).
fn overwrite(times: u32) -> Program {
    Program::new("overwrite", move |host| async move {
        let a = host.alloc::<u32>("a", 4);
        host.write(a, &[1, 2, 3, 4]).await;
        let read = Kernel::new("read", move |w: Wave| async move {
            let w = w.below(w.first_item(), 4);
            for _ in 0..times {
                w.load(a, Unit(0)).await;
                w.store(a, Unit(0), Lanes::from_fn(|lane| lane as u32 + 5)).await;
            }
        });
        host.launch(read, Grid::new(1, 1)).await;
        Answer::new().with_array("a", &host, a).await
    })
}

#[test]
fn a_write_waits_for_a_lease_until_its_deadline() {
    let options = RunOptions { patience_cycles: 5_000, ..RunOptions::default() };
    let cycles = |tick_cycles, times| {
        let mut system = system("hrf-8cu");
        system.timers.tick_cycles = tick_cycles;
        let run = sim::run::<LongLease, ()>(&system, overwrite(times), &options, &mut ());
        let outcome = run.expect("the patience covers any deadline");
        outcome.answer.expect("a", &[5u32, 6, 7, 8]).expect("what was written");
        outcome.cycles
    };
    let (short, long) = (cycles(1, 1), cycles(100, 1));
    // The lease begins when the request goes to memory, and lasts 200 ticks.
    assert!(short < 5_000 && (19_000..25_000).contains(&long), "{short} and {long} cycles");
    // The second lease has a deadline of its own.
    let twice = cycles(100, 2);
    assert!((39_000..46_000).contains(&twice), "{twice} cycles");
    let mut system = system("hrf-8cu");
    system.timers.tick_cycles = 1000;
    let run = sim::run::<NoDeadline, ()>(&system, overwrite(1), &options, &mut ());
    assert!(run.is_err(), "the write is never performed");
}

/// A program in which one wavefront loads 32 lines at once, makes an integer addition, and stores
/// the sum to the last of these lines. The setting `int_cycles` is the time of the addition.
fn overwrite_last() -> Program {
    const LINES: u32 = 32;
    const WORDS: u32 = 16;
    Program::new("overwrite-last", |host| async move {
        let a = host.alloc::<u32>("a", u64::from(LINES * WORDS));
        host.write(a, &[0; (LINES * WORDS) as usize]).await;
        let kernel = Kernel::new("overwrite-last", move |w: Wave| async move {
            let lines = w.below(0, u64::from(LINES));
            let found =
                lines.load(a, Lanes::from_fn(|lane| lane as u32 * WORDS)).await + Lanes::from_fn(|_| 1);
            let last = w.below(0, 1);
            last.store(a, Lanes::from_fn(|_| (LINES - 1) * WORDS), found).await;
        });
        host.launch(kernel, Grid::new(1, 1)).await;
        Answer::new()
    })
}

/// A message may arrive in the cycle of a deadline, before the event of the deadline. The step of the
/// message then serves the deadline, and may set the next one.
#[test]
fn a_deadline_that_another_input_meets_is_followed_by_the_next_one() {
    // With these delays, the store arrives at the bank while the leases end, one tick after the other.
    for delay in 580..604 {
        let mut system = system("hrf-8cu");
        (system.l2.banks, system.timers.tick_cycles, system.vector_ops.int_cycles) = (1, 4, delay);
        let run = sim::run::<LongLease, ()>(&system, overwrite_last(), &RunOptions::default(), &mut ());
        run.expect("the store is performed when the lease of its line ends");
    }
}

/// The number of requests that a cache sends while its wavefront repeats one load.
fn fetches<P: Protocol>(loads: u32, change: impl Fn(&mut System)) -> u64 {
    let mut system = system("hrf-8cu");
    change(&mut system);
    let program = Program::new("again", move |host| async move {
        let a = host.alloc::<u32>("a", 1);
        host.write(a, &[7]).await;
        let kernel = Kernel::new("again", move |w: Wave| async move {
            let w = w.below(w.first_item(), 1);
            for _ in 0..loads {
                w.load(a, Unit(0)).await;
            }
        });
        host.launch(kernel, Grid::new(1, 1)).await;
        Answer::new().with_array("a", &host, a).await
    });
    let run = sim::run::<P, ()>(&system, program, &RunOptions::default(), &mut ());
    run.expect("it ends").counters["messages.Get"]
}

#[test]
fn the_transit_time_of_an_answer_shortens_its_lease() {
    let hops = |cycles| move |system: &mut System| system.noc.hop_latency_cycles = cycles;
    let (near, far) = (fetches::<LongLease>(1000, hops(1)), fetches::<LongLease>(1000, hops(12)));
    let (near_kept, far_kept) = (fetches::<LongKeeps>(1000, hops(1)), fetches::<LongKeeps>(1000, hops(12)));
    assert!(far > near && near > near_kept, "{near}, {far}, {near_kept}, {far_kept}");
    assert!(
        far_kept <= near_kept,
        "a lease that does not age does not depend on the distance: {near_kept}, {far_kept}"
    );
}

#[test]
fn a_lease_runs_during_the_access_to_memory() {
    let slow = |system: &mut System| {
        (system.dram.row_hit_cycles, system.dram.row_miss_cycles) = (1000, 1000);
    };
    // The lease of 200 ticks has already expired when the line arrives, so the second load misses.
    assert_eq!((fetches::<LongLease>(2, slow), fetches::<LongTags>(2, slow)), (2, 1));
}
