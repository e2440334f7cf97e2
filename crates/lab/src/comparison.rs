//! Compares scenarios on the same workloads and machines: speedup, traffic and energy relative to
//! the first scenario.

use serde::Serialize;

use crate::paper::statistics::{geometric_mean, interval_of_amounts};
use crate::record::Record;
use crate::results::Interval;
use crate::systems::Changes;

/// A comparison of scenarios on one or more workloads and machines. The field names are the keys of
/// the JSON output, so they must not change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The name of the compared machine. With several machines, their names, joined by commas.
    pub system: String,
    /// The names of the compared machines.
    pub systems: Vec<String>,
    /// The changes of machine parameters that the user requested. They apply to every machine.
    #[serde(skip_serializing_if = "Changes::is_empty")]
    pub machine: Changes,
    /// The seed of the first run. Each further run uses the next higher seed.
    pub seed: u64,
    /// The seeds of all runs. With more than one seed, every number in the rows is a mean over the
    /// seeds.
    pub seeds: Vec<u64>,
    /// The results of each scenario on each workload and machine. The rows are sorted by machine,
    /// then by workload. The rows of one workload have the order of the scenarios.
    pub rows: Vec<Row>,
    /// For each machine, the geometric means over the workloads: one entry for each scenario whose
    /// speedup is known on all workloads. Empty with only one workload.
    pub means: Vec<Mean>,
}

/// The result of one scenario on one workload and one machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The name of the machine.
    pub system: String,
    /// The name of the workload.
    pub workload: &'static str,
    /// The scenario, as the user wrote it on the command line.
    pub scenario: String,
    /// The name of the protocol.
    pub protocol: &'static str,
    /// The policies (variants of the program) that the scenario's runs use, joined by commas.
    pub policy: String,
    /// The duration of the run, in cycles.
    pub cycles: u64,
    /// The speedup: the cycles of the first scenario on this workload and machine, divided by the
    /// cycles of this scenario. `None` if either scenario has no right answer.
    pub speedup: Option<f64>,
    /// The bytes that were sent over the network.
    pub traffic_bytes: u64,
    /// The energy of all parts of the machine, in picojoules.
    pub energy_pj: f64,
    /// Whether the program's answer is right with every seed.
    pub answer_ok: bool,
    /// The reason why the answer of a run is wrong, or why a run did not end. `None` if all answers
    /// are right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The means over the seeds of the numbers in this row, each with its 95% confidence interval.
    /// `None` with one seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intervals: Option<Intervals>,
    /// First the traffic of this scenario divided by the traffic of the first scenario, then the
    /// energy of this scenario divided by the energy of the first scenario. Each ratio has its 95%
    /// confidence interval.
    #[serde(skip)]
    pub relative: [Option<Interval>; 2],
    /// Whether the traffic and the energy of all runs are known. They are unknown for a run that
    /// was stopped for lack of progress.
    #[serde(skip)]
    pub is_counted: bool,
}

/// Means over the seeds, each with its 95% confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Intervals {
    /// The mean of the cycles, with its confidence interval.
    pub cycles: Interval,
    /// The mean of the speedup, with its confidence interval.
    pub speedup: Option<Interval>,
    /// The mean of the bytes that were sent over the network, with its confidence interval.
    pub traffic_bytes: Interval,
    /// The mean of the energy in picojoules, with its confidence interval.
    pub energy_pj: Interval,
}

/// The speedup, the traffic ratio and the energy ratio of one scenario on a machine, each as a
/// geometric mean over all workloads. All three compare the scenario with the first scenario.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mean {
    /// The name of the machine.
    pub system: String,
    /// The name of the scenario.
    pub scenario: String,
    /// The geometric mean of the scenario's speedups over the workloads.
    pub speedup: f64,
    /// The traffic of the scenario divided by the traffic of the first scenario: the geometric mean
    /// of these ratios over the workloads.
    pub traffic_ratio: Option<f64>,
    /// The energy of the scenario divided by the energy of the first scenario: the geometric mean
    /// of these ratios over the workloads.
    pub energy_ratio: Option<f64>,
    /// The mean speedup with its 95% confidence interval. `None` with one seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The geometric mean of the traffic ratios, then the geometric mean of the energy ratios, each
    /// with its 95% confidence interval. A ratio is a value of this scenario divided by the value
    /// of the first scenario.
    #[serde(skip)]
    pub relative: [Option<Interval>; 2],
}

