//! Seeded faults, which test whether the verification detects errors of a protocol.
//!
//! A mutant is killed by a forbidden outcome, an impossible step, a panic of a controller, a deadlock
//! or a livelock.

pub(crate) mod equivalent;
pub(crate) mod rows;

use proto::{
    Change, Level, OpClass, Order, PlanKey, PlansView, RowId, RowView, SeededFault, Symbol as _, TableView,
};

use crate::subject::Subject;
use rows::RowName;

pub use equivalent::is_named;

/// A protocol with one seeded fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// The change of the protocol's tables (rows for states and events) or plans (steps of
    /// operations).
    pub seeded_fault: SeededFault,
    /// The changed row of a table, or `None` if a plan (the steps of an operation) is changed.
    pub row: Option<RowId>,
    /// The key of the changed plan (the steps of an operation), or `None` if the change concerns a
    /// row of a table, or removes a step from every plan that has the step.
    pub plan: Option<PlanKey>,
    /// The name of the mutant, which describes the change.
    pub name: String,
}

/// The names of all mutants, grouped by the result of their trials.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mutants {
    /// The killed mutants, each with the test that killed it.
    pub killed: Vec<(String, String)>,
    /// The mutants that no test killed.
    pub survivors: Vec<String>,
    /// The equivalent mutants, each with the reason why no program can detect the fault. They do
    /// not count in the total.
    pub equivalent: Vec<(String, String)>,
    /// The mutants whose change had no effect on any step of a controller, because no run reached
    /// the change.
    pub unreached: Vec<String>,
    /// The mutants whose change is reached only by programs to which no claim applies, such as a
    /// change of fences if no claimed model defines fences.
    pub unasked: Vec<String>,
    /// The mutants that the protocol argues to be equivalent, but that a test killed.
    pub misargued: Vec<String>,
    /// The mutants with incomplete trials, of which the result is not known.
    pub undecided: Vec<String>,
    /// The mutants that were not seeded, each with the reason. They do not count in the total.
    pub unseeded: Vec<(String, String)>,
}

impl Mutants {
    /// The number of mutants that can be killed: all mutants except for those that are not seeded,
    /// equivalent, unreached, or outside all claims.
    #[must_use]
    pub fn total(&self) -> usize {
        self.killed.len() + self.survivors.len() + self.undecided.len()
    }
}

/// Every fault that can be seeded into the tables and the plans (steps of operations) of a
/// protocol, each as a mutant.
#[must_use]
pub fn all(subject: &Subject) -> Vec<Mutant> {
    let mut all = Vec::new();
    for view in (subject.tables)() {
        for (index, what) in view.rows.iter().enumerate() {
            let name = RowName::of(&view, index);
            let mut add = |change, text: String| {
                all.push(Mutant {
                    seeded_fault: SeededFault { table: view.id, change },
                    row: Some(RowId { table: view.id, row: index as u16 }),
                    plan: None,
                    name: format!("{name}, {text}"),
                });
            };
            match what {
                RowView::Do(actions, next, _) => row_faults(&view, index, actions, *next, &mut add),
                RowView::Stall => stall_faults(&view, index, &mut add),
                RowView::Impossible(_) => {}
            }
        }
    }
    for view in (subject.plans)() {
        plan_faults(&view, &mut all);
    }
    all
}

fn row_faults(
    view: &TableView,
    index: usize,
    actions: &[&str],
    next: Option<usize>,
    add: &mut impl FnMut(Change, String),
) {
    let row = index as u16;
    for (at, action) in actions.iter().enumerate() {
        add(Change::DropAction { row, action: at as u8 }, format!("without {action}"));
    }
    for (state, (to, _)) in view.states.iter().enumerate() {
        let stays = next.unwrap_or(index / view.events.len());
        if !view.never_stored.contains(&state) && state != stays {
            add(Change::NextState { row, state: state as u8 }, format!("to {to}"));
        }
    }
    add(Change::ForgetByte { row }, "which forgets a byte that it sends".to_owned());
}

