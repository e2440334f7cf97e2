//! Scenarios side by side.

use serde::Serialize;

use crate::record::Record;

/// Scenarios on one or more workloads. Its keys are an interface.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The machine.
    pub system: String,
    /// The seed.
    pub seed: u64,
    /// Workload by workload, and within one in the order of the scenarios.
    pub rows: Vec<Row>,
    /// The geometric means over the workloads, where all of them succeeded.
    pub means: Vec<Mean>,
}

/// One scenario on one workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The workload.
    pub workload: &'static str,
    /// The scenario as it was written.
    pub scenario: String,
    /// The protocol.
    pub protocol: &'static str,
    /// The policy.
    pub policy: String,
    /// How long it took.
    pub cycles: u64,
    /// How many times faster than the first scenario of this workload; nothing
    /// where one of the two has no right answer.
    pub speedup: Option<f64>,
    /// The bytes that crossed the network.
    pub traffic_bytes: u64,
    /// The energy of all parts.
    pub energy_pj: f64,
    /// Is the answer right?
    pub answer_ok: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The mean of one scenario over all workloads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mean {
    /// The scenario.
    pub scenario: String,
    /// The geometric mean of its speedups.
    pub speedup: f64,
    /// The geometric mean of its traffic relative to the first scenario's.
    pub traffic_ratio: Option<f64>,
    /// The geometric mean of its energy relative to the first scenario's.
    pub energy_ratio: Option<f64>,
}

impl Comparison {
    /// Puts records side by side: for each workload one record a scenario, the
    /// first being the baseline.
    #[must_use]
    pub fn new(system: &str, seed: u64, scenarios: &[String], records: &[Vec<Record>]) -> Comparison {
        let mut rows = Vec::new();
        for of_workload in records {
            let first = of_workload.first();
            for (scenario, record) in scenarios.iter().zip(of_workload) {
                let sound = record.answer_ok && first.is_some_and(|first| first.answer_ok);
                rows.push(Row {
                    workload: record.workload,
                    scenario: scenario.clone(),
                    protocol: record.protocol,
                    policy: record.policy.clone(),
                    cycles: record.cycles,
                    speedup: first
                        .filter(|_| sound && record.cycles > 0)
                        .map(|first| first.cycles as f64 / record.cycles as f64),
                    traffic_bytes: record.traffic_bytes(),
                    energy_pj: record.energy_total_pj(),
                    answer_ok: record.answer_ok,
                    error: record.error.clone(),
                });
            }
        }
        let means = if records.len() > 1 { means(scenarios, &rows) } else { Vec::new() };
        Comparison { system: system.to_owned(), seed, rows, means }
    }

    /// Did every run end with the right answer?
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.rows.iter().all(|row| row.answer_ok)
    }
}

fn means(scenarios: &[String], rows: &[Row]) -> Vec<Mean> {
    let step = scenarios.len().max(1);
    let of = |scenario: usize, value: fn(&Row, &Row) -> Option<f64>| {
        let ratios = rows.chunks(step).map(|rows| value(rows.get(scenario)?, rows.first()?));
        geometric_mean(&ratios.collect::<Option<Vec<f64>>>()?)
    };
    let mean = |(at, scenario): (usize, &String)| {
        Some(Mean {
            scenario: scenario.clone(),
            speedup: of(at, |row, _| row.speedup)?,
            traffic_ratio: of(at, |row, first| ratio(row.traffic_bytes as f64, first.traffic_bytes as f64)),
            energy_ratio: of(at, |row, first| ratio(row.energy_pj, first.energy_pj)),
        })
    };
    scenarios.iter().enumerate().filter_map(mean).collect()
}

fn ratio(value: f64, of: f64) -> Option<f64> {
    (value > 0.0 && of > 0.0).then(|| value / of)
}

fn geometric_mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|value| !value.is_finite() || *value <= 0.0) {
        return None;
    }
    Some((values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn record(workload: &'static str, cycles: u64, answer_ok: bool) -> Record {
        Record {
            system: "s".to_owned(),
            protocol: "vi",
            policy: String::new(),
            workload,
            input: None,
            graph: None,
            settings: BTreeMap::new(),
            seed: 0,
            cycles,
            answer_ok,
            error: (!answer_ok).then(|| "wrong".to_owned()),
            misfit: false,
            wall_seconds: 0.0,
            events: 0,
            counters: BTreeMap::from([("noc_bytes_sent".to_owned(), cycles * 2)]),
            energy_pj: BTreeMap::from([("total", cycles as f64)]),
            kernels: Vec::new(),
        }
    }

    fn scenarios() -> Vec<String> {
        vec!["vi".to_owned(), "no-l1".to_owned()]
    }

    #[test]
    fn speedups_are_over_the_first_scenario_of_each_workload() {
        let records = [
            vec![record("a", 100, true), record("a", 50, true)],
            vec![record("b", 10, true), record("b", 80, true)],
        ];
        let comparison = Comparison::new("s", 0, &scenarios(), &records);
        let speedups: Vec<_> = comparison.rows.iter().map(|row| row.speedup).collect();
        assert_eq!(speedups, [Some(1.0), Some(2.0), Some(1.0), Some(0.125)]);
        assert_eq!(comparison.means[0].speedup, 1.0);
        assert!((comparison.means[1].speedup - 0.5).abs() < 1e-12);
        assert!((comparison.means[1].traffic_ratio.unwrap() - 2.0).abs() < 1e-12);
        assert!(comparison.is_sound());
    }

    #[test]
    fn a_wrong_answer_has_no_speedup_and_spoils_the_mean() {
        let records = [
            vec![record("a", 100, true), record("a", 50, false)],
            vec![record("b", 10, true), record("b", 80, true)],
        ];
        let comparison = Comparison::new("s", 0, &scenarios(), &records);
        assert_eq!(comparison.rows[1].speedup, None);
        assert_eq!(comparison.means.len(), 1);
        assert!(!comparison.is_sound());
    }

    #[test]
    fn a_wrong_baseline_leaves_no_speedup_at_all() {
        let records = [vec![record("a", 100, false), record("a", 50, true)]];
        let comparison = Comparison::new("s", 0, &scenarios(), &records);
        assert!(comparison.rows.iter().all(|row| row.speedup.is_none()));
    }
}
