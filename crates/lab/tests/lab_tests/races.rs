//! Tests race detection in whole programs: workloads are race-free under their memory models, and
//! the detector finds the race of every program in the gallery of racy programs.
//!
//! `FENCEPOST_BLESS=1 cargo test --test lab_tests races` rewrites the expected reports after a change
//! that is meant to change them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use lab::experiment::{Experiment, Question};
use lab::race::{RaceModel, RaceOptions, Races, races};
use lab::systems::Systems;
use workloads::Purpose;

fn experiment(scenario: &str, workload: &str, settings: &[(&str, &str)]) -> Experiment {
    let question = Question {
        system: "hrf-8cu".to_owned(),
        scenario: scenario.to_owned(),
        workload: workload.to_owned(),
        settings: settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        patience_cycles: Some(20_000),
        ..Question::default()
    };
    Experiment::new(&Systems::with_folder("none"), &question).expect("a sound question")
}

fn look(model: RaceModel, scenario: &str, workload: &str, settings: &[(&str, &str)]) -> Races {
    let options = RaceOptions { model, ..RaceOptions::default() };
    races(&experiment(scenario, workload, settings), options, 3, |_| ()).expect("a machine that can be built")
}

fn text(found: &Races) -> String {
    let mut text = String::new();
    for race in &found.report.races {
        let _ = writeln!(text, "{:?} race on {}, {} times", race.kind, race.location, race.count);
        for (side, scope) in [&race.first, &race.second].into_iter().zip(&race.scopes) {
            let file = side.file.rsplit('/').next().unwrap_or_default();
            let _ = writeln!(
                text,
                "  {} at {file}:{}:{} in {}, work-group {}, wavefront {}, lane {}, scope {scope}",
                side.operation,
                side.line,
                side.column,
                side.kernel,
                side.work_group,
                side.wavefront,
                side.lane
            );
        }
        let _ = writeln!(text, "  {}", race.advice);
    }
    text
}

fn gallery() -> impl Iterator<Item = &'static str> {
    workloads::all().iter().filter(|w| w.purpose == Purpose::Race).map(|w| w.name)
}

