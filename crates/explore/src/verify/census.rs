//! The census of a verification: the number of runs and states for each value of each dimension (a
//! property in which runs differ, such as the number of banks).

use std::collections::{BTreeMap, BTreeSet};

use litmus::program::{Expr, Instr, Order, Program, RmwOp, ScopeId};
use proto::issue::IssueRule;
use proto::words::counted;
use proto::{Agent, ByteMask, Level, Symbol as _, Width, WritePolicy};
use rustc_hash::FxHashMap;

use crate::machine::bounds::Bounds;
use crate::machine::placement::{Placement, Word};

proto::symbols! {
    /// A dimension: a property in which the runs of a verification may differ.
    pub enum Dimension {
        /// The kinds of operations in a program, such as atomic loads.
        Operations,
        /// The widths of the words that a program accesses.
        Width,
        /// The words that one request accesses: one word, adjacent words, or words with a hole
        /// between.
        Request,
        /// The accessed words that share a line, and whether different agents (compute units or
        /// hosts) write them.
        Line,
        /// The number of compute units that run threads.
        Units,
        /// The largest number of wavefronts that a compute unit runs at once.
        Wavefronts,
        /// The number of hosts that run threads.
        Hosts,
        /// The number of kernels and steps of the host that follow one another.
        Kernels,
        /// The largest number of preemptions in a run.
        Preemptions,
        /// The issue rule of the core.
        Core,
        /// The write policies of the private caches and of the shared cache.
        Policies,
        /// Whether lines are evicted at any time, or only when a way is needed.
        Evictions,
        /// The number of sets of a private cache and of a bank.
        Sets,
        /// The number of ways in a set of a private cache and of a bank.
        Ways,
        /// The number of banks of the shared cache.
        Banks,
        /// The number of chiplets of the machine.
        Chiplets,
        /// Whether messages of a channel arrive in order.
        Channels,
    }
}

/// The operations that a census distinguishes, in the order of their values.
const OPERATIONS: [&str; 10] = [
    "plain load",
    "plain store",
    "atomic load",
    "atomic store",
    "read-modify-write",
    "compare-and-swap",
    "fence",
    "barrier",
    "remote operation",
    "commutative operation",
];

/// The functions of read-modify-writes that a census distinguishes, in the order of their bits in
/// [`Features`].
const FUNCTIONS: [(RmwOp, &str); 8] = [
    (RmwOp::Exchange, "exchange"),
    (RmwOp::Add, "add"),
    (RmwOp::Sub, "subtract"),
    (RmwOp::And, "and"),
    (RmwOp::Or, "or"),
    (RmwOp::Xor, "xor"),
    (RmwOp::Min, "minimum"),
    (RmwOp::Max, "maximum"),
];

/// The scopes of operations that a census distinguishes, in the order of their bits in
/// [`Features`].
const SCOPES: [(Level, &str); 7] = [
    (Level::WorkItem, "work-item"),
    (Level::SubGroup, "wavefront"),
    (Level::WorkGroup, "work-group"),
    (Level::Chiplet, "chiplet"),
    (Level::Device, "device"),
    (Level::System, "system"),
    (Level::Named, "named"),
];

/// The properties of machines and programs that no verification explores.
const NEVER: [&str; 3] = [
    "drains in an order other than that of line numbers",
    "lines that share a tag (sectors)",
    "read-modify-writes of floating-point numbers, and unsigned minima and maxima",
];

/// The cases that a census distinguishes for the words that one request accesses.
const REQUESTS: [&str; 3] = ["one word", "adjacent words", "words with a hole between them"];

/// The cases that a census distinguishes for the words that share a line.
const LINES: [&str; 3] = ["one word", "several words", "words that different compute units or hosts write"];

/// The cases that a census distinguishes for the time of an eviction.
const EVICTIONS: [&str; 2] = ["when a way is needed", "at any time"];

/// The cases that a census distinguishes for the order of messages in a channel.
const CHANNELS: [&str; 2] = ["FIFO", "any order"];

