//! The simulator usually answers a hit directly, without a step of the cache's controller. The test
//! checks that runs with these steps and runs without them give identical results.

use lab::experiment::{Experiment, Question};
use lab::systems::Systems;
use sim::RunOptions;

/// Workloads with small settings that read the same lines several times, with stores, atomics,
/// acquires and evictions between the reads.
const WORKLOADS: [(&str, &str); 7] = [
    ("l1-resident", "work-groups=4 reads=32 kib=1"),
    ("cache-reuse", "n=2k"),
    ("reduce", "n=4k"),
    ("pagerank-push", "vertices=128 edges=512"),
    ("message-passing", "words=64 rounds=2"),
    ("lock-counter", "increments=2"),
    ("fg-share", "work-groups=8 words=32"),
];

fn experiment(system: &str, protocol: &str, workload: &str, settings: &str) -> Experiment {
    let setting = |text: &str| text.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    let question = Question {
        system: system.to_owned(),
        scenario: protocol.to_owned(),
        workload: workload.to_owned(),
        settings: settings.split_whitespace().filter_map(setting).collect(),
        ..Question::default()
    };
    Experiment::new(&Systems::with_folder("none"), &question).expect("a sound question")
}

#[test]
fn a_run_without_the_steps_of_hits_is_the_same_run() {
    for system in ["hlrc-8cu", "hrf-8cu"] {
        for info in zoo::ALL {
            let mut hits = 0;
            for (workload, settings) in WORKLOADS {
                let experiment = experiment(system, info.name, workload, settings);
                let run = |steps_hits| {
                    let (program, _) = experiment.instance().expect("an instance").into_parts();
                    let options = RunOptions { steps_hits, ..RunOptions::default() };
                    lab::run::program_on(&experiment.system, info.name, program, options, &mut ())
                };
                match (run(false), run(true)) {
                    (Ok(short), Ok(whole)) => {
                        hits += short.counters["l1_hits"];
                        let same = format!("{short:?}") == format!("{whole:?}");
                        assert!(same, "{workload} on {system} with {}", info.name);
                    }
                    (short, whole) => {
                        assert_eq!(short.err().map(|e| e.to_string()), whole.err().map(|e| e.to_string()));
                    }
                }
            }
            let has_no_l1 = ["no-l1", "apu-no-l1"].contains(&info.name);
            assert!(hits > 0 || has_no_l1, "{} on {system} has no hits", info.name);
        }
    }
}
