//! The commands that check models and protocols: `litmus`, `verify` and `stress`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use litmus::progress::Scheduler;

use super::values::{jobs, memory, seconds, stressed_chiplets, whole};

#[derive(Args, Debug)]
#[command(allow_negative_numbers = true)]
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
    /// Macros of tests in C, in place of the kernel's functions
    #[arg(long, value_name = "FILE.def")]
    pub(crate) macros: Option<PathBuf>,
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
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1, u16::MAX.into()))]
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
#[command(allow_negative_numbers = true)]
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
With --replay: 0 the counterexample no longer reproduces: the program comes to an end that every
claim allows; 1 the same fault comes out, or another one, or not everything was covered; 2 the file
cannot be read, one of its moves is not open, they end before the program does, or the machine of
--system does something else.")]
pub(crate) struct VerifyArguments {
    /// The protocol: a name of `list protocols`
    #[arg(value_name = "PROTOCOL", group = "what")]
    pub(crate) protocol: Option<String>,
    /// Every protocol
    #[arg(long, group = "what")]
    pub(crate) all: bool,
    /// Make the moves of a counterexample again, from a file that --charts wrote,
    /// and say whether the same fault comes out
    #[arg(long, value_name = "FILE", group = "what", conflicts_with_all = ["litmus", "operations", "sample", "seed", "no_symmetry", "chiplets", "kernels", "hosts", "preemptions", "mutants", "jobs", "charts", "record"])]
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
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = whole::<u8>(0, 6))]
    pub(crate) operations: u8,
    /// Also so many programs that are drawn from a seed, in which synchronization
    /// orders data, and some others: of five or six operations, two threads of up to
    /// three or three of up to two
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<u32>(0, 1_000_000))]
    pub(crate) sample: u32,
    /// The seed from which they are drawn
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = whole::<u64>(0, u64::MAX), requires = "sample")]
    pub(crate) seed: u64,
    /// Make programs that differ only in names as well: of threads, words, lines,
    /// compute units and work-groups, but for --sample. One of them is enough; this
    /// is to check that
    #[arg(long)]
    pub(crate) no_symmetry: bool,
    /// Chiplets that compute units and banks are divided among; with several, the
    /// pages of the first two lines are placed in every way
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = whole::<u16>(1, 4))]
    pub(crate) chiplets: u16,
    /// Also each program with its work-groups, and its threads on the host, spread over
    /// up to so many kernels, one after the other
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = whole::<u8>(1, 4))]
    pub(crate) kernels: u8,
    /// Also programs with several threads on the host on so many hosts, and programs without
    /// a device that synchronize at system scope with all threads on them
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = whole::<u16>(1, 4))]
    pub(crate) hosts: u16,
    /// Take work-groups off their compute units at any time, so often in all, to go on on
    /// other ones
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = whole::<u8>(0, 4))]
    pub(crate) preemptions: u8,
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
    /// Record the results in this TOML file. The records of other protocols stay
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) record: Option<PathBuf>,
    /// Print JSON instead of a report
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(allow_negative_numbers = true)]
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
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = whole::<u64>(1, u64::MAX))]
    pub(crate) episodes: u64,
    /// The seed of the first episode; each further one has the next
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = whole::<u64>(0, u64::MAX))]
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
