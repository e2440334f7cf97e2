//! Runs the tasks of a study as array jobs of a cluster with Slurm.
//!
//! [`perform`] is the coordinator. It divides the tasks without results into **chunks** of about
//! equal expected time, submits the chunks as the tasks of an array job (a **batch**), watches the
//! queue, moves results into the [`Store`], and submits again what ended
//! without a result. [`work`] is the worker: an array task calls it to run one chunk.
//!
//! Slurm decides where and when a job runs. Coordinator and workers communicate only by files in the
//! folder of results, in `slurm/`. They take no locks there, because some network file systems have
//! none:
//!
//! * A file has one writer, and appears by a rename. Every worker writes into a folder of its own,
//!   which it creates; so a worker that Slurm started again does not disturb a slow first one.
//! * Only the coordinator writes the store, and it keeps the store's lock. A result of a worker has
//!   the bytes that a local run would have stored, so it is moved, not changed.
//! * Every file can be written again. A coordinator that was killed leaves its batches; the next one
//!   finds them in the queue by their names and goes on.

mod batch;
mod chunks;
mod commands;
mod ended;
mod expected;
mod watch;
mod worker;

pub use watch::{Cluster, Status, perform};
pub use worker::work;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use crate::error::Error;
use crate::store::Store;
use batch::{Batch, WorkerFolder};
use commands::Commands;
use watch::LOOKS;

/// The folder of batches in a folder of results.
fn batches_in(folder: &Path) -> PathBuf {
    folder.join("slurm")
}

/// The store's folder in a folder of results.
fn runs_in(folder: &Path) -> PathBuf {
    folder.join("runs")
}

/// Moves the results of workers into the store. Returns the number of results.
///
/// # Errors
/// If a result cannot be stored.
pub fn adopt(folder: &Path, store: &Store) -> Result<usize, Error> {
    let mut adopted = 0;
    for batch in Batch::all(folder) {
        for chunk in 0..batch.file.as_ref().map_or(0, |file| file.chunks.len()) {
            for (_, path) in batch.workers(chunk).iter().flat_map(WorkerFolder::results) {
                adopted += usize::from(store.adopt(&path)?.is_some());
            }
        }
    }
    Ok(adopted)
}

/// Cancels the jobs of a folder that has all results, and removes the batches. Jobs that are about
/// to end get some time, `pause` for each look. Returns false if batches remain because Slurm does
/// not answer.
pub fn finish(folder: &Path, pause: Duration) -> bool {
    let batches = Batch::all(folder);
    if batches.is_empty() {
        Batch::remove_unfinished(folder);
        return fs::remove_dir(batches_in(folder)).is_ok() || !batches_in(folder).exists();
    }
    for look in 0..=LOOKS {
        let Ok(queue) = Commands.queue(batches.iter().map(|batch| batch.name.as_str())) else { return false };
        if queue.is_empty() {
            break;
        }
        if look < LOOKS {
            sleep(pause);
            continue;
        }
        let jobs: BTreeSet<String> = queue.into_iter().map(|queued| queued.job).collect();
        if Commands.cancel(&jobs.into_iter().collect::<Vec<_>>()).is_err() {
            return false;
        }
    }
    // A worker that is being cancelled may still write.
    for _ in 0..LOOKS {
        if fs::remove_dir_all(batches_in(folder)).is_ok() {
            return true;
        }
        sleep(pause);
    }
    false
}
