//! The worker: a process on a node of the cluster that runs one chunk (a group of runs) of a batch
//! (the chunks that are submitted as one array job).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::batch::{Batch, WorkerFolder, chunk_of};
use super::runs_in;
use crate::digest::TaskId;
use crate::error::Error;
use crate::results::Measured;
use crate::run::Pulse;
use crate::runner::{self, Performed};
use crate::store::{self, ResultStore, Stored, results_in};
use crate::study::Study;
use crate::systems::{Systems, read_text};
use crate::task::Task;

/// Runs those tasks of a chunk (a group of runs) that have no result, on `jobs` threads. A batch is
/// a set of chunks that is submitted as one array job. `study` is the path of the batch's copy of
/// the study. `chunk` has the form `BATCH/NUMBER`: the name of the batch and the number of the
/// chunk. Several workers may run the same chunk at the same time.
///
/// # Errors
/// If the chunk does not exist, if another version of Fencepost created the batch, or if the
/// machines or inputs of the study have changed. Also the errors of [`runner::perform_tasks`]. The
/// error is also written to a file for the coordinator.
pub fn work(
    study: &Path,
    folder: &Path,
    chunk: &str,
    jobs: usize,
    pulse: &Pulse,
) -> Result<Performed, Error> {
    let (batch, number) = chunk_of(chunk)?;
    let batch = Batch::open(folder, batch);
    let worker = batch.new_worker(number)?;
    let performed = run(study, folder, (&batch, number), &worker, (jobs, pulse));
    if let Err(error) = &performed {
        worker.fail(&error.to_string());
    }
    performed
}

fn run(
    study: &Path,
    folder: &Path,
    (batch, number): (&Batch, usize),
    worker: &WorkerFolder,
    (jobs, pulse): (usize, &Pulse),
) -> Result<Performed, Error> {
    let unknown = || Error::Impossible(format!("batch {} has no chunk {number}", batch.name));
    let file = batch.file.as_ref().ok_or_else(unknown)?;
    let chunk = file.chunks.get(number).ok_or_else(unknown)?;
    if file.code != crate::CODE {
        return Err(Error::Impossible(format!(
            "this is Fencepost {} with code {}, but the batch was submitted by {} with code {}",
            env!("CARGO_PKG_VERSION"),
            crate::CODE,
            crate::error::printable(&file.version),
            crate::error::printable(&file.code),
        )));
    }
    // Relative paths of the study begin in the folder of the user's study, and the job runs there.
    // So the study is parsed under its bare file name.
    let name = Path::new(study.file_name().unwrap_or_default());
    let study = Study::parse(name, &read_text(study)?, &Systems::default())?;
    let known: BTreeMap<&str, &Task> =
        study.tasks().into_iter().map(|task| (task.id.0.as_str(), task)).collect();
    let find = |id: &String| {
        known.get(id.as_str()).copied().ok_or_else(|| {
            Error::Impossible(
                "the study on this computer has other runs than the batch: a machine file or an input has \
                 changed since the batch was submitted, or the files differ between computers"
                    .to_owned(),
            )
        })
    };
    let tasks = chunk.iter().map(find).collect::<Result<Vec<&Task>, Error>>()?;
    let store = WorkerStore { worker, earlier: earlier(folder, batch, number, &tasks) };
    runner::perform_tasks(&tasks, &store, jobs, pulse, &|_| ())
}

/// For each task, the result files that exist when the worker starts: the files in the store, and
/// the files of earlier workers of the same chunk.
fn earlier(folder: &Path, batch: &Batch, chunk: usize, tasks: &[&Task]) -> BTreeMap<TaskId, Vec<PathBuf>> {
    let mut found = BTreeMap::<TaskId, Vec<PathBuf>>::new();
    let of_workers = batch.workers(chunk).into_iter().flat_map(|worker| worker.results());
    for (id, path) in results_in(&runs_in(folder)).into_iter().chain(of_workers) {
        if tasks.iter().any(|task| task.id == id) {
            found.entry(id).or_default().push(path);
        }
    }
    found
}

/// The store that a worker uses: it writes results into the worker's folder, and loads results that
/// existed when the worker started.
struct WorkerStore<'a> {
    worker: &'a WorkerFolder,
    earlier: BTreeMap<TaskId, Vec<PathBuf>>,
}

impl ResultStore for WorkerStore<'_> {
    /// Loads a result of the task that existed when the worker started. If the coordinator moves
    /// the file at the same time, no result is found, and the task runs again with the same result.
    fn load(&self, task: &Task) -> Stored {
        match self.earlier.get(&task.id).map(|paths| store::load(paths, task)) {
            Some(found @ Stored::Result(_)) => found,
            _ => Stored::Nothing,
        }
    }

    fn begin(&self, task: &Task) -> Result<(), Error> {
        self.worker.begin(task)
    }

    fn save(&self, task: &Task, measured: &Measured, is_misfit: bool) -> Result<(), Error> {
        store::write_result(&self.worker.folder_for(is_misfit)?, task, measured).map(drop)
    }
}
