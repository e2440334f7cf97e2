//! The commands on papers and their inputs: `reproduce`, `report` and `graph`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::values::{jobs, key_value, whole};

#[derive(Args, Debug)]
#[command(allow_negative_numbers = true)]
#[command(after_help = "Examples:
  fencepost reproduce hlrc --scale 1/16 --seeds 1
  fencepost reproduce hlrc --figure fig4 --out results/fig4
  fencepost reproduce hlrc --graphs ~/graphs --json

What was run stays under --out. A run that was killed goes on with what is missing, and a second one
only reports. Claims that come out otherwise are a result, not a failure: the exit code is 1 only
when a run has no right answer.")]
pub(crate) struct ReproduceArguments {
    /// The paper: a name of `list papers` that has experiments
    pub(crate) paper: String,
    /// A figure by its name, as fig4; may be repeated. All, if none is given
    #[arg(long = "figure", value_name = "NAME")]
    pub(crate) figures: Vec<String>,
    /// Which part of each stand-in is made, as 1/16: claims are then indicative
    #[arg(long, value_name = "FRACTION")]
    pub(crate) scale: Option<String>,
    /// How many seeds each run is repeated with, 1 to 1000
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1, 1000))]
    pub(crate) seeds: Option<u64>,
    /// A parameter of the workloads; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) parameters: Vec<(String, String)>,
    /// A folder with files of the graphs, as c-68.mtx.gz, that take the place of stand-ins
    #[arg(long, value_name = "DIR")]
    pub(crate) graphs: Option<PathBuf>,
    /// A folder of experiment files that take the place of the built-in ones; ./experiments/PAPER
    /// does too
    #[arg(long, value_name = "DIR")]
    pub(crate) experiments: Option<PathBuf>,
    /// Where runs and reports go [default: results/PAPER]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// How many runs at a time [default: one a core]
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
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
    /// A graph file, or the name of a stand-in
    #[arg(value_name = "FILE|NAME")]
    pub(crate) input: String,
    /// Which part of a stand-in is made, as 1/16
    #[arg(long, value_name = "FRACTION")]
    pub(crate) scale: Option<String>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "The report is one file: it needs no network and no other file.

Examples:
  fencepost report results/hlrc
  fencepost report results/hlrc --html hlrc.html")]
pub(crate) struct ReportArguments {
    /// The folder that `reproduce` wrote, with its results.json
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Where the report goes [default: DIR/report.html]
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}
