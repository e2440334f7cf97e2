//! Runs the commands of Slurm: `sbatch`, `squeue`, `scancel` and `scontrol`.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::batch::{Batch, SCRIPT};
use crate::error::{Error, printable};

/// The assumed maximum number of tasks in an array job, if the cluster does not report its maximum.
/// This is Slurm's default.
const ARRAY_USUAL: usize = 1001;

/// The beginning of the name of each job that the coordinator submits. The name of the batch
/// follows it.
const PREFIX: &str = "fencepost-";

/// The environment variables that are removed before a command of Slurm runs. They change the
/// behaviour of the commands, and no option overrides them.
const VARIABLES: [&str; 10] = [
    "SBATCH_WAIT",
    "SBATCH_TEST_ONLY",
    "SQUEUE_STATES",
    "SQUEUE_USERS",
    "SQUEUE_PARTITION",
    "SQUEUE_ACCOUNT",
    "SQUEUE_QOS",
    "SQUEUE_LICENSES",
    "SQUEUE_SORT",
    "SLURM_CLUSTERS",
];

/// The options of `sbatch` that the coordinator sets itself, each with its long and its short name.
/// Users must not give them.
const OWN_OPTIONS: [(&str, char); 11] = [
    ("--array", 'a'),
    ("--chdir", 'D'),
    ("--clusters", 'M'),
    ("--error", 'e'),
    ("--job-name", 'J'),
    ("--open-mode", '\0'),
    ("--output", 'o'),
    ("--parsable", '\0'),
    ("--test-only", '\0'),
    ("--wait", 'W'),
    ("--wrap", '\0'),
];

/// A task of an array job that is in the queue of Slurm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Queued {
    /// The name of the batch that the job belongs to.
    pub(super) batch: String,
    /// The number of the array job.
    pub(super) job: String,
    /// The number of the chunk (group of runs) that the task executes. `None` if the job is not an
    /// array task.
    pub(super) chunk: Option<usize>,
    /// Whether the task has started. If false, the task waits in the queue.
    pub(super) is_running: bool,
}

/// Checks the user's options for `sbatch`. They must not contain an option that the coordinator
/// sets itself, or a word that is neither an option nor the value of an option.
pub(super) fn check_options(options: &[String]) -> Result<(), Error> {
    let refuse = |message: String| Err(Error::Impossible(message));
    let mut takes_value = false;
    for option in options {
        // If a word is not an option, `sbatch` would treat the word as the name of the script.
        let is_option = option.starts_with('-') || takes_value;
        takes_value = option.starts_with('-') && !option.contains('=');
        let name = option.split_once('=').map_or(option.as_str(), |(name, _)| name);
        let own = OWN_OPTIONS.iter().find(|(long, short)| {
            // `sbatch` also accepts the beginning of a long option's name.
            let is_long = name.len() > 3 && name.starts_with("--") && long.starts_with(name);
            let mut letters = option.chars();
            is_long || (letters.next() == Some('-') && letters.next() == Some(*short))
        });
        if let Some((long, _)) = own {
            let option = printable(option);
            return refuse(format!(
                "`{option}` cannot be passed to sbatch, because sweep sets {long} itself"
            ));
        }
        if !is_option || option.is_empty() || option.contains(char::is_control) {
            return refuse(format!("found `{}`, expected an option of sbatch", printable(option)));
        }
    }
    Ok(())
}

/// Runs the commands of Slurm.
#[derive(Clone, Copy, Debug)]
pub(super) struct Commands;

impl Commands {
    fn run<S: AsRef<OsStr>>(
        self,
        name: &str,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<Output, Error> {
        let mut command = Command::new(name);
        for variable in VARIABLES {
            command.env_remove(variable);
        }
        command.args(arguments).stdin(Stdio::null()).output().map_err(|error| {
            let why = match error.kind() {
                io::ErrorKind::NotFound => "no folder of the PATH has this program".to_owned(),
                _ => error.to_string(),
            };
            let needs = "`--on slurm` needs sbatch, squeue and scancel on this computer";
            Error::Impossible(format!("cannot run {name}: {why}; {needs}"))
        })
    }

    /// The maximum number of tasks that an array job may have on the user's cluster.
    pub(super) fn array_max(self) -> usize {
        let output = self.run("scontrol", ["show", "config"]).ok();
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        text.as_deref().and_then(array_max_of).unwrap_or(ARRAY_USUAL)
    }

    /// Submits a batch as an array job, with one task for each chunk (group of runs). Returns the
    /// number of the job.
    pub(super) fn submit(
        self,
        batch: &Batch,
        chunks: usize,
        chdir: &Path,
        options: &[String],
    ) -> Result<String, Error> {
        // In the path of a log, `%` begins a pattern of Slurm, and `%%` stands for a percent sign.
        let log = format!("{}/%a.log", batch.folder.to_string_lossy().replace('%', "%%"));
        let mut arguments = vec![
            "--parsable".to_owned(),
            format!("--array=0-{}", chunks.saturating_sub(1)),
            format!("--job-name={PREFIX}{}", batch.name),
            format!("--chdir={}", chdir.display()),
            format!("--output={log}"),
            "--open-mode=append".to_owned(),
        ];
        arguments.extend_from_slice(options);
        arguments.push(batch.folder.join(SCRIPT).to_string_lossy().into_owned());
        let output = self.run("sbatch", arguments)?;
        if !output.status.success() {
            return Err(Error::Impossible(format!("sbatch refuses the jobs: {}", said(&output.stderr))));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let last = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
        // If the cluster has a name, `sbatch` prints it after the number of the job and a `;`.
        let job = last.split(';').next().unwrap_or_default();
        if job.is_empty() || !job.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Error::Impossible(format!(
                "sbatch printed `{}`, expected the number of a job",
                printable(last)
            )));
        }
        Ok(job.to_owned())
    }

