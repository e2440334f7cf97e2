//! Progress of long runs: a line on a terminal, silence in a pipe.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use lab::run::Pulse;
use lab::runner;

use crate::clock::Stopwatch;
use crate::table::grouped;

/// How often the line is redrawn.
const REDRAW: Duration = Duration::from_millis(100);

/// A line on the terminal behind standard error, gone at the end.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    done: Arc<AtomicUsize>,
}

impl Progress {
    /// Of one run.
    pub(crate) fn of(title: String, pulse: Pulse) -> Progress {
        Progress::with(pulse, move |_, cycle| match cycle {
            0 => title.clone(),
            cycle => format!("{title}: cycle {}", grouped(cycle)),
        })
    }

    /// Of several runs.
    pub(crate) fn of_many(runs: usize, pulse: Pulse) -> Progress {
        Progress::with(pulse, move |done, cycle| format!("{done} of {runs} runs: cycle {}", grouped(cycle)))
    }

    /// One run is over.
    pub(crate) fn one_more(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Of several tests: a bar.
    pub(crate) fn of_tests(tests: usize, model: &str) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(tests as u64), ProgressDrawTarget::stderr_with_hz(10));
        if !bar.is_hidden() {
            let template = "{spinner} {bar:24} {pos} of {len} tests under {msg} [{elapsed}]";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar.set_message(model.to_owned());
            bar.enable_steady_tick(REDRAW);
        }
        Progress { bar, done: Arc::default() }
    }

    /// The same bar for something else.
    pub(crate) fn begin_again(&self, count: usize, text: &str) {
        self.bar.reset();
        self.bar.set_length(count as u64);
        self.bar.set_message(text.to_owned());
    }

    /// One test is over.
    pub(crate) fn one_more_test(&self) {
        self.bar.inc(1);
    }

    /// One test is over, and so many are known: more may be made meanwhile.
    pub(crate) fn one_more_test_of(&self, known: usize) {
        self.bar.set_length(known as u64);
        self.bar.inc(1);
    }

    /// Takes the line away while `write` writes to the terminal.
    pub(crate) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }

    fn with(pulse: Pulse, text: impl Fn(usize, u64) -> String + Clone + Send + Sync + 'static) -> Progress {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
        let done = Arc::new(AtomicUsize::new(0));
        if !bar.is_hidden() {
            let seen = Arc::clone(&done);
            let line = move |_: &ProgressState, out: &mut dyn core::fmt::Write| {
                // A line that cannot be drawn is no reason to stop a run.
                out.write_str(&text(seen.load(Ordering::Relaxed), pulse.cycle())).ok();
            };
            if let Ok(style) = ProgressStyle::with_template("{spinner} {line} [{elapsed}]") {
                bar.set_style(style.with_key("line", line));
            }
            bar.enable_steady_tick(REDRAW);
        }
        Progress { bar, done }
    }
}

/// A line for many runs of different size: how many are over, and how long the
/// rest will take if it goes on like this.
#[derive(Debug)]
pub(crate) struct Estimate {
    line: Progress,
    state: Arc<Mutex<runner::Progress>>,
}

impl Estimate {
    pub(crate) fn new(pulse: Pulse) -> Estimate {
        let state = Arc::<Mutex<runner::Progress>>::default();
        let (seen, watch) = (Arc::clone(&state), Stopwatch::start());
        let line = Progress::with(pulse, move |_, cycle| {
            let progress = *seen.lock().unwrap_or_else(PoisonError::into_inner);
            let runner::Progress { done, tasks, .. } = progress;
            let left = match left_seconds(progress, watch.seconds()) {
                None => String::new(),
                Some(seconds) => format!(", about {} left", duration(seconds)),
            };
            format!("{done} of {tasks} runs{left}: cycle {}", grouped(cycle))
        });
        Estimate { line, state }
    }

    /// A run is over.
    pub(crate) fn tell(&self, progress: runner::Progress) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = progress;
        self.line.one_more();
    }
}

/// How long the rest takes; unknown until something was run.
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

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_takes_as_long_as_what_was_done() {
        let progress = runner::Progress { done: 3, tasks: 9, weight_run: 10, weight_left: 30 };
        assert_eq!(left_seconds(progress, 20.0), Some(60.0));
        assert_eq!(left_seconds(runner::Progress::default(), 20.0), None);
        assert_eq!([20.0, 600.0, 36_000.0].map(duration), ["20 s", "10 min", "10.0 h"]);
    }
}