impl Comparison {
    /// Compares the records of runs. `records` is sorted by machine, then by workload, then in the
    /// order of `scenarios`, then in the order of `seeds`. The rows have the same order. The first
    /// scenario is the baseline.
    #[must_use]
    pub fn new(seeds: &[u64], scenarios: &[String], records: &[Record]) -> Comparison {
        let (each, case) = (seeds.len().max(1), seeds.len().max(1) * scenarios.len().max(1));
        let cases: Vec<Vec<&[Record]>> =
            records.chunks(case).map(|records| records.chunks(each).collect()).collect();
        let mut systems: Vec<String> = Vec::new();
        for record in records.iter().filter(|record| !record.system.is_empty()) {
            if !systems.contains(&record.system) {
                systems.push(record.system.clone());
            }
        }
        let row =
            |(scenario, records): (&String, &&[Record]), first: &[Record]| row(scenario, records, first);
        let rows = cases.iter().flat_map(|case| {
            let first = case.first().copied().unwrap_or_default();
            scenarios.iter().zip(case).map(move |of| row(of, first))
        });
        let of_system = |system: &String| {
            let cases: Vec<_> = cases.iter().filter(|case| case[0][0].system == *system).collect();
            let mean = |(at, scenario): (usize, &String)| mean(system, scenario, &cases, at);
            if cases.len() > 1 { scenarios.iter().enumerate().filter_map(mean).collect() } else { Vec::new() }
        };
        Comparison {
            system: systems.join(","),
            seed: seeds.first().copied().unwrap_or(0),
            seeds: seeds.to_vec(),
            rows: rows.collect(),
            means: systems.iter().flat_map(of_system).collect(),
            systems,
            machine: records.first().map(|record| record.machine.clone()).unwrap_or_default(),
        }
    }

    /// Returns true if every run ended with the right answer.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.rows.iter().all(|row| row.answer_ok)
    }
}

/// Applies `quotient` to each pair of records with the same seed: a record of some scenario
/// (`records`) and a record of the first scenario (`first`). Returns `None` if an answer is wrong
/// or a quotient is undefined.
fn quotients(
    records: &[Record],
    first: &[Record],
    quotient: fn(&Record, &Record) -> Option<f64>,
) -> Option<Vec<f64>> {
    let both = records.iter().zip(first);
    both.map(|(record, first)| quotient(record, first).filter(|_| record.answer_ok && first.answer_ok))
        .collect()
}

const SPEEDUP: fn(&Record, &Record) -> Option<f64> =
    |record, first| (record.cycles > 0).then(|| first.cycles as f64 / record.cycles as f64);
const TRAFFIC: fn(&Record, &Record) -> Option<f64> =
    |record, first| ratio(record.traffic_bytes() as f64, first.traffic_bytes() as f64);
const ENERGY: fn(&Record, &Record) -> Option<f64> =
    |record, first| ratio(record.energy_total_pj(), first.energy_total_pj());

fn row(scenario: &str, records: &[Record], first: &[Record]) -> Row {
    let one = &records[0];
    let over_seeds = |value: fn(&Record) -> f64| {
        let values: Vec<f64> = records.iter().map(value).collect();
        interval_of_amounts(&values).unwrap_or(Interval { mean: 0.0, low: 0.0, high: 0.0 })
    };
    let relative = |of| quotients(records, first, of).and_then(|values| interval_of_amounts(&values));
    let speedup = relative(SPEEDUP);
    let intervals = Intervals {
        cycles: over_seeds(|record| record.cycles as f64),
        speedup,
        traffic_bytes: over_seeds(|record| record.traffic_bytes() as f64),
        energy_pj: over_seeds(Record::energy_total_pj),
    };
    let wrong = records.iter().find(|record| !record.answer_ok);
    Row {
        system: one.system.clone(),
        workload: one.workload,
        scenario: scenario.to_owned(),
        protocol: one.protocol,
        policy: one.policy.clone(),
        cycles: intervals.cycles.mean.round() as u64,
        speedup: speedup.map(|speedup| speedup.mean),
        traffic_bytes: intervals.traffic_bytes.mean.round() as u64,
        energy_pj: intervals.energy_pj.mean,
        answer_ok: wrong.is_none(),
        error: wrong.or(Some(one)).and_then(|record| record.error.clone()),
        intervals: (records.len() > 1).then_some(intervals),
        is_counted: records.iter().all(|record| !record.counters.is_empty()),
        relative: [relative(TRAFFIC), relative(ENERGY)],
    }
}

