//! Stopwatches, deadlines and the date. Only this module reads the real clock.

#![allow(
    clippy::disallowed_methods,
    reason = "reports show how long a run took, and records show its date; no result depends on the time"
)]

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

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

/// The date of the current day in UTC, such as `2026-01-31`.
pub(crate) fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    date(since.as_secs() / (24 * 60 * 60))
}

/// The date that is `days` days after 1970-01-01.
fn date(mut days: u64) -> String {
    let february = |year: u64| match (year.is_multiple_of(4), year.is_multiple_of(100)) {
        (true, false) => 29,
        _ if year.is_multiple_of(400) => 29,
        _ => 28,
    };
    let (mut year, mut month) = (1970, 1);
    while days >= 337 + february(year) {
        days -= 337 + february(year);
        year += 1;
    }
    for length in [31, february(year), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn a_number_of_days_is_a_date() {
        for (days, expected) in [
            (0, "1970-01-01"),
            (30, "1970-01-31"),
            (364, "1970-12-31"),
            (365, "1971-01-01"),
            (789, "1972-02-29"),
            (11_016, "2000-02-29"),
            (20_454, "2026-01-01"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(date(days), expected);
        }
    }
}
