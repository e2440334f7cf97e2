//! Explains in words why an outcome is allowed or forbidden.
//!
//! A forbidden outcome is explained by checks of the model. A check explains the outcome if the
//! outcome would be allowed without this check. The explanation shows an execution with the
//! outcome, and the cycle in this execution that the check forbids.

use core::fmt::Write as _;
use std::ops::ControlFlow;

use crate::cat::{CheckKind, Model, stage};
use crate::exec::matrix;
use crate::exec::set::{EventSet, Word};
use crate::exec::skeleton::Skeleton;
use crate::exec::unfold::{Unfolding, numbers_of, unfold};
use crate::parse::TextError;
use crate::program::{Program, Prop, Quantifier, Term, ThreadId};

use super::execution::Execution;
use super::outcome::final_states;
use super::report::{Flag, Report};
use super::search::{AllowedExecution, Halt, SearchOptions, Visitor, search};
use super::{Gaps, Options, Paths, fence_orders, for_each_skeleton};

/// A check of the model that forbids an outcome which all other checks allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The check's name in the model.
    pub check: String,
    /// The property that the check requires.
    pub kind: CheckKind,
    /// An execution that the check `check` forbids and that all other checks of the model allow.
    pub execution: Execution,
    /// The events of a cycle that the check forbids. For a check that is not about cycles, the
    /// events of a pair that the check forbids.
    pub cycle: Vec<usize>,
}

/// Finds each check that alone forbids some execution with the property of the test's condition:
/// all other checks allow this execution. For a `forall` condition, the execution must lack the
/// property instead.
///
/// # Errors
/// If the model does not fit the test.
pub fn refusals(
    program: &Program,
    model: &Model,
    options: &mut Options<'_>,
) -> Result<Vec<Refusal>, TextError> {
    let unfoldings: Vec<Unfolding> = (0..program.threads.len())
        .map(|t| unfold(program, ThreadId(t as u8), options.unroll, false))
        .collect();
    let numbers = numbers_of(program);
    let search_options = SearchOptions {
        file: &model.file,
        partial_coherence: model.partial_coherence,
        numbers: &numbers,
        unchecked: false,
        wide: false,
    };
    let wanted = match program.condition.quantifier {
        Quantifier::Exists | Quantifier::NotExists => program.condition.prop.clone(),
        Quantifier::Forall => Prop::Not(Box::new(program.condition.prop.clone())),
    };
    let mut refusals: Vec<Refusal> = Vec::new();
    let mut gaps = Gaps::default();
    for_each_skeleton(program, &unfoldings, Paths::Whole, &mut gaps, &mut |skeleton| {
        let Some(skeleton) = skeleton else { return Ok(!(options.stop)()) };
        if skeleton.fault.is_some() || skeleton.divergent {
            return Ok(true);
        }
        let staged = stage::stage(model, &skeleton)?;
        let syncs = if staged.uses_sync_fence {
            fence_orders(&skeleton)
        } else {
            vec![vec![EventSet::EMPTY; skeleton.len()]]
        };
        for number in 0..staged.checks.len() {
            let check = &staged.checks[number];
            let known = refusals.iter().any(|r| r.check == check.name);
            if check.flag || check.negated || known || check.name.is_empty() {
                continue;
            }
            // The check is replaced by a flag with the opposite condition. The flag holds on
            // executions on which the check fails.
            let (name, kind) = (check.name.clone(), check.kind);
            let mut without = staged.clone();
            without.checks[number].flag = true;
            without.checks[number].negated = true;
            let mut visitor = PropertyVisitor {
                program,
                skeleton: &skeleton,
                wanted: &wanted,
                check: number,
                found: None,
                stop: &mut options.stop,
                stopped: false,
            };
            match search(&skeleton, without, &search_options, &syncs, &mut visitor) {
                Ok(_) | Err(Halt::Stopped) => {}
                Err(Halt::Model(error)) => return Err(error),
            }
            if let Some((execution, rows)) = visitor.found {
                refusals.push(Refusal { check: name, kind, execution, cycle: violation(kind, &rows) });
            }
            if visitor.stopped {
                return Ok(false);
            }
        }
        Ok(true)
    })?;
    Ok(refusals)
}

