//! Tests of timed runs of a protocol whose stores wait for the next epoch.

mod common;
#[path = "../../explore/tests/epochs/toy.rs"]
mod toy;
#[path = "../../explore/tests/toys/mod.rs"]
mod toys;

use common::{system, vec_add, vec_add_answer};
use sim::RunOptions;
use toy::{forgetful::Forgetful, sound::Epochs};

#[test]
fn a_store_waits_for_the_epoch_and_the_run_ends_despite_a_periodic_timer() {
    let mut system = system("hrf-8cu");
    let mut cycles = |epoch_cycles| {
        system.timers.epoch_cycles = epoch_cycles;
        let run = sim::run::<Epochs, ()>(&system, vec_add(256), &RunOptions::default(), &mut ());
        let outcome = run.expect("it ends");
        outcome.answer.expect("c", &vec_add_answer(256)).expect("the sums");
        outcome.cycles
    };
    let (short, long) = (cycles(100), cycles(100_000));
    assert!(long > 100_000 && short < long, "{short} and {long} cycles");
}

#[test]
fn a_store_that_waits_for_a_missing_epoch_is_reported_as_stuck() {
    let options = RunOptions { patience_cycles: 100_000, ..RunOptions::default() };
    let run = sim::run::<Forgetful, ()>(&system("hrf-8cu"), vec_add(256), &options, &mut ());
    assert!(run.is_err(), "the stores are never performed");
}
