//! The commands that run programs: `run`, `compare`, `why`, `race` and `workload info`.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use lab::experiment::Question;

use super::checks::SyncOrder;
use super::values::{key_value, message, parameter, whole};

/// The option that changes parameters of a machine. The commands `run`, `compare`, `why`, `race`
/// and `workload info` have this option.
#[derive(Args, Debug)]
pub(crate) struct MachineChanges {
    /// A parameter of the machine, such as l1.bytes=32k; may be repeated. `list systems NAME` shows
    /// the parameters of a machine
    #[arg(long = "machine", value_name = "KEY=VALUE", value_parser = parameter)]
    pub(crate) changes: Vec<(String, String)>,
}

/// The arguments that `run`, `compare`, `why` and `race` share.
#[derive(Args, Debug)]
pub(crate) struct Common {
    /// The machine: a name from `list systems`, or the path of a TOML file.
    /// A file in ./systems replaces the built-in machine of the same name
    #[arg(long, short, value_name = "NAME|FILE")]
    pub(crate) system: String,
    #[command(flatten)]
    pub(crate) machine: MachineChanges,
    /// The graph for a workload that takes one, such as sssp, bfs or spmv: a stand-in by name (see
    /// docs/graphs.md), or a file in Matrix Market, DIMACS, METIS or SNAP format, plain or
    /// compressed with gzip. Or the files of numbers for a workload such as matmul or nn, as text
    /// or as binary numbers, separated by commas (see docs/inputs.md). Or an input of the workload,
    /// such as the tree T1-small of uts (see docs/tasks.md)
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) input: Option<String>,
    /// The scale of a stand-in, such as 1/16
    #[arg(long, value_name = "FRACTION", requires = "input")]
    pub(crate) scale: Option<String>,
    /// The size of the program; `list workloads NAME` shows its settings. --set changes single
    /// settings of the size
    #[arg(long, value_name = "SIZE", value_parser = PossibleValuesParser::new(lab::catalog::size_names()))]
    pub(crate) size: Option<String>,
    /// The seed of random changes to the dispatch order and the start of wavefronts, never to the
    /// input; 0 for no change
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = whole::<u64>(0, u64::MAX))]
    pub(crate) seed: u64,
    /// A parameter of the workload; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) parameters: Vec<(String, String)>,
    /// Stop a run after this many cycles without progress: no wavefront retires, no byte changes,
    /// no new operation is issued [default: 500000]
    ///
    /// Cycles in which a wavefront, the host or a kernel launch computes for more than a quarter of
    /// this many cycles do not count. A run never stops before 16 round trips to memory, or four
    /// periods of the longest timer.
    #[arg(long, value_name = "CYCLES", value_parser = whole::<u64>(1, u64::MAX))]
    pub(crate) patience: Option<u64>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(allow_negative_numbers = true)]
#[command(after_help = "Examples:
  fencepost run --system hlrc-8cu --protocol vi --workload vec-add
  fencepost run --system titan-v --protocol vi --workload histogram --set bins=64 --json
  fencepost run --system hlrc-8cu --protocol vi --workload reduce --machine l1.bytes=32k
  fencepost run --system hlrc-8cu --protocol vi --workload vec-add --size tiny
  fencepost run --system hlrc-128cu --scenario rsp --workload sssp --input c-68 --scale 1/16
  fencepost run --system my-gpu.toml --protocol no-l1 --workload reduce --perfetto reduce.perfetto-trace
  fencepost run --system hlrc-8cu --protocol vi --workload reduce --out reduce.parquet
  fencepost run --system hlrc-8cu --protocol vi --workload reduce --every 5000 --counter l1.hits
  fencepost run --system hlrc-8cu --protocol vi --workload reduce --every 1000 \\
      --counter l1.hits --counter dram_bytes --counter messages_in_flight --out reduce.csv")]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) common: Common,
    /// The coherence protocol: a name from `list protocols`
    #[arg(long, short, value_name = "NAME", required_unless_present = "scenario")]
    pub(crate) protocol: Option<String>,
    /// The policy: how the program uses the protocol, if the workload has several policies
    #[arg(long, value_name = "NAME")]
    pub(crate) policy: Option<String>,
    /// Protocol and policy in one, as `compare` takes them: steal-only, rsp+packed
    #[arg(long, value_name = "NAME", conflicts_with_all = ["protocol", "policy"])]
    pub(crate) scenario: Option<String>,
    /// The program to run: a name from `list workloads`
    #[arg(long, short, value_name = "NAME")]
    pub(crate) workload: String,
    /// Write a time line that opens in the Perfetto UI (ui.perfetto.dev)
    #[arg(long, value_name = "FILE")]
    pub(crate) perfetto: Option<PathBuf>,
    /// Write the result as a table: one row with a column for each counter or, with
    /// --counter, one row for each counter and interval
    #[arg(long, value_name = "FILE.csv|FILE.parquet")]
    pub(crate) out: Option<PathBuf>,
    /// Follow a counter over time, such as l1.hits or noc_bytes_sent; may be repeated. `--json`
    /// lists all counters
    #[arg(long = "counter", value_name = "NAME")]
    pub(crate) counters: Vec<String>,
    /// The length of an interval in cycles, for --counter and for the counters in --perfetto
    /// [default: 1000]
    #[arg(long, value_name = "CYCLES", value_parser = whole::<NonZeroU64>(1, u64::MAX))]
    pub(crate) every: Option<NonZeroU64>,
    /// Drop the Nth message with the name MESSAGE, to see how a broken machine behaves
    #[arg(long, value_name = "MESSAGE[:N]", value_parser = message)]
    pub(crate) drop: Option<(String, u64)>,
}

