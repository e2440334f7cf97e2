//! Seeded faults: a checker that notices none of them has checked nothing.
//!
//! A mutant is killed by an outcome that a claim forbids, by what the machine
//! must never do, by a run that cannot end: never by a panic.

use std::sync::atomic::{AtomicUsize, Ordering};

use proto::{Change, Mutation, Protocol, RowId, RowView};

use crate::engine::Limits;
use crate::explorer::{Asked, Explorer};
use crate::rows;
use crate::verify::{Options, Progress, Run, Test, in_parallel};

/// A protocol with one fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// What is changed.
    pub mutation: Mutation,
    /// The row that is changed, if it is one.
    pub row: Option<RowId>,
    /// What is changed, in words.
    pub name: String,
}

/// What became of the mutants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mutants {
    /// Those killed, each with the test that killed it.
    pub killed: Vec<(String, String)>,
    /// Those that no test noticed.
    pub survivors: Vec<String>,
    /// Those whose row no test reaches.
    pub unreached: Vec<String>,
    /// Those that were not looked at to the end.
    pub undecided: Vec<String>,
}

impl Mutants {
    /// How many there are.
    #[must_use]
    pub fn total(&self) -> usize {
        self.killed.len() + self.survivors.len() + self.unreached.len() + self.undecided.len()
    }
}

/// A sound run that may kill mutants.
pub(crate) struct Witness<'a> {
    pub(crate) run: &'a Run,
    pub(crate) may_block: bool,
}

/// Every fault that can be seeded into the tables and plans of a protocol.
#[must_use]
pub fn all<P: Protocol>() -> Vec<Mutant> {
    let mut all = Vec::new();
    for view in P::tables() {
        for (index, what) in view.rows.iter().enumerate() {
            let RowView::Do(actions, next, _) = what else { continue };
            let row = index as u16;
            let name = rows::name(&view, index);
            let mut add = |change, text: String| {
                all.push(Mutant {
                    mutation: Mutation { table: view.id, change },
                    row: Some(RowId { table: view.id, row }),
                    name: format!("{name}, {text}"),
                });
            };
            for (at, action) in actions.iter().enumerate() {
                add(Change::DropAction { row, action: at as u8 }, format!("without {action}"));
            }
            for (state, (to, _)) in view.states.iter().enumerate() {
                let stays = next.unwrap_or(index / view.events.len());
                // No line is ever put into the state that stands for missing bytes.
                if *to != "P" && state != stays {
                    add(Change::NextState { row, state: state as u8 }, format!("to {to}"));
                }
            }
        }
    }
    for view in P::plans() {
        for (step, (name, _)) in view.steps.iter().enumerate() {
            if view.plans.iter().any(|(_, steps)| steps.contains(name)) {
                let change = Change::DropStep { step: step as u8 };
                let name = format!("{}: no {name}", view.name);
                all.push(Mutant { mutation: Mutation { table: view.id, change }, row: None, name });
            }
        }
    }
    all
}

enum Fate {
    Killed(String),
    Survives,
    Unreached,
    Undecided,
}

/// How many more states a mutant may have than the protocol, before its run is
/// given up: that shows nothing.
const GROWTH_MAX: u64 = 4;

/// Tries to kill every mutant with the runs, the smallest first.
pub(crate) fn kill<P: Protocol>(
    tests: &[Test],
    mut witnesses: Vec<Witness<'_>>,
    options: &Options<'_>,
) -> Mutants {
    witnesses.sort_by_key(|w| (w.run.states, w.run.test, w.run.placement, w.run.bounds));
    let mutants = all::<P>();
    let done = AtomicUsize::new(0);
    let fates = in_parallel(options.jobs, mutants.len(), || {
        |index: usize| {
            let fate = fate::<P>(&mutants[index], tests, &witnesses, options);
            let count = done.fetch_add(1, Ordering::Relaxed) + 1;
            (options.progress)(Progress::Mutants(count, mutants.len()));
            fate
        }
    });
    let mut result = Mutants::default();
    for (mutant, fate) in mutants.into_iter().zip(fates) {
        match fate {
            Fate::Killed(by) => result.killed.push((mutant.name, by)),
            Fate::Survives => result.survivors.push(mutant.name),
            Fate::Unreached => result.unreached.push(mutant.name),
            Fate::Undecided => result.undecided.push(mutant.name),
        }
    }
    result
}

fn fate<P: Protocol>(
    mutant: &Mutant,
    tests: &[Test],
    witnesses: &[Witness<'_>],
    options: &Options<'_>,
) -> Fate {
    let mut explorers: Vec<Explorer<P>> =
        options.bounds.iter().map(|&bounds| Explorer::new(bounds, Some(mutant.mutation))).collect();
    let mut reached = false;
    for witness in witnesses {
        let run = witness.run;
        if mutant.row.is_some_and(|row| !run.rows.contains(&row)) {
            continue;
        }
        if (options.stop)() {
            return Fate::Undecided;
        }
        reached = true;
        let test = &tests[run.test];
        let asked = Asked { allowed: run.allowed.as_ref(), may_block: witness.may_block };
        let mut limits = Limits {
            states_max: 1000 + GROWTH_MAX * run.states,
            stop: Box::new(|| (options.stop)()),
            ..Limits::default()
        };
        let placement = &test.placements[run.placement];
        let found = explorers[run.bounds].explore(&test.program, placement, &asked, &mut limits);
        if let Ok(found) = found
            && let Some(violation) = found.violation
        {
            return Fate::Killed(format!("{}: {}", test.name, violation.why));
        }
    }
    if reached { Fate::Survives } else { Fate::Unreached }
}
