//! The recorded results of verifications: a TOML file, and the page that shows them.

use core::fmt::Write as _;
use std::collections::BTreeMap;

use explore::mutants::is_named;
use explore::verify::{self, TestSize, Verification};
use proto::Info;
use proto::words::{counted, grouped, plural};
use serde::{Deserialize, Serialize};

use super::Guards;

/// The text of the records that are built into the program.
const RECORDED: &str = include_str!("../../../../docs/results/verification.toml");

/// The explanation of the columns of the page.
const HEAD: &str = "\
In the table *Protocols*, the status of a claim covers every schedule of the litmus tests of Fencepost, and of the
generated programs with at most the number of operations in the column *operations*. *Short tests* have at most eight
instructions, and *small tests* have at most eight by two threads of the device, or five by three; the others were
left out. The column *free of races* counts the programs that are race-free under at least one claimed model. The
column *synchronized* counts those race-free programs in which synchronization orders conflicting accesses to data by
threads at different caches. Runs with the same *digest* have the same code, tests and options; a run without a digest
is of older code.

";

/// The recorded results of all protocols.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Records {
    /// Remarks on the records, as paragraphs of Markdown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// Descriptions of the simulated machines on which the programs were explored.
    machines: Vec<String>,
    /// The records of verifications that explored only randomly sampled programs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    samples: Vec<Sample>,
    /// The records, one for each protocol.
    protocols: Vec<Record>,
}

/// The recorded results of one protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    protocol: String,
    /// The date of the verification, such as `2026-01-31`.
    date: String,
    /// The digest of the code, the tests and the options of the verification. `None` for the records
    /// of older programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    /// The maximum number of operations of the generated programs.
    operations: u8,
    /// The size of the tests, such as `small`. `None` for all sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    test_size: Option<String>,
    /// The number of randomly sampled programs, and the seed of the sample. `None` if no programs
    /// were sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sampled: Option<Sampled>,
    programs: u64,
    race_free: u64,
    synchronized: u64,
    runs: u64,
    states: u64,
    rows_fired: u64,
    rows_total: u64,
    seconds: u64,
    /// The parts that the verification did not cover.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    not_covered: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rows_unreached: Vec<String>,
    /// The status of each claim. The key is the name of the claimed memory model.
    claims: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mutants: Option<Mutants>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sampled {
    programs: u64,
    seed: u64,
}

/// The results for the mutants (protocols with a seeded fault): their total number, the number of
/// killed mutants, and lists of the mutants with other results.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mutants {
    killed: u64,
    total: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    survivors: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    misargued: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unreached: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unasked: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    undecided: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unseeded: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    equivalent: Vec<String>,
}

/// The record of a verification that explored only randomly sampled programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sample {
    protocol: String,
    programs: u64,
    synchronized: u64,
    states: u64,
    seconds: u64,
}

impl Records {
    /// Reads the records that are built into the program.
    ///
    /// # Errors
    /// If the records have a syntax error. The error has the line.
    pub fn recorded() -> Result<Records, String> {
        Records::read(RECORDED)
    }

    /// The record of a protocol. `None` if it has none.
    #[must_use]
    pub fn of(&self, protocol: &str) -> Option<&Record> {
        self.protocols.iter().find(|record| record.protocol == protocol)
    }

    /// Reads a file of records. The surviving mutants of each record that a protocol argues to be
    /// equivalent count as equivalent, also if the argument is younger than the record.
    ///
    /// # Errors
    /// If the text has a syntax error. The error has the line.
    pub fn read(text: &str) -> Result<Records, String> {
        let mut records: Records =
            toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        for record in &mut records.protocols {
            let info = zoo::ALL.iter().find(|info| info.name == record.protocol);
            if let (Some(info), Some(mutants)) = (info, &mut record.mutants) {
                mutants.settle(info);
            }
        }
        Ok(records)
    }

    /// Whether there is a record of the protocol `name` whose verification had this digest
    /// ([`Question::digest`](super::Question::digest)).
    #[must_use]
    pub fn has(&self, name: &str, digest: &str) -> bool {
        self.protocols
            .iter()
            .any(|record| record.protocol == name && record.digest.as_deref() == Some(digest))
    }

