//! Checks that task-based programs on simulated machines execute each task once, under every
//! protocol whose claim covers the synchronization of the task queues.

use std::fs;
use std::path::Path;

use lab::Record;
use lab::experiment::{Experiment, Question};
use lab::race::{RaceModel, RaceOptions, races};
use lab::systems::Systems;

fn ask(protocol: &str, policy: &str, workload: &str, settings: &[(&str, &str)], seed: u64) -> Experiment {
    let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let question = Question {
        system: "hrf-8cu".to_owned(),
        scenario: format!("{protocol}+{policy}"),
        workload: workload.to_owned(),
        settings: settings.collect(),
        seed,
        ..Question::default()
    };
    Experiment::new(&Systems::with_folder("none"), &question).expect("a sound question")
}

fn run(protocol: &str, policy: &str, workload: &str, settings: &[(&str, &str)], seed: u64) -> Record {
    let experiment = ask(protocol, policy, workload, settings, seed);
    lab::run::run(&experiment, &mut ()).expect("a machine that can be built")
}

/// Returns true if a protocol that claims the model `claimed` gives right answers for programs that
/// are race-free under the model of the policy. Protocols that claim `drf` or `sc` ignore scopes:
/// they treat every scope as the widest scope.
fn covers(claimed: &str, policy: &str) -> bool {
    claimed == policy || ["hrf-indirect", "drf", "sc"].contains(&claimed)
}

const PROGRAMS: [(&str, &[(&str, &str)]); 4] = [
    ("uts", &[("depth", "6")]),
    ("uts", &[("shape", "cyclic"), ("depth", "8"), ("branching", "4"), ("tree-seed", "3"), ("waves", "8")]),
    ("queens", &[("queens", "6")]),
    ("fib", &[("n", "13")]),
];

/// Checks that each task runs once under every protocol whose claim covers the policy.
fn each_task_runs_once(policy: &str) {
    let mut covered = 0;
    for info in zoo::ALL.iter().filter(|info| !crate::suite::may_starve(info.name)) {
        if !info.claims.iter().any(|claim| covers(claim.model, policy)) {
            continue;
        }
        for (workload, settings) in PROGRAMS {
            let record = run(info.name, policy, workload, settings, 1);
            assert!(record.answer_ok, "{workload} on {}+{policy}: {:?}", info.name, record.error);
            assert!(record.counters["program.task_fronts"] > 0);
            covered += 1;
        }
    }
    assert!(covered >= PROGRAMS.len(), "{covered}");
}

#[test]
fn each_task_runs_once_by_direct_synchronization() {
    each_task_runs_once("hrf-direct");
}

#[test]
fn each_task_runs_once_by_indirect_synchronization() {
    each_task_runs_once("hrf-indirect");
}

#[test]
fn a_stencil_by_barriers_of_two_scopes_is_right_and_flushes_less_than_by_one() {
    let settings = [("cells", "200"), ("rounds", "3"), ("steps", "4")];
    let (two, one) = (
        run("vi", "inner-work-group", "stencil", &settings, 1),
        run("vi", "inner-device", "stencil", &settings, 1),
    );
    for record in [&two, &one] {
        assert!(record.answer_ok, "{:?}", record.error);
    }
    assert!(two.counters["l1_flushes"] < one.counters["l1_flushes"]);
    assert!(two.cycles < one.cycles);
}

#[test]
fn smaller_scopes_flush_and_invalidate_less() {
    let settings = [("depth", "7"), ("tree-seed", "21")];
    let (direct, indirect) =
        (run("vi", "hrf-direct", "uts", &settings, 1), run("vi", "hrf-indirect", "uts", &settings, 1));
    for counter in ["l1_flushes", "l1_invalidations"] {
        assert!(indirect.counters[counter] < direct.counters[counter], "{counter}");
    }
    assert!(indirect.counters["program.donations"] > 0);
}

/// A release that flushes only the writes of its own wavefront omits writes that other wavefronts
/// have passed on to this wavefront. HRF-direct allows this, HRF-indirect does not. On this machine
/// the store buffer is as large as the L1. With a smaller store buffer, most of these writes would
/// leave the L1 before their absence is noticed.
#[test]
fn transitive_scopes_lose_tasks_where_a_release_flushes_its_own_writes_only() {
    let machine = include_str!("../../../../systems/hrf-8cu.toml");
    let large = machine.replacen("store_buffer_entries = 64 ", "store_buffer_entries = 512 ", 1);
    assert_ne!(machine, large);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("large-store-buffers.toml");
    fs::write(&path, large).expect("a folder that can be written");
    let run = |policy: &str, group_low: &str| {
        let settings = [("depth", "7"), ("tree-seed", "21"), ("group-low", group_low)];
        let mut experiment = ask("vi-targeted", policy, "uts", &settings, 1);
        experiment.system = Systems::with_folder("none").load(&path.to_string_lossy()).expect("a machine");
        lab::run::run(&experiment, &mut ()).expect("a machine that can be built")
    };
    for group_low in ["1", "0"] {
        let direct = run("hrf-direct", group_low);
        assert!(direct.answer_ok, "{:?}", direct.error);
        assert!(!run("hrf-indirect", group_low).answer_ok, "with group-low={group_low}");
    }
}

#[test]
fn each_policy_is_free_of_races_under_its_model_and_smaller_scopes_race_under_hrf_direct() {
    use RaceModel::{Drf, HrfDirect, HrfIndirect};
    let found = |policy, model, workload, settings| {
        let options = RaceOptions { model, ..RaceOptions::default() };
        let experiment = ask("vi", policy, workload, settings, 1);
        races(&experiment, options, 3, |_| ()).expect("a machine that can be built").report.races
    };
    let small: [(&str, &[(&str, &str)]); 4] = [
        ("uts", &[]),
        ("queens", &[("queens", "6")]),
        ("fib", &[("n", "11")]),
        ("stencil", &[("cells", "100"), ("waves", "2"), ("rounds", "2"), ("steps", "3")]),
    ];
    for (workload, settings) in small {
        let policies = match workload {
            "stencil" => [("inner-work-group", HrfDirect), ("inner-device", HrfDirect)],
            _ => [("hrf-direct", HrfDirect), ("hrf-indirect", HrfIndirect)],
        };
        for (policy, model) in policies {
            for model in [Drf, HrfIndirect, model] {
                let races = found(policy, model, workload, settings);
                assert!(races.is_empty(), "{workload}+{policy} under {model:?}: {:#?}", races[0]);
            }
        }
    }
    assert!(!found("hrf-indirect", HrfDirect, "uts", &[("depth", "6")]).is_empty());
}
