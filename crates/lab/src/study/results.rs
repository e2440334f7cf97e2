//! The results of a study, as data for reports. The field names are the keys of `results.json`, so
//! they must not change.

use std::collections::BTreeMap;
use std::path::PathBuf;

use proto::words::{counted, grouped};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use workloads::Workload;
use workloads::files::numbers::NumberFormat;

use crate::input::{GraphInput, NumbersInput, Opened, TableRecord};
use crate::results::{Interval, Measured};
use crate::task::InputRequest;

/// The results of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyResults {
    /// The title of the study.
    pub study: String,
    /// A digest of the source code that can affect the results.
    pub code: String,
    /// The seeds of the runs. Each combination of values was run once with each seed.
    pub seeds: Vec<u64>,
    /// The axes of the study: the properties in which the runs can differ, such as the machine or a
    /// setting.
    pub axes: Vec<StudiedAxis>,
    /// The machines of the study, each with the parameters that do not vary in the study.
    pub machines: Vec<StudiedMachine>,
    /// The scenarios of the study.
    pub scenarios: Vec<StudiedScenario>,
    /// The inputs that the study's file names. Empty in results of earlier versions of Fencepost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<StudiedInput>,
    /// The charts of the study, in the order of the study's file.
    pub charts: Vec<Chart>,
    /// The results of the runs, one row for each run.
    pub rows: Vec<StudyRow>,
}

/// The kind of an axis of a study: the property whose values are on the axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AxisKind {
    /// The values of the axis are machines.
    System,
    /// The values of the axis are variants: named groups of changes.
    Variant,
    /// The values of the axis are values of one machine parameter.
    Machine,
    /// The values of the axis are workloads.
    Workload,
    /// The values of the axis are inputs of workloads.
    Input,
    /// The values of the axis are values of one setting of workloads.
    Setting,
    /// The values of the axis are scenarios.
    Scenario,
}

/// An axis of a study: one of the properties in which its runs can differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudiedAxis {
    /// The name of the axis, such as `scenario`, `l1.bytes` or `n`.
    pub name: String,
    /// The kind of the axis.
    pub kind: AxisKind,
    /// The values on the axis, in the order of the study's file.
    pub values: Vec<Value>,
}

/// A machine of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudiedMachine {
    /// The name of the machine.
    pub name: String,
    /// The parameters of the machine that no change of the study affects: the path and the value of
    /// each.
    pub parameters: Vec<(String, String)>,
}

/// A scenario of a study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudiedScenario {
    /// The name of the scenario, as the study's file gives it.
    pub name: String,
    /// The name of the scenario's protocol.
    pub protocol: String,
    /// The policy (a variant of the program) that the scenario prescribes. Empty if it prescribes
    /// no policy.
    pub policy: String,
}

/// An input of a study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudiedInput {
    /// The name of the input, as the study's file gives it.
    pub name: String,
    /// The name of the workload that uses the input.
    pub workload: String,
    /// A description of the contents of the input, in one line.
    pub contents: String,
    /// The digest of the contents of the input files. `None` if the input does not come from files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// One run of a study, with its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyRow {
    /// The name of the machine.
    pub system: String,
    /// The name of the variant. `None` if the study has no variants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The changes of machine parameters: the path and the new value of each.
    pub machine: Map<String, Value>,
    /// The name of the scenario.
    pub scenario: String,
    /// The name of the protocol.
    pub protocol: String,
    /// The policies (variants of the program) that the run uses, joined by commas.
    pub policy: String,
    /// The name of the workload.
    pub workload: String,
    /// The name of the input. `None` if the run has no named input.
    pub input: Option<String>,
    /// Every setting of the workload, except the settings that the input replaces.
    pub settings: BTreeMap<String, String>,
    /// The seed of the run.
    pub seed: u64,
    /// The values measured in the run.
    #[serde(flatten)]
    pub measured: Measured,
}

/// A chart of a study. One axis of the study is the horizontal axis of the chart. The values of
/// some other axes are the series (lines or kinds of bars). The chart has one figure for each
/// combination of values of the remaining axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chart {
    /// The title of the chart.
    pub title: String,
    /// The name of the axis of the study that the horizontal axis shows.
    pub x: String,
    /// The measured quantity on the vertical axis: an expression, as the study's file gives it.
    pub y: String,
    /// The unit of the quantity.
    pub unit: String,
    /// The names of the axes of the study whose values are the series (lines or kinds of bars) of
    /// the chart.
    pub series: Vec<String>,
    /// Whether the figures have lines (true) or bars (false). Lines need numbers on the horizontal
    /// axis.
    pub is_lines: bool,
    /// Whether the horizontal axis is logarithmic.
    pub is_log: bool,
    /// The figures of the chart: one for each combination of values of the study's axes that are
    /// neither the horizontal axis nor series.
    pub figures: Vec<ChartFigure>,
}

/// One figure of a chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChartFigure {
    /// The values that all points of the figure have in common: for each axis of the study that is
    /// neither the horizontal axis nor a series, its name and its value.
    pub at: Map<String, Value>,
    /// The points of the figure, sorted by series and then by horizontal position.
    pub points: Vec<ChartPoint>,
}

/// A point of a line, or one bar, in a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChartPoint {
    /// The value on the horizontal axis.
    pub x: Value,
    /// The name of the series that the point belongs to.
    pub series: String,
    /// The value of the point: its mean over the seeds with its 95% confidence interval. `None` if
    /// the value of a seed is missing.
    pub value: Option<Interval>,
    /// The reason why the value is missing. `None` if the point has a value.
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

impl StudiedInput {
    /// Creates the description of an input that has been read.
    pub(super) fn of(workload: &Workload, request: &InputRequest, opened: &Opened) -> StudiedInput {
        let contents = match (request.named, &opened.graph) {
            (Some(named), _) => named.summary.to_owned(),
            (None, Some(graph)) => of_graph(graph),
            (None, None) => {
                let mut shapes: Vec<String> = Vec::new();
                for shape in opened.numbers.all().map(|input| of_numbers(input, request)) {
                    if !shapes.contains(&shape) {
                        shapes.push(shape);
                    }
                }
                shapes.join(" or ")
            }
        };
        StudiedInput {
            name: request.name.clone(),
            workload: workload.name.to_owned(),
            contents,
            digest: request.digest.clone(),
        }
    }
}

/// Describes an input graph in one line. For a file, the text has the format of the file and not
/// its path, so that the text does not depend on the working directory.
fn of_graph(input: &GraphInput) -> String {
    let origin = match input.opened.format {
        Some(format) => format.title().to_owned(),
        None => input.opened.origin.clone(),
    };
    let record = input.record();
    let size = format!("{}, {}", counted(record.vertices, "vertex"), counted(record.arcs, "arc"));
    let repairs: Vec<String> = record.repairs.iter().map(|repair| format!("; repaired: {repair}")).collect();
    format!("{origin}, {size}{}", repairs.concat())
}

/// Describes tables of numbers in one line: for each table its content, its file format and its
/// size.
fn of_numbers(input: &NumbersInput, request: &InputRequest) -> String {
    let table = |(table, path): (&TableRecord, &PathBuf)| {
        let (rows, columns) = (grouped(table.rows), grouped(table.columns));
        format!("{}: {}, {rows} by {columns}", table.content, NumberFormat::of(path).title())
    };
    input.records.iter().zip(&request.paths).map(table).collect::<Vec<_>>().join("; ")
}

/// A JSON value as text. If the value is a text, the result has no quotes.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
