//! Enumerates the executions of one skeleton that a model allows.
//!
//! Decisions are taken one by one (the order of PTX's fences, the coherence
//! order pair by pair, then for each read its write), and after each one the
//! checks are evaluated on what is certain so far. A check that already fails
//! cannot be mended by later decisions, so that whole subtree is left out.

mod choices;
mod evaluate;
mod values;

use std::ops::ControlFlow;

use crate::cat::ast::CheckKind;
use crate::cat::graph::{Chosen, DEP_CO, DEP_RF, DEP_SYNC, Deps, Graph, NodeId, Op};
use crate::cat::stage::{Choice, Staged, StagedCheck, only_whole};
use crate::exec::matrix::{self, members};
use crate::exec::skeleton::Skeleton;
use crate::parse::TextError;
use crate::program::Value;

use super::linear::Linear;

/// Stands for a change that affects every check.
const ALL_CHECKS: Deps = Deps::MAX;

/// How many decisions pass between two looks at the clock.
const STOP_INTERVAL: u32 = 1024;

/// Who is told of each execution that the model allows.
pub(crate) trait Visitor {
    /// An allowed execution. The flags are those that hold on it.
    fn execution(&mut self, found: &Found<'_>) -> ControlFlow<()>;
    /// Should the search end?
    fn stop(&mut self) -> bool;
    /// Need this flag still be looked for where that is costly?
    fn wants_flag(&self, check: usize) -> bool;
}

/// An execution that the model allows.
pub(crate) struct Found<'s> {
    /// For each event that reads, the write; for others themselves.
    pub(crate) rf: &'s [usize],
    /// The coherence order.
    pub(crate) co: &'s [u64],
    /// What each event reads or writes.
    pub(crate) values: &'s [Option<Value>],
    /// The flags that hold: the number of the check and its relation or set.
    pub(crate) flags: &'s [(usize, Vec<u64>)],
}

/// Why a search ended before its end.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The visitor said so.
    Stopped,
    /// A definition of the model does not settle.
    Model(TextError),
}

/// A word of memory and its writes but the initial one.
struct Word {
    writes: Vec<usize>,
}

/// A decision to be taken.
#[derive(Clone, Copy, Debug)]
enum Decision {
    /// Which of two writes of one word comes first?
    Pair(usize, usize),
    /// Which write does it read?
    Read(usize),
}

/// What is undone when a decision is taken back.
#[derive(Clone, Default)]
struct Saved {
    co: Vec<u64>,
    apart: Vec<u64>,
    fr: Vec<u64>,
    values: Vec<Option<Value>>,
    closures: Vec<u64>,
}

pub(crate) struct Search<'a, 'p, V> {
    skeleton: &'a Skeleton<'p>,
    graph: Graph,
    checks: Vec<StagedCheck>,
    choices: Vec<Choice>,
    file: &'a str,
    visitor: &'a mut V,
    partial: bool,
    /// The numbers of the checks that are evaluated, cheap ones first.
    evaluated: Vec<usize>,
    linear: Vec<Linear>,
    decisions: Vec<Decision>,
    /// For each read the writes it may read.
    candidates: Vec<u64>,
    rf: Vec<usize>,
    co: Vec<u64>,
    /// For each write those of its word that it is known to be unordered with.
    apart: Vec<u64>,
    fr: Vec<u64>,
    values: Vec<Option<Value>>,
    /// The reads that are decided.
    decided: u64,
    /// All writes of each write's word.
    same_word: Vec<u64>,
    /// Are there values or guards that depend on reads?
    symbolic: bool,
    /// Must the graph know of each decision at once, or only at the end?
    eager: bool,
    /// The numbers that values out of thin air are drawn from.
    numbers: &'a [Value],
    /// The nodes of the choices, where the graph has them.
    inputs: Inputs,
    /// When each kind of choice last changed.
    versions: [u64; 4],
    clock: u64,
    /// When each node was last computed.
    stamps: Vec<u64>,
    saved: Vec<Saved>,
    ticks: u32,
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
    fn of(graph: &Graph, choices: usize, used: &[NodeId]) -> Inputs {
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
}

impl<'a, 'p, V: Visitor> Search<'a, 'p, V> {
    pub(crate) fn new(
        skeleton: &'a Skeleton<'p>,
        staged: Staged,
        setting: &Setting<'a>,
        visitor: &'a mut V,
    ) -> Search<'a, 'p, V> {
        let n = skeleton.len();
        let Staged { graph, checks, choices, .. } = staged;
        let mut linear = Vec::new();
        let mut evaluated = Vec::new();
        for (number, check) in checks.iter().enumerate() {
            if check.flag || setting.unchecked {
                continue;
            }
            match Linear::of(&graph, check) {
                Some(form) => linear.push(form),
                None => evaluated.push(number),
            }
        }
        evaluated.sort_by_key(|&number| checks[number].plan.len());
        let eager =
            evaluated.iter().any(|&number| checks[number].deps != 0 && !only_whole(checks[number].deps));
        let symbolic =
            skeleton.values.iter().zip(&skeleton.events).any(|(v, e)| e.writes() && v.constant().is_none())
                || !skeleton.guards.is_empty();
        let values = skeleton
            .values
            .iter()
            .zip(&skeleton.events)
            .map(|(value, event)| if event.writes() { value.constant() } else { None })
            .collect();
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
            skeleton,
            graph,
            checks,
            choices,
            file: setting.file,
            visitor,
            partial: setting.partial_coherence,
            evaluated,
            linear,
            decisions: Vec::new(),
            candidates: skeleton.writes_of.clone(),
            rf: (0..n).collect(),
            co: vec![0; n],
            apart: vec![0; n],
            fr: vec![0; n],
            values,
            decided: 0,
            same_word: vec![0; n],
            symbolic,
            eager,
            numbers: setting.numbers,
            versions: [1; 4],
            clock: 1,
            saved: Vec::new(),
            ticks: 0,
        };
        search.prepare();
        search
    }

