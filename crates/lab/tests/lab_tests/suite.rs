//! Checks every workload at its smallest size: it has the right answer under the protocols, and it
//! is free of races.

use lab::experiment::{Experiment, Question};
use lab::race::{RaceModel, RaceOptions, races};
use lab::systems::Systems;
use workloads::{Purpose, Workload};

/// The workloads that end and that have no race. At their smallest size they synchronize at device
/// scope, or at work-group scope inside one work-group. Every protocol claims to support this.
fn sound() -> impl Iterator<Item = &'static Workload> {
    let all = workloads::all().iter().copied();
    all.filter(|workload| !matches!(workload.purpose, Purpose::Race | Purpose::Diagnosis))
}

fn tiny(system: &str, protocol: &str, workload: &Workload) -> Experiment {
    tiny_with(system, protocol, workload, &[])
}

/// The same as [`tiny`], with other values for some settings.
fn tiny_with(system: &str, protocol: &str, workload: &Workload, settings: &[(&str, &str)]) -> Experiment {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let question = Question {
        system: system.to_owned(),
        scenario: protocol.to_owned(),
        workload: workload.name.to_owned(),
        size: Some("tiny".to_owned()),
        settings: settings.iter().map(owned).collect(),
        ..Question::default()
    };
    Experiment::new(&Systems::with_folder("none"), &question).expect("a sound question")
}

/// Whether a sound program may wait for ever under a protocol, as published.
pub(crate) fn may_starve(protocol: &str) -> bool {
    [&zoo::stc::STARVING[..], &zoo::quick_release::REFUTED].iter().any(|all| all.contains(&protocol))
}

/// The protocols under which every sound program ends with the right answer.
fn protocols() -> impl Iterator<Item = &'static str> {
    zoo::ALL.iter().map(|info| info.name).filter(|name| !may_starve(name))
}

/// Checks a third of the protocols, so that three tests run at the same time.
fn every_workload_is_right(third: usize) {
    for workload in sound() {
        for protocol in protocols().skip(third).step_by(3) {
            let record = lab::run::run(&tiny("hlrc-8cu", protocol, workload), &mut ());
            let record = record.unwrap_or_else(|error| panic!("{} under {protocol}: {error}", workload.name));
            assert!(record.answer_ok, "{} under {protocol}: {:?}", workload.name, record.error);
        }
    }
}

#[test]
fn every_workload_is_right_under_every_protocol() {
    every_workload_is_right(0);
}

#[test]
fn every_workload_is_right_under_every_protocol_of_the_second_third() {
    every_workload_is_right(1);
}

#[test]
fn every_workload_is_right_under_every_protocol_of_the_last_third() {
    every_workload_is_right(2);
}

/// The page of `quick-release` names these programs.
#[test]
fn the_faults_of_quick_release_show_in_whole_programs() {
    let programs =
        [("bc", true), ("cca", true), ("dijkstra", true), ("stencil", false), ("barnes-hut", false)];
    for (name, ends) in programs {
        let workload = workloads::find(name).expect("a workload");
        let run = |protocol: &str| lab::run::run(&tiny("hlrc-8cu", protocol, workload), &mut ());
        let record = run("quick-release").expect("a run");
        let why = record.error.unwrap_or_default();
        assert!(!record.answer_ok && why.contains("wrong answer") == ends, "{name}: {why}");
        assert!(run("quick-release-repaired").expect("a run").answer_ok, "{name}");
    }
}

/// With tiles in global memory, the lines of the tiles are written and read between barriers of the
/// work-group.
#[test]
fn programs_with_tiles_in_global_memory_are_right_under_every_protocol() {
    let has_tiles = |workload: &&Workload| workload.settings.iter().any(|setting| setting.name == "tiles");
    assert!(sound().filter(has_tiles).count() > 2);
    for workload in sound().filter(has_tiles) {
        for protocol in protocols() {
            let experiment = tiny_with("hlrc-8cu", protocol, workload, &[("tiles", "global")]);
            let record = lab::run::run(&experiment, &mut ());
            let record = record.unwrap_or_else(|error| panic!("{} under {protocol}: {error}", workload.name));
            assert!(record.answer_ok, "{} under {protocol}: {:?}", workload.name, record.error);
        }
    }
}

#[test]
fn every_workload_is_free_of_races_at_its_smallest_size() {
    let options = RaceOptions { model: RaceModel::HrfIndirect, ..RaceOptions::default() };
    for workload in sound() {
        let name = workload.name;
        let found = races(&tiny("hrf-8cu", "vi", workload), options, 1, |_| ())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let places: Vec<String> = found.report.races.iter().map(|race| format!("{race:?}")).collect();
        assert!(places.is_empty(), "{name} races: {places:#?}");
        assert_eq!(found.failed, [], "{name}");
        assert!(found.report.usage.accesses > 0, "{name} was watched");
    }
}
