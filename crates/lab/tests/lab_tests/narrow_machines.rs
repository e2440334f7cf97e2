//! Checks that a machine with very little of a resource (such as miss registers) never gets stuck
//! and gives no wrong answer.

use std::path::Path;

use lab::experiment::{Experiment, Question};
use lab::systems::{Systems, parse};
use sim::config::System;

const TEXT: &str = include_str!("../../../../systems/hrf-8cu.toml");

fn run(system: &System, few: &str, protocol: &str, workload: &str, settings: &[(&str, &str)]) {
    let question = Question {
        system: "hrf-8cu".to_owned(),
        scenario: protocol.to_owned(),
        workload: workload.to_owned(),
        settings: settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        ..Question::default()
    };
    let mut experiment = Experiment::new(&Systems::with_folder("none"), &question).expect("a sound question");
    experiment.system = system.clone();
    let record = lab::run::run(&experiment, &mut ()).expect("a machine that can be built");
    assert!(record.answer_ok, "few {few}, {workload} under {protocol}: {:?}", record.error);
}

/// The machines to test. Each entry has the name of the scarce resource, and the machine that has
/// very little of it.
fn shortages() -> Vec<(&'static str, System)> {
    let wide: System = parse(Path::new("hrf-8cu.toml"), TEXT).expect("a sound machine");
    let with = |change: fn(&mut System)| {
        let mut narrow = wide.clone();
        change(&mut narrow);
        assert_eq!(narrow.problems(), []);
        narrow
    };
    vec![
        ("L1 miss registers", with(|s| s.l1.miss_registers = 1)),
        ("L2 miss registers", with(|s| s.l2.miss_registers = 1)),
        ("store buffer entries", with(|s| (s.l1.store_buffer_entries, s.l2.store_buffer_entries) = (1, 1))),
        ("L1 lines", with(|s| (s.l1.bytes, s.l1.ways) = (128, 1))),
        ("L2 lines", with(|s| (s.l2.bytes, s.l2.ways) = (2048, 1))),
        ("L2 banks", with(|s| s.l2.banks = 1)),
        ("wavefront slots", with(|s| (s.cu.wavefront_slots, s.cu.work_group_slots) = (4, 1))),
    ]
}

#[test]
fn no_shortage_makes_a_run_stuck_or_wrong() {
    for protocol in ["vi", "no-l1"] {
        for (workload, settings) in [
            ("pagerank-push", &[("vertices", "1k"), ("edges", "16000")][..]),
            ("histogram", &[("n", "8k"), ("bins", "1k")][..]),
            ("fg-share", &[("work-groups", "8"), ("words", "64")][..]),
        ] {
            for (what, narrow) in shortages() {
                run(&narrow, what, protocol, workload, settings);
            }
        }
    }
}
