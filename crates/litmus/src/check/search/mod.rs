//! Enumerates the executions of one skeleton that a model allows.
//!
//! A skeleton has the events of one path through each thread. The search makes one decision after
//! the other: the order of PTX's sequentially consistent fences, the coherence order pair by pair,
//! then the write of each read. After each decision the search derives consequences, and evaluates
//! the checks on the low bounds. The low bound of a relation has the pairs that are certainly in
//! the relation. If a check fails, later decisions cannot repair it, so the search returns to an
//! earlier decision. If a check has held at many successive evaluations, the search evaluates this
//! check less often until the check fails.

mod choices;
mod count;
mod decide;
mod evaluate;
mod rules;
mod settle;
mod values;

use std::ops::ControlFlow;

use crate::cat::ast::CheckKind;
use crate::cat::graph::{Chosen, DEP_CO, DEP_RF, DEP_SYNC, Deps, Graph, NodeId, Op};
use crate::cat::stage::{Choice, Staged, StagedCheck};
use crate::exec::event::Event;
use crate::exec::matrix;
use crate::exec::set::{EventSet, Word, members, narrow};
use crate::exec::skeleton::Skeleton;
use crate::exec::sym::Sym;
use crate::parse::TextError;
use crate::program::Value;

use super::linear::Linear;
use count::FreeReads;
use decide::{Reached, Saved};
use rules::Rules;

/// The number of decisions between two calls of [`Visitor::stop`].
const STOP_INTERVAL: u32 = 1024;
/// A check that has held at this number of successive evaluations is evaluated less often.
const STREAK: u32 = 64;
/// A check that has held at [`STREAK`] successive evaluations is evaluated only at one of this many
/// opportunities. It is also evaluated on complete executions.
const SKIPS: u32 = 8;
/// The minimum number of pairs of writes for which the search probes each pair (the function
/// `probe` tests which orders of the pair are possible). With fewer pairs, probing costs more time
/// than it saves.
const PROBED_MIN: usize = 4;

/// Receives each execution that the model allows.
pub(crate) trait Visitor {
    /// Handles an allowed execution, with the flags that hold on it.
    fn execution<W: Word>(&mut self, found: &AllowedExecution<'_, W>) -> ControlFlow<()>;
    /// Whether the results depend on the write that this event reads from. The search may report
    /// executions as one execution if they differ only in the writes of unobserved reads.
    fn observes(&self, _read: usize) -> bool {
        true
    }
    /// Whether the search should end now.
    fn stop(&mut self) -> bool;
    /// Whether the search should look for the flag with this check number even if that is costly.
    fn wants_flag(&self, check: usize) -> bool;
}

/// An execution that the model allows.
pub(crate) struct AllowedExecution<'s, W> {
    /// For each read, the write that it reads from. The entry of every other event is the event
    /// itself.
    pub(crate) rf: &'s [usize],
    /// The coherence order of the writes to each word.
    pub(crate) co: &'s [EventSet<W>],
    /// The value that each event reads or writes.
    pub(crate) values: &'s [Option<Value>],
    /// The flags that hold on the execution. An entry has the number of the flag's check, and the
    /// value of the relation or set that the check examines.
    pub(crate) flags: &'s [(usize, Vec<EventSet>)],
    /// The number of executions that this execution represents. The represented executions differ
    /// only in the writes that unobserved reads read from.
    pub(crate) weight: u64,
}

/// The flags that hold on an execution. An entry has the number of the flag's check, and the value
/// of the relation or set that the check examines.
type Flags = Vec<(usize, Vec<EventSet>)>;

/// The reason why a search ended early.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The visitor (the receiver of the executions) asked the search to stop.
    Stopped,
    /// A recursive definition of the model does not converge.
    Model(TextError),
}