#[derive(Args, Debug)]
#[command(allow_negative_numbers = true)]
#[command(after_help = "Examples:
  fencepost compare --system hlrc-8cu --scenarios vi,no-l1 --workload vec-add
  fencepost compare --system hrf-8cu --scenarios vi,no-l1 --workload reduce,histogram,vec-copy --json
  fencepost compare --system hlrc-8cu,titan-v --scenarios vi,no-l1 --workload reduce
  fencepost compare --system hlrc-8cu --scenarios vi,no-l1 --workload reduce --seeds 5 --html compare.html

--system takes several machines, separated by commas; each has its own baseline.")]
pub(crate) struct CompareArguments {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Repeat each run with this many seeds, from --seed on or from 1, and show means with 95%
    /// intervals
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1, 1000))]
    pub(crate) seeds: Option<u64>,
    /// Write figures and all numbers as an HTML file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// The scenarios, separated by commas; the first is the baseline. A scenario is
    /// PROTOCOL[+POLICY] or, for programs that steal work, a name from `list scenarios`
    #[arg(long, value_name = "A,B,...", value_delimiter = ',', required = true)]
    pub(crate) scenarios: Vec<String>,
    /// The programs to run, separated by commas
    #[arg(long, short, value_name = "NAME,...", value_delimiter = ',', required = true)]
    pub(crate) workload: Vec<String>,
}

#[derive(Args, Debug)]
#[command(allow_negative_numbers = true)]
#[command(
    after_help = "Two accesses race if only timing orders them. The detector finds a race also in a run with the \
right answer. A place is file:line:column of the kernel's source.

Examples:
  fencepost race --system hrf-8cu --protocol vi --workload race-missing-fence
  fencepost race --system hrf-8cu --protocol vi --policy work-group --workload lock-counter
  fencepost race --system hlrc-8cu --scenario steal-only --workload sssp --seeds 3 --advise

Exit codes:
  0  no race was seen
  1  a race, a wrong answer, or a stuck run
  2  bad input"
)]
pub(crate) struct RaceArguments {
    #[command(flatten)]
    pub(crate) common: Common,
    /// The coherence protocol: a name from `list protocols`
    #[arg(long, short, value_name = "NAME", default_value = "vi")]
    pub(crate) protocol: String,
    /// The policy: how the program uses the protocol, if the workload has several policies
    #[arg(long, value_name = "NAME")]
    pub(crate) policy: Option<String>,
    /// Protocol and policy in one, as `compare` takes them: steal-only, rsp+packed
    #[arg(long, value_name = "NAME", conflicts_with_all = ["protocol", "policy"])]
    pub(crate) scenario: Option<String>,
    /// The program to run: a name from `list workloads`
    #[arg(long, short, value_name = "NAME")]
    pub(crate) workload: String,
    /// The model that defines which accesses race
    #[arg(long, short, value_name = "NAME", default_value = "hrf-indirect")]
    pub(crate) model: RaceFree,
    /// The releases that an acquire synchronizes with: all releases of the acquire's scope, or only
    /// those that also have the acquire's location
    #[arg(long, value_name = "READING", default_value = "same-location")]
    pub(crate) so: SyncOrder,
    /// The number of runs; each run after the first one takes the next seed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u32>(1, 1000))]
    pub(crate) seeds: u32,
    /// Report the scopes that are wider than the runs need, and measure runs with narrower scopes
    #[arg(long)]
    pub(crate) advise: bool,
}

