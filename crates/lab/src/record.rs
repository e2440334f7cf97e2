//! What a run leaves behind, as data and as JSON.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::input::GraphRecord;
use crate::table::{Column, Values};

/// The result of one run. Its keys are an interface: they stay, and more may
/// be added.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Record {
    /// The machine.
    pub system: String,
    /// The protocol.
    pub protocol: &'static str,
    /// The choices of the workload's policies, joined by commas.
    pub policy: String,
    /// The workload.
    pub workload: &'static str,
    /// The workload's input, where it has several.
    pub input: Option<String>,
    /// What its graph is, where the input is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graph: Option<GraphRecord>,
    /// The settings of the workload.
    pub settings: BTreeMap<&'static str, String>,
    /// The seed.
    pub seed: u64,
    /// How long the program took on the simulated machine.
    pub cycles: u64,
    /// Is the answer that of the host's reference?
    pub answer_ok: bool,
    /// Why not, or why the run did not end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Did the program end itself because its settings do not fit the input or the
    /// machine? The question is wrong then, not the machine.
    #[serde(skip)]
    pub misfit: bool,
    /// How long the run took on the host. Zero unless the caller measures it:
    /// the one value that differs from run to run.
    pub wall_seconds: f64,
    /// How many events the simulation took.
    pub events: u64,
    /// Every counter by its name. They add up.
    pub counters: BTreeMap<String, u64>,
    /// The energy of each part, and `total`.
    pub energy_pj: BTreeMap<String, f64>,
    /// The kernels in the order in which they ran.
    pub kernels: Vec<KernelRecord>,
}

/// One kernel of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KernelRecord {
    /// Its name.
    pub name: String,
    /// When it was launched.
    pub from_cycle: u64,
    /// When its last write was visible to the host.
    pub until_cycle: u64,
}

impl Record {
    /// The bytes that crossed the network.
    #[must_use]
    pub fn traffic_bytes(&self) -> u64 {
        self.counters.get("noc_bytes_sent").copied().unwrap_or(0)
    }

    /// A table of one row: who ran, what came out, and every setting, counter
    /// and energy under its name.
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

    /// The energy of all parts.
    #[must_use]
    pub fn energy_total_pj(&self) -> f64 {
        self.energy_pj.get("total").copied().unwrap_or(0.0)
    }
}
