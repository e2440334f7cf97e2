//! Checks that the results of runs are identical to the bit: on every computer, and beside other
//! runs on the same computer.
//!
//! `FENCEPOST_BLESS=1 cargo test --test lab_tests golden` rewrites the table of expected results after
//! a change that is meant to change results.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use lab::Record;
use lab::experiment::{Experiment, Question};
use lab::systems::Systems;

const SYSTEMS: [&str; 5] = ["hlrc-8cu", "hlrc-128cu", "hrf-8cu", "stc-8cu", "titan-v"];

/// Workloads with settings that are so small that all runs together take a fraction of a second.
const WORKLOADS: [(&str, &str); 9] = [
    ("vec-copy", "n=4k"),
    ("vec-add", "n=4k"),
    ("cache-reuse", "n=2k"),
    ("reduce", "n=8k"),
    ("histogram", "n=2k"),
    ("pagerank-push", "vertices=256 edges=1k"),
    ("message-passing", "words=64 rounds=2"),
    ("lock-counter", "increments=4"),
    ("fg-share", "work-groups=8 words=32"),
];

fn run(system: &str, scenario: &str, workload: &str, settings: &str, seed: u64) -> Record {
    let setting = |text: &str| {
        let (name, value) = text.split_once('=').expect("name=value");
        (name.to_owned(), value.to_owned())
    };
    let question = Question {
        system: system.to_owned(),
        scenario: scenario.to_owned(),
        workload: workload.to_owned(),
        settings: settings.split_whitespace().map(setting).collect(),
        seed,
        ..Question::default()
    };
    let experiment = Experiment::new(&Systems::with_folder("none"), &question).expect("a sound question");
    lab::run::run(&experiment, &mut ()).expect("a machine that can be built")
}

fn line(record: &Record) -> String {
    format!(
        "{:<11} {:<6} {:<15} {:>4} {:>9} {:>9} {:>9} {:>15.3} {}",
        record.system,
        record.protocol,
        record.workload,
        record.seed,
        record.cycles,
        record.traffic_bytes(),
        record.counters.get("l1_hits").copied().unwrap_or(0),
        record.energy_total_pj(),
        record.error.as_deref().map_or("right", |error| error.lines().next().unwrap_or("")),
    )
}

#[test]
fn every_run_gives_the_recorded_result() {
    let mut table = String::from(
        "# system, protocol, workload, seed, cycles, traffic bytes, L1 hits, energy pJ, answer\n",
    );
    for system in SYSTEMS {
        for protocol in ["vi", "no-l1"] {
            for (workload, settings) in WORKLOADS {
                for seed in [0, 1] {
                    let record = run(system, protocol, workload, settings, seed);
                    writeln!(table, "{}", line(&record)).expect("memory suffices");
                }
            }
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/runs.txt");
    if std::env::var_os("FENCEPOST_BLESS").is_some() {
        fs::write(&path, &table).expect("the table can be written");
    }
    let golden = fs::read_to_string(&path).expect("the table is there");
    for (found, expected) in table.lines().zip(golden.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(table.lines().count(), golden.lines().count());
}

#[test]
fn a_run_gives_the_same_record_beside_others() {
    let ask = || run("hlrc-8cu", "vi", "histogram", "n=2k", 5);
    let alone = ask();
    assert!(alone.answer_ok, "{:?}", alone.error);
    let beside = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|thread| thread.join().expect("a run does not panic")).collect::<Vec<_>>()
    });
    assert!(beside.iter().all(|record| *record == alone));
}

#[test]
fn a_seed_perturbs_the_machine() {
    let cycles = |seed| run("hlrc-8cu", "vi", "histogram", "n=2k", seed).cycles;
    assert!((1..6).any(|seed| cycles(seed) != cycles(0)));
}
