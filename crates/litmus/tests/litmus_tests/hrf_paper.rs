//! Tests the figures of the HRF paper, and other tests of the project, under each HRF model.

use std::fs;
use std::path::PathBuf;

use litmus::generate::{Bound, programs};
use litmus::hrf::{self, Advice, Model, Options, RaceKind, Reading, Verdict};
use litmus::parse::parse;
use litmus::program::Program;
use litmus::suite::expectations;

fn shipped(name: &str) -> Program {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../litmus/hrf").join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn judge(name: &str, reading: Reading) -> Verdict {
    let verdict = hrf::check(&shipped(name), &Options::new(reading)).unwrap();
    assert_eq!(verdict.incomplete, None, "{name}");
    verdict
}

const DRF: Reading = Reading::of(Model::Drf);
const DIRECT: Reading = Reading::of(Model::HrfDirect);
const INDIRECT: Reading = Reading::of(Model::HrfIndirect);

/// Asserts that the test is race-free, and that its condition is met exactly if `condition` is
/// true.
#[track_caller]
fn is_race_free(name: &str, reading: Reading, condition: bool) {
    let verdict = judge(name, reading);
    assert!(verdict.is_race_free(), "{name} under {reading}: {:#?}", verdict.races);
    assert_eq!(verdict.condition_met(&shipped(name)), condition, "{name} under {reading}");
}

/// One access of a race, given by its thread and its source line.
type Side = (u8, u32);

/// Asserts that exactly the pairs of accesses in `pairs` race, and that each of these races is of
/// the kind `kind`.
#[track_caller]
fn races(name: &str, reading: Reading, kind: RaceKind, pairs: &[(Side, Side)]) {
    let verdict = judge(name, reading);
    let found: Vec<_> = verdict
        .races
        .iter()
        .map(|race| {
            assert_eq!(race.pair.kind, kind);
            let side = |place: hrf::InstrPlace| (place.thread.0, place.line);
            (side(race.pair.first), side(race.pair.second))
        })
        .collect();
    assert_eq!(found, pairs, "{name} under {reading}");
}

#[test]
fn figure_2_is_race_free_under_every_model_and_reads_one() {
    for reading in [DRF, DIRECT, INDIRECT] {
        is_race_free("fig2.litmus", reading, true);
        assert!(judge("fig2.litmus", reading).orders_data());
    }
}

#[test]
fn figure_5_in_one_work_group_is_race_free_and_forbids_both_zero() {
    for reading in [DRF, DIRECT, INDIRECT] {
        is_race_free("fig5-same-wg.litmus", reading, false);
    }
}

#[test]
fn figure_5_in_two_work_groups_is_all_atomic_and_races() {
    for reading in [DIRECT, INDIRECT, DIRECT.with_inclusion(), INDIRECT.with_inclusion()] {
        races("fig5-other-wg.litmus", reading, RaceKind::Synchronization, &[((0, 12), (1, 18))]);
    }
    is_race_free("fig5-other-wg.litmus", DRF, false);
}

#[test]
fn figure_6_races_under_direct_only() {
    races("fig6.litmus", DIRECT, RaceKind::Ordinary, &[((0, 12), (2, 24))]);
    // The device holds the work-groups, but the chain still changes its scope in P1.
    races("fig6.litmus", DIRECT.with_inclusion(), RaceKind::Ordinary, &[((0, 12), (2, 24))]);
    is_race_free("fig6.litmus", INDIRECT, true);
    is_race_free("fig6.litmus", DRF, true);
}

#[test]
fn figure_7_races_unless_scopes_may_include_one_another() {
    let pairs = [((0, 12), (1, 18)), ((0, 13), (1, 17))];
    races("fig7.litmus", DIRECT, RaceKind::Synchronization, &pairs);
    races("fig7.litmus", INDIRECT, RaceKind::Synchronization, &pairs);
    is_race_free("fig7.litmus", DIRECT.with_inclusion(), false);
    is_race_free("fig7.litmus", INDIRECT.with_inclusion(), false);
}

#[test]
fn figure_8_is_race_free_under_indirect_only() {
    races("fig8.litmus", DIRECT, RaceKind::Ordinary, &[((0, 13), (2, 25))]);
    is_race_free("fig8.litmus", INDIRECT, true);
    // No scope of the pipeline holds another, so inclusion adds nothing.
    races("fig8.litmus", DIRECT.with_inclusion(), RaceKind::Ordinary, &[((0, 13), (2, 25))]);
}

