//! The generated part of a protocol's page: tables and plans (sequences of steps) as Markdown.

use crate::contract::{Channels, Protocol};
use crate::plan::{OpClass, PlansView};
use crate::request::{Hints, Level, Order};
use crate::symbols::Symbol;
use crate::table::{After, RowView, TableView};
use core::fmt::Write as _;

/// Renders the generated part of a protocol's page.
#[must_use]
pub fn render<P: Protocol>() -> String {
    let mut out = String::new();
    let info = P::INFO;
    let _ = writeln!(out, "Source: {}.\n", info.source);
    for claim in info.claims {
        let cores: Vec<_> = claim.cores.iter().map(|core| core.label()).collect();
        let _ = writeln!(
            out,
            "* Claims `{}` with {} cores: {}.",
            claim.model,
            cores.join(" and "),
            claim.mapping
        );
    }
    let channels = match info.channels {
        Channels::Fifo => "messages between two nodes arrive in the order in which they were sent",
        Channels::Unordered => "messages may arrive in any order",
    };
    let _ = writeln!(out, "* Needs of the network: {channels}.");
    let kinds: Vec<_> = P::KINDS.iter().map(|k| format!("{} (`{}`)", k.name, k.level)).collect();
    let _ = writeln!(out, "* Controllers and their levels: {}.", kinds.join(", "));
    P::plans().iter().for_each(|p| plans(&mut out, p));
    P::tables().iter().for_each(|t| table(&mut out, t));
    out
}

fn list(out: &mut String, title: &str, members: &[(&str, &str)]) {
    let _ = writeln!(out, "{title}:\n");
    for (name, doc) in members {
        let _ = writeln!(out, "* `{name}`: {doc}");
    }
    let _ = writeln!(out);
}

fn cell(table: &TableView, row: &RowView) -> String {
    match row {
        RowView::Stall => "stall".into(),
        RowView::Impossible(_) => "-".into(),
        RowView::Do(actions, next, after) => {
            let mut text = if actions.is_empty() { "nothing".to_owned() } else { actions.join(", ") };
            match after {
                After::Done => {}
                After::Wait => text.push_str(", wait"),
                After::Retry => text.push_str(", retry"),
                After::Next => text.push_str(", next step"),
            }
            if let Some((name, _)) = next.and_then(|n| table.states.get(n)) {
                let _ = write!(text, " **/ {name}**");
            }
            text
        }
    }
}

fn table(out: &mut String, table: &TableView) {
    let _ = writeln!(out, "\n### {}\n", table.name);
    list(out, "States", &table.states);
    list(out, "Events", &table.events);
    list(out, "Actions", &table.actions);
    let states: Vec<_> = table.states.iter().map(|(name, _)| *name).collect();
    let _ = writeln!(out, "| | {} |\n|---|{}", states.join(" | "), "---|".repeat(states.len()));
    for (e, (event, _)) in table.events.iter().enumerate() {
        let cells = (0..states.len()).map(|s| cell(table, &table.rows[s * table.events.len() + e]));
        let _ = writeln!(out, "| {event} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    let _ = writeln!(out, "\nRows that cannot happen:\n");
    for (i, row) in table.rows.iter().enumerate() {
        if let RowView::Impossible(why) = row {
            let (s, e) = (i / table.events.len(), i % table.events.len());
            let _ = writeln!(out, "* {} in {}: {why}.", table.events[e].0, states[s]);
        }
    }
}

/// A line of the table of plans on a protocol's page: one plan (sequence of steps) of an operation,
/// and the memory orders and scope levels for which the operation has this plan.
#[derive(PartialEq)]
struct PlanLine<'a> {
    orders: Vec<Order>,
    levels: Vec<Level>,
    steps: &'a [&'static str],
}

/// The lines of the table of plans (sequences of steps) for one operation with these hints. Memory
/// orders and scope levels with equal plans share one line.
fn lines_with(view: &PlansView, op: OpClass, hints: Hints) -> Vec<PlanLine<'_>> {
    let mut lines: Vec<PlanLine<'_>> = Vec::new();
    for &order in Order::ALL {
        let mut groups: Vec<(Vec<Level>, &[&'static str])> = Vec::new();
        for (key, steps) in &view.plans {
            if (key.op, key.order, key.hints()) != (op, order, hints) {
                continue;
            }
            match groups.iter_mut().find(|(_, s)| s == steps) {
                Some((levels, _)) => levels.push(key.level),
                None => groups.push((vec![key.level], steps)),
            }
        }
        for (levels, steps) in groups {
            match lines.iter_mut().find(|l| l.levels == levels && l.steps == steps) {
                Some(line) => line.orders.push(order),
                None => lines.push(PlanLine { orders: vec![order], levels, steps }),
            }
        }
    }
    lines
}

/// The lines of the table of plans (sequences of steps) for one operation, each with the
/// operation's name. A hint that changes no plan gets no lines.
fn plan_lines(view: &PlansView, op: OpClass) -> Vec<(String, PlanLine<'_>)> {
    let lines_of = |remote, commutative| lines_with(view, op, Hints { remote, commutative });
    let (none, remote) = (lines_of(false, false), lines_of(true, false));
    let (commutative, both) = (lines_of(false, true), lines_of(true, true));
    let differs = [true, remote != none, commutative != none, both != remote && both != commutative];
    let hints = ["", "remote ", "commutative ", "remote commutative "];
    let all = [none, remote, commutative, both].into_iter().zip(hints).zip(differs);
    let needed = all.filter(|(_, differs)| *differs);
    needed
        .flat_map(|((lines, hint), _)| lines.into_iter().map(move |l| (format!("{hint}{}", op.name()), l)))
        .collect()
}

fn plans(out: &mut String, view: &PlansView) {
    let _ = writeln!(out, "\n### {}\n", view.name);
    let used = |step: &str| view.plans.iter().any(|(_, steps)| steps.contains(&step));
    let steps: Vec<_> = view.steps.iter().filter(|(name, _)| used(name)).copied().collect();
    list(out, "Steps", &steps);
    let _ = writeln!(out, "| operation | order | scope | steps |\n|---|---|---|---|");
    for &op in OpClass::ALL {
        for (name, line) in plan_lines(view, op) {
            let steps = if line.steps.is_empty() { "nothing".to_owned() } else { line.steps.join(", ") };
            let (orders, levels) = (names(&line.orders, Order::ALL), names(&line.levels, Level::ALL));
            let _ = writeln!(out, "| {name} | {orders} | {levels} | {steps} |");
        }
    }
}

fn names<T: Symbol>(members: &[T], all: &[T]) -> String {
    if members.len() == all.len() {
        return "any".into();
    }
    members.iter().map(|s| s.name()).collect::<Vec<_>>().join(", ")
}

/// Replaces the text between the two markers of a page by `generated`.
///
/// # Errors
/// If the page lacks a marker.
pub fn splice(page: &str, generated: &str) -> Result<String, String> {
    let (begin, end) = ("<!-- generated: begin -->\n", "<!-- generated: end -->");
    let (head, rest) = page.split_once(begin).ok_or_else(|| format!("the page lacks the line {begin:?}"))?;
    let (_, tail) = rest.split_once(end).ok_or_else(|| format!("the page lacks the line {end:?}"))?;
    Ok(format!("{head}{begin}\n{}\n{end}{tail}", generated.trim()))
}
