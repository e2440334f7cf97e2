//! The controllers of a protocol on a bounded machine: each state of a station
//! has a number, and each is told each thing but once.
//!
//! A search meets the same station in very many states. What it did when it
//! was told something is remembered, over all programs that run on the machine.

use std::sync::Arc;

use proto::{
    Agent, Effects, Key, LineData, LineView, MemoryOp, MemoryReply, Mutation, Node as _, NodeId, PlanKey,
    Protocol, Request, RowId, SetIndex, Setup, Slot, Station, Symbol, TimerClass, Topology, Way, World,
    WritePolicy,
};
use rustc_hash::FxHashMap;

use crate::intern::Interner;

/// What a station is told. Nodes, requests, messages and replies are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Told {
    Start,
    Ask {
        slot: u32,
        request: u32,
    },
    /// A thread of the part is answered from another one.
    Answer {
        slot: u32,
        data: Option<u32>,
    },
    Message {
        from: u8,
        msg: u32,
    },
    Memory {
        reply: u32,
    },
    Timer(u8),
    Evict(u32),
    Tick,
}

/// What it does.
#[derive(Debug, Default)]
pub(crate) struct Did {
    pub(crate) station: u32,
    pub(crate) sends: Vec<(u8, u32)>,
    /// The line and the operation.
    pub(crate) memory: Vec<(u8, u32)>,
    /// A bit a class.
    pub(crate) timers: u8,
    /// The slot and the bytes.
    pub(crate) replies: Vec<(u32, Option<u32>)>,
    /// The rows that fired.
    pub(crate) rows: Vec<RowId>,
}

/// What a driver sees of a station.
#[derive(Debug)]
pub(crate) struct Look {
    pub(crate) needs_way: bool,
    pub(crate) victims: Vec<u8>,
    /// What is not as it must be at the end.
    pub(crate) unrest: Option<Arc<str>>,
}

/// The controllers, and what each of them does when it is told something.
pub(crate) struct Controllers<P: Protocol> {
    pub(crate) topology: Topology,
    setup: Setup<P>,
    mutation: Option<Mutation>,
    pub(crate) nodes: Vec<NodeId>,
    stations: Interner<Station<P>>,
    looks: Vec<Look>,
    msgs: Interner<P::Msg>,
    requests: Interner<Request>,
    lines: Interner<LineData>,
    ops: Interner<MemoryOp>,
    replies: Interner<MemoryReply>,
    steps: FxHashMap<(u32, Told), Result<Arc<Did>, Arc<str>>>,
    served: FxHashMap<(u32, u32), (u32, u32)>,
    fx: Effects<P::Msg>,
    /// Has the seeded fault made a station do something else?
    pub(crate) altered: bool,
}

impl<P: Protocol> Controllers<P> {
    /// The controllers of a machine.
    pub(crate) fn new(topology: Topology, mutation: Option<Mutation>) -> Result<Self, String> {
        let setup = Setup::new(&topology)?;
        Ok(Controllers {
            topology,
            mutation,
            nodes: setup.levels.nodes().collect(),
            setup,
            stations: Interner::default(),
            looks: Vec::new(),
            msgs: Interner::default(),
            requests: Interner::default(),
            lines: Interner::default(),
            ops: Interner::default(),
            replies: Interner::default(),
            steps: FxHashMap::default(),
            served: FxHashMap::default(),
            fx: Effects::default(),
            altered: false,
        })
    }

    /// The number of a node.
    pub(crate) fn node(&self, id: NodeId) -> Result<u8, String> {
        let at = self.nodes.iter().position(|&n| n == id);
        at.map(|at| at as u8).ok_or_else(|| format!("the machine has no node {id:?}"))
    }

    /// The node that the requests of an agent enter.
    pub(crate) fn entry(&self, agent: Agent, key: PlanKey) -> Result<u8, String> {
        self.node(P::entry(&self.setup.params, agent, key))
    }

