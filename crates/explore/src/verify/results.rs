//! The table of results, as it stands in `docs/verification.md`.

use core::fmt::Write as _;

use proto::words::{counted, grouped};

use crate::verify::{self, Verification};

/// What came of one protocol.
#[derive(Clone, Debug)]
pub struct Line {
    /// What is known of it.
    pub verification: Verification,
    /// Up to how many operations the programs had that were made.
    pub operations: u8,
    /// How many programs were drawn, and from which seed.
    pub sample: (usize, u64),
    /// How long that took.
    pub seconds: f64,
}

const HEAD: &str = "| protocol | claims | operations | programs | free of races | synchronized | runs | states \
                    | rows fired | mutants killed | time |\n|---|---|---|---|---|---|---|---|---|---|---|\n";

/// The table and what stands below it, with these results in it. Those of other
/// protocols in the old text stay.
#[must_use]
pub fn merged(old: &str, results: &[Line]) -> String {
    let mut rows: Vec<(String, String)> =
        old.lines().filter_map(|line| Some((protocol(line, "| `")?, format!("{line}\n")))).collect();
    let blocks = old.split("<details>").skip(1);
    let mut details: Vec<(String, String)> = blocks
        .filter_map(|block| {
            let (block, _) = block.split_once("</details>")?;
            Some((protocol(block, "<summary>`")?, format!("<details>{block}</details>\n")))
        })
        .collect();
    for line in results {
        let name = line.verification.protocol;
        match rows.iter_mut().find(|(of, _)| of == name) {
            Some(row) => row.1 = row_of(line),
            None => rows.push((name.to_owned(), row_of(line))),
        }
        details.retain(|(of, _)| of != name);
        details.extend(details_of(&line.verification).into_iter().map(|block| (name.to_owned(), block)));
    }
    let mut text = String::from(HEAD);
    rows.iter().for_each(|(_, row)| text.push_str(row));
    text.push_str("\nMachines:\n\n");
    for bounds in verify::machines() {
        let _ = writeln!(text, "* {bounds}");
    }
    for (name, _) in &rows {
        for (_, block) in details.iter().filter(|(of, _)| of == name) {
            let _ = write!(text, "\n{block}");
        }
    }
    text.trim_end().to_owned()
}

/// The protocol that a text is about, which begins with this.
fn protocol(text: &str, begins: &str) -> Option<String> {
    let (name, _) = text.strip_prefix(begins)?.split_once('`')?;
    Some(name.to_owned())
}

fn row_of(Line { verification: v, operations, sample, seconds }: &Line) -> String {
    let claims: Vec<String> =
        v.claims.iter().map(|(model, status)| format!("`{model}` **{}**", status.name())).collect();
    let (rows, unreached) = &v.rows;
    let mutants = match &v.mutants {
        None => String::from("not seeded"),
        Some(m) => format!("{} of {}", grouped(m.killed.len() as u64), grouped(m.total() as u64)),
    };
    let number = |n: usize| grouped(n as u64);
    let sample = match *sample {
        (0, _) => String::new(),
        (count, seed) => format!(", {} sampled from seed {seed}", number(count)),
    };
    format!(
        "| `{}` | {} | {operations}{sample} | {} | {} | {} | {} | {} | {} of {rows} | {mutants} | {seconds:.0} s |\n",
        v.protocol,
        claims.join(", "),
        number(v.tests),
        number(v.race_free),
        number(v.synchronized),
        number(v.runs),
        grouped(v.states),
        rows - unreached.len(),
    )
}

fn details_of(v: &Verification) -> Vec<String> {
    let (_, unreached) = &v.rows;
    let mut blocks = Vec::new();
    let mut list = |title: String, items: Vec<String>| {
        if !items.is_empty() {
            let items: String = items.iter().map(|item| format!("* {item}\n")).collect();
            let summary = format!("<summary>`{}`: {title}</summary>", v.protocol);
            blocks.push(format!("<details>{summary}\n\n{items}\n</details>\n"));
        }
    };
    let gaps = v.gaps.iter().map(|(gap, count)| format!("{gap} ({})", counted(*count as u64, "time")));
    let of = |count: usize, noun: &str, which: &str| format!("{} {which}", counted(count as u64, noun));
    list(String::from("what was not covered"), gaps.chain(v.unproved.iter().cloned()).collect());
    list(
        of(unreached.len(), "row", "that nothing reached within these bounds"),
        unreached.iter().map(ToString::to_string).collect(),
    );
    if let Some(m) = &v.mutants {
        let equivalent: Vec<String> =
            m.equivalent.iter().map(|(name, why)| format!("{name}: {why}")).collect();
        let unseeded: Vec<String> = m.unseeded.iter().map(|(name, why)| format!("{name}: {why}")).collect();
        let unasked = "of which no claim says anything, outside the total";
        let unreached = "that made no difference within these bounds";
        for (names, one, several) in [
            (&m.survivors, "that survives", "that survive"),
            (&m.misargued, "that is killed, and argued", "that are killed, and argued"),
            (&m.unreached, unreached, unreached),
            (&m.unasked, unasked, unasked),
            (&m.undecided, "that was not decided", "that were not decided"),
            (&unseeded, "that was not seeded, outside the total", "that were not seeded, outside the total"),
            (&equivalent, "that is equivalent, outside the total", "that are equivalent, outside the total"),
        ] {
            let which = if names.len() == 1 { one } else { several };
            list(of(names.len(), "mutant", which), names.clone());
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RowName;

    fn line(protocol: &'static str, states: u64) -> Line {
        let verification = Verification {
            protocol,
            claims: Vec::new(),
            tests: 1,
            unsupported: std::collections::BTreeMap::new(),
            unpreempted: 0,
            race_free: 1,
            synchronized: 1,
            runs: 1,
            states,
            state_bytes: 1,
            transitions: 1,
            complete: true,
            gaps: [(String::from("a bound"), 1)].into(),
            unproved: Vec::new(),
            findings: Vec::new(),
            rows: (2, vec![RowName { table: "A table", event: "Load", state: "I" }]),
            mutants: None,
            dimensions: verify::Dimensions::of(&verify::machines(), verify::Spread::default(), 0),
        };
        Line { verification, operations: 4, sample: (0, 0), seconds: 1.0 }
    }

    #[test]
    fn results_of_other_protocols_stay_and_ones_own_are_replaced() {
        let both = merged("", &[line("a", 1234), line("b", 2)]);
        assert!(both.contains("1,234") && both.contains("`b`: 1 row that nothing reached"), "{both}");
        let again = merged(&both, &[line("a", 5678)]);
        assert!(!again.contains("1,234"), "{again}");
        assert_eq!(again, both.replace("1,234", "5,678"));
    }

    #[test]
    fn a_sample_is_called_one() {
        let sampled = merged("", &[Line { sample: (2000, 7), ..line("a", 1) }]);
        assert!(sampled.contains("| 4, 2,000 sampled from seed 7 |"), "{sampled}");
        assert!(!merged("", &[line("a", 1)]).contains("sampled"));
    }
}
