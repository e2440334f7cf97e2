//! The table of results that stands in `docs/verification.md`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use explore::verify::{self, Verification};

use crate::Failure;
use crate::output::WholeFile;
use crate::table::grouped;

/// What came of one protocol.
pub(crate) struct Line {
    pub(crate) verification: Verification,
    pub(crate) seconds: f64,
}

const BEGIN: &str = "<!-- results: begin -->\n";
const END: &str = "<!-- results: end -->";

/// Writes the table between the marks of a file, or a new file with nothing else.
pub(crate) fn write(path: &Path, results: &[Line]) -> Result<(), Failure> {
    let bad = |what: String| Failure::BadInput(format!("{}: {what}", path.display()));
    let old = match std::fs::read_to_string(path) {
        Ok(old) => old,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => format!("{BEGIN}{END}\n"),
        Err(error) => return Err(bad(format!("cannot read it: {error}"))),
    };
    let (before, rest) =
        old.split_once(BEGIN).ok_or_else(|| bad(format!("it has no line `{}`", BEGIN.trim())))?;
    let (_, after) = rest.split_once(END).ok_or_else(|| bad(format!("it has no line `{END}`")))?;
    let text = format!("{before}{BEGIN}\n{}\n{END}{after}", text(results));
    let mut file = WholeFile::create(path).map_err(Failure::BadInput)?;
    file.write_all(text.as_bytes()).map_err(|error| bad(format!("cannot write it: {error}")))?;
    file.commit().map_err(Failure::BadInput)
}

fn text(results: &[Line]) -> String {
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
