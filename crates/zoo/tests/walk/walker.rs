//! The walker: every order of issue, delivery, memory, timers and evictions.

use proto::{
    Agent, Coverage, Effects, Homes, LineAddr, LineData, MemoryAccess, MemoryOp, MemoryReply, Mutation,
    NodeId, Protocol, Request, SetIndex, Shape, Slot, Station, TimerClass, World, WritePolicy,
};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hash, Hasher};

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
    /// Add to a word, and read the old value into the next register.
    Add(u64, u32, Sync),
    /// Add to a word; nobody looks at the old value.
    Update(u64, u32, Sync),
    /// A fence.
    Fence(Sync),
    /// A kernel begins, or has ended.
    KernelBegin(proto::Level),
    KernelEnd(proto::Level),
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
    /// Words whose last value is part of the outcome.
    pub(crate) finals: Vec<u64>,
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

    fn shape(&self, cus: u16) -> Shape {
        let mut shape = Shape::bounded(self.l1, self.l2);
        shape.cus = cus;
        (shape.l1.ways, shape.l2.ways) = self.ways;
        (shape.l1.miss_registers, shape.l2.miss_registers) = self.misses;
        shape.l1.store_buffer_entries = self.store_buffer;
        shape
    }
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State<P: Protocol> {
    stations: BTreeMap<NodeId, Station<P>>,
    channels: BTreeMap<(NodeId, NodeId), VecDeque<P::Msg>>,
    memory: BTreeMap<LineAddr, LineData>,
    memory_queue: BTreeMap<(NodeId, LineAddr), VecDeque<MemoryOp>>,
    memory_replies: BTreeMap<(NodeId, LineAddr), VecDeque<MemoryReply>>,
    timers: BTreeSet<(NodeId, usize)>,
    pc: Vec<usize>,
    waiting: Vec<bool>,
    regs: Vec<Vec<u32>>,
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
    Deliver(NodeId, NodeId),
    /// Memory performs an operation; its word about it comes later.
    Memory(NodeId, LineAddr),
    Reply(NodeId, LineAddr),
    Timer(NodeId, TimerClass),
    Evict(NodeId, SetIndex, proto::Way),
}

/// A fast hash with a fixed seed, folded from full products.
#[derive(Clone, Copy, Default)]
struct Fold(u64);

impl Fold {
    fn fold(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word ^ 0x9e37_79b9_7f4a_7c15) * 0xa076_1d64_78bd_642f;
        self.0 = (product as u64) ^ ((product >> 64) as u64).rotate_left(23);
    }
}

impl Hasher for Fold {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.fold(u64::from_le_bytes(word));
        }
    }
    fn write_u8(&mut self, n: u8) {
        self.fold(u64::from(n));
    }
    fn write_u16(&mut self, n: u16) {
        self.fold(u64::from(n));
    }
    fn write_u32(&mut self, n: u32) {
        self.fold(u64::from(n));
    }
    fn write_u64(&mut self, n: u64) {
        self.fold(n);
    }
    fn write_usize(&mut self, n: usize) {
        self.fold(n as u64);
    }
}

struct Walk<'a, P: Protocol> {
    program: &'a Program,
    shape: Shape,
    params: P::Params,
    homes: Homes,
    mutation: Option<Mutation>,
    evictions: bool,
    states_max: usize,
    bounds: Bounds,
}

/// Words are four bytes; a line of the bounded machine holds two.
fn place(address: u64, shape: &Shape) -> (LineAddr, usize) {
    let line = u64::from(shape.line_bytes);
    (LineAddr(address / line), (address % line) as usize)
}

