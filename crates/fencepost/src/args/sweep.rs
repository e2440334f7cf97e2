//! The arguments of `sweep`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::values::{jobs, seconds, whole};

#[derive(Args, Debug)]
#[command(allow_negative_numbers = true)]
#[command(after_help = "A study is a TOML file; docs/studies.md explains it:
  title = \"How large must the L1 be?\"
  systems = [\"hlrc-8cu\"]
  scenarios = [\"no-l1\", \"vi\"]
  workloads = [\"l1-resident\"]
  seeds = 3
  [machine]
  \"l1.bytes\" = { from = \"1k\", to = \"32k\", factor = 2 }
  [[chart]]
  x = \"l1.bytes\"
  y = \"speedup\"

Examples:
  fencepost sweep experiments/example/l1-size.toml --dry-run
  fencepost sweep experiments/example/l1-size.toml
  fencepost sweep my-study.toml --out results/my-study --jobs 8 --json
  fencepost sweep my-study.toml --on slurm -- --partition=long --time=2:00:00

The folder of --out gets results.parquet and results.json with every run, report.html and report.md \
with the charts, and the single results under runs/. If a sweep is interrupted, the same command \
continues with the missing runs. If no run is missing, the command only writes the reports. One process at a \
time uses a folder.

With --on slurm the nodes of the cluster must see the folder, the program and the files of the study under \
the same paths. The command waits for the jobs. If it is interrupted, the jobs go on, and the same command \
continues with them.

Exit codes:
  0  every run has the right answer
  1  a run has a wrong answer or is stuck; the reports are written
  2  a run does not fit its machine, such as one with a work-group that fits on no compute unit, and the \
reports are written; or bad input, and nothing runs")]
pub(crate) struct SweepArguments {
    /// The file of the study
    #[arg(value_name = "FILE.toml")]
    pub(crate) file: PathBuf,
    /// The folder for runs and reports [default: results/NAME for NAME.toml]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// The number of runs at the same time [default: one per core]. On a cluster, the number of
    /// runs at the same time in one job; the job asks for as many CPUs
    #[arg(long, short, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Make the missing runs on a cluster, as array jobs of Slurm. The command sbatch must be on
    /// the PATH
    #[arg(long, value_name = "CLUSTER", conflicts_with_all = ["dry_run", "chunk"])]
    pub(crate) on: Option<ClusterKind>,
    /// The number of array tasks [default: by the expected time of the runs]
    #[arg(long, value_name = "N", requires = "on", value_parser = whole::<usize>(1, 1_000_000))]
    pub(crate) chunks: Option<usize>,
    /// The number of seconds between two calls of squeue
    #[arg(long, value_name = "SECONDS", requires = "on", default_value = "10", value_parser = seconds)]
    pub(crate) poll: Duration,
    /// Options for sbatch, such as a partition or a time limit
    #[arg(last = true, value_name = "SBATCH-OPTION", requires = "on")]
    pub(crate) sbatch: Vec<String>,
    /// Run one chunk (some of the runs) of a batch: each task of an array job uses this option
    #[arg(long, value_name = "BATCH/N", hide = true, requires = "out", conflicts_with_all = ["dry_run", "json"])]
    pub(crate) chunk: Option<String>,
    /// List the runs, and run nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// A kind of cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClusterKind {
    /// Slurm: sbatch, squeue and scancel
    Slurm,
}
