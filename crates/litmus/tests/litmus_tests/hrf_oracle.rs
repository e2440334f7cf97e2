//! Compares the engine for the HRF models with the definitions of the HRF paper, applied to every
//! linearisation (total order of all steps) of a program.

use std::collections::BTreeSet;

use litmus::hrf::{self, Conflicting, Model, Options, Reading, RelaxedAs, SyncOrder};

use crate::common::oracle::{Site, oracle_result};
use crate::common::random::{Features, Rng, program};
use crate::common::show;

fn sites(pair: &Conflicting) -> (Site, Site) {
    let a = (pair.first.thread.0, pair.first.pc);
    let b = (pair.second.thread.0, pair.second.pc);
    (a.min(b), a.max(b))
}

fn readings() -> Vec<Reading> {
    let mut all = Vec::new();
    for model in Model::ALL {
        for so in [SyncOrder::AnyLocation, SyncOrder::SameLocation] {
            for inclusion in [false, true] {
                all.push(Reading { model, so, inclusion, relaxed_as: Some(RelaxedAs::Sync) });
            }
        }
    }
    all
}

/// Compares the engine with the definitions on random programs. Returns the number of race-free
/// programs in which synchronization orders conflicting data accesses.
fn compare(seed: u64, count: usize, features: Features) -> usize {
    let mut rng = Rng(seed);
    let readings = readings();
    let (mut compared, mut synchronized) = (0, 0);
    for n in 0..count {
        let program = program(&mut rng, features);
        for k in 0..3 {
            let mut reading = readings[(n * 3 + k * 5) % readings.len()];
            if n % 5 == 4 {
                reading = reading.relaxed_as([RelaxedAs::Data, RelaxedAs::AcqRel][n % 2]);
            }
            let Some(expected) = oracle_result(&program, reading, 3000) else { continue };
            compared += 1;
            let mut options = Options::new(reading);
            if n % 4 == 1 {
                options.remembered_max = n % 8;
            }
            let verdict = hrf::check(&program, &options).unwrap();
            let races: BTreeSet<_> = verdict.races.iter().map(|race| sites(&race.pair)).collect();
            let ordered: BTreeSet<_> = verdict.ordered.iter().map(sites).collect();
            assert_eq!(verdict.states, expected.finals, "outcomes under {reading:?} of {}", show(&program));
            assert_eq!(races, expected.races, "races under {reading:?} of {}", show(&program));
            assert_eq!(ordered, expected.ordered, "ordered pairs under {reading:?} of {}", show(&program));
            synchronized += usize::from(expected.races.is_empty() && verdict.orders_data());
        }
    }
    assert!(compared > count, "only {compared} comparisons of {count} programs");
    synchronized
}

const PLAIN: Features = Features {
    threads: 2,
    ops: 3,
    locations: 2,
    fences: false,
    barriers: false,
    spins: false,
    named: false,
    relaxed: false,
};

#[test]
fn two_threads_have_the_races_and_outcomes_of_the_definitions() {
    assert!(compare(1, 3000, PLAIN) > 0);
}

#[test]
fn three_threads_have_the_races_and_outcomes_of_the_definitions() {
    let features = Features { threads: 3, ops: 2, named: true, ..PLAIN };
    assert!(compare(2, 2000, features) > 0);
}

#[test]
fn four_threads_have_the_races_and_outcomes_of_the_definitions() {
    compare(3, 800, Features { threads: 4, ops: 1, named: true, ..PLAIN });
}

#[test]
fn fences_and_relaxed_atomics_have_the_races_and_outcomes_of_the_definitions() {
    let features = Features { fences: true, relaxed: true, locations: 3, ..PLAIN };
    compare(4, 1500, features);
}

#[test]
fn barriers_have_the_races_and_outcomes_of_the_definitions() {
    let features = Features { barriers: true, fences: true, ..PLAIN };
    compare(5, 1500, features);
    compare(6, 500, Features { threads: 3, ops: 2, ..features });
}

#[test]
fn spinning_threads_have_the_races_and_outcomes_of_the_definitions() {
    compare(7, 1500, Features { spins: true, ..PLAIN });
}