impl Dimension {
    /// The name of the dimension (property in which runs differ) in reports.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Dimension::Operations => "operations",
            Dimension::Width => "width of a word",
            Dimension::Request => "words of a request",
            Dimension::Line => "words of a line",
            Dimension::Units => "compute units",
            Dimension::Wavefronts => "wavefronts of a unit",
            Dimension::Hosts => "hosts with threads",
            Dimension::Kernels => "kernels and host steps",
            Dimension::Preemptions => "preemptions",
            Dimension::Core => "core",
            Dimension::Policies => "policies of L1 and L2",
            Dimension::Evictions => "evictions",
            Dimension::Sets => "sets of L1 and bank",
            Dimension::Ways => "ways of L1 and bank",
            Dimension::Banks => "banks",
            Dimension::Chiplets => "chiplets",
            Dimension::Channels => "order of channels",
        }
    }

    /// The fixed list of the values of this dimension (property in which runs differ). A census
    /// includes all of these values, explored or not. The list is empty for a dimension without a
    /// fixed list, such as the number of banks.
    fn known(self) -> std::ops::Range<u16> {
        0..match self {
            Dimension::Operations => OPERATIONS.len() as u16,
            Dimension::Width => Width::ALL.len() as u16,
            Dimension::Request => REQUESTS.len() as u16,
            Dimension::Line => LINES.len() as u16,
            Dimension::Core => IssueRule::ALL.len() as u16,
            Dimension::Evictions => EVICTIONS.len() as u16,
            Dimension::Channels => CHANNELS.len() as u16,
            _ => 0,
        }
    }

    /// The text of a value of this dimension (property in which runs differ), for reports.
    fn text(self, value: u16) -> String {
        let at = usize::from(value);
        match self {
            Dimension::Operations => OPERATIONS[at].to_owned(),
            Dimension::Width => counted(Width::ALL[at].bytes() as u64, "byte"),
            Dimension::Request => REQUESTS[at].to_owned(),
            Dimension::Line => LINES[at].to_owned(),
            Dimension::Core => IssueRule::ALL[at].label().to_owned(),
            Dimension::Policies => {
                let of = |at: usize| WritePolicy::ALL[at].name();
                format!("{}/{}", of(at / WritePolicy::ALL.len()), of(at % WritePolicy::ALL.len()))
            }
            Dimension::Evictions => EVICTIONS[at].to_owned(),
            Dimension::Sets | Dimension::Ways => format!("{}, {}", value >> 8, value & 0xff),
            Dimension::Channels => CHANNELS[at].to_owned(),
            _ => value.to_string(),
        }
    }
}

/// The values of those dimensions (properties in which runs differ) that depend on a program and
/// its placement. The first six fields are masks with one bit for each value: of their dimension,
/// of [`FUNCTIONS`] or of [`SCOPES`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Features {
    operations: u16,
    widths: u8,
    requests: u8,
    line: u8,
    functions: u8,
    scopes: u8,
    /// The largest number of words that one request accesses.
    words: u8,
    /// The number of lines that the program accesses.
    lines: u8,
    units: u8,
    wavefronts: u8,
    hosts: u8,
    kernels: u8,
}

impl Features {
    /// The features of a program in a placement: its values of the dimensions (properties in which
    /// runs differ).
    pub(crate) fn of(program: &Program, placement: &Placement) -> Features {
        let words = placement.layout(program).map(|(words, _)| words).unwrap_or_default();
        let mut features = Features::default();
        // For each accessed word, the agents that write it.
        let mut writers: BTreeMap<u16, BTreeSet<Agent>> = BTreeMap::new();
        for (thread, &agent) in program.threads.iter().zip(&placement.agents) {
            for instr in &thread.code {
                features.operations |= operations(instr);
                features.functions |= functions(instr);
                if let Some(scope) = scope(instr) {
                    let level = program.scopes.get(scope).level;
                    features.scopes |= bit(SCOPES.iter().position(|&(of, _)| of == level));
                }
                let Some(loc) = accessed(instr) else { continue };
                let written = writers.entry(loc).or_default();
                if !matches!(instr, Instr::Load { .. } | Instr::Await { .. }) {
                    written.insert(agent);
                }
            }
            let (requests, most) = requests(&thread.code, placement.lanes, &words);
            features.requests |= requests;
            features.words = features.words.max(most);
        }
        let mut lines: BTreeMap<u64, (usize, BTreeSet<Agent>)> = BTreeMap::new();
        for (loc, agents) in writers {
            let Some(word) = words.get(usize::from(loc)) else { continue };
            features.widths |= 1 << Width::ALL.iter().position(|&width| width == word.width).unwrap_or(0);
            let (count, writers) = lines.entry(word.line.0).or_default();
            *count += 1;
            writers.extend(agents);
        }
        features.lines = lines.len() as u8;
        for (count, writers) in lines.into_values() {
            features.line |= match (count, writers.len()) {
                (0 | 1, _) => 1,
                (_, 0 | 1) => 1 << 1,
                _ => 1 << 2,
            };
        }
        features.count_agents(placement);
        features
    }

