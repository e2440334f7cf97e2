//! Reports verdicts and advice as text, in the format of herd's output, and as JSON. The JSON has
//! all keys of [`crate::check::Report`].

use core::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::trace::{ExecutionStep, scope_name};
use super::{Advice, ChangeSet, Execution, Model, Race, RaceKind, Verdict};
use crate::check::condition_text;
use crate::program::{Program, Quantifier, Value as Word};

impl Verdict {
    /// The number of final states that have the property of the test's condition, and the number of
    /// final states that do not have it.
    #[must_use]
    pub fn witnesses(&self, program: &Program) -> (usize, usize) {
        let positive = self.states.iter().filter(|state| self.satisfies(program, state)).count();
        (positive, self.states.len() - positive)
    }

    /// Whether it is certain that a complete search would give the same verdict. Even in an
    /// incomplete search, one final state can decide the condition.
    #[must_use]
    pub fn is_decided(&self, program: &Program) -> bool {
        let (positive, negative) = self.witnesses(program);
        self.incomplete.is_none()
            || match program.condition.quantifier {
                Quantifier::Exists | Quantifier::NotExists => positive > 0,
                Quantifier::Forall => negative > 0,
            }
    }

    fn observation(&self, program: &Program) -> &'static str {
        if !self.is_decided(program) {
            return "Undecided";
        }
        match self.witnesses(program) {
            (0, _) => "Never",
            (_, 0) => "Always",
            _ => "Sometimes",
        }
    }

    fn values(&self, program: &Program, state: &[Word]) -> Vec<(String, String)> {
        let names = self.terms.iter().map(|&term| program.term_name(term));
        names.zip(state.iter().map(|&value| program.value_name(value))).collect()
    }

    /// The verdict in the format of herd's output, for scripts that read it. The numbers of
    /// witnesses in it are numbers of final states, because the search does not visit all
    /// executions: if executions differ only in the order of commuting operations, the search
    /// visits only some of them.
    #[must_use]
    pub fn herd_block(&self, program: &Program) -> String {
        let allowed = match program.condition.quantifier {
            Quantifier::Exists => "Allowed",
            Quantifier::NotExists => "Forbidden",
            Quantifier::Forall => "Required",
        };
        let mut text = format!("Test {} {allowed}\nStates {}\n", program.name, self.states.len());
        for state in &self.states {
            let values = self.values(program, state).into_iter();
            let values = values.map(|(term, value)| {
                if term.contains([':', '[']) {
                    format!("{term}={value};")
                } else {
                    format!("[{term}]={value};")
                }
            });
            let _ = writeln!(text, "{}", values.collect::<Vec<_>>().join(" "));
        }
        let (positive, negative) = self.witnesses(program);
        let met = match (self.is_decided(program), self.condition_met(program)) {
            (false, _) => "Undecided",
            (_, true) => "Ok",
            (_, false) => "No",
        };
        let (witnesses, others) = match program.condition.quantifier {
            Quantifier::NotExists => (negative, positive),
            Quantifier::Exists | Quantifier::Forall => (positive, negative),
        };
        let _ = writeln!(text, "{met}\nWitnesses\nPositive: {witnesses} Negative: {others}");
        let mut flags: Vec<&str> =
            self.races.iter().map(|race| flag_name(self.reading.model, race.pair.kind)).collect();
        flags.sort_unstable();
        flags.dedup();
        for flag in flags {
            let _ = writeln!(text, "Flag {flag}");
        }
        if let Some(note) = self.note() {
            let _ = writeln!(text, "Note {note}");
        }
        if let Some(incomplete) = self.incomplete {
            let _ = writeln!(text, "Incomplete {incomplete}");
        }
        let _ = writeln!(text, "Condition {}", condition_text(program));
        let observation = self.observation(program);
        let _ = writeln!(text, "Observation {} {observation} {positive} {negative}", program.name);
        text
    }

    fn note(&self) -> Option<&'static str> {
        self.blocked.is_some().then_some("some executions wait for ever: they have no final state")
    }

    /// Describes the verdict in words: the races with the reasons for them, or the statement that
    /// the program is race-free.
    #[must_use]
    pub fn describe(&self, program: &Program) -> String {
        let races = self.races.iter().map(|race| race.describe(program, self.reading));
        self.heading() + &races.collect::<String>()
    }

    /// Describes the verdict in words. Describes the first race in detail, and every other race in
    /// one line.
    #[must_use]
    pub fn describe_briefly(&self, program: &Program) -> String {
        let mut text = self.heading();
        let mut races = self.races.iter();
        if let Some(first) = races.next() {
            text.push_str(&first.describe(program, self.reading));
        }
        for race in races {
            let (first, second) = (race.pair.first, race.pair.second);
            let location = &program.loc(race.location).name;
            let _ = writeln!(text, "{first} and {second} race on {location} too.");
        }
        text
    }

    fn heading(&self) -> String {
        match (self.is_race_free(), self.incomplete) {
            (true, None) => format!(
                "Race-free under {} in every sequentially consistent execution: {}.\n",
                self.reading,
                match self.states.len() {
                    1 => "the test has 1 outcome".to_owned(),
                    outcomes => format!("the test has {outcomes} outcomes"),
                }
            ),
            (true, Some(incomplete)) => {
                format!(
                    "No race was found under {}, but the search is incomplete: {incomplete}.\n",
                    self.reading
                )
            }
            (false, _) => format!("Racy: {} promises nothing.\n", self.reading),
        }
    }

    /// The verdict as JSON; `file` is the test's file as the user gave it.
    #[must_use]
    pub fn json(&self, program: &Program, file: &str) -> Value {
        let (positive, negative) = self.witnesses(program);
        let states: Vec<Value> = self
            .states
            .iter()
            .map(|state| {
                let values = self.values(program, state).into_iter();
                let values: Map<String, Value> =
                    values.map(|(term, value)| (term, number_or_text(&value))).collect();
                json!({ "values": values, "satisfies": self.satisfies(program, state) })
            })
            .collect();
        json!({
            "file": file,
            "test": program.name,
            "model": self.reading.model.name(),
            "so": self.reading.so.name(),
            "inclusion": self.reading.inclusion,
            "relaxed_as": self.reading.relaxed_as.map(super::RelaxedAs::name),
            "condition": condition_text(program),
            "verdict": self.condition_met(program),
            "observation": self.observation(program),
            "positive": positive,
            "negative": negative,
            "states": states,
            "race_free": self.is_race_free(),
            "orders_data": self.orders_data(),
            "races": self.races.iter().map(|race| race.json(program, self.reading.model)).collect::<Vec<_>>(),
            "complete": self.incomplete.is_none(),
            "decided": self.is_decided(program),
            "bound": self.incomplete.map(|incomplete| incomplete.to_string()),
            "notes": self.note().into_iter().collect::<Vec<_>>(),
            "states_visited": self.effort.states,
        })
    }
}

