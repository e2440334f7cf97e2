//! The coordinator: submits chunks (groups of runs for one job), watches their jobs, and collects
//! their results.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use super::batch::Batch;
use super::chunks::{Cost, divide};
use super::commands::{Commands, Queued, check_options};
use super::expected::Expected;
use super::{adopt, batches_in, finish};
use crate::digest::TaskId;
use crate::error::Error;
use crate::runner::{Performed, Progress};
use crate::store::{Store, Stored};
use crate::task::Task;

/// The coordinator looks for results this many times as often as it looks at the queue.
pub(super) const LOOKS: u32 = 5;

/// The coordinator returns an error after this number of successive failures to read the queue of
/// Slurm.
const SILENCE_MAX: usize = 60;

/// A cluster, and the options for running the tasks of a study on it.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// The folder of results, as an absolute path that the nodes of the cluster see.
    pub folder: PathBuf,
    /// The working folder of a worker. Relative paths in the study start from this folder.
    pub working_folder: PathBuf,
    /// The path of the program that a worker executes. The program has the command `sweep`.
    pub program: PathBuf,
    /// The text of the study.
    pub study: String,
    /// The number of runs that a job executes at the same time. `None` if the user gives no number.
    pub jobs: Option<NonZeroUsize>,
    /// The number of chunks into which the runs are divided. `None` if the user gives no number.
    pub chunks: Option<usize>,
    /// The time between two looks at the queue of Slurm.
    pub poll: Duration,
    /// The user's options for `sbatch`.
    pub options: Vec<String>,
}

/// The state of the runs on a cluster, as the coordinator reports it to the user.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// The progress of the runs.
    pub progress: Progress,
    /// The numbers of the array jobs that have not ended.
    pub jobs: Vec<String>,
    /// The number of chunks (groups of runs) whose job has started and not ended.
    pub running: usize,
    /// The number of chunks (groups of runs) whose job waits in the queue.
    pub waiting: usize,
    /// Events since the coordinator last reported a status to the user, as sentences for the user.
    pub news: Vec<String>,
}

/// Runs the tasks that have no stored result, on a cluster. All tasks must be different. The
/// function `report` is called with the status each time the status has changed.
///
/// # Errors
/// If Slurm is missing or refuses the jobs, if a run cannot be executed, if several jobs that
/// should execute a run ended without its result, or if results cannot be stored. Results that are
/// already stored remain, and submitted jobs continue.
pub fn perform(
    tasks: &[&Task],
    store: &Store,
    cluster: &Cluster,
    report: &mut dyn FnMut(&Status),
) -> Result<Performed, Error> {
    check_options(&cluster.options)?;
    for path in [&cluster.folder, &cluster.working_folder, &cluster.program] {
        if path.to_str().is_none_or(|text| text.contains(char::is_control)) {
            let message = format!("the path {} has characters that a job cannot receive", path.display());
            return Err(Error::Impossible(message));
        }
    }
    let mut watch = Watch::new(tasks, store, cluster, report);
    watch.resume()?;
    while !watch.missing.is_empty() {
        watch.submit()?;
        watch.look()?;
        if !watch.missing.is_empty() {
            sleep(cluster.poll / LOOKS);
        }
    }
    if !finish(&cluster.folder, cluster.poll / LOOKS) {
        let rest = batches_in(&cluster.folder);
        watch.status.news.push(format!(
            "the folder {} cannot be removed; the next sweep removes this folder",
            rest.display()
        ));
    }
    watch.report_status();
    watch.performed.ran = tasks.len() - watch.performed.found;
    Ok(watch.performed)
}

/// A chunk (a group of runs for one job) whose job was submitted.
pub(super) struct Chunk {
    /// The tasks in the chunk, without the tasks whose results have arrived.
    pub(super) tasks: BTreeSet<TaskId>,
    pub(super) state: ChunkState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChunkState {
    Waiting,
    Running,
    /// The job of the chunk is absent from the queue. The number counts the successive looks at the
    /// queue that did not find the job.
    Gone(usize),
    /// The job of the chunk has ended. If tasks of the chunk still have no result, they are
    /// submitted again.
    Closed,
}

impl Chunk {
    fn is_open(&self) -> bool {
        self.state != ChunkState::Closed
    }