    /// The array tasks of these batches that are in Slurm's queue: those that wait and those that
    /// run.
    pub(super) fn queue<'a>(self, batches: impl Iterator<Item = &'a str>) -> Result<Vec<Queued>, Error> {
        let names: Vec<String> = batches.map(|name| format!("{PREFIX}{name}")).collect();
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let arguments = ["--noheader", "--array", "--format=%j|%F|%K|%T"].map(str::to_owned);
        let name = format!("--name={}", names.join(","));
        let output = self.run("squeue", arguments.into_iter().chain([name]))?;
        if !output.status.success() {
            return Err(Error::Impossible(format!("squeue fails: {}", said(&output.stderr))));
        }
        Ok(String::from_utf8_lossy(&output.stdout).lines().filter_map(queued).collect())
    }

    /// Cancels these jobs. A job that has already ended is not an error.
    pub(super) fn cancel(self, jobs: &[String]) -> Result<(), Error> {
        if jobs.is_empty() {
            return Ok(());
        }
        self.run("scancel", ["--quiet".to_owned()].iter().chain(jobs)).map(drop)
    }
}

fn array_max_of(config: &str) -> Option<usize> {
    let line = config.lines().find_map(|line| line.trim().strip_prefix("MaxArraySize"))?;
    line.trim_start_matches([' ', '=']).trim().parse().ok().filter(|max| *max > 0)
}

/// Reads a line that `squeue` printed. Returns `None` if the line is not about a job of a batch, or
/// if the job has ended or is ending.
fn queued(line: &str) -> Option<Queued> {
    let mut parts = line.trim().split('|');
    let [name, job, chunk, state] = [parts.next()?, parts.next()?, parts.next()?, parts.next()?];
    let is_running = match state {
        "RUNNING" | "SUSPENDED" | "STOPPED" | "RESIZING" | "SIGNALING" | "STAGE_OUT" => true,
        "PENDING" | "CONFIGURING" | "REQUEUED" | "REQUEUE_FED" | "REQUEUE_HOLD" | "RESV_DEL_HOLD"
        | "SPECIAL_EXIT" => false,
        // States in which the job has ended or is ending. A job on a dead node stays in such a
        // state until the node returns.
        _ => return None,
    };
    let batch = name.strip_prefix(PREFIX)?.to_owned();
    Some(Queued { batch, job: job.to_owned(), chunk: chunk.parse().ok(), is_running })
}

/// The message that a command printed, joined into one line and limited in length.
fn said(bytes: &[u8]) -> String {
    const LETTERS_MAX: usize = 400;
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines.collect::<Vec<_>>().join("; ");
    let line: String = line.chars().filter(|letter| !letter.is_control()).take(LETTERS_MAX).collect();
    if line.is_empty() { "no reason given".to_owned() } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_the_coordinator_are_refused_in_every_form() {
        let all = |options: &[&str]| {
            let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
            check_options(&options).map_err(|error| error.to_string())
        };
        let check = |option: &str| all(&[option]);
        for option in ["--array=0-3", "-a0-3", "-a", "--arr=1", "--output=x", "-ox", "--wrap", "-D/", "-W"] {
            let error = check(option).unwrap_err();
            assert!(error.contains(&format!("`{option}`")) && error.contains("sweep sets --"), "{error}");
        }
        let fit = [
            "--partition=long",
            "-p",
            "long",
            "-t10",
            "--mem=4G",
            "--account",
            "a",
            "-A",
            "b",
            "--exclusive",
        ];
        assert_eq!(all(&fit), Ok(()));
        assert_eq!(all(&["--mem=4G", "job.sh"]).unwrap_err(), "found `job.sh`, expected an option of sbatch");
        assert!(check("").is_err() && check("a\nb").is_err());
    }

    #[test]
    fn a_line_of_the_queue_is_a_task_that_waits_or_runs() {
        let of = |line: &str| {
            queued(line).map(|queued| (queued.batch, queued.job, queued.chunk, queued.is_running))
        };
        let name = || "2-0a1b2c3d".to_owned();
        assert_eq!(of("fencepost-2-0a1b2c3d|17|4|RUNNING"), Some((name(), "17".to_owned(), Some(4), true)));
        assert_eq!(of("fencepost-2-0a1b2c3d|17|N/A|PENDING"), Some((name(), "17".to_owned(), None, false)));
        for line in ["fencepost-2-0a1b2c3d|17|4|COMPLETING", "other|17|4|RUNNING", "", "a|b"] {
            assert_eq!(of(line), None, "{line}");
        }
    }

    #[test]
    fn the_size_of_an_array_is_read_from_the_configuration() {
        assert_eq!(array_max_of("X = 1\nMaxArraySize            = 1001\n"), Some(1001));
        assert_eq!(array_max_of("MaxArraySize = 0\n"), None);
        assert_eq!(array_max_of("slurm_load_ctl_conf error"), None);
        assert_eq!(said(b"sbatch: error: a\n\nsbatch: error: b\n"), "sbatch: error: a; sbatch: error: b");
        assert_eq!(said(b" \n"), "no reason given");
    }
}
