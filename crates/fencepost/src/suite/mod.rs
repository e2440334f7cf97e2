//! The command `fencepost litmus`, which checks litmus tests under a memory model.
//!
//! Tests are checked on several threads. Their results are printed in the order of the tests: a
//! result appears when all tests before it are complete too.

pub(crate) mod files;
mod model;
mod one;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use litmus::parse::Macros;
use litmus::suite::Judge;

use crate::Failure;
use crate::args::LitmusArguments;
use crate::output::{Listening, WholeFile};
use crate::progress::Progress;
use crate::words::{counted, grouped};

use files::Tests;
use one::{Limits, Outcome};

pub(crate) fn litmus(arguments: &LitmusArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let judge = model::judge(arguments)?;
    let macros = model::macros(arguments)?;
    let tests = files::tests(arguments)?;
    let dot = arguments.dot.as_deref().map(WholeFile::create).transpose().map_err(Failure::BadInput)?;
    let mut printer =
        Printer { arguments, out, dot, tests: tests.list.len(), printed: 0, sum: Summary::default() };
    perform(&tests, &judge, &macros, arguments, &mut printer)?;
    printer.finish(&tests, &judge)
}

/// The counts that the summary after all tests shows.
#[derive(Debug, Default)]
struct Summary {
    met: usize,
    not_met: usize,
    races: usize,
    not_begun: usize,
    expectations: usize,
    unexpected: Vec<String>,
    incomplete: Vec<String>,
    broken: Vec<String>,
}

/// Prints the results of tests in the order of the tests, whatever the order in which the checks
/// end.
struct Printer<'a> {
    arguments: &'a LitmusArguments,
    out: &'a mut dyn Write,
    dot: Option<WholeFile>,
    /// The number of all tests. The summary shows it.
    tests: usize,
    printed: usize,
    sum: Summary,
}