    /// Adds a record. If there is a record of the same protocol, the new record replaces it.
    pub fn enter(&mut self, record: Record) {
        self.machines = verify::machines().iter().map(ToString::to_string).collect();
        match self.protocols.iter_mut().find(|old| old.protocol == record.protocol) {
            Some(old) => *old = record,
            None => self.protocols.push(record),
        }
    }

    /// The text of a TOML file with the records.
    ///
    /// # Errors
    /// If TOML cannot express the records. The error is a sentence.
    pub fn to_toml(&self) -> Result<String, String> {
        toml::to_string_pretty(self).map_err(|error| error.to_string())
    }

    /// The page of the records in Markdown. `data` is the name of the file with the records, and
    /// `guards` has the records of mutants of guards.
    #[must_use]
    pub fn page(&self, data: &str, guards: &Guards) -> String {
        format!(
            "# Results of verification\n\n<!-- Rendered from {data} by the option --record of verify. -->\n\n\
             This page shows the recorded verifications of protocols: the status of each claim, the number of \
             programs and\nstates, the rows that fired, and the result of every seeded fault. \
             [verification.md](../verification.md) explains these\nterms. \
             [findings/README.md](../findings/README.md) describes the refuted claims. The file\n\
             [{data}]({data}) contains the same data.\n\n{HEAD}{}{}",
            self.to_markdown(),
            guards.to_markdown()
        )
    }

    /// The records as the Markdown tables of a page.
    fn to_markdown(&self) -> String {
        let mut text = String::new();
        for note in &self.notes {
            let _ = writeln!(text, "{note}\n");
        }
        text.push_str("## Protocols\n\n");
        text.push_str(
            "| protocol | claims | operations | programs | free of races | synchronized | runs | states \
             | rows fired | mutants killed | time | date | digest |\n\
             |---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        );
        self.protocols.iter().for_each(|record| text.push_str(&record.row()));
        text.push_str("\nMachines:\n\n");
        self.machines.iter().for_each(|machine| text.push_str(&format!("* {machine}\n")));
        if !self.samples.is_empty() {
            text.push_str("\n## Sampled programs\n\n");
            text.push_str("| protocol | programs | synchronized | states | time |\n|---|---|---|---|---|\n");
            self.samples.iter().for_each(|sample| text.push_str(&sample.row()));
        }
        text.push_str(
            "\n## Rows and mutants\n\nA mutant is a protocol with one seeded fault. An item below names a \
             table, a row of this table (an event in a state) and the fault. For example, the mutant \
             `A line in the L1: Load in I, which forgets a byte that it sends` has the row for a load in \
             state I changed: its message lacks one byte.\n",
        );
        for block in self.protocols.iter().flat_map(Record::details) {
            let _ = write!(text, "\n{block}");
        }
        text
    }
}

impl Record {
    /// The record of a verification that took `seconds` seconds and ended on the day `date`.
    #[must_use]
    pub fn of(
        v: &Verification,
        (operations, size): (u8, TestSize),
        (programs, seed): (usize, u64),
        (seconds, date): (f64, String),
        digest: &str,
    ) -> Record {
        let (rows, unreached) = &v.rows;
        let gaps = v.gaps.iter().map(|(gap, count)| format!("{gap} ({})", counted(*count as u64, "time")));
        Record {
            protocol: v.protocol.to_owned(),
            date,
            digest: Some(digest.to_owned()),
            operations,
            test_size: (size != TestSize::All).then(|| size.name().to_owned()),
            sampled: (programs > 0).then_some(Sampled { programs: programs as u64, seed }),
            programs: v.tests as u64,
            race_free: v.race_free as u64,
            synchronized: v.synchronized as u64,
            runs: v.runs as u64,
            states: v.states,
            rows_fired: (rows - unreached.len()) as u64,
            rows_total: *rows as u64,
            seconds: seconds.round() as u64,
            not_covered: gaps.chain(v.unproved.iter().cloned()).collect(),
            rows_unreached: unreached.iter().map(ToString::to_string).collect(),
            claims: v
                .claims
                .iter()
                .map(|(model, status)| (model.clone(), status.name().to_owned()))
                .collect(),
            mutants: v.mutants.as_ref().map(Mutants::of),
        }
    }

