//! Draws executions as Graphviz graphs: one column for each thread, and one edge for each pair of
//! events in a relation.

use core::fmt::Write as _;

use crate::program::{Program, ThreadId};

use super::execution::{Execution, action};

/// Draws the execution as a Graphviz graph. `extra` lists named edges to add, such as racing pairs.
/// Added edges are drawn thick.
#[must_use]
pub fn dot(
    program: &Program,
    execution: &Execution,
    title: &str,
    extra: &[(String, usize, usize)],
) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "digraph {} {{", quoted(title));
    let _ = writeln!(text, "  label={}; labelloc=t; fontname=monospace;", quoted(title));
    let _ = writeln!(text, "  node [shape=box, fontname=monospace]; edge [fontname=monospace];");
    let node = |event: usize| {
        let of = &execution.events[event];
        let label = format!("{}: {}", execution.letter(event), action(program, of, execution.values[event]));
        format!("e{event} [label={}];", quoted(&label))
    };
    let initial = (0..execution.events.len()).filter(|&e| execution.events[e].thread.is_none());
    for event in initial {
        let _ = writeln!(text, "  {}", node(event));
    }
    for thread in 0..program.threads.len() {
        let id = ThreadId(thread as u8);
        let _ = writeln!(text, "  subgraph cluster_p{thread} {{");
        let _ = writeln!(text, "    label={};", quoted(&thread_label(program, id)));
        for (event, of) in execution.events.iter().enumerate() {
            if of.thread == Some(id) {
                let _ = writeln!(text, "    {}", node(event));
            }
        }
        let _ = writeln!(text, "  }}");
    }
    let relations = [
        ("po", "black", &execution.po),
        ("rf", "red", &execution.rf),
        ("co", "blue", &execution.co),
        ("fr", "darkorange", &execution.fr),
    ];
    for (name, colour, pairs) in relations {
        for (from, to) in pairs {
            let _ = writeln!(text, "  e{from} -> e{to} [label={name}, color={colour}, fontcolor={colour}];");
        }
    }
    for (name, from, to) in extra {
        let _ = writeln!(
            text,
            "  e{from} -> e{to} [label={}, color=purple, fontcolor=purple, penwidth=2, constraint=false];",
            quoted(name)
        );
    }
    text.push_str("}\n");
    text
}

/// The label of a thread's column: the thread and the scope instances that contain it.
pub(crate) fn thread_label(program: &Program, thread: ThreadId) -> String {
    let scopes = program.scopes.of_thread(thread);
    let places: Vec<String> = scopes
        .into_iter()
        .filter(|&s| {
            let level = program.scopes.get(s).level;
            !matches!(level, crate::program::Level::WorkItem | crate::program::Level::System)
        })
        .map(|s| program.scopes.name(s))
        .collect();
    if places.is_empty() {
        format!("P{}", thread.0)
    } else {
        format!("P{} ({})", thread.0, places.join(", "))
    }
}

pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