/// A visitor that looks for one execution with two properties: its final state has the property
/// `wanted`, and the check with the number `check` fails.
struct PropertyVisitor<'a, 'p> {
    program: &'a Program,
    skeleton: &'a Skeleton<'p>,
    wanted: &'a Prop,
    check: usize,
    found: Option<(Execution, Vec<EventSet>)>,
    stop: &'a mut dyn FnMut() -> bool,
    stopped: bool,
}

impl Visitor for PropertyVisitor<'_, '_> {
    fn execution<W: Word>(&mut self, found: &AllowedExecution<'_, W>) -> ControlFlow<()> {
        let Some((_, rows)) = found.flags.iter().find(|(number, _)| *number == self.check) else {
            return ControlFlow::Continue(());
        };
        let mut terms = Vec::new();
        self.wanted.collect_terms(&mut terms);
        if let Some(filter) = &self.program.filter {
            filter.collect_terms(&mut terms);
        }
        let mut hit = false;
        let _ = final_states(self.skeleton, &terms, found, &mut |key| {
            let mut value = |term: Term| match term {
                Term::Const(value) => value,
                term => terms.iter().position(|t| *t == term).map_or(0, |at| key[at]),
            };
            hit |= self.wanted.holds(&mut value)
                && self.program.filter.as_ref().is_none_or(|filter| filter.holds(&mut value));
            if hit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if !hit {
            return ControlFlow::Continue(());
        }
        self.found = Some((Execution::of(self.skeleton, found), rows.clone()));
        ControlFlow::Break(())
    }

    fn stop(&mut self) -> bool {
        self.stopped |= (self.stop)();
        self.stopped
    }

    fn wants_flag(&self, _: usize) -> bool {
        true
    }
}

/// The events by which the relation `rows` violates a check of this kind: the events of a shortest
/// cycle (acyclic), an event that is related to itself (irreflexive), or the events of the first
/// pair (empty).
fn violation(kind: CheckKind, rows: &[EventSet]) -> Vec<usize> {
    match kind {
        CheckKind::Acyclic => matrix::shortest_cycle(rows).unwrap_or_default(),
        CheckKind::Irreflexive => {
            (0..rows.len()).find(|&e| rows[e].has(e)).map(|e| vec![e]).unwrap_or_default()
        }
        CheckKind::Empty => {
            rows.iter().enumerate().find_map(|(from, row)| Some(vec![from, row.first()?])).unwrap_or_default()
        }
    }
}

/// Describes the execution in words: one line for each event, then the reads-from relation and the
/// coherence order.
#[must_use]
pub fn narrate(program: &Program, execution: &Execution) -> String {
    let mut text = String::new();
    for event in 0..execution.events.len() {
        let _ = writeln!(text, "  {}", execution.describe(program, event));
    }
    let arrows = |name: &str, pairs: &[(usize, usize)]| {
        let list: Vec<String> = pairs
            .iter()
            .map(|&(from, to)| format!("{}->{}", execution.letter(from), execution.letter(to)))
            .collect();
        if list.is_empty() { String::new() } else { format!("  {name}: {}\n", list.join(" ")) }
    };
    text.push_str(&arrows("rf", &execution.rf));
    text.push_str(&arrows("co", &execution.co));
    text
}

/// The cycle of a refusal (a check that forbids an execution which all other checks allow) as text:
/// the labels of its events and the relations between them, such as `b -po-> c -fr-> b`.
#[must_use]
pub fn cycle_text(execution: &Execution, refusal: &Refusal) -> String {
    let cycle = &refusal.cycle;
    if cycle.is_empty() {
        return "the relation is not empty".to_owned();
    }
    let mut text = execution.letter(cycle[0]);
    let closes = refusal.kind != CheckKind::Empty;
    let steps = if closes { cycle.len() } else { cycle.len() - 1 };
    for at in 0..steps {
        let (from, to) = (cycle[at], cycle[(at + 1) % cycle.len()]);
        let _ = write!(text, " -{}-> {}", edge_name(execution, from, to), execution.letter(to));
    }
    text
}

/// The name of the simplest relation of the execution that contains the pair (`from`, `to`).
fn edge_name(execution: &Execution, from: usize, to: usize) -> &'static str {
    let pair = &(from, to);
    let same_thread = execution.events[from].thread.is_some()
        && execution.events[from].thread == execution.events[to].thread;
    if execution.rf.contains(pair) {
        "rf"
    } else if execution.fr.contains(pair) {
        "fr"
    } else if execution.co.contains(pair) {
        "co"
    } else if same_thread && from < to {
        "po"
    } else {
        "..."
    }
}

/// Explains a report in words. If some allowed execution has the outcome of the condition, shows
/// this execution. Otherwise shows the checks of the model that forbid the outcome. The flags and
/// notes of the report follow.
///
/// # Errors
/// If the model does not fit the test.
pub fn explain(
    program: &Program,
    model: &Model,
    report: &Report,
    options: &mut Options<'_>,
) -> Result<String, TextError> {
    let mut text = String::new();
    let met = if report.verdict { "is met" } else { "is not met" };
    let _ =
        writeln!(text, "{}: under {} the condition {} {met}.", report.test, report.model, report.condition);
    let wants_positive = report.quantifier != Quantifier::Forall;
    let witness = report
        .states
        .iter()
        .find(|s| s.satisfies == wants_positive)
        .and_then(|s| s.example.as_deref().map(|example| (s, example)));
    match witness {
        Some((state, execution)) => {
            let _ = writeln!(text, "This execution ends with {state}");
            text.push_str(&narrate(program, execution));
        }
        None => {
            let what = if wants_positive { "that outcome" } else { "another outcome" };
            let mut stopped = false;
            let mut stop = || {
                stopped |= (options.stop)();
                stopped
            };
            let mut until = Options { unroll: options.unroll, stop: Box::new(&mut stop) };
            let refusals = refusals(program, model, &mut until)?;
            drop(until);
            if stopped {
                let _ = writeln!(text, "The search for the checks that forbid {what} was stopped.");
            } else if refusals.is_empty() {
                let _ = writeln!(
                    text,
                    "No single check forbids {what}: several checks forbid it together, or the test cannot \
                     produce it at all."
                );
            }
            for refusal in &refusals {
                let _ = writeln!(
                    text,
                    "The check `{}` ({}) forbids {what}; without it this execution would be allowed:",
                    refusal.check,
                    refusal.kind.word()
                );
                text.push_str(&narrate(program, &refusal.execution));
                let _ = writeln!(text, "  refused: {}", cycle_text(&refusal.execution, refusal));
            }
        }
    }
    for flag in &report.flags {
        text.push_str(&flag_text(program, flag));
    }
    for note in &report.notes {
        let _ = writeln!(text, "Note: {note}.");
    }
    if let Some(bound) = &report.bound {
        let _ = writeln!(text, "Incomplete: {bound}.");
    }
    Ok(text)
}

/// Describes in words a flag and the first execution on which the flag holds.
pub(crate) fn flag_text(program: &Program, flag: &Flag) -> String {
    let mut text = format!("Flag `{}` holds on {} of the executions, for example:\n", flag.name, flag.count);
    text.push_str(&narrate(program, &flag.example));
    let mut shown: Vec<(usize, usize)> = Vec::new();
    for &(a, b) in &flag.pairs {
        if shown.contains(&(b, a)) {
            continue;
        }
        shown.push((a, b));
        if a == b {
            let _ = writeln!(text, "  at {}", flag.example.letter(a));
        } else {
            let _ = writeln!(text, "  between {} and {}", flag.example.letter(a), flag.example.letter(b));
        }
    }
    text
}