    fn count_agents(&mut self, placement: &Placement) {
        let stage = |thread: usize| placement.stages.get(thread).copied().unwrap_or(0);
        let mut threads: BTreeMap<(Agent, u8), u8> = BTreeMap::new();
        for (thread, &agent) in placement.agents.iter().enumerate() {
            *threads.entry((agent, stage(thread))).or_default() += 1;
        }
        let agents: BTreeSet<Agent> = threads.keys().map(|&(agent, _)| agent).collect();
        let is_unit = |agent: &&Agent| matches!(agent, Agent::Cu(_));
        let at_once = threads.iter().filter(|((agent, _), _)| is_unit(&agent)).map(|(_, &count)| count);
        self.wavefronts = at_once.max().unwrap_or(0);
        self.units = agents.iter().filter(is_unit).count() as u8;
        self.hosts = agents.iter().filter(|agent| matches!(agent, Agent::Host(_))).count() as u8;
        self.kernels = placement.stages.iter().max().map_or(1, |last| last + 1);
    }

    /// Calls `f` for each value of each dimension (property in which runs differ) in a run with
    /// these features, on a machine with these bounds.
    fn each(&self, bounds: &Bounds, preemptions: u8, mut f: impl FnMut(Dimension, u16)) {
        for (dimension, mask) in [
            (Dimension::Operations, self.operations),
            (Dimension::Width, self.widths.into()),
            (Dimension::Request, self.requests.into()),
            (Dimension::Line, self.line.into()),
        ] {
            (0..u16::BITS as u16).filter(|bit| mask >> bit & 1 == 1).for_each(|bit| f(dimension, bit));
        }
        let index = |policy: WritePolicy| policy.index() as u16;
        let core = IssueRule::ALL.iter().position(|&core| core == bounds.core).unwrap_or(0) as u16;
        let both = |(l1, bank): (u32, u32)| (l1 as u16) << 8 | bank as u16;
        for (dimension, value) in [
            (Dimension::Units, self.units.into()),
            (Dimension::Wavefronts, self.wavefronts.into()),
            (Dimension::Hosts, self.hosts.into()),
            (Dimension::Kernels, self.kernels.into()),
            (Dimension::Preemptions, preemptions.into()),
            (Dimension::Core, core),
            (Dimension::Policies, index(bounds.l1) * WritePolicy::ALL.len() as u16 + index(bounds.l2)),
            (Dimension::Evictions, bounds.evictions.into()),
            (Dimension::Sets, both(bounds.sets)),
            (Dimension::Ways, both(bounds.ways)),
            (Dimension::Banks, bounds.banks),
            (Dimension::Chiplets, bounds.chiplets),
            (Dimension::Channels, bounds.overtaking.into()),
        ] {
            f(dimension, value);
        }
    }
}

/// The operations of an instruction, as a mask over [`OPERATIONS`].
fn operations(instr: &Instr) -> u16 {
    let atomic = |order: Order| usize::from(order != Order::Plain) * 2;
    let own = match instr {
        Instr::Load { access, .. } | Instr::Await { access, .. } => 1 << atomic(access.order),
        Instr::Store { access, .. } => 1 << (1 + atomic(access.order)),
        Instr::Rmw { .. } => 1 << 4,
        Instr::Cas(_) => 1 << 5,
        Instr::Fence(_) => 1 << 6,
        Instr::Barrier(_) => 1 << 7,
        Instr::Assign { .. } | Instr::Branch { .. } | Instr::Jump { .. } => 0,
    };
    let is_remote = instr.access().is_some_and(|access| access.remote)
        || matches!(instr, Instr::Fence(fence) if fence.remote);
    let is_commutative = instr.access().is_some_and(|access| access.commutative);
    own | u16::from(is_remote) << 8 | u16::from(is_commutative) << 9
}

/// A mask with the bit of this position in a list, or without a bit if there is no position.
fn bit(position: Option<usize>) -> u8 {
    position.map_or(0, |at| 1 << at)
}

/// The function of a read-modify-write, as a mask over [`FUNCTIONS`].
fn functions(instr: &Instr) -> u8 {
    match instr {
        Instr::Rmw { op, .. } => bit(FUNCTIONS.iter().position(|(of, _)| of == op)),
        _ => 0,
    }
}

