//! The program that carries out trials of mutants. It is built in the rewritten tree, a copy of the
//! crates that contains all mutants.
//!
//! * `record PROTOCOL STATES PART PARTS` runs every case of the protocol without a mutant, and
//!   prints the mutants that would have changed a value. It leaves out the cases with more than
//!   `STATES` states. The cases are divided into `PARTS` parts, and only the part `PART` is run.
//! * `try PROTOCOL` reads trials from the standard input, and answers each with one line. A trial
//!   is one line: the number of a mutant, the name of a case, the maximum number of states, and the
//!   fuel (the maximum number of calls of the switch).
//!
//! All mutants that a process tries share its programs and the outcomes that the claims allow.
//! These are computed once for each case. A panic ends only the trial in which it happens.

pub mod cases;

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use cases::{Case, Corpus, Work};
use explore::verify::{PreparedExplorers, PreparedRun};
use explore::{Limits, Subject, stress};

use crate::switch;

/// The maximum memory of one exploration, in bytes.
const MEMORY_BYTES: u64 = 1 << 30;
/// The fuel (the maximum number of calls of the switch) of a run without a mutant. It is so large
/// that it is never used up.
const FUEL: u64 = 1 << 40;

/// The number of operations of episodes (random programs) that take about as much time as the
/// exploration of one state.
const OPERATIONS_PER_STATE: u64 = 4;

/// The place in the code and the message of the first panic in the current trial. `None` if there
/// was no panic.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Carries out the command in `arguments`. `named` gives the protocol with a name. Returns the exit
/// code of the process.
#[must_use]
pub fn main(arguments: Vec<String>, named: fn(&str) -> Option<Subject>) -> i32 {
    match carry_out(&arguments, named) {
        Ok(()) => 0,
        Err(why) => {
            let _ = writeln!(std::io::stderr(), "{why}");
            2
        }
    }
}

fn carry_out(arguments: &[String], named: fn(&str) -> Option<Subject>) -> Result<(), String> {
    let number = |text: &String| text.parse::<usize>().map_err(|_| format!("`{text}` is no number"));
    let subject = |name: &String| named(name).ok_or_else(|| format!("no protocol is called `{name}`"));
    match arguments {
        [command, protocol, states_max, part, parts] if command == "record" => {
            record(subject(protocol)?, number(states_max)? as u64, number(part)?, number(parts)?)
        }
        [command, protocol] if command == "try" => attempt(subject(protocol)?),
        _ => Err(String::from("expected `record PROTOCOL STATES PART PARTS` or `try PROTOCOL`")),
    }
}

/// The result of running one case: a program on a machine, or a few episodes (random programs).
struct CaseResult {
    /// The number of states that the case explores. For a case that consists of episodes (random
    /// programs), the number of states whose exploration would take about as much time.
    states: u64,
    /// A description of the fault. `None` if the case shows no fault.
    fault: Option<String>,
    /// Whether the case ran to its end within all limits.
    is_complete: bool,
}

/// Runs a case until a fault is found or the case ends: explores its program, or executes its
/// episodes (random programs).
fn run_case(
    subject: &Subject,
    explorers: &mut PreparedExplorers,
    (case, runs): (&Case, &[PreparedRun]),
    states_max: u64,
) -> Result<CaseResult, String> {
    let mut result = CaseResult { states: 0, fault: None, is_complete: true };
    match &case.work {
        Work::Explored(_) => {
            let mut count = 0;
            for run in runs {
                let mut limits = Limits { memory_bytes: MEMORY_BYTES, states_max, ..Limits::default() };
                let Ok(found) = explorers.explore(run, &mut limits) else { continue };
                count += 1;
                result.states += found.states;
                result.is_complete &= found.incomplete.is_none() && !found.throttled;
                if let Some(violation) = found.violation {
                    result.fault = Some(violation.why);
                    break;
                }
            }
            result.is_complete &= count > 0;
        }
        &Work::Tested { seed, episodes, chiplets } => {
            let options =
                stress::Options { seed, episodes, chiplets, shrink: false, ..stress::Options::default() };
            let report = stress::stress(subject, &options)?;
            // One operation of an episode takes only a fraction of the time of an explored state.
            result.states = report.operations / OPERATIONS_PER_STATE;
            result.fault = report.failure.map(|failure| format!("seed {}: {}", failure.seed, failure.what));
        }
    }
    Ok(result)
}

fn print(line: &str) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|error| format!("standard output: {error}"))
}