    /// The name of a node: `L1[0]`.
    pub(crate) fn node_name(&self, node: u8) -> String {
        let id = self.nodes[usize::from(node)];
        let name = P::KINDS.get(usize::from(id.kind)).map_or("?", |k| k.name);
        format!("{name}[{}]", id.index)
    }

    /// The station of a node before anything happened.
    pub(crate) fn fresh(&mut self, node: u8) -> u32 {
        let station = Station::new(self.nodes[usize::from(node)], &self.setup);
        self.name(station)
    }

    pub(crate) fn request(&mut self, request: Request) -> u32 {
        self.requests.number(request)
    }

    pub(crate) fn request_of(&self, number: u32) -> &Request {
        self.requests.thing(number)
    }

    pub(crate) fn line(&mut self, line: LineData) -> u32 {
        self.lines.number(line)
    }

    pub(crate) fn line_of(&self, number: u32) -> &LineData {
        self.lines.thing(number)
    }

    pub(crate) fn msg_of(&self, number: u32) -> &P::Msg {
        self.msgs.thing(number)
    }

    pub(crate) fn op_of(&self, number: u32) -> &MemoryOp {
        self.ops.thing(number)
    }

    pub(crate) fn reply_of(&self, number: u32) -> &MemoryReply {
        self.replies.thing(number)
    }

    pub(crate) fn look(&self, station: u32) -> &Look {
        &self.looks[station as usize]
    }

    /// The lines that a station holds.
    pub(crate) fn views(&self, station: u32) -> Vec<LineView> {
        let mut views = Vec::new();
        self.stations.thing(station).node.lines(&mut views);
        views
    }