/// The scope of an instruction that has one.
fn scope(instr: &Instr) -> Option<ScopeId> {
    match instr {
        Instr::Fence(fence) => fence.scope,
        Instr::Barrier(barrier) => Some(barrier.scope),
        instr => instr.access()?.scope,
    }
}

/// The location that an instruction accesses, if the address is a constant.
fn accessed(instr: &Instr) -> Option<u16> {
    match instr.access()?.address {
        Expr::Addr(loc) => Some(loc.0),
        _ => None,
    }
}

/// The kinds of requests that a thread makes, as a mask over [`REQUESTS`], and the largest number
/// of words that one of these requests accesses. A core that combines accesses makes one request
/// for consecutive accesses of the same kind to one line.
fn requests(code: &[Instr], lanes: bool, words: &[Word]) -> (u8, u8) {
    let (mut requests, mut most) = (0, 0);
    // The first instruction of a request with its word, and the bytes and the number of all words.
    let mut last: Option<(&Instr, Word, ByteMask, u8)> = None;
    let mut close = |last: Option<(&Instr, Word, ByteMask, u8)>| {
        if let Some((_, word, mask, count)) = last {
            most = most.max(count);
            requests |= match (mask == word.mask(), is_contiguous(mask)) {
                (true, _) => 1,
                (false, true) => 1 << 1,
                (false, false) => 1 << 2,
            };
        }
    };
    for instr in code {
        let word = accessed(instr).and_then(|loc| words.get(usize::from(loc)).copied());
        last = match (last, word) {
            (Some((like, first, mask, count)), Some(word))
                if lanes
                    && (operations(like), functions(like)) == (operations(instr), functions(instr))
                    && first.line == word.line
                    && !mask.overlaps(word.mask()) =>
            {
                Some((like, first, mask.union(word.mask()), count + 1))
            }
            (before, word) => {
                close(before);
                word.map(|word| (instr, word, word.mask(), 1))
            }
        };
    }
    close(last);
    (requests, most)
}

/// Whether the bytes that the mask selects are contiguous.
fn is_contiguous(mask: ByteMask) -> bool {
    let ends = mask.first().zip(mask.last());
    ends.is_none_or(|(first, last)| mask == ByteMask::range(first, last - first + 1))
}

/// A value of a dimension (property in which runs differ), with the number of runs that have the
/// value, and the number of states of these runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// The dimension (property in which runs differ) of the value.
    pub dimension: Dimension,
    /// The text of the value.
    pub value: String,
    /// The number of runs with the value.
    pub runs: u64,
    /// The number of states of all runs with the value together.
    pub states: u64,
}

/// The numbers of runs and states for each value of each dimension (property in which runs differ),
/// and the pairs of values that occur together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// The values of the dimensions (properties in which runs differ), in the order of the
    /// dimensions. If a dimension has a fixed list of values, a value that no run has is included,
    /// with zero runs and zero states.
    pub shares: Vec<Share>,
    /// The number of pairs of explored values that occur together in some run. The two values of a
    /// pair belong to different dimensions (properties in which runs differ).
    pub together: usize,
    /// The pairs of explored values that no run has together, each as positions in `shares`. The
    /// two values of a pair belong to different dimensions (properties in which runs differ).
    pub apart: Vec<(usize, usize)>,
    /// For each entry of `shares`: its dimension (property in which runs differ), and its value as
    /// a number.
    values: Vec<(Dimension, u16)>,
    extents: Extents,
}

/// Properties of programs and machines that a census sums up over all runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Extents {
    /// The functions of read-modify-writes, as a mask over [`FUNCTIONS`].
    functions: u8,
    /// The scopes of operations, as a mask over [`SCOPES`].
    scopes: u8,
    /// The largest number of words that one request accesses.
    words: u8,
    /// The largest number of lines that a program accesses.
    lines: u8,
    /// The largest number of lines in the store buffer of a private cache.
    store_buffer: u32,
    /// The largest number of miss registers of a private cache or a bank.
    misses: u32,
}

impl Extents {
    fn add(&mut self, features: &Features, bounds: &Bounds) {
        self.functions |= features.functions;
        self.scopes |= features.scopes;
        self.words = self.words.max(features.words);
        self.lines = self.lines.max(features.lines);
        self.store_buffer = self.store_buffer.max(bounds.store_buffer);
        self.misses = self.misses.max(bounds.misses.0).max(bounds.misses.1);
    }
}