struct Search<'a, 'p, V, W> {
    skeleton: &'a Skeleton<'p>,
    graph: Graph<W>,
    checks: Vec<StagedCheck>,
    choices: Vec<Choice>,
    file: &'a str,
    visitor: &'a mut V,
    partial: bool,
    /// The numbers of the checks that the search evaluates. Checks that cost little come first.
    evaluated: Vec<usize>,
    linear: Vec<Linear<W>>,
    rules: Rules<W>,
    /// For each read of a read-modify-write, the number of the atomicity rule for this
    /// read-modify-write. `None` for other events.
    atomic_of: Vec<Option<usize>>,
    /// The pairs of writes whose coherence order the search decides. The search decides them in the
    /// order of this list.
    pairs: Vec<(usize, usize)>,
    /// The reads for which the search decides the write that they read from. The search decides
    /// them in the order of this list.
    reads: Vec<usize>,
    /// For each read, the numbers of the guards that depend on its value. A guard is a condition
    /// under which a path is taken.
    guards_of: Vec<Vec<usize>>,
    /// The reads whose values some guard depends on. A guard is a condition under which a path is
    /// taken.
    guarded: Vec<usize>,
    /// The reads in `guarded` (reads whose values some guard depends on) that belong to
    /// read-modify-writes.
    narrow: Vec<usize>,
    /// The equations `read = value` that follow from guards (the conditions under which paths are
    /// taken). Each entry has the read, the first event of the thread to which the guard belongs,
    /// and the value.
    equal: Vec<(usize, usize, Sym)>,
    /// For each read, the writes from which it may read.
    candidates: Vec<EventSet<W>>,
    rf: Vec<usize>,
    co: Vec<EventSet<W>>,
    /// The inverse of the coherence order: for each write, the writes that precede it.
    before: Vec<EventSet<W>>,
    /// For each write, the writes to its word that stay unordered with it in coherence order,
    /// because the search has decided so.
    apart: Vec<EventSet<W>>,
    fr: Vec<EventSet<W>>,
    values: Vec<Option<Value>>,
    /// The reads for which the search has already decided the write that they read from.
    decided: EventSet<W>,
    /// For each write, all writes to its word.
    same_word: Vec<EventSet<W>>,
    /// For each write, all reads of its word.
    same_reads: Vec<EventSet<W>>,
    /// Whether some written value or some guard (a condition of a path) depends on the value of a
    /// read.
    symbolic: bool,
    /// The numbers that a read may return if its value depends on itself (values out of thin air).
    numbers: &'a [Value],
    /// The nodes of the graph that hold the choices of the search.
    inputs: Inputs,
    /// The choices that have changed since they were last written to the graph.
    dirty: Deps,
    /// For each kind of choice, the time of its last change. A time is a value of the field
    /// `clock`.
    versions: [u64; 4],
    clock: u64,
    /// For each node of the graph, the time of its last computation. A time is a value of the field
    /// `clock`.
    stamps: Vec<u64>,
    /// For each check, the last time at which an evaluation found that it holds. A time is a value
    /// of the field `clock`.
    judged: Vec<u64>,
    /// For each check, the number of successive evaluations, up to the latest one, in which it
    /// held.
    streaks: Vec<u32>,
    /// For each check, the number of evaluations that were skipped since its last evaluation.
    skipped: Vec<u32>,
    saved: Vec<Saved<W>>,
    /// The data of the test for free reads. Undecided reads are free if the model allows every
    /// combination of the writes that they may read from.
    free: FreeReads,
    /// The number of executions that each reported execution represents.
    weight: u64,
    /// A buffer for a relation that is being computed.
    scratch: Vec<EventSet<W>>,
    ticks: u32,
    /// The number of search nodes: decisions and ends of branches.
    nodes: u64,
}

/// The nodes of the graph that hold choices of the search. The search writes their values.
#[derive(Default)]
struct Inputs {
    rf: [Option<NodeId>; 2],
    co: [Option<NodeId>; 2],
    fr: [Option<NodeId>; 2],
    sync: [Option<NodeId>; 2],
    with: Vec<Option<NodeId>>,
}

impl Inputs {
    /// Finds, among the nodes `used`, the nodes that hold choices of the search.
    fn of<W: Word>(graph: &Graph<W>, choices: usize, used: &[NodeId]) -> Inputs {
        let mut inputs = Inputs { with: vec![None; choices], ..Inputs::default() };
        for &node in used {
            let Op::Chosen(chosen, high) = graph.node(node).op else { continue };
            let id = Some(node);
            let bound = usize::from(high);
            match chosen {
                Chosen::Rf => inputs.rf[bound] = id,
                Chosen::Co => inputs.co[bound] = id,
                Chosen::Fr => inputs.fr[bound] = id,
                Chosen::SyncFence => inputs.sync[bound] = id,
                Chosen::With(number) => inputs.with[usize::from(number)] = id,
            }
        }
        inputs
    }
}

/// The options of a search.
pub(crate) struct SearchOptions<'a> {
    pub(crate) file: &'a str,
    pub(crate) partial_coherence: bool,
    pub(crate) numbers: &'a [Value],
    /// Whether to ignore all checks. The search then reports every candidate execution.
    pub(crate) unchecked: bool,
    /// Whether to use event sets of 128 bits even if 64 bits are enough for the events.
    pub(crate) wide: bool,
}

