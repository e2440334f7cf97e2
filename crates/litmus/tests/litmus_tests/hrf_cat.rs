//! Compares the HRF models in cat with the engine that explores the HRF models.
//!
//! The two engines share only the representation of programs. The engine for cat models enumerates
//! candidate executions and computes relations. The other engine interleaves threads and keeps
//! vector clocks.

#![allow(clippy::print_stderr, reason = "a skipped test says so")]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use litmus::cat;
use litmus::check;
use litmus::generate::{Bound, Kind, cycles, programs, sample};
use litmus::hrf::{self, Model, Options, Reading, SyncOrder};
use litmus::parse::parse;
use litmus::program::{Instr, Program};

use crate::common;
use crate::common::random::{self, Features, Rng};

fn readings() -> Vec<Reading> {
    let mut all = Vec::new();
    for model in Model::ALL {
        for so in [SyncOrder::AnyLocation, SyncOrder::SameLocation] {
            for inclusion in [false, true] {
                if model != Model::Drf || !inclusion {
                    all.push(Reading { model, so, inclusion, relaxed_as: None });
                }
            }
        }
    }
    all
}

fn in_cat(reading: Reading) -> cat::Model {
    let mut model = cat::shipped(reading.model.name()).expect("it is shipped").expect("it is a model");
    if reading.inclusion {
        model.variants.insert("inclusion".to_owned());
    }
    if reading.so == SyncOrder::SameLocation {
        model.variants.insert("same-location".to_owned());
    }
    model
}

/// The number of compared programs, the number of these programs that race, and the number of
/// race-free programs in which synchronization orders data accesses.
#[derive(Default)]
struct Compared {
    programs: usize,
    racy: usize,
    synchronized: usize,
}

struct Comparison {
    models: Vec<(Reading, cat::Model)>,
    so_far: Compared,
}

impl Comparison {
    fn new() -> Comparison {
        let models = readings().into_iter().map(|reading| (reading, in_cat(reading))).collect();
        Comparison { models, so_far: Compared::default() }
    }

    /// Compares the cat engine and the exploring engine on the program under one reading
    /// (interpretation of an HRF model). Successive programs get the readings of a fixed list in
    /// turn.
    fn compare(&mut self, program: &Program, text: &str) {
        let (reading, model) = &self.models[self.so_far.programs % self.models.len()];
        let explored = hrf::check(program, &Options::new(*reading)).unwrap();
        let report = check::check(program, model, &mut check::Options::default()).unwrap();
        assert!(report.complete, "{:?}", report.bound);
        // In PTX, threads of a CTA may arrive with different resources. In the exploration these
        // threads wait for each other for ever. In the cat model they do not wait for each other.
        let code = || program.threads.iter().flat_map(|thread| &thread.code);
        let numbered = |instr: &Instr| matches!(instr, Instr::Barrier(b) if b.id.as_const() != Some(0));
        if explored.blocked.is_some() && code().any(numbered) {
            return;
        }
        let names: Vec<String> = explored.terms.iter().map(|&term| program.term_name(term)).collect();
        let states: BTreeSet<Vec<(String, String)>> = explored
            .states
            .iter()
            .map(|state| {
                let values = state.iter().map(|&value| program.value_name(value));
                names.iter().cloned().zip(values).collect()
            })
            .collect();
        let in_cat: BTreeSet<_> = report
            .states
            .iter()
            .map(|state| {
                state.values.iter().map(|(term, value)| (term.to_string(), value.to_string())).collect()
            })
            .collect();
        assert_eq!(states, in_cat, "outcomes under {reading} of {text}");
        assert_eq!(
            !explored.is_race_free(),
            report.has_race(),
            "races under {reading} of {text}\n{}",
            report.herd_block()
        );
        self.so_far.programs += 1;
        self.so_far.racy += usize::from(!explored.is_race_free());
        self.so_far.synchronized += usize::from(explored.is_race_free() && explored.orders_data());
    }

