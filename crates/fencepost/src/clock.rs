//! Stopwatches and deadlines. Only this module reads the real clock.

#![allow(clippy::disallowed_methods, reason = "reports show how long a run took; no result depends on it")]

use std::time::{Duration, Instant};

/// A stopwatch for real time, not simulated time.
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

/// The moment at which a command must stop and print its results so far. `None` means that the
/// command runs to its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    /// The deadline that is `time` from now. There is no deadline if `time` is `None`, or if the
    /// clock cannot represent the moment.
    pub(crate) fn after(time: Option<Duration>) -> Deadline {
        Deadline(time.and_then(|time| Instant::now().checked_add(time)))
    }

    pub(crate) fn passed(self) -> bool {
        self.0.is_some_and(|moment| Instant::now() >= moment)
    }
}