#[test]
fn the_race_of_figure_6_is_explained_by_its_broken_chain() {
    let program = shipped("fig6.litmus");
    let race = &judge("fig6.litmus", DIRECT).races[0];
    assert_eq!(
        race.describe(&program, DIRECT),
        "P0, line 12 (store X writes 1) and P2, line 24 (load X reads 1) race on X under hrf-direct: one of \
         the two accesses is an ordinary data access, and neither happens before the other.\n\
         In this execution:\n\
         \x20  1. P0, line 12: store X writes 1\n\
         \x20  2. P0, line 13: store-release A writes 1 at work_group 0\n\
         \x20  3. P1, line 17: load-acquire A reads 1 at work_group 0\n\
         \x20  4. P1, line 18: load X reads 1\n\
         \x20  5. P1, line 19: store-release B writes 1 at device 0\n\
         \x20  6. P2, line 23: load-acquire B reads 1 at device 0\n\
         \x20  7. P2, line 24: load X reads 1\n\
         \x20 - a chain of releases and acquires leads from the first access to the second (steps 2 to 3 at \
         work_group 0, 5 to 6 at device 0), but hrf-direct does not join links of different scopes\n"
    );
    let dot = race.to_dot(&program, DIRECT);
    assert!(dot.contains("s0 -> s6 [label=\"race\""), "{dot}");
    assert!(dot.contains("s1 -> s2 [label=\"so work_group 0\""), "{dot}");
}

#[test]
fn figure_6_is_repaired_by_taking_a_to_the_device() {
    let program = shipped("fig6.litmus");
    let advice = hrf::advise(&program, &Options::new(DIRECT)).unwrap();
    let Advice::Widen { sets, complete: true } = &advice else { panic!("{advice:?}") };
    assert_eq!(sets.len(), 1);
    assert_eq!(
        sets[0].describe(&program),
        "P0, line 13: work_group 0 -> device 0\nP1, line 17: work_group 0 -> device 0\n"
    );
    let repaired = sets[0].apply(&program);
    assert!(hrf::check(&repaired, &Options::new(DIRECT)).unwrap().is_race_free());
}

#[test]
fn figure_2_with_two_work_items_in_a_work_group_can_shrink_as_figure_6() {
    let program = shipped("fig6.litmus");
    let wide = hrf::advise(&program, &Options::new(DIRECT)).unwrap();
    let Advice::Widen { sets, .. } = wide else { panic!("{wide:?}") };
    let wide = sets[0].apply(&program);
    let advice = hrf::advise(&wide, &Options::new(INDIRECT)).unwrap();
    let Advice::Shrink { sets, together, complete: true } = advice else { panic!("{advice:?}") };
    assert_eq!(sets.as_slice(), core::slice::from_ref(&together));
    assert_eq!(together.apply(&wide), program);
}

/// Asserts that the test is race-free and its condition is met under the reading (interpretation of
/// a model) `free`, and that the test has a race under the reading `racy`.
#[track_caller]
fn separates(name: &str, free: Reading, racy: Reading) {
    is_race_free(name, free, true);
    let verdict = judge(name, racy);
    assert!(!verdict.is_race_free(), "{name} under {racy}");
}

/// Asserts that the smallest program within the bound that separates the two readings (is race-free
/// under `free` and racy under `racy`) has this number of operations. If `data` is true, only
/// programs in which synchronization orders data accesses count.
#[track_caller]
fn is_smallest(bound: &Bound, operations: usize, free: Reading, racy: Reading, data: bool) {
    let first = programs(bound).find(|generated| {
        let check = |reading| {
            let options = Options { first_race_only: true, ..Options::new(reading) };
            hrf::check(&generated.program, &options).unwrap()
        };
        let verdict = check(free);
        verdict.is_race_free() && (!data || verdict.orders_data()) && !check(racy).is_race_free()
    });
    assert_eq!(first.map(|generated| generated.operations()), Some(operations));
}

fn all_scopes(threads: usize, operations: usize) -> Bound {
    Bound { single_thread_scopes: true, ..Bound::new(threads, operations, 2) }
}

#[test]
fn the_least_programs_that_separate_drf_from_hrf_have_two_and_three_operations() {
    for name in ["least-drf.litmus", "least-drf-data.litmus"] {
        separates(name, DRF, INDIRECT.with_inclusion());
        separates(name, DRF, DIRECT.with_inclusion());
    }
    assert!(judge("least-drf-data.litmus", DRF).orders_data());
    is_smallest(&all_scopes(3, 3), 2, DRF, INDIRECT.with_inclusion(), false);
    is_smallest(&all_scopes(3, 3), 3, DRF, INDIRECT.with_inclusion(), true);
}

#[test]
fn the_least_programs_that_need_inclusion_have_two_and_three_operations() {
    for name in ["least-inclusion.litmus", "least-inclusion-data.litmus"] {
        separates(name, DIRECT.with_inclusion(), DIRECT);
        separates(name, INDIRECT.with_inclusion(), INDIRECT);
    }
    assert!(judge("least-inclusion-data.litmus", DIRECT.with_inclusion()).orders_data());
    is_smallest(&all_scopes(3, 3), 2, DIRECT.with_inclusion(), DIRECT, false);
    is_smallest(&all_scopes(3, 3), 3, DIRECT.with_inclusion(), INDIRECT, true);
}

