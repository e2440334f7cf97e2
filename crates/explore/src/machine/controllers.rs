//! The controllers of a machine, with a cache of their steps. Each state of a station (a controller
//! with its parked inputs) has a number. A search meets the same station state very often, so the
//! result of a step is kept for all programs that run on the machine.

use std::sync::Arc;

use drive::At;
use proto::{
    Agent, ArrayUse, Boundary, Condition, Homes, KernelId, LineAddr, LineData, LineView, MemoryOp,
    MemoryReply, NodeId, PlanKey, Request, SeededFault, Slot, Topology,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::machine::stations::{Stations, Values};
use crate::panics;
use crate::subject::Subject;

pub(crate) use crate::machine::stations::{Look, Response, StationInput};

/// An input of one part (the state of one node) that comes from another part.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Word {
    /// An input of the station (controller with parked inputs) of the receiving part (the state of
    /// one node).
    StationInput(StationInput),
    /// The answer to a request. It goes to the thread that made the request, which runs on the node
    /// of the receiving part. The request entered the machine at the node `entry`, where its number
    /// is `slot`.
    Answer { entry: u8, slot: Slot, data: Option<u32> },
    /// A work-group that continues on the compute unit `cu`: its threads and their states.
    Group { cu: u16, threads: SmallVec<[(u8, u32); 2]> },
}

/// The controllers of a machine, and the known results of their steps.
pub(crate) struct Controllers {
    pub(crate) subject: Subject,
    stations: Box<dyn Stations>,
    looks: Vec<Look>,
    values: Values,
    steps: FxHashMap<(u32, StationInput), Result<Arc<Response>, Arc<str>>>,
    served: FxHashMap<(u32, u32), (u32, u32)>,
}

impl Controllers {
    /// The controllers of a machine with these homes of lines, for programs whose kernels use these
    /// arrays.
    pub(crate) fn new(
        subject: &Subject,
        topology: &Topology,
        homes: Homes,
        seeded_fault: Option<SeededFault>,
        kernels: &[Vec<ArrayUse>],
    ) -> Result<Self, String> {
        let stations = (subject.stations)(topology, homes, seeded_fault, kernels)?;
        let nodes = stations.ids().len();
        if nodes > usize::from(u8::MAX) {
            return Err(format!("the machine has {nodes} nodes, expected at most {}", u8::MAX));
        }
        Ok(Controllers {
            subject: *subject,
            stations,
            looks: Vec::new(),
            values: Values::default(),
            steps: FxHashMap::default(),
            served: FxHashMap::default(),
        })
    }

    /// The shape of the machine that the controllers belong to.
    pub(crate) fn topology(&self) -> &Topology {
        self.stations.topology()
    }

    /// The arrays that each kernel of the program uses.
    pub(crate) fn kernels(&self) -> &[Vec<ArrayUse>] {
        self.stations.kernels()
    }

    /// The identities of all controllers. The position in the slice is the node number.
    pub(crate) fn ids(&self) -> &[NodeId] {
        self.stations.ids()
    }

    /// The node that an operation of an agent (a compute unit, a host or the command processor)
    /// enters.
    pub(crate) fn entry(&self, agent: Agent, key: PlanKey) -> Result<u8, String> {
        self.stations.entry(agent, key).map(|at| at as u8)
    }

    /// The requests that agents (compute units and the command processor) make in the step `step`
    /// of a kernel's beginning or end. Each request has its agent and the node that it enters.
    pub(crate) fn boundary(
        &self,
        step: Boundary,
        kernel: KernelId,
        host_has_written: bool,
    ) -> Result<Vec<(Agent, At, Request)>, String> {
        self.stations.boundary(step, kernel, host_has_written)
    }

    /// The name of a node, for example `L1[0]`.
    pub(crate) fn node_name(&self, node: u8) -> String {
        self.stations.node_name(node.into())
    }

    /// The number of the initial state of a node's station (controller with its parked inputs).
    pub(crate) fn fresh(&mut self, node: u8) -> u32 {
        let station = self.stations.fresh(node.into());
        self.seen(station)
    }

    pub(crate) fn request(&mut self, request: Request) -> u32 {
        self.values.requests.number(request)
    }

    pub(crate) fn request_of(&self, number: u32) -> &Request {
        self.values.requests.thing(number)
    }

    pub(crate) fn line(&mut self, line: LineData) -> u32 {
        self.values.lines.number(line)
    }

    pub(crate) fn line_of(&self, number: u32) -> &LineData {
        self.values.lines.thing(number)
    }

    /// The name of a message, and the line that the message concerns.
    pub(crate) fn message(&self, number: u32) -> (&'static str, Option<LineAddr>) {
        self.stations.message(number)
    }

    /// The content of a message as text. The text does not depend on the number under which the
    /// message is stored.
    pub(crate) fn text_of_message(&self, number: u32) -> String {
        self.stations.text_of_message(number)
    }

