//! Reports as JSON. The keys are an interface: keys may be added, but never removed.

use serde_json::{Map, Value, json};

use crate::program::Program;

use super::execution::{Execution, action, order_name};
use super::report::{Flag, Report, State};

impl Report {
    /// The report as JSON; `file` is the test's file as the user gave it.
    #[must_use]
    pub fn json(&self, program: &Program, file: &str) -> Value {
        json!({
            "file": file,
            "test": self.test,
            "model": self.model,
            "condition": self.condition,
            "verdict": self.verdict,
            "observation": self.observation(),
            "positive": self.witnesses().0,
            "negative": self.witnesses().1,
            "undefined": self.is_undefined(),
            "states": self.states.iter().map(state_json).collect::<Vec<_>>(),
            "races": self.races_json(program),
            "flags": self.flags.iter().map(|f| json!({ "name": f.name, "executions": f.count })).collect::<Vec<_>>(),
            "complete": self.complete,
            "decided": self.decided,
            "bound": self.bound,
            "notes": self.notes,
        })
    }

    fn races_json(&self, program: &Program) -> Vec<Value> {
        self.flags
            .iter()
            .filter(|flag| flag.is_race())
            .flat_map(|flag| {
                let mut pairs: Vec<(usize, usize)> =
                    flag.pairs.iter().map(|&(a, b)| (a.min(b), a.max(b))).collect();
                pairs.sort_unstable();
                pairs.dedup();
                pairs.into_iter().map(move |(a, b)| race_json(program, flag, a, b))
            })
            .collect()
    }
}

fn state_json(state: &State) -> Value {
    let values: Map<String, Value> =
        state.values.iter().map(|(term, value)| (term.to_string(), number_or_text(value))).collect();
    json!({ "values": values, "executions": state.count, "satisfies": state.satisfies })
}

fn number_or_text(text: &str) -> Value {
    text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from)
}

fn race_json(program: &Program, flag: &Flag, first: usize, second: usize) -> Value {
    let of = &flag.example;
    let location = of.events[first].loc.map(|loc| program.loc(loc).name.clone());
    json!({
        "kind": flag.name,
        "location": location,
        "first": event_json(program, of, first),
        "second": event_json(program, of, second),
    })
}

fn event_json(program: &Program, execution: &Execution, event: usize) -> Value {
    let of = &execution.events[event];
    json!({
        "thread": of.thread.map(|thread| thread.0),
        "line": of.line,
        "action": action(program, of, execution.values[event]),
        "order": order_name(of.order),
        "scope": of.scope.map(|scope| program.scopes.name(scope)),
    })
}
