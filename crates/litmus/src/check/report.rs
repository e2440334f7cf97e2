//! The report of a check of a test against a model, as text and as data.

use core::fmt::{self, Write as _};
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cat::Model;
use crate::exec::set::EVENTS_MAX;
use crate::program::{BinaryOp, Condition, Program, Prop, Quantifier, Term, Value, value_address};

use super::Gaps;
use super::execution::Execution;
use super::outcome::Outcomes;

/// A final state of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The registers and locations of the state with their values, such as `("0:r1", "1")`. The
    /// states share the texts, because a report may have very many states.
    pub values: Vec<(Arc<str>, Arc<str>)>,
    /// The number of executions that end in this state.
    pub count: u64,
    /// Whether the state has the property of the test's condition.
    pub satisfies: bool,
    /// An execution that ends in this state. `None` if no execution is kept for this state.
    pub example: Option<Box<Execution>>,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (term, value)) in self.values.iter().enumerate() {
            let space = if at > 0 { " " } else { "" };
            // A memory location is shown in brackets, as in herd.
            if term.contains([':', '[']) {
                write!(f, "{space}{term}={value};")?;
            } else {
                write!(f, "{space}[{term}]={value};")?;
            }
        }
        Ok(())
    }
}

/// A flag of the model that holds on some execution, such as a data race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// The name that the model gives the flag.
    pub name: String,
    /// Whether the program has undefined behaviour if the flag holds.
    pub undefined: bool,
    /// The number of executions on which the flag holds.
    pub count: u64,
    /// The pairs of events in the flag's relation, in the first execution on which the flag holds.
    pub pairs: Vec<(usize, usize)>,
    /// The first execution on which the flag holds.
    pub example: Execution,
}

impl Flag {
    /// Whether the flag reports a race.
    #[must_use]
    pub fn is_race(&self) -> bool {
        crate::cat::is_race_name(&self.name)
    }
}

/// The result of checking a test against a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The name of the test.
    pub test: String,
    /// The name of the model.
    pub model: String,
    /// The condition of the test.
    pub condition: String,
    /// The quantifier of the condition.
    pub quantifier: Quantifier,
    /// Whether the condition of the test is met.
    pub verdict: bool,
    /// The final states that the model allows.
    pub states: Vec<State>,
    /// The number of executions whose final state has the property of the condition.
    pub positive: u64,
    /// The number of executions whose final state does not have the property of the condition.
    pub negative: u64,
    /// The flags that hold on some execution.
    pub flags: Vec<Flag>,
    /// Whether the check has examined all executions.
    pub complete: bool,
    /// Whether it is certain that a complete check would give the same verdict.
    pub decided: bool,
    /// The reasons why the check is incomplete, in words.
    pub bound: Option<String>,
    /// Notes on undefined behaviour and on threads that do not terminate.
    pub notes: Vec<String>,
}

/// The properties of a check that reports use: its name, whether it is a flag, and whether the flag
/// makes the program undefined.
#[derive(Clone, Debug)]
pub(crate) struct CheckName {
    pub(crate) name: String,
    pub(crate) flag: bool,
    pub(crate) undefined: bool,
}