    fn goes_on(&self) -> bool {
        matches!(self.state, ChunkState::Waiting | ChunkState::Running)
    }
}

pub(super) struct Watch<'a> {
    store: &'a Store,
    pub(super) cluster: &'a Cluster,
    report: &'a mut dyn FnMut(&Status),
    /// The tasks whose results are still missing.
    pub(super) missing: BTreeMap<TaskId, &'a Task>,
    /// For each task, the number of jobs that ended without the task's result, possibly because of
    /// this task.
    pub(super) deaths: BTreeMap<TaskId, usize>,
    /// The tasks that were running when their job ended without their results. Each such task gets
    /// a chunk (and so a job) of its own, because the task may have caused the end of the job.
    pub(super) suspects: BTreeSet<TaskId>,
    /// The submitted batches, each with its chunks. A batch is a set of chunks that is submitted as
    /// one array job. A chunk is a group of runs for one job.
    pub(super) batches: Vec<(Batch, Vec<Chunk>)>,
    expected: Expected,
    performed: Performed,
    array_max: Option<usize>,
    looks: u32,
    silence: usize,
    pub(super) status: Status,
}

impl<'a> Watch<'a> {
    fn new(
        tasks: &[&'a Task],
        store: &'a Store,
        cluster: &'a Cluster,
        report: &'a mut dyn FnMut(&Status),
    ) -> Watch<'a> {
        let missing = tasks.iter().map(|task| (task.id.clone(), *task)).collect();
        let progress = Progress {
            done: 0,
            tasks: tasks.len(),
            weight_run: 0,
            weight_left: tasks.iter().map(|task| task.weight()).sum(),
        };
        Watch {
            store,
            cluster,
            report,
            missing,
            deaths: BTreeMap::new(),
            suspects: BTreeSet::new(),
            batches: Vec::new(),
            expected: Expected::default(),
            performed: Performed::default(),
            array_max: None,
            looks: 0,
            silence: 0,
            status: Status { progress, ..Status::default() },
        }
    }

    fn report_status(&mut self) {
        let open = || self.batches.iter().flat_map(|(_, chunks)| chunks);
        self.status.running = open().filter(|chunk| chunk.state == ChunkState::Running).count();
        self.status.waiting = open().filter(|chunk| chunk.state == ChunkState::Waiting).count();
        let jobs = self.batches.iter().filter(|(_, chunks)| chunks.iter().any(Chunk::goes_on));
        self.status.jobs = jobs.filter_map(|(batch, _)| batch.job.clone()).collect();
        (self.report)(&self.status);
        self.status.news.clear();
    }

    /// Continues the work of an earlier coordinator: collects its results, and begins to watch its
    /// jobs that still wait or run.
    fn resume(&mut self) -> Result<(), Error> {
        let folder = &self.cluster.folder;
        Batch::remove_unfinished(folder);
        adopt(folder, self.store)?;
        for task in self.missing.values().copied().collect::<Vec<_>>() {
            match self.store.load(task) {
                Stored::Result(measured) => {
                    self.expected.learn(task, &measured);
                    self.missing.remove(&task.id);
                    self.status.progress.weight_left -= task.weight();
                    self.performed.results.insert(task.id.clone(), *measured);
                }
                Stored::Damaged(notice) => self.performed.notices.push(notice),
                Stored::Nothing => {}
            }
        }
        self.performed.found = self.performed.results.len();
        self.status.progress.done = self.performed.found;
        let batches = Batch::all(folder);
        if !self.missing.is_empty() && !batches.is_empty() {
            let queue = Commands.queue(batches.iter().map(|batch| batch.name.as_str()))?;
            batches.into_iter().try_for_each(|batch| self.resume_batch(batch, &queue))?;
        }
        self.report_status();
        Ok(())
    }

    fn resume_batch(&mut self, mut batch: Batch, queue: &[Queued]) -> Result<(), Error> {
        let of_batch: Vec<&Queued> = queue.iter().filter(|queued| queued.batch == batch.name).collect();
        let (Some(first), Some(file)) = (of_batch.first(), &batch.file) else {
            batch.remove();
            return Ok(());
        };
        let chunks = file.chunks.iter().enumerate().map(|(at, ids)| {
            let ids = ids.iter().map(|id| TaskId(id.clone()));
            let queued = of_batch.iter().find(|queued| queued.chunk == Some(at));
            Chunk {
                tasks: ids.filter(|id| self.missing.contains_key(id)).collect(),
                state: queued.map_or(ChunkState::Closed, |queued| state_of(queued)),
            }
        });
        let chunks: Vec<Chunk> = chunks.collect();
        if batch.job.is_none() {
            batch.submitted(first.job.clone())?;
        }
        let open = chunks.iter().filter(|chunk| chunk.is_open()).count();
        let job = batch.job.as_deref().unwrap_or_default();
        self.status.news.push(format!("job {job} of an earlier call goes on with {open} of its tasks"));
        self.batches.push((batch, chunks));
        Ok(())
    }