/// Runs the search, with event sets of 64 bits if they are enough for the events, otherwise of 128
/// bits. Returns the number of search nodes. `syncs` are the possible orders of PTX's sequentially
/// consistent fences.
pub(crate) fn search<V: Visitor>(
    skeleton: &Skeleton<'_>,
    staged: Staged,
    options: &SearchOptions<'_>,
    syncs: &[Vec<EventSet>],
    visitor: &mut V,
) -> Result<u64, Halt> {
    if skeleton.len() <= u64::BITS as usize && !options.wide {
        Search::<V, u64>::new(skeleton, staged, options, visitor).run(syncs)
    } else {
        Search::<V, u128>::new(skeleton, staged, options, visitor).run(syncs)
    }
}

impl<'a, 'p, V: Visitor, W: Word> Search<'a, 'p, V, W> {
    fn new(
        skeleton: &'a Skeleton<'p>,
        staged: Staged,
        options: &SearchOptions<'a>,
        visitor: &'a mut V,
    ) -> Search<'a, 'p, V, W> {
        let n = skeleton.len();
        let Staged { graph, checks, choices, .. } = staged;
        let graph: Graph<W> = graph.narrowed();
        let same_word = narrow(&same_word(skeleton));
        let mut rules = Rules::none(&same_word, options.partial_coherence);
        let mut linear = Vec::new();
        let mut evaluated = Vec::new();
        for (number, check) in checks.iter().enumerate() {
            if check.flag || options.unchecked || rules.take(&graph, number, check, &same_word, skeleton) {
                continue;
            }
            match Linear::of(&graph, check) {
                Some(form) => linear.push(form),
                None => evaluated.push(number),
            }
        }
        evaluated.sort_by_key(|&number| checks[number].plan.len());
        let symbolic =
            skeleton.values.iter().zip(&skeleton.events).any(|(v, e)| e.writes() && v.constant().is_none())
                || !skeleton.guards.is_empty();
        let mut roots: Vec<NodeId> = Vec::new();
        for choice in &choices {
            match choice {
                Choice::Among(nodes) => roots.extend(nodes),
                Choice::Linear(set, order) => roots.extend([*set, *order]),
            }
        }
        let flags = (0..checks.len()).filter(|&number| checks[number].flag);
        let mut used = graph.plan(&roots);
        for number in evaluated.iter().copied().chain(flags) {
            used.extend(&checks[number].plan);
        }
        let mut search = Search {
            inputs: Inputs::of(&graph, choices.len(), &used),
            stamps: vec![0; graph.nodes.len()],
            judged: vec![0; checks.len()],
            streaks: vec![0; checks.len()],
            skipped: vec![0; checks.len()],
            skeleton,
            graph,
            checks,
            choices,
            file: options.file,
            visitor,
            partial: options.partial_coherence,
            evaluated,
            linear,
            rules,
            atomic_of: vec![None; n],
            pairs: Vec::new(),
            reads: Vec::new(),
            guards_of: vec![Vec::new(); n],
            guarded: Vec::new(),
            narrow: Vec::new(),
            equal: Vec::new(),
            candidates: narrow(&skeleton.writes_of),
            rf: (0..n).collect(),
            co: vec![EventSet::EMPTY; n],
            before: vec![EventSet::EMPTY; n],
            apart: vec![EventSet::EMPTY; n],
            fr: vec![EventSet::EMPTY; n],
            values: vec![None; n],
            decided: EventSet::EMPTY,
            same_word,
            same_reads: vec![EventSet::EMPTY; n],
            symbolic,
            numbers: options.numbers,
            dirty: 0,
            versions: [1; 4],
            clock: 1,
            saved: Vec::new(),
            free: FreeReads::default(),
            weight: 1,
            scratch: vec![EventSet::EMPTY; n],
            ticks: 0,
            nodes: 0,
        };
        search.prepare();
        search.prepare_free();
        search
    }

