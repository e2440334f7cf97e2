//! The trials of mutants: each mutant runs in child processes, on the cases that may kill it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use serde::{Deserialize, Serialize};

use crate::records::CaseRecord;
use crate::switch;

/// The fate of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    /// A case shows a fault: a forbidden outcome, an impossible input, a deadlock, or an endless run.
    Killed,
    /// No case shows a fault, and the process ended by a panic or a signal in one of them.
    Crashed,
    /// No case shows a fault, and a step of a controller did not end in one of them.
    Endless,
    /// No case shows a fault.
    Survivor,
    /// The mutant makes no difference in any case.
    Unreached,
}

/// The result of the trials of one mutant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// The name of the mutant.
    pub mutant: String,
    /// The fate of the mutant.
    pub fate: Fate,
    /// The protocol that shows the fault, or the last one that was tried.
    pub protocol: String,
    /// The case that shows the fault or ends the process.
    pub case: String,
    /// The program and the fault, in words.
    pub why: String,
    /// The number of cases that were tried.
    pub cases: usize,
}

/// A protocol with the records of its cases.
#[derive(Debug)]
pub struct Subject {
    /// The name of the protocol.
    pub protocol: String,
    /// Its cases.
    pub cases: Vec<CaseRecord>,
}

/// The bounds of the trials of one mutant with one protocol.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// The maximum sum of the states of all cases, counted without the mutant.
    pub states_max: u64,
    /// The maximum number of cases.
    pub cases_max: usize,
}

/// The growth of the number of states that a case may have with a mutant: this number of times the
/// states without it, and some more for the smallest cases.
const GROWTH_MAX: u64 = 4;
const STATES_MORE: u64 = 1000;
/// The growth of the fuel, likewise. A controller that loops burns it in a second.
const FUEL_GROWTH_MAX: u64 = 16;
const FUEL_MORE: u64 = 20_000_000;
/// The maximum number of processes that may crash for one mutant with one protocol.
const CRASHES_MAX: usize = 3;
/// The maximum number of children that may be gone without a verdict for the same case.
const GONE_MAX: usize = 8;
/// The maximum number of cases that have killed other mutants and are tried first.
const KILLERS_MAX: usize = 48;

/// The numbers of the signals with which users end processes.
const SIGHUP: i32 = 1;
const SIGINT: i32 = 2;
const SIGKILL: i32 = 9;
const SIGTERM: i32 = 15;

/// The numbers of mutants that each case has killed, by protocol and name.
pub(crate) type Kills = BTreeMap<(String, String), usize>;

/// The cases for a mutant in order. First come those with the most kills; then the smallest case of
/// each program, the second smallest of each, and so on.
pub(crate) fn order<'a>(
    subject: &'a Subject,
    number: u32,
    kills: &Kills,
    budget: Budget,
) -> Vec<&'a CaseRecord> {
    let count =
        |case: &CaseRecord| kills.get(&(subject.protocol.clone(), case.name.clone())).copied().unwrap_or(0);
    let mut seeing: Vec<&CaseRecord> = subject.cases.iter().filter(|case| case.sees(number)).collect();
    seeing.sort_by_key(|case| (core::cmp::Reverse(count(case)), case.states));
    let killers = seeing.iter().take(KILLERS_MAX).take_while(|case| count(case) > 0).count();
    let mut rest = seeing.split_off(killers);
    rest.sort_by_key(|case| case.states);
    let mut ranks: BTreeMap<&str, usize> = BTreeMap::new();
    let mut ranked: Vec<(usize, &CaseRecord)> = Vec::new();
    for case in rest {
        let rank = ranks.entry(case.program()).or_default();
        ranked.push((*rank, case));
        *rank += 1;
    }
    ranked.sort_by_key(|(rank, case)| (*rank, case.states));
    seeing.extend(ranked.into_iter().map(|(_, case)| case));
    let mut left = budget.states_max;
    seeing.retain(|case| {
        let rest = left.checked_sub(case.states);
        left = rest.unwrap_or(left);
        rest.is_some()
    });
    seeing.truncate(budget.cases_max);
    seeing
}

/// The end of a child process.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Killed {
        case: String,
        why: String,
    },
    Left,
    Crashed {
        case: String,
        why: String,
    },
    Endless {
        case: String,
    },
    /// Ended by a signal that a process cannot send itself by accident: from outside, or for its
    /// memory.
    Gone {
        case: String,
    },
}