/// The definition of a race-free program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RaceFree {
    /// Data-race-free: scopes have no effect
    Drf,
    /// Heterogeneous-race-free, direct: all synchronization between two accesses has one scope
    HrfDirect,
    /// Heterogeneous-race-free, indirect: a chain of synchronization between two accesses may have
    /// several scopes
    HrfIndirect,
}

#[derive(Args, Debug)]
#[command(allow_negative_numbers = true)]
#[command(
    after_help = "Each cause shows the cycles that it adds (+) or saves (-) from A to B. The causes add up to the \
difference.

Examples:
  fencepost why vi+work-group vi --system hlrc-8cu --workload lock-counter
  fencepost why vi no-l1 --system hlrc-8cu --workload reduce --json
  fencepost why vi no-l1 --system hlrc-8cu --workload vec-add --html why.html"
)]
pub(crate) struct WhyArguments {
    /// The first scenario: PROTOCOL[+POLICY]
    #[arg(value_name = "A")]
    pub(crate) first: String,
    /// The second scenario
    #[arg(value_name = "B")]
    pub(crate) second: String,
    #[command(flatten)]
    pub(crate) common: Common,
    /// The program to run: a name from `list workloads`
    #[arg(long, short, value_name = "NAME")]
    pub(crate) workload: String,
    /// A policy for both scenarios, in addition to the policies that A and B name
    #[arg(long, value_name = "NAME")]
    pub(crate) policy: Option<String>,
    /// Drop the Nth message with the name MESSAGE, in the run of A and in the run of B
    #[arg(long, value_name = "MESSAGE[:N]", value_parser = message)]
    pub(crate) drop: Option<(String, u64)>,
    /// Write the table and a waterfall plot as an HTML file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkloadCommand {
    /// Run a program without time and without caches, and print its statistics
    Info(WorkloadInfoArguments),
}

#[derive(Args, Debug)]
#[command(allow_negative_numbers = true)]
#[command(
    after_help = "The program runs on the compute units of the machine, one operation at a time, without time and \
without caches. The statistics hold under every protocol. A lane access is one lane of an operation on global memory. A \
line read is a line that an ordinary load of a wavefront touches. Reuse is the share of line reads of which the \
compute unit has a copy that is still valid: it accessed the line before, and since then neither another compute unit \
nor the host has written the line. docs/workloads.md defines every statistic.

Examples:
  fencepost workload info vec-add --size tiny
  fencepost workload info cache-reuse --set kernels=4 --system titan-v --json
  fencepost workload info reduce --machine cu.lanes=32
  fencepost workload info sssp --input c-68 --scale 1/64"
)]
pub(crate) struct WorkloadInfoArguments {
    /// The program: a name from `list workloads`
    pub(crate) name: String,
    /// The machine, which gives the numbers of compute units and lanes: a name from `list systems`,
    /// or the path of a TOML file
    #[arg(long, short, value_name = "NAME|FILE", default_value = "hlrc-8cu")]
    pub(crate) system: String,
    #[command(flatten)]
    pub(crate) machine: MachineChanges,
    /// The size of the program
    #[arg(long, value_name = "SIZE", value_parser = PossibleValuesParser::new(lab::catalog::size_names()))]
    pub(crate) size: Option<String>,
    /// The input of the program, in the same form as for `run`
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) input: Option<String>,
    /// The scale of a stand-in, such as 1/16
    #[arg(long, value_name = "FRACTION", requires = "input")]
    pub(crate) scale: Option<String>,
    /// A parameter of the workload; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) parameters: Vec<(String, String)>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

impl Common {
    /// Returns the question for the laboratory (the crate `lab`): the machine, the input, the seed
    /// and the settings of a run. Commands add the scenario and the workload.
    pub(crate) fn question(&self) -> Question {
        Question {
            system: self.system.clone(),
            machine: self.machine.changes.clone(),
            input: self.input.clone(),
            scale: self.scale.clone(),
            size: self.size.clone(),
            settings: self.parameters.clone(),
            seed: self.seed,
            patience_cycles: self.patience,
            ..Question::default()
        }
    }
}
