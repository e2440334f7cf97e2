//! Progress of long runs: a line on a terminal, silence in a pipe.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How often the line is redrawn.
const REDRAW: Duration = Duration::from_millis(100);

/// A spinner with a message on the terminal behind standard error.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    prefix: String,
}

impl Progress {
    /// Hidden where standard error is no terminal.
    pub(crate) fn new() -> Progress {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} [{elapsed}]") {
            bar.set_style(style);
        }
        if !bar.is_hidden() {
            bar.enable_steady_tick(REDRAW);
        }
        Progress { bar, prefix: String::new() }
    }

    /// Says what begins now.
    pub(crate) fn begin(&mut self, what: String) {
        self.bar.set_message(what.clone());
        self.prefix = what;
    }

    /// Says how far the simulated machine is.
    pub(crate) fn cycles(&self, cycles: u64) {
        self.bar.set_message(format!("{}: {} cycles", self.prefix, crate::table::grouped(cycles)));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
