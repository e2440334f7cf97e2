//! Seeded faults: a checker that notices none of them has checked nothing.
//!
//! A mutant is killed by an outcome that a claim forbids, by what the machine
//! must never do, by a run that cannot end: never by a panic.

use std::sync::atomic::{AtomicUsize, Ordering};

use proto::{
    Change, Level, Mutation, OpClass, Order, PlanKey, PlansView, Protocol, RowId, RowView, Symbol as _,
    TableId,
};
use rustc_hash::FxHashMap;

use crate::engine::Limits;
use crate::equivalent;
use crate::explorer::Asked;
use crate::rows;
use crate::verify::{Explorers, Machines, Options, Progress, Run, Test, explorer_of, explorers, in_parallel};

/// A protocol with one fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// What is changed.
    pub mutation: Mutation,
    /// The row that is changed, if it is one.
    pub row: Option<RowId>,
    /// Whose plan is changed, if it is that of some operations.
    pub plan: Option<PlanKey>,
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
    /// Those that nobody can notice, each with the reason: outside the total.
    pub equivalent: Vec<(String, String)>,
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
                    plan: None,
                    name: format!("{name}, {text}"),
                });
            };
            for (at, action) in actions.iter().enumerate() {
                add(Change::DropAction { row, action: at as u8 }, format!("without {action}"));
            }
            for (state, (to, _)) in view.states.iter().enumerate() {
                let stays = next.unwrap_or(index / view.events.len());
                // No line is ever put into the states that stand for missing bytes.
                if !["P", "RP", "IP"].contains(to) && state != stays {
                    add(Change::NextState { row, state: state as u8 }, format!("to {to}"));
                }
            }
            add(Change::ForgetByte { row }, "which forgets a byte that it sends".to_owned());
        }
    }
    for view in P::plans() {
        plan_faults(&view, &mut all);
    }
    all
}

/// What is one scope narrower, or several.
const NARROWER: [(Level, Level); 3] =
    [(Level::System, Level::Device), (Level::System, Level::WorkGroup), (Level::Device, Level::WorkGroup)];
/// What is weaker than an order.
const WEAKER: [(Order, Order); 5] = [
    (Order::Acquire, Order::Relaxed),
    (Order::Release, Order::Relaxed),
    (Order::AcqRel, Order::Acquire),
    (Order::AcqRel, Order::Release),
    (Order::SeqCst, Order::Relaxed),
];

/// A key in words.
fn key_name(key: PlanKey) -> String {
    let remote = if key.remote { "remote " } else { "" };
    format!("{remote}{} {} {}", key.op.name(), key.order.name(), key.level.name())
}

fn plan_faults(view: &PlansView, all: &mut Vec<Mutant>) {
    let mut add = |change, plan: Option<PlanKey>, text: String| {
        let name = format!("{}: {text}", view.name);
        all.push(Mutant { mutation: Mutation { table: view.id, change }, row: None, plan, name });
    };
    for (step, (name, _)) in view.steps.iter().enumerate() {
        if view.plans.iter().any(|(_, steps)| steps.contains(name)) {
            add(Change::DropStep { step: step as u8 }, None, format!("no {name}"));
        }
    }
    let steps_of = |key: PlanKey| view.plans.iter().find(|(k, _)| *k == key).map(|(_, steps)| steps);
    let is_made = |key: &PlanKey| {
        key.op != OpClass::KernelBegin
            && matches!(key.level, Level::WorkGroup | Level::Device | Level::System)
    };
    let mut seen: Vec<(OpClass, &Vec<&str>)> = Vec::new();
    let mut pairs: Vec<(OpClass, &Vec<&str>, &Vec<&str>)> = Vec::new();
    for (key, steps) in view.plans.iter().filter(|(key, _)| is_made(key)) {
        let (key, name) = (*key, key_name(*key));
        if !seen.contains(&(key.op, steps)) {
            seen.push((key.op, steps));
            for (at, step) in steps.iter().enumerate() {
                add(
                    Change::DropStepOf { plan: key, at: at as u8 },
                    Some(key),
                    format!("{name}, without {step}"),
                );
            }
            for (at, pair) in steps.windows(2).enumerate() {
                let text = format!("{name}, {} before {}", pair[1], pair[0]);
                add(Change::StepEarly { plan: key, at: at as u8 }, Some(key), text);
            }
        }
        let narrower = NARROWER.iter().filter(|(from, _)| *from == key.level);
        let narrower = narrower.map(|&(_, level)| PlanKey { level, ..key });
        let weaker = WEAKER.iter().filter(|(from, _)| *from == key.order);
        let weaker = weaker.map(|&(_, order)| PlanKey { order, ..key });
        let near = key.remote.then_some(PlanKey { remote: false, ..key });
        for other in narrower.chain(weaker).chain(near) {
            let Some(others) = steps_of(other).filter(|others| *others != steps) else { continue };
            if !pairs.contains(&(key.op, steps, others)) {
                pairs.push((key.op, steps, others));
                let text = format!("{name} as {}", key_name(other));
                add(Change::PlanAs { plan: key, other }, Some(key), text);
            }
        }
    }
}