/// Tries a mutant on the protocols in order, until a case of one of them shows a fault.
pub(crate) fn fate(
    trial: &Path,
    subjects: &[Subject],
    (number, name): (u32, &str),
    kills: &Kills,
    budget: Budget,
) -> Result<Trial, String> {
    let mut result = Trial {
        mutant: name.to_owned(),
        fate: Fate::Unreached,
        protocol: String::new(),
        case: String::new(),
        why: String::new(),
        cases: 0,
    };
    for subject in subjects {
        let mut cases = order(subject, number, kills, budget);
        if cases.is_empty() {
            continue;
        }
        if result.fate == Fate::Unreached {
            result.fate = Fate::Survivor;
        }
        for _ in 0..CRASHES_MAX {
            let end = run(trial, &subject.protocol, number, &mut cases)?;
            let place =
                |name: &str| cases.iter().position(|case| case.name == name).map_or(cases.len(), |at| at + 1);
            let (fate, case, why) = match end {
                End::Left => {
                    result.cases += cases.len();
                    break;
                }
                End::Killed { case, why } => (Fate::Killed, case, why),
                End::Crashed { case, why } => (Fate::Crashed, case, why),
                End::Endless { case } => (Fate::Endless, case, String::from("a step does not end")),
                End::Gone { case } => (Fate::Crashed, case, String::from("killed, perhaps for its memory")),
            };
            let tried = place(&case);
            result.cases += tried;
            // The first crash is kept, unless a later case shows a fault.
            if fate == Fate::Killed || result.fate == Fate::Survivor {
                let protocol = subject.protocol.clone();
                result = Trial { fate, protocol, case, why, ..result };
            }
            cases.drain(..tried);
            if fate == Fate::Killed || cases.is_empty() {
                break;
            }
        }
        if result.fate == Fate::Killed {
            break;
        }
        if result.fate == Fate::Survivor {
            result.protocol.clone_from(&subject.protocol);
        }
    }
    Ok(result)
}

/// Runs a child process with these cases. A child that is gone for no reason of its own gets some
/// more chances, from its last case on; earlier cases are removed.
fn run(trial: &Path, protocol: &str, number: u32, cases: &mut Vec<&CaseRecord>) -> Result<End, String> {
    for _ in 0..GONE_MAX {
        match run_once(trial, protocol, number, cases)? {
            End::Gone { case } => {
                let done = cases.iter().position(|other| other.name == case).unwrap_or(0);
                cases.drain(..done);
            }
            end => return Ok(end),
        }
    }
    Ok(End::Gone { case: cases.first().map_or_else(String::new, |case| case.name.clone()) })
}

fn run_once(trial: &Path, protocol: &str, number: u32, cases: &[&CaseRecord]) -> Result<End, String> {
    let mut child = Command::new(trial)
        .args(["try", protocol, &number.to_string()])
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{}: {error}", trial.display()))?;
    let mut text = String::new();
    for case in cases {
        let (states, fuel) =
            (STATES_MORE + GROWTH_MAX * case.states, FUEL_MORE + FUEL_GROWTH_MAX * case.fuel);
        text += &format!("{} {states} {fuel}\n", case.name);
    }
    let stdin = child.stdin.take();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // A child that ends early closes its input.
            stdin.map(|mut stdin| stdin.write_all(text.as_bytes()))
        });
        finish(&mut child)
    })
}

/// Whether a signal of a user ended a process. It says nothing about a mutant.
fn is_interrupted(status: ExitStatus) -> bool {
    matches!(signal_of(status), Some(SIGHUP | SIGINT | SIGTERM))
}

fn is_killed(status: ExitStatus) -> bool {
    signal_of(status) == Some(SIGKILL)
}

