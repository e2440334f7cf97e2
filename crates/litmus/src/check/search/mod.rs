//! Enumerates the executions of one skeleton that a model allows.
//!
//! Decisions are taken one by one (the order of PTX's fences, the coherence
//! order pair by pair, then for each read its write). After each one the
//! conclusions are drawn, and the checks are evaluated on what is certain so
//! far. A check that already fails cannot be mended by later decisions, so
//! that whole subtree is left out. A check that has held many times in a row
//! is evaluated less often, until it fails.

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
use count::Free;
use decide::{Reached, Saved};
use rules::Rules;

/// How many decisions pass between two looks at the clock.
const STOP_INTERVAL: u32 = 1024;
/// A check that held so many times in a row is evaluated less often,
const STREAK: u32 = 64;
/// once in so many times, and on complete executions, until it fails.
const SKIPS: u32 = 8;
/// With fewer pairs of writes it does not pay to try each of them first.
const PROBED_MIN: usize = 4;

/// Who is told of each execution that the model allows.
pub(crate) trait Visitor {
    /// An allowed execution. The flags are those that hold on it.
    fn execution<W: Word>(&mut self, found: &Found<'_, W>) -> ControlFlow<()>;
    /// Does it matter which write this event reads? Executions that differ in other
    /// reads alone may be told of at once.
    fn observes(&self, _read: usize) -> bool {
        true
    }
    /// Should the search end?
    fn stop(&mut self) -> bool;
    /// Need this flag still be looked for where that is costly?
    fn wants_flag(&self, check: usize) -> bool;
}

/// An execution that the model allows.
pub(crate) struct Found<'s, W> {
    /// For each event that reads, the write; for others themselves.
    pub(crate) rf: &'s [usize],
    /// The coherence order.
    pub(crate) co: &'s [EventSet<W>],
    /// What each event reads or writes.
    pub(crate) values: &'s [Option<Value>],
    /// The flags that hold: the number of the check and its relation or set.
    pub(crate) flags: &'s [(usize, Vec<EventSet>)],
    /// How many executions it stands for, which differ in unobserved reads alone.
    pub(crate) weight: u64,
}

/// The flags that hold on an execution: the number of the check and its relation or
/// set.
type Flags = Vec<(usize, Vec<EventSet>)>;

/// Why a search ended before its end.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The visitor said so.
    Stopped,
    /// A definition of the model does not settle.
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
    /// The numbers of the checks that are evaluated, cheap ones first.
    evaluated: Vec<usize>,
    linear: Vec<Linear<W>>,
    rules: Rules<W>,
    /// For each read the rule of its read-modify-write.
    atomic_of: Vec<Option<usize>>,
    /// The pairs of writes that are decided, in order.
    pairs: Vec<(usize, usize)>,
    /// The reads that are decided, in order.
    reads: Vec<usize>,
    /// For each read the guards that depend on it.
    guards_of: Vec<Vec<usize>>,
    /// The reads that have guards.
    guarded: Vec<usize>,
    /// Of these the read-modify-writes.
    narrow: Vec<usize>,
    /// The reads that must yield a certain value: the event, its thread's
    /// first event and the value.
    equal: Vec<(usize, usize, Sym)>,
    /// For each read the writes it may read.
    candidates: Vec<EventSet<W>>,
    rf: Vec<usize>,
    co: Vec<EventSet<W>>,
    /// The coherence order, turned round.
    before: Vec<EventSet<W>>,
    /// For each write those of its word that it is known to be unordered with.
    apart: Vec<EventSet<W>>,
    fr: Vec<EventSet<W>>,
    values: Vec<Option<Value>>,
    /// The reads that are decided.
    decided: EventSet<W>,
    /// All writes of each write's word.
    same_word: Vec<EventSet<W>>,
    /// All reads of each write's word.
    same_reads: Vec<EventSet<W>>,
    /// Are there values or guards that depend on reads?
    symbolic: bool,
    /// The numbers that values out of thin air are drawn from.
    numbers: &'a [Value],
    /// The nodes of the choices, where the graph has them.
    inputs: Inputs,
    /// The choices that the graph does not know yet.
    dirty: Deps,
    /// When each kind of choice last changed.
    versions: [u64; 4],
    clock: u64,
    /// When each node was last computed.
    stamps: Vec<u64>,
    /// When each check was last found to hold.
    judged: Vec<u64>,
    /// How often in a row each check held.
    streaks: Vec<u32>,
    /// How often it was left out since.
    skipped: Vec<u32>,
    saved: Vec<Saved<W>>,
    /// Are the open reads free?
    free: Free,
    /// How many executions each one found stands for.
    weight: u64,
    /// A relation while it is put together.
    scratch: Vec<EventSet<W>>,
    ticks: u32,
    /// How many decisions there were to take, the end of each branch among
    /// them.
    nodes: u64,
}

