//! What can be typed.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use lab::experiment::Question;
use litmus::progress::Scheduler;

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

/// What `run` and `compare` share.
#[derive(Args, Debug)]
pub(crate) struct Common {
    /// The machine: a name of `list systems`, or the path of a TOML file.
    /// Files in ./systems come before the built-in machine of the same name
    #[arg(long, short, value_name = "NAME|FILE")]
    pub(crate) system: String,
    /// The graph for sssp, color and pagerank: a stand-in by name (see docs/graphs.md), or a
    /// file in Matrix Market, DIMACS, METIS or SNAP format, perhaps compressed by gzip. Or the
    /// tree for uts, as T1 or T1-small (see docs/tasks.md)
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) input: Option<String>,
    /// Which part of a stand-in is made, as 1/16
    #[arg(long, value_name = "FRACTION", requires = "input")]
    pub(crate) scale: Option<String>,
    /// Perturbs dispatch order and start skew, never the input; 0 perturbs nothing
    #[arg(long, default_value_t = 0, value_name = "N", allow_hyphen_values = true, value_parser = seed)]
    pub(crate) seed: u64,
    /// A parameter of the workload; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) parameters: Vec<(String, String)>,
    /// Give a run up after so many cycles without progress: no wavefront
    /// retired, no byte changed, no operation new [default: 500000]
    ///
    /// Two things are waited for, however small the number is. While a wavefront, the
    /// host or a kernel's launch computes for more than a quarter of it, the cycles
    /// do not count. And a run is never given up in less than 16 round trips to
    /// memory, or four periods of the longest timer: the machine needs them to show
    /// progress.
    #[arg(long, value_name = "CYCLES", value_parser = cycles)]
    pub(crate) patience: Option<u64>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fencepost run --system hlrc-8cu --protocol vi --workload vec-add
  fencepost run --system titan-v --protocol vi --workload histogram --set bins=64 --json
  fencepost run --system hlrc-128cu --scenario rsp --workload sssp --input c-68 --scale 1/16
  fencepost run --system my-gpu.toml --protocol no-l1 --workload reduce --perfetto reduce.perfetto-trace
  fencepost run --system hlrc-8cu --protocol vi --workload reduce --out reduce.parquet
  fencepost run --system hlrc-8cu --protocol vi --workload reduce --every 5000 --counter l1.hits
  fencepost run --system hlrc-8cu --protocol vi --workload reduce --every 1000 \\
      --counter l1.hits --counter dram_bytes --counter messages_in_flight --out reduce.csv")]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) common: Common,
    /// The coherence protocol: a name of `list protocols`
    #[arg(long, short, value_name = "NAME", required_unless_present = "scenario")]
    pub(crate) protocol: Option<String>,
    /// How the program uses the protocol, where the workload has a choice
    #[arg(long, value_name = "NAME")]
    pub(crate) policy: Option<String>,
    /// Protocol and policy at once, as `compare` takes them: steal-only, rsp+packed
    #[arg(long, value_name = "NAME", conflicts_with_all = ["protocol", "policy"])]
    pub(crate) scenario: Option<String>,
    /// The program to run: a name of `list workloads`
    #[arg(long, short, value_name = "NAME")]
    pub(crate) workload: String,
    /// Write a time line that opens in the Perfetto UI (ui.perfetto.dev)
    #[arg(long, value_name = "FILE")]
    pub(crate) perfetto: Option<PathBuf>,
    /// Write what came out as a table: a row with every counter in a column, or, with
    /// --counter, a row for each counter and interval
    #[arg(long, value_name = "FILE.csv|FILE.parquet")]
    pub(crate) out: Option<PathBuf>,
    /// Follow a counter over time, as l1.hits or noc_bytes_sent; may be repeated. `--json` lists
    /// all counters
    #[arg(long = "counter", value_name = "NAME")]
    pub(crate) counters: Vec<String>,
    /// How many cycles an interval of --counter and of the counters in --perfetto has
    /// [default: 1000]
    #[arg(long, value_name = "CYCLES", value_parser = interval)]
    pub(crate) every: Option<NonZeroU64>,
    /// Lose a message on purpose, the Nth of that name: how a broken machine behaves
    #[arg(long, value_name = "MESSAGE[:N]", value_parser = message)]
    pub(crate) drop: Option<(String, u64)>,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fencepost compare --system hlrc-8cu --scenarios vi,no-l1 --workload vec-add
  fencepost compare --system hrf-8cu --scenarios vi,no-l1 --workload reduce,histogram,vec-copy --json
  fencepost compare --system hlrc-8cu,titan-v --scenarios vi,no-l1 --workload reduce
  fencepost compare --system hlrc-8cu --scenarios vi,no-l1 --workload reduce --seeds 5 --html compare.html

