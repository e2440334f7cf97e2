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
    /// A digest of the source code that can affect results.
    pub code: String,
    /// The seeds. Each combination was run once with each seed.
    pub seeds: Vec<u64>,
    /// The axes along which the runs can differ.
    pub axes: Vec<StudiedAxis>,
    /// The machines. Only parameters that do not vary are listed.
    pub machines: Vec<StudiedMachine>,
    /// The scenarios of the study.
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
    /// The values of the axis are machines.
    System,
    /// The values are variants: named groups of changes.
    Variant,
    /// The values are those of one machine parameter.
    Machine,
    /// The values are workloads.
    Workload,
    /// The values are inputs of workloads.
    Input,
    /// The values are those of one setting of workloads.
    Setting,
    /// The values are scenarios.
    Scenario,
}

/// An axis of a study: one of the properties in which its runs can differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudiedAxis {
    /// The name of the axis, such as `scenario`, `l1.bytes` or `n`.
    pub name: String,
    /// The kind of the axis.
    pub kind: AxisKind,
    /// The values on the axis, in the order of the file.
    pub values: Vec<Value>,
}

/// A machine of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudiedMachine {
    /// The name of the machine.
    pub name: String,
    /// The parameters of the machine that no change of the study affects, each by its path.
    pub parameters: Vec<(String, String)>,
}

/// A scenario of a study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudiedScenario {
    /// The name of the scenario, as the file gives it.
    pub name: String,
    /// The name of the scenario's protocol.
    pub protocol: String,
    /// The policy that the scenario prescribes. Empty if it prescribes none.
    pub policy: String,
}

/// One run of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyRow {
    /// The name of the machine.
    pub system: String,
    /// The name of the variant. `None` if the study has no variants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The parameters in which the machine differs from its description.
    pub machine: Map<String, Value>,
    /// The name of the scenario.
    pub scenario: String,
    /// The name of the protocol.
    pub protocol: String,
    /// The choices of the workload's policies, joined by commas.
    pub policy: String,
    /// The name of the workload.
    pub workload: String,
    /// The name of the input. `None` if the run has no named input.
    pub input: Option<String>,
    /// Every setting of the workload.
    pub settings: BTreeMap<String, String>,
    /// The seed of the run.
    pub seed: u64,
    /// The values measured in the run.
    #[serde(flatten)]
    pub measured: Measured,
}

/// A chart of a study. An axis of the study is the chart's horizontal axis, and the values of
/// others are series. The chart has one figure for each combination of values of the remaining
/// axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chart {
    /// The title of the chart.
    pub title: String,
    /// The name of the axis of the study that the horizontal axis shows.
    pub x: String,
    /// The measured quantity, as the file gives it.
    pub y: String,
    /// The unit of the quantity.
    pub unit: String,
    /// The names of the axes of the study whose values are series.
    pub series: Vec<String>,
    /// Whether the figures have lines. Lines need numbers on the horizontal axis. Otherwise the
    /// figures have bars.
    pub is_lines: bool,
    /// Whether the horizontal axis is logarithmic.
    pub is_log: bool,
    /// The figures of the chart, one for each combination of values of the remaining axes.
    pub figures: Vec<ChartFigure>,
}

/// One figure of a chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChartFigure {
    /// The values of the axes of the study that are not in the figure. All points of the figure
    /// have these values.
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
    /// The mean over the seeds with its 95% interval. `None` if a value is missing.
    pub value: Option<Interval>,
    /// The reason why the value is missing. `None` if it is not missing.
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

/// The value as text. A text value has no quotes.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