impl<P: Protocol> Walk<'_, P> {
    fn world(&self) -> World<'_, P> {
        World { params: &self.params, homes: &self.homes, kernels: &[], mutation: self.mutation }
    }

    fn op(&self, thread: usize, state: &State<P>) -> Do {
        self.program.threads[thread].ops[state.pc[thread]]
    }

    fn request(&self, thread: usize, op: Do) -> Request {
        use proto::{ByteMask, KernelId, Op, Order, Rmw, RmwKind, Width};
        let add = |uses_value| Op::Rmw(Rmw { kind: RmwKind::Add, width: Width::W4, uses_value });
        let (kind, address, value, (order, level)) = match op {
            Do::Store(a, v, s) => (Op::Store, a, v, s),
            Do::Load(a, s) | Do::Await(a, _, s) => (Op::Load, a, 0, s),
            Do::Add(a, v, s) => (add(true), a, v, s),
            Do::Update(a, v, s) => (add(false), a, v, s),
            Do::Fence(s) => (Op::Fence, 0, 0, s),
            Do::KernelBegin(level) => (Op::KernelBegin(KernelId(0)), 0, 0, (Order::Acquire, level)),
            Do::KernelEnd(level) => (Op::KernelEnd(KernelId(0)), 0, 0, (Order::Release, level)),
        };
        let (line, offset) = place(address, &self.shape);
        let mut data = LineData::default();
        data.write(offset, Width::W4, u64::from(value));
        let instance = u32::from(self.program.threads[thread].cu.unwrap_or(0));
        let scope = match level {
            proto::Level::WorkGroup => proto::Scope::work_group(instance),
            level => proto::Scope { level, instance: 0 },
        };
        Request {
            op: kind,
            order,
            scope,
            issuer: proto::Issuer::default(),
            hints: proto::Hints::default(),
            array: proto::ArrayId(0),
            line,
            mask: ByteMask::range(offset, 4),
            data,
        }
    }

    /// The moves of a state, and how many of them must be made some day; those
    /// behind are evictions that nobody needs.
    fn moves(&self, state: &State<P>) -> (Vec<Move>, usize) {
        let threads = &self.program.threads;
        let ready = |t: &usize| !state.waiting[*t] && state.pc[*t] < threads[*t].ops.len();
        let mut moves: Vec<_> = (0..threads.len()).filter(ready).map(Move::Issue).collect();
        moves.extend(state.channels.keys().map(|&(from, to)| Move::Deliver(from, to)));
        moves.extend(state.memory_queue.keys().map(|&(node, line)| Move::Memory(node, line)));
        moves.extend(state.memory_replies.keys().map(|&(node, line)| Move::Reply(node, line)));
        let classes = <TimerClass as proto::Symbol>::ALL;
        moves.extend(state.timers.iter().map(|&(node, class)| Move::Timer(node, classes[class])));
        let mut whims = Vec::new();
        let mut victims = Vec::new();
        for (&id, station) in &state.stations {
            let set = SetIndex(0);
            let needed = station.parked_count(proto::Key::Way(set)) > 0;
            if !needed && !self.evictions {
                continue;
            }
            victims.clear();
            proto::Node::victims(&station.node, set, &mut victims);
            let to = if needed { &mut moves } else { &mut whims };
            to.extend(victims.iter().map(|&(way, _)| Move::Evict(id, set, way)));
        }
        let needed = moves.len();
        moves.append(&mut whims);
        (moves, needed)
    }

    fn apply(&self, state: &State<P>, mv: Move, coverage: &mut Coverage) -> Result<State<P>, String> {
        let mut next = state.clone();
        let mut fx = Effects::default();
        fx.coverage = std::mem::take(coverage);
        let world = self.world();
        let id = match mv {
            Move::Issue(thread) => {
                let id = P::entry(self.program.threads[thread].cu.map_or(Agent::Host, Agent::Cu));
                next.waiting[thread] = true;
                let request = self.request(thread, self.op(thread, state));
                station(&mut next, id).request(Slot(thread as u32), &request, world, &mut fx);
                id
            }
            Move::Deliver(from, to) => {
                let msg = take(&mut next.channels, (from, to));
                station(&mut next, to).message(from, msg, world, &mut fx);
                to
            }
            Move::Memory(node, line) => {
                let op = take(&mut next.memory_queue, (node, line));
                let bytes = next.memory.entry(line).or_default();
                let data = match op.access {
                    MemoryAccess::Read => *bytes,
                    MemoryAccess::Write { mask, data } => {
                        bytes.merge(&data, mask);
                        LineData::default()
                    }
                    MemoryAccess::Rmw { rmw, mask, data } => rmw.perform(bytes, &data, mask),
                };
                let reply = MemoryReply { op, data };
                next.memory_replies.entry((node, line)).or_default().push_back(reply);
                node
            }
            Move::Reply(node, line) => {
                let reply = take(&mut next.memory_replies, (node, line));
                station(&mut next, node).memory(&reply, world, &mut fx);
                node
            }
            Move::Timer(node, class) => {
                next.timers.remove(&(node, class as usize));
                station(&mut next, node).timer(class, world, &mut fx);
                node
            }
            Move::Evict(node, set, way) => {
                station(&mut next, node).evict(set, way, world, &mut fx);
                node
            }
        };
        *coverage = std::mem::take(&mut fx.coverage);
        if let Some(why) = fx.violation.take() {
            return Err(format!("{mv:?}: {why}"));
        }
        let told = fx.uses.hits + fx.uses.misses + fx.uses.bypasses;
        if fx.uses.accesses != told {
            return Err(format!(
                "{mv:?}: {} accesses, but {told} hits, misses and bypasses",
                fx.uses.accesses
            ));
        }
        self.stalls_change_nothing(state, mv, &next, id, &fx)?;
        self.carry_out(&mut next, id, &mut fx)?;
        proto::Node::canonicalize(&mut station(&mut next, id).node);
        Ok(next)
    }

    fn stalls_change_nothing(
        &self,
        state: &State<P>,
        mv: Move,
        next: &State<P>,
        id: NodeId,
        fx: &Effects<P::Msg>,
    ) -> Result<(), String> {
        let parked = |s: &State<P>| s.stations[&id].parked_keys().map(|(_, n)| n).sum::<usize>();
        let one_row = match mv {
            Move::Issue(t) => !self.request(t, self.op(t, state)).order.is_atomic(),
            _ => true,
        };
        let unchanged = next.stations[&id].node == state.stations[&id].node;
        match one_row && parked(next) > parked(state) && fx.is_empty() && !unchanged {
            true => Err(format!("{mv:?} must wait, and changed something")),
            false => Ok(()),
        }
    }

    fn carry_out(&self, next: &mut State<P>, id: NodeId, fx: &mut Effects<P::Msg>) -> Result<(), String> {
        for (to, msg) in fx.sends.drain(..) {
            next.channels.entry((id, to)).or_default().push_back(msg);
        }
        for op in fx.memory.drain(..) {
            next.memory_queue.entry((id, op.line)).or_default().push_back(op);
        }
        next.timers.extend(fx.timers.drain(..).map(|class| (id, class as usize)));
        for (slot, data) in fx.replies.drain(..) {
            let thread = slot.0 as usize;
            if !next.waiting[thread] {
                return Err(format!("{slot:?} is answered twice"));
            }
            next.waiting[thread] = false;
            let read = |address| {
                let (_, offset) = place(address, &self.shape);
                let data = data.ok_or_else(|| format!("{slot:?} reads, and is answered without bytes"))?;
                Ok::<_, String>(data.read(offset, proto::Width::W4) as u32)
            };
            match self.op(thread, next) {
                Do::Load(a, _) | Do::Add(a, _, _) => next.regs[thread].push(read(a)?),
                Do::Await(a, value, _) if read(a)? != value => continue,
                _ => {}
            }
            next.pc[thread] += 1;
        }
        Ok(())
    }

    fn is_done(&self, state: &State<P>) -> bool {
        self.program.threads.iter().zip(&state.pc).all(|(t, &pc)| pc == t.ops.len())
    }

    /// The registers, and what the last writes left: memory under the dirty
    /// bytes of the banks, under those of the private caches.
    fn outcome(&self, state: &State<P>) -> Outcome {
        let mut outcome = state.regs.clone();
        if self.program.finals.is_empty() {
            return outcome;
        }
        let mut memory = state.memory.clone();
        let mut views = Vec::new();
        state.stations.values().rev().for_each(|s| proto::Node::lines(&s.node, &mut views));
        for view in views {
            memory.entry(view.line).or_default().merge(&view.data, view.dirty);
        }
        let word = |&address: &u64| {
            let (line, offset) = place(address, &self.shape);
            memory.get(&line).map_or(0, |data| data.read(offset, proto::Width::W4) as u32)
        };
        outcome.push(self.program.finals.iter().map(word).collect());
        outcome
    }

    /// What is not as it must be at the end: nothing is under way, every line
    /// can be given up, and a level that writes through holds no dirty bytes.
    fn unrest(&self, id: NodeId, station: &Station<P>) -> Option<String> {
        if !station.is_quiet() {
            return Some(format!("at the end {id:?} is not quiet"));
        }
        let (mut views, mut victims) = (Vec::new(), Vec::new());
        proto::Node::lines(&station.node, &mut views);
        proto::Node::victims(&station.node, SetIndex(0), &mut victims);
        if views.len() != victims.len() {
            return Some(format!("at the end {id:?} cannot give up some of {views:?}"));
        }
        let policy = match P::KINDS[usize::from(id.kind)].role {
            proto::Role::L1 => self.bounds.l1,
            _ => self.bounds.l2,
        };
        let dirty = views.iter().any(|v| !v.dirty.is_empty());
        (dirty && policy != WritePolicy::Combining).then(|| format!("at the end {id:?} holds dirty bytes"))
    }

    fn walk(&self) -> Found {
        let stations = proto::nodes::<P>(&self.shape).map(|id| (id, Station::new(id, &self.params)));
        let n = self.program.threads.len();
        let first = State {
            stations: stations.collect(),
            channels: BTreeMap::new(),
            memory: BTreeMap::new(),
            memory_queue: BTreeMap::new(),
            memory_replies: BTreeMap::new(),
            timers: BTreeSet::new(),
            pc: vec![0; n],
            waiting: vec![false; n],
            regs: vec![Vec::new(); n],
        };
        let mut found = Found::default();
        // States are known by their hash alone: 64 bits for some 100,000 states.
        let mut seen: HashMap<u64, u32, BuildHasherDefault<Fold>> = HashMap::default();
        let mut edges: Vec<(u32, u32)> = Vec::new();
        let mut ends: Vec<u32> = Vec::new();
        seen.insert(hash(&first), 0);
        let mut stack = vec![(first, 0u32)];
        while let Some((state, id)) = stack.pop() {
            let done = self.is_done(&state);
            let (moves, needed) = self.moves(&state);
            if needed == 0 && done {
                ends.push(id);
                found.outcomes.insert(self.outcome(&state));
                found.violation = state.stations.iter().find_map(|(&id, s)| self.unrest(id, s));
                if found.violation.is_some() {
                    break;
                }
                continue;
            }
            for mv in moves {
                match self.apply(&state, mv, &mut found.coverage) {
                    Ok(next) => {
                        let fresh = seen.len() as u32;
                        let to = match seen.entry(hash(&next)) {
                            Entry::Occupied(known) => *known.get(),
                            Entry::Vacant(place) => {
                                stack.push((next, fresh));
                                *place.insert(fresh)
                            }
                        };
                        edges.push((to, id));
                    }
                    Err(why) => {
                        found.violation = Some(why);
                        found.states = seen.len();
                        return found;
                    }
                }
            }
            if seen.len() > self.states_max {
                found.violation = Some(format!("more than {} states", self.states_max));
                break;
            }
        }
        found.states = seen.len();
        if found.violation.is_none() && !all_lead_to(&ends, &mut edges, seen.len()) {
            found.violation = Some("some state cannot come to an end any more".into());
        }
        found
    }
}

