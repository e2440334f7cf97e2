//! The parts of a machine, each known by a number, and what every input does.
//!
//! A walk meets the same station, queue or line in very many states. So a state
//! is a short list of numbers, and a station is told each thing but once.

use crate::walker::{Bounds, Do, Program};
use proto::{
    Agent, Coverage, Effects, Key, Levels, LineAddr, LineData, MemoryOp, MemoryReply, Mutation, NodeId,
    PlanKey, Protocol, Request, SetIndex, Setup, Slot, Station, Symbol, TimerClass, Way, Width, World,
    WritePolicy,
};
use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::rc::Rc;

/// Who would fill a longer queue must wait, so that threads that loop and do not
/// wait for their writes reach finitely many states.
const QUEUE_MAX: usize = 4;

/// More inputs never wait at one station, unless something is sent again and again.
const PARKED_MAX: usize = 32;

/// Things that are equal have one number.
#[derive(Debug)]
pub(crate) struct Names<T> {
    numbers: FxHashMap<Rc<T>, u32>,
    things: Vec<Rc<T>>,
}

impl<T: Eq + Hash> Names<T> {
    fn new() -> Self {
        Names { numbers: FxHashMap::default(), things: Vec::new() }
    }

    fn with(first: T) -> Self {
        let mut names = Names::new();
        names.number(first);
        names
    }

    pub(crate) fn number(&mut self, thing: T) -> u32 {
        if let Some(&number) = self.numbers.get(&thing) {
            return number;
        }
        let (number, thing) = (self.things.len() as u32, Rc::new(thing));
        self.things.push(thing.clone());
        self.numbers.insert(thing, number);
        number
    }

    pub(crate) fn thing(&self, number: u32) -> &Rc<T> {
        &self.things[number as usize]
    }
}

/// What a station is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Told {
    /// The operation of a thread at this place of its program.
    Ask {
        thread: usize,
        pc: usize,
    },
    Message {
        from: usize,
        msg: u32,
    },
    Memory {
        reply: u32,
    },
    Timer(usize),
    Evict(u32),
}

/// What it does. Nodes, lines and things are numbers.
#[derive(Debug, Default)]
pub(crate) struct Did {
    pub(crate) station: u32,
    pub(crate) sends: Vec<(usize, u32)>,
    pub(crate) memory: Vec<(usize, u32)>,
    /// A bit a class.
    pub(crate) timers: u32,
    pub(crate) replies: Vec<(usize, Option<u32>)>,
}

/// What a driver sees of a station.
#[derive(Debug)]
pub(crate) struct Look {
    pub(crate) needs_way: bool,
    pub(crate) victims: Vec<u32>,
    /// What is not as it must be at the end.
    pub(crate) unrest: Option<String>,
}

/// A machine with a program.
pub(crate) struct Machine<'a, P: Protocol> {
    program: &'a Program,
    pub(crate) bounds: Bounds,
    setup: Setup<P>,
    mutation: Option<Mutation>,
    pub(crate) nodes: Vec<NodeId>,
    pub(crate) line_count: usize,
    pub(crate) coverage: Coverage,
    pub(crate) stations: Names<Station<P>>,
    looks: Vec<Look>,
    msgs: Names<P::Msg>,
    pub(crate) lines: Names<LineData>,
    ops: Names<MemoryOp>,
    answers: Names<MemoryReply>,
    /// The first is the empty one.
    queues: Names<Vec<u32>>,
    /// The first is the empty one.
    pub(crate) registers: Names<Vec<u32>>,
    steps: FxHashMap<(u32, Told), Rc<Result<Did, String>>>,
    served: FxHashMap<(u32, u32), (u32, u32)>,
}

/// Words are four bytes; a line of the bounded machine holds two.
fn place(address: u64, levels: &Levels) -> (LineAddr, usize) {
    let line = u64::from(levels.line_bytes);
    (LineAddr(address / line), (address % line) as usize)
}

impl<'a, P: Protocol> Machine<'a, P> {
    pub(crate) fn new(program: &'a Program, bounds: Bounds, mutation: Option<Mutation>) -> Self {
        let cus = program.threads.iter().filter_map(|t| t.cu).max().map_or(1, |cu| cu + 1);
        let setup = Setup::<P>::new(&bounds.topology(cus)).expect("a bounded machine is sound");
        let last = program.addresses().max().unwrap_or(0);
        Machine {
            program,
            bounds,
            mutation,
            nodes: setup.levels.nodes().collect(),
            line_count: place(last, &setup.levels).0.0 as usize + 1,
            coverage: Coverage::default(),
            stations: Names::new(),
            looks: Vec::new(),
            msgs: Names::new(),
            lines: Names::with(LineData::default()),
            ops: Names::new(),
            answers: Names::new(),
            queues: Names::with(Vec::new()),
            registers: Names::with(Vec::new()),
            steps: FxHashMap::default(),
            served: FxHashMap::default(),
            setup,
        }
    }

