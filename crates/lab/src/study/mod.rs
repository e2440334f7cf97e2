//! Studies. The file of a study names machines, scenarios, workloads, inputs, parameters and seeds.
//! Every combination of them is a run.
//!
//! [`Study::parse`] reads the file, looks up every name and checks every combination before
//! anything runs. [`Study::tasks`] lists the runs for [`crate::runner`]. [`Study::evaluate`] turns
//! their results into [`StudyResults`], with the charts that the file requests. `docs/studies.md`
//! is the guide for users.

mod axis;
mod chart;
mod evaluate;
mod file;
mod machines;
mod markdown;
mod programs;
mod read;
mod resolve;
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

/// A study: its runs and its charts. Every name in its file exists, and every combination is
/// possible.
#[derive(Clone, Debug)]
pub struct Study {
    /// The title of the study.
    pub title: String,
    /// The axes along which runs can vary: machines, parameters, workloads, inputs and scenarios.
    /// An axis may have only one value.
    pub axes: Vec<StudiedAxis>,
    /// The seeds. Each combination runs once with each seed.
    pub seeds: Vec<u64>,
    /// The runs. Runs that differ only in the seed are adjacent.
    pub runs: Vec<PlannedRun>,
    /// The text of the study's file.
    pub text: String,
    charts: Vec<ChartPlan>,
    machines: Vec<StudiedMachine>,
    inputs: Vec<StudiedInput>,
    scenarios: Vec<StudiedScenario>,
}

/// The index of a run's value on each axis. `None` if the axis does not apply to the run, such as a
/// setting that its workload lacks.
pub type Place = Vec<Option<usize>>;

/// A run of a study.
#[derive(Clone, Debug)]
pub struct PlannedRun {
    /// The indices of the run's values on the axes.
    pub place: Place,
    /// The task that produces the run's result.
    pub task: Task,
}

impl Study {
    /// Reads a study from a file.
    ///
    /// # Errors
    /// A file that cannot be read, and the errors of [`Study::parse`].
    pub fn load(path: &Path, systems: &Systems) -> Result<Study, Error> {
        Study::parse(path, &read_text(path)?, systems)
    }

    /// Reads a study from a text. Errors name the file by `path`. A study without a title gets the
    /// name of the file as its title.
    ///
    /// # Errors
    /// The first fault, with its line and column: a wrong key, an unknown name, a value that does
    /// not fit, or a combination that a workload or a machine refuses.
    pub fn parse(path: &Path, text: &str, systems: &Systems) -> Result<Study, Error> {
        let source = Source { path: path.to_owned(), text: text.to_owned() };
        resolve::study(&source, systems)
    }

    /// The tasks of all runs without duplicates, the largest first.
    #[must_use]
    pub fn tasks(&self) -> Vec<&Task> {
        let by_id: BTreeMap<_, _> = self.runs.iter().map(|run| (&run.task.id, &run.task)).collect();
        let mut tasks: Vec<&Task> = by_id.into_values().collect();
        tasks.sort_by_key(|task| Reverse(task.weight()));
        tasks
    }

    /// The axes that have several values, each with its index.
    pub fn varied(&self) -> impl Iterator<Item = (usize, &StudiedAxis)> {
        self.axes.iter().enumerate().filter(|(_, axis)| axis.values.len() > 1)
    }

    /// The value of a run on an axis, as text. Empty if the axis does not apply to the run.
    #[must_use]
    pub fn value(&self, run: &PlannedRun, axis: usize) -> String {
        run.place[axis].map(|at| plain(&self.axes[axis].values[at])).unwrap_or_default()
    }
}
