//! The controllers of a protocol on a bounded machine: each state of a station
//! has a number, and each is told each thing but once.
//!
//! A search meets the same station in very many states. What it did when it
//! was told something is remembered, over all programs that run on the machine.

use std::sync::Arc;

use drive::{Nodes, Record};
use proto::{
    Agent, ArrayUse, Effects, Hit, Homes, Key, LineData, LineView, Load, MemoryOp, MemoryReply, Message as _,
    Mutation, Node as _, PlanKey, Protocol, Request, RowId, SetIndex, Slot, Station, Symbol, Topology,
    WritePolicy,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::machine::intern::Interner;

/// An input of a station. Requests, messages and replies are numbers.
pub(crate) type Told = drive::Told<u32, u32, u32>;

/// What comes to a part from another one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Word {
    /// For its station.
    Told(Told),
    /// For one of its threads: the answer to a request.
    Answer { slot: Slot, data: Option<u32> },
    /// A work-group that goes on on this compute unit: its threads and their states.
    Group { cu: u16, threads: SmallVec<[(u8, u32); 2]> },
}

/// More inputs never wait at one station, unless something is sent again and again.
const PARKED_MAX: usize = 32;

/// What it does.
#[derive(Debug, Default)]
pub(crate) struct Did {
    pub(crate) station: u32,
    pub(crate) sends: Vec<(u8, u32)>,
    /// The line and the operation.
    pub(crate) memory: Vec<(u8, u32)>,
    /// A bit a class.
    pub(crate) timers: u8,
    /// True if a driver may answer the load as a hit, without this step.
    pub(crate) is_hit: bool,
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
    pub(crate) nodes: Nodes<P>,
    /// The same without the seeded fault, if there is one.
    right: Option<Nodes<P>>,
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
    record: Record<P>,
    /// Has the seeded fault made a station do something else?
    pub(crate) altered: bool,
}

impl<P: Protocol> Controllers<P> {
    /// The controllers of a machine whose lines live there, for programs with those
    /// kernels.
    pub(crate) fn new(
        topology: &Topology,
        homes: Homes,
        mutation: Option<Mutation>,
        kernels: &[Vec<ArrayUse>],
    ) -> Result<Self, String> {
        let mut nodes = Nodes::new(topology, homes, mutation)?;
        kernels.iter().for_each(|uses| nodes.add_kernel(uses));
        if nodes.ids().len() > usize::from(u8::MAX) {
            return Err(format!("it has {} nodes, and at most {} are explored", nodes.ids().len(), u8::MAX));
        }
        Ok(Controllers {
            right: mutation.map(|_| nodes.clone().without_mutation()),
            nodes,
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
            record: Record::default(),
            altered: false,
        })
    }

    /// The machine.
    pub(crate) fn topology(&self) -> &Topology {
        self.nodes.topology()
    }

    /// Where an operation of an agent goes.
    pub(crate) fn entry(&self, agent: Agent, key: PlanKey) -> Result<u8, String> {
        self.nodes.entry(agent, key).map(|at| at as u8)
    }

    /// The name of a node: `L1[0]`.
    pub(crate) fn node_name(&self, node: u8) -> String {
        self.nodes.name(node.into())
    }

    /// The station of a node before anything happened.
    pub(crate) fn fresh(&mut self, node: u8) -> u32 {
        let station = self.nodes.fresh(node.into());
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
        let policy = self.nodes.level(station.id().kind).array.policy;
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
        fx.coverage = proto::Coverage::default();
        let mut record = core::mem::take(&mut self.record);
        record.clear();
        let done = self.perform(&self.nodes, &mut station, told, &mut fx, &mut record);
        if let Some(right) = self.right.as_ref().filter(|_| !self.altered) {
            let mut other = self.stations.thing(number).clone();
            let mut recorded = Record::default();
            let right = self.perform(right, &mut other, told, &mut Effects::default(), &mut recorded);
            self.altered = station != other || done != right || !is_same(&record, &recorded);
        }
        let rows: Vec<RowId> = fx.coverage.fired().collect();
        self.fx = fx;
        let result = done
            .and_then(|()| self.judge(number, told, &station, &record))
            .and_then(|()| self.judge_hit(number, told, (&station, &record, &rows)))
            .and_then(|is_hit| self.done(station, &mut record, rows, is_hit));
        self.record = record;
        result
    }

    /// Has a station do what it does when it is told something.
    fn perform(
        &self,
        nodes: &Nodes<P>,
        station: &mut Station<P>,
        told: Told,
        fx: &mut Effects<P::Msg>,
        record: &mut Record<P>,
    ) -> Result<(), String> {
        let at = nodes.position(station.id()).unwrap_or_default();
        let told = told.map(
            |request| self.requests.thing(request),
            |msg| self.msgs.thing(msg),
            |reply| self.replies.thing(reply),
        );
        nodes.tell(station, at, &told, fx, record)
    }

