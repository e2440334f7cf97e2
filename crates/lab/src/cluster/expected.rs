//! Estimates the time of a run, from the size of the run and from the results of similar runs.
//!
//! The estimate only decides which runs share a chunk (the group of runs that one job executes). No
//! result depends on the estimate.

use std::collections::BTreeMap;

use crate::results::Measured;
use crate::task::Task;

/// The real time to simulate one unit of work, in seconds (see `units`). It was measured on one
/// core with 10 workloads under 3 protocols. The measured times were between a third of this value
/// and twice this value.
const SECONDS_PER_UNIT: f64 = 1.5e-6;

/// The assumed number of units of work for each unit of a task's weight (its estimated size). It is
/// used until a result is known.
const UNITS_PER_WEIGHT: f64 = 4.0;

/// The work of simulating a run, in units, computed from its counters. Each message is one unit,
/// and each operation on memory is one unit. Each request of a line is a third of a unit, because a
/// request that hits takes a third of the time. `None` if the run has no such counters.
fn units(measured: &Measured) -> Option<f64> {
    let count = |name: &str| measured.counters.get(name).map_or(0.0, |count| *count as f64);
    let units = count("noc_messages") + count("memory_ops") + count("line_requests") / 3.0;
    (units > 0.0).then_some(units)
}

/// The sum and the count of numbers that are added one after the other. Their mean is the quotient.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: f64,
    count: f64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1.0;
    }
}

/// The mean work of the runs with known results, for several groups of similar runs. It serves to
/// estimate the time of other runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Expected {
    /// The mean work of the known runs with the same program and the same protocol. The key
    /// identifies program and protocol.
    of_protocol: BTreeMap<String, Mean>,
    /// The mean work of the known runs with the same program. The key identifies the program.
    of_program: BTreeMap<String, Mean>,
    /// The mean work per unit of a task's weight (its estimated size), over the known runs of the
    /// same workload.
    of_workload: BTreeMap<&'static str, Mean>,
    /// The mean work per unit of a task's weight (its estimated size), over all known runs.
    of_all: Mean,
}

/// A text that identifies the program of a task: its workload, settings and input.
fn program(task: &Task) -> String {
    let settings: Vec<String> =
        task.experiment.settings.iter().map(|(setting, value)| format!("{}={value}", setting.name)).collect();
    let input = task.input.as_ref().map(|input| (&input.name, input.scale));
    format!("{} {input:?} {}", task.experiment.workload.name, settings.join(" "))
}

impl Expected {
    /// Adds the work of a run to the means. The work is computed from the result of the run.
    pub(super) fn learn(&mut self, task: &Task, measured: &Measured) {
        let Some(units) = units(measured) else { return };
        let program = program(task);
        let protocol = format!("{} {program}", task.experiment.scenario.protocol);
        self.of_protocol.entry(protocol).or_default().add(units);
        self.of_program.entry(program).or_default().add(units);
        let by_weight = units / task.weight().max(1) as f64;
        self.of_workload.entry(task.experiment.workload.name).or_default().add(by_weight);
        self.of_all.add(by_weight);
    }

    /// The expected time of a task on one core, in seconds. The estimate uses the mean work of the
    /// most similar runs whose results are known.
    pub(super) fn seconds(&self, task: &Task) -> f64 {
        let program = program(task);
        let protocol = format!("{} {program}", task.experiment.scenario.protocol);
        let same = self.of_protocol.get(&protocol).or_else(|| self.of_program.get(&program));
        let units = match same {
            Some(mean) => mean.sum / mean.count,
            None => {
                let known = self.of_workload.get(task.experiment.workload.name).unwrap_or(&self.of_all);
                let by_weight = if known.count > 0.0 { known.sum / known.count } else { UNITS_PER_WEIGHT };
                task.weight() as f64 * by_weight
            }
        };
        units * SECONDS_PER_UNIT
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::Study;
    use crate::systems::Systems;
    use std::path::Path;

    fn study() -> Study {
        let text = "systems = 'hlrc-8cu'\nscenarios = ['vi', 'no-l1']\nworkloads = ['reduce', 'histogram']\n\
                    seeds = 2\n[set]\nn = [1024, 4096]\n";
        Study::parse(Path::new("s.toml"), text, &Systems::with_folder("none")).unwrap()
    }

    fn measured(messages: u64) -> Measured {
        let counters = BTreeMap::from([("noc_messages".to_owned(), messages)]);
        Measured { counters, answer_ok: true, ..Measured::default() }
    }

    #[test]
    fn the_most_similar_known_runs_give_the_expected_time() {
        let study = study();
        let task = |workload: &str, protocol: &str, n: u64, seed: u64| {
            let fits = |task: &&Task| {
                let experiment = &task.experiment;
                experiment.workload.name == workload
                    && experiment.scenario.protocol == protocol
                    && experiment.settings.count("n") == n
                    && experiment.seed == seed
            };
            study.runs.iter().map(|run| &run.task).find(fits).unwrap()
        };
        let mut expected = Expected::default();
        // Without known results, the expected time is proportional to the number of elements.
        let [small, large] = [1024, 4096].map(|n| expected.seconds(task("reduce", "vi", n, 1)));
        assert!(small > 0.0 && (large / small - 4.0).abs() < 1e-9, "{small} {large}");
        let is = |expected: &Expected, task: &Task, messages: f64| {
            let found = expected.seconds(task) / SECONDS_PER_UNIT;
            assert!((found / messages - 1.0).abs() < 1e-9, "{}: {found}, not {messages}", task.label());
        };
        expected.learn(task("reduce", "vi", 1024, 1), &measured(1000));
        is(&expected, task("reduce", "vi", 1024, 2), 1000.0);
        is(&expected, task("reduce", "no-l1", 1024, 2), 1000.0);
        is(&expected, task("reduce", "vi", 4096, 1), 4000.0);
        expected.learn(task("reduce", "no-l1", 1024, 1), &measured(3000));
        is(&expected, task("reduce", "vi", 1024, 2), 1000.0);
        is(&expected, task("reduce", "no-l1", 1024, 2), 3000.0);
        is(&expected, task("reduce", "vi", 4096, 1), 8000.0);
        // A run of another workload is expected to do the same work per unit of weight.
        let other = task("histogram", "vi", 1024, 1);
        let weight = task("reduce", "vi", 1024, 1).weight() as f64;
        is(&expected, other, 2000.0 * other.weight() as f64 / weight);
        // A result without counts, from a stopped run, does not change the estimate.
        let before = expected.seconds(other);
        expected.learn(other, &Measured::default());
        assert_eq!(expected.seconds(other), before);
    }
}
