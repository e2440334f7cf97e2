//! The report on a search for executions that do not terminate.

use core::fmt::Write as _;

use serde_json::{Value, json};

use crate::cat::Model;
use crate::check::{self, narrate, quoted, thread_label};
use crate::program::{Program, ThreadId};

use super::{InfiniteRun, RunStep, Scheduler, Witness};

/// The report on a search for executions that do not terminate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The test's name.
    pub test: String,
    /// The model's name.
    pub model: String,
    /// The scheduler whose progress guarantees the search assumed.
    pub scheduler: Scheduler,
    /// False if the search has found an execution that never terminates, otherwise true.
    pub verdict: bool,
    /// An execution that does not terminate. `None` if the search found none.
    pub witness: Option<Witness>,
    /// The limit that made the search incomplete, in words. `None` if the search is complete.
    pub bound: Option<String>,
}

pub(super) fn report(
    program: &Program,
    model: &Model,
    scheduler: Scheduler,
    witness: Option<Witness>,
    gaps: &[String],
) -> Report {
    let verdict = witness.is_none();
    let bound = (verdict && !gaps.is_empty()).then(|| gaps.join("; "));
    Report { test: program.name.clone(), model: model.name.clone(), scheduler, verdict, witness, bound }
}

impl Report {
    /// The report in the format of herd's output.
    #[must_use]
    pub fn block(&self) -> String {
        let mut text = format!("Test {} Liveness\nScheduler {}\n", self.test, self.scheduler);
        text.push_str(if self.verdict { "Ok\n" } else { "No\n" });
        if let Some(bound) = &self.bound {
            let _ = writeln!(text, "Incomplete {bound}");
        }
        let word = match (self.verdict, &self.bound) {
            (false, _) => "Spins",
            (true, None) => "Ends",
            (true, Some(_)) => "Undecided",
        };
        let _ = writeln!(text, "Observation {} {word}", self.test);
        text
    }

    /// Draws the execution or run that does not terminate as a Graphviz graph. `None` if the search
    /// has found none.
    #[must_use]
    pub fn dot(&self, program: &Program, title: &str) -> Option<String> {
        match self.witness.as_ref()? {
            Witness::Execution(execution, _) => Some(check::dot(program, execution, title, &[])),
            Witness::Run(run) => Some(draw_run(program, run, title)),
        }
    }

    /// Describes in words the execution or run that does not terminate. Empty if the search has
    /// found none.
    #[must_use]
    pub fn describe(&self, program: &Program) -> String {
        match &self.witness {
            None => String::new(),
            Some(Witness::Run(run)) => {
                let mut text = String::new();
                if !run.prefix.is_empty() {
                    text.push_str("First:\n");
                    steps(program, &run.prefix, &mut text);
                }
                text.push_str("Then for ever:\n");
                steps(program, &run.round, &mut text);
                text
            }
            Some(Witness::Execution(execution, threads)) => {
                let names: Vec<String> = threads.iter().map(|thread| format!("P{thread}")).collect();
                let mut text = narrate(program, execution);
                let _ = writeln!(text, "Then {} for ever.", spin_words(&names));
                text
            }
        }
    }

    /// The report as JSON. `file` is the file of the test as the user gave it.
    #[must_use]
    pub fn json(&self, program: &Program, file: &str) -> Value {
        let witness = match &self.witness {
            None => Value::Null,
            Some(Witness::Run(run)) => {
                let list =
                    |steps: &[RunStep]| steps.iter().map(|s| step_json(program, *s)).collect::<Vec<_>>();
                json!({ "first": list(&run.prefix), "for_ever": list(&run.round) })
            }
            Some(Witness::Execution(_, threads)) => json!({ "spinning": threads }),
        };
        json!({
            "file": file,
            "test": self.test,
            "model": self.model,
            "property": "liveness",
            "scheduler": self.scheduler.name(),
            "condition": Value::Null,
            "verdict": self.verdict,
            "states": [],
            "races": [],
            "witness": witness,
            "complete": self.bound.is_none(),
            "decided": self.bound.is_none(),
            "bound": self.bound,
        })
    }
}

/// Draws a run as a Graphviz graph with one column for each thread. The steps are numbered in the
/// order of the run. The steps of the cycle are grey, and an edge leads from the last step of the
/// cycle to its first step.
fn draw_run(program: &Program, run: &InfiniteRun, title: &str) -> String {
    let taken: Vec<RunStep> = run.prefix.iter().chain(&run.round).copied().collect();
    let first = run.prefix.len();
    let mut text = String::new();
    let _ = writeln!(text, "digraph {} {{", quoted(title));
    let _ = writeln!(text, "  label={}; labelloc=t; fontname=monospace;", quoted(title));
    let _ = writeln!(text, "  node [shape=box, fontname=monospace]; edge [fontname=monospace];");
    for thread in 0..program.threads.len() {
        let _ = writeln!(text, "  subgraph cluster_p{thread} {{");
        let _ = writeln!(text, "    label={};", quoted(&thread_label(program, ThreadId(thread as u8))));
        for (number, step) in taken.iter().enumerate().filter(|(_, step)| step.thread == thread) {
            let fill = if number < first { "" } else { ", style=filled, fillcolor=lightgrey" };
            let label = format!("{}: line {}", number + 1, line(program, *step));
            let _ = writeln!(text, "    s{number} [label={}{fill}];", quoted(&label));
        }
        let _ = writeln!(text, "  }}");
    }
    for number in 1..taken.len() {
        let _ = writeln!(text, "  s{} -> s{number};", number - 1);
    }
    if let Some(last) = taken.len().checked_sub(1) {
        let _ = writeln!(text, "  s{last} -> s{first} [label=\"for ever\", color=red, fontcolor=red];");
    }
    text.push_str("}\n");
    text
}

fn spin_words(names: &[String]) -> String {
    match names {
        [one] => format!("{one} spins"),
        [first @ .., last] => format!("{} and {last} spin", first.join(", ")),
        [] => String::from("no thread spins"),
    }
}

fn line(program: &Program, step: RunStep) -> u32 {
    program.threads.get(step.thread).and_then(|t| t.lines.get(step.pc)).copied().unwrap_or(0)
}

/// Appends the steps to `text`: one line for each group of consecutive steps of one thread.
fn steps(program: &Program, steps: &[RunStep], text: &mut String) {
    for group in steps.chunk_by(|a, b| a.thread == b.thread) {
        let lines: Vec<String> = group.iter().map(|step| line(program, *step).to_string()).collect();
        let word = if lines.len() == 1 { "line" } else { "lines" };
        let _ = writeln!(text, "  P{}: {word} {}", group[0].thread, lines.join(", "));
    }
}

fn step_json(program: &Program, step: RunStep) -> Value {
    json!({ "thread": step.thread, "line": line(program, step) })
}
