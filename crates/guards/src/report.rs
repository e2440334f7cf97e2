//! The report of a run: the number of mutants with each status (killed, survived, crashed and so
//! on), and the names of the survivors.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::Serialize;

use crate::argued::Argument;
use crate::schema::Mutant;
use crate::trials::{MutantStatus, Trial};

/// The number of mutants with each status (the result of all trials), such as killed or survived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// The sum of `killed` and `survivors`.
    pub total: usize,
    /// The number of mutants that some case (a program on a machine) kills: the case shows a fault.
    pub killed: usize,
    /// The number of mutants that no case (a program on a machine) kills and that are not argued to
    /// be equivalent to the protocol.
    pub survivors: usize,
    /// The number of mutants for which no case (a program on a machine) shows a fault, but at least
    /// one case ends in a panic or a signal.
    pub crashed: usize,
    /// The number of mutants for which no case (a program on a machine) shows a fault, but at least
    /// one case has a step of a controller that never ends.
    pub endless: usize,
    /// The number of mutants that no case (a program on a machine) kills and that are argued to be
    /// equivalent to the protocol.
    pub equivalent: usize,
    /// The number of unreached mutants: there is no case (a program on a machine) in which the
    /// mutant changes the value of an expression, so no case can kill the mutant.
    pub unreached: usize,
}

/// The report of a run, which tries mutants on programs.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// A digest of the sources and of the rules that make mutants from them.
    pub digest: String,
    /// The version of the sources: the date and the commit of their last change.
    pub tree: String,
    /// The files and folders whose mutants the run chose. An empty list stands for all files.
    pub only: Vec<String>,
    /// The names of the protocols whose cases (programs on a machine) were run.
    pub protocols: Vec<String>,
    /// The number of mutants that the options of the run choose.
    pub chosen: usize,
    /// The maximum number of explored states for each pair of a mutant and a protocol.
    pub states_max: u64,
    /// The maximum number of states of a case (a program on a machine) without a mutant.
    pub case_states_max: u64,
    /// The maximum number of cases (programs on a machine) for each pair of a mutant and a
    /// protocol.
    pub cases_max: usize,
    /// The number of chosen mutants whose trials are complete.
    pub finished: usize,
    /// The number of mutants with each status (such as killed or survived), over all files.
    #[serde(flatten)]
    pub counts: Counts,
    /// The names of the mutants that no case (a program on a machine) kills and that are not argued
    /// to be equivalent to the protocol.
    pub surviving: Vec<String>,
    /// The mutants that crash or never end, each with the reason.
    pub crashing: Vec<String>,
    /// The names of the mutants that are argued to be equivalent to the protocol, but were killed.
    /// Each has the fault that a case showed.
    pub misargued: Vec<String>,
    /// The names of the mutants that change no value of an expression in any of the cases (programs
    /// on a machine), and that are not argued to be equivalent to the protocol.
    pub idle: Vec<String>,
    /// For each reason why an expression gets no mutants, the number of such expressions.
    pub unseeded: BTreeMap<String, usize>,
    /// The number of mutants killed by each group of cases (programs on a machine), such as the
    /// cases of the random tester.
    pub killers: BTreeMap<String, usize>,
    /// The number of mutants killed in the trials with each protocol.
    pub killed_with: BTreeMap<String, usize>,
    /// The number of mutants with each status (such as killed or survived), for each source file.
    pub files: BTreeMap<String, Counts>,
    /// The file and the line of each mutant that [`Report::text`] names. A recorded report leaves
    /// the places out, so that a change of comments in the sources does not change the report.
    #[serde(skip)]
    pub places: BTreeMap<String, String>,
    /// The names of the killed mutants.
    #[serde(skip)]
    pub kills: BTreeSet<String>,
}

/// The name of the group that a case (a program on a machine) belongs to. The first letter of the
/// case's name determines the group.
fn group(case: &str) -> &'static str {
    match case.chars().next() {
        Some('r') => "the random tester",
        Some('d') => "dimension programs",
        Some('o' | 's') => "shipped tests",
        Some('m') => "message programs",
        _ => "generated programs",
    }
}