--system takes several machines, comma-separated; each has a baseline of its own.")]
pub(crate) struct CompareArguments {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Repeat each run with so many seeds, from --seed on or from 1, and show means with their
    /// 95% intervals
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) seeds: Option<u64>,
    /// Write figures and all numbers as an HTML file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// What to compare, the first being the baseline: PROTOCOL[+POLICY], comma-separated. Programs
    /// that steal work also know the scenarios of the hLRC paper: baseline, scope-only, steal-only
    #[arg(long, value_name = "A,B,...", value_delimiter = ',', required = true)]
    pub(crate) scenarios: Vec<String>,
    /// The programs to run, comma-separated
    #[arg(long, short, value_name = "NAME,...", value_delimiter = ',', required = true)]
    pub(crate) workload: Vec<String>,
}

#[derive(Args, Debug)]
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
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
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
#[command(after_help = "Examples:
  fencepost litmus litmus/c11/SB.litmus --model tso
  fencepost litmus litmus/ptx/MP+cta.litmus --model ptx-7.5 --explain --dot mp.dot
  fencepost litmus litmus/hrf/fig7.litmus --model hrf-indirect --advise
  fencepost litmus litmus/c11 --model my-model.cat --json
  fencepost litmus litmus/vulkan/spin.litmus --model vulkan --property liveness --scheduler hsa
  fencepost litmus --model opencl --expect litmus/opencl-expected.csv --quiet

Exit codes: 0 success (whatever is allowed, forbidden or racy); 1 a test is not as expected, or
not everything was covered (a bound, --timeout, Ctrl-C: what was found so far is printed); 2 bad
input: a test, model or table that cannot be read, or a model that does not fit a test. Of several
tests the others are still checked.")]
pub(crate) struct LitmusArguments {
    /// Tests, folders of tests (every *.litmus file in and below them), lists
    /// (@FILE, a path a line), or - for standard input. With --expect, of the
    /// tests in folders those that are in the table
    #[arg(value_name = "FILE|DIR|@LIST|-", required_unless_present_any = ["expect", "expect_race_free"])]
    pub(crate) paths: Vec<PathBuf>,
    /// The memory model: a name of `list models`, or the path of a .cat file
    #[arg(long, short, value_name = "NAME|FILE.cat")]
    pub(crate) model: String,
    /// Where files are looked for that a model of one's own includes, after the
    /// model's own folder
    #[arg(short = 'I', value_name = "DIR")]
    pub(crate) include: Vec<PathBuf>,
    /// A variant of the model: what `if "NAME"` asks for in it
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) variant: Vec<String>,
    /// Definitions and instructions in front of a model of one's own
    #[arg(long, value_name = "FILE.bell")]
    pub(crate) bell: Option<PathBuf>,
    /// What is asked of a test: its own condition, or whether all of its
    /// executions end
    #[arg(long, value_name = "PROPERTY", default_value = "condition")]
    pub(crate) property: Property,
    /// Which threads go on for certain (with --property liveness): every one
    /// (fair), those that have taken a step (obe), the first that has not
    /// ended (hsa), those before one that has taken a step (lobe), or hsa and
    /// obe together [default: fair]
    #[arg(long, value_name = "SCHEDULER")]
    pub(crate) scheduler: Option<Scheduler>,
    /// Print JSON instead of herd's blocks
    #[arg(long)]
    pub(crate) json: bool,
    /// Tell why: the execution that shows an outcome or the check that refuses
    /// it, and every race. Of a single test, its first race is told anyway
    #[arg(long)]
    pub(crate) explain: bool,
    /// Advise on scopes: the smallest changes that make a racy test race-free,
    /// or which scopes of a race-free one could be smaller (drf and hrf models)
    #[arg(long)]
    pub(crate) advise: bool,
    /// Write an execution of each test for Graphviz: a race, or else the
    /// outcome asked for, or else what refuses it
    #[arg(long, value_name = "FILE")]
    pub(crate) dot: Option<PathBuf>,
    /// A table of lines `file,1` or `file,0`, relative to it: is the test's
    /// condition met, or do all executions end?
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) expect: Option<PathBuf>,
    /// The same: is the test free of races?
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) expect_race_free: Option<PathBuf>,
    /// Print only the summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// How often a loop goes back; rounds that only wait do not count [default:
    /// 2, or 8 under drf and hrf models]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) unroll: Option<u16>,
    /// Give a test up after so many seconds, and print what was found until then
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// How many tests are checked at once [default: one a core]
    #[arg(long, short, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Which releases and acquires of a scope synchronize (drf and hrf models) [default:
    /// any-location]
    #[arg(long, value_name = "READING")]
    pub(crate) so: Option<SyncOrder>,
    /// Operations of nested scopes synchronize (hrf models)
    #[arg(long)]
    pub(crate) inclusion: bool,
    /// What a relaxed atomic is (drf and hrf models, which do not define it)
    #[arg(long, value_name = "READING")]
    pub(crate) relaxed_as: Option<RelaxedAs>,
}

