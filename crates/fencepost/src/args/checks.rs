//! The commands that check models and protocols: `litmus`, `verify` and `stress`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use litmus::progress::Scheduler;

use super::values::{jobs, memory, parameter, seconds, stressed_chiplets, whole};

#[derive(Args, Debug)]
#[command(allow_negative_numbers = true)]
#[command(after_help = "Examples:
  fencepost litmus litmus/c11/SB.litmus --model tso
  fencepost litmus litmus/ptx/MP+cta.litmus --model ptx-7.5 --explain --dot mp.dot
  fencepost litmus litmus/hrf/fig7.litmus --model hrf-indirect --advise
  fencepost litmus litmus/c11 --model my-model.cat --json
  fencepost litmus litmus/vulkan/spin.litmus --model vulkan --property liveness --scheduler hsa
  fencepost litmus --model opencl --expect litmus/opencl-expected.csv --quiet

Exit codes:
  0  every test was checked, whatever is allowed, forbidden or racy
  1  a test is not as expected, or a bound, --timeout or Ctrl-C left something uncovered; the \
results so far are printed
  2  bad input: a test, a model or a table cannot be read, or a model does not fit a test; the \
other tests are still checked")]
pub(crate) struct LitmusArguments {
    /// Tests, folders of tests (every *.litmus file in and below them), lists (@FILE, one path in
    /// each line), or - for standard input. With --expect, a test of a folder is checked only if
    /// the table names it
    #[arg(value_name = "FILE|DIR|@LIST|-", required_unless_present_any = ["expect", "expect_race_free"])]
    pub(crate) paths: Vec<PathBuf>,
    /// The memory model: a name from `list models`, or the path of a .cat file
    #[arg(long, short, value_name = "NAME|FILE.cat")]
    pub(crate) model: String,
    /// A folder with files that your own model includes, searched after the model's
    /// own folder
    #[arg(short = 'I', value_name = "DIR")]
    pub(crate) include: Vec<PathBuf>,
    /// A variant of the model: makes `if "NAME"` true in the model's text
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) variant: Vec<String>,
    /// A file of definitions and instructions (in the language of herd's bell files) that is read
    /// before your own model
    #[arg(long, value_name = "FILE.bell")]
    pub(crate) bell: Option<PathBuf>,
    /// A file of macros for tests in C, in place of the definitions of the Linux kernel's functions
    #[arg(long, value_name = "FILE.def")]
    pub(crate) macros: Option<PathBuf>,
    /// The property to check: the condition that the test states, or whether all executions end
    #[arg(long, value_name = "PROPERTY", default_value = "condition")]
    pub(crate) property: Property,
    /// With --property liveness, the threads that the scheduler lets proceed: all threads (fair),
    /// the threads that have taken a step (obe), the first thread that has not ended (hsa), the
    /// threads of obe and all threads before them (lobe), or the threads of hsa and of obe
    /// [default: fair]
    #[arg(long, value_name = "SCHEDULER")]
    pub(crate) scheduler: Option<Scheduler>,
    /// Print JSON instead of text in the format of herd
    #[arg(long)]
    pub(crate) json: bool,
    /// Show the execution with an outcome, or the check that forbids it, and every race. Without
    /// --explain, a single test shows its first race
    #[arg(long)]
    pub(crate) explain: bool,
    /// Advise on scopes: the smallest changes that make a racy test race-free, or the
    /// scopes of a race-free test that can be narrower (drf and hrf models)
    #[arg(long)]
    pub(crate) advise: bool,
    /// Write a drawing of one execution of each test for Graphviz: of a race if there is one, else
    /// of the outcome in the condition, else of the cycle that forbids this outcome
    #[arg(long, value_name = "FILE")]
    pub(crate) dot: Option<PathBuf>,
    /// A table of expected answers: lines `file,1` or `file,0`, with paths relative to the table.
    /// The number is 1 if the condition of the test is met or, with --property liveness, if all
    /// executions end
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) expect: Option<PathBuf>,
    /// A table of the same form as for --expect. The number is 1 if the test is free of races
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) expect_race_free: Option<PathBuf>,
    /// Print only the summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// The maximum number of iterations of a loop; iterations that only wait are not counted
    /// [default: 2, or 8 under drf and hrf models]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1, u16::MAX.into()))]
    pub(crate) unroll: Option<u16>,
    /// Stop each test after this many seconds, and print its results so far
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// The number of tests that are checked at the same time [default: one per core]
    #[arg(long, short, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// The releases that an acquire synchronizes with: all releases of the acquire's scope, or only
    /// those that also have the acquire's location (drf and hrf models) [default: any-location]
    #[arg(long, value_name = "READING")]
    pub(crate) so: Option<SyncOrder>,
    /// Let operations of two scopes synchronize if one scope contains the other (hrf models)
    #[arg(long)]
    pub(crate) inclusion: bool,
    /// The treatment of relaxed atomics, which the drf and hrf models do not define
    #[arg(long, value_name = "READING")]
    pub(crate) relaxed_as: Option<RelaxedAs>,
}

