//! The trials of mutants: each mutant is run on the cases (programs on a machine) of a protocol
//! that may kill the mutant.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::records::CaseRecord;
use crate::worker::{Answer, Worker};

/// The status of a mutant: the result of all its trials. If trials with different protocols have
/// different results, the status is the result that is listed last here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MutantStatus {
    /// There is no case (a program on a machine) in which the mutant changes the value of an
    /// expression.
    Unreached,
    /// No case (a program on a machine) shows a fault of the mutant, and no case ends abnormally.
    Survivor,
    /// No case (a program on a machine) shows a fault, but at least one case has a step of a
    /// controller that did not end.
    Endless,
    /// No case (a program on a machine) shows a fault. But in at least one case, the mutant
    /// panicked, ended the process, or prevented the construction of the machine.
    Crashed,
    /// At least one case (a program on a machine) shows a fault of the mutant: a forbidden outcome,
    /// an impossible input, a deadlock, or an endless run.
    Killed,
}

/// The result of the trials of one mutant with one protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// The name of the mutant.
    pub mutant: String,
    /// The status of the mutant: the result of all its trials with this protocol.
    #[serde(rename = "fate")]
    pub status: MutantStatus,
    /// The name of the protocol whose cases were tried.
    pub protocol: String,
    /// The name of the case (a program on a machine) that shows the fault, crashes or never ends.
    /// Empty if there is no such case.
    pub case: String,
    /// The fault or the crash in words, with the program if a fault is shown. Empty for a mutant
    /// that survives or is unreached.
    pub why: String,
    /// The number of cases (programs on a machine) on which the mutant was tried.
    pub cases: usize,
    /// The limits within which the trials were made.
    pub budget: Budget,
}

impl Trial {
    /// Whether this result makes new trials within the limits `budget` unnecessary: the mutant was
    /// killed, or the limits of this result are at least as large as `budget`.
    pub(crate) fn covers(&self, budget: Budget) -> bool {
        let Budget { states_max, case_states_max, cases_max, share_of } = self.budget;
        let is_as_large = states_max >= budget.states_max
            && case_states_max >= budget.case_states_max
            && cases_max >= budget.cases_max;
        self.status == MutantStatus::Killed || is_as_large && share_of <= budget.share_of
    }
}

/// A protocol with the records of its cases (programs on a machine).
#[derive(Debug)]
pub struct Subject {
    /// The name of the protocol.
    pub protocol: String,
    /// The records of the protocol's cases (programs on a machine).
    pub cases: Vec<CaseRecord>,
}

/// The limits for all trials of one mutant with one protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// The maximum number of states, summed over all cases (programs on a machine) on which the
    /// mutant is tried. The states of a case are counted in a run without a mutant. The cases that
    /// are tried first, because they have killed other mutants, are not counted.
    pub states_max: u64,
    /// The maximum number of states of a case (a program on a machine) in a run without a mutant. A
    /// larger case is not used.
    pub case_states_max: u64,
    /// The maximum number of cases (programs on a machine) on which the mutant is tried. The cases
    /// that are tried first, because they have killed other mutants, are not counted.
    pub cases_max: usize,
    /// One in this number of cases (programs on a machine) is used. With 1, all cases are used.
    pub share_of: usize,
}

impl Budget {
    /// The smaller limits for a mutant that is unlikely to be killed: the mutant is argued to be
    /// equivalent to the protocol, or the cases of an earlier protocol did not kill it.
    pub(crate) fn of_unlikely(self) -> Budget {
        Budget { states_max: self.states_max / UNLIKELY, ..self }
    }
}

/// For a mutant that is unlikely to be killed, the limit `states_max` is divided by this number.
const UNLIKELY: u64 = 16;
/// The factor in the limit on the states that a case (a program on a machine) explores with a
/// mutant. The limit is this factor times the number of states without the mutant, plus
/// `STATES_MORE`. The summand `STATES_MORE` matters only for the smallest cases.
const GROWTH_MAX: u64 = 4;
const STATES_MORE: u64 = 1000;
/// The factor in the limit on the fuel (calls of the switch) that a case uses with a mutant. The
/// limit is this factor times the fuel without the mutant, plus `FUEL_MORE`. A controller in an
/// endless loop reaches the limit in about a second.
const FUEL_GROWTH_MAX: u64 = 16;
const FUEL_MORE: u64 = 20_000_000;
/// After this number of cases (programs on a machine) has crashed or never ended with a mutant, the
/// mutant is not tried on further cases of the protocol.
const CRASHES_MAX: usize = 3;
/// The maximum number of cases (programs on a machine) that are tried first because they have
/// killed other mutants.
const KILLERS_MAX: usize = 32;

