//! The causes of the difference in cycles between two runs.

use std::collections::BTreeMap;

use proto::Symbol;
use serde::Serialize;
use sim::attribution::Cause;

use crate::record::Record;
use crate::systems::Changes;

/// The difference in cycles between two runs, divided among the causes of cycles. The field names
/// are the keys of the JSON output, so they must not change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The name of the machine.
    pub system: String,
    /// The changes of machine parameters that the user requested.
    #[serde(skip_serializing_if = "Changes::is_empty")]
    pub machine: Changes,
    /// The name of the workload.
    pub workload: String,
    /// The seed of both runs.
    pub seed: u64,
    /// The scenario of the first run.
    pub a: String,
    /// The scenario of the second run.
    pub b: String,
    /// The duration of the first run, in cycles.
    pub cycles_a: u64,
    /// The duration of the second run, in cycles.
    pub cycles_b: u64,
    /// Whether the answer of the first run is right.
    pub answer_ok_a: bool,
    /// Whether the answer of the second run is right.
    pub answer_ok_b: bool,
    /// The difference in cycles for each cause: positive if the second run takes more cycles for
    /// the cause than the first run, and negative if it takes fewer. The sum of all differences is
    /// `cycles_b - cycles_a`.
    pub parts: Vec<Part>,
}

/// A cause of cycles, and the part of the difference in cycles between two runs that is due to this
/// cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Part {
    /// The name of the cause.
    pub cause: String,
    /// A description of the cause, in words.
    pub meaning: String,
    /// The cycles that the cause takes in the second run, minus the cycles that it takes in the
    /// first run.
    pub cycles: i64,
    /// The cycles that the cause takes in the first run.
    pub cycles_a: u64,
    /// The cycles that the cause takes in the second run.
    pub cycles_b: u64,
}

/// The data of a run that are needed to compute the cycles of each cause.
#[derive(Clone, Copy, Debug)]
pub struct Account<'a> {
    /// The name of the run: the name of its scenario.
    pub name: &'a str,
    /// The duration of the run, in cycles.
    pub cycles: u64,
    /// Whether the answer of the run is right.
    pub answer_ok: bool,
    /// The reason why the answer is wrong, or why the run did not end. `None` if the answer is
    /// right.
    pub error: Option<&'a str>,
    /// The counters of the run.
    pub counters: &'a BTreeMap<String, u64>,
}

impl<'a> Account<'a> {
    /// Takes the data from the record of a run. `name` is the name of the run.
    #[must_use]
    pub fn of(name: &'a str, record: &'a Record) -> Account<'a> {
        let Record { cycles, answer_ok, ref error, ref counters, .. } = *record;
        Account { name, cycles, answer_ok, error: error.as_deref(), counters }
    }

    fn part(&self, cause: Cause) -> Option<u64> {
        self.counters.get(&format!("cycles.{}", cause.key())).copied()
    }

    /// The number of cycles of each cause, in the order of [`Cause::ALL`]. Every cycle of the run
    /// has exactly one cause.
    ///
    /// # Errors
    /// If the run did not end, because its cycles then have no causes. Also if the cycles of all
    /// causes do not add up to the cycles of the run.
    pub fn parts(&self) -> Result<Vec<u64>, String> {
        let parts: Option<Vec<u64>> = Cause::ALL.iter().map(|cause| self.part(*cause)).collect();
        let Some(parts) = parts else {
            let error = self.error.unwrap_or("the cycles of the run have no recorded causes");
            return Err(format!("{}: {error}", self.name));
        };
        let sum: u64 = parts.iter().sum();
        if sum == self.cycles {
            return Ok(parts);
        }
        Err(format!("{}: {sum} cycles have a cause, but the run took {}", self.name, self.cycles))
    }
}