#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("what").required(true))]
#[command(after_help = "Examples:
  fencepost verify vi
  fencepost verify --all --mutants --jobs 2 --memory 8G
  fencepost verify vi --litmus litmus/hrf --operations 0 --charts charts
  fencepost verify vi --sample 2000 --seed 7
  fencepost verify --replay charts/hlrc-1.trace
  fencepost verify --replay charts/hlrc-1.trace --system hrf-8cu

Exit codes: 0 every claim holds within the bounds; 1 a claim is refuted (with the shortest way
there as a chart), not everything was covered (--memory, --timeout, Ctrl-C), or a seeded fault
was not noticed (--mutants); 2 bad input.
With --replay: 0 the counterexample is none any more: the program comes to an end that every claim
allows; 1 the same fault comes out, or another one, or not everything was covered; 2 the file is
none, one of its moves is not open, they end before the program does, or the machine of --system
does something else.")]
pub(crate) struct VerifyArguments {
    /// The protocol: a name of `list protocols`
    #[arg(value_name = "PROTOCOL", group = "what")]
    pub(crate) protocol: Option<String>,
    /// Every protocol
    #[arg(long, group = "what")]
    pub(crate) all: bool,
    /// Make the moves of a counterexample again, from a file that --charts wrote,
    /// and say whether the same fault comes out
    #[arg(long, value_name = "FILE", group = "what", conflicts_with_all = ["litmus", "operations", "sample", "seed", "no_symmetry", "chiplets", "mutants", "jobs", "charts", "table"])]
    pub(crate) replay: Option<PathBuf>,
    /// With --replay: make the moves in the timed simulator, on a machine with the
    /// caches and cores of the file and the latencies of this one; a name of
    /// `list systems`, or the path of a TOML file
    #[arg(long, short, value_name = "NAME|FILE", requires = "replay")]
    pub(crate) system: Option<String>,
    /// Tests, and folders of tests, in place of the shipped ones; may be repeated
    #[arg(long, value_name = "FILE|DIR")]
    pub(crate) litmus: Vec<PathBuf>,
    /// Also programs that are made, with up to so many operations: of two threads
    /// with two each all of them, of larger ones those in which synchronization
    /// orders data, and some that race; 0 for none
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(0..=6))]
    pub(crate) operations: u8,
    /// Also so many programs that are drawn from a seed, in which synchronization
    /// orders data, and some others: of five or six operations, two threads of up to
    /// three or three of up to two
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub(crate) sample: u32,
    /// The seed from which they are drawn
    #[arg(long, default_value_t = 0, value_name = "N", allow_hyphen_values = true, value_parser = seed, requires = "sample")]
    pub(crate) seed: u64,
    /// Make programs that differ only in names as well: of threads, words, lines,
    /// compute units and work-groups, but for --sample. One of them is enough; this
    /// is to check that
    #[arg(long)]
    pub(crate) no_symmetry: bool,
    /// Chiplets that compute units and banks are divided among; with several, the
    /// pages of the first two lines are placed in every way
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4))]
    pub(crate) chiplets: u16,
    /// Then seed faults into every row and step, and see which are noticed
    #[arg(long)]
    pub(crate) mutants: bool,
    /// The most memory, as 512M or 8G, for all tests that are explored at once;
    /// beyond it the search is incomplete. With --replay it bounds the search for
    /// faults of all runs [default: 2G for each of --jobs]
    #[arg(long, value_name = "BYTES", value_parser = memory)]
    pub(crate) memory: Option<u64>,
    /// End after so many seconds with what is known then
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// How many tests are explored at once [default: one a core]
    #[arg(long, short, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Write each counterexample into this folder: a chart as text and as a
    /// drawing, and a file that --replay reads
    #[arg(long, value_name = "DIR")]
    pub(crate) charts: Option<PathBuf>,
    /// Write the table of results into this file, between its marks
    /// `<!-- results: begin -->` and `<!-- results: end -->`
    #[arg(long, value_name = "FILE")]
    pub(crate) table: Option<PathBuf>,
    /// Print JSON instead of a report
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("whom").required(true))]
#[command(after_help = "Examples:
  fencepost stress vi
  fencepost stress --all --episodes 100000 --timeout 600
  fencepost stress hlrc --seed 4711 --episodes 1

