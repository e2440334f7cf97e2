//! The arguments of the command line. Each group of commands has a file.

mod checks;
mod papers;
mod runs;
mod sweep;
mod values;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub(crate) use checks::{
    LitmusArguments, Property, RelaxedAs, StressArguments, SyncOrder, TestSize, VerifyArguments,
};
pub(crate) use papers::{GraphCommand, GraphInfoArguments, ReportArguments, ReproduceArguments};
pub(crate) use runs::{
    CompareArguments, RaceArguments, RaceFree, RunArguments, WhyArguments, WorkloadCommand,
    WorkloadInfoArguments,
};
pub(crate) use sweep::{ClusterKind, SweepArguments};

/// A laboratory for GPU memory: coherence protocols, memory models, and what
/// synchronization costs.
#[derive(Debug, Parser)]
#[command(name = "fencepost", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "Examples:
  fencepost list protocols
  fencepost run --system hlrc-8cu --protocol vi --workload vec-add
  fencepost compare --system hlrc-8cu --scenarios vi,no-l1 --workload vec-add,histogram
  fencepost why vi no-l1 --system hlrc-8cu --workload reduce
  fencepost sweep experiments/example/l1-size.toml
  fencepost litmus litmus/hrf/fig7.litmus --model hrf-indirect --advise
  fencepost race --system hrf-8cu --workload race-missing-fence

Exit codes:
  0  success
  1  a check failed: a wrong answer, a stuck run, a race, a refuted claim, or a litmus test that is \
not as expected or not fully covered
  2  bad input")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List machines, protocols, scenarios, workloads, models or papers
    List(ListArguments),
    /// Run one workload on one machine under one protocol
    Run(RunArguments),
    /// Compare scenarios: speedup, traffic and energy relative to the first
    Compare(CompareArguments),
    /// Explain the difference in cycles between two scenarios
    Why(WhyArguments),
    /// Run a study of your own: every combination of the values in a file
    Sweep(SweepArguments),
    /// Run the experiments of a paper, and compare its claims with the results
    Reproduce(ReproduceArguments),
    /// Write the HTML report of a reproduction or a sweep from its results
    Report(ReportArguments),
    /// Check litmus tests under a memory model: outcomes, races and scopes
    Litmus(LitmusArguments),
    /// Verify the claims of a protocol in every schedule of small programs
    Verify(VerifyArguments),
    /// Stress a protocol with random race-free programs on a larger machine
    Stress(StressArguments),
    /// Detect races in whole runs of a program, and advise on scopes
    Race(RaceArguments),
    /// Print the statistics of a graph
    #[command(
        subcommand,
        after_help = "Example:
  fencepost graph info USA-road-d.BAY"
    )]
    Graph(GraphCommand),
    /// Print the statistics of a program that are the same under every protocol
    #[command(
        subcommand,
        after_help = "Example:
  fencepost workload info vec-add --size tiny"
    )]
    Workload(WorkloadCommand),
    /// Print a completion script for a shell
    Completions(CompletionsArguments),
    /// Print the manual page, or write one page for each command
    Man(ManArguments),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Subject {
    /// Machines that can be simulated
    Systems,
    /// Coherence protocols
    Protocols,
    /// Combinations of the hLRC paper: a protocol, and whether programs steal work and at which scope they
    /// synchronize
    Scenarios,
    /// Programs to run
    Workloads,
    /// Memory models
    Models,
    /// Papers whose designs or machines are included
    Papers,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fencepost list systems
  fencepost list workloads
  fencepost list workloads vec-add
  fencepost list systems hlrc-8cu > my-gpu.toml
  fencepost list protocols --json")]
pub(crate) struct ListArguments {
    /// The kind of things to list
    pub(crate) subject: Subject,
    /// Show all details of the item with this name: the settings of a workload, the parameters of a
    /// machine, the claims of a paper
    pub(crate) name: Option<String>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:
  mkdir -p ~/.local/share/bash-completion/completions
  fencepost completions bash > ~/.local/share/bash-completion/completions/fencepost")]
pub(crate) struct CompletionsArguments {
    /// The shell that the script is for
    pub(crate) shell: Shell,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fencepost man | man -l -
  fencepost man --dir ~/.local/share/man/man1")]
pub(crate) struct ManArguments {
    /// Write fencepost.1, fencepost-run.1, ... into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}
