//! The one place that reads the clock.

#![allow(clippy::disallowed_methods, reason = "the edge tells how long a run took; no result depends on it")]

use std::time::Instant;

/// Measures how long something takes on the host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    pub(crate) fn start() -> Stopwatch {
        Stopwatch(Instant::now())
    }

    pub(crate) fn seconds(self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}
