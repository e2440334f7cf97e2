//! Shows the progress of long runs as a line on a terminal. Shows nothing if the output is a pipe.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use lab::run::Pulse;
use lab::runner;

use crate::clock::Stopwatch;
use crate::live::{LineContents, Live};
use crate::words::{counted, grouped};

/// The progress of a command, shown as a line on the terminal of standard error. The line is
/// removed when this value is dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    line: Live,
    counts: Arc<Mutex<Counts>>,
    done: Arc<AtomicUsize>,
}

/// The total number of items to count, and the word for the kind of items.
#[derive(Debug, Default)]
struct Counts {
    all: usize,
    what: String,
}

impl Progress {
    /// Shows the title of one long operation.
    pub(crate) fn of_one(title: &str) -> Progress {
        let title = title.to_owned();
        Progress::start(move |_, _| LineContents { share: None, text: title.clone() })
    }

    /// Shows the progress of one run: its title, and the simulated cycle that `pulse` gives.
    pub(crate) fn of(title: String, pulse: Pulse) -> Progress {
        Progress::start(move |_, _| LineContents {
            share: None,
            text: format!("{title}{}", at_cycle(&pulse)),
        })
    }

    /// Shows the progress of several runs: the number of completed runs, and the simulated cycle
    /// that `pulse` gives.
    pub(crate) fn of_many(runs: usize, pulse: Pulse) -> Progress {
        let all = counted(runs, "run");
        Progress::start(move |done, _| LineContents {
            share: None,
            text: format!("{done} of {all}{}", at_cycle(&pulse)),
        })
    }

    /// Shows the progress of several tests as a bar.
    pub(crate) fn of_tests(tests: usize, model: &str) -> Progress {
        Progress::counting(tests, &format!("tests under {model}"))
    }

    /// Shows a bar that counts items of the kind `what`.
    pub(crate) fn counting(count: usize, what: &str) -> Progress {
        let progress = Progress::start(|done, Counts { all, what }| LineContents {
            share: (*all > 0).then(|| done as f64 / *all as f64),
            text: format!("{} of {} {what}", grouped(done as u64), grouped(*all as u64)),
        });
        progress.begin_again(count, what);
        progress
    }

    /// Restarts the bar at zero, for `count` items of the kind `what`.
    pub(crate) fn begin_again(&self, count: usize, what: &str) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        self.done.store(0, Ordering::Relaxed);
        *counts = Counts { all: count, what: what.to_owned() };
    }

    /// Adds one to the number of completed runs or tests.
    pub(crate) fn one_more(&self) {
        self.more(1);
    }

    /// Adds `count` to the number of completed items.
    pub(crate) fn more(&self, count: usize) {
        self.done.fetch_add(count, Ordering::Relaxed);
    }

    /// Adds one to the number of completed items, and sets the total number of items to `known`.
    pub(crate) fn one_more_of(&self, known: usize) {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).all = known;
        self.one_more();
    }

    /// Hides the line while `write` writes to the terminal.
    pub(crate) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.line.aside(write)
    }

    fn start(words: impl Fn(usize, &Counts) -> LineContents + Send + 'static) -> Progress {
        let (done, counts) = (Arc::<AtomicUsize>::default(), Arc::<Mutex<Counts>>::default());
        let (seen, counted, watch) = (Arc::clone(&done), Arc::clone(&counts), Stopwatch::start());
        let line = Live::start(move || {
            let counts = counted.lock().unwrap_or_else(PoisonError::into_inner);
            let LineContents { share, text } = words(seen.load(Ordering::Relaxed), &counts);
            LineContents { share, text: format!("[{}] {text}", elapsed(watch.seconds())) }
        });
        Progress { line, counts, done }
    }
}

/// The text for the simulated cycle of a run. Empty as long as the cycle is unknown.
fn at_cycle(pulse: &Pulse) -> String {
    match pulse.cycle() {
        0 => String::new(),
        cycle => format!(": cycle {}", grouped(cycle)),
    }
}

/// The text of a duration in minutes and seconds. A duration of an hour or more also has hours.
fn elapsed(seconds: f64) -> String {
    let seconds = seconds as u64;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// The progress of many runs of different sizes, shown as a line with the number of completed runs
/// and an estimate of the time left.
#[derive(Debug)]
pub(crate) struct Estimate {
    state: Arc<Mutex<runner::Progress>>,
    note: Arc<Mutex<String>>,
    line: Progress,
}

impl Estimate {
    pub(crate) fn new(pulse: Pulse) -> Estimate {
        let state = Arc::<Mutex<runner::Progress>>::default();
        let (seen, watch) = (Arc::clone(&state), Stopwatch::start());
        let note = Arc::<Mutex<String>>::default();
        let shown = Arc::clone(&note);
        let line = Progress::start(move |_, _| {
            let note = shown.lock().unwrap_or_else(PoisonError::into_inner);
            let progress = *seen.lock().unwrap_or_else(PoisonError::into_inner);
            let runner::Progress { done, tasks, .. } = progress;
            let left = match left_seconds(progress, watch.seconds()) {
                None => String::new(),
                Some(seconds) => format!(", about {} left", duration(seconds)),
            };
            let text = format!("{done} of {}{left}{}{note}", counted(tasks, "run"), at_cycle(&pulse));
            LineContents { share: None, text }
        });
        Estimate { state, note, line }
    }

    /// Shows `text` after the numbers of the line.
    pub(crate) fn note(&self, text: String) {
        *self.note.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    /// Hides the line while `write` writes to the terminal.
    pub(crate) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.line.aside(write)
    }

    /// Updates the line after a run has completed.
    pub(crate) fn update(&self, progress: runner::Progress) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = progress;
    }

    /// The progress of the runs. It can be read after the progress line is removed.
    pub(crate) fn state(&self) -> Arc<Mutex<runner::Progress>> {
        Arc::clone(&self.state)
    }
}

/// The estimated time left, in seconds. `None` before the first run is complete.
fn left_seconds(progress: runner::Progress, elapsed_seconds: f64) -> Option<f64> {
    let runner::Progress { weight_run, weight_left, .. } = progress;
    (weight_run > 0).then(|| elapsed_seconds * weight_left as f64 / weight_run as f64)
}

fn duration(seconds: f64) -> String {
    let minutes = seconds / 60.0;
    match minutes {
        _ if minutes < 2.0 => format!("{seconds:.0} s"),
        _ if minutes < 120.0 => format!("{minutes:.0} min"),
        _ => format!("{:.1} h", minutes / 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_estimated_from_the_work_done() {
        let progress = runner::Progress { done: 3, tasks: 9, weight_run: 10, weight_left: 30 };
        assert_eq!(left_seconds(progress, 20.0), Some(60.0));
        assert_eq!(left_seconds(runner::Progress::default(), 20.0), None);
        assert_eq!([20.0, 600.0, 36_000.0].map(duration), ["20 s", "10 min", "10.0 h"]);
        assert_eq!([5.9, 65.0, 3725.0].map(elapsed), ["0:05", "1:05", "1:02:05"]);
    }
}