/// The mean speedup, traffic ratio and energy ratio of a scenario over all workloads. For each of
/// these three quantities and each seed, the function computes the geometric mean over the
/// workloads. The result has the mean of these geometric means over the seeds. `None` if the
/// scenario or the first scenario has no right answer on some workload.
fn mean(system: &str, scenario: &str, cases: &[&Vec<&[Record]>], at: usize) -> Option<Mean> {
    let of = |quotient| {
        let each = cases.iter().map(|case| quotients(case.get(at)?, case.first()?, quotient));
        let each = each.collect::<Option<Vec<Vec<f64>>>>()?;
        let seeds = 0..each.first()?.len();
        let of_seed = |seed: usize| geometric_mean(&each.iter().map(|case| case[seed]).collect::<Vec<_>>());
        interval_of_amounts(&seeds.map(of_seed).collect::<Option<Vec<f64>>>()?)
    };
    let (speedup, relative) = (of(SPEEDUP)?, [of(TRAFFIC), of(ENERGY)]);
    Some(Mean {
        system: system.to_owned(),
        scenario: scenario.to_owned(),
        speedup: speedup.mean,
        traffic_ratio: relative[0].map(|ratio| ratio.mean),
        energy_ratio: relative[1].map(|ratio| ratio.mean),
        interval: cases.first().filter(|case| case[0].len() > 1).map(|_| speedup),
        relative,
    })
}