    /// Checks that enough of the compared programs race, and that enough are race-free and order
    /// data by synchronization. Otherwise the comparison has no value.
    fn end(&self) {
        let Compared { programs, racy, synchronized } = self.so_far;
        assert!(
            racy * 20 > programs && synchronized * 100 > programs,
            "{programs} programs, {racy} racy, {synchronized} synchronized"
        );
    }
}

#[test]
fn cat_and_exploration_agree_on_all_programs_of_two_threads_and_three_operations() {
    let kinds = Kind::ALL.to_vec();
    let bound = Bound { kinds, single_thread_scopes: true, ..Bound::new(2, 3, 2) };
    let mut comparison = Comparison::new();
    for _ in 0..3 {
        for generated in programs(&bound) {
            comparison.compare(&generated.program, &generated.to_text());
        }
        // In the next iteration, each program is compared under another reading.
        comparison.so_far.programs += 1;
    }
    assert!(comparison.so_far.racy > 0 && comparison.so_far.synchronized > 0);
}

#[test]
fn cat_and_exploration_agree_on_critical_cycles() {
    let mut comparison = Comparison::new();
    let bound = Bound::new(3, 6, 3);
    for generated in cycles(&bound).step_by(41).take(1500) {
        comparison.compare(&generated.program, &generated.to_text());
    }
    comparison.end();
}

#[test]
fn cat_and_exploration_agree_on_samples() {
    let mut comparison = Comparison::new();
    for generated in sample(&Bound::new(4, 8, 3), 3).take(400) {
        comparison.compare(&generated.program, &generated.to_text());
    }
    assert!(comparison.so_far.racy > 0);
}

#[test]
fn cat_and_exploration_agree_on_random_programs() {
    let mut comparison = Comparison::new();
    let mut rng = Rng(11);
    let features = Features {
        threads: 2,
        ops: 3,
        locations: 2,
        fences: true,
        barriers: true,
        spins: false,
        named: false,
        relaxed: false,
    };
    for n in 0..1500 {
        let features =
            if n % 3 == 0 { Features { threads: 3, ops: 2, named: true, ..features } } else { features };
        let program = random::program(&mut rng, features);
        comparison.compare(&program, &common::show(&program));
    }
    assert!(comparison.so_far.racy > 0 && comparison.so_far.synchronized > 0);
}

/// Compares the engine for cat models with the engine that explores the HRF models, on a public
/// collection of litmus tests, if the environment variable `FENCEPOST_LITMUS_SAMPLE` names its
/// folder. The tests are written by hand, and have loops, computed addresses and compare-and-swaps.
#[test]
fn cat_and_exploration_agree_on_the_sample() {
    let Some(root) = std::env::var_os("FENCEPOST_LITMUS_SAMPLE").map(PathBuf::from) else {
        eprintln!("skipped: FENCEPOST_LITMUS_SAMPLE does not name the sample's folder");
        return;
    };
    let mut comparison = Comparison::new();
    let mut compared = 0;
    for table in ["PTXv6_0", "PTXv7_5", "OPENCL"] {
        let text =
            fs::read_to_string(root.join(format!("{table}-expected.csv"))).expect("the table is readable");
        for file in text.lines().filter_map(|line| line.split(',').next()) {
            let text = fs::read_to_string(root.join(file)).expect("the test is readable");
            let program = parse(&text).unwrap_or_else(|e| panic!("{file}: {e}"));
            for _ in 0..comparison.models.len() {
                let (reading, _) = comparison.models[comparison.so_far.programs % comparison.models.len()];
                match hrf::check(&program, &Options::new(reading)) {
                    Ok(verdict) if verdict.incomplete.is_none() => {
                        comparison.compare(&program, file);
                        compared += 1;
                    }
                    // A construct that the models do not define is an error, and a loop
                    // that makes progress is cut. Then the engines see different
                    // executions.
                    _ => comparison.so_far.programs += 1,
                }
            }
        }
    }
    assert!(compared > 100, "only {compared} comparisons");
}
