//! The arguments of `sweep`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use super::values::jobs;

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

The folder of --out gets results.parquet and results.json with every run, report.html and report.md \
with the charts, and the single results under runs/. A sweep that was interrupted continues with the \
missing runs; a second one only writes the reports. One process at a time uses a folder.

Exit codes:
  0  every run has the right answer
  1  a run has a wrong answer or is stuck; the reports are written
  2  bad input")]
pub(crate) struct SweepArguments {
    /// The file of the study
    #[arg(value_name = "FILE.toml")]
    pub(crate) file: PathBuf,
    /// The folder for runs and reports [default: results/NAME for NAME.toml]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// The number of runs at the same time [default: one per core]
    #[arg(long, short, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// List the runs, and run nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}
