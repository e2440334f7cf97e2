//! The walker: every order of issue, delivery, memory, timers and evictions.

use crate::graph::{Edge, Graph, WAITS};
use crate::machine::{Machine, Told};
use proto::{Coverage, Mutation, Protocol, Topology, WritePolicy};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::collections::hash_map::Entry;

/// Order and level of an operation.
pub(crate) type Sync = (proto::Order, proto::Level);

/// One operation of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Do {
    /// Write a word.
    Store(u64, u32, Sync),
    /// Read a word into the next register.
    Load(u64, Sync),
    /// Read a word until it has this value.
    Await(u64, u32, Sync),
    /// Read a word; unless it has this value, go back by so many operations.
    Until(u64, u32, Sync, u32),
    /// Add to a word, and read the old value into the next register.
    Add(u64, u32, Sync),
    /// Add to a word; nobody looks at the old value.
    Update(u64, u32, Sync),
    /// Try to change a word from zero to one until that succeeds.
    Take(u64, Sync),
    /// A fence.
    Fence(Sync),
    /// A kernel begins, or has ended.
    KernelBegin(proto::Level),
    KernelEnd(proto::Level),
    /// The same operation, as a remote one.
    Remote(&'static Do),
}

impl Do {
    /// The operation, and whether it is a remote one.
    pub(crate) fn reach(self) -> (Do, bool) {
        match self {
            Do::Remote(op) => (*op, true),
            op => (op, false),
        }
    }
}

/// A thread: where it runs (`None` is the host), and what it does.
#[derive(Clone, Debug)]
pub(crate) struct Thread {
    pub(crate) cu: Option<u16>,
    pub(crate) ops: Vec<Do>,
}

/// Registers of every thread, then the words of memory that were asked for.
pub(crate) type Outcome = Vec<Vec<u32>>;

/// What is walked.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) threads: Vec<Thread>,
    /// Words of memory that are not zero at the beginning.
    pub(crate) initial: Vec<(u64, u32)>,
    /// Words whose last value is part of the outcome.
    pub(crate) finals: Vec<u64>,
}

impl Program {
    /// The words that it speaks of.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = u64> {
        let accessed = self.threads.iter().flat_map(|t| &t.ops).map(|op| match op.reach().0 {
            Do::Store(a, ..) | Do::Load(a, ..) | Do::Await(a, ..) | Do::Until(a, ..) => a,
            Do::Add(a, ..) | Do::Update(a, ..) | Do::Take(a, ..) => a,
            Do::Fence(_) | Do::KernelBegin(_) | Do::KernelEnd(_) | Do::Remote(_) => 0,
        });
        accessed.chain(self.finals.iter().copied()).chain(self.initial.iter().map(|&(address, _)| address))
    }
}

/// The machine that it is walked on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) l1: WritePolicy,
    pub(crate) l2: WritePolicy,
    /// Ways of the one set of each L1, and of each bank.
    pub(crate) ways: (u32, u32),
    /// Miss registers of each L1, and of each bank.
    pub(crate) misses: (u32, u32),
    pub(crate) store_buffer: u32,
    /// Are lines evicted although nobody needs their ways?
    pub(crate) evictions: bool,
}

impl Bounds {
    pub(crate) fn new(l1: WritePolicy, l2: WritePolicy) -> Self {
        Bounds { l1, l2, ways: (2, 2), misses: (2, 2), store_buffer: 2, evictions: false }
    }

    /// One of everything that a cache can run out of.
    pub(crate) fn tight(self) -> Self {
        Bounds { ways: (1, 1), misses: (1, 1), store_buffer: 1, ..self }
    }

    pub(crate) fn evicting(self) -> Self {
        Bounds { evictions: true, ..self }
    }

    pub(crate) fn topology(&self, cus: u16) -> Topology {
        Topology { cus, ..Topology::bounded(self.l1, self.l2) }
            .with_array("l1", |l1| {
                (l1.ways, l1.miss_registers) = (self.ways.0, self.misses.0);
                l1.store_buffer_entries = self.store_buffer;
            })
            .with_array("l2", |l2| (l2.ways, l2.miss_registers) = (self.ways.1, self.misses.1))
    }
}