enum Fate {
    Killed(String),
    Survives,
    Unreached,
    Undecided,
    /// It never changed anything.
    Void,
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
    witnesses = chosen(witnesses, tests);
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
            Fate::Void => {}
            Fate::Killed(by) => result.killed.push((mutant.name, by)),
            Fate::Survives => match equivalent::reason(P::INFO.name, &mutant.name) {
                Some(reason) => result.equivalent.push((mutant.name, reason.to_owned())),
                None => result.survivors.push(mutant.name),
            },
            Fate::Unreached => result.unreached.push(mutant.name),
            Fate::Undecided => result.undecided.push(mutant.name),
        }
    }
    result
}

/// A row is looked at by that many runs of tests that are explored on few machines.
const WITNESSES_OF_ROW_MAX: usize = 40;

/// The runs that may kill mutants, the smallest first: of tests that are explored
/// on every machine all, of the others those that use rows which few use.
fn chosen<'a>(mut witnesses: Vec<Witness<'a>>, tests: &[Test]) -> Vec<Witness<'a>> {
    witnesses.sort_by_key(|w| (w.run.states, w.run.test, w.run.placement, w.run.bounds));
    let mut used: FxHashMap<usize, usize> = FxHashMap::default();
    let (all, others): (Vec<_>, Vec<_>) =
        witnesses.into_iter().partition(|w| tests[w.run.test].machines == Machines::All);
    for row in all.iter().flat_map(|w| w.run.rows.iter()) {
        *used.entry(row).or_default() += 1;
    }
    let mut keys: Vec<PlanKey> = Vec::new();
    let mut chosen = all;
    for witness in others {
        let is_rare = |row| used.get(&row).is_none_or(|&count| count < WITNESSES_OF_ROW_MAX);
        let is_new = |key: &PlanKey| keys.iter().filter(|k| *k == key).count() < WITNESSES_OF_ROW_MAX;
        if witness.run.rows.iter().any(is_rare) || witness.run.keys.iter().any(is_new) {
            for row in witness.run.rows.iter() {
                *used.entry(row).or_default() += 1;
            }
            keys.extend(witness.run.keys.iter().filter(|key| is_new(key)).copied().collect::<Vec<_>>());
            chosen.push(witness);
        }
    }
    chosen.sort_by_key(|w| (w.run.states, w.run.test, w.run.placement, w.run.bounds));
    chosen
}

fn fate<P: Protocol>(
    mutant: &Mutant,
    tests: &[Test],
    witnesses: &[Witness<'_>],
    options: &Options<'_>,
) -> Fate {
    let mut explorers: Explorers<P> = explorers(&options.bounds, Some(mutant.mutation));
    let (mut reached, mut altered) = (false, false);
    let plan_keys = mutant.plan.map(|key| same_plans::<P>(mutant.mutation.table, key));
    for witness in witnesses {
        let run = witness.run;
        if mutant.row.is_some_and(|row| !run.rows.contains(row))
            || plan_keys.as_ref().is_some_and(|keys| run.keys.iter().all(|key| !keys.contains(key)))
        {
            continue;
        }
        if (options.stop)() {
            return Fate::Undecided;
        }
        reached = true;
        let test = &tests[run.test];
        let program = &*test.program();
        let asked = Asked { allowed: run.allowed.as_deref(), may_block: witness.may_block };
        let mut limits = Limits {
            states_max: 1000 + GROWTH_MAX * run.states,
            stop: Box::new(|| (options.stop)()),
            ..Limits::default()
        };
        let placement = &test.placements[run.placement];
        let explorer = &mut explorers[run.bounds][explorer_of(program)];
        let found = explorer.explore(program, placement, &asked, &mut limits);
        let Ok(found) = found else { continue };
        altered |= found.altered;
        if let Some(violation) = found.violation {
            return Fate::Killed(format!("{}: {}", test.name, violation.why));
        }
    }
    match (reached, altered || !matches!(mutant.mutation.change, Change::ForgetByte { .. })) {
        (_, false) => Fate::Void,
        (true, true) => Fate::Survives,
        (false, true) => Fate::Unreached,
    }
}

/// The keys that have the plan of this one.
fn same_plans<P: Protocol>(table: TableId, key: PlanKey) -> Vec<PlanKey> {
    let views = P::plans();
    let Some(view) = views.iter().find(|view| view.id == table) else { return Vec::new() };
    let of = view.plans.iter().find(|(other, _)| *other == key).map(|(_, steps)| steps);
    let same = view.plans.iter().filter(|(other, steps)| other.op == key.op && Some(steps) == of);
    same.map(|(other, _)| *other).collect()
}
