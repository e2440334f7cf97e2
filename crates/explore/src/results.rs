//! The table of results, as it stands in `docs/verification.md`.

use core::fmt::Write as _;

use crate::verify::{self, Verification};

/// What came of one protocol.
#[derive(Clone, Debug)]
pub struct Line {
    /// What is known of it.
    pub verification: Verification,
    /// How long that took.
    pub seconds: f64,
}

/// A number with its digits in groups of three.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The table, and what stands below it.
#[must_use]
pub fn text(results: &[Line]) -> String {
    let mut text = String::from(
        "| protocol | claims | programs | free of races | synchronized | runs | states | rows fired | mutants killed | time |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    for Line { verification: v, seconds } in results {
        let claims: Vec<String> =
            v.claims.iter().map(|(model, status)| format!("`{model}` **{}**", status.name())).collect();
        let (rows, unreached) = &v.rows;
        let mutants = match &v.mutants {
            None => String::from("not seeded"),
            Some(m) => format!("{} of {}", grouped(m.killed.len() as u64), grouped(m.total() as u64)),
        };
        let number = |n: usize| grouped(n as u64);
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} | {} | {} | {} | {} of {rows} | {mutants} | {seconds:.0} s |",
            v.protocol,
            claims.join(", "),
            number(v.tests),
            number(v.race_free),
            number(v.synchronized),
            number(v.runs),
            grouped(v.states),
            rows - unreached.len(),
        );
    }
    text.push_str("\nMachines:\n\n");
    for bounds in verify::machines() {
        let _ = writeln!(text, "* {bounds}");
    }
    for Line { verification: v, .. } in results {
        details(v, &mut text);
    }
    text.trim_end().to_owned()
}

fn details(v: &Verification, text: &mut String) {
    let (_, unreached) = &v.rows;
    let mut list = |title: String, items: Vec<String>| {
        if !items.is_empty() {
            let _ = write!(text, "\n<details><summary>`{}`: {title}</summary>\n\n", v.protocol);
            items.iter().for_each(|item| _ = writeln!(text, "* {item}"));
            text.push_str("\n</details>\n");
        }
    };
    let gaps = v.gaps.iter().map(|(gap, count)| format!("{gap} ({count} times)"));
    list(String::from("what was not covered"), gaps.collect());
    list(format!("{} rows that nothing reached within these bounds", unreached.len()), unreached.clone());
    let Some(m) = &v.mutants else { return };
    list(format!("{} mutants that survive", m.survivors.len()), m.survivors.clone());
    list(format!("{} mutants of rows that nothing reached", m.unreached.len()), m.unreached.clone());
    list(format!("{} mutants that were not decided", m.undecided.len()), m.undecided.clone());
    let equivalent = m.equivalent.iter().map(|(name, why)| format!("{name}: {why}"));
    list(
        format!("{} mutants that are equivalent, outside the total", m.equivalent.len()),
        equivalent.collect(),
    );
}
