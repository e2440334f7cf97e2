//! Checks that workloads run to the right answer in the scenarios of the hLRC paper, and that
//! remote operations reach the right caches.

use lab::experiment::{Experiment, Question};
use lab::systems::Systems;
use lab::{Record, Scenario};

fn run(system: &str, scenario: &str, workload: &str, settings: &[(&str, &str)], seed: u64) -> Record {
    let question = Question {
        system: system.to_owned(),
        scenario: scenario.to_owned(),
        workload: workload.to_owned(),
        settings: settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        seed,
        ..Question::default()
    };
    let experiment = Experiment::new(&Systems::with_folder("none"), &question).expect("a sound question");
    let record = lab::run::run(&experiment, &mut ()).expect("a machine that can be built");
    assert!(record.answer_ok, "{workload} under {scenario}, seed {seed}: {:?}", record.error);
    record
}

#[test]
fn every_scenario_gives_the_right_answer_whatever_the_seed() {
    let small = [("vertices", "1k"), ("edges", "4000"), ("chunk", "8"), ("sweeps", "3")];
    let ends = |scenario: &&Scenario| !crate::suite::may_starve(scenario.name);
    for scenario in Scenario::all().iter().filter(|s| s.stealing.is_some()).filter(ends) {
        for workload in ["sssp", "color", "pagerank"] {
            for seed in 0..3 {
                run("hlrc-8cu", scenario.name, workload, &small, seed);
            }
        }
    }
}

/// Tests the behaviour that the claims `hlrc.fig5.rsp-remote-inval` and
/// `hlrc.fig6.rsp-remote-flush` describe.
#[test]
fn a_broadcast_reaches_every_l1_except_the_requester() {
    for (system, others) in [("hlrc-8cu", 7), ("hlrc-128cu", 127)] {
        let settings = [("vertices", "4k"), ("edges", "8000"), ("chunk", "8"), ("sweeps", "1")];
        let record = run(system, "rsp", "sssp", &settings, 0);
        let of = |name: &str| record.counters[name];
        let (flushes, invalidations) = (of("l1_flush_broadcasts"), of("l1_invalidation_broadcasts"));
        let locks = of("l1_lock_broadcasts");
        assert!(locks > 0, "{system}: somebody steals");
        assert_eq!(of("l1_flushes.remote"), others * flushes, "{system}");
        assert_eq!(of("l1_invalidations.remote"), others * invalidations, "{system}");
        assert_eq!(of("l1_locks"), others * locks, "{system}");
        assert_eq!(of("messages.UnlockL1"), others * locks, "{system}");
        // A thief loads (a4) and updates (a20 and a23, a21 and a24), and never stores.
        assert_eq!(invalidations, 2 * locks, "{system}");
        assert!(flushes > 2 * locks, "{system}");
    }
}
