//! Tests of whole runs: correct answers, golden costs, deterministic results.

use kernel::prelude::*;
use proto::Protocol;
use sim::config::{EndOfKernel, IssueRule, Scheduler, System};
use sim::noc::Topology;
use sim::perfetto::Timeline;
use sim::{Outcome, RunOptions};
use zoo::denovo::DenovoB;
use zoo::hlrc::Hlrc;
use zoo::no_l1::NoL1;
use zoo::vi::Vi;

use crate::common::*;

const MACHINES: [&str; 4] = ["hlrc-8cu", "hrf-8cu", "stc-8cu", "titan-v"];

fn on<P: Protocol>(system: &System, program: Program) -> Outcome {
    sim::run::<P, ()>(system, program, &RunOptions::default(), &mut ()).unwrap()
}

#[test]
fn vec_add_is_right_on_every_machine_under_both_protocols() {
    for name in MACHINES {
        let (system, len) = (system(name), 5000);
        for outcome in [on::<Vi>(&system, vec_add(len)), on::<NoL1>(&system, vec_add(len))] {
            outcome.answer.expect("c", &vec_add_answer(len)).unwrap();
        }
    }
}

#[test]
fn histogram_is_right_on_every_machine_under_both_protocols() {
    for name in MACHINES {
        let (system, len) = (system(name), 3000);
        let mut bins = vec![0u32; 256];
        histogram_values(len).iter().for_each(|&v| bins[v as usize] += 1);
        for outcome in [on::<Vi>(&system, histogram(len)), on::<NoL1>(&system, histogram(len))] {
            outcome.answer.expect("bins", &bins).unwrap();
        }
    }
}

#[test]
fn local_memory_and_barriers_sum_right() {
    for name in MACHINES {
        let outcome = on::<Vi>(&system(name), reduce(4000));
        outcome.answer.expect("total", &[4000u32 * 3999 / 2]).unwrap();
        assert_eq!(outcome.counters["barriers"], outcome.counters["wavefronts"]);
        assert!(outcome.counters["lds_accesses"] > outcome.counters["wavefronts"]);
    }
}

#[test]
fn a_lock_works_at_its_scope_and_loses_updates_below_it() {
    let system = system("hlrc-8cu");
    let count = |outcome: Outcome| outcome.answer.get::<u32>("counter").unwrap()[0];
    let (groups, rounds) = (8, 5);
    let lock = |scope, placement| lock_counter(groups, rounds, scope, placement);
    let all = groups * rounds;
    assert_eq!(count(on::<Vi>(&system, lock(Level::Device, Placement::Spread))), all);
    assert_eq!(count(on::<Vi>(&system, lock(Level::WorkGroup, Placement::Pack))), all);
    assert_eq!(count(on::<NoL1>(&system, lock(Level::WorkGroup, Placement::Spread))), all);
    assert!(count(on::<Vi>(&system, lock(Level::WorkGroup, Placement::Spread))) < all);
}

#[test]
fn the_host_and_a_running_kernel_exchange_values() {
    for name in MACHINES {
        for outcome in [on::<Vi>(&system(name), host_flag(3)), on::<NoL1>(&system(name), host_flag(3))] {
            outcome.answer.expect("seen", &[42u32, 44, 46]).unwrap();
            assert!(outcome.counters["host_accesses"] >= 12);
        }
    }
}

#[test]
fn a_kernel_sees_earlier_writes_of_kernels_and_the_host() {
    for name in MACHINES {
        let outcome = on::<Vi>(&system(name), pipeline(3000));
        outcome.answer.expect("b", &pipeline_answer(3000)).unwrap();
        assert_eq!(outcome.kernels.len(), 3);
        assert!(outcome.kernels.windows(2).all(|pair| pair[0].until <= pair[1].from));
    }
}

/// A program in which a kernel writes, then the host reads the results word by word.
fn host_looks(len: u64) -> Program {
    Program::new("host-looks", move |host| async move {
        let a = host.alloc::<u32>("a", len);
        host.write(a, &vec![5; len as usize]).await;
        let kernel = || {
            Kernel::new("add", move |w: Wave| async move {
                let first = w.first_item();
                let w = w.below(first, len);
                let x = w.load(a, Unit(first)).await;
                w.store(a, Unit(first), x + 1u32).await;
            })
        };
        let grid = Grid::new(len.div_ceil(u64::from(host.shape().lanes)) as u32, 1);
        host.launch(kernel(), grid).await;
        let seen = host.load(a, len - 1).await;
        host.store(a, 0, 10 * seen).await;
        host.launch(kernel(), grid).await;
        host.rmw(a, 1, RmwKind::Add, 100, Order::AcqRel).await;
        Answer::new().with("seen", &[seen]).with_array("a", &host, a).await
    })
}