/// Can every state still reach an end? `edges` are turned around.
fn all_lead_to(ends: &[u32], edges: &mut [(u32, u32)], states: usize) -> bool {
    edges.sort_unstable();
    let mut leads = vec![false; states];
    let mut stack = ends.to_vec();
    ends.iter().for_each(|&e| leads[e as usize] = true);
    while let Some(at) = stack.pop() {
        let first = edges.partition_point(|e| e.0 < at);
        for &(_, from) in edges[first..].iter().take_while(|e| e.0 == at) {
            if !std::mem::replace(&mut leads[from as usize], true) {
                stack.push(from);
            }
        }
    }
    leads.iter().all(|&l| l)
}

fn hash<P: Protocol>(state: &State<P>) -> u64 {
    let mut fold = Fold::default();
    state.hash(&mut fold);
    fold.finish()
}

fn station<P: Protocol>(state: &mut State<P>, id: NodeId) -> &mut Station<P> {
    state.stations.get_mut(&id).expect("every node has a station")
}

fn take<K: Ord + Copy, T>(queues: &mut BTreeMap<K, VecDeque<T>>, key: K) -> T {
    let queue = queues.get_mut(&key).expect("a queue that is not empty");
    let first = queue.pop_front().expect("a queue that is not empty");
    if queue.is_empty() {
        queues.remove(&key);
    }
    first
}

/// Walks a program over a protocol.
pub(crate) fn walk<P: Protocol>(program: &Program, bounds: Bounds, mutation: Option<Mutation>) -> Found {
    let cus = program.threads.iter().filter_map(|t| t.cu).max().map_or(1, |cu| cu + 1);
    let shape = bounds.shape(cus);
    let params = P::params(&shape).expect("a bounded shape is sound");
    let homes = Homes::new(&shape, 1);
    let evictions = bounds.evictions;
    Walk::<P> { program, shape, params, homes, mutation, evictions, states_max: 400_000, bounds }.walk()
}