/// The names of the entries of a list whose bit in the mask is set (or, if `explored` is false, not
/// set), as text.
fn in_mask<T>(all: &[(T, &str)], mask: u8, explored: bool) -> String {
    let names = all.iter().enumerate().filter(|(at, _)| (mask >> at & 1 == 1) == explored);
    names.map(|(_, (_, name))| *name).collect::<Vec<_>>().join(", ")
}

/// The numbers of runs and of their states, for each combination of features, bounds and number of
/// preemptions.
#[derive(Debug, Default)]
pub(crate) struct Counter(FxHashMap<(Features, Bounds, u8), (u64, u64)>);

impl Counter {
    /// Counts a run with its number of states.
    pub(crate) fn add(&mut self, features: Features, bounds: Bounds, preemptions: u8, states: u64) {
        let (runs, all) = self.0.entry((features, bounds, preemptions)).or_default();
        *runs += 1;
        *all += states;
    }

    /// The census of the counted runs.
    pub(crate) fn census(&self) -> Census {
        let mut counts: BTreeMap<(Dimension, u16), (u64, u64)> = BTreeMap::new();
        let mut extents = Extents::default();
        self.0.keys().for_each(|(features, bounds, _)| extents.add(features, bounds));
        for dimension in Dimension::ALL.iter().copied() {
            counts.extend(dimension.known().map(|value| ((dimension, value), (0, 0))));
        }
        for (&(features, bounds, preemptions), &(runs, states)) in &self.0 {
            features.each(&bounds, preemptions, |dimension, value| {
                let count = counts.entry((dimension, value)).or_default();
                *count = (count.0 + runs, count.1 + states);
            });
        }
        let values: Vec<(Dimension, u16)> = counts.keys().copied().collect();
        let mut pairs: BTreeSet<(usize, usize)> = BTreeSet::new();
        for (features, bounds, preemptions) in self.0.keys() {
            let mut own = Vec::new();
            features.each(bounds, *preemptions, |dimension, value| {
                own.extend(values.binary_search(&(dimension, value)).ok());
            });
            for (at, &one) in own.iter().enumerate() {
                pairs.extend(own[at + 1..].iter().map(|&other| (one.min(other), one.max(other))));
            }
        }
        let shares = counts.iter().map(|(&(dimension, value), &(runs, states))| Share {
            dimension,
            value: dimension.text(value),
            runs,
            states,
        });
        let shares: Vec<Share> = shares.collect();
        let is_pair = |one: usize, other: usize| {
            let [one, other] = [one, other].map(|at| &shares[at]);
            one.dimension != other.dimension && one.runs > 0 && other.runs > 0
        };
        let all = (0..shares.len()).flat_map(|one| (one + 1..shares.len()).map(move |other| (one, other)));
        let (together, apart): (Vec<_>, Vec<_>) =
            all.filter(|&(one, other)| is_pair(one, other)).partition(|pair| pairs.contains(pair));
        Census { shares, together: together.len(), apart, values, extents }
    }
}

impl Census {
    /// The texts of the values of a dimension (property in which runs differ). If `explored` is
    /// true, these are the explored values. Otherwise they are the values of the dimension's fixed
    /// list that are not explored.
    fn texts(&self, dimension: Dimension, explored: bool) -> Vec<&str> {
        let of = self.shares.iter().filter(|share| share.dimension == dimension);
        of.filter(|share| (share.runs > 0) == explored).map(|share| share.value.as_str()).collect()
    }

    /// The largest explored value of a dimension (property in which runs differ) whose values are
    /// numbers. For the sets and ways of caches, this is the largest number in an L1 or a bank.
    fn most(&self, dimension: Dimension) -> u16 {
        let number = |value: u16| match dimension {
            Dimension::Sets | Dimension::Ways => (value >> 8).max(value & 0xff),
            _ => value,
        };
        let values = self.values.iter().filter(|(of, _)| *of == dimension);
        values.map(|&(_, value)| number(value)).max().unwrap_or(0)
    }

    /// Whether some run of the census has this value of the dimension (property in which runs
    /// differ).
    fn has(&self, dimension: Dimension, value: u16) -> bool {
        self.values.iter().zip(&self.shares).any(|(of, share)| *of == (dimension, value) && share.runs > 0)
    }
}