/// The nodes of the graph that the search sets.
#[derive(Default)]
struct Inputs {
    rf: [Option<NodeId>; 2],
    co: [Option<NodeId>; 2],
    fr: [Option<NodeId>; 2],
    sync: [Option<NodeId>; 2],
    with: Vec<Option<NodeId>>,
}

impl Inputs {
    /// The nodes of choices that anything among `used` depends on.
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

/// What a search needs beside the skeleton and the staged model.
pub(crate) struct Setting<'a> {
    pub(crate) file: &'a str,
    pub(crate) partial_coherence: bool,
    pub(crate) numbers: &'a [Value],
    /// Leave all checks out: every candidate is an execution.
    pub(crate) unchecked: bool,
    /// Use wide words whatever the number of events.
    pub(crate) wide: bool,
}

/// Runs the search, over words as wide as the events need, and gives the number of
/// its nodes. `syncs` are the orders of PTX's fences to be tried.
pub(crate) fn search<V: Visitor>(
    skeleton: &Skeleton<'_>,
    staged: Staged,
    setting: &Setting<'_>,
    syncs: &[Vec<EventSet>],
    visitor: &mut V,
) -> Result<u64, Halt> {
    if skeleton.len() <= u64::BITS as usize && !setting.wide {
        Search::<V, u64>::new(skeleton, staged, setting, visitor).run(syncs)
    } else {
        Search::<V, u128>::new(skeleton, staged, setting, visitor).run(syncs)
    }
}

impl<'a, 'p, V: Visitor, W: Word> Search<'a, 'p, V, W> {
    fn new(
        skeleton: &'a Skeleton<'p>,
        staged: Staged,
        setting: &Setting<'a>,
        visitor: &'a mut V,
    ) -> Search<'a, 'p, V, W> {
        let n = skeleton.len();
        let Staged { graph, checks, choices, .. } = staged;
        let graph: Graph<W> = graph.narrowed();
        let same_word = narrow(&same_word(skeleton));
        let mut rules = Rules::none(&same_word, setting.partial_coherence);
        let mut linear = Vec::new();
        let mut evaluated = Vec::new();
        for (number, check) in checks.iter().enumerate() {
            if check.flag || setting.unchecked || rules.take(&graph, number, check, &same_word, skeleton) {
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
            file: setting.file,
            visitor,
            partial: setting.partial_coherence,
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
            numbers: setting.numbers,
            dirty: 0,
            versions: [1; 4],
            clock: 1,
            saved: Vec::new(),
            free: Free::default(),
            weight: 1,
            scratch: vec![EventSet::EMPTY; n],
            ticks: 0,
            nodes: 0,
        };
        search.prepare();
        search.prepare_free();
        search
    }

    /// Orders the decisions and leaves out what the guards rule out alone.
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
        // Values come from read-modify-writes, so their words are first.
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

    /// Takes what is certain from the start; false if that contradicts itself.
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

    /// Tries each order of two writes alone: where one fails, the other is
    /// certain. False if both fail.
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

/// For each write all writes of its word, itself among them.
fn same_word(skeleton: &Skeleton<'_>) -> Vec<EventSet> {
    let events = &skeleton.events;
    let writes_of = |event: &Event| skeleton.set(|e| e.writes() && skeleton.word(e) == skeleton.word(event));
    events.iter().map(|event| if event.writes() { writes_of(event) } else { EventSet::EMPTY }).collect()
}

/// Does a relation (or a set, for `empty`) pass a check?
pub(crate) fn satisfied<W: Word>(kind: CheckKind, rows: &[EventSet<W>]) -> bool {
    match kind {
        CheckKind::Acyclic => matrix::is_acyclic(rows),
        CheckKind::Irreflexive => matrix::is_irreflexive(rows),
        CheckKind::Empty => matrix::is_empty(rows),
    }
}
