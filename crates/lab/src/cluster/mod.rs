//! Runs the tasks of a study as array jobs of a cluster with Slurm.
//!
//! [`perform`] is the coordinator. It divides the tasks without results into **chunks** of about
//! equal expected time. It submits the chunks as the tasks of an array job (a **batch**), watches
//! the queue, and moves results into the [`Store`]. Tasks whose jobs ended without a result are
//! submitted again. [`work`] is the worker: an array task calls it to run one chunk.
//!
//! Slurm decides where and when a job runs. Coordinator and workers communicate only by files in
//! the folder of results, in its folder `slurm/`. They use no locks there, because some network
//! file systems have no locks:
//!
//! * Each file is written by only one process, and appears by a rename. Every worker creates a
//!   folder of its own and writes only there. So a second worker that Slurm starts for the same
//!   chunk does not disturb a slow first worker.
//! * Only the coordinator writes to the store, and it holds the store's lock. A result file of a
//!   worker has the same bytes that a local run would have stored, so the file is moved without a
//!   change.
//! * If the coordinator is killed, its batches remain. The next coordinator finds their jobs in the
//!   queue by their names and continues.

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

/// The path of the folder for batches within the folder of results `folder`.
fn batches_in(folder: &Path) -> PathBuf {
    folder.join("slurm")
}

/// The path of the folder of the store within the folder of results `folder`.
fn runs_in(folder: &Path) -> PathBuf {
    folder.join("runs")
}

/// Moves the results of workers into the store. Returns the number of moved results.
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

/// Removes the batches of a folder of results after all results have arrived. First waits until the
/// jobs of the batches have left the queue: looks at the queue several times, with the time `pause`
/// between two looks, and then cancels the remaining jobs. Returns false if batches remain, because
/// Slurm does not answer or because their files cannot be removed.
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
    // A worker whose job was cancelled may still be writing, so the removal is tried several times.
    for _ in 0..LOOKS {
        if fs::remove_dir_all(batches_in(folder)).is_ok() {
            return true;
        }
        sleep(pause);
    }
    false
}