/// The dimensions in which machines and programs may differ, for a reader of the report: those that
/// the verification explores, and those that it does not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dimensions {
    /// The explored dimensions (properties in which runs differ), such as `2 banks`.
    pub covered: Vec<String>,
    /// The dimensions (properties in which runs differ) that the verification does not explore,
    /// such as `several hosts`.
    pub not_covered: Vec<String>,
}

impl Dimensions {
    /// The dimensions (properties in which runs differ) that the runs of a census explore, and
    /// those that they do not.
    #[must_use]
    pub fn of(census: &Census) -> Dimensions {
        let all = |dimension| census.texts(dimension, true).join(", ");
        let most = |dimension: Dimension| census.most(dimension);
        let up_to = |count: u16, what: &str| match count {
            0 | 1 => counted(count.into(), what),
            _ => format!("up to {}", counted(count.into(), what)),
        };
        let mut covered = vec![
            format!("write policies of L1 and L2 {}", all(Dimension::Policies)),
            format!("cores {}", all(Dimension::Core)),
            format!("words of {}", widths(census, true)),
            up_to(most(Dimension::Units), "compute unit"),
            format!("{} of a compute unit", up_to(most(Dimension::Wavefronts), "wavefront")),
            up_to(most(Dimension::Banks), "bank"),
            up_to(most(Dimension::Sets), "set"),
            up_to(most(Dimension::Ways), "way"),
            counted(most(Dimension::Chiplets).into(), "chiplet"),
        ];
        let Extents { words, lines, store_buffer, misses, .. } = census.extents;
        let limits = [
            (u32::from(lines), "", "line"),
            (words.into(), "requests of ", "word"),
            (store_buffer, "store buffers of ", "line"),
            (misses, "", "miss register"),
        ];
        covered.extend(limits.map(|(most, of, what)| format!("{of}{}", up_to(most as u16, what))));
        let hosts = most(Dimension::Hosts);
        let (kernels, preemptions) = (most(Dimension::Kernels), most(Dimension::Preemptions));
        let mut not_covered: Vec<String> = NEVER.map(String::from).to_vec();
        let more =
            |(most, of, what): (u32, &str, &str)| format!("{of}more than {}", counted(most.into(), what));
        not_covered.extend(limits.map(more));
        for (explored, what, most) in [
            (census.has(Dimension::Request, 1), "requests of several words", 0),
            (census.has(Dimension::Request, 2), "requests with holes between words", 0),
            (census.has(Dimension::Evictions, 1), "evictions at any time", 0),
            (
                most(Dimension::Chiplets) > 1,
                "several chiplets with every placement of two pages of one line",
                0,
            ),
            (hosts > 1, "several hosts", hosts),
            (kernels > 1, "several kernels in one program", kernels),
            (preemptions > 0, "preemption of work-groups", preemptions),
            (census.has(Dimension::Channels, 1), "channels without order", 0),
        ] {
            match (explored, most) {
                (true, 2..) => covered.push(format!("{what}, up to {most}")),
                (true, _) => covered.push(what.to_owned()),
                (false, _) => not_covered.push(what.to_owned()),
            }
        }
        let Extents { functions, scopes, .. } = census.extents;
        for (what, known, others) in [
            ("words of", String::new(), widths(census, false)),
            ("cores", String::new(), census.texts(Dimension::Core, false).join(", ")),
            (
                "read-modify-writes:",
                in_mask(&FUNCTIONS, functions, true),
                in_mask(&FUNCTIONS, functions, false),
            ),
            ("scopes:", in_mask(&SCOPES, scopes, true), in_mask(&SCOPES, scopes, false)),
        ] {
            let text = |list: String| (!list.is_empty()).then(|| format!("{what} {list}"));
            covered.extend(text(known));
            not_covered.extend(text(others));
        }
        Dimensions { covered, not_covered }
    }
}

/// The widths of words that are explored (or, if `explored` is false, the widths that are not
/// explored) as text: `1, 2 and 4 bytes`.
fn widths(census: &Census, explored: bool) -> String {
    let widths = (0u16..).zip(Width::ALL).filter(|&(at, _)| census.has(Dimension::Width, at) == explored);
    let widths: Vec<String> = widths.map(|(_, width)| width.bytes().to_string()).collect();
    match widths.split_last() {
        None => String::new(),
        Some((last, [])) if last == "1" => String::from("1 byte"),
        Some((last, [])) => format!("{last} bytes"),
        Some((last, before)) => format!("{} and {last} bytes", before.join(", ")),
    }
}
