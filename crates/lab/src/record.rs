//! The record of a run: its experiment and its result, as data and as JSON.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::input::{GraphRecord, TableRecord};
use crate::systems::Changes;
use crate::table::{Column, Values};

/// The experiment and the result of one run. The field names are the keys of the JSON output, so
/// they must not change. New fields may be added.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Record {
    /// The name of the machine.
    pub system: String,
    /// The changes of machine parameters that the user requested.
    #[serde(skip_serializing_if = "Changes::is_empty")]
    pub machine: Changes,
    /// The name of the protocol.
    pub protocol: &'static str,
    /// The policies (variants of the program) that the run uses, joined by commas.
    pub policy: String,
    /// The name of the workload.
    pub workload: &'static str,
    /// The name of the workload's input. `None` if the user names no input.
    pub input: Option<String>,
    /// The description of the input graph. `None` if the run has no input graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graph: Option<GraphRecord>,
    /// The descriptions of the input files with numbers. Empty if the run has no such file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<TableRecord>,
    /// The size of the workload. `None` if the user names no size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<&'static str>,
    /// The settings of the workload.
    pub settings: BTreeMap<&'static str, String>,
    /// The seed of the run.
    pub seed: u64,
    /// The duration of the program on the simulated machine, in cycles.
    pub cycles: u64,
    /// Whether the answer of the program is right: it equals the answer that a reference program
    /// computes without the simulated machine.
    pub answer_ok: bool,
    /// The reason why the answer is wrong, or why the run did not end. `None` if the answer is
    /// right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether the program stopped because the settings of the workload do not fit the input or the
    /// machine. This is an error of the user, not a wrong answer of the machine.
    #[serde(skip)]
    pub misfit: bool,
    /// The real time that the simulation took, in seconds. Zero unless the caller measures this
    /// time. All other values are the same if the run is repeated.
    pub wall_seconds: f64,
    /// The number of simulated events.
    pub events: u64,
    /// The value of each counter, by the name of the counter. Counters of several runs can be
    /// added.
    pub counters: BTreeMap<String, u64>,
    /// The energy of each part of the machine in picojoules, by the name of the part. The entry
    /// `total` is the sum of all parts.
    pub energy_pj: BTreeMap<String, f64>,
    /// The results of the kernels, in the order of execution.
    pub kernels: Vec<KernelRecord>,
}

/// The results of one kernel of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KernelRecord {
    /// The name of the kernel.
    pub name: String,
    /// The cycle in which the kernel was launched.
    pub from_cycle: u64,
    /// The cycle in which the kernel's last write was visible to the host.
    pub until_cycle: u64,
}

impl Record {
    /// The number of bytes that crossed the network.
    #[must_use]
    pub fn traffic_bytes(&self) -> u64 {
        self.counters.get("noc_bytes_sent").copied().unwrap_or(0)
    }

    /// The columns of a table with one row. They are the names and the seed of the experiment, its
    /// result, and every machine change, setting, counter and energy.
    #[must_use]
    pub fn columns(&self) -> Vec<Column> {
        let text = |name: &str, value: &str| Column::text(name, vec![value.to_owned()]);
        let mut columns = vec![
            text("system", &self.system),
            text("protocol", self.protocol),
            text("policy", &self.policy),
            text("workload", self.workload),
            text("input", self.input.as_deref().unwrap_or_default()),
            Column::count("seed", vec![self.seed]),
            Column::count("cycles", vec![self.cycles]),
            Column { name: "answer_ok".to_owned(), values: Values::Flag(vec![self.answer_ok]) },
            text("error", self.error.as_deref().unwrap_or_default()),
        ];
        let machine = self.machine.0.iter();
        columns.extend(machine.map(|change| text(&format!("machine.{}", change.key), &change.value_text())));
        columns.extend(self.settings.iter().map(|(name, value)| text(&format!("settings.{name}"), value)));
        let counters = self.counters.iter();
        columns.extend(counters.map(|(name, n)| Column::count(format!("counters.{name}"), vec![*n])));
        let energy = |(part, pj): (&String, &f64)| Column {
            name: format!("energy_pj.{part}"),
            values: Values::Real(vec![*pj]),
        };
        columns.extend(self.energy_pj.iter().map(energy));
        columns
    }

    /// The energy of all parts of the machine, in picojoules.
    #[must_use]
    pub fn energy_total_pj(&self) -> f64 {
        self.energy_pj.get("total").copied().unwrap_or(0.0)
    }
}
