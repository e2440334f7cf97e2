//! Seeded faults in every row of the tables and in every step of the plans:
//! which of them does some program notice?

use crate::programs::{self, Expected};
use crate::walker::{Bounds, walk_at_most};
use crate::{denovo, registered, remote};
use proto::{Change, Coverage, Mutation, Protocol, RowView, TableId, WritePolicy};
use std::collections::BTreeSet;
use zoo::denovo::DenovoB;
use zoo::hlrc::{Hlrc, HlrcRepaired};
use zoo::no_l1::NoL1;
use zoo::rsp::Rsp;
use zoo::vi::Vi;

const STATES_MAX: usize = 40_000;

/// A program on a machine, and the rows that it uses there.
struct Run {
    expected: Expected,
    bounds: Bounds,
    coverage: Coverage,
    states: usize,
}

fn runs<P: Protocol>(programs: impl Fn() -> Vec<Expected>) -> Vec<Run> {
    use WritePolicy::{Combining, Through, ThroughInvalidate};
    let bounds = [
        Bounds::new(Combining, Combining).tight(),
        Bounds::new(Combining, Combining),
        Bounds::new(Through, Through).tight(),
        Bounds::new(ThroughInvalidate, ThroughInvalidate),
    ];
    let mut runs = Vec::new();
    for bounds in bounds {
        for expected in programs() {
            // Mutants meet the smaller walks only.
            let found = walk_at_most::<P>(&expected.program, bounds, None, STATES_MAX);
            if found.states > STATES_MAX {
                continue;
            }
            assert!(found.violation.is_none() && found.outcomes.is_subset(&expected.outcomes));
            runs.push(Run { expected, bounds, coverage: found.coverage, states: found.states });
        }
    }
    runs.sort_by_key(|r| r.states);
    runs
}

/// Every change of every row and step, with the row's index.
fn changes<P: Protocol>() -> Vec<(Mutation, Option<usize>, String)> {
    let mut all = Vec::new();
    for view in P::tables() {
        for (row, what) in view.rows.iter().enumerate() {
            let RowView::Do(actions, next, _) = what else { continue };
            let (s, e) = (row / view.events.len(), row % view.events.len());
            let name = format!("{}: {} in {}", view.name, view.events[e].0, view.states[s].0);
            let index = row as u16;
            let mut add = |change, text: String| {
                all.push((Mutation { table: view.id, change }, Some(row), format!("{name}, {text}")));
            };
            for (i, action) in actions.iter().enumerate() {
                add(Change::DropAction { row: index, action: i as u8 }, format!("without {action}"));
            }
            for (state, (to, _)) in view.states.iter().enumerate() {
                // No line is ever put into the states that stand for missing bytes.
                if !["P", "RP", "IP"].contains(to) && *to != view.states[next.unwrap_or(s)].0 {
                    add(Change::NextState { row: index, state: state as u8 }, format!("to {to}"));
                }
            }
        }
    }
    all.extend(step_changes::<P>().into_iter().map(|(mutation, name)| (mutation, None, name)));
    all
}

/// Every step left out of all plans.
fn step_changes<P: Protocol>() -> Vec<(Mutation, String)> {
    let mut all = Vec::new();
    for view in P::plans() {
        for (step, (name, _)) in view.steps.iter().enumerate() {
            if view.plans.iter().any(|(_, steps)| steps.contains(name)) {
                let change = Change::DropStep { step: step as u8 };
                all.push((Mutation { table: view.id, change }, format!("{}: no {name}", view.name)));
            }
        }
    }
    all
}

fn fires(run: &Run, table: TableId, row: Option<usize>) -> bool {
    row.is_none_or(|row| run.coverage.count(table, row) > 0)
}

/// A walk that is given up because it grows has shown nothing by that.
fn is_killed<P: Protocol>(run: &Run, mutation: Mutation) -> bool {
    let states_max = (8 * run.states).clamp(STATES_MAX / 4, 4 * STATES_MAX);
    let found = walk_at_most::<P>(&run.expected.program, run.bounds, Some(mutation), states_max);
    let is_broken = found.violation.is_some() && found.states <= states_max;
    is_broken || !found.outcomes.is_subset(&run.expected.outcomes)
}

/// The faults that nobody notices, and the rows that nobody reaches.
fn survivors<P: Protocol>(programs: impl Fn() -> Vec<Expected>) -> BTreeSet<String> {
    let runs = runs::<P>(programs);
    let mut all = BTreeSet::new();
    for (mutation, row, name) in changes::<P>() {
        let mut using = runs.iter().filter(|run| fires(run, mutation.table, row)).peekable();
        if using.peek().is_none() {
            let row = name.split(',').next().unwrap_or(&name);
            all.insert(format!("{row} is not reached"));
        } else if !using.any(|run| is_killed::<P>(run, mutation)) {
            all.insert(name);
        }
    }
    all
}

/// `known` has a fault and, after a `#`, the reason why nobody can notice it.
fn only_known_faults_survive<P: Protocol>(known: &str, programs: impl Fn() -> Vec<Expected>) {
    let found = survivors::<P>(programs);
    let known: BTreeSet<String> =
        known.lines().map(|line| line.split(" # ").next().unwrap_or(line).to_owned()).collect();
    let list = |title: &str, a: &BTreeSet<String>, b: &BTreeSet<String>| {
        a.difference(b).fold(String::new(), |text, name| format!("{text}{title}: {name}\n"))
    };
    let differs = list("unnoticed", &found, &known) + &list("noticed after all", &known, &found);
    assert!(differs.is_empty(), "{differs}");
}

#[test]
fn every_seeded_fault_in_vi_is_noticed_but_for_those_that_are_argued() {
    only_known_faults_survive::<Vi>(include_str!("survivors.txt"), programs::all);
}

#[test]
fn every_seeded_fault_in_no_l1_is_noticed_but_for_those_that_are_argued() {
    only_known_faults_survive::<NoL1>(include_str!("survivors-no-l1.txt"), programs::all);
}

/// The programs of `vi` do the same on it, and others have remote operations.
#[test]
fn every_seeded_fault_in_rsp_is_noticed_but_for_those_that_are_argued() {
    let every = || remote::all().into_iter().chain(programs::all()).collect();
    only_known_faults_survive::<Rsp>(include_str!("survivors-rsp.txt"), every);
}

#[test]
fn every_seeded_fault_in_hlrc_is_noticed_but_for_those_that_are_argued() {
    only_known_faults_survive::<Hlrc>(include_str!("survivors-hlrc.txt"), registered::unmixed);
}

#[test]
fn every_seeded_fault_in_hlrc_repaired_is_noticed_but_for_those_that_are_argued() {
    let known = include_str!("survivors-hlrc-repaired.txt");
    only_known_faults_survive::<HlrcRepaired>(known, registered::every);
}

#[test]
fn every_seeded_fault_in_denovo_b_is_noticed_but_for_those_that_are_argued() {
    only_known_faults_survive::<DenovoB>(include_str!("survivors-denovo-b.txt"), denovo::every);
}