/// Builds the report of a check.
pub(crate) fn report(
    program: &Program,
    model: &Model,
    unroll: usize,
    outcomes: Outcomes<'_>,
    checks: &[CheckName],
    gaps: Gaps,
) -> Report {
    let Outcomes { terms, shown, states: found, flags, fault, divergent, stuck, non_terminating, .. } =
        outcomes;
    let mut states: Vec<State> = Vec::new();
    let names: Vec<Arc<str>> =
        terms[..shown].iter().map(|&term| Arc::from(program.term_name(term))).collect();
    let mut texts: BTreeMap<Value, Arc<str>> = BTreeMap::new();
    let (mut positive, mut negative) = (0u64, 0u64);
    let mut any_address = false;
    for (key, outcome) in found {
        any_address |= key[..shown].iter().any(|&value| value_address(value).is_some());
        let mut value = |term: Term| match term {
            Term::Const(value) => value,
            term => terms.iter().position(|t| *t == term).map_or(0, |at| key[at]),
        };
        if program.filter.as_ref().is_some_and(|filter| !filter.holds(&mut value)) {
            continue;
        }
        let satisfies = program.condition.prop.holds(&mut value);
        let total = if satisfies { &mut positive } else { &mut negative };
        *total = total.saturating_add(outcome.count);
        let mut text =
            |value: Value| texts.entry(value).or_insert_with(|| Arc::from(program.value_name(value))).clone();
        let values: Vec<(Arc<str>, Arc<str>)> =
            names.iter().zip(&key).map(|(name, &value)| (name.clone(), text(value))).collect();
        // The report does not show the terms that only the filter uses. States that differ only in
        // these terms look alike, so they are merged.
        match states.last_mut().filter(|last| last.values == values && last.satisfies == satisfies) {
            Some(last) => last.count = last.count.saturating_add(outcome.count),
            None => states.push(State { values, count: outcome.count, satisfies, example: outcome.example }),
        }
    }
    if any_address {
        // States are in herd's order: numbers by value, then names of locations alphabetically.
        let order = |text: &Arc<str>| match text.parse::<Value>() {
            Ok(number) => (0, number, None),
            Err(_) => (1, 0, Some(text.clone())),
        };
        states.sort_by_cached_key(|state| {
            (state.values.iter().map(|(_, text)| order(text)).collect::<Vec<_>>(), state.satisfies)
        });
    }
    let mut notes = Vec::new();
    if let Some((what, line)) = fault {
        let place = if line > 0 { format!(" (line {line})") } else { String::new() };
        notes.push(format!("some executions have undefined behaviour, {what}{place}: they are not counted"));
    }
    if divergent {
        notes.push(
            "in some executions the threads diverge at a barrier: not all threads of the barrier arrive"
                .to_owned(),
        );
    }
    if stuck {
        notes.push(
            "in some executions a thread waits at a barrier for ever: the states of these executions count \
             as final states"
                .to_owned(),
        );
    }
    for thread in non_terminating {
        notes.push(format!("P{thread} never terminates: all its paths loop for ever"));
    }
    for (check, _) in flags.iter().filter(|(_, flagged)| flagged.waits) {
        let name = checks.get(*check).map_or("", |check| &check.name);
        notes.push(format!("the flag `{name}` holds in an execution where a thread waits, perhaps for ever"));
    }
    let quantifier = program.condition.quantifier;
    let verdict = program.condition.verdict(positive > 0, negative == 0);
    let complete = gaps == Gaps::default();
    // One state can decide the condition: a state with the property decides `exists` and `~exists`,
    // a state without the property decides `forall`.
    let settled = match quantifier {
        Quantifier::Exists | Quantifier::NotExists => positive > 0,
        Quantifier::Forall => negative > 0,
    };
    Report {
        test: program.name.clone(),
        model: model.name.clone(),
        condition: condition_text(program),
        quantifier,
        verdict,
        states,
        positive,
        negative,
        flags: flags
            .into_iter()
            .map(|(check, flagged)| Flag {
                name: checks.get(check).map_or_else(String::new, |check| check.name.clone()),
                undefined: checks.get(check).is_some_and(|check| check.undefined),
                count: flagged.count,
                pairs: flagged.pairs,
                example: flagged.example,
            })
            .collect(),
        complete,
        decided: Gaps { waiting: false, ..gaps } == Gaps::default() || settled,
        bound: bound_text(gaps, unroll),
        notes,
    }
}