    /// The status of the claim to keep a memory model. `None` if the protocol did not claim it.
    #[must_use]
    pub fn status(&self, model: &str) -> Option<&str> {
        self.claims.get(model).map(String::as_str)
    }

    /// The extent of the verification, and its date.
    #[must_use]
    pub fn extent(&self) -> String {
        let of = |count: u64, unit: &str| format!("{} {}", grouped(count), plural(count, unit));
        format!("{}, {}, {}", of(self.programs, "program"), of(self.states, "state"), self.date)
    }

    fn row(&self) -> String {
        let claims = self.claims.iter().map(|(model, status)| format!("`{model}` **{status}**"));
        let mutants = match &self.mutants {
            None => String::from("not seeded"),
            Some(mutants) => format!("{} of {}", grouped(mutants.killed), grouped(mutants.total)),
        };
        let sampled = self.sampled.as_ref().map_or_else(String::new, |sampled| {
            format!(", {} sampled from seed {}", grouped(sampled.programs), sampled.seed)
        });
        let size = self.test_size.as_ref().map_or_else(String::new, |size| format!(", {size} tests"));
        format!(
            "| `{}` | {} | {}{size}{sampled} | {} | {} | {} | {} | {} | {} of {} | {mutants} | {} s | {} | {} |\n",
            self.protocol,
            claims.collect::<Vec<_>>().join(", "),
            self.operations,
            grouped(self.programs),
            grouped(self.race_free),
            grouped(self.synchronized),
            grouped(self.runs),
            grouped(self.states),
            self.rows_fired,
            self.rows_total,
            self.seconds,
            self.date,
            self.digest.as_deref().unwrap_or_default(),
        )
    }

    /// The details of the record: one collapsible block of HTML for each list in the record that is
    /// not empty.
    fn details(&self) -> Vec<String> {
        let mut blocks = Vec::new();
        let mut list = |title: &str, items: &[String]| {
            if !items.is_empty() {
                let items: String = items.iter().map(|item| format!("* {item}\n")).collect();
                let summary = format!("<summary>`{}`: {title}</summary>", self.protocol);
                blocks.push(format!("<details>{summary}\n\n{items}\n</details>\n"));
            }
        };
        list("not covered", &self.not_covered);
        let rows = counted(self.rows_unreached.len() as u64, "row");
        list(&format!("{rows} that no program reached within these bounds"), &self.rows_unreached);
        if let Some(m) = &self.mutants {
            for (mutants, status) in [
                (&m.survivors, "not killed"),
                (&m.misargued, "killed, although an argument says that these mutants have no effect"),
                (&m.unreached, "without effect within these bounds"),
                (&m.unasked, "outside every claim, and outside the total"),
                (&m.undecided, "undecided"),
                (&m.unseeded, "not seeded, outside the total"),
                (&m.equivalent, "equivalent, outside the total"),
            ] {
                list(&format!("{} {status}", counted(mutants.len() as u64, "mutant")), mutants);
            }
        }
        blocks
    }
}

impl Mutants {
    /// Moves the survivors for which there is an argument now to the equivalent mutants. A
    /// verification tries a mutant with an argument on fewer runs than a mutant without one, so it
    /// would have the same result.
    fn settle(&mut self, info: &Info) {
        self.survivors.retain(|mutant| {
            let argued = info.equivalents().find(|(name, _)| is_named(name, mutant));
            if let Some((_, reason)) = argued {
                self.equivalent.push(format!("{mutant}: {reason}"));
                self.total -= 1;
            }
            argued.is_none()
        });
    }