    /// Submits the tasks that have no result and belong to no open chunk. A chunk is a group of
    /// runs for one job. It is open until its job counts as ended.
    fn submit(&mut self) -> Result<(), Error> {
        let open = self.batches.iter().flat_map(|(_, chunks)| chunks).filter(|chunk| chunk.is_open());
        let covered: BTreeSet<&TaskId> = open.flat_map(|chunk| &chunk.tasks).collect();
        let free: Vec<&'a Task> =
            self.missing.iter().filter(|(id, _)| !covered.contains(id)).map(|(_, task)| *task).collect();
        if free.is_empty() {
            return Ok(());
        }
        let cost = |task: &&Task| Cost {
            seconds: self.expected.seconds(task),
            is_alone: self.suspects.contains(&task.id),
        };
        let costs: Vec<Cost> = free.iter().map(cost).collect();
        let most = *self.array_max.get_or_insert_with(|| Commands.array_max());
        let chunks = divide(&costs, self.cluster.chunks, most);
        let chunks: Vec<Vec<&Task>> =
            chunks.into_iter().map(|chunk| chunk.into_iter().map(|run| free[run]).collect()).collect();
        let script = |study: &Path, name: &str| self.script(study, name);
        let mut batch = Batch::create(&self.cluster.folder, &self.cluster.study, &chunks, script)?;
        let jobs = self.cluster.jobs.map(|jobs| format!("--cpus-per-task={jobs}"));
        let options: Vec<String> = jobs.into_iter().chain(self.cluster.options.iter().cloned()).collect();
        let submitted = Commands.submit(&batch, chunks.len(), &self.cluster.working_folder, &options);
        let job = submitted.inspect_err(|_| batch.remove())?;
        let (runs, tasks) = (number_of(free.len(), "run"), number_of(chunks.len(), "task"));
        self.status.news.push(format!("submitted {runs} in {tasks} of job {job}"));
        batch.submitted(job)?;
        let chunks = chunks.iter().map(|tasks| Chunk {
            tasks: tasks.iter().map(|task| task.id.clone()).collect(),
            state: ChunkState::Waiting,
        });
        let chunks = chunks.collect();
        self.batches.push((batch, chunks));
        self.looks = 0;
        self.report_status();
        Ok(())
    }

    /// The text of the script that each task of an array job executes. The script runs one chunk (a
    /// group of runs).
    fn script(&self, study: &Path, batch: &str) -> String {
        let quoted = |path: &Path| format!("'{}'", path.to_string_lossy().replace('\'', "'\\''"));
        let [program, study, out] = [&self.cluster.program, study, &self.cluster.folder].map(quoted);
        let jobs =
            self.cluster.jobs.map_or("\"${SLURM_CPUS_PER_TASK:-1}\"".to_owned(), |jobs| jobs.to_string());
        format!(
            "#!/bin/sh\nexec {program} sweep {study} --out {out} --jobs {jobs} \\\n    \
             --chunk \"{batch}/$SLURM_ARRAY_TASK_ID\"\n"
        )
    }

    /// Looks for new results. At one of every [`LOOKS`] calls, also looks at the queue of Slurm and
    /// closes the chunks whose jobs have ended.
    fn look(&mut self) -> Result<(), Error> {
        let mut has_news = false;
        let is_time = self.looks.is_multiple_of(LOOKS);
        self.looks = self.looks.wrapping_add(1);
        if is_time {
            has_news |= self.look_at_queue()?;
        }
        for at in 0..self.batches.len() {
            for chunk in 0..self.batches[at].1.len() {
                let Chunk { tasks, state } = &self.batches[at].1[chunk];
                let is_due = match state {
                    ChunkState::Waiting => false,
                    ChunkState::Running | ChunkState::Gone(_) => true,
                    // The results of a closed chunk may appear late, because a file system shows
                    // files of other computers late.
                    ChunkState::Closed => is_time && !tasks.is_empty(),
                };
                if is_due {
                    has_news |= self.collect(at, chunk)?;
                }
            }
        }
        if has_news {
            self.report_status();
        }
        if is_time { self.close_ended() } else { Ok(()) }
    }