fn bound_text(gaps: Gaps, unroll: usize) -> Option<String> {
    let mut parts = Vec::new();
    if gaps.loops {
        let times = if unroll == 1 { "once".to_owned() } else { format!("{unroll} times") };
        parts.push(format!("loops were unrolled {times}"));
    }
    if gaps.size {
        parts.push(format!(
            "some paths were left out, because a path has more than {EVENTS_MAX} events or there are too \
             many paths"
        ));
    }
    if gaps.states {
        parts.push("there are too many final states".to_owned());
    }
    if gaps.time {
        parts.push("the search was stopped".to_owned());
    }
    if gaps.waiting {
        parts.push("some executions in which a thread waits, perhaps for ever, were left out".to_owned());
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The text of the test's condition in herd's notation.
#[must_use]
pub(crate) fn condition_text(program: &Program) -> String {
    let Condition { quantifier, prop } = &program.condition;
    let word = match quantifier {
        Quantifier::Exists => "exists",
        Quantifier::NotExists => "~exists",
        Quantifier::Forall => "forall",
    };
    format!("{word} ({})", prop_text(program, prop, Within::Top))
}

/// The operator that encloses a proposition. This operator decides whether the text of the
/// proposition needs parentheses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Top,
    And,
    Or,
    Implies,
}

fn prop_text(program: &Program, prop: &Prop, within: Within) -> String {
    let list = |props: &[Prop], own: Within, joint: &str| {
        let parts: Vec<String> = props.iter().map(|p| prop_text(program, p, own)).collect();
        parts.join(joint)
    };
    let (text, bare) = match prop {
        Prop::True => return "true".to_owned(),
        Prop::False => return "false".to_owned(),
        Prop::Compare(a, BinaryOp::Ne, b) => {
            let equal = Prop::Compare(*a, BinaryOp::Eq, *b);
            return format!("not ({})", prop_text(program, &equal, Within::Top));
        }
        Prop::Compare(a, op, b) => {
            let symbol = if *op == BinaryOp::Eq { "=" } else { op.symbol() };
            return format!("{}{symbol}{}", program.herd_name(*a), program.herd_name(*b));
        }
        Prop::Not(inner) => return format!("not ({})", prop_text(program, inner, Within::Top)),
        Prop::And(props) => {
            (list(props, Within::And, " /\\ "), matches!(within, Within::Top | Within::And | Within::Or))
        }
        Prop::Or(props) => (list(props, Within::Or, " \\/ "), matches!(within, Within::Top | Within::Or)),
        Prop::Implies(a, b) => {
            let [a, b] = [a, b].map(|p| prop_text(program, p, Within::Implies));
            (format!("{a} => {b}"), matches!(within, Within::Top | Within::Implies))
        }
    };
    if bare { text } else { format!("({text})") }
}

impl Report {
    /// The verdict in herd's words: `Ok` or `No`. `Undecided` if a complete check may
    /// give another verdict.
    #[must_use]
    pub const fn verdict_word(&self) -> &'static str {
        match (self.decided, self.verdict) {
            (false, _) => "Undecided",
            (_, true) => "Ok",
            (_, false) => "No",
        }
    }

    /// Says in one word how many executions have the property of the condition: `Never` if no
    /// execution has it, `Sometimes` if some executions have it, `Always` if all executions have
    /// it. `Undecided` if a complete check may give another verdict.
    #[must_use]
    pub const fn observation(&self) -> &'static str {
        if !self.decided {
            return "Undecided";
        }
        match (self.positive, self.negative) {
            (0, _) => "Never",
            (_, 0) => "Always",
            _ => "Sometimes",
        }
    }

    /// The number of executions that support the condition, and the number of executions that
    /// contradict it. For `~exists`, executions without the property support the condition.
    #[must_use]
    pub const fn witnesses(&self) -> (u64, u64) {
        match self.quantifier {
            Quantifier::Exists | Quantifier::Forall => (self.positive, self.negative),
            Quantifier::NotExists => (self.negative, self.positive),
        }
    }

    /// Whether the program has undefined behaviour. Any outcome is then possible.
    #[must_use]
    pub fn is_undefined(&self) -> bool {
        self.flags.iter().any(|flag| flag.undefined)
    }

    /// The report in the format of herd's output, for scripts that read it.
    #[must_use]
    pub fn herd_block(&self) -> String {
        let mut text = String::new();
        let allowed = match self.quantifier {
            Quantifier::Exists => "Allowed",
            Quantifier::NotExists => "Forbidden",
            Quantifier::Forall => "Required",
        };
        let _ = writeln!(text, "Test {} {allowed}", self.test);
        let _ = writeln!(text, "States {}", self.states.len());
        for state in &self.states {
            let _ = writeln!(text, "{state}");
        }
        let _ = writeln!(text, "{}", if self.is_undefined() { "Undef" } else { self.verdict_word() });
        let _ = writeln!(text, "Witnesses");
        let (positive, negative) = self.witnesses();
        let _ = writeln!(text, "Positive: {positive} Negative: {negative}");
        if self.is_undefined() {
            let _ = writeln!(text, "Flag *undef*");
        }
        let mut flags: Vec<&str> =
            self.flags.iter().filter(|f| !f.undefined).map(|f| f.name.as_str()).collect();
        flags.sort_unstable();
        flags.dedup();
        for flag in flags {
            let _ = writeln!(text, "Flag {flag}");
        }
        for note in &self.notes {
            let _ = writeln!(text, "Note {note}");
        }
        if let Some(bound) = &self.bound {
            let _ = writeln!(text, "Incomplete {bound}");
        }
        let _ = writeln!(text, "Condition {}", self.condition);
        let _ = writeln!(
            text,
            "Observation {} {} {} {}",
            self.test,
            self.observation(),
            self.positive,
            self.negative
        );
        text
    }

    /// Whether some execution has a race. A model reports races as flags.
    #[must_use]
    pub fn has_race(&self) -> bool {
        self.flags.iter().any(Flag::is_race)
    }
}