/// Adds the faults of a row that stalls its input. With such a fault, the row handles the input as
/// the row of another state does. States whose rows handle the input alike give one fault.
fn stall_faults(view: &TableView, index: usize, add: &mut impl FnMut(Change, String)) {
    let events = view.events.len();
    let mut seen = Vec::new();
    for (state, (name, _)) in view.states.iter().enumerate() {
        let other = &view.rows[state * events + index % events];
        if matches!(other, RowView::Do(..)) && !seen.contains(&other) {
            seen.push(other);
            add(Change::NoStall { row: index as u16, state: state as u8 }, format!("as in {name}"));
        }
    }
}

/// Pairs of a scope level and a narrower scope level.
const NARROWER: [(Level, Level); 3] =
    [(Level::System, Level::Device), (Level::System, Level::WorkGroup), (Level::Device, Level::WorkGroup)];
/// Pairs of a memory order and a weaker memory order.
const WEAKER: [(Order, Order); 5] = [
    (Order::Acquire, Order::Relaxed),
    (Order::Release, Order::Relaxed),
    (Order::AcqRel, Order::Acquire),
    (Order::AcqRel, Order::Release),
    (Order::SeqCst, Order::Relaxed),
];

/// The description of a plan's key (operation, order, scope and hints) in words.
fn key_name(key: PlanKey) -> String {
    let remote = if key.remote { "remote " } else { "" };
    let commutative = if key.commutative { "commutative " } else { "" };
    format!("{remote}{commutative}{} {} {}", key.op.name(), key.order.name(), key.level.name())
}

/// The names of the steps of a plan. If a name occurs several times, its later occurrences get a
/// number.
fn numbered(steps: &[&str]) -> Vec<String> {
    let number = |at: usize| steps[..=at].iter().filter(|step| **step == steps[at]).count();
    let name = |at: usize| match number(at) {
        1 => steps[at].to_owned(),
        number => format!("{} ({number})", steps[at]),
    };
    (0..steps.len()).map(name).collect()
}

fn plan_faults(view: &PlansView, all: &mut Vec<Mutant>) {
    let mut add = |change, plan: Option<PlanKey>, text: String| {
        let name = format!("{}: {text}", view.name);
        all.push(Mutant { seeded_fault: SeededFault { table: view.id, change }, row: None, plan, name });
    };
    for (step, (name, _)) in view.steps.iter().enumerate() {
        if view.plans.iter().any(|(_, steps)| steps.contains(name)) {
            add(Change::DropStep { step: step as u8 }, None, format!("no {name}"));
        }
    }
    let steps_of = |key: PlanKey| view.plans.iter().find(|(k, _)| *k == key).map(|(_, steps)| steps);
    let is_used = |key: &PlanKey| matches!(key.level, Level::WorkGroup | Level::Device | Level::System);
    let mut seen: Vec<(OpClass, &Vec<&str>)> = Vec::new();
    let mut pairs: Vec<(OpClass, &Vec<&str>, &Vec<&str>)> = Vec::new();
    for (key, steps) in view.plans.iter().filter(|(key, _)| is_used(key)) {
        let (key, name) = (*key, key_name(*key));
        if !seen.contains(&(key.op, steps)) {
            seen.push((key.op, steps));
            let steps = &numbered(steps);
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
        let ordered = key.commutative.then_some(PlanKey { commutative: false, ..key });
        for other in narrower.chain(weaker).chain(near).chain(ordered) {
            let Some(others) = steps_of(other).filter(|others| *others != steps) else { continue };
            if !pairs.contains(&(key.op, steps, others)) {
                pairs.push((key.op, steps, others));
                let text = format!("{name} as {}", key_name(other));
                add(Change::PlanAs { plan: key, other }, Some(key), text);
            }
        }
    }
}