/// Checks all tests. A verdict depends only on the test and the model, and not on the order in
/// which tests are checked.
fn perform(
    tests: &Tests,
    judge: &Judge,
    macros: &Macros,
    arguments: &LitmusArguments,
    printer: &mut Printer<'_>,
) -> Result<(), Failure> {
    let count = tests.list.len();
    let progress = Progress::of_tests(count, judge.name());
    let listening = Listening::start();
    let closed = AtomicBool::new(false);
    let interrupted = || closed.load(Ordering::Relaxed) || listening.interrupted();
    let limits = Limits { timeout: arguments.timeout, interrupted: &interrupted };
    let next = AtomicUsize::new(0);
    let done: Mutex<BTreeMap<usize, Outcome>> = Mutex::new(BTreeMap::new());
    let more = Condvar::new();
    let work = || {
        while let Some((at, test)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            tests.list.get(at).map(|test| (at, test))
        } {
            let outcome = one::check(test, judge, macros, arguments, &limits, count == 1);
            progress.one_more();
            done.lock().unwrap_or_else(PoisonError::into_inner).insert(at, outcome);
            more.notify_all();
        }
    };
    let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = arguments.jobs.map_or_else(cores, NonZeroUsize::get).min(count);
    std::thread::scope(|scope| {
        for at in 0..threads {
            let started = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
            // If not all threads can be started, fewer threads do the work. At least one is
            // necessary.
            if let Err(error) = started.map(drop)
                && at == 0
            {
                return Err(Failure::BadInput(format!("cannot start a thread: {error}")));
            }
        }
        for at in 0..count {
            let mut waiting = done.lock().unwrap_or_else(PoisonError::into_inner);
            let outcome = loop {
                match waiting.remove(&at) {
                    Some(outcome) => break outcome,
                    None => waiting = more.wait(waiting).unwrap_or_else(PoisonError::into_inner),
                }
            };
            drop(waiting);
            if let Err(error) = progress.aside(|| printer.print(outcome)) {
                // The process that reads the output has closed it.
                closed.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(())
    })
}

/// The size of the stack of a thread that checks tests. It is sufficient for the deepest nesting
/// that the parsers accept.
const STACK_BYTES: usize = 16 << 20;

impl Printer<'_> {
    fn print(&mut self, outcome: Outcome) -> Result<(), Failure> {
        if let (Some(file), Some(graph)) = (&mut self.dot, &outcome.dot) {
            file.write_all(graph.as_bytes())?;
        }
        self.write(&outcome.text)?;
        let sum = &mut self.sum;
        match outcome.verdict {
            Some(true) => sum.met += 1,
            Some(false) => sum.not_met += 1,
            None => sum.not_begun += usize::from(outcome.broken.is_none()),
        }
        sum.races += usize::from(outcome.race);
        sum.expectations += outcome.expectations;
        sum.unexpected.extend(outcome.unexpected);
        sum.incomplete.extend(outcome.incomplete);
        sum.broken.extend(outcome.broken);
        Ok(())
    }

    /// Writes a result. The text always ends with a line end, because the progress line is drawn on
    /// the line below.
    fn write(&mut self, text: &str) -> io::Result<()> {
        let separator = if self.printed == 0 { "" } else { "\n" };
        if self.arguments.json {
            self.printed += 1;
            if self.printed == 1 {
                writeln!(self.out, "[")?;
            }
            let comma = if self.printed < self.tests { "," } else { "" };
            writeln!(self.out, "  {}{comma}", text.replace('\n', "\n  "))?;
        } else if !self.arguments.quiet && !text.is_empty() {
            self.printed += 1;
            write!(self.out, "{separator}{text}")?;
        }
        self.out.flush()
    }

    fn finish(self, tests: &Tests, judge: &Judge) -> Result<(), Failure> {
        let Printer { arguments, out, dot, printed, sum, .. } = self;
        if arguments.json {
            writeln!(out, "]")?;
        } else if tests.list.len() > 1 || sum.expectations > 0 || arguments.quiet {
            if printed > 0 {
                writeln!(out)?;
            }
            sum.write(tests, judge, out)?;
        }
        if let Some(file) = dot {
            file.commit().map_err(Failure::BadInput)?;
        }
        let is_broken = !sum.broken.is_empty();
        let mut complaints = [sum.broken, sum.unexpected, sum.incomplete].concat();
        if sum.not_begun > 0 {
            complaints.push(format!(
                "interrupted: {} of {} were not started",
                sum.not_begun,
                counted(tests.list.len(), "test")
            ));
        }
        if complaints.len() > 1 {
            complaints.insert(0, format!("{} complaints:", complaints.len()));
        }
        let complaints = complaints.join("\n");
        match (is_broken, complaints.is_empty()) {
            (true, _) => Err(Failure::BadInput(complaints)),
            (false, false) => Err(Failure::CheckFailed(complaints)),
            (false, true) => Ok(()),
        }
    }
}

impl Summary {
    fn write(&self, tests: &Tests, judge: &Judge, out: &mut dyn Write) -> io::Result<()> {
        let count = |number: usize, one: &str, many: &str| {
            format!("{} {}", grouped(number as u64), if number == 1 { one } else { many })
        };
        let [met, not_met] =
            if judge.checks_liveness() { ["always end", "may go on for ever"] } else { ["met", "not met"] };
        let mut parts = vec![format!("{} {met}", self.met), format!("{} {not_met}", self.not_met)];
        if judge.defines_races() {
            parts.push(format!("{} with races", self.races));
        }
        for (number, word) in [
            (self.incomplete.len(), "incomplete"),
            (self.not_begun, "not started"),
            (self.broken.len(), "not checked"),
        ] {
            if number > 0 {
                parts.push(format!("{number} {word}"));
            }
        }
        let tests_text = count(tests.list.len(), "test", "tests");
        writeln!(out, "{tests_text} under {}: {}", judge.name(), parts.join(", "))?;
        if self.expectations > 0 {
            let wrong = self.unexpected.len();
            let right = self.expectations - wrong;
            writeln!(out, "{} as expected, {} not", grouped(right as u64), grouped(wrong as u64))?;
        }
        if tests.in_no_table > 0 {
            writeln!(
                out,
                "left out, absent from the table of expectations: {} of the folders",
                count(tests.in_no_table, "test", "tests")
            )?;
        }
        if tests.outside > 0 {
            writeln!(
                out,
                "left out, absent from the folders: {} of the table of expectations",
                count(tests.outside, "test", "tests")
            )?;
        }
        Ok(())
    }
}
