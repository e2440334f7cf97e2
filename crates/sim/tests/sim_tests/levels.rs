//! Tests of timed runs of a protocol with three levels, on a machine that declares them.

#[path = "../../../explore/tests/explore_tests/levels/toy.rs"]
mod toy;

use sim::config::System;
use sim::{Outcome, RunOptions};
use toy::Split;

use crate::common::{system, vec_add, vec_add_answer};

/// The tables of a machine description that declare the levels of the toy protocol and an L3 below
/// the L2.
const LEVELS: &str = r#"
[[level]]
name = "read"
per = "cu"
below = "l2"
bytes = 4096
ways = 4
miss_registers = 16
store_buffer_entries = 16
latency_cycles = 20
read_pj = 1.0
write_pj = 2.0

[[level]]
name = "write"
per = "cu"
below = "l2"
beside = "read"
bytes = 4096
ways = 4
miss_registers = 16
store_buffer_entries = 16
latency_cycles = 20
read_pj = 1.0
write_pj = 2.0

[[level]]
name = "l3"
per = "machine"
count = 4
bytes = 65536
ways = 8
miss_registers = 32
store_buffer_entries = 32
latency_cycles = 100
occupancy_cycles = 2
atomic_cycles = 4
read_pj = 30.0
write_pj = 40.0

[[level]]
name = "host"
per = "host"
below = "l3"
bytes = 4096
ways = 4
miss_registers = 4
store_buffer_entries = 4
latency_cycles = 2
"#;

/// A machine of this repository, with these tables for the levels of the toy protocol.
fn machine(levels: &str) -> System {
    let base = toml::to_string(&System { levels: Vec::new(), ..system("hrf-8cu") }).unwrap();
    let base = base.replacen("[l2]\n", "[l2]\nbelow = \"l3\"\n", 1);
    toml::from_str(&format!("{base}\n{levels}")).unwrap()
}

fn run(system: &System) -> Outcome {
    assert_eq!(system.problems(), []);
    let run = sim::run::<Split, ()>(system, vec_add(1024), &RunOptions::default(), &mut ());
    let outcome = run.expect("it ends");
    outcome.answer.expect("c", &vec_add_answer(1024)).expect("the sums");
    outcome
}

#[test]
fn each_level_has_its_own_time_counters_and_energy() {
    let outcome = run(&machine(LEVELS));
    let counter = |name: &str| outcome.counters[name];
    for level in ["read", "write", "l2", "l3"] {
        assert!(counter(&format!("{level}_accesses")) > 0, "{level}");
    }
    assert!(!outcome.counters.contains_key("l1_accesses"), "the toy has no controller at `l1`");
    let energy: std::collections::BTreeMap<String, f64> = outcome.energy.entries().into_iter().collect();
    let (reads, writes) = (counter("l3_data_reads") as f64, counter("l3_data_writes") as f64);
    assert_eq!(energy["l3"], 30.0 * reads + 40.0 * writes);
    assert!(energy["l3"] > 0.0 && energy["read"] > 0.0 && energy["l2"] > 0.0);
    let slow = run(&machine(&LEVELS.replace("latency_cycles = 100", "latency_cycles = 900")));
    assert!(slow.cycles >= outcome.cycles + 800, "{} and {} cycles", slow.cycles, outcome.cycles);
}

#[test]
fn messages_between_controllers_at_one_place_take_no_hop_and_no_bytes() {
    let beside = run(&machine(LEVELS));
    let apart = run(&machine(&LEVELS.replace("beside = \"read\"\n", "")));
    assert!(beside.counters["beside_messages"] > 0);
    assert!(!apart.counters.contains_key("beside_messages"));
    // Each message that claims a line, and each message that drops lines, gets an ack.
    assert_eq!(apart.counters["messages.Claim"], apart.counters["messages.Claimed"]);
    assert!(!beside.counters.contains_key("messages.Claim"), "it does not use the network");
    assert!(beside.counters["noc_bytes_sent"] < apart.counters["noc_bytes_sent"]);
    assert!(beside.cycles <= apart.cycles, "{} and {} cycles", beside.cycles, apart.cycles);
}

#[test]
fn a_setting_of_the_protocol_reaches_its_controllers() {
    let kept = run(&machine(LEVELS));
    let passed = run(&machine(&format!("{LEVELS}\n[protocol.split]\nwrite_lines = 0\n")));
    assert!(kept.counters["write_data_writes"] > 0, "stores are kept in the write cache");
    assert_eq!(passed.counters["write_data_writes"], 0, "every store is performed in the L2");
    let wrong = machine(&format!("{LEVELS}\n[protocol.split]\nwrite_lines = 70000\n"));
    let error = sim::run::<Split, ()>(&wrong, vec_add(256), &RunOptions::default(), &mut ()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("protocol.split.write_lines") && text.contains("0 to 65536"), "{text}");
}

#[test]
fn a_machine_without_a_level_of_the_protocol_is_an_error_with_its_name() {
    let error = sim::run::<Split, ()>(&system("hrf-8cu"), vec_add(256), &RunOptions::default(), &mut ());
    let text = error.unwrap_err().to_string();
    for part in ["`read`", "`split`", "one cache for each compute unit"] {
        assert!(text.contains(part), "{text}");
    }
}

/// The machine of the toy protocol with this text in place of the size of its L3.
fn with_l3(size: &str) -> System {
    machine(&LEVELS.replacen("bytes = 65536", size, 1))
}

#[test]
fn an_access_occupies_only_the_bank_of_its_line() {
    let busy = |banks: u32| {
        let mut system = with_l3("bytes = 65536");
        let l3 = system.levels.iter_mut().find(|level| level.name == "l3").unwrap();
        (l3.count, l3.occupancy_cycles, l3.banks) = (1, 40, banks);
        run(&system)
    };
    let (whole, two, many) = (busy(1), busy(2), busy(64));
    let waits = |outcome: &Outcome| outcome.counters["bank_wait_cycles"];
    assert!(waits(&two) < waits(&whole) && waits(&many) < waits(&two) / 2);
    assert!(two.cycles < whole.cycles && many.cycles < two.cycles);
    assert_eq!(two.counters["l3_accesses"], whole.counters["l3_accesses"]);
    let one = with_l3("bytes = 65536\nbanks = 1");
    assert_eq!(one, with_l3("bytes = 65536"));
}

#[test]
fn a_level_may_be_sized_in_lines() {
    assert_eq!(run(&with_l3("lines = 1024")), run(&with_l3("bytes = 65536")));
    let found = |size: &str| -> String {
        let problems = with_l3(size).problems();
        problems.iter().map(|problem| format!("{}: {}\n", problem.key(), problem.message)).collect()
    };
    let wrong = found("lines = 1001");
    assert!(wrong.starts_with("level.2.lines: 1001 lines in each `l3`, expected a multiple"), "{wrong}");
    let wrong = found("lines = 1024\nbytes = 65536");
    assert!(wrong.starts_with("level.2.lines: 1024 lines beside `bytes` in `l3`"), "{wrong}");
    let wrong = found("lines = 9223372036854775800");
    assert!(wrong.contains("at most 16 GiB"), "{wrong}");
    let wrong = found("bytes = 65536\nbanks = 5000");
    assert!(wrong.starts_with("level.2.banks: 5000 banks in each `l3`"), "{wrong}");
}