#[test]
fn dirty_bytes_of_kernels_are_visible_to_host_accesses() {
    for name in MACHINES {
        let mut system = system(name);
        for end in [EndOfKernel::System, EndOfKernel::Device] {
            system.launch.end_of_kernel = end;
            for outcome in [
                on::<Vi>(&system, host_looks(1000)),
                on::<NoL1>(&system, host_looks(1000)),
                on::<DenovoB>(&system, host_looks(1000)),
                on::<Hlrc>(&system, host_looks(1000)),
            ] {
                outcome.answer.expect("seen", &[6u32]).unwrap();
                let mut a = vec![7u32; 1000];
                (a[0], a[1]) = (61, 107);
                outcome.answer.expect("a", &a).unwrap();
            }
            on::<Vi>(&system, pipeline(3000)).answer.expect("b", &pipeline_answer(3000)).unwrap();
            on::<DenovoB>(&system, pipeline(3000)).answer.expect("b", &pipeline_answer(3000)).unwrap();
        }
    }
}

#[test]
fn kernels_that_end_at_device_scope_leave_dirty_lines_in_the_l2() {
    let mut system = system("hrf-8cu");
    let mut writes = |end| {
        system.launch.end_of_kernel = end;
        let outcome = on::<Vi>(&system, vec_add(4096));
        outcome.answer.expect("c", &vec_add_answer(4096)).unwrap();
        outcome.counters["dram_writes"]
    };
    assert_eq!((writes(EndOfKernel::System), writes(EndOfKernel::Device)), (256, 0));
}

#[test]
fn every_issue_rule_and_scheduler_computes_the_same() {
    let rules = [
        IssueRule::InOrder,
        IssueRule::ScSimple,
        IssueRule::Gpu,
        IssueRule::ScWriteBuffer,
        IssueRule::Tso,
        IssueRule::TsoForwarding,
        IssueRule::Rmo,
        IssueRule::RmoFifo,
        IssueRule::RmoForwarding,
    ];
    for rule in rules {
        for scheduler in [Scheduler::OldestFirst, Scheduler::RoundRobin] {
            let mut system = system("hlrc-8cu");
            system.issue_rule = rule;
            system.cu.scheduler = scheduler;
            on::<Vi>(&system, vec_add(2000)).answer.expect("c", &vec_add_answer(2000)).unwrap();
            on::<Vi>(&system, reduce(2000)).answer.expect("total", &[1999u32 * 1000]).unwrap();
            let lock = lock_counter(4, 3, Level::Device, Placement::Spread);
            on::<Vi>(&system, lock).answer.expect("counter", &[12u32]).unwrap();
        }
    }
}

#[test]
fn a_load_after_a_buffered_store_forwards_the_value_of_the_storing_lane() {
    let program = Program::new("one-lane", |host| async move {
        let (far, word) = (host.alloc::<u32>("far", 1), host.alloc::<u32>("word", 1));
        let seen = host.alloc::<u32>("seen", 1);
        let kernel = Kernel::new("store-load", move |w: Wave| async move {
            let w = w.leader();
            // The second store waits in the buffer until the first store, which the L2 performs, is
            // complete.
            let first = w.atomic_store(far, 0, 1, relaxed(Level::Device));
            let second = w.store(word, 0, 2);
            let value = w.load(word, 0).await;
            first.await;
            second.await;
            w.store(seen, 0, value).await;
        });
        host.launch(kernel, Grid::new(1, 1)).await;
        Answer::new().with_array("seen", &host, seen).await
    });
    let mut system = system("hlrc-8cu");
    system.issue_rule = IssueRule::TsoForwarding;
    on::<Hlrc>(&system, program).answer.expect("seen", &[2u32]).unwrap();
}

#[test]
fn overlapping_loads_take_less_time_than_loads_one_at_a_time() {
    let mut system = system("hlrc-8cu");
    let overlapping = on::<Vi>(&system, vec_add(640)).cycles;
    system.issue_rule = IssueRule::InOrder;
    let one_at_a_time = on::<Vi>(&system, vec_add(640)).cycles;
    assert!(overlapping < one_at_a_time, "{overlapping} against {one_at_a_time} cycles");
}

