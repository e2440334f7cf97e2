//! A batch: chunks (groups of runs) that the coordinator submits to Slurm together, as one array
//! job.
//!
//! Its folder `slurm/NAME` has these files:
//!
//! | file | writer | contents |
//! |---|---|---|
//! | `batch.json` | coordinator | the version and the chunks, each with the names of its tasks |
//! | `study.toml` | coordinator | the study; an edit of the user's file does not change a waiting job |
//! | `job.sh` | coordinator | the script of the array job |
//! | `job` | coordinator | the number of the job, once it is known |
//! | `CHUNK.log` | Slurm | the output of the chunk's job |
//! | `CHUNK/N/` | worker N | the results of a worker, and `ID.begun` for each task that it began |
//! | `CHUNK/N/error` | worker N | the error that ended the worker |

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::batches_in;
use crate::digest::{self, TaskId};
use crate::error::{Error, printable};
use crate::store::{self, results_in, unwritable};
use crate::task::Task;

const FILE: &str = "batch.json";
pub(super) const STUDY: &str = "study.toml";
pub(super) const SCRIPT: &str = "job.sh";
const JOB: &str = "job";
const ERROR: &str = "error";
const BEGUN: &str = ".begun";
/// The name of the folder for results of runs that failed because their settings do not fit the
/// input or the machine. Such results are reported but not kept in the store.
const MISFITS: &str = "misfits";
/// The end of the name of a batch's folder while the folder is still being written.
const UNFINISHED: &str = ".unfinished";
/// The number of letters of a digest in the name of a batch.
const DIGEST_LETTERS: usize = 8;
/// The maximum number of workers of one chunk (the runs of one job). A worker is a process that
/// runs the chunk. Each time Slurm starts the chunk's job, a new worker begins.
const WORKERS_MAX: usize = 10_000;

/// The contents of the file `batch.json`, which describes a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BatchFile {
    /// The version of Fencepost that created the batch.
    pub(super) version: String,
    /// The digest of the code that the results depend on, when the batch was created.
    pub(super) code: String,
    /// The path of the folder of results. The digest in the name of a batch includes this path. So
    /// batches of different folders have different names.
    folder: PathBuf,
    /// The names of the tasks of each chunk (the runs of one job), in the order in which they run.
    pub(super) chunks: Vec<Vec<String>>,
}

/// A batch (chunks of runs that are submitted as one array job), with the data from its folder.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    /// The name of the batch. The name of the batch's job at Slurm contains this name.
    pub(super) name: String,
    pub(super) folder: PathBuf,
    /// The contents of `batch.json`. `None` if the file cannot be read.
    pub(super) file: Option<BatchFile>,
    /// The number of the batch's job at Slurm. `None` if the job is not submitted yet, or if the
    /// coordinator was killed before it stored the number.
    pub(super) job: Option<String>,
}

/// The folder into which one worker writes.
#[derive(Clone, Debug)]
pub(super) struct WorkerFolder(pub(super) PathBuf);

impl Batch {
    /// Creates a batch and writes its folder. The function `script` makes the text of the job's
    /// script from the path of the study and the name of the batch.
    pub(super) fn create(
        out: &Path,
        study: &str,
        chunks: &[Vec<&Task>],
        script: impl FnOnce(&Path, &str) -> String,
    ) -> Result<Batch, Error> {
        let above = batches_in(out);
        let refuse = |error: io::Error| unwritable(&above, &error);
        let file = BatchFile {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            code: crate::CODE.to_owned(),
            folder: out.to_owned(),
            chunks: chunks.iter().map(|chunk| chunk.iter().map(|task| task.id.0.clone()).collect()).collect(),
        };
        let text = serde_json::to_string_pretty(&file).map_err(|error| refuse(error.into()))?;
        let numbers = Batch::all(out).into_iter().filter_map(|batch| number(&batch.name));
        let number = numbers.max().unwrap_or(0) + 1;
        let name = format!("{number}-{}", &digest::of(text.as_bytes())[..DIGEST_LETTERS]);
        let folder = above.join(&name);
        let unfinished = above.join(format!(".{name}{UNFINISHED}"));
        let write = || -> io::Result<()> {
            fs::create_dir_all(&unfinished)?;
            fs::write(unfinished.join(FILE), &text)?;
            fs::write(unfinished.join(STUDY), study)?;
            fs::write(unfinished.join(SCRIPT), script(&folder.join(STUDY), &name))?;
            // Creates a folder for each chunk. The workers of the chunk create their own folders in
            // it.
            (0..chunks.len()).try_for_each(|chunk| fs::create_dir(unfinished.join(chunk.to_string())))?;
            fs::rename(&unfinished, &folder)
        };
        write().map_err(refuse)?;
        Ok(Batch { name, folder, file: Some(file), job: None })
    }

    /// Reads the batch with this name from its folder. `out` is the folder of results.
    pub(super) fn open(out: &Path, name: &str) -> Batch {
        let folder = batches_in(out).join(name);
        let file = fs::read(folder.join(FILE)).ok();
        let file = file.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let job = fs::read_to_string(folder.join(JOB)).ok();
        Batch { name: name.to_owned(), folder, file, job }
    }

