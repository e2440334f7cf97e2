//! The command `sweep --on slurm`, and the command that its jobs execute.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lab::cluster::{self, Cluster, Status};
use lab::run::Pulse;
use lab::runner::Performed;
use lab::store::Store;
use lab::study::Study;

use crate::Failure;
use crate::args::SweepArguments;
use crate::output::AtInterrupt;
use crate::progress::Estimate;
use crate::words::counted;

/// The minimum time between two looks at the cluster's queue.
const POLL_MIN: Duration = Duration::from_millis(50);

/// Runs on a cluster those tasks that have no stored result. If a signal ends the process, the
/// process prints which jobs continue and how the user can continue.
pub(super) fn perform(
    arguments: &SweepArguments,
    study: &Study,
    store: &Store,
    folder: &Path,
    out: &mut dyn Write,
) -> Result<Performed, Failure> {
    let unreadable = |error: io::Error| {
        Failure::BadInput(format!(
            "cannot find the folder of the results, the folder of the study or this program: {error}"
        ))
    };
    // Relative paths of a study begin in the folder of the study.
    let parent = arguments.file.parent().filter(|parent| !parent.as_os_str().is_empty());
    let cluster = Cluster {
        folder: fs::canonicalize(folder).map_err(unreadable)?,
        working_folder: fs::canonicalize(parent.unwrap_or(Path::new("."))).map_err(unreadable)?,
        program: env::current_exe().map_err(unreadable)?,
        study: study.text.clone(),
        jobs: arguments.jobs,
        chunks: arguments.chunks,
        poll: arguments.poll.max(POLL_MIN),
        options: arguments.sbatch.clone(),
    };
    let estimate = Estimate::new(Pulse::default());
    let last = Arc::<Mutex<Status>>::default();
    let _at_interrupt = AtInterrupt::say(interrupted(Arc::clone(&last), folder));
    let mut printed = Ok(());
    let performed = cluster::perform(&study.tasks(), store, &cluster, &mut |status: &Status| {
        estimate.update(status.progress);
        estimate.note(format!("; {} running, {} waiting", counted(status.running, "task"), status.waiting));
        *last.lock().unwrap_or_else(PoisonError::into_inner) = status.clone();
        if !arguments.json && printed.is_ok() && !status.news.is_empty() {
            printed = estimate.aside(|| {
                status.news.iter().try_for_each(|news| writeln!(out, "{news}"))?;
                out.flush()
            });
        }
    })?;
    printed?;
    if !arguments.json && performed.ran > 0 {
        writeln!(out)?;
    }
    Ok(performed)
}

/// Returns a function that gives the last message of the process, for the case that a signal ends
/// it.
fn interrupted(last: Arc<Mutex<Status>>, folder: &Path) -> impl Fn() -> String + Send + 'static {
    let folder = folder.to_owned();
    move || {
        let status = last.lock().unwrap_or_else(PoisonError::into_inner);
        let runs = counted(status.progress.tasks, "run");
        format!(
            "interrupted: the results of {} of {runs} are in {}. {}. The same command continues the sweep",
            status.progress.done,
            folder.display(),
            status.advice()
        )
    }
}

/// Runs one chunk (some of the runs) of a batch of jobs. A task of an array job executes this
/// command.
pub(super) fn work(arguments: &SweepArguments, chunk: &str, out: &mut dyn Write) -> Result<(), Failure> {
    let folder = arguments.out.as_deref().unwrap_or(Path::new("."));
    let jobs = arguments.jobs.map_or(1, NonZeroUsize::get);
    let performed = cluster::work(&arguments.file, folder, chunk, jobs, &Pulse::default())?;
    Ok(writeln!(out, "{}, {} found", counted(performed.ran, "run"), performed.found)?)
}
