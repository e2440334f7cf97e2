//! Tests of the attribution of cycles to causes, for invalidations, flushes, atomics and imbalance.

use kernel::prelude::*;
use sim::attribution::Cause;
use sim::{Outcome, RunOptions};
use zoo::no_l1::NoL1;
use zoo::vi::Vi;

use crate::common::*;

fn on_vi(name: &str, program: Program) -> Outcome {
    run(&system(name), program, &RunOptions::default()).unwrap()
}

/// The sum of the cycles that a run attributes to these causes.
fn sum(outcome: &Outcome, causes: &[Cause]) -> u64 {
    causes.iter().map(|cause| outcome.attribution.of(*cause)).sum()
}

const QUEUES: [Cause; 4] = [Cause::QueueL1, Cause::QueueNoc, Cause::QueueL2, Cause::QueueDram];

/// A program with one kernel of `groups` work-groups, each of one wavefront.
fn kernel<F: Future<Output = ()> + 'static>(
    groups: u32,
    body: impl Fn(Wave, Array<u32>) -> F + Clone + 'static,
) -> Program {
    Program::new("test", move |host| async move {
        let words = host.alloc::<u32>("words", 4096);
        let kernel = Kernel::new("test", move |w: Wave| body(w, words));
        host.launch(kernel, Grid::new(groups, 1)).await;
        Answer::new().with_array("words", &host, words).await
    })
}

#[test]
fn every_cycle_of_every_program_has_one_cause() {
    for name in ["hlrc-8cu", "stc-8cu", "titan-v"] {
        let programs: [fn() -> Program; 6] = [
            || vec_add(5000),
            || histogram(3000),
            || reduce(4000),
            || lock_counter(6, 3, Level::Device, Placement::Spread),
            || host_flag(2),
            || pipeline(3000),
        ];
        for program in programs {
            let system = system(name);
            for seed in [0, 9] {
                let options = RunOptions { seed, ..RunOptions::default() };
                let vi = run(&system, program(), &options).unwrap();
                let bare = sim::run::<NoL1, ()>(&system, program(), &options, &mut ()).unwrap();
                for outcome in [vi, bare] {
                    assert_eq!(outcome.attribution.total(), outcome.cycles);
                    assert_eq!(outcome.attribution.entries().values().sum::<u64>(), outcome.cycles);
                }
            }
        }
    }
}

#[test]
fn a_single_wavefront_waits_only_for_its_own_operations() {
    let program = kernel(1, |w, words| async move {
        for step in 0..20u64 {
            let sum = w.load(words, step * 64).await;
            w.store(words, step * 64, sum + 1).await;
        }
    });
    let outcome = on_vi("hlrc-8cu", program);
    let counters = &outcome.counters;
    assert_eq!(outcome.attribution.of(Cause::Compute), counters["simd_busy_cycles"]);
    assert_eq!(sum(&outcome, &[Cause::Issue, Cause::Barrier, Cause::Imbalance, Cause::Atomic]), 0);
    let waits = counters["load_wait_cycles"] + counters["store_wait_cycles"];
    assert!(waits > 0);
    assert_eq!(sum(&outcome, &[Cause::Load, Cause::Store]) + sum(&outcome, &QUEUES), waits);
}

#[test]
fn a_write_that_waits_for_its_epoch_counts_as_epoch() {
    let program = || {
        kernel(1, |w, words| async move {
            for step in 0..10u64 {
                w.store(words, step * 64, 1);
                w.fence(release(Level::Device)).await;
            }
        })
    };
    let machine = system("stc-8cu");
    let options = RunOptions::default();
    let stc = sim::run::<zoo::stc::StcNvRepaired, ()>(&machine, program(), &options, &mut ()).unwrap();
    let vi = run(&machine, program(), &options).unwrap();
    assert_eq!(sum(&vi, &[Cause::Epoch, Cause::Handshake]), 0);
    // All words are in one band of 16, so each write waits for most of a round of 16 epochs.
    let round = 16 * 100;
    // A handshake takes a part of each epoch.
    let handshakes = stc.attribution.of(Cause::Handshake);
    assert!((round / 2..3 * round).contains(&handshakes), "{handshakes}");
    let waited = stc.attribution.of(Cause::Epoch) + handshakes;
    assert!((9 * round / 2..10 * round * 3 / 2).contains(&waited), "{waited}");
    // The rest of the write is the access, as without epochs.
    let access = |outcome: &Outcome| sum(outcome, &[Cause::Store, Cause::Release, Cause::QueueNoc]);
    assert!(access(&stc) < 2 * access(&vi), "{} against {}", access(&stc), access(&vi));
}