An episode is a program of 15 wavefronts on 8 compute units with tiny caches, and of the host, made
from its seed. Each of its loads has one right value, by the rules of what the protocol claims. The
episode that fails is told by its seed, and made small.

Exit codes: 0 every value was right; 1 a value was wrong, something never ended, or not all episodes
ran (--timeout, Ctrl-C); 2 bad input.")]
pub(crate) struct StressArguments {
    /// The protocol: a name of `list protocols`
    #[arg(value_name = "PROTOCOL", group = "whom")]
    pub(crate) protocol: Option<String>,
    /// Every protocol
    #[arg(long, group = "whom")]
    pub(crate) all: bool,
    /// How many episodes
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) episodes: u64,
    /// The seed of the first episode; each further one has the next
    #[arg(long, default_value_t = 0, value_name = "N", allow_hyphen_values = true, value_parser = seed)]
    pub(crate) seed: u64,
    /// The model by whose rules episodes are free of races: drf, hrf-direct, hrf-indirect, opencl
    /// or opencl-rsp [default: what the protocol claims]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Chiplets that compute units and banks are divided among; with several, a
    /// seed decides on which each line lies
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = stressed_chiplets)]
    pub(crate) chiplets: u16,
    /// End after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// How many episodes run at once [default: one a core]
    #[arg(long, short, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Print JSON instead of a report
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Two accesses race if nothing but their timing ordered them, so a race is found also where the
answer came out right. Places are named as file:line:column of the kernel's source.

Examples:
  fencepost race --system hrf-8cu --protocol vi --workload race-missing-fence
  fencepost race --system hrf-8cu --protocol vi --policy work-group --workload lock-counter
  fencepost race --system hlrc-8cu --scenario steal-only --workload sssp --seeds 3 --advise

Exit codes: 0 no race was seen; 1 a race, a wrong answer, or a run that is stuck; 2 bad input."
)]
pub(crate) struct RaceArguments {
    #[command(flatten)]
    pub(crate) common: Common,
    /// The coherence protocol: a name of `list protocols`
    #[arg(long, short, value_name = "NAME", default_value = "vi")]
    pub(crate) protocol: String,
    /// How the program uses the protocol, where the workload has a choice
    #[arg(long, value_name = "NAME")]
    pub(crate) policy: Option<String>,
    /// Protocol and policy at once, as `compare` takes them: steal-only, rsp+packed
    #[arg(long, value_name = "NAME", conflicts_with_all = ["protocol", "policy"])]
    pub(crate) scenario: Option<String>,
    /// The program to run: a name of `list workloads`
    #[arg(long, short, value_name = "NAME")]
    pub(crate) workload: String,
    /// When a program is free of races
    #[arg(long, short, value_name = "NAME", default_value = "hrf-indirect")]
    pub(crate) model: RaceFree,
    /// Which releases of a scope an acquire comes after
    #[arg(long, value_name = "READING", default_value = "same-location")]
    pub(crate) so: SyncOrder,
    /// How many runs, each with the next seed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) seeds: u32,
    /// Say which scopes were wider than any communication seen needed, and what
    /// narrower ones would save (runs again with each)
    #[arg(long)]
    pub(crate) advise: bool,
}

/// When a program is free of races.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RaceFree {
    /// Data-race-free: scopes play no part
    Drf,
    /// Heterogeneous-race-free, direct: a chain keeps to one scope
    HrfDirect,
    /// Heterogeneous-race-free, indirect: the links of a chain may be of different scopes
    HrfIndirect,
}

/// What is asked of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Property {
    /// The test's own condition
    Condition,
    /// Does every execution end?
    Liveness,
}

/// A reading of the scoped synchronization order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SyncOrder {
    /// Any release with any later acquire of its scope: as printed
    #[value(name = "any-location", alias = "all")]
    AnyLocation,
    /// Only those of one location
    SameLocation,
}

