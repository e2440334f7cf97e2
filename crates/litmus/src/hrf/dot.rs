//! Draws executions and races as Graphviz graphs.

use super::explain::links;
use super::trace::{Execution, scope_name};
use super::{Race, Reading};
use crate::program::Program;

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

impl Execution {
    /// Draws the execution as a Graphviz graph. Each thread is a column in program order. Edges
    /// between threads are edges of the scoped synchronization order. `race` is the pair of steps
    /// that race, if the execution has a race.
    #[must_use]
    pub fn to_dot(&self, program: &Program, reading: Reading, race: Option<(usize, usize)>) -> String {
        let mut dot = format!("digraph \"{}\" {{\n  node [shape=box];\n", escape(&program.name));
        for t in 0..program.threads.len() {
            let own = self.steps.iter().enumerate().filter(|(_, s)| usize::from(s.place.thread.0) == t);
            let own: Vec<(usize, String)> =
                own.map(|(i, step)| (i, escape(&step.describe(program)))).collect();
            if own.is_empty() {
                continue;
            }
            dot.push_str(&format!("  subgraph cluster_{t} {{\n    label=\"P{t}\";\n"));
            for (i, label) in &own {
                dot.push_str(&format!("    s{i} [label=\"{}: {label}\"];\n", i + 1));
            }
            dot.push_str("  }\n");
            for pair in own.windows(2) {
                dot.push_str(&format!("  s{} -> s{} [label=\"po\"];\n", pair[0].0, pair[1].0));
            }
        }
        for link in links(program, reading, self) {
            let scope = escape(&scope_name(program, link.scope));
            dot.push_str(&format!(
                "  s{} -> s{} [label=\"so {scope}\", color=blue, constraint=false];\n",
                link.release, link.acquire
            ));
        }
        if let Some((a, b)) = race {
            dot.push_str(&format!(
                "  s{a} -> s{b} [label=\"race\", color=red, style=dashed, dir=both, constraint=false];\n"
            ));
        }
        dot.push_str("}\n");
        dot
    }
}

impl Race {
    /// Draws the race and its execution as a Graphviz graph, see [`Execution::to_dot`].
    #[must_use]
    pub fn to_dot(&self, program: &Program, reading: Reading) -> String {
        self.execution.to_dot(program, reading, Some(self.steps))
    }
}