#[test]
fn a_fence_that_waits_for_older_copies_counts_as_lease() {
    let program = || {
        kernel(2, |w, words| async move {
            let found = w.load(words, 0).await;
            w.store(words, 0, found + 1).await;
            w.fence(release(Level::Device)).await;
        })
    };
    let machine = system("stc-8cu");
    let options = RunOptions::default();
    let tc = sim::run::<zoo::tc::TcWeakRepaired, ()>(&machine, program(), &options, &mut ()).unwrap();
    let vi = run(&machine, program(), &options).unwrap();
    assert_eq!(vi.attribution.of(Cause::Lease), 0);
    // A lease has 800 ticks of one cycle. A part of this time passes before the fence.
    let waited = tc.attribution.of(Cause::Lease);
    assert!((400..800).contains(&waited), "{waited}");
}

#[test]
fn the_wait_for_an_unfinished_wavefront_is_imbalance() {
    let program = kernel(2, |w, words| async move {
        for step in 0..(w.work_group() * 50) {
            w.store(words, u64::from(step), step).await;
        }
    });
    let outcome = on_vi("hlrc-8cu", program);
    // One of the two wavefronts ends early, so its slot is idle for nearly the whole run.
    let busy = sum(&outcome, &[Cause::Compute, Cause::Store]) + sum(&outcome, &QUEUES);
    let idle = outcome.attribution.of(Cause::Imbalance);
    assert!(idle.abs_diff(busy) < 20, "{idle} idle, {busy} busy");
}

#[test]
fn the_scope_of_atomics_decides_which_cache_serves_them() {
    let updates = |scope| {
        kernel(1, move |w, words| async move {
            for _ in 0..10 {
                w.fetch_add(words, 0u64, 1, acq_rel(scope)).await;
            }
            w.store(words, 64u64, 1).await;
            w.fetch_add(words, 128u64, 1, acq_rel(scope)).await;
        })
    };
    let served = |outcome: &Outcome| {
        ["sync_accesses", "sync_l1_hits", "sync_l2_hits", "sync_remote_l1_hits", "sync_evictions"]
            .map(|name| outcome.counters[name])
    };
    let near = on_vi("hlrc-8cu", updates(Level::WorkGroup));
    assert_eq!(served(&near), [11, 9, 2, 0, 0]);
    let far = on_vi("hlrc-8cu", updates(Level::Device));
    assert_eq!(served(&far), [11, 0, 11, 0, 0]);
    assert_eq!(near.counters["atomic_line_bytes"], 2 * 64);

    // Acquires and releases cost cycles only if their scope is wider than a work-group.
    let orders = |outcome: &Outcome| {
        ["l1_invalidations.acquire", "l1_flushes.release", "l1_invalidations.remote", "l1_flushes.atomic_out"]
            .map(|name| outcome.counters[name])
    };
    assert_eq!(orders(&near), [0, 0, 0, 0]);
    assert_eq!(orders(&far), [11, 11, 0, 0]);
    let boundaries = |outcome: &Outcome| {
        ["l1_invalidations.kernel_start", "l1_flushes.kernel_end"].map(|name| outcome.counters[name])
    };
    assert_eq!(boundaries(&near), boundaries(&far));
    assert!(boundaries(&near)[0] >= 8);
    assert!(far.counters["acquire_wait_cycles"] > near.counters["acquire_wait_cycles"]);
}

#[test]
fn a_release_waits_for_the_stores_before_it() {
    let stores = |count: u64| {
        kernel(1, move |w, words| async move {
            for line in 0..count {
                w.store(words, line * 16, 1).await;
            }
            w.atomic_store(words, 4000u64, 1, release(Level::Device)).await;
        })
    };
    let [few, many] = [1, 40].map(|count| on_vi("hlrc-8cu", stores(count)));
    let releases = |outcome: &Outcome| outcome.counters["release_wait_cycles"];
    let access = |outcome: &Outcome| outcome.counters["atomic_store_wait_cycles"];
    assert!(releases(&many) > releases(&few));
    assert!(access(&many).abs_diff(access(&few)) < 40, "the access itself does not wait for the stores");
    // If stores leave the store buffer more slowly, the release takes longer.
    let mut slow = system("hlrc-8cu");
    slow.timers.drain_cycles = 16;
    let slow = run(&slow, stores(40), &RunOptions::default()).unwrap();
    assert!(releases(&slow) > releases(&many) + 300);
}

#[test]
fn the_attribution_is_deterministic() {
    let system = system("hlrc-8cu");
    let program = || lock_counter(8, 4, Level::Device, Placement::Spread);
    let once = || sim::run::<Vi, ()>(&system, program(), &RunOptions::default(), &mut ()).unwrap();
    assert_eq!(once().attribution, once().attribution);
}