/// What a walk found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The outcomes of all runs that have come to rest.
    pub(crate) outcomes: BTreeSet<Outcome>,
    pub(crate) states: usize,
    pub(crate) coverage: Coverage,
    pub(crate) violation: Option<String>,
}

#[derive(Clone, Copy, Debug)]
enum Move {
    Issue(usize),
    Deliver(usize, usize),
    /// Memory performs an operation; its word about it comes later.
    Memory(usize, usize),
    Reply(usize, usize),
    Timer(usize, usize),
    Evict(usize, u32),
}

/// A state: numbers of stations, of the queues of channels, of memory's queues
/// and replies, of the lines of memory, of timers and of threads, in this order.
struct Layout {
    nodes: usize,
    lines: usize,
    threads: usize,
}

/// A thread's word: its registers above, then whether it waits, then its place.
const WAITING: u32 = 1 << 8;
const REGISTERS: u32 = 9;

impl Layout {
    fn channel(&self, from: usize, to: usize) -> usize {
        self.nodes + from * self.nodes + to
    }
    fn queue(&self, node: usize, line: usize) -> usize {
        self.channel(self.nodes, 0) + node * self.lines + line
    }
    fn reply(&self, node: usize, line: usize) -> usize {
        self.queue(self.nodes + node, line)
    }
    fn memory(&self, line: usize) -> usize {
        self.reply(self.nodes, line)
    }
    fn timers(&self, node: usize) -> usize {
        self.memory(self.lines) + node
    }
    fn thread(&self, thread: usize) -> usize {
        self.timers(self.nodes) + thread
    }
    fn words(&self) -> usize {
        self.thread(self.threads)
    }

    /// Moves that stand in a word have its place as their label.
    fn label(&self, mv: Move) -> u16 {
        const CLASSES: usize = 8;
        let label = match mv {
            Move::Issue(thread) => self.thread(thread),
            Move::Deliver(from, to) => self.channel(from, to),
            Move::Memory(node, line) => self.queue(node, line),
            Move::Reply(node, line) => self.reply(node, line),
            Move::Timer(node, class) => self.words() + node * CLASSES + class,
            Move::Evict(node, way) => self.words() + (self.nodes + way as usize) * CLASSES + node,
        };
        label as u16
    }
}

fn hash(state: &[u32]) -> u64 {
    let mut hash = 0u64;
    for pair in state.chunks(2) {
        let word = u64::from(pair[0]) | u64::from(pair.get(1).copied().unwrap_or(0)) << 32;
        let product = u128::from(hash ^ word ^ 0x9e37_79b9_7f4a_7c15) * 0xa076_1d64_78bd_642f;
        hash = (product as u64) ^ ((product >> 64) as u64).rotate_left(23);
    }
    hash
}

struct Walk<'a, P: Protocol> {
    program: &'a Program,
    machine: Machine<'a, P>,
    layout: Layout,
}