/// The cases (programs on a machine) of one protocol that have killed mutants so far in the run.
#[derive(Debug, Default)]
pub(crate) struct Kills {
    /// The number of mutants that each case has killed, by the name of the case.
    counts: BTreeMap<String, usize>,
    /// For each function of the sources, the names of the cases that killed one of its mutants.
    of_functions: BTreeMap<String, BTreeSet<String>>,
}

/// The function whose code a mutant changes: the first part of the mutant's name.
fn function(mutant: &str) -> &str {
    mutant.split(": ").next().unwrap_or_default()
}

impl Kills {
    pub(crate) fn add(&mut self, trial: &Trial) {
        *self.counts.entry(trial.case.clone()).or_default() += 1;
        let function = function(&trial.mutant).to_owned();
        self.of_functions.entry(function).or_default().insert(trial.case.clone());
    }

    /// The rank of a case for a mutant. Cases with smaller ranks are tried earlier. Cases that
    /// killed mutants of the same function come first. Otherwise, cases with more kills come first.
    /// `None` if the case has killed no mutant.
    fn rank(&self, mutant: &str, case: &str) -> Option<(bool, usize)> {
        let count = *self.counts.get(case)?;
        let is_near = self.of_functions.get(function(mutant)).is_some_and(|cases| cases.contains(case));
        Some((!is_near, usize::MAX - count))
    }
}

/// The cases on which a mutant is tried, in order. A few cases that have killed other mutants come
/// first. Then come the cases with a few episodes (random programs), and then those of the tests that
/// were written for the protocol. Then come the smallest cases of each group of programs, the next
/// larger cases of each group, and so on.
pub(crate) fn order<'a>(
    subject: &'a Subject,
    (number, name): (u32, &str),
    kills: &Kills,
    budget: Budget,
) -> Vec<&'a CaseRecord> {
    let mut rest: Vec<&CaseRecord> = subject.cases.iter().filter(|case| case.sees(number)).collect();
    let killers = rest.iter().filter_map(|case| Some((kills.rank(name, &case.name)?, case.states, *case)));
    let mut killers: Vec<_> = killers.collect();
    killers.sort_by_key(|&(rank, states, case)| (rank, states, &case.name));
    rest.sort_by_key(|case| (case.states, &case.name));
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut ranked: Vec<((bool, bool, usize), &CaseRecord)> = Vec::new();
    for case in rest {
        let (name, part, together) = case.group();
        let count = counts.entry((name, part)).or_default();
        ranked.push(((!case.is_short_test(), !case.is_own_test(), *count / together), case));
        *count += 1;
    }
    ranked.sort_by_key(|(rank, case)| (*rank, case.states, &case.name));
    let mut left = budget.states_max;
    ranked.retain(|(_, case)| {
        let rest = left.checked_sub(case.states);
        left = rest.unwrap_or(left);
        rest.is_some()
    });
    ranked.truncate(budget.cases_max);
    let first = killers.into_iter().map(|(.., case)| case).take(KILLERS_MAX);
    let mut seen = BTreeSet::new();
    first.chain(ranked.into_iter().map(|(_, case)| case)).filter(|case| seen.insert(&case.name)).collect()
}