impl Report {
    /// Adds the results of trials to the report. `mutants` are the mutants that the run chose.
    /// `trials` has the results by the name of the mutant.
    pub(crate) fn add(
        &mut self,
        mutants: &[&Mutant],
        trials: &BTreeMap<String, Trial>,
        arguments: &[Argument],
    ) {
        for mutant in mutants {
            let Some(trial) = trials.get(&mutant.name) else { continue };
            let is_argued = arguments.iter().any(|argument| argument.is_about(&mutant.name));
            let line = mutant.name.clone();
            self.places.insert(line.clone(), format!("crates/{}:{}", mutant.file, mutant.line));
            self.finished += 1;
            let file = self.files.entry(format!("crates/{}", mutant.file)).or_default();
            for counts in [file, &mut self.counts] {
                match trial.status {
                    MutantStatus::Killed => {
                        (counts.total, counts.killed) = (counts.total + 1, counts.killed + 1)
                    }
                    MutantStatus::Crashed => counts.crashed += 1,
                    MutantStatus::Endless => counts.endless += 1,
                    MutantStatus::Unreached => counts.unreached += 1,
                    MutantStatus::Survivor if is_argued => counts.equivalent += 1,
                    MutantStatus::Survivor => {
                        (counts.total, counts.survivors) = (counts.total + 1, counts.survivors + 1)
                    }
                }
            }
            if trial.status == MutantStatus::Killed {
                self.kills.insert(mutant.name.clone());
                *self.killers.entry(group(&trial.case).to_owned()).or_default() += 1;
                *self.killed_with.entry(trial.protocol.clone()).or_default() += 1;
            }
            match trial.status {
                MutantStatus::Unreached if !is_argued => self.idle.push(line),
                MutantStatus::Killed if is_argued => self.misargued.push(format!("{line} ({})", trial.why)),
                MutantStatus::Survivor if !is_argued => self.surviving.push(line),
                MutantStatus::Crashed | MutantStatus::Endless => {
                    self.crashing.push(format!("{line} ({}, {}: {})", trial.protocol, trial.case, trial.why));
                }
                _ => {}
            }
        }
    }

    /// Whether no mutant survives, no argument of equivalence is refuted, and the trials of all
    /// chosen mutants are complete.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.counts.survivors == 0 && self.misargued.is_empty() && self.finished == self.chosen
    }

    /// The report as text for a terminal.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        let c = &self.counts;
        let _ = writeln!(
            text,
            "guards: {} of {} mutants killed, {} survive; not in the total: {} crash, {} never end, {} equivalent, {} unreached",
            c.killed, c.total, c.survivors, c.crashed, c.endless, c.equivalent, c.unreached
        );
        let _ = writeln!(
            text,
            "  {} of {} chosen mutants finished; protocols {}",
            self.finished,
            self.chosen,
            self.protocols.join(", ")
        );
        for (group, count) in &self.killers {
            let _ = writeln!(text, "  {count} killed by {group}");
        }
        for (protocol, count) in &self.killed_with {
            let _ = writeln!(text, "  {count} killed with {protocol}");
        }
        for (reason, count) in &self.unseeded {
            let _ = writeln!(text, "  {count} not seeded: {reason}");
        }
        for (what, names) in [
            ("survivor", &self.surviving),
            ("crash", &self.crashing),
            ("argued, but killed", &self.misargued),
            ("unreached", &self.idle),
        ] {
            for name in names {
                // In some lists, a reason follows the name of the mutant.
                let mutant = self.places.keys().rfind(|mutant| name.starts_with(mutant.as_str()));
                let place = mutant.map_or("", |mutant| &self.places[mutant]);
                let _ = writeln!(text, "    {what}: {place}: {name}");
            }
        }
        text
    }
}