    fn of(found: &explore::mutants::Mutants) -> Mutants {
        let argued = |mutants: &[(String, String)]| {
            mutants.iter().map(|(name, why)| format!("{name}: {why}")).collect()
        };
        Mutants {
            killed: found.killed.len() as u64,
            total: found.total() as u64,
            survivors: found.survivors.clone(),
            misargued: found.misargued.clone(),
            unreached: found.unreached.clone(),
            unasked: found.unasked.clone(),
            undecided: found.undecided.clone(),
            unseeded: argued(&found.unseeded),
            equivalent: argued(&found.equivalent),
        }
    }
}

impl Sample {
    fn row(&self) -> String {
        let [programs, synchronized, states] = [self.programs, self.synchronized, self.states].map(grouped);
        format!("| `{}` | {programs} | {synchronized} | {states} | {} s |\n", self.protocol, self.seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use explore::RowName;

    fn record(protocol: &'static str, states: u64, sample: (usize, u64)) -> Record {
        let verification = Verification {
            protocol,
            claims: vec![(String::from("drf"), verify::Status::Incomplete)],
            tests: 1,
            unsupported: BTreeMap::new(),
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
            families: Vec::new(),
            dimensions: verify::Dimensions::default(),
            census: verify::Census::default(),
        };
        let measured = (1.0, String::from("2026-01-31"));
        Record::of(&verification, (4, TestSize::All), sample, measured, "0123abcd")
    }

    #[test]
    fn a_record_replaces_that_of_its_protocol_and_no_other() {
        let mut records = Records { notes: vec![String::from("a note")], ..Records::default() };
        records.enter(record("a", 1234, (0, 0)));
        records.enter(record("b", 2, (0, 0)));
        let before = records.clone();
        records.enter(record("a", 5678, (0, 0)));
        assert!(
            records.has("a", "0123abcd") && !records.has("a", "0123abce") && !records.has("c", "0123abcd")
        );
        let (old, new) = (before.to_markdown(), records.to_markdown());
        assert!(old.contains("1,234") && old.contains("`b`: 1 row that no program reached"), "{old}");
        assert_eq!(new, old.replace("1,234", "5,678"));
    }

    #[test]
    fn records_survive_their_file() {
        let mut records = Records { notes: vec![String::from("a `note`")], ..Records::default() };
        records.enter(record("a", 1234, (2000, 7)));
        records.protocols[0].mutants =
            Some(Mutants { killed: 1, total: 2, survivors: vec![String::from("one")], ..Mutants::default() });
        let text = records.to_toml().expect("TOML");
        assert_eq!(Records::read(&text), Ok(records));
        let misspelt = Records::read(&text.replace("states", "state")).expect_err("an unknown key");
        assert!(misspelt.contains("unknown field `state`"), "{misspelt}");
    }

    #[test]
    fn an_argument_settles_a_survivor_of_an_older_record() {
        let (info, (name, reason)) = zoo::ALL
            .iter()
            .find_map(|info| {
                Some((
                    info,
                    info.equivalents().find(|(name, reason)| !format!("{name}{reason}").contains('*'))?,
                ))
            })
            .expect("an argument");
        let mut records = Records::default();
        records.enter(record(info.name, 1, (0, 0)));
        let survivors = vec![String::from("another"), name.to_owned()];
        records.protocols[0].mutants = Some(Mutants { killed: 3, total: 5, survivors, ..Mutants::default() });
        let settled = Records::read(&records.to_toml().expect("TOML")).expect("records").protocols.remove(0);
        let expected = Mutants {
            killed: 3,
            total: 4,
            survivors: vec![String::from("another")],
            equivalent: vec![format!("{name}: {reason}")],
            ..Mutants::default()
        };
        assert_eq!(settled.mutants, Some(expected));
    }

    #[test]
    fn the_table_marks_sampled_states() {
        let page = |sample| {
            let mut records = Records::default();
            records.enter(record("a", 1, sample));
            records.to_markdown()
        };
        assert!(page((2000, 7)).contains("| 4, 2,000 sampled from seed 7 |"));
        assert!(!page((0, 7)).contains("sampled"));
    }

    #[test]
    fn the_table_marks_small_tests() {
        let mut records = Records::default();
        records.enter(Record { test_size: Some(String::from("small")), ..record("a", 1, (0, 0)) });
        let page = records.to_markdown();
        assert!(page.contains("| 4, small tests |"), "{page}");
        records.enter(record("a", 1, (0, 0)));
        assert!(!records.to_markdown().contains("small tests |"));
    }
}