/// The name of the flag by which the cat models report a race of this kind.
fn flag_name(model: Model, kind: RaceKind) -> &'static str {
    match (model, kind) {
        (Model::Drf, _) => "data-race",
        (_, RaceKind::Ordinary) => "heterogeneous-race",
        (_, RaceKind::Synchronization) => "synchronization-race",
    }
}

fn number_or_text(text: &str) -> Value {
    text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from)
}

fn step_json(program: &Program, step: &ExecutionStep) -> Value {
    json!({
        "thread": step.place.thread.0,
        "line": step.place.line,
        "action": step.describe(program),
        "scope": step.role.scope.map(|scope| scope_name(program, scope)),
    })
}

impl Execution {
    /// The steps of the execution as JSON.
    #[must_use]
    pub fn json(&self, program: &Program) -> Value {
        self.steps.iter().map(|step| step_json(program, step)).collect()
    }
}

impl Race {
    /// The race as JSON.
    #[must_use]
    pub fn json(&self, program: &Program, model: Model) -> Value {
        let (first, second) = self.steps;
        let steps = &self.execution.steps;
        let scopes = [first, second].map(|at| steps[at].role.scope.map(|scope| scope_name(program, scope)));
        json!({
            "kind": flag_name(model, self.pair.kind),
            "location": program.loc(self.location).name,
            "first": step_json(program, &steps[first]),
            "second": step_json(program, &steps[second]),
            "scopes": scopes,
            "execution": self.execution.json(program),
            "why": self.gaps.iter().map(|gap| gap.describe(program, self)).collect::<Vec<_>>(),
        })
    }
}

fn sets_json(program: &Program, sets: &[ChangeSet]) -> Vec<Value> {
    sets.iter()
        .map(|set| {
            let changes = set.changes.iter().map(|change| {
                json!({
                    "thread": change.place.thread.0,
                    "line": change.place.line,
                    "from": scope_name(program, change.from),
                    "to": scope_name(program, change.to),
                })
            });
            changes.collect()
        })
        .collect()
}

impl Advice {
    /// The advice on the scopes of the program as JSON.
    #[must_use]
    pub fn json(&self, program: &Program) -> Value {
        match self {
            Advice::NeedsSynchronization { race } => json!({
                "advice": "synchronize",
                "race": race.json(program, Model::Drf),
            }),
            Advice::Widen { sets, complete } => json!({
                "advice": "change",
                "sets": sets_json(program, sets),
                "complete": complete,
            }),
            Advice::Shrink { sets, together, complete } => json!({
                "advice": "shrink",
                "sets": sets_json(program, sets),
                "together": sets_json(program, core::slice::from_ref(together)).pop(),
                "complete": complete,
            }),
        }
    }
}
