//! Progress of long runs: a line on a terminal, silence in a pipe.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use lab::run::Pulse;

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

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