    /// Updates the state of each chunk (group of runs) from the jobs in the queue of Slurm. Returns
    /// true if a state has changed.
    fn look_at_queue(&mut self) -> Result<bool, Error> {
        let names = self.batches.iter().filter(|(_, chunks)| chunks.iter().any(Chunk::is_open));
        let queue = match Commands.queue(names.map(|(batch, _)| batch.name.as_str())) {
            Ok(queue) => queue,
            Err(error) => {
                self.silence += 1;
                if self.silence == 1 {
                    self.status.news.push(format!("{error}; the sweep waits for Slurm"));
                }
                return if self.silence < SILENCE_MAX {
                    Ok(self.silence == 1)
                } else {
                    Err(self.with_jobs(error))
                };
            }
        };
        self.silence = 0;
        let mut has_changed = false;
        for (batch, chunks) in &mut self.batches {
            for (at, chunk) in chunks.iter_mut().enumerate().filter(|(_, chunk)| chunk.is_open()) {
                let queued =
                    queue.iter().find(|queued| queued.batch == batch.name && queued.chunk == Some(at));
                let state = match (queued, chunk.state) {
                    (Some(queued), _) => state_of(queued),
                    (None, ChunkState::Gone(looks)) => ChunkState::Gone(looks + 1),
                    (None, _) => ChunkState::Gone(1),
                };
                has_changed |= state != chunk.state;
                chunk.state = state;
            }
        }
        Ok(has_changed)
    }

    /// Collects the results of a chunk (a group of runs) from the folders of its workers. Returns
    /// true if a result is new.
    fn collect(&mut self, at: usize, chunk: usize) -> Result<bool, Error> {
        let mut found = Vec::new();
        let job = self.job_of(at, chunk);
        for worker in self.batches[at].0.workers(chunk) {
            for (_, path) in worker.results() {
                found.extend(self.store.adopt(&path)?.map(|id| (id, None)));
            }
            let misfits = worker.misfit_results().into_iter();
            found.extend(misfits.map(|(id, path)| (id, Some(path))));
            if let Some(error) = worker.error().filter(|_| self.batches[at].1[chunk].is_open()) {
                return Err(self.with_jobs(Error::Impossible(format!("{error} (found by job {job})"))));
            }
        }
        let mut has_new = false;
        for (id, misfit) in found {
            let Some(task) = self.missing.get(&id).copied() else { continue };
            let result = match &misfit {
                Some(path) => crate::store::load(std::slice::from_ref(path), task),
                None => self.store.load(task),
            };
            let Stored::Result(measured) = result else { continue };
            has_new = true;
            self.missing.remove(&id);
            self.batches.iter_mut().flat_map(|(_, chunks)| chunks).for_each(|chunk| {
                chunk.tasks.remove(&id);
            });
            self.expected.learn(task, &measured);
            self.performed.has_misfit |= misfit.is_some();
            self.performed.results.insert(id, *measured);
            let progress = &mut self.status.progress;
            progress.done += 1;
            progress.weight_run += task.weight();
            progress.weight_left -= task.weight();
        }
        Ok(has_new)
    }

    /// The number of the job of a chunk (a group of runs), in Slurm's form `JOB_CHUNK`.
    pub(super) fn job_of(&self, at: usize, chunk: usize) -> String {
        format!("{}_{chunk}", self.batches[at].0.job.as_deref().unwrap_or("?"))
    }

    /// Returns the error with one more sentence, which names the jobs that still wait or run.
    pub(super) fn with_jobs(&mut self, error: Error) -> Error {
        self.report_status();
        if self.status.jobs.is_empty() {
            return error;
        }
        Error::Impossible(error.and(&self.status.advice()))
    }
}

impl Status {
    /// A sentence that names the jobs that still wait or run, and the command that cancels them.
    #[must_use]
    pub fn advice(&self) -> String {
        let jobs = self.jobs.join(" ");
        match self.jobs.len() {
            0 => "No job waits or runs".to_owned(),
            1 => format!("Job {jobs} goes on; `scancel {jobs}` cancels it"),
            _ => format!("Jobs {} go on; `scancel {jobs}` cancels them", self.jobs.join(", ")),
        }
    }
}

fn state_of(queued: &Queued) -> ChunkState {
    if queued.is_running { ChunkState::Running } else { ChunkState::Waiting }
}

pub(super) fn number_of(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
