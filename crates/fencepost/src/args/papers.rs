//! The commands on papers and their inputs: `reproduce`, `report` and `graph`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::values::{jobs, json_file, key_value, whole};

#[derive(Args, Debug)]
#[command(allow_negative_numbers = true)]
#[command(after_help = "Examples:
  fencepost reproduce hlrc --scale 1/16 --seeds 1
  fencepost reproduce hlrc --figure fig4 --out results/fig4
  fencepost reproduce hlrc --graphs ~/graphs --json
  fencepost reproduce hrf --record docs/results/hrf.json

The results of all runs stay under --out. If a reproduction is interrupted, the same command continues with \
the missing runs. If no run is missing, the command only writes the report.

Exit codes:
  0  every run has the right answer, whether or not the claims hold
  1  a run has a wrong answer or is stuck; the reports are written
  2  a run does not fit its machine, such as one with too few task-fronts, and the reports are written; \
or bad input, and nothing runs")]
pub(crate) struct ReproduceArguments {
    /// The paper: a name from `list papers` that has experiments
    pub(crate) paper: String,
    /// A figure by its name, such as fig4; may be repeated [default: all]
    #[arg(long = "figure", value_name = "NAME")]
    pub(crate) figures: Vec<String>,
    /// The scale of each stand-in (generated graph), such as 1/16; on scaled stand-ins, all claims
    /// have the status indicative
    #[arg(long, value_name = "FRACTION")]
    pub(crate) scale: Option<String>,
    /// The number of seeds of each run, 1 to 1000
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1, 1000))]
    pub(crate) seeds: Option<u64>,
    /// A parameter of the workloads; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) parameters: Vec<(String, String)>,
    /// A folder with graph files, such as c-68.mtx.gz, in place of stand-ins
    #[arg(long, value_name = "DIR")]
    pub(crate) graphs: Option<PathBuf>,
    /// A folder of experiment files in place of the built-in ones [default: ./experiments/PAPER
    /// where it exists]
    #[arg(long, value_name = "DIR")]
    pub(crate) experiments: Option<PathBuf>,
    /// The folder for runs and reports [default: results/PAPER]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// The number of runs at the same time [default: one per core]
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Record the results, without those of single runs, in this JSON file, and write a page that
    /// shows them: a file of the same name that ends in .md
    #[arg(long, value_name = "FILE", value_parser = json_file)]
    pub(crate) record: Option<PathBuf>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GraphCommand {
    /// Print the statistics of a graph file or of a stand-in
    Info(GraphInfoArguments),
}

#[derive(Args, Debug)]
#[command(allow_negative_numbers = true)]
#[command(after_help = "Examples:
  fencepost graph info USA-road-d.BAY --scale 1/16
  fencepost graph info my-graph.mtx.gz --json")]
pub(crate) struct GraphInfoArguments {
    /// A graph file, or the name of a stand-in (a generated graph)
    #[arg(value_name = "FILE|NAME")]
    pub(crate) input: String,
    /// The scale of a stand-in, such as 1/16
    #[arg(long, value_name = "FRACTION")]
    pub(crate) scale: Option<String>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "The report is one file. It needs no network and no other file.

Examples:
  fencepost report results/hlrc
  fencepost report results/hlrc --html hlrc.html")]
pub(crate) struct ReportArguments {
    /// The folder that `reproduce` or `sweep` wrote, with its results.json
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// The file of the report [default: DIR/report.html]
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}
