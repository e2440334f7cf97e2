//! The arguments of the command line. Each group of commands has a file.

mod checks;
mod papers;
mod runs;
mod values;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub(crate) use checks::{LitmusArguments, Property, RelaxedAs, StressArguments, SyncOrder, VerifyArguments};
pub(crate) use papers::{GraphCommand, GraphInfoArguments, ReportArguments, ReproduceArguments};
pub(crate) use runs::{CompareArguments, RaceArguments, RaceFree, RunArguments, WhyArguments};

/// A laboratory for GPU memory: coherence protocols, memory models, and what
/// synchronization costs.
#[derive(Debug, Parser)]
#[command(name = "fencepost", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "Examples:
  fencepost list protocols
  fencepost run --system hlrc-8cu --protocol vi --workload vec-add
  fencepost compare --system hlrc-8cu --scenarios vi,no-l1 --workload vec-add,histogram
  fencepost why vi no-l1 --system hlrc-8cu --workload reduce
  fencepost litmus litmus/hrf/fig7.litmus --model hrf-indirect --advise
  fencepost race --system hrf-8cu --workload race-missing-fence

Exit codes: 0 success, 1 a check failed (a wrong answer, a run that is stuck, a race, a litmus test that
is not as expected or not fully covered), 2 bad input.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show what there is to choose from
    List(ListArguments),
    /// Run one workload on one machine under one protocol
    Run(RunArguments),
    /// Run several scenarios side by side, with speedups over the first
    Compare(CompareArguments),
    /// Say where the cycles between two scenarios went
    Why(WhyArguments),
    /// Run a paper's experiments and hold its claims against what comes out
    Reproduce(ReproduceArguments),
    /// Write the HTML report of a reproduction again from its results
    Report(ReportArguments),
    /// Check litmus tests under a memory model: outcomes, races, scopes
    Litmus(LitmusArguments),
    /// Verify a protocol: every order of everything, against what it claims
    Verify(VerifyArguments),
    /// Stress a protocol: random programs without races on a machine too large to verify
    Stress(StressArguments),
    /// Watch whole runs of a program for races, and advise on scopes
    Race(RaceArguments),
    /// Say what a graph is like
    #[command(
        subcommand,
        after_help = "Example:
  fencepost graph info USA-road-d.BAY"
    )]
    Graph(GraphCommand),
    /// Print a completion script for a shell
    Completions(CompletionsArguments),
    /// Print the manual page, or write one page a command into a folder
    Man(ManArguments),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Subject {
    /// Machines that can be simulated
    Systems,
    /// Coherence protocols
    Protocols,
    /// A protocol each, and how programs that steal work use it, as the hLRC paper has them
    Scenarios,
    /// Programs to run
    Workloads,
    /// Memory models
    Models,
    /// Papers whose designs or machines are here
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
    /// What to list
    pub(crate) subject: Subject,
    /// One of them, with all that there is to know: the settings of a workload, the
    /// parameters of a machine, the claims of a paper
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
    /// The shell
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
