//! After the start of a run, operations that hit in a cache allocate no memory on the host.
//!
//! A run allocates memory for arrays, caches, launches and wavefronts. The test compares two runs
//! of a program that differ only in the number of operations of each wavefront. The difference is
//! what the operations allocate.

use lab::experiment::{Experiment, Question};
use lab::systems::Systems;

/// Programs, each with a setting and two values of it. The larger value adds operations, which all
/// hit, and does not change the number of wavefronts.
const PROGRAMS: [(&str, &str, [&str; 2]); 1] = [("l1-resident", "reads", ["100", "1000"])];

/// Runs a workload. Returns the number of memory operations of its wavefronts, and the number of
/// allocations on the host.
fn measure(protocol: &str, workload: &str, setting: (&str, &str)) -> (u64, u64) {
    let question = Question {
        system: "hlrc-8cu".to_owned(),
        scenario: protocol.to_owned(),
        workload: workload.to_owned(),
        size: Some("tiny".to_owned()),
        settings: vec![(setting.0.to_owned(), setting.1.to_owned())],
        ..Question::default()
    };
    let experiment = Experiment::new(&Systems::with_folder("none"), &question).expect("a sound question");
    let mut record = None;
    let allocated = allocation_counter::measure(|| record = lab::run::run(&experiment, &mut ()).ok());
    let record = record.expect("a run that ends");
    assert!(record.answer_ok, "{workload} under {protocol}: {:?}", record.error);
    let operations = ["loads", "stores", "atomics"].iter().map(|name| record.counters[*name]).sum();
    (operations, allocated.count_total)
}

#[test]
fn hits_allocate_nothing_once_a_run_is_warm() {
    for (workload, setting, [few, many]) in PROGRAMS {
        for protocol in ["vi", "hlrc-repaired"] {
            let (few_operations, few_allocations) = measure(protocol, workload, (setting, few));
            let (operations, allocations) = measure(protocol, workload, (setting, many));
            let more = operations.saturating_sub(few_operations);
            assert!(more > 1000, "{workload}: {few_operations} and {operations} operations");
            // Some arrays and queues still grow. Their number of allocations grows with the
            // logarithm of the number of operations.
            let allowed = few_allocations + more / 100 + 50;
            assert!(
                allocations <= allowed,
                "{workload} under {protocol}: {more} more operations allocate {} more times",
                allocations - few_allocations
            );
        }
    }
}