#[cfg(unix)]
fn signal_of(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal_of(_: ExitStatus) -> Option<i32> {
    None
}

fn finish(child: &mut Child) -> Result<End, String> {
    let stdout = child.stdout.take().ok_or("a child has no output")?;
    let (mut last, mut end) = (String::new(), None);
    for line in BufReader::new(stdout).lines() {
        let line = line.map_err(|error| format!("the output of a child: {error}"))?;
        match line.split_once(' ') {
            Some(("run", case)) => case.clone_into(&mut last),
            Some(("killed", rest)) => {
                let (case, why) = rest.split_once(' ').unwrap_or((rest, ""));
                end = Some(End::Killed { case: case.to_owned(), why: why.to_owned() });
            }
            None if line == "left" => end = Some(End::Left),
            _ => return Err(format!("a child says `{line}`")),
        }
    }
    let mut errors = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        // A part of the message is enough.
        let _ = std::io::Read::read_to_string(&mut stderr, &mut errors);
    }
    let status = child.wait().map_err(|error| format!("a child: {error}"))?;
    if status.code() == Some(2) {
        return Err(format!("a child failed: {errors}"));
    }
    if is_interrupted(status) {
        return Err(String::from("a child was ended from outside"));
    }
    Ok(match end {
        Some(end) => end,
        None if status.code() == Some(switch::ENDLESS) => End::Endless { case: last },
        None if is_killed(status) => End::Gone { case: last },
        None if last.is_empty() => {
            return Err(format!("a child ended before its first case: {status} {errors}"));
        }
        None => {
            let panic = errors.lines().skip_while(|line| !line.contains("panicked at")).take(2);
            let why = panic.collect::<Vec<_>>().join(" ");
            End::Crashed { case: last, why: if why.is_empty() { status.to_string() } else { why } }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(lines: &[&str]) -> Subject {
        let cases = lines.iter().map(|line| CaseRecord::read(line).expect("a record")).collect();
        Subject { protocol: String::from("vi"), cases }
    }

    #[test]
    fn killers_come_first_and_then_the_smallest_case_of_each_program() {
        let subject = subject(&[
            "s0.0.0 10 1 5",
            "s0.0.1 20 1 5",
            "s1.0.0 30 1 5",
            "s2.0.0 5 1 6",
            "s3.0.0 900 1 5",
            "s4.0.0 50 1 5",
        ]);
        let budget = Budget { states_max: 1000, cases_max: 10 };
        let names = |number, kills: &Kills, budget| {
            let order = order(&subject, number, kills, budget).into_iter();
            order.map(|case| case.name.clone()).collect::<Vec<_>>()
        };
        let kill = |name: &str, count| ((String::from("vi"), name.to_owned()), count);
        let kills = Kills::from([kill("s4.0.0", 3), kill("s2.0.0", 9)]);
        assert_eq!(names(5, &kills, budget), ["s4.0.0", "s0.0.0", "s1.0.0", "s3.0.0"]);
        // A case that is too large for the budget leaves room for smaller ones.
        let small = Budget { states_max: 500, ..budget };
        assert_eq!(names(5, &kills, small), ["s4.0.0", "s0.0.0", "s1.0.0", "s0.0.1"]);
        assert_eq!(names(5, &Kills::new(), Budget { cases_max: 2, ..budget }), ["s0.0.0", "s1.0.0"]);
        assert_eq!(names(7, &kills, budget), [""; 0]);
    }

    #[cfg(unix)]
    fn child(script: &str) -> Result<End, String> {
        let mut child = Command::new("sh")
            .args(["-c", script])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("there is a shell");
        finish(&mut child)
    }

    #[cfg(unix)]
    #[test]
    fn the_end_of_a_child_tells_violations_from_crashes() {
        let case = || String::from("d1.0.0");
        let killed = "echo run d1.0.0; echo killed d1.0.0 dimensions/2: x=1";
        let why = String::from("dimensions/2: x=1");
        assert_eq!(child(killed), Ok(End::Killed { case: case(), why }));
        assert_eq!(child("echo run d1.0.0; echo left"), Ok(End::Left));
        assert_eq!(child("echo run d1.0.0; exit 87"), Ok(End::Endless { case: case() }));
        let panic = "echo run d1.0.0; printf 'thread panicked at a.rs:\\nindex\\nnote\\n' >&2; exit 101";
        let why = String::from("thread panicked at a.rs: index");
        assert_eq!(child(panic), Ok(End::Crashed { case: case(), why }));
        assert!(child("echo run d1.0.0; kill -TERM $$").is_err());
        assert_eq!(child("echo run d1.0.0; kill -KILL $$"), Ok(End::Gone { case: case() }));
        assert!(child("exit 101").is_err());
        assert!(child("echo no such case >&2; exit 2").is_err());
    }
}