#[test]
fn runs_are_deterministic_with_and_without_a_probe_and_seeds_perturb_them() {
    let system = system("hlrc-8cu");
    let with_seed = |seed| {
        let options = RunOptions { seed, ..RunOptions::default() };
        let program = lock_counter(16, 3, Level::Device, Placement::Spread);
        sim::run::<Vi, ()>(&system, program, &options, &mut ()).unwrap()
    };
    assert_eq!(with_seed(0), with_seed(0));
    assert_eq!(with_seed(9), with_seed(9));
    assert_ne!(with_seed(9).cycles, with_seed(10).cycles);
    let mut timeline = Timeline::new(Vec::new());
    let program = lock_counter(16, 3, Level::Device, Placement::Spread);
    let watched = sim::run::<Vi, _>(&system, program, &RunOptions::default(), &mut timeline).unwrap();
    assert_eq!(watched, with_seed(0));
    assert!(timeline.finish().unwrap().len() > 1000);
}

#[test]
fn counters_add_up_and_name_the_messages() {
    let outcome = on::<Vi>(&system("titan-v"), vec_add(10_000));
    let c = &outcome.counters;
    for level in ["l1", "l2"] {
        let of = |what: &str| c[&format!("{level}_{what}")];
        assert_eq!(of("hits") + of("misses") + of("bypasses"), of("accesses"), "{level}");
    }
    assert_eq!(c["noc_bytes_sent"], c["noc_bytes_received"]);
    let by_name: u64 =
        c.iter().filter(|(name, _)| name.starts_with("message_bytes.")).map(|(_, &bytes)| bytes).sum();
    assert_eq!(by_name, c["noc_bytes_sent"]);
    assert_eq!(c["loads"], 2 * c["stores"]);
    assert_eq!(c["stores"], 10_000u64.div_ceil(32));
    assert_eq!(outcome.energy.entries().iter().take(6).map(|(_, pj)| pj).sum::<f64>(), outcome.energy.total);
    assert!(outcome.energy.dram > 0.0 && outcome.energy.core > 0.0 && outcome.energy.noc > 0.0);
}

#[test]
fn a_machine_of_thousands_of_compute_units_and_banks_runs() {
    let mut system = system("hlrc-128cu");
    (system.cu.count, system.l2.banks, system.l2.bytes) = (4096, 4096, 64 << 20);
    let side = 64.try_into().unwrap();
    system.noc.topology = Topology::Mesh { columns: side, rows: side };
    assert_eq!(system.problems(), []);
    let len = 64 * 1024;
    let outcome = on::<Vi>(&system, vec_add(len));
    assert_eq!(outcome.answer.get::<f32>("c"), Some(vec_add_answer(len)));
    assert_eq!(outcome.counters["line_requests"], 3 * len / 16);
}

/// A program with its name in the golden table.
type Labelled = (&'static str, fn() -> Program);

/// Compares the costs of small runs with a golden table. `FENCEPOST_BLESS=1` rewrites the table.
#[test]
fn small_runs_match_the_golden_table() {
    let mut table = String::from(
        "machine      program       protocol      cycles   requests     l1 hits    l2 hits   noc bytes  dram\n",
    );
    for name in ["hlrc-8cu", "hrf-8cu", "stc-8cu", "titan-v", "hlrc-128cu"] {
        let system = system(name);
        let programs: [Labelled; 6] = [
            ("vec-add", || vec_add(4096)),
            ("histogram", || histogram(2048)),
            ("reduce", || reduce(4096)),
            ("lock", || lock_counter(8, 4, Level::Device, Placement::Spread)),
            ("host-flag", || host_flag(2)),
            ("pipeline", || pipeline(1000)),
        ];
        for (label, program) in programs {
            for (protocol, outcome) in
                [("vi", on::<Vi>(&system, program())), ("no-l1", on::<NoL1>(&system, program()))]
            {
                let c = |key: &str| outcome.counters.get(key).copied().unwrap_or(0);
                table += &format!(
                    "{name:<12} {label:<12} {protocol:<10} {:>10} {:>10} {:>11} {:>10} {:>11} {:>5}\n",
                    outcome.cycles,
                    c("line_requests"),
                    c("l1_hits"),
                    c("l2_hits"),
                    c("noc_bytes_sent"),
                    c("dram_reads") + c("dram_writes"),
                );
            }
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/runs.txt");
    if std::env::var_os("FENCEPOST_BLESS").is_some() {
        std::fs::write(path, &table).unwrap();
    }
    let golden = std::fs::read_to_string(path).unwrap_or_default();
    for (found, expected) in table.lines().zip(golden.lines()) {
        assert_eq!(found, expected, "a line of {path} differs; FENCEPOST_BLESS=1 accepts the new table");
    }
    assert_eq!(table.lines().count(), golden.lines().count());
}