    /// The stations as they are before anything happened.
    pub(crate) fn fresh(&mut self) -> Vec<u32> {
        self.setup.stations().into_iter().map(|station| self.name(station)).collect()
    }

    /// A line of memory as it is before anything happened.
    pub(crate) fn initial(&mut self, line: usize) -> u32 {
        let mut data = LineData::default();
        for &(address, value) in &self.program.initial {
            let (at, offset) = place(address, &self.setup.levels);
            if at.0 as usize == line {
                data.write(offset, Width::W4, u64::from(value));
            }
        }
        self.lines.number(data)
    }

    fn name(&mut self, station: Station<P>) -> u32 {
        let number = self.stations.number(station);
        if number as usize == self.looks.len() {
            let look = self.look_at(self.stations.thing(number));
            self.looks.push(look);
        }
        number
    }

    pub(crate) fn look(&self, station: u32) -> &Look {
        &self.looks[station as usize]
    }

    fn look_at(&self, station: &Station<P>) -> Look {
        let (mut views, mut victims) = (Vec::new(), Vec::new());
        proto::Node::lines(&station.node, &mut views);
        proto::Node::victims(&station.node, SetIndex(0), &mut victims);
        let id = station.id();
        let policy = self.setup.levels.of(id.kind).array.policy;
        let dirty = views.iter().any(|v| !v.owns && !v.dirty.is_empty());
        let unrest = if !station.is_quiet() {
            Some(format!("at the end {id:?} is not quiet"))
        } else if views.len() != victims.len() {
            Some(format!("at the end {id:?} cannot give up some of {views:?}"))
        } else {
            (dirty && policy != WritePolicy::Combining)
                .then(|| format!("at the end {id:?} holds dirty bytes"))
        };
        Look {
            needs_way: station.parked_count(Key::Way(SetIndex(0))) > 0,
            victims: victims.iter().map(|(way, _)| way.0).collect(),
            unrest,
        }
    }

    /// Where the requests of a thread go.
    pub(crate) fn entry(&self, thread: usize) -> usize {
        let agent = self.program.threads[thread].cu.map_or(Agent::Host(0), Agent::Cu);
        self.node(P::entry(&self.setup.params, agent, PlanKey::PLAIN_LOAD))
    }

    fn node(&self, id: NodeId) -> usize {
        self.nodes.iter().position(|&n| n == id).expect("a node of the machine")
    }

