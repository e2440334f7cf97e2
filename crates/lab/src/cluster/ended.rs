//! Handles jobs that have ended. Runs whose results are still missing are submitted again, a
//! limited number of times.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::batch::WorkerFolder;
use super::watch::{ChunkState, Watch, number_of};
use crate::digest::TaskId;
use crate::error::Error;
use crate::task::Task;

/// The maximum number of jobs in which a run is attempted. If this number of jobs has ended without
/// the result of the run, the coordinator reports an error for the run.
const ATTEMPTS_MAX: usize = 3;

/// A job counts as ended if this number of successive looks at the queue did not find it. One look
/// is not enough, because a network file system shows the files of other computers late.
const GONE_AFTER: usize = 2;
/// A job that has written no file to the batch's folder counts as ended if this number of
/// successive looks at the queue did not find it.
const GONE_WITHOUT_TRACE_AFTER: usize = 6;

/// The number of lines at the end of a log that an error message quotes. The constant `LOG_LETTERS`
/// limits the number of letters of each line.
const LOG_LINES: usize = 5;
const LOG_LETTERS: usize = 200;

impl Watch<'_> {
    /// Closes the chunks (groups of runs) whose jobs have ended: the coordinator no longer waits
    /// for these jobs. Runs whose results are still missing will be submitted again. If too many
    /// jobs that should execute a run have ended without its result, returns an error.
    pub(super) fn close_ended(&mut self) -> Result<(), Error> {
        for at in 0..self.batches.len() {
            for chunk in 0..self.batches[at].1.len() {
                let (batch, chunks) = &self.batches[at];
                let ChunkState::Gone(looks) = chunks[chunk].state else { continue };
                let workers = batch.workers(chunk);
                let has_trace = !workers.is_empty() || batch.log(chunk).exists();
                let enough = if has_trace { GONE_AFTER } else { GONE_WITHOUT_TRACE_AFTER };
                if looks >= enough || chunks[chunk].tasks.is_empty() {
                    self.close(at, chunk, &workers)?;
                }
            }
        }
        Ok(())
    }

    fn close(&mut self, at: usize, chunk: usize, workers: &[WorkerFolder]) -> Result<(), Error> {
        let job = self.job_of(at, chunk);
        self.batches[at].1[chunk].state = ChunkState::Closed;
        let missing = self.batches[at].1[chunk].tasks.clone();
        if missing.is_empty() {
            return Ok(());
        }
        let begun = workers.last().map(WorkerFolder::begun).unwrap_or_default();
        let candidates: BTreeSet<TaskId> = if begun.is_empty() {
            // The job ended before it began a run. Each of its runs counts as a possible reason.
            missing.clone()
        } else {
            let running: BTreeSet<TaskId> = begun.into_iter().filter(|id| missing.contains(id)).collect();
            self.suspects.extend(running.iter().cloned());
            running
        };
        let mut given_up = None;
        for id in candidates {
            let deaths = self.deaths.entry(id.clone()).or_default();
            *deaths += 1;
            if *deaths >= ATTEMPTS_MAX {
                given_up.get_or_insert(id);
            }
        }
        if let Some(task) = given_up.and_then(|id| self.missing.get(&id).copied()) {
            let error = self.gave_up(task, &job, &self.batches[at].0.log(chunk), workers.is_empty());
            return Err(self.with_jobs(error));
        }
        let runs = number_of(missing.len(), "run");
        let again = if missing.len() == 1 { "this run is" } else { "these runs are" };
        self.status
            .news
            .push(format!("job {job} ended without the results of {runs}; {again} submitted again"));
        Ok(())
    }

    /// The error for a run, if too many jobs with this run have ended without its result. It quotes
    /// the log of the last job.
    fn gave_up(&self, task: &Task, job: &str, log: &Path, is_without_trace: bool) -> Error {
        let label = task.label();
        let log_name = log.display();
        let quoted = match fs::read(log) {
            Ok(bytes) if bytes.iter().all(u8::is_ascii_whitespace) => {
                format!("the log {log_name} of this job is empty")
            }
            Ok(bytes) => format!("the log {log_name} of this job ends with: {}", last_lines(&bytes)),
            Err(_) if is_without_trace => format!(
                "this job left nothing in {}: check that the nodes of the cluster see this folder",
                self.cluster.folder.display()
            ),
            Err(error) => format!("the log {log_name} of this job cannot be read: {error}"),
        };
        Error::Impossible(format!(
            "{label}: {ATTEMPTS_MAX} jobs ended without the result of this run, the last one was job {job}; {quoted}"
        ))
    }
}

/// The last lines of a log that are not empty, joined into one line.
fn last_lines(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(LOG_LINES)..];
    let cut = |line: &&str| line.chars().filter(|letter| !letter.is_control()).take(LOG_LETTERS).collect();
    last.iter().map(cut).collect::<Vec<String>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_log_is_quoted_on_one_line() {
        assert_eq!(last_lines(b"1\n2\n\n3\n4\n5\n 6 \n"), "2; 3; 4; 5; 6");
        assert_eq!(last_lines(b"a\x1b[2Jb\r\n"), "a[2Jb");
        assert_eq!(last_lines(&[b'x'; 1000]).len(), LOG_LETTERS);
        assert_eq!(last_lines(b""), "");
    }
}
