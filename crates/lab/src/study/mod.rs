//! Studies. The file of a study names machines, scenarios, workloads, inputs, parameters and seeds.
//! Every combination of them is a run.
//!
//! [`Study::parse`] reads the file, looks up every name and checks every combination before
//! anything runs. [`Study::tasks`] lists the runs for [`crate::runner`]. From the results of the
//! runs, [`Study::evaluate`] computes [`StudyResults`], with the charts that the file requests.
//! `docs/studies.md` is the guide for users.

mod axis;
mod chart;
mod evaluate;
mod file;
mod machines;
mod markdown;
mod programs;
mod read;
mod resolve;
mod resolver;
mod results;
mod table;

pub use markdown::study_report;
pub(crate) use results::plain;
pub use results::{
    AxisKind, Chart, ChartFigure, ChartPoint, StudiedAxis, StudiedInput, StudiedMachine, StudiedScenario,
    StudyResults, StudyRow,
};
pub use table::columns;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use crate::error::Error;
use crate::source::Source;
use crate::systems::{Systems, read_text};
use crate::task::Task;
use chart::ChartPlan;

/// The maximum number of runs of a study.
pub const RUNS_MAX: usize = 50_000;

/// A study: its runs and its charts. Every name in its file has been found, and every combination
/// of values can be run.
#[derive(Clone, Debug)]
pub struct Study {
    /// The title of the study.
    pub title: String,
    /// The axes of the study: the properties in which its runs can differ, such as the machine, a
    /// parameter, the workload, the input or the scenario. An axis may have a single value.
    pub axes: Vec<StudiedAxis>,
    /// The seeds of the runs. Each combination of values runs once with each seed.
    pub seeds: Vec<u64>,
    /// The runs of the study. Runs that differ only in the seed are next to each other.
    pub runs: Vec<PlannedRun>,
    /// The text of the study's file.
    pub text: String,
    charts: Vec<ChartPlan>,
    machines: Vec<StudiedMachine>,
    inputs: Vec<StudiedInput>,
    scenarios: Vec<StudiedScenario>,
}

/// For each axis of the study, the index of the run's value in the list of the axis values. `None`
/// if the axis does not apply to the run, for example if the axis is a setting that the run's
/// workload does not have.
pub type Place = Vec<Option<usize>>;

/// A run of a study, with its values on the axes of the study.
#[derive(Clone, Debug)]
pub struct PlannedRun {
    /// The indices of the run's values on the axes of the study.
    pub place: Place,
    /// The task that produces the run's result.
    pub task: Task,
}

impl Study {
    /// Reads a study from a file.
    ///
    /// # Errors
    /// If the file cannot be read. Also the errors of [`Study::parse`].
    pub fn load(path: &Path, systems: &Systems) -> Result<Study, Error> {
        Study::parse(path, &read_text(path)?, systems)
    }

    /// Reads a study from a text. Errors name the file by `path`. A study without a title gets the
    /// name of the file as its title.
    ///
    /// # Errors
    /// If the text has a fault: a wrong key, an unknown name, a value that is not allowed, or a
    /// combination that a workload or a machine refuses. The error describes the first fault, with
    /// its line and column.
    pub fn parse(path: &Path, text: &str, systems: &Systems) -> Result<Study, Error> {
        let source = Source { path: path.to_owned(), text: text.to_owned() };
        resolve::study(&source, systems)
    }

    /// The tasks of all runs, each only once, the largest first. A task is a run with everything
    /// that determines its result.
    #[must_use]
    pub fn tasks(&self) -> Vec<&Task> {
        let by_id: BTreeMap<_, _> = self.runs.iter().map(|run| (&run.task.id, &run.task)).collect();
        let mut tasks: Vec<&Task> = by_id.into_values().collect();
        tasks.sort_by_key(|task| Reverse(task.weight()));
        tasks
    }

    /// The axes of the study that have several values, each with the index of the axis.
    pub fn varied(&self) -> impl Iterator<Item = (usize, &StudiedAxis)> {
        self.axes.iter().enumerate().filter(|(_, axis)| axis.values.len() > 1)
    }

    /// The value of a run on an axis of the study, as text. Empty if the axis does not apply to the
    /// run.
    #[must_use]
    pub fn value(&self, run: &PlannedRun, axis: usize) -> String {
        run.place[axis].map(|at| plain(&self.axes[axis].values[at])).unwrap_or_default()
    }
}
