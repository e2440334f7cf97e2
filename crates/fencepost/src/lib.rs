//! The command line of Fencepost: arguments in, tables and files out.
//!
//! [`run`] executes a command without creating a process, so that tests and fuzzers can call it
//! directly. The crate contains no logic: `lab` looks up names, runs experiments and stores
//! results.

mod args;
mod bar;
mod clock;
mod compare;
mod detail;
mod extras;
mod graph;
mod list;
mod live;
pub mod output;
mod progress;
mod race;
mod replay;
mod report;
mod reproduce;
mod run;
mod stress;
mod suite;
mod sweep;
mod table;
mod verified;
mod verify;
mod why;
mod words;
mod workload;

use std::ffi::OsString;
use std::io::{self, Write};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser as _};

use args::{Arguments, Command};

/// The exit code of a command that succeeds.
pub const SUCCESS: u8 = 0;
/// The exit code if a check fails: a wrong answer, a run without progress, or a test with an
/// unexpected or incomplete result.
pub const CHECK_FAILED: u8 = 1;
/// The exit code if the input is bad.
pub const BAD_INPUT: u8 = 2;

/// The reason why a command ended early.
#[derive(Debug)]
enum Failure {
    /// The input is bad. The text is one sentence about the fault.
    BadInput(String),
    /// A check failed. The text describes the result of the check.
    CheckFailed(String),
    /// The process that reads the output has closed the pipe.
    Closed,
}

impl From<lab::Error> for Failure {
    fn from(error: lab::Error) -> Self {
        Failure::BadInput(error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure::Closed;
        }
        Failure::BadInput(format!("cannot write the output: {error}"))
    }
}

/// Runs the program and returns its exit code. The first of `args` is the name of the program.
/// Results are written to `out`, and everything else to `err`.
pub fn run<I>(args: I, out: &mut dyn Write, err: &mut dyn Write) -> u8
where
    I: IntoIterator<Item = OsString>,
{
    let arguments = match Arguments::try_parse_from(args) {
        Ok(arguments) => arguments,
        Err(error) => return explain(&error, out, err),
    };
    let outcome = match arguments.command {
        Command::List(arguments) => list::list(&arguments, out),
        Command::Run(arguments) => run::run(&arguments, out),
        Command::Compare(arguments) => compare::compare(&arguments, out),
        Command::Report(arguments) => report::report(&arguments, out),
        Command::Why(arguments) => why::why(&arguments, out),
        Command::Litmus(arguments) => suite::litmus(&arguments, out),
        Command::Verify(arguments) => verify::verify(&arguments, out),
        Command::Stress(arguments) => stress::stress(&arguments, out),
        Command::Race(arguments) => race::race(&arguments, out),
        Command::Graph(command) => graph::graph(&command, out),
        Command::Sweep(arguments) => sweep::sweep(&arguments, out, err),
        Command::Workload(command) => workload::workload(&command, out),
        Command::Reproduce(arguments) => reproduce::reproduce(&arguments, out, err),
        Command::Completions(arguments) => extras::completions(&arguments, out),
        Command::Man(arguments) => extras::man(&arguments, out),
    };
    let outcome = outcome.and_then(|()| out.flush().map_err(Failure::from));
    let (code, message) = match outcome {
        Ok(()) | Err(Failure::Closed) => return SUCCESS,
        Err(Failure::BadInput(message)) => (BAD_INPUT, message),
        Err(Failure::CheckFailed(message)) => (CHECK_FAILED, message),
    };
    out.flush().ok();
    // If the message cannot be written, the exit code is returned anyway.
    writeln!(err, "fencepost: {message}").ok();
    code
}

/// Checks `args` without executing them. Returns `None` if they are valid.
/// Otherwise returns the exit code and writes the reason to `err`, or the help
/// to `out`.
pub fn refuses<I>(args: I, out: &mut dyn Write, err: &mut dyn Write) -> Option<u8>
where
    I: IntoIterator<Item = OsString>,
{
    Arguments::try_parse_from(args).err().map(|error| explain(&error, out, err))
}

/// Writes the text of a help or version option to `out`. Writes an error to `err`, as one sentence.
/// Returns the exit code.
fn explain(error: &clap::Error, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    let text = error.render().to_string();
    if !error.use_stderr() {
        write!(out, "{text}").and_then(|()| out.flush()).ok();
        return SUCCESS;
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        write!(err, "{text}").ok();
        return BAD_INPUT;
    }
    let mut sentence =
        text.lines().take_while(|line| !line.trim().is_empty()).map(str::trim).collect::<Vec<_>>().join(" ");
    if let Some(tip) = text.lines().find_map(|line| line.trim().strip_prefix("tip: ")) {
        sentence.push_str("; ");
        sentence.push_str(tip);
    } else if let Some(ContextValue::String(found)) = error.get(ContextKind::InvalidSubcommand) {
        let known: Vec<String> =
            Arguments::command().get_subcommands().map(|c| c.get_name().to_owned()).collect();
        if let Some(near) = lab::nearest(found, &known) {
            sentence.push_str(&format!(", did you mean '{near}'?"));
        }
    }
    let sentence: String = sentence.chars().filter(|c| !c.is_control()).collect();
    let sentence = sentence.strip_prefix("error: ").unwrap_or(&sentence);
    writeln!(err, "fencepost: {sentence} (see --help)").ok();
    BAD_INPUT
}