#[test]
fn every_race_of_the_gallery_is_found() {
    let mut reports = String::new();
    for name in gallery() {
        let found = look(RaceModel::HrfIndirect, "vi", name, &[]);
        assert!(!found.report.races.is_empty(), "{name} races");
        let _ = writeln!(reports, "{name}\n{}", text(&found));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/races.txt");
    if std::env::var_os("FENCEPOST_BLESS").is_some() {
        fs::write(&path, &reports).expect("a folder that can be written");
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    assert!(reports == golden, "the reports have changed:\n{reports}");
}

#[test]
fn repaired_programs_do_not_race() {
    for name in gallery() {
        for (model, _) in [(RaceModel::HrfIndirect, 0), (RaceModel::HrfDirect, 1)] {
            let found = look(model, "vi", name, &[("repaired", "yes")]);
            assert_eq!(text(&found), "", "{name} under {model:?}");
        }
    }
}

/// Workloads for the tests with all models and all policies, with settings so small that a run
/// takes a fraction of a second. The tests in `suite.rs` cover every workload, but only one model.
const SMALL: [(&str, &[(&str, &str)]); 53] = [
    ("vec-copy", &[("n", "4k")]),
    ("vec-add", &[("n", "4k")]),
    ("cache-reuse", &[("n", "2k")]),
    ("reduce", &[("n", "8k")]),
    ("histogram", &[("n", "2k")]),
    ("pagerank-push", &[("vertices", "256"), ("edges", "1k")]),
    ("sssp", &[("vertices", "512"), ("edges", "2k"), ("sweeps", "2"), ("chunk", "16")]),
    ("color", &[("vertices", "512"), ("edges", "2k"), ("sweeps", "2"), ("chunk", "16")]),
    ("pagerank", &[("vertices", "512"), ("edges", "2k"), ("sweeps", "2"), ("chunk", "16")]),
    ("message-passing", &[("words", "64"), ("rounds", "2")]),
    ("host-flag", &[]),
    ("lock-counter", &[("increments", "4")]),
    ("fg-share", &[("work-groups", "8"), ("words", "32")]),
    ("l1-resident", &[("work-groups", "8"), ("reads", "8")]),
    ("random-miss", &[("work-groups", "8"), ("mib", "1"), ("reads", "4")]),
    ("bfs", &[("vertices", "512"), ("edges", "2k")]),
    ("sssp-bellman-ford", &[("vertices", "512"), ("edges", "2k")]),
    ("color-max", &[("vertices", "512"), ("edges", "2k")]),
    ("pagerank-pull", &[("vertices", "512"), ("edges", "2k"), ("steps", "4")]),
    ("bc", &[("vertices", "512"), ("edges", "2k")]),
    ("cc", &[("vertices", "512"), ("edges", "600")]),
    ("cca", &[("vertices", "512"), ("edges", "600")]),
    ("mis", &[("vertices", "512"), ("edges", "2k")]),
    ("apsp", &[("vertices", "150"), ("edges", "500"), ("sources", "9"), ("batch", "4")]),
    ("dijkstra", &[("vertices", "150"), ("edges", "500"), ("sources", "3")]),
    ("backprop", &[("blocks", "12")]),
    ("cnn", &[("batch", "2"), ("side", "10"), ("filters", "3"), ("classes", "5")]),
    ("conv-backward", &[("batch", "2"), ("side", "9"), ("filters", "5")]),
    ("rnn-gru", &[("batch", "2"), ("hidden", "20"), ("inputs", "30")]),
    ("rnn-lstm", &[("batch", "2"), ("hidden", "20"), ("inputs", "30")]),
    ("vec-add", &[("n", "1000")]),
    ("babel-stream", &[("n", "1300"), ("times", "2")]),
    ("convolution-2d", &[("width", "50"), ("height", "37"), ("radius", "1")]),
    ("dct", &[("width", "48"), ("height", "24")]),
    ("dwt2d", &[("width", "41"), ("height", "19"), ("levels", "2")]),
    ("fft", &[("n", "2048")]),
    ("fw", &[("vertices", "21"), ("edges", "90")]),
    ("gaussian", &[("n", "13")]),
    ("lud", &[("n", "48")]),
    ("matmul", &[("m", "40"), ("n", "33"), ("k", "35")]),
    ("dgemm", &[("m", "40"), ("n", "33"), ("k", "35")]),
    ("square", &[("n", "3001"), ("work-groups", "5")]),
    ("btree", &[("keys", "3000"), ("searches", "9"), ("ranges", "6")]),
    ("nn", &[("n", "1000")]),
    ("nw", &[("n", "48")]),
    ("radix-sort", &[("n", "1500")]),
    ("scan", &[("n", "1700")]),
    ("hotspot", &[("rows", "29"), ("columns", "41"), ("steps", "5")]),
    ("hotspot3d", &[("side", "35"), ("layers", "3"), ("steps", "3")]),
    ("hpgmg", &[("side", "8")]),
    ("pathfinder", &[("columns", "700"), ("rows", "12"), ("pyramid", "5")]),
    ("srad", &[("rows", "37"), ("columns", "29"), ("region", "20"), ("iterations", "2")]),
    ("barnes-hut", &[("bodies", "60")]),
];

#[test]
fn each_workload_is_free_of_races_under_all_models() {
    for (workload, settings) in SMALL {
        for model in [RaceModel::Drf, RaceModel::HrfIndirect, RaceModel::HrfDirect] {
            let found = look(model, "vi", workload, settings);
            assert_eq!(text(&found), "", "{workload} under {model:?}");
            assert_eq!(found.failed, [], "{workload}");
            assert!(found.report.usage.accesses > 0, "{workload} was watched");
        }
    }
}

/// Runs each workload with every choice of each of its policies, and changes one policy at a time.
#[test]
fn every_policy_is_free_of_races_under_its_model() {
    for (workload, settings) in SMALL {
        let entry = workloads::find(workload).expect("a workload");
        for setting in entry.settings {
            let workloads::SettingKind::Policy(choices) = setting.kind else { continue };
            for (choice, _) in choices {
                // In these workloads, the threads that share a queue, and the thieves, belong to
                // different work-groups.
                let meets_others =
                    ["message-passing", "lock-counter", "fg-share", "sssp", "color", "pagerank"];
                let is_too_narrow = *choice == "work-group" && meets_others.contains(&workload);
                let scenario = format!("vi+{choice}");
                let found = look(RaceModel::HrfIndirect, &scenario, workload, settings);
                assert_eq!(
                    !found.report.races.is_empty(),
                    is_too_narrow,
                    "{workload} with {choice}: {}",
                    text(&found)
                );
            }
        }
    }
}

/// The unscoped scenarios are checked under the model `drf`, because their protocols keep all
/// compute units coherent at every scope.
#[test]
fn every_scenario_of_stealing_is_free_of_races() {
    let settings = [("vertices", "512"), ("edges", "2k"), ("sweeps", "2"), ("chunk", "16")];
    let scoped = ["baseline", "scope-only", "steal-only", "rsp"].map(|name| (name, RaceModel::HrfIndirect));
    let unscoped = ["denovo-b", "hlrc", "hlrc-scoped"].map(|name| (name, RaceModel::Drf));
    for (scenario, model) in scoped.into_iter().chain(unscoped) {
        for workload in ["sssp", "color", "pagerank"] {
            let found = look(model, scenario, workload, &settings);
            assert_eq!(text(&found), "", "{workload} under {scenario}");
            assert_eq!(found.failed, [], "{workload} under {scenario}");
        }
    }
}

#[test]
fn a_lock_at_the_wrong_scope_races() {
    let found = look(RaceModel::HrfIndirect, "vi+work-group", "lock-counter", &[("increments", "4")]);
    assert!(!found.report.races.is_empty());
}
