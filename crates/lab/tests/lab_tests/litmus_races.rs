//! Compares the race detector of simulated runs with the exhaustive verdicts on litmus tests. The
//! detector reports no race in a race-free program, and finds a race if the schedule reaches it.

use lab::litmus::program;
use lab::race::{Detector, Pairing, RaceModel, RaceOptions};
use lab::run::program_on;
use lab::systems::Systems;
use litmus::generate::{Bound, Kind, programs, sample};
use litmus::hrf::{self, Model, Options, Reading, RelaxedAs, SyncOrder};
use litmus::program::{Expr, Instr, Program, Reg, Register};
use sim::RunOptions;
use sim::config::System;

const MODELS: [(Model, RaceModel); 3] = [
    (Model::Drf, RaceModel::Drf),
    (Model::HrfDirect, RaceModel::HrfDirect),
    (Model::HrfIndirect, RaceModel::HrfIndirect),
];

fn machine() -> System {
    Systems::with_folder("none").load("hrf-8cu").expect("a built-in machine")
}

/// The races that the detector finds in runs of the test with `seeds` seeds. If `until_found` is
/// true, the runs may end early once a race is found.
fn seen(system: &System, test: &Program, options: RaceOptions, seeds: u64, until_found: bool) -> Vec<String> {
    let mut detector = Detector::new(options);
    for seed in 0..seeds {
        // The first run has no delays. The other runs have no delays, short delays or long delays
        // in turn.
        let delay = [0, 40, 400][(seed % 3) as usize];
        let program = program(test, delay, seed).expect("made to run");
        let run = RunOptions { seed, patience_cycles: 20_000, ..RunOptions::default() };
        // If a run waits forever, the detector has already seen its race, so the error is ignored.
        let _ = program_on(system, "no-l1", program, run, &mut detector);
        if until_found && seed % 8 == 7 && !detector.has_no_races() {
            break;
        }
    }
    let races = detector.finish().races;
    races
        .iter()
        .map(|race| format!("{} at {} and {}", race.location, race.first.line, race.second.line))
        .collect()
}

/// Returns the test with each `await` replaced by a loop of loads, which is what a machine
/// executes. An `await` is a single read, but each round of the loop is a read that may race.
fn spinning(test: &Program) -> Program {
    let mut test = test.clone();
    for thread in &mut test.threads {
        let is_await = |instr: &Instr| matches!(instr, Instr::Await { .. });
        let moved: Vec<usize> = (0..=thread.code.len())
            .map(|at| at + thread.code[..at].iter().filter(|instr| is_await(instr)).count())
            .collect();
        let mut code = Vec::new();
        for mut instr in core::mem::take(&mut thread.code) {
            match &mut instr {
                Instr::Await { dst, access, cmp, value } => {
                    let dst = dst.unwrap_or_else(|| {
                        let name = format!("spin{}", thread.registers.len());
                        thread.registers.push(Register { name, init: 0 });
                        Reg((thread.registers.len() - 1) as u16)
                    });
                    let target = code.len();
                    code.push(Instr::Load { dst, access: access.clone() });
                    let holds = Expr::binary(*cmp, Expr::Reg(dst), value.clone());
                    code.push(Instr::Branch { cond: holds.equals(0), target, join: None });
                    continue;
                }
                Instr::Jump { target } => *target = moved[*target],
                Instr::Branch { target, join, .. } => {
                    *target = moved[*target];
                    *join = join.map(|at| moved[at]);
                }
                _ => {}
            }
            code.push(instr);
        }
        thread.lines = vec![0; code.len()];
        thread.unsequenced.clear();
        thread.code = code;
    }
    test
}

/// The results of the race detector on some tests: the numbers of race-free and racy cases, and the
/// names of racy cases in which it found no race.
#[derive(Debug, Default)]
struct Tally {
    race_free: u32,
    racy: u32,
    never_seen: Vec<String>,
}

impl Tally {
    fn add(&mut self, system: &System, name: &str, test: &Program, seeds: u64) {
        let test = &spinning(test);
        for (model, race_model) in MODELS {
            for (order, pairing) in [
                (SyncOrder::AnyLocation, Pairing::AnyLocation),
                (SyncOrder::SameLocation, Pairing::SameLocation),
            ] {
                let reading = Reading { so: order, relaxed_as: Some(RelaxedAs::Sync), ..Reading::of(model) };
                let Ok(verdict) = hrf::check(test, &Options::new(reading)) else { continue };
                if verdict.incomplete.is_some() {
                    continue;
                }
                let is_race_free = verdict.is_race_free();
                let options = RaceOptions { model: race_model, pairing };
                let races = seen(system, test, options, seeds, !is_race_free);
                let title = format!("{name} under {race_model:?}, {pairing:?}");
                if is_race_free {
                    assert_eq!(races, Vec::<String>::new(), "{title} is free of races");
                    self.race_free += 1;
                } else {
                    self.racy += 1;
                    if races.is_empty() {
                        self.never_seen.push(title);
                    }
                }
            }
        }
    }
}

#[test]
fn shipped_tests() {
    let system = machine();
    let mut tally = Tally::default();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus");
    let mut paths = Vec::new();
    for part in ["hrf", "opencl", "c11"] {
        for entry in std::fs::read_dir(folder.join(part)).expect("the shipped tests") {
            let path = entry.expect("a file").path();
            if path.extension().is_some_and(|end| end == "litmus") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    for path in paths {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let test =
            litmus::parse::parse(&std::fs::read_to_string(&path).expect("text")).expect("a sound test");
        if program(&test, 0, 0).is_ok() {
            tally.add(&system, &name, &test, 24);
        }
    }
    assert!(tally.race_free >= 100 && tally.racy >= 50, "{tally:#?}");
    assert_eq!(tally.never_seen, Vec::<String>::new());
}

#[test]
fn generated_programs() {
    let system = machine();
    let mut tally = Tally::default();
    let mut bound = Bound::new(2, 4, 2);
    bound.kinds = vec![Kind::Load, Kind::Store, Kind::SyncStore, Kind::Await, Kind::ConditionalLoad];
    for (n, generated) in programs(&bound).enumerate().filter(|(n, _)| n % 97 == 0).take(150) {
        tally.add(&system, &format!("program {n}"), &generated.program, 12);
    }
    let bound = Bound::new(3, 6, 2);
    for (n, generated) in sample(&bound, 7).take(100).enumerate() {
        tally.add(&system, &format!("sample {n}"), &generated.program, 12);
    }
    assert!(tally.race_free >= 100 && tally.racy >= 500, "{tally:#?}");
    assert_eq!(tally.never_seen, Vec::<String>::new());
}