#[derive(Args, Debug)]
#[command(allow_negative_numbers = true)]
#[command(group = clap::ArgGroup::new("what").required(true))]
#[command(after_help = "Examples:
  fencepost verify vi
  fencepost verify --all --mutants --jobs 2 --memory 8G
  fencepost verify --all --mutants --record results.toml --resume
  fencepost verify vi --litmus litmus/hrf --operations 0 --charts charts
  fencepost verify vi --mutants='Inv in V'
  fencepost verify vi --sample 2000 --seed 7
  fencepost verify vi --cutoff
  fencepost verify --replay charts/hlrc-1.trace
  fencepost verify --replay charts/hlrc-1.trace --system hrf-8cu

Exit codes:
  0  every claim holds within the bounds
  1  a claim is refuted (the report draws the shortest schedule), a bound, --timeout or Ctrl-C \
left something uncovered, or a seeded fault survives (--mutants)
  2  bad input

Exit codes with --replay:
  0  the counterexample no longer reproduces: every claim allows the outcome
  1  the replay shows the fault of the trace or another fault, or a bound left something uncovered
  2  the file cannot be read, a move is not possible, the moves end before the program does, or \
the machine of --system behaves differently")]
pub(crate) struct VerifyArguments {
    /// The protocol: a name from `list protocols`
    #[arg(value_name = "PROTOCOL", group = "what")]
    pub(crate) protocol: Option<String>,
    /// Verify every protocol
    #[arg(long, group = "what")]
    pub(crate) all: bool,
    /// Replay a counterexample that --charts wrote, and report whether the same fault
    /// comes out
    #[arg(long, value_name = "FILE", group = "what", conflicts_with_all = ["litmus", "operations", "test_size", "sample", "seed", "no_symmetry", "chiplets", "kernels", "hosts", "preemptions", "unordered", "mutants", "explain", "jobs", "charts", "record", "resume"])]
    pub(crate) replay: Option<PathBuf>,
    /// With --replay: make the moves in the timed simulator, with the caches and cores of
    /// the trace and the latencies of this machine; a name from `list systems`, or the
    /// path of a TOML file
    #[arg(long, short, value_name = "NAME|FILE", requires = "replay")]
    pub(crate) system: Option<String>,
    /// A parameter of the machine of --system, such as dram.row_hit_cycles=30; may be repeated
    #[arg(long = "machine", value_name = "KEY=VALUE", value_parser = parameter, requires = "system")]
    pub(crate) machine: Vec<(String, String)>,
    /// Tests, and folders of tests, in place of the shipped ones; may be repeated
    #[arg(long, value_name = "FILE|DIR")]
    pub(crate) litmus: Vec<PathBuf>,
    /// Also check generated programs with at most this many operations: all programs of two threads
    /// with up to three operations and, of the larger programs, those in which synchronization orders
    /// data and some others. 0 for no generated programs [default: 4; 1 for a protocol with clocks,
    /// epochs, logical times or coherent caches of hosts, whose programs have many more states]
    #[arg(long, value_name = "N", value_parser = whole::<u8>(0, 6))]
    pub(crate) operations: Option<u8>,
    /// Which tests and generated programs to check; the tests that were written for a protocol are
    /// checked whatever their size [default: small for a protocol with logical times
    /// or epochs, short for a protocol with coherent caches of hosts, and otherwise all]
    #[arg(long, value_name = "SIZE")]
    pub(crate) test_size: Option<TestSize>,
    /// Also check this many random programs in which synchronization orders data, and some random
    /// programs in which it does not. Each has five or six operations, on two threads with up to
    /// three operations each or on three threads with up to two
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<u32>(0, 1_000_000))]
    pub(crate) sample: u32,
    /// The seed of the sample
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = whole::<u64>(0, u64::MAX), requires = "sample")]
    pub(crate) seed: u64,
    /// Also generate the programs that differ from another program only in the names of threads,
    /// words, lines, compute units and work-groups, except for --sample. This checks that one
    /// program of each set of such programs is enough
    #[arg(long)]
    pub(crate) no_symmetry: bool,
    /// The number of chiplets that share the compute units and banks. The pages of the first two
    /// lines are placed on the chiplets in every way
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = whole::<u16>(1, 4))]
    pub(crate) chiplets: u16,
    /// Also spread the work-groups of each program, and its threads on the host, over up
    /// to this many successive kernels
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = whole::<u8>(1, 4))]
    pub(crate) kernels: u8,
    /// Also run each program with its host threads spread over this many hosts, and each program
    /// that hosts can run (no device scope, no barrier, synchronization at system scope) with all
    /// threads on hosts [default: 2 if the protocol keeps caches of hosts coherent, otherwise 1]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1, 4))]
    pub(crate) hosts: Option<u16>,
    /// The maximum number of times in a run that a work-group moves to another compute unit
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = whole::<u8>(0, 4))]
    pub(crate) preemptions: u8,
    /// Deliver the messages between two controllers in any order. This tests whether a
    /// protocol needs FIFO channels
    #[arg(long)]
    pub(crate) unordered: bool,
    /// After the verification, seed a fault into each row and step, and count the mutants that are
    /// killed. With a text, try only the mutants whose names contain this text. With --all, a text
    /// leaves out the protocols without such a mutant
    #[arg(long, value_name = "TEXT", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(crate) mutants: Option<String>,
    /// Instead of the verification, check some programs with any number of compute units: one unit
    /// passes data to all others. See docs/verification.md
    #[arg(long, conflicts_with_all = ["litmus", "operations", "test_size", "sample", "seed", "no_symmetry", "chiplets", "kernels", "hosts", "preemptions", "unordered", "mutants", "explain", "charts", "record", "resume", "memory", "replay"])]
    pub(crate) cutoff: bool,
    /// Show what the verdict covers: for each family of programs, the number of programs and states;
    /// with --mutants, also the number of killed mutants, and the mutants that no run has reached; for
    /// each dimension of programs and machines and each of its values, the number of runs and states;
    /// and the pairs of values that no run has together
    #[arg(long)]
    pub(crate) explain: bool,
    /// The maximum memory, such as 512M or 8G, for all tests that are explored at the same time. A
    /// search that needs more is incomplete. With --replay, this limits the search for a fault that
    /// only all runs together show [default: 2G for each of --jobs]
    #[arg(long, value_name = "BYTES", value_parser = memory)]
    pub(crate) memory: Option<u64>,
    /// Stop after this many seconds, and report the results so far
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// The number of tests that are explored at the same time [default: one per core]
    #[arg(long, short, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Write each counterexample into this folder: a chart as text and as SVG, and a
    /// trace for --replay
    #[arg(long, value_name = "DIR")]
    pub(crate) charts: Option<PathBuf>,
    /// Record the results in this TOML file, and write their page beside it, with the extension md.
    /// The records of other protocols stay
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) record: Option<PathBuf>,
    /// With --all and --record: leave out the protocols for which the file has a record of the same
    /// code, tests and options, such as those of an interrupted run. The exit code covers the other
    /// protocols
    #[arg(long, requires_all = ["all", "record"])]
    pub(crate) resume: bool,
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

