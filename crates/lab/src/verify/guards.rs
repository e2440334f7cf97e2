//! The recorded results of the mutants of guards. A guard is code of a protocol's controller
//! outside transition tables and plans (lists of steps). A mutant of a guard is a protocol with one
//! seeded fault in this code. The command `guards --record` runs these mutants and writes the
//! record. A verification does not run them.

use core::fmt::Write as _;
use std::collections::BTreeMap;

use proto::words::{counted, grouped};
use serde::Deserialize;

/// The text of the record (the results of the mutants of guards) that is built into the program.
const RECORD: &str = include_str!("../../../../docs/results/guards.toml");

/// The numbers of mutants (protocols with a seeded fault) for each kind of result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct GuardCounts {
    /// The number of mutants that were killed (a test detects their fault) or survived (no test
    /// detects it).
    pub total: u64,
    /// The number of killed mutants: a test detects their fault.
    pub killed: u64,
    /// The number of mutants that survived (no test detects their fault), without the mutants that
    /// are argued to be equivalent to the protocol.
    pub survivors: u64,
    /// The number of mutants that no test killed, but that made the process crash.
    pub crashed: u64,
    /// The number of mutants that no test killed, but that had a step of a controller that does not
    /// end.
    pub endless: u64,
    /// The number of mutants that survived and are argued to be equivalent to the protocol.
    pub equivalent: u64,
    /// The number of mutants whose fault had no effect in any test.
    pub unreached: u64,
}

/// The records of all runs of mutants: protocols that each have one seeded fault in a guard. A guard
/// is code of a protocol's controller outside transition tables and plans (lists of steps).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guards {
    /// The records, each for the mutants of some source files.
    #[serde(default)]
    pub runs: Vec<GuardRun>,
}

/// The record of a run of the mutants of some source files.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct GuardRun {
    /// The version of the sources that were mutated: a date and a commit.
    pub tree: String,
    /// The files and folders whose mutants ran. An empty list stands for all files.
    pub only: Vec<String>,
    /// The protocols on which the mutants ran.
    pub protocols: Vec<String>,
    /// The number of mutants that were selected for the run.
    pub chosen: u64,
    /// The maximum number of states that were explored for each pair of a mutant and a protocol.
    pub states_max: u64,
    /// The maximum number of states of a case (a program on a machine) without a fault.
    #[serde(default = "case_states")]
    pub case_states_max: u64,
    /// The maximum number of cases (programs on a machine) that were explored for each pair of a
    /// mutant and a protocol.
    pub cases_max: u64,
    /// The number of mutants for which the run found a result.
    pub finished: u64,
    /// The numbers of mutants for each kind of result, for all source files together.
    #[serde(flatten)]
    pub counts: GuardCounts,
    surviving: Vec<String>,
    crashing: Vec<String>,
    misargued: Vec<String>,
    idle: Vec<String>,
    unseeded: BTreeMap<String, u64>,
    killers: BTreeMap<String, u64>,
    killed_with: BTreeMap<String, u64>,
    files: BTreeMap<String, GuardCounts>,
}

/// The maximum number of states of a case in the runs whose record does not give it.
const fn case_states() -> u64 {
    30_000
}

impl Guards {
    /// Reads the records (the results of the mutants of guards) that are built into the program.
    ///
    /// # Errors
    /// If the records have a syntax error. The error has the line.
    pub fn recorded() -> Result<Guards, String> {
        Guards::read(RECORD)
    }

    fn read(text: &str) -> Result<Guards, String> {
        toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())
    }

    /// The records of runs in which programs for this protocol killed mutants.
    pub fn of(&self, protocol: &str) -> impl Iterator<Item = &GuardRun> {
        self.runs.iter().filter(move |run| run.killed_with.contains_key(protocol))
    }

    /// The recorded results of the mutants, as a section of a Markdown page. The text is empty if
    /// there is no record.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        if self.runs.is_empty() {
            return String::new();
        }
        let mut text = String::from(
            "\n## Guards\n\nThese mutants change guards: the code of controllers outside tables and plans. \
             Each run tried the mutants of some source files, with programs for some protocols. The data \
             is in [guards.toml](guards.toml).\n",
        );
        self.runs.iter().for_each(|run| run.add_to(&mut text));
        text
    }
}

impl GuardRun {
    /// The source files whose mutants ran, as text. `mark` stands before and after each name.
    fn sources(&self, mark: &str) -> String {
        let marked: Vec<String> = self.only.iter().map(|name| format!("{mark}{name}{mark}")).collect();
        if marked.is_empty() { String::from("all files") } else { marked.join(", ") }
    }