    /// Orders the decisions and leaves out what the guards rule out alone.
    pub(super) fn prepare(&mut self) {
        let mut words: Vec<Word> = Vec::new();
        let events = &self.skeleton.events;
        for (initial, event) in events.iter().enumerate().take_while(|(_, e)| e.thread.is_none()) {
            let same = |e: &crate::exec::event::Event| {
                e.writes() && self.skeleton.word(e) == self.skeleton.word(event)
            };
            let all = self.skeleton.set(same);
            let writes: Vec<usize> = members(all & !(1 << initial)).collect();
            for write in members(all) {
                self.same_word[write] = all;
            }
            self.co[initial] = all & !(1 << initial);
            words.push(Word { writes });
        }
        for (read, _) in events.iter().enumerate().filter(|(_, e)| e.reads()) {
            self.candidates[read] = self.skeleton.feasible(read);
        }
        let forced: Vec<usize> = (0..events.len())
            .filter(|&read| events[read].reads() && self.candidates[read].count_ones() <= 1)
            .collect();
        self.decisions.extend(forced.iter().map(|&read| Decision::Read(read)));
        for word in &words {
            for (at, &later) in word.writes.iter().enumerate() {
                self.decisions
                    .extend(word.writes[..at].iter().rev().map(|&first| Decision::Pair(first, later)));
            }
        }
        let open = (0..events.len()).filter(|read| events[*read].reads() && !forced.contains(read));
        self.decisions.extend(open.map(Decision::Read));
        self.saved = vec![Saved::default(); self.decisions.len() + 1];
    }

    /// Runs the search. `syncs` are the orders of PTX's fences to be tried.
    pub(crate) fn run(&mut self, syncs: &[Vec<u64>]) -> Result<(), Halt> {
        if self.linear.iter().any(|form| !form.starts_acyclic()) {
            return Ok(());
        }
        for order in syncs {
            for id in self.inputs.sync.into_iter().flatten() {
                self.graph.set_value(id, order);
            }
            self.touch(DEP_SYNC | DEP_CO | DEP_RF);
            self.publish(DEP_CO | DEP_RF);
            // Some initial coherence is known from the start.
            let mut linear = core::mem::take(&mut self.linear);
            let start: Vec<_> = linear.iter().map(|form| form.closure.clone()).collect();
            let mut consistent = true;
            for form in &mut linear {
                for write in 0..self.co.len() {
                    consistent &= form.add_co(write, self.co[write]);
                }
            }
            self.linear = linear;
            if consistent && self.certain_checks_hold(ALL_CHECKS)? {
                self.decide(0)?;
            }
            for (form, closure) in self.linear.iter_mut().zip(start) {
                form.closure = closure;
            }
        }
        Ok(())
    }

    pub(super) fn save(&mut self, depth: usize) {
        let mut saved = core::mem::take(&mut self.saved[depth]);
        saved.co.clone_from(&self.co);
        saved.fr.clone_from(&self.fr);
        if self.partial {
            saved.apart.clone_from(&self.apart);
        }
        if self.symbolic {
            saved.values.clone_from(&self.values);
        }
        saved.closures.clear();
        for form in &self.linear {
            saved.closures.extend_from_slice(&form.closure);
        }
        self.saved[depth] = saved;
    }