    /// How many states of stations and steps there are.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.stations.len(), self.steps.len())
    }

    /// About how many bytes all this takes.
    pub(crate) fn bytes(&self) -> usize {
        self.stations.bytes()
            + self.msgs.bytes()
            + self.requests.bytes()
            + self.lines.bytes()
            + self.ops.bytes()
            + self.replies.bytes()
            + self.steps.capacity() * (size_of::<(u32, Told)>() + 128)
    }

    fn name(&mut self, station: Station<P>) -> u32 {
        let number = self.stations.number(station);
        if number as usize == self.looks.len() {
            let look = self.look_at(number);
            self.looks.push(look);
        }
        number
    }

    /// A bounded cache has one set.
    fn look_at(&self, number: u32) -> Look {
        let station = self.stations.thing(number);
        let mut victims = Vec::new();
        station.node.victims(SetIndex(0), &mut victims);
        let policy = self.setup.levels.of(station.id().kind).array.policy;
        let unrest = station.unrest(policy != WritePolicy::Combining);
        Look {
            needs_way: station.parked_count(Key::Way(SetIndex(0))) > 0,
            victims: victims.iter().map(|(way, _)| way.0 as u8).collect(),
            unrest: unrest.map(Arc::from),
        }
    }

    /// Tells a station something, or recalls what it did when it was told.
    pub(crate) fn tell(&mut self, station: u32, told: Told) -> Result<Arc<Did>, Arc<str>> {
        if let Some(known) = self.steps.get(&(station, told)) {
            return known.clone();
        }
        let did = self.step(station, told).map(Arc::new).map_err(Arc::from);
        self.steps.insert((station, told), did.clone());
        did
    }

    fn step(&mut self, number: u32, told: Told) -> Result<Did, String> {
        let mut station = self.stations.thing(number).clone();
        let mut fx = core::mem::take(&mut self.fx);
        self.perform(&mut station, told, self.mutation, &mut fx);
        if self.mutation.is_some() && !self.altered {
            let mut right = (self.stations.thing(number).clone(), Effects::default());
            self.perform(&mut right.0, told, None, &mut right.1);
            self.altered = station != right.0 || !is_same(&fx, &right.1);
        }
        let is_plain = match told {
            Told::Ask { request, .. } => !self.requests.thing(request).order.is_atomic(),
            _ => true,
        };
        let result =
            self.judge(number, told, is_plain, &station, &mut fx).and_then(|()| self.done(station, &mut fx));
        self.fx = fx;
        result
    }

    /// Has a station do what it does when it is told something.
    fn perform(
        &self,
        station: &mut Station<P>,
        told: Told,
        mutation: Option<Mutation>,
        fx: &mut Effects<P::Msg>,
    ) {
        let world = World::<P> { mutation, ..self.setup.world() };
        fx.clear();
        fx.coverage = proto::Coverage::default();
        match told {
            Told::Ask { slot, request } => {
                station.request(Slot(slot), self.requests.thing(request), world, fx);
            }
            Told::Message { from, msg } => {
                let msg = self.msgs.thing(msg);
                station.message(self.nodes[usize::from(from)], msg, world, fx);
            }
            Told::Memory { reply } => station.memory(self.replies.thing(reply), world, fx),
            Told::Timer(class) => station.timer(TimerClass::ALL[usize::from(class)], world, fx),
            Told::Evict(way) => station.evict(Way(way), world, fx),
            // That is for a thread.
            Told::Answer { .. } => {}
            Told::Start => station.start(world, fx),
            Told::Tick => station.tick(1, world, fx),
        }
    }

    /// Is what the station did in order by itself?
    fn judge(
        &self,
        before: u32,
        told: Told,
        is_plain: bool,
        station: &Station<P>,
        fx: &mut Effects<P::Msg>,
    ) -> Result<(), String> {
        if let Some(why) = fx.violation.take() {
            return Err(why);
        }
        let name = || format!("{:?}", station.id());
        let counted = fx.uses.hits + fx.uses.misses + fx.uses.bypasses;
        if fx.uses.accesses != counted {
            let accesses = fx.uses.accesses;
            return Err(format!("{}: {accesses} accesses, but {counted} hits, misses and bypasses", name()));
        }
        let before = self.stations.thing(before);
        let parked = |s: &Station<P>| s.parked_keys().map(|(_, n)| n).sum::<usize>();
        let waits = parked(station) > parked(before) && fx.is_empty();
        let is_tick = matches!(told, Told::Tick);
        if is_plain && waits && !is_tick && station.node != before.node {
            return Err(format!("{}: an input must wait, and changed something", name()));
        }
        Ok(())
    }

    fn done(&mut self, mut station: Station<P>, fx: &mut Effects<P::Msg>) -> Result<Did, String> {
        let mut did = Did::default();
        for (to, msg) in fx.sends.drain(..) {
            let to = self.nodes.iter().position(|&n| n == to);
            let to = to.ok_or_else(|| format!("{:?} sends to a node that is not there", station.id()))?;
            did.sends.push((to as u8, self.msgs.number(msg)));
        }
        for op in fx.memory.drain(..) {
            let line = u8::try_from(op.line.0).map_err(|_| format!("no program has {:?}", op.line))?;
            did.memory.push((line, self.ops.number(op)));
        }
        did.timers = fx.timers.drain(..).fold(0, |bits, class| bits | 1 << class.index());
        for (slot, data) in fx.replies.drain(..) {
            did.replies.push((slot.0, data.map(|data| self.lines.number(data))));
        }
        did.rows = fx.coverage.fired().collect();
        station.node.canonicalize();
        did.station = self.name(station);
        Ok(did)
    }

    /// Memory performs an operation on a line: the line after it, and the
    /// answer.
    pub(crate) fn serve(&mut self, line: u32, op: u32) -> (u32, u32) {
        if let Some(&known) = self.served.get(&(line, op)) {
            return known;
        }
        let mut bytes = *self.lines.thing(line);
        let asked = *self.ops.thing(op);
        let data = asked.access.perform(&mut bytes);
        let result = (self.lines.number(bytes), self.replies.number(MemoryReply { op: asked, data }));
        self.served.insert((line, op), result);
        result
    }
}

/// Do they say the same to the world?
fn is_same<M: Eq>(a: &Effects<M>, b: &Effects<M>) -> bool {
    a.sends == b.sends
        && a.replies == b.replies
        && a.memory == b.memory
        && a.timers == b.timers
        && a.violation == b.violation
}
