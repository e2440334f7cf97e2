//! The values of counters over the time of a run.

use core::num::NonZeroU64;

use serde::Serialize;
use sim::probe::Probe;
use sim::sample::{LEVELS, Sample};

use crate::error::{Error, printable};
use crate::experiment::Experiment;
use crate::record::Record;
use crate::table::{Column, Values};

/// The values of some counters at the end of each interval of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Series {
    /// The length of an interval in cycles. The last interval may be shorter.
    pub every_cycles: NonZeroU64,
    /// The names of the counters, in the spelling of the simulated machine.
    pub counters: Vec<String>,
    /// The cycles at which the intervals end.
    pub cycles: Vec<u64>,
    /// The values of the counters at the ends of the intervals: one list for each interval, with
    /// one value for each counter.
    pub values: Vec<Vec<u64>>,
    /// For each counter, whether it has existed at the end of some interval so far. A counter for
    /// the messages of one name exists only after the first such message is sent.
    #[serde(skip)]
    seen: Vec<bool>,
}

/// The prefixes of the names of counters that exist only after a message of some kind was sent. Such a
/// counter cannot be checked before the run, because the names of the messages are not known.
const OF_MESSAGES: [&str; 3] = ["messages.", "message_bytes.", "bytes_sent."];
/// The prefixes of the names of counters that are computed only at the end of a run.
const AT_THE_END: [&str; 2] = ["cycles.", "program."];

impl Series {
    /// Prepares to record the counters with these names. The name `l1_hits` is accepted for
    /// `l1.hits`.
    ///
    /// # Errors
    /// If the machine has no counter of a name, or if a name is given twice.
    pub fn of(experiment: &Experiment, every: NonZeroU64, names: &[String]) -> Result<Series, Error> {
        let subject =
            subjects::timed(experiment.scenario.protocol).expect("a scenario has a protocol of the list");
        let known = sim::counter_names(&subject, &experiment.system)
            .map_err(|error| Error::Impossible(error.to_string()))?;
        let mut counters: Vec<String> = Vec::new();
        for name in names {
            let counter = counter(name.trim(), &known)?;
            if counters.contains(&counter) {
                return Err(Error::Impossible(format!("counter `{counter}` is named twice")));
            }
            counters.push(counter);
        }
        let seen = vec![false; counters.len()];
        Ok(Series { every_cycles: every, counters, cycles: Vec::new(), values: Vec::new(), seen })
    }

    /// Checks, after a run with the right answer, that every counter existed in the run.
    ///
    /// # Errors
    /// If a counter belongs to messages that were never sent. The error names the first such
    /// counter.
    pub fn check(&self, record: &Record) -> Result<(), Error> {
        if !record.answer_ok {
            return Ok(());
        }
        let missing = self.counters.iter().zip(&self.seen).find(|(_, seen)| !**seen);
        let Some((name, _)) = missing.filter(|_| !self.cycles.is_empty()) else { return Ok(()) };
        let prefix = OF_MESSAGES.into_iter().find(|prefix| name.starts_with(prefix)).unwrap_or_default();
        let counters = record.counters.keys().map(String::as_str);
        let known: Vec<&str> = counters.filter(|known| known.starts_with(prefix)).collect();
        Err(Error::unknown("counter", name, &known))
    }

    /// The growth of a counter in an interval: the value at the end of the interval minus the value
    /// at its start. The growth is negative only for counters that are levels (current amounts).
    #[must_use]
    pub fn change(&self, interval: usize, counter: usize) -> i128 {
        let value = |at: usize| i128::from(self.values[at][counter]);
        let before = if interval == 0 { 0 } else { value(interval - 1) };
        value(interval) - before
    }

    /// Returns true if the counter is a level (a current amount, such as operations in flight), and
    /// false if it is a sum that only grows.
    #[must_use]
    pub fn is_level(&self, counter: usize) -> bool {
        LEVELS.contains(&self.counters[counter].as_str())
    }

    /// The series as the columns of a table with one row for each pair of an interval and a
    /// counter.
    #[must_use]
    pub fn columns(&self, record: &Record) -> Vec<Column> {
        let rows = self.cycles.len() * self.counters.len();
        let same = |name: &str, value: &str| Column::text(name, vec![value.to_owned(); rows]);
        let each = |value: &dyn Fn(usize, usize) -> u64| {
            let counters = 0..self.counters.len();
            (0..self.cycles.len())
                .flat_map(|at| counters.clone().map(move |c| (at, c)))
                .map(|(at, c)| value(at, c))
                .collect()
        };
        let names = self.cycles.iter().flat_map(|_| self.counters.iter().cloned()).collect();
        let changes: Vec<u64> = each(&|_, _| 0);
        let changes =
            (0..changes.len()).map(|n| self.change(n / self.counters.len(), n % self.counters.len()) as f64);
        vec![
            same("system", &record.system),
            same("protocol", record.protocol),
            same("policy", &record.policy),
            same("workload", record.workload),
            Column::count("seed", vec![record.seed; rows]),
            Column::count("cycle", each(&|at, _| self.cycles[at])),
            Column::text("counter", names),
            Column::count("value", each(&|at, c| self.values[at][c])),
            Column { name: "change".to_owned(), values: Values::Real(changes.collect()) },
        ]
    }
}

impl Probe for Series {
    fn sample_every(&self) -> Option<NonZeroU64> {
        Some(self.every_cycles)
    }

    fn sample(&mut self, sample: &Sample) {
        for (name, seen) in self.counters.iter().zip(&mut self.seen) {
            *seen |= sample.counters.contains_key(name);
        }
        self.cycles.push(sample.cycle);
        self.values.push(self.counters.iter().map(|name| sample.count(name)).collect());
    }
}

/// Finds the counter `name` in the list of known counters, and returns its name in the spelling of
/// the list.
///
/// # Errors
/// If there is no such counter.
fn counter(name: &str, known: &[String]) -> Result<String, Error> {
    let plain = |name: &str| name.replace('.', "_").to_ascii_lowercase();
    let is_of = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if is_of(&AT_THE_END) {
        return Err(Error::Impossible(format!(
            "counter `{}` is computed only when the run is over, so it has no values over time; --out without --counter \
             writes it",
            printable(name)
        )));
    }
    if known.iter().any(|known| known == name) || is_of(&OF_MESSAGES) {
        return Ok(name.to_owned());
    }
    if let Some(known) = known.iter().find(|known| plain(known) == plain(name)) {
        return Ok(known.clone());
    }
    let suggestion = crate::nearest(&plain(name), known).map(str::to_owned);
    Err(Error::Unknown { what: "counter", name: printable(name), suggestion, known: known.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_known_by_its_name_or_with_a_dot_and_others_are_suggested() {
        let known = ["l1_hits", "l1_misses", "l1_flushes.release", "noc_bytes_sent"].map(str::to_owned);
        let found = |name: &str| counter(name, &known).map_err(|error| error.to_string());
        assert_eq!(found("l1_hits").unwrap(), "l1_hits");
        assert_eq!(found("l1.hits").unwrap(), "l1_hits");
        assert_eq!(found("l1.flushes.release").unwrap(), "l1_flushes.release");
        assert_eq!(found("messages.GetS").unwrap(), "messages.GetS");
        assert!(found("l1.hit").unwrap_err().contains("did you mean `l1_hits`?"));
        assert!(found("cycles.load").unwrap_err().contains("when the run is over"));
        assert!(found("zebra").unwrap_err().contains("noc_bytes_sent"));
    }
}
