//! Tests of timed runs of a protocol whose stores wait for the next epoch (a time in which the
//! protocol allows writes to a group of addresses).

#[path = "../../../explore/tests/explore_tests/epochs/toy.rs"]
mod toy;

use proto::Condition;
use sim::RunOptions;
use sim::probe::{Layout, Probe};
use toy::{forgetful::Forgetful, sound::Epochs};

use crate::common::{system, vec_add, vec_add_answer};

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

/// A probe that records each new condition of the epoch management unit, with the cycle at which
/// the condition begins. A timeline draws these conditions.
#[derive(Default)]
struct Seen {
    emu: Option<u32>,
    now: Vec<Condition>,
    begun: Vec<(u64, String)>,
}

impl Probe for Seen {
    fn begin(&mut self, layout: &Layout) {
        self.emu = layout.stations.iter().position(|name| name == "EMU[0]").map(|at| at as u32);
    }
    fn draws(&self) -> bool {
        true
    }
    fn conditions(&mut self, now: u64, station: u32, conditions: Vec<Condition>) {
        if Some(station) != self.emu {
            return assert_eq!(conditions, []);
        }
        let new = conditions.iter().filter(|condition| !self.now.contains(condition));
        self.begun.extend(new.map(|condition| (now, format!("{}: {}", condition.track, condition.text))));
        self.now = conditions;
    }
}

#[test]
fn a_time_line_shows_each_epoch_and_each_change() {
    let mut seen = Seen::default();
    let machine = system("stc-8cu");
    let options = RunOptions::default();
    sim::run::<zoo::stc::StcNvRepaired, _>(&machine, vec_add(256), &options, &mut seen).unwrap();
    let [first, prepare, change, second] = seen.begun.first_chunk().expect("an epoch takes 100 cycles");
    assert_eq!(*first, (0, "epochs: epoch 0; bands of 64 lines".to_owned()));
    assert_eq!(*prepare, (100, "change: writes are completed".to_owned()));
    assert_eq!(change.1, "change: compute units change");
    assert_eq!(second.1, "epochs: epoch 1; bands of 64 lines");
    assert!(100 < change.0 && change.0 == second.0 && second.0 < 200, "{second:?}");
}
