//! What can be typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

/// A laboratory for GPU memory: coherence protocols, memory models, and what
/// synchronization costs.
#[derive(Debug, Parser)]
#[command(name = "fencepost", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "Examples:
  fencepost list protocols
  fencepost run --system hlrc-8cu --protocol vi --workload vec-add
  fencepost compare --system hlrc-8cu --scenarios vi,no-l1 --workload vec-add,histogram

Exit codes: 0 success, 1 a check failed (a wrong answer, a run that is stuck), 2 bad input.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show what there is to choose from
    List(ListArguments),
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
    /// Memory models
    Models,
    /// Papers whose designs or machines are here
    Papers,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fencepost list systems
  fencepost list protocols --json")]
pub(crate) struct ListArguments {
    /// What to list
    pub(crate) subject: Subject,
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:
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