    pub(crate) fn op_of(&self, number: u32) -> &MemoryOp {
        self.values.ops.thing(number)
    }

    pub(crate) fn reply_of(&self, number: u32) -> &MemoryReply {
        self.values.replies.thing(number)
    }

    pub(crate) fn look(&self, station: u32) -> &Look {
        &self.looks[station as usize]
    }

    /// The lines that the controller of a station holds.
    pub(crate) fn views(&self, station: u32) -> Vec<LineView> {
        self.stations.views(station)
    }

    /// The conditions of the controller of a station: states that last for several steps.
    pub(crate) fn conditions(&self, station: u32) -> Vec<Condition> {
        self.stations.conditions(station)
    }

    /// Whether the seeded fault has changed the effect of any step of a station (controller) so
    /// far.
    pub(crate) fn is_altered(&self) -> bool {
        self.stations.is_altered()
    }

    /// The number of known states of stations (controllers with their parked inputs), and the
    /// number of known steps.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.stations.count(), self.steps.len())
    }

    /// The approximate size of the controllers and the cache of steps, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.stations.bytes()
            + self.values.bytes()
            + self.steps.capacity() * (size_of::<(u32, StationInput)>() + 128)
    }

    /// Records the properties of a station (controller with its parked inputs) that a driver (such
    /// as the explorer) uses, if this state of the station is new. Returns `station`, the number of
    /// the state.
    fn seen(&mut self, station: u32) -> u32 {
        if station as usize == self.looks.len() {
            let looked = panics::caught(|| self.stations.look(station));
            self.looks.push(looked.unwrap_or_else(|why| Look { fault: Some(why.into()), ..Look::default() }));
        }
        station
    }

    /// The number of the station state (controller with parked inputs) that remains if the parked
    /// inputs from the node `from` are removed.
    pub(crate) fn without(&mut self, station: u32, from: u8) -> u32 {
        let station = self.stations.without(station, from.into());
        self.seen(station)
    }

    /// The response of a station (controller with its parked inputs) to an input. A known result is
    /// reused.
    pub(crate) fn deliver(&mut self, station: u32, input: StationInput) -> Result<Arc<Response>, Arc<str>> {
        if let Some(known) = self.steps.get(&(station, input)) {
            return known.clone();
        }
        let response = panics::caught(|| self.stations.step(station, input, &mut self.values));
        let response = response.flatten().map(Arc::new).map_err(Arc::from);
        let response = response.and_then(|response| {
            let station = self.seen(response.station);
            self.looks[station as usize].fault.clone().map_or(Ok(response), Err)
        });
        self.steps.insert((station, input), response.clone());
        response
    }

    /// The message `msg` after `elapsed` more ticks under way, as a number.
    pub(crate) fn aged_message(&mut self, msg: u32, elapsed: i32) -> u32 {
        self.stations.aged_message(msg, elapsed)
    }

    /// The message `msg` with its logical times mapped by `to`, as a number.
    pub(crate) fn retimed_message(&mut self, msg: u32, to: &mut dyn FnMut(u32) -> u32) -> u32 {
        self.stations.retimed_message(msg, to)
    }

    /// The station (controller with its parked inputs) with its logical times mapped by `to`, as a
    /// number.
    pub(crate) fn retimed_station(&mut self, station: u32, to: &mut dyn FnMut(u32) -> u32) -> u32 {
        let station = self.stations.retimed_station(station, to);
        self.seen(station)
    }

    /// An operation on memory from a station (controller) after `elapsed` more ticks under way, as
    /// a number.
    pub(crate) fn aged_op(&mut self, station: u32, op: u32, elapsed: i32) -> u32 {
        let mut aged = *self.values.ops.thing(op);
        self.stations.age_tag(station, &mut aged.tag, elapsed);
        self.values.ops.number(aged)
    }

    /// Memory's reply to a station (controller) after `elapsed` more ticks under way, as a number.
    pub(crate) fn aged_reply(&mut self, station: u32, reply: u32, elapsed: i32) -> u32 {
        let mut aged = *self.values.replies.thing(reply);
        self.stations.age_tag(station, &mut aged.op.tag, elapsed);
        self.values.replies.number(aged)
    }

    /// Lets memory perform the operation `op` on a line. Returns the number of the new content of
    /// the line, and the number of memory's reply.
    pub(crate) fn serve(&mut self, line: u32, op: u32) -> (u32, u32) {
        if let Some(&known) = self.served.get(&(line, op)) {
            return known;
        }
        let mut bytes = *self.values.lines.thing(line);
        let memory_op = *self.values.ops.thing(op);
        let reply = drive::serve(&mut bytes, &memory_op);
        let result = (self.values.lines.number(bytes), self.values.replies.number(reply));
        self.served.insert((line, op), result);
        result
    }
}