    /// Is what the station did in order by itself?
    fn judge(&self, before: u32, told: Told, station: &Station<P>, record: &Record<P>) -> Result<(), String> {
        let is_plain = match told {
            Told::Ask { request, .. } => {
                let request = self.requests.thing(request);
                !request.order.is_atomic() && !request.is_atomic_access()
            }
            Told::Tick(_) => false,
            _ => true,
        };
        let before = self.stations.thing(before);
        let parked = |s: &Station<P>| s.parked_keys().map(|(_, n)| n).sum::<usize>();
        if parked(station) > PARKED_MAX {
            return Err(format!("{:?}: inputs pile up: more than {PARKED_MAX} are parked", station.id()));
        }
        let waits = parked(station) > parked(before) && record.is_silent();
        if is_plain && waits && station.node != before.node {
            return Err(format!("{:?}: an input must wait, and changed something", station.id()));
        }
        Ok(())
    }

    /// Compares the answer to a hit, which a driver gives without a step
    /// ([`proto::Controller::hit`]), with all that its step does but timers: the part knows
    /// which of them run. True if the input is such a load.
    fn judge_hit(
        &self,
        before: u32,
        told: Told,
        (station, record, rows): (&Station<P>, &Record<P>, &[RowId]),
    ) -> Result<bool, String> {
        let Told::Ask { slot, request } = told else { return Ok(false) };
        let (before, request) = (self.stations.thing(before), self.requests.thing(request));
        let load = Load { key: PlanKey::of(request), line: request.line, mask: request.mask };
        let world = self.nodes.world();
        // A seeded fault changes the step alone.
        let Some(hit) = before.node.hit(&load, world.homes).filter(|_| world.mutation.is_none()) else {
            return Ok(false);
        };
        let bytes = hit.bytes.len();
        let is_answer = matches!(&record.replies[..], [(to, Some(data))]
            if *to == slot && data.0[..bytes] == *hit.bytes && data.0[bytes..].iter().all(|&byte| byte == 0));
        let does_more = !record.sends.is_empty()
            || !record.memory.is_empty()
            || !record.needs.is_empty()
            || !record.spends.is_empty();
        let is_counted = record.uses == Hit::uses() && record.touches == [hit.way] && rows == [hit.row];
        if is_answer && !does_more && is_counted && station == before {
            return Ok(true);
        }
        Err(format!("{:?}: {request:?} is answered as a hit, and its step does something else", station.id()))
    }

    fn done(
        &mut self,
        mut station: Station<P>,
        record: &mut Record<P>,
        rows: Vec<RowId>,
        is_hit: bool,
    ) -> Result<Did, String> {
        let mut did = Did { rows, is_hit, ..Did::default() };
        did.sends.extend(record.sends.drain(..).map(|(to, msg)| (to as u8, self.msgs.number(msg))));
        for op in record.memory.drain(..) {
            let line = u8::try_from(op.line.0).map_err(|_| format!("no program has {:?}", op.line))?;
            did.memory.push((line, self.ops.number(op)));
        }
        did.timers = record.timers.drain(..).fold(0, |bits, class| bits | 1 << class.index());
        for (slot, data) in record.replies.drain(..) {
            did.replies.push((slot.0, data.map(|data| self.lines.number(data))));
        }
        station.node.canonicalize();
        did.station = self.name(station);
        Ok(did)
    }

    /// A message, when it has been on its way for so many ticks more.
    pub(crate) fn aged_message(&mut self, msg: u32, elapsed: i32) -> u32 {
        let mut aged = self.msgs.thing(msg).clone();
        aged.age(elapsed);
        self.msgs.number(aged)
    }

    /// A message with other logical times in place of its own.
    pub(crate) fn retimed_message(&mut self, msg: u32, to: &mut dyn FnMut(u32) -> u32) -> u32 {
        let mut retimed = self.msgs.thing(msg).clone();
        retimed.times(&mut |time| time.0 = to(time.0));
        self.msgs.number(retimed)
    }

    /// A station, in the same way.
    pub(crate) fn retimed_station(&mut self, station: u32, to: &mut dyn FnMut(u32) -> u32) -> u32 {
        let mut retimed = self.stations.thing(station).clone();
        retimed.times(&mut |time| time.0 = to(time.0));
        self.name(retimed)
    }

    /// An operation that a station has sent to memory, so many ticks later.
    pub(crate) fn aged_op(&mut self, station: u32, op: u32, elapsed: i32) -> u32 {
        let mut aged = *self.ops.thing(op);
        self.stations.thing(station).node.age_tag(&mut aged.tag, elapsed);
        self.ops.number(aged)
    }

    /// Memory's answer to a station, in the same way.
    pub(crate) fn aged_reply(&mut self, station: u32, reply: u32, elapsed: i32) -> u32 {
        let mut aged = *self.replies.thing(reply);
        self.stations.thing(station).node.age_tag(&mut aged.op.tag, elapsed);
        self.replies.number(aged)
    }

    /// Memory performs an operation on a line: the line after it, and the
    /// answer.
    pub(crate) fn serve(&mut self, line: u32, op: u32) -> (u32, u32) {
        if let Some(&known) = self.served.get(&(line, op)) {
            return known;
        }
        let mut bytes = *self.lines.thing(line);
        let asked = *self.ops.thing(op);
        let reply = drive::serve(&mut bytes, &asked);
        let result = (self.lines.number(bytes), self.replies.number(reply));
        self.served.insert((line, op), result);
        result
    }
}

/// Do they say the same to the world?
fn is_same<P: Protocol>(a: &Record<P>, b: &Record<P>) -> bool {
    a.sends == b.sends && a.replies == b.replies && a.memory == b.memory && a.timers == b.timers
}