impl Difference {
    /// The difference between two runs of the same workload.
    ///
    /// # Errors
    /// The errors of [`Account::parts`].
    pub fn new(
        system: &str,
        workload: &str,
        seed: u64,
        a: Account<'_>,
        b: Account<'_>,
    ) -> Result<Difference, String> {
        let of = |account: &Account<'_>| account.parts().map_err(|error| format!("{workload} under {error}"));
        let both = of(&a)?.into_iter().zip(of(&b)?);
        let part = |(cause, (in_a, in_b)): (&Cause, (u64, u64))| Part {
            cause: cause.key().to_owned(),
            meaning: cause.doc().trim_end_matches('.').to_owned(),
            cycles: signed(in_b) - signed(in_a),
            cycles_a: in_a,
            cycles_b: in_b,
        };
        Ok(Difference {
            system: system.to_owned(),
            machine: Changes::default(),
            workload: workload.to_owned(),
            seed,
            a: a.name.to_owned(),
            b: b.name.to_owned(),
            cycles_a: a.cycles,
            cycles_b: b.cycles,
            answer_ok_a: a.answer_ok,
            answer_ok_b: b.answer_ok,
            parts: Cause::ALL.iter().zip(both).map(part).collect(),
        })
    }

    /// Adds the difference between two runs of another workload to this difference.
    pub fn add(&mut self, other: &Difference) {
        self.cycles_a += other.cycles_a;
        self.cycles_b += other.cycles_b;
        self.answer_ok_a &= other.answer_ok_a;
        self.answer_ok_b &= other.answer_ok_b;
        for (part, more) in self.parts.iter_mut().zip(&other.parts) {
            part.cycles += more.cycles;
            part.cycles_a += more.cycles_a;
            part.cycles_b += more.cycles_b;
        }
    }

    /// The causes whose numbers of cycles differ between the two runs, the largest difference
    /// first.
    #[must_use]
    pub fn ranked(&self) -> Vec<&Part> {
        let mut parts: Vec<&Part> = self.parts.iter().filter(|part| part.cycles != 0).collect();
        parts.sort_by_key(|part| core::cmp::Reverse(part.cycles.unsigned_abs()));
        parts
    }
}

/// Converts a number of cycles to a signed number. The conversion is exact, because no run has 2^63
/// cycles.
fn signed(cycles: u64) -> i64 {
    i64::try_from(cycles).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use crate::experiment::{Experiment, Question};
    use crate::systems::Systems;

    use super::*;

    fn record(scenario: &str, drop: Option<(String, u64)>) -> Record {
        let question = Question {
            system: "hlrc-8cu".to_owned(),
            scenario: scenario.to_owned(),
            workload: "lock-counter".to_owned(),
            drop,
            patience_cycles: Some(20_000),
            ..Question::default()
        };
        let systems = Systems::with_folder("no such folder");
        crate::run::run(&Experiment::new(&systems, &question).unwrap(), &mut ()).unwrap()
    }

    fn between(names: [&str; 2], a: &Record, b: &Record) -> Result<Difference, String> {
        Difference::new(&a.system, a.workload, a.seed, Account::of(names[0], a), Account::of(names[1], b))
    }

    #[test]
    fn parts_add_up_to_the_difference_both_ways() {
        let (near, far) = (record("vi+same-cu+work-group", None), record("vi", None));
        let there = between(["near", "far"], &near, &far).unwrap();
        let back = between(["far", "near"], &far, &near).unwrap();
        assert_ne!(there.cycles_a, there.cycles_b);
        let sum = |difference: &Difference| difference.parts.iter().map(|part| part.cycles).sum::<i64>();
        assert_eq!(sum(&there), signed(far.cycles) - signed(near.cycles));
        assert_eq!(sum(&there), -sum(&back));
        let mut twice = there.clone();
        twice.add(&there);
        assert_eq!(sum(&twice), 2 * sum(&there));
        let release = there.parts.iter().find(|part| part.cause == "release").unwrap();
        assert!(release.cycles > 0, "a wider scope releases more: {release:?}");
        let ranked = there.ranked();
        assert!(ranked.windows(2).all(|two| two[0].cycles.abs() >= two[1].cycles.abs()));
    }

    #[test]
    fn a_run_without_an_end_has_no_account() {
        let (sound, stuck) = (record("vi", None), record("vi", Some(("Data".to_owned(), 1))));
        let error = between(["sound", "lossy"], &sound, &stuck).unwrap_err();
        assert!(error.starts_with("lock-counter under lossy:"), "{error}");
        let mut cooked = record("vi", None);
        cooked.cycles += 1;
        let error = between(["sound", "cooked"], &sound, &cooked).unwrap_err();
        assert!(error.contains("under cooked:"), "{error}");
    }
}
