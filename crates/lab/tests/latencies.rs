//! The machines have the latencies in their sources' tables.

use lab::experiment::{Experiment, Question};
use lab::systems::Systems;

/// Cycles from a load to its answer: from memory, and from the L2.
///
/// Each of ten kernels loads one word. The first load reads memory. The others
/// read the L2, because a kernel begins with an empty L1.
fn latencies(system: &str) -> (f64, f64) {
    let cycles = |kernels: u32| {
        let question = Question {
            system: system.to_owned(),
            scenario: "vi".to_owned(),
            workload: "cache-reuse".to_owned(),
            settings: vec![("n".to_owned(), "1".to_owned()), ("kernels".to_owned(), kernels.to_string())],
            ..Question::default()
        };
        let experiment = Experiment::new(&Systems::with_folder("none"), &question).expect("a sound question");
        let record = lab::run::run(&experiment, &mut ()).expect("a machine that can be built");
        assert_eq!(record.counters["loads"], u64::from(kernels));
        record.counters["load_wait_cycles"]
    };
    let memory = cycles(1);
    (memory as f64, (cycles(10) - memory) as f64 / 9.0)
}

#[test]
fn titan_v_has_the_latencies_of_table_3_1() {
    let (memory, l2) = latencies("titan-v");
    assert_eq!(l2, 148.0);
    // The table has one number. Our latency depends on whether the row is open.
    assert!((223.0..=273.0).contains(&memory), "{memory}");
}

#[test]
fn stc_8cu_has_the_latencies_of_table_3() {
    let (memory, l2) = latencies("stc-8cu");
    assert_eq!(l2, 160.0);
    assert!((235.0..=285.0).contains(&memory), "{memory}");
}

#[test]
fn the_hlrc_machines_are_slower_where_the_mesh_is_wider() {
    let [small, large] = ["hlrc-8cu", "hlrc-128cu"].map(latencies);
    assert!(small.1 < large.1, "{small:?} {large:?}");
    // L1 and L2 of Table 4, and at least one hop in each direction.
    assert!(small.1 >= 4.0 + 24.0 + 4.0, "{small:?}");
}