An episode is a random program of up to 15 wavefronts on up to 12 compute units with tiny caches, and \
of the host. Each load has one right value under the claim of the protocol. The report names the seed of \
an episode that fails, and shrinks the episode.

Exit codes:
  0  every value was right
  1  a value was wrong, an episode never ended, or --timeout or Ctrl-C left episodes out
  2  bad input")]
pub(crate) struct StressArguments {
    /// The protocol: a name from `list protocols`
    #[arg(value_name = "PROTOCOL", group = "whom")]
    pub(crate) protocol: Option<String>,
    /// Stress every protocol
    #[arg(long, group = "whom")]
    pub(crate) all: bool,
    /// The number of episodes
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = whole::<u64>(1, u64::MAX))]
    pub(crate) episodes: u64,
    /// The seed of the first episode; each further episode takes the next seed
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = whole::<u64>(0, u64::MAX))]
    pub(crate) seed: u64,
    /// The model under which episodes are free of races: drf, hrf-direct, hrf-indirect, opencl
    /// or opencl-rsp [default: the claim of the protocol]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The minimum number of chiplets that share the compute units and banks of each machine: 1,
    /// 2, 4 or 8. The seed decides on which chiplet each line is
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = stressed_chiplets)]
    pub(crate) chiplets: u16,
    /// Deliver the messages between two controllers in any order. This tests whether a
    /// protocol needs FIFO channels
    #[arg(long)]
    pub(crate) unordered: bool,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// The number of episodes that run at the same time [default: one per core]
    #[arg(long, short, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Print JSON instead of a report
    #[arg(long)]
    pub(crate) json: bool,
}

/// The property of a test that is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Property {
    /// The condition that the test states
    Condition,
    /// Whether every execution ends
    Liveness,
}

/// The tests and generated programs that are explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestSize {
    /// Tests of any size
    All,
    /// Only tests of at most eight instructions
    Short,
    /// Only tests of at most eight instructions by two threads of the device, or five by three
    Small,
}

/// The releases that an acquire synchronizes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SyncOrder {
    /// All releases of the acquire's scope, as in the HRF paper
    #[value(name = "any-location", alias = "all")]
    AnyLocation,
    /// Only releases that also have the acquire's location
    SameLocation,
}

/// The meaning of relaxed atomics, which the drf and hrf models do not define.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RelaxedAs {
    /// An ordinary data access
    Data,
    /// Synchronization that orders nothing
    Sync,
    /// Loads acquire, stores release
    AcqRel,
}
