//! Checks that the built-in machines have the latencies in the tables of their sources.

use lab::experiment::{Experiment, Question};
use lab::systems::Systems;

/// Runs `kernels` kernels that each load the same word, on a machine with changed parameters.
/// Returns the total latency of all these loads, in cycles.
fn load_cycles(system: &str, changes: &[(&str, &str)], kernels: u32) -> u64 {
    let question = Question {
        system: system.to_owned(),
        machine: changes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        scenario: "vi".to_owned(),
        workload: "square".to_owned(),
        settings: vec![
            ("n".to_owned(), "1".to_owned()),
            ("work-groups".to_owned(), "1".to_owned()),
            ("launches".to_owned(), kernels.to_string()),
        ],
        ..Question::default()
    };
    let experiment = Experiment::new(&Systems::with_folder("none"), &question).expect("a sound question");
    let record = lab::run::run(&experiment, &mut ()).expect("a machine that can be built");
    assert_eq!(record.counters["loads"], u64::from(kernels));
    record.counters["load_wait_cycles"]
}

/// The latency of a load in cycles: first for an answer from memory, then for an answer from the
/// L2.
///
/// The load of the first kernel reads memory. The loads of the other kernels read the L2, because
/// each kernel begins with an empty L1.
fn latencies(system: &str, changes: &[(&str, &str)]) -> (f64, f64) {
    let memory = load_cycles(system, changes, 1);
    (memory as f64, (load_cycles(system, changes, 10) - memory) as f64 / 9.0)
}

#[test]
fn titan_v_has_the_latencies_of_table_3_1() {
    let (memory, l2) = latencies("titan-v", &[]);
    assert_eq!(l2, 148.0);
    // The table has a single number. The simulated latency depends on whether the row of the DRAM
    // is open.
    assert!((223.0..=273.0).contains(&memory), "{memory}");
}

#[test]
fn stc_8cu_has_the_latencies_of_table_3() {
    let (memory, l2) = latencies("stc-8cu", &[]);
    assert_eq!(l2, 160.0);
    assert!((235.0..=285.0).contains(&memory), "{memory}");
}

#[test]
fn the_hlrc_machines_are_slower_where_the_mesh_is_wider() {
    let [small, large] = ["hlrc-8cu", "hlrc-128cu"].map(|system| latencies(system, &[]));
    assert!(small.1 < large.1, "{small:?} {large:?}");
    // The latencies of the L1 and the L2 in Table 4, and at least one hop in each direction.
    assert!(small.1 >= 4.0 + 24.0 + 4.0, "{small:?}");
}

#[test]
fn a_longer_way_to_the_l1_delays_hits_and_misses_once() {
    let near = ("l1.path_cycles", "0");
    let (memory, l2) = latencies("stc-8cu", &[]);
    assert_eq!(latencies("stc-8cu", &[near]), (memory - 100.0, l2 - 100.0));
    // The kernels run on the eight compute units in turn. Without invalidations, the loads of all
    // kernels but the first eight hit in the L1.
    let hit = |changes: &[(&str, &str)]| {
        (load_cycles("stc-8cu", changes, 16) - load_cycles("stc-8cu", changes, 8)) / 8
    };
    let kept = ("l1.invalidation", "none");
    assert_eq!((hit(&[kept]), hit(&[kept, near])), (104, 4));
}