fn ratio(value: f64, of: f64) -> Option<f64> {
    (value > 0.0 && of > 0.0).then(|| value / of)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn record(workload: &'static str, cycles: u64, answer_ok: bool) -> Record {
        Record {
            system: "s".to_owned(),
            machine: Changes::default(),
            protocol: "vi",
            policy: String::new(),
            workload,
            input: None,
            graph: None,
            tables: Vec::new(),
            size: None,
            settings: BTreeMap::new(),
            seed: 0,
            cycles,
            answer_ok,
            error: (!answer_ok).then(|| "wrong".to_owned()),
            misfit: false,
            wall_seconds: 0.0,
            events: 0,
            counters: BTreeMap::from([("noc_bytes_sent".to_owned(), cycles * 2)]),
            energy_pj: BTreeMap::from([("total".to_owned(), cycles as f64)]),
            kernels: Vec::new(),
        }
    }

    fn scenarios() -> Vec<String> {
        vec!["vi".to_owned(), "no-l1".to_owned()]
    }

    fn compare(seeds: &[u64], records: &[Record]) -> Comparison {
        Comparison::new(seeds, &scenarios(), records)
    }

    #[test]
    fn speedups_are_over_the_first_scenario_of_each_workload() {
        let records =
            [record("a", 100, true), record("a", 50, true), record("b", 10, true), record("b", 80, true)];
        let comparison = compare(&[0], &records);
        let speedups: Vec<_> = comparison.rows.iter().map(|row| row.speedup).collect();
        assert_eq!(speedups, [Some(1.0), Some(2.0), Some(1.0), Some(0.125)]);
        assert_eq!(comparison.means[0].speedup, 1.0);
        assert!((comparison.means[1].speedup - 0.5).abs() < 1e-12);
        assert!((comparison.means[1].traffic_ratio.unwrap() - 2.0).abs() < 1e-12);
        assert!(comparison.is_sound());
        assert!(comparison.rows.iter().all(|row| row.intervals.is_none()), "one seed has no interval");
    }

    #[test]
    fn a_wrong_answer_has_no_speedup_and_removes_the_mean() {
        let records =
            [record("a", 100, true), record("a", 50, false), record("b", 10, true), record("b", 80, true)];
        let comparison = compare(&[0], &records);
        assert_eq!(comparison.rows[1].speedup, None);
        assert_eq!(comparison.means.len(), 1);
        assert!(!comparison.is_sound());
    }

    #[test]
    fn a_wrong_baseline_leaves_no_speedup_at_all() {
        let records = [record("a", 100, false), record("a", 50, true)];
        assert!(compare(&[0], &records).rows.iter().all(|row| row.speedup.is_none()));
    }

    #[test]
    fn several_seeds_give_means_of_speedups_seed_by_seed_with_students_interval() {
        let cycles = [[100, 50], [100, 40], [120, 40]];
        let records: Vec<Record> =
            (0..2).flat_map(|scenario| cycles.map(|of_seed| record("a", of_seed[scenario], true))).collect();
        let row = &compare(&[1, 2, 3], &records).rows[1];
        // The expected numbers: the speedups are 2, 2.5 and 3, their standard deviation is 0.5, and
        // half the interval is 0.5 / sqrt(3) * 4.303.
        let speedup = row.intervals.unwrap().speedup.unwrap();
        assert!((speedup.mean - 2.5).abs() < 1e-12);
        assert!((speedup.high - 3.7422).abs() < 1e-3 && (speedup.low - 1.2578).abs() < 1e-3, "{speedup:?}");
        assert_eq!((row.cycles, row.speedup), (43, Some(2.5)));
    }

    #[test]
    fn intervals_of_amounts_end_at_zero() {
        let cycles = [[100, 10], [300, 400]];
        let records: Vec<Record> =
            (0..2).flat_map(|scenario| cycles.map(|of_seed| record("a", of_seed[scenario], true))).collect();
        for row in &compare(&[1, 2], &records).rows {
            let of = row.intervals.unwrap();
            let all = [Some(of.cycles), of.speedup, Some(of.traffic_bytes), Some(of.energy_pj)];
            assert!(all.into_iter().chain(row.relative).all(|of| of.unwrap().low >= 0.0), "{row:?}");
            assert!(of.cycles.low == 0.0 && of.cycles.high > 1000.0, "{row:?}");
        }
    }

    #[test]
    fn traffic_and_energy_are_relative_each_to_its_own_and_means_have_intervals() {
        let with = |workload, cycles, bytes, pj| Record {
            counters: BTreeMap::from([("noc_bytes_sent".to_owned(), bytes)]),
            energy_pj: BTreeMap::from([("total".to_owned(), pj)]),
            ..record(workload, cycles, true)
        };
        let of = |workload| {
            [(100, 10, 1.0), (100, 10, 1.0), (50, 20, 8.0), (25, 20, 8.0)]
                .map(|(cycles, bytes, pj)| with(workload, cycles, bytes, pj))
        };
        let comparison = compare(&[1, 2], &[of("a"), of("b")].concat());
        let means = |of: [Option<Interval>; 2]| of.map(|of| of.unwrap().mean);
        assert_eq!(means(comparison.rows[1].relative), [2.0, 8.0]);
        assert_eq!(means(comparison.means[1].relative).map(f64::round), [2.0, 8.0]);
        let mean = &comparison.means[1];
        assert_eq!([mean.traffic_ratio, mean.energy_ratio].map(|ratio| ratio.unwrap().round()), [2.0, 8.0]);
        // The speedups are 2 with the first seed and 4 with the second seed, on both workloads.
        let interval = mean.interval.unwrap();
        assert!((interval.mean - 3.0).abs() < 1e-9 && (interval.high - 15.706).abs() < 1e-3, "{interval:?}");
        assert!(compare(&[0], &[of("a")[0].clone(), of("a")[2].clone()]).means.is_empty());
    }

    #[test]
    fn a_run_that_was_given_up_has_neither_traffic_nor_energy() {
        let given_up =
            Record { counters: BTreeMap::new(), energy_pj: BTreeMap::new(), ..record("a", 9, false) };
        let records = [record("a", 9, true), record("a", 9, true), record("a", 9, true), given_up];
        let rows = compare(&[1, 2], &records).rows;
        assert_eq!((rows[0].is_counted, rows[1].is_counted), (true, false));
    }

    #[test]
    fn one_wrong_seed_is_an_error_of_its_row() {
        let records =
            [record("a", 1, true), record("a", 1, true), record("a", 1, true), record("a", 1, false)];
        let comparison = compare(&[1, 2], &records);
        assert!(!comparison.is_sound() && comparison.rows[1].speedup.is_none());
        assert_eq!(comparison.rows[1].error.as_deref(), Some("wrong"));
    }

    #[test]
    fn each_machine_has_a_baseline_and_means_of_its_own() {
        let on = |system: &str, workload, cycles| Record {
            system: system.to_owned(),
            ..record(workload, cycles, true)
        };
        let records: Vec<Record> = [("s", 10), ("t", 1000)]
            .into_iter()
            .flat_map(|(system, k)| {
                [on(system, "a", 2 * k), on(system, "a", k), on(system, "b", 8 * k), on(system, "b", k)]
            })
            .collect();
        let comparison = compare(&[0], &records);
        assert_eq!((comparison.system.as_str(), comparison.rows.len()), ("s,t", 8));
        let means: Vec<_> = comparison.means.iter().map(|m| (m.system.as_str(), m.speedup.round())).collect();
        assert_eq!(means, [("s", 1.0), ("s", 4.0), ("t", 1.0), ("t", 4.0)]);
    }
}
