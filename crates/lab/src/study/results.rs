//! The results of a study, as data for reports. The field names are the keys of `results.json`, so
//! they must not change.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::results::{Interval, Measured};

/// The results of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyResults {
    /// The title of the study.
    pub study: String,
    /// A digest of the code that the results depend on.
    pub code: String,
    /// The seeds of each combination.
    pub seeds: Vec<u64>,
    /// What the runs differ in.
    pub axes: Vec<StudiedAxis>,
    /// The machines, without the parameters that vary.
    pub machines: Vec<StudiedMachine>,
    /// The scenarios.
    pub scenarios: Vec<StudiedScenario>,
    /// The charts, in the order of the file.
    pub charts: Vec<Chart>,
    /// The rows, one for each run.
    pub rows: Vec<StudyRow>,
}

/// The kind of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AxisKind {
    /// The machines.
    System,
    /// Named groups of changes.
    Variant,
    /// A parameter of the machine.
    Machine,
    /// The workloads.
    Workload,
    /// The inputs.
    Input,
    /// A setting of workloads.
    Setting,
    /// The scenarios.
    Scenario,
}

/// One of the things in which the runs of a study differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudiedAxis {
    /// The name, such as `scenario`, `l1.bytes` or `n`.
    pub name: String,
    /// The kind.
    pub kind: AxisKind,
    /// The values, in the order of the file.
    pub values: Vec<Value>,
}

/// A machine of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudiedMachine {
    /// The name of the machine.
    pub name: String,
    /// Every parameter, by its path, as the machine's description gives it.
    pub parameters: Vec<(String, String)>,
}

/// A scenario of a study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudiedScenario {
    /// The name, as the file gives it.
    pub name: String,
    /// The protocol.
    pub protocol: String,
    /// The policy that the scenario prescribes. Empty if it prescribes none.
    pub policy: String,
}

/// One run of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyRow {
    /// The name of the machine.
    pub system: String,
    /// The name of the variant, if the study has variants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The parameters in which the machine differs from its description.
    pub machine: Map<String, Value>,
    /// The name of the scenario.
    pub scenario: String,
    /// The protocol.
    pub protocol: String,
    /// The choices of the workload's policies, joined by commas.
    pub policy: String,
    /// The name of the workload.
    pub workload: String,
    /// The name of the input, if the run has one.
    pub input: Option<String>,
    /// Every setting of the workload.
    pub settings: BTreeMap<String, String>,
    /// The seed of the run.
    pub seed: u64,
    /// The values measured in the run.
    #[serde(flatten)]
    pub measured: Measured,
}

/// A chart of a study: one figure for each combination of the axes that are neither on its
/// horizontal axis nor its series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chart {
    /// The title.
    pub title: String,
    /// The axis on the horizontal axis.
    pub x: String,
    /// The measured quantity, as the file gives it.
    pub y: String,
    /// The unit of the quantity.
    pub unit: String,
    /// The axes whose values are series.
    pub series: Vec<String>,
    /// Whether the figures have lines over numbers, or bars over names.
    pub is_lines: bool,
    /// Whether equal distances on the horizontal axis are equal factors.
    pub is_log: bool,
    /// The figures.
    pub figures: Vec<ChartFigure>,
}

/// One figure of a chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChartFigure {
    /// The values of the other axes. They are the same for all points of the figure.
    pub at: Map<String, Value>,
    /// The points, sorted by series and by horizontal position.
    pub points: Vec<ChartPoint>,
}

/// A point of a line, or a bar.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChartPoint {
    /// The value on the horizontal axis.
    pub x: Value,
    /// The name of the series.
    pub series: String,
    /// The mean over the seeds with its 95% interval. `None` if it is missing.
    pub value: Option<Interval>,
    /// The reason why the value is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

impl StudyResults {
    /// Descriptions of the runs without a right answer, one text for each run.
    pub fn failures(&self) -> impl Iterator<Item = String> + '_ {
        self.rows.iter().filter(|row| !row.measured.answer_ok).map(|row| {
            let error = row.measured.error.as_deref().and_then(|error| error.lines().next());
            format!("{}: {}", row.label(), error.unwrap_or("wrong answer"))
        })
    }
}

impl StudyRow {
    fn label(&self) -> String {
        let changes: Vec<String> =
            self.machine.iter().map(|(key, value)| format!("{key}={}", plain(value))).collect();
        let with = if changes.is_empty() { String::new() } else { format!(" with {}", changes.join(" ")) };
        let input = self.input.as_ref().map(|input| format!(", input {input}")).unwrap_or_default();
        format!(
            "{}{input} on {}{with} under {}, seed {}",
            self.workload, self.system, self.scenario, self.seed
        )
    }
}

/// A value as text. A name has no quotes.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