    /// The batches in the folder of results `out`, the oldest first.
    pub(super) fn all(out: &Path) -> Vec<Batch> {
        let entries = fs::read_dir(batches_in(out)).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| number(name).is_some()).collect();
        names.sort_by_key(|name| (number(name), name.clone()));
        names.iter().map(|name| Batch::open(out, name)).collect()
    }

    /// Removes the incomplete folders of batches, which remain if a coordinator is killed while it
    /// writes them.
    pub(super) fn remove_unfinished(out: &Path) {
        for entry in fs::read_dir(batches_in(out)).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().ends_with(UNFINISHED) {
                fs::remove_dir_all(entry.path()).ok();
            }
        }
    }

    /// Stores the number of the batch's job in the batch's folder.
    pub(super) fn submitted(&mut self, job: String) -> Result<(), Error> {
        store::put(&self.folder, JOB, job.as_bytes()).map_err(|error| unwritable(&self.folder, &error))?;
        self.job = Some(job);
        Ok(())
    }

    /// Removes the folder of the batch. A worker of the batch that is still running then ends with
    /// an error.
    pub(super) fn remove(&self) {
        fs::remove_dir_all(&self.folder).ok();
    }

    /// The path of the log file that Slurm writes for the job of a chunk (a group of runs).
    pub(super) fn log(&self, chunk: usize) -> PathBuf {
        self.folder.join(format!("{chunk}.log"))
    }

    /// The folders of the workers (processes) that have run a chunk (a group of runs), the oldest
    /// first.
    pub(super) fn workers(&self, chunk: usize) -> Vec<WorkerFolder> {
        let entries = fs::read_dir(self.folder.join(chunk.to_string())).into_iter().flatten().flatten();
        let mut numbers: Vec<usize> =
            entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        numbers.sort_unstable();
        numbers.iter().map(|number| self.worker(chunk, *number)).collect()
    }

    fn worker(&self, chunk: usize, number: usize) -> WorkerFolder {
        WorkerFolder(self.folder.join(chunk.to_string()).join(number.to_string()))
    }

    /// Creates a folder for a new worker (a process that runs a chunk of the batch). Two workers
    /// never get the same folder, because file systems create a folder atomically: only one of two
    /// attempts succeeds.
    pub(super) fn new_worker(&self, chunk: usize) -> Result<WorkerFolder, Error> {
        let first = self.workers(chunk).len();
        for number in first..first + WORKERS_MAX {
            let WorkerFolder(folder) = self.worker(chunk, number);
            match fs::create_dir(&folder) {
                Ok(()) => return Ok(WorkerFolder(folder)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(unwritable(&folder, &error)),
            }
        }
        Err(unwritable(&self.folder, &format!("chunk {chunk} was started {WORKERS_MAX} times")))
    }
}

impl WorkerFolder {
    /// The folder for results of runs that failed because their settings do not fit the input or
    /// the machine. These results are reported but not kept in the store.
    fn misfits(&self) -> PathBuf {
        self.0.join(MISFITS)
    }

    /// The result files in the worker's folder, each with the name of its task.
    pub(super) fn results(&self) -> Vec<(TaskId, PathBuf)> {
        results_in(&self.0)
    }

    /// The result files of runs that failed because their settings do not fit the input or the
    /// machine, each with the name of its task.
    pub(super) fn misfit_results(&self) -> Vec<(TaskId, PathBuf)> {
        results_in(&self.misfits())
    }

    /// Records in the worker's folder that a task begins.
    pub(super) fn begin(&self, task: &Task) -> Result<(), Error> {
        let path = self.0.join(format!("{}{BEGUN}", task.id.0));
        fs::write(path, "").map_err(|error| unwritable(&self.0, &error))
    }

    /// The tasks that the worker has begun.
    pub(super) fn begun(&self) -> Vec<TaskId> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter_map(|name| name.strip_suffix(BEGUN).map(|id| TaskId(id.to_owned()))).collect()
    }

    /// The folder into which the worker writes a result. `is_misfit` is true if the run failed
    /// because its settings do not fit the input or the machine.
    pub(super) fn folder_for(&self, is_misfit: bool) -> Result<PathBuf, Error> {
        if !is_misfit {
            return Ok(self.0.clone());
        }
        let folder = self.misfits();
        fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, &error))?;
        Ok(folder)
    }

    /// Stores the error that ends the worker, so that the coordinator can read it.
    pub(super) fn fail(&self, error: &str) {
        // If the file cannot be written, the error is still in the log of the job.
        store::put(&self.0, ERROR, error.as_bytes()).ok();
    }

    /// The error that ended the worker. `None` if the worker has stored no error.
    pub(super) fn error(&self) -> Option<String> {
        fs::read_to_string(self.0.join(ERROR)).ok()
    }
}

/// The number at the beginning of a batch's name. `None` if the text is not the name of a batch.
fn number(name: &str) -> Option<u64> {
    let (number, digest) = name.split_once('-')?;
    let is_digest = digest.len() == DIGEST_LETTERS && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    number.parse().ok().filter(|_| is_digest)
}

/// Splits a text of the form `BATCH/CHUNK` into the name of a batch and the number of a chunk. A
/// worker gets such a text as the name of the chunk to run.
pub(super) fn chunk_of(text: &str) -> Result<(&str, usize), Error> {
    let parts = text.split_once('/').filter(|(batch, _)| number(batch).is_some());
    let parts = parts.and_then(|(batch, chunk)| Some((batch, chunk.parse().ok()?)));
    parts.ok_or_else(|| {
        Error::Impossible(format!("found the chunk `{}`, expected BATCH/NUMBER", printable(text)))
    })
}
