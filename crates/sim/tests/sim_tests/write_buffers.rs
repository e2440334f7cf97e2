//! Cores with a write buffer: a wavefront continues after its stores, up to the number of entries of
//! the buffer, and loads wait only for stores of the same bytes.

use kernel::charge;
use kernel::prelude::*;
use sim::config::IssueRule::{self, InOrder, Rmo, RmoFifo, ScWriteBuffer, Tso, TsoForwarding};
use sim::{Outcome, RunOptions};
use zoo::no_l1::NoL1;

use crate::common::*;

/// An access with this order and scope is complete when memory has performed it.
const SYSTEM: Semantics = relaxed(Level::System);

/// A number of cycles that a round trip to memory exceeds.
const CLEARLY: u64 = 30;

/// The run of a program on cores with this issue rule.
fn on(rule: IssueRule, entries: Option<u32>, program: Program) -> Outcome {
    let mut system = system("hlrc-8cu");
    system.issue_rule = rule;
    system.cu.write_buffer_entries = entries;
    assert_eq!(system.problems(), []);
    sim::run::<NoL1, ()>(&system, program, &RunOptions::default(), &mut ()).unwrap()
}

/// A program of one wavefront. It loads three words, so that each of their lines has been read once,
/// and then calls `code` with the array of the words. The answer has the words and the value that
/// `code` returns.
fn warm<F: Future<Output = u32> + 'static>(
    code: impl Fn(Wave, Array<u32>) -> F + Clone + 'static,
) -> Program {
    Program::new("write-buffer", move |host| async move {
        let (words, seen) = (host.alloc::<u32>("words", 1000), host.alloc::<u32>("seen", 1));
        let kernel = Kernel::new("write-buffer", move |w: Wave| {
            let code = code.clone();
            async move {
                for word in [0, FAR / 2, FAR] {
                    w.leader().load(words, word).await;
                }
                let value = code(w.clone(), words).await;
                w.leader().store(seen, 0, value).await;
            }
        });
        host.launch(kernel, Grid::new(1, 1)).await;
        Answer::new().with_array("words", &host, words).await.with_array("seen", &host, seen).await
    })
}

/// A word in another line than word 0.
const FAR: u64 = 640;

fn expect(outcome: &Outcome, stored: &[(u64, u32)], seen: u32) {
    let value = |word| stored.iter().find(|(other, _)| *other == word).map_or(0, |(_, value)| *value);
    let words: Vec<u32> = (0..1000).map(value).collect();
    outcome.answer.expect("words", &words).unwrap();
    outcome.answer.expect("seen", &[seen]).unwrap();
}

/// Stores to so many words, each of them awaited, and then much arithmetic.
fn stores_and_arithmetic(stores: u64) -> Program {
    warm(move |w, words| async move {
        for word in 0..stores {
            w.leader().atomic_store(words, word, 7, SYSTEM).await;
        }
        charge(Class::Int, 1000);
        0
    })
}

#[test]
fn an_isolated_store_does_not_stall_its_wavefront() {
    let cycles = |rule, stores| on(rule, None, stores_and_arithmetic(stores)).cycles;
    let waits = cycles(InOrder, 1) - cycles(InOrder, 0);
    assert!(waits > CLEARLY, "{waits}");
    for rule in [ScWriteBuffer, Tso, TsoForwarding, Rmo, RmoFifo] {
        let (none, one) = (cycles(rule, 0), cycles(rule, 1));
        // The store takes its issue cycle, and the choice of its lane takes a few cycles.
        assert!(one < none + CLEARLY, "{rule:?}: {none} and {one}");
        expect(&on(rule, None, stores_and_arithmetic(1)), &[(0, 7)], 0);
    }
}

#[test]
fn a_full_write_buffer_holds_the_next_store() {
    for rule in [ScWriteBuffer, Tso, Rmo, RmoFifo] {
        let cycles = |entries| on(rule, entries, stores_and_arithmetic(4)).cycles;
        let (perfect, four, two, one) = (cycles(None), cycles(Some(4)), cycles(Some(2)), cycles(Some(1)));
        assert_eq!(four, perfect, "{rule:?}");
        assert!(perfect + CLEARLY < two, "{rule:?}: {perfect} and {two}");
        assert!(two + CLEARLY < one, "{rule:?}: {two} and {one}");
    }
}

/// A store of two lanes to word 0 and to word `FAR`, and then a load of `word`.
fn scattered_store_and_load(word: u64) -> Program {
    warm(move |w, words| async move {
        let two = w.when(Mask(3));
        let ends = Lanes::from_fn(|lane| if lane == 0 { 0 } else { FAR as u32 });
        let stored = two.atomic_store(words, ends, Lanes::from_fn(|lane| 5 + lane as u32), SYSTEM);
        let value = w.leader().atomic_load(words, word, SYSTEM).await;
        stored.await;
        value
    })
}

#[test]
fn a_scattered_store_does_not_hold_a_load_between_its_lanes() {
    let stored = [(0, 5), (FAR, 6)];
    for rule in [Tso, Rmo, RmoFifo] {
        let between = on(rule, None, scattered_store_and_load(FAR / 2));
        let shared = on(rule, None, scattered_store_and_load(FAR));
        expect(&between, &stored, 0);
        expect(&shared, &stored, 6);
        assert!(
            between.cycles + CLEARLY < shared.cycles,
            "{rule:?}: {} and {}",
            between.cycles,
            shared.cycles
        );
    }
}

#[test]
fn a_core_with_relaxed_order_runs_past_a_load_that_waits_for_its_own_store() {
    let program = || {
        warm(|w, words| async move {
            let w = w.leader();
            let stored = w.atomic_store(words, 0, 3, SYSTEM);
            let (own, other) = (w.atomic_load(words, 0, SYSTEM), w.atomic_load(words, FAR, SYSTEM));
            let value = own.await + other.await;
            stored.await;
            value
        })
    };
    let [tso, rmo] = [Tso, Rmo].map(|rule| on(rule, None, program()));
    expect(&tso, &[(0, 3)], 3);
    expect(&rmo, &[(0, 3)], 3);
    assert!(rmo.cycles + CLEARLY < tso.cycles, "{} and {}", rmo.cycles, tso.cycles);
}

#[test]
fn stores_to_local_memory_keep_their_place_among_buffered_stores() {
    for rule in [ScWriteBuffer, Tso, TsoForwarding, Rmo, RmoFifo] {
        let program = Program::new("local", |host| async move {
            let (word, seen) = (host.alloc::<u32>("word", 1), host.alloc::<u32>("seen", 1));
            let kernel = Kernel::new("local", move |w: Wave| async move {
                let (local, w) = (w.lds::<u32>(0, 2), w.leader());
                w.atomic_store(word, 0, 1, SYSTEM).await;
                w.store(local, 0, 4).await;
                w.store(local, 0, 9).await;
                let value = w.load(local, 0).await;
                w.fence(release(Level::Device)).await;
                w.store(seen, 0, value).await;
            });
            host.launch(kernel, Grid::new(1, 1).lds_bytes(8)).await;
            Answer::new().with_array("word", &host, word).await.with_array("seen", &host, seen).await
        });
        let outcome = on(rule, None, program);
        outcome.answer.expect("word", &[1u32]).unwrap();
        outcome.answer.expect("seen", &[9u32]).unwrap();
    }
}