impl<P: Protocol> Walk<'_, P> {
    fn first(&mut self) -> Vec<u32> {
        let mut first = self.machine.fresh();
        first.resize(self.layout.words(), 0);
        for line in 0..self.layout.lines {
            first[self.layout.memory(line)] = self.machine.initial(line);
        }
        first
    }

    /// The moves of a state, and how many of them must be made some day; those
    /// behind are evictions that nobody needs.
    fn moves(&self, state: &[u32], moves: &mut Vec<Move>) -> usize {
        moves.clear();
        let layout = &self.layout;
        for (thread, program) in self.program.threads.iter().enumerate() {
            let word = state[layout.thread(thread)];
            if word & WAITING == 0 && ((word & (WAITING - 1)) as usize) < program.ops.len() {
                moves.push(Move::Issue(thread));
            }
        }
        for from in 0..layout.nodes {
            let sent = (0..layout.nodes).filter(|&to| state[layout.channel(from, to)] != 0);
            moves.extend(sent.map(|to| Move::Deliver(from, to)));
            for line in 0..layout.lines {
                let asked = (state[layout.queue(from, line)] != 0).then_some(Move::Memory(from, line));
                let answered = (state[layout.reply(from, line)] != 0).then_some(Move::Reply(from, line));
                moves.extend(asked.into_iter().chain(answered));
            }
            let timers = state[layout.timers(from)];
            moves.extend((0..32).filter(|&c| timers & 1 << c != 0).map(|c| Move::Timer(from, c)));
        }
        let looks = || state[..layout.nodes].iter().map(|&s| self.machine.look(s)).enumerate();
        let evict = |(node, look): (usize, &crate::machine::Look), moves: &mut Vec<Move>| {
            moves.extend(look.victims.iter().map(|&way| Move::Evict(node, way)));
        };
        looks().filter(|(_, look)| look.needs_way).for_each(|look| evict(look, moves));
        let needed = moves.len();
        if self.machine.bounds.evictions {
            looks().filter(|(_, look)| !look.needs_way).for_each(|look| evict(look, moves));
        }
        needed
    }

    /// Must a move wait until a queue that it may fill is shorter?
    fn must_wait(&self, state: &[u32], mv: Move) -> bool {
        let layout = &self.layout;
        let node = match mv {
            Move::Issue(thread) => self.machine.entry(thread),
            Move::Deliver(_, to) => to,
            Move::Timer(node, _) | Move::Evict(node, _) => node,
            Move::Memory(..) | Move::Reply(..) => return false,
        };
        let is_full = |place: usize| state[place] != 0 && self.machine.is_full(state[place]);
        let memory = |line| is_full(layout.queue(node, line)) || is_full(layout.reply(node, line));
        // Answers always go: what they wake, others were let in to ask for.
        let is_answer = matches!(mv, Move::Deliver(from, to) if from > to);
        (0..layout.lines).any(memory)
            || !is_answer && (0..layout.nodes).any(|to| is_full(layout.channel(node, to)))
    }

    /// Makes a move in `next`.
    fn apply(&mut self, next: &mut [u32], mv: Move) -> Result<(), String> {
        let (layout, machine) = (&self.layout, &mut self.machine);
        let (node, told) = match mv {
            Move::Issue(thread) => {
                let word = &mut next[layout.thread(thread)];
                *word |= WAITING;
                let pc = (*word & (WAITING - 1)) as usize;
                (machine.entry(thread), Told::Ask { thread, pc })
            }
            Move::Deliver(from, to) => {
                let msg = machine.pop(&mut next[layout.channel(from, to)]);
                (to, Told::Message { from, msg })
            }
            Move::Memory(node, line) => {
                let op = machine.pop(&mut next[layout.queue(node, line)]);
                let (bytes, reply) = machine.serve(next[layout.memory(line)], op);
                next[layout.memory(line)] = bytes;
                machine.push(&mut next[layout.reply(node, line)], reply);
                return Ok(());
            }
            Move::Reply(node, line) => {
                let reply = machine.pop(&mut next[layout.reply(node, line)]);
                (node, Told::Memory { reply })
            }
            Move::Timer(node, class) => {
                next[layout.timers(node)] &= !(1 << class);
                (node, Told::Timer(class))
            }
            Move::Evict(node, way) => (node, Told::Evict(way)),
        };
        let did = machine.tell(next[node], told);
        let did = did.as_ref().as_ref().map_err(|why| format!("{:?}: {why}", machine.nodes[node]))?;
        next[node] = did.station;
        for &(to, msg) in &did.sends {
            machine.push(&mut next[layout.channel(node, to)], msg);
        }
        for &(line, op) in &did.memory {
            machine.push(&mut next[layout.queue(node, line)], op);
        }
        next[layout.timers(node)] |= did.timers;
        did.replies.iter().try_for_each(|&(thread, data)| self.answer(next, thread, data))
    }

    /// A thread goes on with the bytes that it has read.
    fn answer(&mut self, next: &mut [u32], thread: usize, data: Option<u32>) -> Result<(), String> {
        let word = &mut next[self.layout.thread(thread)];
        if *word & WAITING == 0 {
            return Err(format!("thread {thread} is answered twice"));
        }
        *word &= !WAITING;
        let read = |address| {
            let data = data.ok_or_else(|| format!("thread {thread} reads, and is answered without bytes"))?;
            Ok::<_, String>(self.machine.word(address, data))
        };
        match self.program.threads[thread].ops[(*word & (WAITING - 1)) as usize].reach().0 {
            Do::Await(a, value, _) if read(a)? != value => return Ok(()),
            Do::Until(a, value, _, back) if read(a)? != value => {
                *word -= back;
                return Ok(());
            }
            Do::Take(a, _) if read(a)? != 0 => return Ok(()),
            Do::Load(a, _) | Do::Add(a, _, _) => {
                let value = read(a)?;
                let mut registers = Vec::clone(self.machine.registers.thing(*word >> REGISTERS));
                registers.push(value);
                let number = self.machine.registers.number(registers);
                *word = *word & (2 * WAITING - 1) | number << REGISTERS;
            }
            _ => {}
        }
        *word += 1;
        Ok(())
    }

    fn outcome(&self, state: &[u32]) -> Outcome {
        let threads = &state[self.layout.thread(0)..];
        let registers = |word: &u32| Vec::clone(self.machine.registers.thing(word >> REGISTERS));
        let mut outcome: Outcome = threads.iter().map(registers).collect();
        if !self.program.finals.is_empty() {
            let memory = &state[self.layout.memory(0)..self.layout.memory(self.layout.lines)];
            outcome.push(self.machine.finals(&state[..self.layout.nodes], memory));
        }
        outcome
    }

    fn is_done(&self, state: &[u32]) -> bool {
        let words = &state[self.layout.thread(0)..];
        let threads = self.program.threads.iter().zip(words);
        threads.into_iter().all(|(t, &word)| (word & (2 * WAITING - 1)) as usize == t.ops.len())
    }

    fn walk(mut self, states_max: usize) -> Found {
        let mut found = Found::default();
        let mut graph = Graph::default();
        let width = self.layout.words();
        let mut stack = self.first();
        let (mut state, mut next) = (stack.clone(), stack.clone());
        // States are known by their hash alone: 64 bits for some 100,000 states.
        let mut seen: FxHashMap<u64, u32> = FxHashMap::default();
        seen.insert(hash(&stack), 0);
        let mut numbers = vec![0u32];
        let (mut moves, mut edges) = (Vec::new(), Vec::new());
        while let Some(number) = numbers.pop() {
            let top = stack.len() - width;
            state.copy_from_slice(&stack[top..]);
            stack.truncate(top);
            let needed = self.moves(&state, &mut moves);
            if needed == 0 && self.is_done(&state) {
                graph.end(number);
                found.outcomes.insert(self.outcome(&state));
                let looks = state[..self.layout.nodes].iter().map(|&s| self.machine.look(s));
                found.violation = looks.into_iter().find_map(|look| look.unrest.clone());
            } else {
                edges.clear();
                for (i, &mv) in moves.iter().enumerate() {
                    let label = self.layout.label(mv);
                    if self.must_wait(&state, mv) {
                        edges.push(Edge { to: WAITS, label, whim: i >= needed });
                        continue;
                    }
                    next.copy_from_slice(&state);
                    if let Err(why) = self.apply(&mut next, mv) {
                        found.violation = Some(why);
                        break;
                    }
                    let fresh = seen.len() as u32;
                    let to = match seen.entry(hash(&next)) {
                        Entry::Occupied(known) => *known.get(),
                        Entry::Vacant(place) => {
                            stack.extend_from_slice(&next);
                            numbers.push(fresh);
                            *place.insert(fresh)
                        }
                    };
                    edges.push(Edge { to, label, whim: i >= needed });
                }
                graph.add(number, &edges);
            }
            if found.violation.is_none() && seen.len() > states_max {
                found.violation = Some(format!("more than {states_max} states"));
            }
            if found.violation.is_some() {
                break;
            }
        }
        found.states = seen.len();
        if found.violation.is_none() {
            graph.close();
            found.violation = graph.never_ends().map(str::to_owned);
        }
        found.coverage = self.machine.coverage;
        found
    }
}

/// Walks a program over a protocol.
pub(crate) fn walk<P: Protocol>(program: &Program, bounds: Bounds, mutation: Option<Mutation>) -> Found {
    walk_at_most::<P>(program, bounds, mutation, 400_000)
}

/// The same; more states are a violation.
pub(crate) fn walk_at_most<P: Protocol>(
    program: &Program,
    bounds: Bounds,
    mutation: Option<Mutation>,
    states_max: usize,
) -> Found {
    let machine = Machine::<P>::new(program, bounds, mutation);
    let (nodes, lines) = (machine.nodes.len(), machine.line_count);
    let layout = Layout { nodes, lines, threads: program.threads.len() };
    Walk { program, machine, layout }.walk(states_max)
}
