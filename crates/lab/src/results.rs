//! What a reproduction measured, as data that any report can draw.
//!
//! [`Results`] has the rows (one a run), the figures made of them, and each
//! claim of the paper beside what was measured. A report renders it and
//! computes nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// All of a reproduction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// The paper's name, as `hlrc`.
    pub paper: String,
    /// Its title and venue.
    pub title: String,
    /// Which part of each input was made, as `1/16`.
    pub scale: String,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// What identifies the program that measured.
    pub code: String,
    /// The parameters of the workloads, as `sweeps`.
    pub settings: BTreeMap<String, String>,
    /// The scenarios, in the order of the experiment files.
    pub scenarios: Vec<ScenarioShown>,
    /// The inputs.
    pub inputs: Vec<InputShown>,
    /// The machines and what a variant changes of them.
    pub variants: Vec<VariantShown>,
    /// One for each run.
    pub rows: Vec<Row>,
    /// The figures, in the order of the paper.
    pub figures: Vec<Figure>,
    /// Each claim of the paper beside what was measured.
    pub claims: Vec<Scored>,
}

/// A scenario as a report names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScenarioShown {
    /// Its name.
    pub name: String,
    /// The protocol.
    pub protocol: String,
    /// How the program uses it.
    pub policy: String,
    /// One line.
    pub summary: String,
}

/// An input as a report names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputShown {
    /// Its name, as `SSSP-1`.
    pub name: String,
    /// The workload.
    pub workload: String,
    /// The graph, by name or file.
    pub graph: String,
    /// Is it a stand-in for the graph of that name?
    pub stand_in: bool,
    /// Where it is from, in a word or two.
    pub source: String,
}

/// A machine, and what is changed of it, as a report names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariantShown {
    /// Its name; `base` is the one that nothing is changed of.
    pub name: String,
    /// The machine's name.
    pub system: String,
    /// What is changed, as `l1.invalidate_cycles = 16`.
    pub changes: Vec<String>,
    /// Every parameter of the machine, as `l1.bytes` and `16384`.
    pub parameters: Vec<(String, String)>,
}

/// What a run has to its name: each differs in one of these.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RowKey {
    /// The variant's name.
    pub variant: String,
    /// The scenario's name.
    pub scenario: String,
    /// The input's name, as `SSSP-1`.
    pub input: String,
    /// The seed.
    pub seed: u64,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Which one.
    #[serde(flatten)]
    pub key: RowKey,
    /// The machine.
    pub system: String,
    /// What it measured.
    #[serde(flatten)]
    pub measured: Measured,
}

/// What a run measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// How long the program took on the simulated machine.
    pub cycles: u64,
    /// Is the answer that of the host's reference?
    pub answer_ok: bool,
    /// Why not, or why the run did not end.
    pub error: Option<String>,
    /// Every counter by its name.
    pub counters: BTreeMap<String, u64>,
    /// The energy of each part, and `total`.
    pub energy_pj: BTreeMap<String, f64>,
    /// When each kernel began and ended, in order.
    pub kernels: Vec<KernelSpan>,
}

/// When a kernel began and ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelSpan {
    /// Its name.
    pub name: String,
    /// When it was launched.
    pub from_cycle: u64,
    /// When its last write was visible to the host.
    pub until_cycle: u64,
}

/// A mean over seeds with its 95% interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// The lower end; the mean itself if there is one seed.
    pub low: f64,
    /// The upper end; the mean itself if there is one seed.
    pub high: f64,
}

/// How a figure is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// A group of bars for each input or variant, one bar a scenario.
    Bars,
    /// The same, each bar divided into parts.
    Stacks,
    /// A row for each input, a column for each part.
    Table,
}

/// A figure or a table, with all numbers in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Its name, as `fig4`.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// Which of the paper, as `Fig. 4`; empty if the paper has none.
    pub place: String,
    /// How it is drawn.
    pub shape: Shape,
    /// What its numbers are, as `speedup over baseline`.
    pub unit: String,
    /// The names of the parts of each bar, from the bottom; one for plain bars.
    pub parts: Vec<String>,
    /// The groups, from the left. Means over the inputs come last.
    pub groups: Vec<Group>,
}

/// Bars that stand together: those of an input, a variant or a mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// What they share.
    pub label: String,
    /// Is it a mean over the inputs?
    pub is_mean: bool,
    /// A bar for each scenario.
    pub bars: Vec<Bar>,
}

/// One bar, or a row of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bar {
    /// The scenario.
    pub scenario: String,
    /// One for each of the figure's parts; nothing where a run is missing, has
    /// no right answer, or what is asked for is not counted.
    pub values: Vec<Option<Interval>>,
    /// What the paper prints for each part, where it does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<Option<f64>>,
    /// The range that the paper prints for a plain bar, where it prints one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_range: Option<[f64; 2]>,
    /// Why a value is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// How a claim came out, as `claims/README.md` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// As published.
    Reproduced,
    /// The same sign, another size.
    Direction,
    /// The interval over the seeds has both values that would be reproduced and
    /// values that would be contradicted.
    Inconclusive,
    /// The other sign, or a claim that does not hold.
    Contradicted,
    /// Measured on a scaled-down input.
    Indicative,
    /// Nothing measured.
    NotRun,
}

/// A claim beside what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scored {
    /// The claim's name.
    pub id: String,
    /// `exact`, `number`, `at-least`, `at-most` or `order`.
    pub kind: String,
    /// The published figure: a number, a range of two, or the ranking in words.
    pub published: serde_json::Value,
    /// Ours: a number, or for an order what was found; nothing if nothing ran.
    pub measured: serde_json::Value,
    /// How it came out.
    pub status: Status,
    /// How the same figures would score if they were of inputs of full size; only
    /// of those that are indicative.
    #[serde(rename = "at_full_size", skip_serializing_if = "Option::is_none")]
    pub would_be: Option<Status>,
    /// Where the paper says it.
    #[serde(rename = "where")]
    pub place: String,
    /// What it says.
    pub says: String,
    /// What was computed.
    pub measure: String,
    /// The 95% interval over the seeds, of a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// The geometric mean over the inputs, where `measured` is the arithmetic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geometric: Option<f64>,
    /// The input that `measured` is of, where a claim is of each input: the worst one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst_input: Option<String>,
    /// Over how many seeds.
    pub seeds: usize,
    /// What a reader should know: why it was not run, where an order fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}