/// Prints a line for each case without a fault and with at most `states_max` states: its name, its
/// number of states, the fuel (calls of the switch) that it uses, and the mutants that it may kill.
fn record(subject: Subject, states_max: u64, part: usize, parts: usize) -> Result<(), String> {
    let corpus = Corpus::of(&subject)?;
    for (at, case) in corpus.all().into_iter().enumerate() {
        if at % parts.max(1) != part {
            continue;
        }
        let runs = corpus.prepared(&case);
        let _ = switch::seen();
        switch::select(switch::RECORD, FUEL);
        // New explorers are used for each case. An explorer does not compute a known step again, so
        // the switch would record nothing for that step.
        let mut explorers = PreparedExplorers::new(&subject);
        // Some protocols cannot run episodes; the case is then left out.
        let Ok(result) = run_case(&subject, &mut explorers, (&case, &runs), states_max) else { continue };
        let burnt = FUEL - switch::fuel();
        switch::select(switch::NONE, u64::MAX);
        let seen: Vec<String> = switch::seen().iter().map(u32::to_string).collect();
        // Two kinds of cases are left out, because they cannot show the fault of a mutant: cases in
        // which the protocol itself has a fault, and cases that no machine can run.
        if result.fault.is_none() && result.is_complete {
            print(&format!("{} {} {burnt} {}", case.name, result.states, seen.join(",")))?;
        }
    }
    Ok(())
}

/// The state of a process that tries mutants on cases.
struct Process {
    subject: Subject,
    corpus: Corpus,
    /// The cases that this process has used, by name, each with the explorations that it needs.
    cases: BTreeMap<String, (Case, Vec<PreparedRun>)>,
    /// The explorers for the mutant that was tried last. They are reused for the next case if the
    /// mutant is the same.
    explorers: PreparedExplorers,
    number: u32,
}

impl Process {
    /// Runs the case `name` with the mutant `number`. Returns a line: one word for the result
    /// of the trial, and usually an explanation.
    fn attempt(&mut self, number: u32, name: &str, states_max: u64, fuel: u64) -> Result<String, String> {
        if !self.cases.contains_key(name) {
            switch::select(switch::NONE, u64::MAX);
            let case = self.corpus.case(name).ok_or_else(|| format!("no case is called `{name}`"))?;
            let runs = self.corpus.prepared(&case);
            self.cases.insert(name.to_owned(), (case, runs));
        }
        if number != self.number {
            self.number = number;
            self.explorers = PreparedExplorers::new(&self.subject);
        }
        let (case, runs) = &self.cases[name];
        *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = None;
        switch::select(number, fuel);
        let run = || run_case(&self.subject, &mut self.explorers, (case, runs), states_max);
        let ended = catch_unwind(AssertUnwindSafe(run));
        let is_endless = switch::is_endless();
        switch::select(switch::NONE, u64::MAX);
        let one_line = |text: &str| text.replace('\n', " ");
        // The explorer catches the panics of controllers and reports them as faults.
        let panic = PANIC.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (ended, panic) {
            (Ok(Ok(CaseResult { fault: Some(why), .. })), None) => {
                Ok(format!("killed {}: {}", case.title(), one_line(&why)))
            }
            (Ok(Ok(_)), None) => Ok(String::from("left")),
            // With some mutants, the machine of the case cannot be built.
            (Ok(Err(why)), None) => Ok(format!("crashed {}", one_line(&why))),
            (_, why) => {
                self.explorers = PreparedExplorers::new(&self.subject);
                Ok(match is_endless {
                    true => String::from("endless"),
                    false => format!("crashed {}", one_line(&why.unwrap_or_default())),
                })
            }
        }
    }
}

/// Reads trials from the standard input, one on each line, and prints one line with the result of
/// each trial.
fn attempt(subject: Subject) -> Result<(), String> {
    std::panic::set_hook(Box::new(|panic| {
        let mut first = PANIC.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(|| panic.to_string());
    }));
    let (corpus, explorers) = (Corpus::of(&subject)?, PreparedExplorers::new(&subject));
    let mut process = Process { subject, corpus, cases: BTreeMap::new(), explorers, number: switch::NONE };
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| format!("standard input: {error}"))?;
        let [number, name, states_max, fuel] = *line.split(' ').collect::<Vec<_>>() else {
            return Err(format!(
                "`{line}`: expected a mutant, a case, a number of states, and a maximum number of calls"
            ));
        };
        let count = |text: &str| text.parse::<u64>().map_err(|_| format!("`{text}` is no number"));
        let mutant = u32::try_from(count(number)?).map_err(|_| format!("`{number}` is no mutant"))?;
        print(&process.attempt(mutant, name, count(states_max)?, count(fuel)?)?)?;
    }
    Ok(())
}