/// Tries a mutant on the cases of a protocol, until a case shows a fault, several cases have
/// crashed, or no case is left. Returns the result of all these trials.
pub(crate) fn try_mutant(
    worker: &mut Worker<'_>,
    subject: &Subject,
    (number, name): (u32, &str),
    kills: &Kills,
    budget: Budget,
) -> Result<Trial, String> {
    let mut result = Trial {
        mutant: name.to_owned(),
        status: MutantStatus::Unreached,
        protocol: subject.protocol.clone(),
        case: String::new(),
        why: String::new(),
        cases: 0,
        budget,
    };
    let mut crashes = 0;
    for case in order(subject, (number, name), kills, budget) {
        let (states, fuel) =
            (STATES_MORE + GROWTH_MAX * case.states, FUEL_MORE + FUEL_GROWTH_MAX * case.fuel);
        result.cases += 1;
        let (status, why) = match worker.ask(&format!("{number} {} {states} {fuel}", case.name))? {
            Answer::Left => (MutantStatus::Survivor, String::new()),
            Answer::Killed(why) => (MutantStatus::Killed, why),
            Answer::Crashed(why) => (MutantStatus::Crashed, why),
            Answer::Endless => (MutantStatus::Endless, String::from("a step does not end")),
        };
        // The first crash or endless step is kept as the status of the mutant, unless a later case
        // shows a fault.
        let is_kept = status == MutantStatus::Killed
            || result.status <= MutantStatus::Survivor && status > result.status;
        if is_kept {
            let is_shown = status != MutantStatus::Survivor;
            result.status = status;
            result.case = if is_shown { case.name.clone() } else { String::new() };
            result.why = why;
        }
        crashes += usize::from(matches!(status, MutantStatus::Crashed | MutantStatus::Endless));
        if status == MutantStatus::Killed || crashes >= CRASHES_MAX {
            break;
        }
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(lines: &[&str]) -> Subject {
        let cases = lines.iter().map(|line| CaseRecord::read(line).expect("a record")).collect();
        Subject { protocol: String::from("vi"), cases }
    }

    fn killed(mutant: &str, case: &str) -> Trial {
        Trial {
            mutant: mutant.to_owned(),
            status: MutantStatus::Killed,
            protocol: String::from("vi"),
            case: case.to_owned(),
            why: String::new(),
            cases: 1,
            budget: Budget { states_max: 100, case_states_max: 50, cases_max: 10, share_of: 2 },
        }
    }

    #[test]
    fn a_kill_holds_and_other_trials_are_repeated_with_a_larger_budget() {
        let budget = killed("a", "b").budget;
        let survivor = Trial { status: MutantStatus::Survivor, ..killed("a", "b") };
        let larger = [
            Budget { states_max: 101, ..budget },
            Budget { case_states_max: 51, ..budget },
            Budget { cases_max: 11, ..budget },
            Budget { share_of: 1, ..budget },
        ];
        for larger in larger {
            assert!(killed("a", "b").covers(larger) && !survivor.covers(larger), "{larger:?}");
        }
        assert!(survivor.covers(budget) && survivor.covers(Budget { states_max: 1, share_of: 8, ..budget }));
    }

    #[test]
    fn killers_come_first_and_then_the_smallest_cases_of_each_group() {
        let subject = subject(&[
            "r0.1 70 1 5",
            "s0.0.0 10 1 5",
            "s0.0.1 20 1 5",
            "s1.0.0 30 1 5",
            "s2.0.0 5 1 6",
            "s3.0.0 900 1 5",
            "s4.0.0 50 1 5",
        ]);
        let budget = Budget { states_max: 2000, case_states_max: 2000, cases_max: 10, share_of: 1 };
        let names = |number, kills: &Kills, budget| {
            let order = order(&subject, (number, "a.rs, f: `x` to `y`"), kills, budget).into_iter();
            order.map(|case| case.name.clone()).collect::<Vec<_>>()
        };
        let mut kills = Kills::default();
        for trial in [killed("b.rs, g: without `h()`", "s4.0.0"), killed("b.rs, g: `i`", "s4.0.0")] {
            kills.add(&trial);
        }
        kills.add(&killed("c.rs, h: `i`", "s2.0.0"));
        let rest = ["r0.1", "s0.0.0", "s1.0.0"];
        assert_eq!(names(5, &kills, budget), [&["s4.0.0"][..], &rest, &["s3.0.0", "s0.0.1"]].concat());
        // A case that killed mutants of the same function is tried before one with more kills.
        kills.add(&killed("a.rs, f: `z`", "s3.0.0"));
        assert_eq!(names(5, &kills, budget)[..3], ["s3.0.0", "s4.0.0", "r0.1"]);
        // A case that exceeds the remaining budget is skipped, so that smaller cases can use it.
        let small = Budget { states_max: 500, ..budget };
        let none = Kills::default();
        assert_eq!(names(5, &none, small), [&rest[..], &["s4.0.0", "s0.0.1"]].concat());
        assert_eq!(names(5, &none, Budget { cases_max: 2, ..budget }), ["r0.1", "s0.0.0"]);
        assert_eq!(names(7, &kills, budget), [""; 0]);
    }

    #[test]
    fn generated_programs_do_not_crowd_out_those_with_a_purpose() {
        let mut lines: Vec<String> = (0..40).map(|at| format!("g{at}.0.{} 10 1 5", at % 2)).collect();
        lines.extend((0..3).map(|at| format!("s7.{at}.0 900 1 5")));
        let subject = subject(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        let budget = Budget { states_max: 100_000, case_states_max: 100_000, cases_max: 100, share_of: 1 };
        let order = order(&subject, (5, "a.rs, f: `x` to `y`"), &Kills::default(), budget);
        let places = order.iter().enumerate().filter(|(_, case)| case.name.starts_with('s'));
        assert_eq!(places.map(|(at, _)| at).collect::<Vec<_>>(), [32, 41, 42]);
    }

    #[test]
    fn a_killed_mutant_outranks_every_other_status() {
        let mut statuses = [
            MutantStatus::Killed,
            MutantStatus::Unreached,
            MutantStatus::Crashed,
            MutantStatus::Survivor,
            MutantStatus::Endless,
        ];
        statuses.sort();
        let expected = [
            MutantStatus::Unreached,
            MutantStatus::Survivor,
            MutantStatus::Endless,
            MutantStatus::Crashed,
            MutantStatus::Killed,
        ];
        assert_eq!(statuses, expected);
    }
}
