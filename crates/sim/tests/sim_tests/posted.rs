//! Posted stores (`cu.posted_stores`): a wavefront continues while its stores are outstanding.

use kernel::prelude::*;
use sim::attribution::Cause;
use sim::{Outcome, RunOptions};
use zoo::stc::StcEsRepaired;

use crate::common::*;

/// The number of times that a test program repeats its operations, such as a store to a word.
const STORES: u64 = 12;

/// The run of a program under a protocol that answers a store when the L2 has performed it. In this
/// protocol, a word may be written only in the epoch of its addresses. That epoch stays granted
/// after the first store, because no other epoch is demanded.
fn on_l2(posted: u32, program: Program) -> Outcome {
    let mut system = system("stc-8cu");
    system.cu.posted_stores = posted;
    sim::run::<StcEsRepaired, ()>(&system, program, &RunOptions::default(), &mut ()).unwrap()
}

/// A program with one wavefront that calls `one` `STORES` times. It awaits the operation of each
/// call before the next call.
fn one_after_the_other<F: Future<Output = ()> + 'static>(
    one: impl Fn(Wave, Array<u32>, u64) -> F + Clone + 'static,
) -> Program {
    Program::new("posted", move |host| async move {
        let words = host.alloc::<u32>("words", STORES * 64);
        let kernel = Kernel::new("posted", move |w: Wave| {
            let one = one.clone();
            async move {
                w.leader().store(words, 32, 7).await;
                w.fence(release(Level::Device)).await;
                for step in 0..STORES {
                    one(w.clone(), words, step).await;
                }
            }
        });
        host.launch(kernel, Grid::new(1, 1)).await;
        Answer::new().with_array("words", &host, words).await
    })
}

fn stores() -> Program {
    one_after_the_other(|w, words, step| async move { w.leader().store(words, step * 64, 7).await })
}

#[test]
fn a_wavefront_continues_with_up_to_so_many_stores() {
    let [waits, four, all] = [0, 4, 15].map(|posted| on_l2(posted, stores()));
    // The L2 answers 160 cycles after the issue of a store.
    let round_trips = |outcome: &Outcome| (outcome.cycles - all.cycles) / 160;
    assert_eq!(round_trips(&waits), STORES - 1, "{} against {}", waits.cycles, all.cycles);
    // With four outstanding stores, the fifth one is awaited until it is complete. Meanwhile the
    // four stores before it complete.
    assert_eq!(round_trips(&four), STORES / 5, "{} against {}", four.cycles, all.cycles);
    for outcome in [waits, four, all] {
        let right: Vec<u32> = (0..STORES * 64).map(|i| if i % 64 == 0 || i == 32 { 7 } else { 0 }).collect();
        outcome.answer.expect("words", &right).unwrap();
    }
}

#[test]
fn an_atomic_is_posted_only_if_it_has_no_result() {
    let add = || {
        one_after_the_other(|w, words, step| async move {
            w.leader().update(words, step * 64, RmwKind::Add, 1, relaxed(Level::Device)).await;
        })
    };
    let fetch = || {
        one_after_the_other(|w, words, step| async move {
            w.leader().fetch_add(words, step * 64, 1, relaxed(Level::Device)).await;
        })
    };
    assert!(on_l2(15, add()).cycles + 10 * 160 < on_l2(0, add()).cycles);
    // The first store is posted.
    let (posted, waits) = (on_l2(15, fetch()).cycles, on_l2(0, fetch()).cycles);
    assert!(posted.abs_diff(waits) <= 1, "{posted} and {waits}");
}

#[test]
fn a_release_waits_for_posted_stores() {
    let released = |is_posted: u32| {
        on_l2(
            is_posted,
            one_after_the_other(|w, words, step| async move {
                w.leader().store(words, step * 64, 7).await;
                w.fence(release(Level::Device)).await;
            }),
        )
    };
    let (posted, waits) = (released(15), released(0));
    // The fence issues while the store is outstanding, so the fence takes one
    // cycle less.
    assert_eq!(waits.cycles - posted.cycles, STORES + 1);
}

#[test]
fn a_wait_for_a_load_is_not_the_wait_of_a_store_that_completes_meanwhile() {
    let program = || {
        one_after_the_other(|w, words, step| async move {
            let w = w.leader();
            w.store(words, step * 64, 7).await;
            let _old = w.load(words, step * 64 + 32).await;
        })
    };
    let outcome = on_l2(15, program());
    let (load, store) = (outcome.attribution.of(Cause::Load), outcome.attribution.of(Cause::Store));
    assert!(load > 100 * STORES && store < 200, "{load} cycles of loads, {store} cycles of stores");
}
