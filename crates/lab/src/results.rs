//! The measurements of a reproduction, as data for reports.
//!
//! [`Results`] has the rows (one for each run), the figures computed from them, and each claim of
//! the paper together with its measurement. A report renders the results and computes nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The results of a reproduction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// The name of the paper, such as `hlrc`.
    pub paper: String,
    /// The title of the paper and its venue.
    pub title: String,
    /// The scale of the inputs, such as `1/16`.
    pub scale: String,
    /// The seeds of the runs.
    pub seeds: Vec<u64>,
    /// A digest of the code that the results depend on.
    pub code: String,
    /// The parameters of the workloads, such as `sweeps`.
    pub settings: BTreeMap<String, String>,
    /// The scenarios, in the order of the experiment files.
    pub scenarios: Vec<ScenarioDescription>,
    /// The inputs of the runs, with their descriptions.
    pub inputs: Vec<InputDescription>,
    /// The variants of machines: each is a machine with named changes.
    pub variants: Vec<VariantDescription>,
    /// The results of the runs, one row for each run.
    pub rows: Vec<Row>,
    /// The figures computed from the runs, in the order in which the paper has them.
    pub figures: Vec<Figure>,
    /// The claims of the paper, each with its measurement.
    pub claims: Vec<Scored>,
}

/// The description of a scenario for a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScenarioDescription {
    /// The name of the scenario.
    pub name: String,
    /// The name of the protocol.
    pub protocol: String,
    /// The name of the policy (a variant of the program that users can choose).
    pub policy: String,
    /// The meaning of the policy, in one line.
    pub summary: String,
}

/// The description of an input for a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputDescription {
    /// The name of the input, such as `SSSP-1`.
    pub name: String,
    /// The name of the workload.
    pub workload: String,
    /// The name or the file of the input's graph.
    pub graph: String,
    /// Whether the input is a stand-in: a generated graph that replaces the original graph.
    pub stand_in: bool,
    /// The source of the input, in one or two words.
    pub source: String,
}

/// The description of a variant of a machine for a report: the machine, and the changes to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariantDescription {
    /// The name of the variant of the machine. `base` is the variant without changes.
    pub name: String,
    /// The name of the machine.
    pub system: String,
    /// The changes of the machine's parameters, such as `l1.invalidate_cycles = 16`.
    pub changes: Vec<String>,
    /// Whether the machine ignores acquires. Wrong answers are then expected, and runs with wrong
    /// answers still count as results.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub is_unsound: bool,
    /// Every parameter of the machine, such as `l1.bytes` and `16384`.
    pub parameters: Vec<(String, String)>,
}

/// The key of a run. No two runs have the same key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RowKey {
    /// The name of the variant of the machine.
    pub variant: String,
    /// The name of the scenario.
    pub scenario: String,
    /// The name of the input, such as `SSSP-1`.
    pub input: String,
    /// The seed of the run.
    pub seed: u64,
}

/// The results of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The key that identifies the run: variant, scenario, input and seed.
    #[serde(flatten)]
    pub key: RowKey,
    /// The name of the machine.
    pub system: String,
    /// The values measured in the run.
    #[serde(flatten)]
    pub measured: Measured,
}

/// The measurement of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The duration of the program on the simulated machine, in cycles.
    pub cycles: u64,
    /// Whether the answer of the program is right: it equals the answer that a reference program
    /// computes without the simulated machine.
    pub answer_ok: bool,
    /// The reason why the answer is wrong, or why the run did not end. `None` if the answer is
    /// right.
    pub error: Option<String>,
    /// The value of each counter, by the name of the counter.
    pub counters: BTreeMap<String, u64>,
    /// The energy of each part of the machine in picojoules, by the name of the part. The entry
    /// `total` is the sum of all parts.
    pub energy_pj: BTreeMap<String, f64>,
    /// For each kernel, in the order of execution, its name, its first cycle and its last cycle.
    pub kernels: Vec<KernelSpan>,
}

/// The beginning of [`Measured::error`] for a run that could not execute, because its settings do
/// not fit the machine or the input.
const MISFIT: &str = "does not fit: ";

impl Measured {
    /// Creates the result of a run that cannot execute, because its settings do not fit the machine
    /// or the input. For example, no compute unit can hold a work-group. `why` is the reason.
    pub(crate) fn misfit(why: &str) -> Measured {
        Measured { error: Some(format!("{MISFIT}{why}")), ..Measured::default() }
    }

    /// Returns true if the program of the run ended, with a right or a wrong answer.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        !self.counters.is_empty()
    }

    /// Returns true if the run could not execute, because its settings do not fit the machine or
    /// the input.
    #[must_use]
    pub fn is_misfit(&self) -> bool {
        !self.answer_ok && self.error.as_deref().is_some_and(|error| error.starts_with(MISFIT))
    }
}

/// The first and the last cycle of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelSpan {
    /// The name of the kernel.
    pub name: String,
    /// The cycle in which the kernel was launched.
    pub from_cycle: u64,
    /// The cycle in which the kernel's last write was visible to the host.
    pub until_cycle: u64,
}