    fn request(&self, thread: usize, op: Do) -> Request {
        use proto::{ByteMask, KernelId, Op, Order, Rmw, RmwKind};
        let rmw = |kind, uses_value| Op::Rmw(Rmw { kind, width: Width::W4, uses_value });
        let (op, remote) = op.reach();
        let (kind, address, value, (order, level)) = match op {
            Do::Store(a, v, s) => (Op::Store, a, v, s),
            Do::Load(a, s) | Do::Await(a, _, s) | Do::Until(a, _, s, _) => (Op::Load, a, 0, s),
            Do::Add(a, v, s) => (rmw(RmwKind::Add, true), a, v, s),
            Do::Update(a, v, s) => (rmw(RmwKind::Add, false), a, v, s),
            Do::Take(a, s) => (rmw(RmwKind::CompareExchange { expected: 0 }, true), a, 1, s),
            Do::Fence(s) => (Op::Fence, 0, 0, s),
            Do::KernelBegin(level) => (Op::KernelBegin(KernelId(0)), 0, 0, (Order::Acquire, level)),
            Do::KernelEnd(level) => (Op::KernelEnd(KernelId(0)), 0, 0, (Order::Release, level)),
            Do::Remote(_) => panic!("an operation is remote once"),
        };
        let (line, offset) = place(address, &self.setup.levels);
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
            issuer: proto::Issuer { work_item: 0, wavefront: thread as u32, work_group: instance },
            hints: proto::Hints { remote, commutative: false },
            array: proto::ArrayId(0),
            line,
            mask: ByteMask::range(offset, 4),
            data,
        }
    }

    /// Tells a station something, or recalls what it did when it was told.
    pub(crate) fn tell(&mut self, station: u32, told: Told) -> Rc<Result<Did, String>> {
        if let Some(known) = self.steps.get(&(station, told)) {
            return known.clone();
        }
        let did = Rc::new(self.step(station, told));
        self.steps.insert((station, told), did.clone());
        did
    }

    fn step(&mut self, number: u32, told: Told) -> Result<Did, String> {
        let before = self.stations.thing(number).clone();
        let mut station = Station::clone(&before);
        let mut fx = Effects::default();
        fx.coverage = std::mem::take(&mut self.coverage);
        let world = World::<P> { mutation: self.mutation, ..self.setup.world() };
        let mut is_one_row = true;
        match told {
            Told::Ask { thread, pc } => {
                let request = self.request(thread, self.program.threads[thread].ops[pc]);
                is_one_row = !request.order.is_atomic() && !request.is_atomic_access();
                station.request(Slot(thread as u32), &request, world, &mut fx);
            }
            Told::Message { from, msg } => {
                let msg = self.msgs.thing(msg);
                station.message(self.nodes[from], msg, world, &mut fx);
            }
            Told::Memory { reply } => station.memory(self.answers.thing(reply), world, &mut fx),
            Told::Timer(class) => station.timer(TimerClass::ALL[class], world, &mut fx),
            Told::Evict(way) => station.evict(Way(way), world, &mut fx),
        }
        self.coverage = std::mem::take(&mut fx.coverage);
        if let Some(why) = fx.violation.take() {
            return Err(format!("{told:?}: {why}"));
        }
        let counted = fx.uses.hits + fx.uses.misses + fx.uses.bypasses;
        if fx.uses.accesses != counted {
            let accesses = fx.uses.accesses;
            return Err(format!("{told:?}: {accesses} accesses, but {counted} hits, misses and bypasses"));
        }
        let parked = |s: &Station<P>| s.parked_keys().map(|(_, n)| n).sum::<usize>();
        if parked(&station) > PARKED_MAX {
            return Err(format!("{told:?}: inputs pile up"));
        }
        let waits = parked(&station) > parked(&before) && fx.is_empty();
        if is_one_row && waits && station.node != before.node {
            return Err(format!("{told:?} must wait, and changed something"));
        }
        Ok(self.done(station, &mut fx))
    }

    fn done(&mut self, mut station: Station<P>, fx: &mut Effects<P::Msg>) -> Did {
        let mut did = Did::default();
        for (to, msg) in fx.sends.drain(..) {
            did.sends.push((self.node(to), self.msgs.number(msg)));
        }
        for op in fx.memory.drain(..) {
            did.memory.push((op.line.0 as usize, self.ops.number(op)));
        }
        did.timers = fx.timers.drain(..).fold(0, |bits, class| bits | 1 << class.index());
        for (slot, data) in fx.replies.drain(..) {
            did.replies.push((slot.0 as usize, data.map(|data| self.lines.number(data))));
        }
        proto::Node::canonicalize(&mut station.node);
        did.station = self.name(station);
        did
    }

    /// Memory performs an operation on a line: the line after it, and the answer.
    pub(crate) fn serve(&mut self, line: u32, op: u32) -> (u32, u32) {
        if let Some(&known) = self.served.get(&(line, op)) {
            return known;
        }
        let mut bytes = **self.lines.thing(line);
        let asked = **self.ops.thing(op);
        let data = asked.access.perform(&mut bytes);
        let result = (self.lines.number(bytes), self.answers.number(MemoryReply { op: asked, data }));
        self.served.insert((line, op), result);
        result
    }

    pub(crate) fn push(&mut self, queue: &mut u32, item: u32) {
        let mut items = Vec::clone(self.queues.thing(*queue));
        items.push(item);
        *queue = self.queues.number(items);
    }

    pub(crate) fn pop(&mut self, queue: &mut u32) -> u32 {
        let items = self.queues.thing(*queue);
        let (first, rest) = (items[0], items[1..].to_vec());
        *queue = self.queues.number(rest);
        first
    }

    pub(crate) fn is_full(&self, queue: u32) -> bool {
        self.queues.thing(queue).len() >= QUEUE_MAX
    }

    /// The word at an address, of the bytes of its line.
    pub(crate) fn word(&self, address: u64, line: u32) -> u32 {
        let (_, offset) = place(address, &self.setup.levels);
        self.lines.thing(line).read(offset, Width::W4) as u32
    }

    /// What the last writes left: memory under the dirty bytes of the banks,
    /// under those of the private caches.
    pub(crate) fn finals(&self, stations: &[u32], memory: &[u32]) -> Vec<u32> {
        let mut lines: Vec<LineData> = memory.iter().map(|&line| **self.lines.thing(line)).collect();
        let mut views = Vec::new();
        for &station in stations.iter().rev() {
            proto::Node::lines(&self.stations.thing(station).node, &mut views);
        }
        for view in views {
            lines[view.line.0 as usize].merge(&view.data, view.dirty);
        }
        let word = |&address: &u64| {
            let (line, offset) = place(address, &self.setup.levels);
            lines[line.0 as usize].read(offset, Width::W4) as u32
        };
        self.program.finals.iter().map(word).collect()
    }
}