    /// A summary, in one sentence, of the recorded results of the mutants.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!(
            "guards of {}: {} of {} mutants killed, recorded for the tree of {}",
            self.sources(""),
            grouped(self.counts.killed),
            grouped(self.counts.total),
            self.tree
        )
    }

    fn add_to(&self, text: &mut String) {
        let protocols: Vec<String> = self.protocols.iter().map(|name| format!("`{name}`")).collect();
        let _ = write!(
            text,
            "\n### Guards of {}\n\nThe run used the sources of {} and programs for {}. It finished {} of {} \
             mutants, with up to {} cases and {} states for each mutant and protocol, and up to {} states \
             for each case.\n\n",
            self.sources("`"),
            self.tree,
            protocols.join(", "),
            grouped(self.finished),
            grouped(self.chosen),
            grouped(self.cases_max),
            grouped(self.states_max),
            grouped(self.case_states_max),
        );
        text.push_str(
            "| file | mutants killed | crash | never end | equivalent | unreached |\n|---|---|---|---|---|---|\n",
        );
        let row = |name: &str, c: &GuardCounts| {
            let [killed, total, crashed, endless, equivalent, unreached] =
                [c.killed, c.total, c.crashed, c.endless, c.equivalent, c.unreached].map(grouped);
            format!("| {name} | {killed} of {total} | {crashed} | {endless} | {equivalent} | {unreached} |\n")
        };
        self.files.iter().for_each(|(file, counts)| text.push_str(&row(&format!("`{file}`"), counts)));
        text.push_str(&row("all", &self.counts));
        let listed = |counts: &BTreeMap<String, u64>, mark: &str| {
            let each = counts.iter().map(|(name, count)| format!("{mark}{name}{mark}: {}", grouped(*count)));
            each.collect::<Vec<_>>().join(", ")
        };
        let _ = writeln!(text, "\nKilled mutants by kind of case: {}.", listed(&self.killers, ""));
        let _ = writeln!(text, "Killed mutants by protocol: {}.", listed(&self.killed_with, "`"));
        if !self.unseeded.is_empty() {
            text.push_str(
                "\nParts of all sources, and seeded faults, for which no mutant was made, by reason:\n\n",
            );
        }
        for (reason, count) in &self.unseeded {
            let _ = writeln!(text, "* {} {reason}", grouped(*count));
        }
        for (names, what) in [
            (&self.surviving, "not killed"),
            (&self.crashing, "with a crash or a step that does not end"),
            (&self.misargued, "killed, although an argument says that these mutants have no effect"),
            (&self.idle, "not reached"),
        ] {
            if !names.is_empty() {
                let items: String = names.iter().map(|name| format!("* {name}\n")).collect();
                let count = counted(names.len() as u64, "mutant");
                let _ = write!(text, "\n<details><summary>{count} {what}</summary>\n\n{items}\n</details>\n");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "[[runs]]\ntree = \"2026-01-02 abc\"\nonly = [\"crates/zoo/src/vi\"]\nprotocols = [\"vi\"]\n\
                       chosen = 9\nstates_max = 1\ncases_max = 1\nfinished = 8\ntotal = 7\nkilled = 6\n\
                       survivors = 1\ncrashed = 1\nendless = 0\nequivalent = 0\nunreached = 0\n\
                       surviving = [\"a\"]\ncrashing = [\"b\"]\nmisargued = []\nidle = []\n\
                       [runs.unseeded]\n[runs.killers]\n\"shipped tests\" = 6\n[runs.killed_with]\nvi = 6\n\
                       [runs.files]\n";

    #[test]
    fn a_record_gives_a_sentence_and_a_section() {
        let guards = Guards::read(RUN).expect("it is read");
        let sentences: Vec<String> = guards.of("vi").map(GuardRun::sentence).collect();
        assert_eq!(
            sentences,
            ["guards of crates/zoo/src/vi: 6 of 7 mutants killed, recorded for the tree of 2026-01-02 abc"]
        );
        assert_eq!(guards.of("no-l1").count(), 0);
        let page = guards.to_markdown();
        assert!(page.contains("\n### Guards of `crates/zoo/src/vi`\n"));
        assert!(page.contains("| all | 6 of 7 | 1 | 0 | 0 | 0 |"));
        assert!(page.contains("by kind of case: shipped tests: 6.\nKilled mutants by protocol: `vi`: 6.\n"));
        let all = Guards::read(&RUN.replace("\"crates/zoo/src/vi\"", "")).expect("it is read");
        assert!(all.runs[0].sentence().starts_with("guards of all files: "));
        assert_eq!(Guards::read("").expect("it is read").to_markdown(), "");
        assert!(Guards::read("runs = 1").is_err());
    }

    #[test]
    fn the_numbers_of_the_records_add_up() {
        for run in Guards::recorded().expect("the records can be read").runs {
            let sum = |of: fn(&GuardCounts) -> u64| run.files.values().map(of).sum::<u64>();
            let c = run.counts;
            assert_eq!((sum(|c| c.total), sum(|c| c.killed)), (c.total, c.killed));
            assert_eq!(c.total, c.killed + c.survivors);
            assert_eq!(c.total + c.crashed + c.endless + c.equivalent + c.unreached, run.finished);
            assert_eq!(run.surviving.len() as u64, c.survivors);
            assert_eq!(run.killers.values().sum::<u64>(), c.killed);
            assert_eq!(run.killed_with.values().sum::<u64>(), c.killed);
        }
    }
}