/// A mean over seeds with its 95% confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The mean of the values.
    pub mean: f64,
    /// The lower end of the confidence interval. With one seed it equals the mean.
    pub low: f64,
    /// The upper end of the confidence interval. With one seed it equals the mean.
    pub high: f64,
}

/// The shape of a figure: bars, divided bars, or a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// A group of bars for each input or variant, one bar for each scenario.
    Bars,
    /// A group of bars for each input or variant, one bar for each scenario, with each bar divided
    /// into parts.
    Stacks,
    /// A table with a row for each input and a column for each part.
    Table,
}

/// A figure or a table of a reproduction, with all numbers that it shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The name of the figure, such as `fig4`.
    pub id: String,
    /// The title of the figure.
    pub title: String,
    /// The number of the figure in the paper, such as `Fig. 4`. Empty if the paper has no such
    /// figure.
    pub place: String,
    /// The shape of the figure.
    pub shape: Shape,
    /// The unit of the figure's numbers, such as `speedup over baseline`.
    pub unit: String,
    /// The names of the parts of each bar, from the bottom to the top. Bars that are not divided
    /// have one part.
    pub parts: Vec<String>,
    /// The groups of bars, from left to right. The groups of means over the inputs are last.
    pub groups: Vec<Group>,
}

/// A group of bars: the bars of one input, of one variant of the machine, or of one mean over the
/// inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// The name of the input, variant or mean that the group shows.
    pub label: String,
    /// Whether the group of bars is a mean over the inputs.
    pub is_mean: bool,
    /// The bars of the group, one for each scenario.
    pub bars: Vec<Bar>,
}

/// One bar of a figure, or one row of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bar {
    /// The name of the scenario.
    pub scenario: String,
    /// The value of each part of the bar. `None` if a run is missing or has no right answer, or if
    /// no run has a counter for the quantity that the part shows.
    pub values: Vec<Option<Interval>>,
    /// The value of each part of the bar in the paper. `None` if the paper publishes no value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<Option<f64>>,
    /// The lowest and the highest value that the paper publishes for a bar that is not divided.
    /// `None` if the paper publishes no range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_range: Option<[f64; 2]>,
    /// The reason why a value of the bar is missing. `None` if no value is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// The result of comparing a claim of a paper with a measurement. The file `claims/README.md`
/// defines the statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The measurement agrees with the paper.
    Reproduced,
    /// The measured change has the sign of the published change, but not its size.
    Direction,
    /// The confidence interval of the measurement over the seeds contains both values that would
    /// reproduce the claim and values that would contradict it.
    Inconclusive,
    /// The measured change and the published change have opposite signs, or the statement of the
    /// claim does not hold.
    Contradicted,
    /// The inputs were scaled down, so the measurement does not decide the claim.
    Indicative,
    /// The claim was not measured.
    NotRun,
}

/// A claim of the paper, with its measurement and its status.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scored {
    /// The name of the claim.
    pub id: String,
    /// The kind of the claim: `exact`, `number`, `at-least`, `at-most` or `order`.
    pub kind: String,
    /// The value of the claim in the paper: a number, a range as an array of two numbers, or, for a
    /// claim about an order, its statement as a text.
    pub published: serde_json::Value,
    /// The measured value of the claim. It is usually a number. For a claim about an order, it is
    /// an array with an object for each comparison. For a claim about litmus tests, it is an array
    /// with an object for each test. Null if nothing was measured.
    pub measured: serde_json::Value,
    /// The status of the claim.
    pub status: Status,
    /// The status that the claim would have if the same values were measured with inputs of full
    /// size. `None` unless the status is `Indicative`.
    #[serde(rename = "at_full_size", skip_serializing_if = "Option::is_none")]
    pub would_be: Option<Status>,
    /// The place of the claim in the paper, such as a section or a figure.
    #[serde(rename = "where")]
    pub place: String,
    /// The text of the claim.
    pub says: String,
    /// The expression that was measured, or the comparisons (joined by `and`) that were checked, as
    /// the experiment file writes them.
    pub measure: String,
    /// The 95% confidence interval of the measured number over the seeds: its lower and upper end.
    /// `None` if no interval was computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// The geometric mean over the inputs, if `measured` is the arithmetic mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geometric: Option<f64>,
    /// The input with the worst status, if the claim must hold for each input. The field `measured`
    /// then has the value of this input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst_input: Option<String>,
    /// The names of the inputs of the measured value that are stand-ins: generated graphs that
    /// replace the original graphs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stand_ins: Vec<String>,
    /// The number of seeds over which the measured value is a mean.
    pub seeds: usize,
    /// A note for the reader: the reason why the claim was not measured, the comparisons that do
    /// not hold, or the rule by which the status was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The status of the claim on each variant of the paper's machine or programs for which the
    /// reproduction has the runs. It is the status that the same measured values would have with
    /// inputs of full size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<VariantStatus>,
}

/// The status of a claim on a variant of the machine or of the programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariantStatus {
    /// The name of the variant.
    pub variant: String,
    /// The status of the claim if this variant takes the place of the machine of the paper.
    pub status: Status,
}
