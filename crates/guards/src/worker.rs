//! Starts child processes that carry out trials of mutants. A process serves many mutants, one
//! trial after another.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

/// The result of one trial: one mutant on one case (a program on a machine).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The case (a program on a machine) shows a fault of the mutant. The text describes the fault.
    Killed(String),
    /// The case (a program on a machine) ends and shows no fault of the mutant.
    Left,
    /// The mutant panics, ends the process, or prevents the construction of the machine. The text
    /// gives the reason.
    Crashed(String),
    /// A step of a controller does not end with the mutant.
    Endless,
}

/// If this number of processes in succession is killed during the same trial, the trial counts as a
/// crash.
const GONE_MAX: usize = 8;

/// The numbers of the Unix signals by which a user or the system ends processes.
const SIGHUP: i32 = 1;
const SIGINT: i32 = 2;
const SIGKILL: i32 = 9;
const SIGTERM: i32 = 15;

/// A child process that runs, with its standard input and output.
struct Running {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// A worker: it has a child process for trials with one protocol. The process is started when it is
/// first needed. If the process has ended, a new one is started for the next trial.
pub(crate) struct Worker<'a> {
    program: &'a Path,
    arguments: Vec<String>,
    running: Option<Running>,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(program: &'a Path, protocol: &str) -> Worker<'a> {
        Worker { program, arguments: vec![String::from("try"), protocol.to_owned()], running: None }
    }

    fn start(&self) -> Result<Running, String> {
        let error = |error: std::io::Error| format!("{}: {error}", self.program.display());
        let mut child = Command::new(self.program)
            .args(&self.arguments)
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(error)?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = (input, output) else {
            return Err(String::from("a child process has no pipes"));
        };
        Ok(Running { child, input, output: BufReader::new(output) })
    }

    /// Carries out the trial that the line `trial` describes. If the child process is killed from
    /// outside, a new process repeats the trial.
    pub(crate) fn ask(&mut self, trial: &str) -> Result<Answer, String> {
        for _ in 0..GONE_MAX {
            let mut running = match self.running.take() {
                Some(running) => running,
                None => self.start()?,
            };
            // Writing fails if the process has ended. Its exit status, read below, then says why.
            let _ = writeln!(running.input, "{trial}").and_then(|()| running.input.flush());
            let mut line = String::new();
            let _ = running.output.read_line(&mut line);
            if let Some(line) = line.strip_suffix('\n') {
                self.running = Some(running);
                return answer(line);
            }
            if let Some(answer) = ended(running)? {
                return Ok(answer);
            }
        }
        Ok(Answer::Crashed(String::from("killed, perhaps because it used too much memory")))
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        if let Some(Running { mut child, input, output }) = self.running.take() {
            drop((input, output));
            // Without further input, the process ends by itself.
            let _ = child.wait();
        }
    }
}

fn answer(line: &str) -> Result<Answer, String> {
    let (word, why) = line.split_once(' ').unwrap_or((line, ""));
    match word {
        "killed" => Ok(Answer::Killed(why.to_owned())),
        "left" => Ok(Answer::Left),
        "crashed" => Ok(Answer::Crashed(why.to_owned())),
        "endless" => Ok(Answer::Endless),
        _ => Err(format!("a child process says `{line}`")),
    }
}

/// The result of a trial whose process ended without an answer. `None` if the process was killed
/// from outside, perhaps because it used too much memory. The caller then repeats the trial.
fn ended(mut running: Running) -> Result<Option<Answer>, String> {
    drop(running.input);
    let mut errors = String::new();
    if let Some(mut stderr) = running.child.stderr.take() {
        // If the error output cannot be read to its end, the part that was read is enough.
        let _ = stderr.read_to_string(&mut errors);
    }
    let status = running.child.wait().map_err(|error| format!("a child process: {error}"))?;
    if matches!(status.code(), Some(0 | 2)) {
        return Err(format!("a child process failed: {errors}"));
    }
    match signal_of(status) {
        Some(SIGHUP | SIGINT | SIGTERM) => Err(String::from("a child process was ended from outside")),
        Some(SIGKILL) => Ok(None),
        _ => {
            let why = errors.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            Ok(Some(Answer::Crashed(format!("{status} {}", why.trim()))))
        }
    }
}

#[cfg(unix)]
fn signal_of(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal_of(_: ExitStatus) -> Option<i32> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn answers_of(script: &str, trials: usize) -> Vec<Result<Answer, String>> {
        let arguments = vec![String::from("-c"), script.to_owned()];
        let mut worker = Worker { program: Path::new("sh"), arguments, running: None };
        (0..trials).map(|_| worker.ask("7 d1.0.0 10 10")).collect()
    }

    #[test]
    fn a_process_answers_one_trial_after_another() {
        let script = "read a; echo killed $a; read a; echo left; read a; echo endless; read a; \
                      echo crashed a.rs:1; read a; echo what";
        let answers = answers_of(script, 5);
        assert_eq!(answers[0], Ok(Answer::Killed(String::from("7 d1.0.0 10 10"))));
        assert_eq!(answers[1], Ok(Answer::Left));
        assert_eq!(answers[2], Ok(Answer::Endless));
        assert_eq!(answers[3], Ok(Answer::Crashed(String::from("a.rs:1"))));
        assert!(answers[4].is_err());
    }

    #[test]
    fn the_exit_of_a_process_distinguishes_crashes_from_kills() {
        let of = |script| answers_of(script, 1).remove(0);
        assert!(
            matches!(of("read a; echo overflow >&2; kill -ABRT $$"), Ok(Answer::Crashed(why)) if why.contains("overflow"))
        );
        assert!(of("read a; kill -TERM $$").is_err());
        assert!(of("read a; echo no such case >&2; exit 2").is_err_and(|why| why.contains("no such case")));
        assert_eq!(
            of("read a; kill -KILL $$"),
            Ok(Answer::Crashed(String::from("killed, perhaps because it used too much memory")))
        );
    }
}