    /// Fixes the order in which the search makes its decisions. Also removes a write from the
    /// candidates of a read if the write's value violates a guard (a condition of the path) that
    /// depends on this read alone.
    fn prepare(&mut self) {
        let events = &self.skeleton.events;
        let is_rmw = |write: usize| events[write].rmw;
        let mut words: Vec<Vec<usize>> = Vec::new();
        for initial in (0..events.len()).take_while(|&e| events[e].thread.is_none()) {
            let all = self.same_word[initial].without(initial);
            self.co[initial] = all;
            members(all).for_each(|write| self.before[write].insert(initial));
            words.push(members(all).collect());
        }
        // The words with read-modify-writes come first, because their coherence order determines
        // values.
        words.sort_by_key(|word| !word.iter().any(|&write| is_rmw(write)));
        for word in &words {
            for (at, &later) in word.iter().enumerate() {
                self.pairs.extend(word[..at].iter().rev().map(|&first| (first, later)));
            }
        }
        self.reads = (0..events.len()).filter(|&event| events[event].reads()).collect();
        for &read in &self.reads {
            self.candidates[read] = self.skeleton.feasible(read).narrow();
            members(self.skeleton.writes_of[read]).for_each(|write| self.same_reads[write].insert(read));
        }
        for (at, rule) in self.rules.atomic.iter().enumerate() {
            self.atomic_of[rule.read] = Some(at);
        }
        for (at, (thread, guard)) in self.skeleton.guards.iter().enumerate() {
            let base = self.skeleton.base[*thread];
            members(guard.reads()).for_each(|read| self.guards_of[base + read].push(at));
            for (read, value) in guard.equations() {
                self.equal.push((base + usize::from(read), base, value));
            }
        }
        self.guarded = self.reads.iter().copied().filter(|&read| !self.guards_of[read].is_empty()).collect();
        let is_atomic = |read: &usize| self.atomic_of[*read].is_some();
        self.narrow = self.guarded.iter().copied().filter(is_atomic).collect();
        for (event, value) in self.skeleton.values.iter().enumerate() {
            if events[event].writes() {
                self.values[event] = value.constant();
            }
        }
    }

    fn run(&mut self, syncs: &[Vec<EventSet>]) -> Result<u64, Halt> {
        if self.linear.iter().any(|form| !form.starts_acyclic()) {
            return Ok(0);
        }
        self.save(0);
        for order in syncs {
            for id in self.inputs.sync.into_iter().flatten() {
                self.graph.set_value(id, &narrow(order));
            }
            self.touch(DEP_SYNC);
            if self.start() && self.settle(DEP_CO | DEP_RF)? && self.probe()? {
                self.decide(1, Reached::default())?;
            }
            self.restore(0);
        }
        Ok(self.nodes)
    }

    /// Applies the coherence orders that are certain before the search makes its first decision.
    /// Returns false if these orders contradict a check or each other.
    fn start(&mut self) -> bool {
        for write in 0..self.co.len() {
            let behind = self.co[write];
            if !self.linear.iter_mut().all(|form| form.add_co(write, behind)) {
                return false;
            }
        }
        for at in 0..self.reads.len() {
            let read = self.reads[at];
            let writes = self.candidates[read];
            let refused = writes.single().is_some_and(|write| !self.read_from(write, read));
            if writes.is_empty() || refused {
                return false;
            }
        }
        true
    }

    /// Tries both orders of each undecided pair of writes. If one order leads to a contradiction,
    /// decides the other one. Returns false if both orders of some pair lead to a contradiction.
    fn probe(&mut self) -> Result<bool, Halt> {
        if self.pairs.len() < PROBED_MIN {
            return Ok(true);
        }
        for at in 0..self.pairs.len() {
            let (a, b) = self.pairs[at];
            for (first, later) in [(a, b), (b, a)] {
                let is_open = !(self.co[a] | self.before[a]).has(b);
                if !is_open || !self.rules.total[a].has(b) {
                    continue;
                }
                self.tick()?;
                self.save(1);
                let possible = self.order(first, later) && self.settle(DEP_CO)?;
                self.restore(1);
                if !(possible || self.order(later, first) && self.settle(DEP_CO)?) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    pub(super) fn tick(&mut self) -> Result<(), Halt> {
        self.ticks += 1;
        if self.ticks >= STOP_INTERVAL {
            self.ticks = 0;
            if self.visitor.stop() {
                return Err(Halt::Stopped);
            }
        }
        Ok(())
    }
}

/// For each write, all writes to its word, including itself.
fn same_word(skeleton: &Skeleton<'_>) -> Vec<EventSet> {
    let events = &skeleton.events;
    let writes_of = |event: &Event| skeleton.set(|e| e.writes() && skeleton.word(e) == skeleton.word(event));
    events.iter().map(|event| if event.writes() { writes_of(event) } else { EventSet::EMPTY }).collect()
}

/// Whether a relation satisfies a check of this kind. For `empty`, `rows` may also be a set.
pub(crate) fn satisfied<W: Word>(kind: CheckKind, rows: &[EventSet<W>]) -> bool {
    match kind {
        CheckKind::Acyclic => matrix::is_acyclic(rows),
        CheckKind::Irreflexive => matrix::is_irreflexive(rows),
        CheckKind::Empty => matrix::is_empty(rows),
    }
}
