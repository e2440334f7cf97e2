//! The program that carries out trials of mutants, in the rewritten tree.
//!
//! * `record PROTOCOL PART PARTS` runs every case of the protocol without a mutant, and prints the
//!   mutants that would have made a difference. `PART` of `PARTS` runs only a share of the cases.
//! * `try PROTOCOL NUMBER` reads cases from the standard input, each with its limits, and runs them
//!   with the mutant of this number, until one of them shows a fault.

pub mod cases;

use std::io::{BufRead, Write};

use cases::{Case, Corpus};
use explore::Subject;
use explore::verify::{self, Options, Verification};

use crate::switch;

/// The maximum memory of a run, in bytes.
const MEMORY_BYTES: u64 = 1 << 30;
/// The fuel of a run without a mutant.
const FUEL: u64 = 1 << 40;

/// Carries out the command. Returns the exit code.
#[must_use]
pub fn main(arguments: Vec<String>) -> i32 {
    match carry_out(&arguments) {
        Ok(()) => 0,
        Err(why) => {
            let _ = writeln!(std::io::stderr(), "{why}");
            2
        }
    }
}

fn carry_out(arguments: &[String]) -> Result<(), String> {
    let number = |text: &String| text.parse::<u32>().map_err(|_| format!("`{text}` is no number"));
    match arguments {
        [command, protocol, part, parts] if command == "record" => {
            record(protocol, number(part)? as usize, number(parts)? as usize)
        }
        [command, protocol, mutant] if command == "try" => attempt(protocol, number(mutant)?),
        _ => Err(String::from("expected `record PROTOCOL PART PARTS` or `try PROTOCOL NUMBER`")),
    }
}

fn subject(protocol: &str) -> Result<Subject, String> {
    Subject::named(protocol).ok_or_else(|| format!("no protocol is called `{protocol}`"))
}

/// Verifies one case with the selected mutant.
fn verified(subject: &Subject, case: &Case, states_max: u64) -> Result<Verification, String> {
    let bounds = verify::machines_of(&subject.info);
    let options = Options { memory_bytes: MEMORY_BYTES, states_max, ..Options::new(bounds) };
    verify::verify(subject, core::slice::from_ref(&case.test), &options)
}

fn print(line: &str) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|error| format!("standard output: {error}"))
}

/// Prints a line for each case without a fault: its name, its number of states, the fuel that it
/// burns, and the mutants that it may kill.
fn record(protocol: &str, part: usize, parts: usize) -> Result<(), String> {
    let subject = subject(protocol)?;
    let corpus = Corpus::of(&subject)?;
    for (at, case) in corpus.all().into_iter().enumerate() {
        if at % parts.max(1) != part {
            continue;
        }
        let _ = switch::seen();
        switch::select(switch::RECORD, FUEL);
        let found = verified(&subject, &case, u64::MAX)?;
        let burnt = FUEL - switch::fuel();
        switch::select(switch::NONE, u64::MAX);
        let seen: Vec<String> = switch::seen().iter().map(u32::to_string).collect();
        // A case in which the protocol itself has a fault, or that no machine can run, kills nothing.
        if found.findings.is_empty() && found.runs > 0 && found.gaps.is_empty() {
            print(&format!("{} {} {burnt} {}", case.name, found.states, seen.join(",")))?;
        }
    }
    Ok(())
}

/// Runs cases with a mutant. Each line of the input has the name of a case, the maximum number of
/// states, and the fuel.
fn attempt(protocol: &str, number: u32) -> Result<(), String> {
    let subject = subject(protocol)?;
    let corpus = Corpus::of(&subject)?;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| format!("standard input: {error}"))?;
        let [name, states_max, fuel] = *line.split(' ').collect::<Vec<_>>() else {
            return Err(format!("`{line}`: expected a case, a number of states, and the fuel"));
        };
        let count = |text: &str| text.parse::<u64>().map_err(|_| format!("`{text}` is no number"));
        let case = corpus.case(name).ok_or_else(|| format!("no case is called `{name}`"))?;
        print(&format!("run {name}"))?;
        switch::select(number, count(fuel)?);
        let found = verified(&subject, &case, count(states_max)?)?;
        switch::select(switch::NONE, u64::MAX);
        if let Some(finding) = found.findings.first() {
            let why = finding.violation.why.replace('\n', " ");
            print(&format!("killed {name} {}: {why}", case.test.name))?;
            return Ok(());
        }
    }
    print("left")
}