/// A reading of relaxed atomics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RelaxedAs {
    /// An ordinary data access
    Data,
    /// Synchronization that orders nothing
    Sync,
    /// Loads acquire, stores release
    AcqRel,
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

#[derive(Args, Debug)]
#[command(after_help = "Each cause shows what it adds (+) or saves (-) from A to B; together they are
the difference in cycles.

Examples:
  fencepost why vi+work-group vi --system hlrc-8cu --workload lock-counter
  fencepost why vi no-l1 --system hlrc-8cu --workload reduce --json
  fencepost why vi no-l1 --system hlrc-8cu --workload vec-add --html why.html")]
pub(crate) struct WhyArguments {
    /// The first scenario: PROTOCOL[+POLICY]
    #[arg(value_name = "A")]
    pub(crate) first: String,
    /// The second scenario
    #[arg(value_name = "B")]
    pub(crate) second: String,
    #[command(flatten)]
    pub(crate) common: Common,
    /// The program to run: a name of `list workloads`
    #[arg(long, short, value_name = "NAME")]
    pub(crate) workload: String,
    /// How both scenarios use the protocol, beside what they say themselves
    #[arg(long, value_name = "NAME")]
    pub(crate) policy: Option<String>,
    /// Lose a message on purpose, in both runs: the Nth of that name
    #[arg(long, value_name = "MESSAGE[:N]", value_parser = message)]
    pub(crate) drop: Option<(String, u64)>,
    /// Write the table and a waterfall plot as an HTML file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
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

impl Common {
    /// The part of a question that these arguments hold.
    pub(crate) fn question(&self) -> Question {
        Question {
            system: self.system.clone(),
            input: self.input.clone(),
            scale: self.scale.clone(),
            settings: self.parameters.clone(),
            seed: self.seed,
            patience_cycles: self.patience,
            ..Question::default()
        }
    }
}

fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}

fn cycles(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(cycles @ 1..) => Ok(cycles),
        _ => Err(format!("expected a whole number from 1 to {}", u64::MAX)),
    }
}

fn interval(text: &str) -> Result<NonZeroU64, String> {
    text.parse().map_err(|_| format!("expected a whole number from 1 to {}", u64::MAX))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number: Option<f64> = text.strip_suffix('s').unwrap_or(text).parse().ok();
    let time = number.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or_else(|| String::from("expected a number of seconds, for example 10 or 0.5"))
}

fn message(text: &str) -> Result<(String, u64), String> {
    let (name, nth) = text.split_once(':').unwrap_or((text, "1"));
    match nth.parse() {
        Ok(nth @ 1..) if !name.is_empty() => Ok((name.to_owned(), nth)),
        _ => Err(String::from("expected MESSAGE or MESSAGE:N with N from 1, for example Data:3")),
    }
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.trim().to_owned())),
        _ => Err(String::from("expected KEY=VALUE, for example bins=64")),
    }
}

/// The most jobs: each is a thread.
const JOBS_MAX: usize = 1024;

/// The compute units are divided evenly.
fn stressed_chiplets(text: &str) -> Result<u16, String> {
    let number = text.parse().ok().filter(|chiplets| [1, 2, 4, 8].contains(chiplets));
    number.ok_or_else(|| String::from("expected 1, 2, 4 or 8"))
}

fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    let number = text.parse().ok().filter(|jobs: &NonZeroUsize| jobs.get() <= JOBS_MAX);
    number.ok_or_else(|| format!("expected a number from 1 to {JOBS_MAX}"))
}

/// The least memory: in less no search gets anywhere.
const MEMORY_MIN: u64 = 1 << 10;

fn memory(text: &str) -> Result<u64, String> {
    let refuse = || String::from("expected a number of bytes from 1K on, such as 512M or 8G");
    let (digits, shift) = match text.trim_end_matches(['i', 'B']).to_ascii_uppercase() {
        t if t.ends_with('K') => (t.trim_end_matches('K').to_owned(), 10),
        t if t.ends_with('M') => (t.trim_end_matches('M').to_owned(), 20),
        t if t.ends_with('G') => (t.trim_end_matches('G').to_owned(), 30),
        t => (t, 0),
    };
    let number: u64 = digits.parse().map_err(|_| refuse())?;
    number.checked_mul(1 << shift).filter(|&bytes| bytes >= MEMORY_MIN).ok_or_else(refuse)
}
