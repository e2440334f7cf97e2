//! Seeded faults in every row of the tables and in every step of the plans:
//! which of them does some program notice?

use crate::programs::{self, Expected};
use crate::walker::{Bounds, walk};
use proto::{Change, Coverage, Mutation, Protocol, RowView, TableId, WritePolicy};
use std::collections::BTreeSet;
use zoo::vi::Vi;

const STATES_MAX: usize = 8_000;

/// A program on a machine, and the rows that it uses there.
struct Run {
    expected: Expected,
    bounds: Bounds,
    coverage: Coverage,
    states: usize,
}

fn runs<P: Protocol>() -> Vec<Run> {
    use WritePolicy::{Combining, Through, ThroughInvalidate};
    let bounds = [
        Bounds::new(Combining, Combining).tight(),
        Bounds::new(Combining, Combining),
        Bounds::new(Through, Through).tight(),
        Bounds::new(ThroughInvalidate, ThroughInvalidate),
    ];
    let mut runs = Vec::new();
    for bounds in bounds {
        for expected in programs::all() {
            // Mutants meet the smaller walks only.
            let found = walk::<P>(&expected.program, bounds, None);
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
                // No line is ever put into the state that stands for missing bytes.
                if *to != "P" && *to != view.states[next.unwrap_or(s)].0 {
                    add(Change::NextState { row: index, state: state as u8 }, format!("to {to}"));
                }
            }
        }
    }
    for view in P::plans() {
        for (step, (name, _)) in view.steps.iter().enumerate() {
            if view.plans.iter().any(|(_, steps)| steps.contains(name)) {
                let change = Change::DropStep { step: step as u8 };
                all.push((Mutation { table: view.id, change }, None, format!("{}: no {name}", view.name)));
            }
        }
    }
    all
}

fn fires(run: &Run, table: TableId, row: Option<usize>) -> bool {
    row.is_none_or(|row| run.coverage.count(table, row) > 0)
}

fn is_killed<P: Protocol>(run: &Run, mutation: Mutation) -> bool {
    let found = walk::<P>(&run.expected.program, run.bounds, Some(mutation));
    found.violation.is_some() || !found.outcomes.is_subset(&run.expected.outcomes)
}

/// The faults that nobody notices, but for those that are `known`.
fn survivors<P: Protocol>(known: &str) -> String {
    let known: BTreeSet<&str> = known.lines().map(|line| line.split(" # ").next().unwrap_or(line)).collect();
    let runs = runs::<P>();
    let mut text = String::new();
    for (mutation, row, name) in changes::<P>() {
        let mut using = runs.iter().filter(|run| fires(run, mutation.table, row));
        if !known.contains(name.as_str()) && !using.any(|run| is_killed::<P>(run, mutation)) {
            text += &format!("{name}\n");
        }
    }
    text
}

/// `survivors.txt` holds the others, each with the reason after a `#`.
#[test]
fn every_seeded_fault_is_noticed_but_for_those_that_are_argued() {
    let found = survivors::<Vi>(include_str!("survivors.txt"));
    assert_eq!(found, "", "faults that no program notices");
}