    pub(super) fn restore(&mut self, depth: usize) {
        let saved = core::mem::take(&mut self.saved[depth]);
        self.co.copy_from_slice(&saved.co);
        self.fr.copy_from_slice(&saved.fr);
        if self.partial {
            self.apart.copy_from_slice(&saved.apart);
        }
        if self.symbolic {
            self.values.copy_from_slice(&saved.values);
        }
        let n = self.co.len();
        for (index, form) in self.linear.iter_mut().enumerate() {
            form.closure.copy_from_slice(&saved.closures[index * n..(index + 1) * n]);
        }
        self.saved[depth] = saved;
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

    pub(super) fn decide(&mut self, depth: usize) -> Result<(), Halt> {
        match self.decisions.get(depth).copied() {
            None => self.complete(),
            Some(Decision::Read(read)) => {
                for write in members(self.candidates[read]) {
                    self.tick()?;
                    self.save(depth);
                    if self.read_from(write, read) {
                        self.changed(DEP_RF);
                        if self.certain_checks_hold(DEP_RF)? {
                            self.decide(depth + 1)?;
                        }
                    }
                    self.unread(read);
                    self.restore(depth);
                }
                // Other decisions go on from here without this one.
                if depth > 0 && matches!(self.decisions[depth - 1], Decision::Pair(..)) {
                    self.changed(DEP_RF);
                }
                Ok(())
            }
            Some(Decision::Pair(a, b)) => {
                let settled = (self.co[a] | self.apart[a]) >> b & 1 == 1 || self.co[b] >> a & 1 == 1;
                if settled {
                    return self.decide(depth + 1);
                }
                for (first, later) in [(a, b), (b, a)] {
                    self.tick()?;
                    self.save(depth);
                    if self.order(first, later) {
                        self.changed(DEP_CO);
                        if self.certain_checks_hold(DEP_CO)? {
                            self.decide(depth + 1)?;
                        }
                    }
                    self.restore(depth);
                }
                if self.partial {
                    self.tick()?;
                    self.save(depth);
                    self.apart[a] |= 1 << b;
                    self.apart[b] |= 1 << a;
                    self.changed(DEP_CO);
                    if self.certain_checks_hold(DEP_CO)? {
                        self.decide(depth + 1)?;
                    }
                    self.restore(depth);
                }
                if depth > 0 && matches!(self.decisions[depth - 1], Decision::Read(_)) {
                    self.changed(DEP_CO);
                }
                Ok(())
            }
        }
    }

    /// Puts `first` before `later` in coherence order, with all that follows.
    pub(super) fn order(&mut self, first: usize, later: usize) -> bool {
        let after = self.co[later] | 1 << later;
        let mut linear = core::mem::take(&mut self.linear);
        let mut consistent = true;
        for write in members(self.same_word[first]) {
            if write != first && self.co[write] >> first & 1 == 0 {
                continue;
            }
            let new = after & !self.co[write];
            if new & (self.apart[write] | 1 << write) != 0 {
                consistent = false;
                break;
            }
            self.co[write] |= new;
            consistent = linear.iter_mut().all(|form| form.add_co(write, new));
            if !consistent {
                break;
            }
            // Reads of that write come before the new ones.
            for read in members(self.decided) {
                if self.rf[read] == write {
                    self.fr[read] |= new;
                    consistent &= linear.iter_mut().all(|form| form.add_fr(read, new));
                }
            }
        }
        self.linear = linear;
        consistent
    }

    /// Lets `read` read from `write`.
    pub(super) fn read_from(&mut self, write: usize, read: usize) -> bool {
        self.rf[read] = write;
        self.decided |= 1 << read;
        self.fr[read] = self.co[write];
        let after = self.co[write];
        let consistent =
            self.linear.iter_mut().all(|form| form.add_rf(write, read) && form.add_fr(read, after));
        consistent && (!self.symbolic || self.propagate())
    }

    pub(super) fn unread(&mut self, read: usize) {
        self.rf[read] = read;
        self.decided &= !(1 << read);
    }
}

/// Does a relation (or a set, for `empty`) pass a check?
pub(crate) fn satisfied(kind: CheckKind, rows: &[u64]) -> bool {
    match kind {
        CheckKind::Acyclic => matrix::is_acyclic(rows),
        CheckKind::Irreflexive => matrix::is_irreflexive(rows),
        CheckKind::Empty => matrix::is_empty(rows),
    }
}