/// The smallest program that is race-free under HRF-indirect and racy under HRF-direct has four
/// operations. If only programs count in which synchronization orders data accesses, no program of
/// four operations separates the two models. The project's test with ordered data accesses has five
/// operations.
#[test]
fn the_least_program_that_separates_indirect_from_direct_has_four_operations() {
    separates("least-indirect.litmus", INDIRECT, DIRECT);
    separates("least-indirect-data.litmus", INDIRECT, DIRECT);
    assert!(judge("least-indirect-data.litmus", INDIRECT).orders_data());
    separates("least-indirect-inclusion.litmus", INDIRECT, DIRECT.with_inclusion());
    let bound = Bound { locations_max: 1, ..Bound::new(3, 4, 1) };
    is_smallest(&bound, 4, INDIRECT, DIRECT, false);
    is_smallest(&bound, 4, INDIRECT, DIRECT.with_inclusion(), false);
}

/// Tests of the project separate the readings (interpretations of a model) in which releases pair
/// with and without regard to locations: they are race-free under one reading and racy under the
/// other. `cargo run --release --example hrf_search 3 5 2` finds no such program among the programs
/// with at most three threads, five operations and two locations, and without read-modify-writes.
#[test]
fn the_readings_of_the_synchronization_order_are_separated() {
    separates("least-so.litmus", DIRECT, DIRECT.same_location());
    // Under HRF-indirect, the chain through y and x orders the accesses in both readings.
    is_race_free("least-so.litmus", INDIRECT.same_location(), true);
    separates("so-indirect.litmus", INDIRECT, INDIRECT.same_location());
    separates("so-indirect.litmus", DRF, DRF.same_location());
}

#[test]
fn a_race_between_locations_is_explained() {
    let program = shipped("so-indirect.litmus");
    let reading = INDIRECT.same_location();
    let text = judge("so-indirect.litmus", reading).races[0].describe(&program, reading);
    assert!(text.contains("is on y and the acquire of step 4 is on z"), "{text}");
}

/// Checks the tables of expected answers for the tests of the project. `fencepost litmus --expect`
/// reads these tables.
#[test]
fn the_tables_of_the_shipped_tests_are_right() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../litmus");
    let mut lines = 0;
    for model in Model::ALL {
        let table = |what: &str| {
            let path = folder.join(format!("{model}-{what}.csv"));
            let text =
                fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            expectations(&text).unwrap()
        };
        for line in table("race-free") {
            let name = line.file.strip_prefix("hrf/").unwrap();
            assert_eq!(judge(name, Reading::of(model)).is_race_free(), line.expected, "{name} under {model}");
            lines += 1;
        }
        for line in table("expected") {
            let name = line.file.strip_prefix("hrf/").unwrap();
            let met = judge(name, Reading::of(model)).condition_met(&shipped(name));
            assert_eq!(met, line.expected, "{name} under {model}");
        }
    }
    let tests = fs::read_dir(folder.join("hrf")).unwrap().count();
    assert_eq!(lines, Model::ALL.len() * tests);
}

#[test]
fn a_verdict_is_printed_for_scripts_and_machines() {
    let program = shipped("fig6.litmus");
    let verdict = judge("fig6.litmus", DIRECT);
    assert_eq!(
        verdict.herd_block(&program),
        "Test fig6 Required\nStates 1\n1:R2=1; 2:R3=1;\nOk\nWitnesses\nPositive: 1 Negative: 0\n\
         Flag heterogeneous-race\nCondition forall (1:R2=1 /\\ 2:R3=1)\nObservation fig6 Always 1 0\n"
    );
    let json = verdict.json(&program, "hrf/fig6.litmus");
    for (key, value) in [("model", "hrf-direct"), ("file", "hrf/fig6.litmus"), ("test", "fig6")] {
        assert_eq!(json[key], value);
    }
    assert_eq!(json["complete"], true);
    assert_eq!(json["states"][0]["values"]["2:R3"], 1);
    assert_eq!(json["races"][0]["location"], "X");
    assert_eq!(json["races"][0]["second"]["line"], 24);
    assert_eq!(json["races"][0]["execution"].as_array().unwrap().len(), 7);
    let advice = hrf::advise(&program, &Options::new(DIRECT)).unwrap().json(&program);
    assert_eq!(advice["advice"], "change");
    assert_eq!(advice["sets"][0][1]["to"], "device 0");
    assert!(verdict.describe(&program).starts_with("Racy: hrf-direct promises nothing.\nP0, line 12"));
}
