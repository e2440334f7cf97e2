//! The stations of one protocol (controllers with their parked inputs), behind an interface that is
//! independent of the protocol.
//!
//! This file is compiled once for each protocol, the rest of the machine once for all protocols.
//! Each state of a station has a number, and so has each input and output. A step of a station is a
//! function of numbers.

use std::sync::Arc;

use drive::{At, Nodes, Record};
use proto::{
    Agent, ArrayUse, Boundary, Condition, Effects, Hit, Homes, KernelId, Key, LineAddr, LineData, LineView,
    Load, MemoryOp, MemoryReply, MemoryTag, Message as _, Node as _, NodeId, PlanKey, Protocol, Request,
    RowId, SeededFault, SetIndex, Station, Symbol as _, Topology, Way, WritePolicy,
};

use crate::machine::intern::Interner;
use crate::priority::{is_bound, overtaken, overtaken_set};

/// An input of a station (controller with its parked inputs). Requests, messages and memory replies
/// are given by number.
pub(crate) type StationInput = drive::StationInput<u32, u32, u32>;

/// The maximum number of parked inputs of a station (controller with its parked inputs). More
/// inputs are parked only if the protocol repeats an input for ever.
const PARKED_MAX: usize = 32;

/// The result of a step of a station (controller with its parked inputs), in numbers.
#[derive(Debug, Default)]
pub(crate) struct Response {
    pub(crate) station: u32,
    pub(crate) sends: Vec<(u8, u32)>,
    /// The operations for memory: the line and the number of the operation.
    pub(crate) memory: Vec<(u8, u32)>,
    /// The timers that the step starts, one bit for each class of timers.
    pub(crate) timers: u8,
    /// Whether the input is a load that a driver (such as the simulator) may answer as a hit,
    /// without this step.
    pub(crate) is_hit: bool,
    /// The answers to requests: the slot (number of the request at the node), and the number of the
    /// data, if any.
    pub(crate) replies: Vec<(u32, Option<u32>)>,
    /// The rows of the protocol's tables that fired in the step.
    pub(crate) rows: Vec<RowId>,
}

/// A way that a station (a controller with its parked inputs) may evict.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Victim {
    pub(crate) way: u8,
    /// Whether a request waits for a way of the victim's set.
    pub(crate) is_needed: bool,
}

/// The properties of a station (controller with its parked inputs) that a driver (such as the
/// explorer) uses: the ways that it may evict, and whether it is at rest.
#[derive(Debug, Default)]
pub(crate) struct Look {
    pub(crate) victims: Vec<Victim>,
    /// The reason why the station (controller) is not at rest: for example, a parked input or an
    /// operation under way. `None` if the station is at rest.
    pub(crate) unrest: Option<Arc<str>>,
    /// The description of the first rule that the station (controller) breaks in this state. `None`
    /// if it breaks no rule.
    pub(crate) fault: Option<Arc<str>>,
}

/// The numbered inputs and outputs of stations (controllers with their parked inputs), except for
/// messages.
#[derive(Default)]
pub(crate) struct Values {
    pub(crate) requests: Interner<Request>,
    pub(crate) lines: Interner<LineData>,
    pub(crate) ops: Interner<MemoryOp>,
    pub(crate) replies: Interner<MemoryReply>,
}

impl Values {
    /// The approximate size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.requests.bytes() + self.lines.bytes() + self.ops.bytes() + self.replies.bytes()
    }
}

/// The stations (controllers with their parked inputs) and the messages of one protocol on a
/// machine.
pub(crate) trait Stations {
    /// The shape of the machine that the stations (controllers) belong to.
    fn topology(&self) -> &Topology;
    /// The identities of all controllers. The position in the slice is the node number.
    fn ids(&self) -> &[NodeId];
    /// The arrays that each kernel of the program uses.
    fn kernels(&self) -> &[Vec<ArrayUse>];
    /// The name of a node, for example `L1[0]`.
    fn node_name(&self, at: At) -> String;
    /// The node that an operation of an agent (a compute unit, a host or the command processor)
    /// enters.
    fn entry(&self, agent: Agent, key: PlanKey) -> Result<At, String>;
    /// The requests that agents (compute units and the command processor) make in the step `step`
    /// of a kernel's beginning or end. Each request has its agent and the node that it enters.
    fn boundary(
        &self,
        step: Boundary,
        kernel: KernelId,
        host_has_written: bool,
    ) -> Result<Vec<(Agent, At, Request)>, String>;
    /// The number of the initial state of a node's station (controller with its parked inputs).
    fn fresh(&mut self, at: At) -> u32;
    /// The number of different states of stations (controllers with their parked inputs) met so
    /// far.
    fn count(&self) -> usize;
    /// The properties of a station (controller with its parked inputs) that a driver (such as the
    /// explorer) uses: the ways that it may evict, and whether it is at rest.
    fn look(&self, station: u32) -> Look;
    /// The lines that the controller of a station holds.
    fn views(&self, station: u32) -> Vec<LineView>;
    /// The conditions of the controller of a station: states that last for several steps.
    fn conditions(&self, station: u32) -> Vec<Condition>;
    /// The result of the step of a station (controller with its parked inputs) on an input.
    fn step(&mut self, station: u32, input: StationInput, values: &mut Values) -> Result<Response, String>;
    /// Whether the seeded fault has changed the effect of any step of a station (controller) so
    /// far.
    fn is_altered(&self) -> bool;
    /// The name of a message, and the line that the message concerns.
    fn message(&self, msg: u32) -> (&'static str, Option<LineAddr>);
    /// The content of a message as text. The text does not depend on the number under which the
    /// message is stored.
    fn text_of_message(&self, msg: u32) -> String;
    /// The message `msg` after `elapsed` more ticks under way, as a number.
    fn aged_message(&mut self, msg: u32, elapsed: i32) -> u32;
    /// The message `msg` with its logical times mapped by `to`, as a number.
    fn retimed_message(&mut self, msg: u32, to: &mut dyn FnMut(u32) -> u32) -> u32;
    /// The station (controller with its parked inputs) with its logical times mapped by `to`, as a
    /// number.
    fn retimed_station(&mut self, station: u32, to: &mut dyn FnMut(u32) -> u32) -> u32;
    /// The state of the station (controller) after the parked inputs from the node `from` are
    /// removed, as a number.
    fn without(&mut self, station: u32, from: At) -> u32;
    /// Ages the tag (the sender's context) of an operation on memory from a station (controller) by
    /// `elapsed` ticks.
    fn age_tag(&self, station: u32, tag: &mut MemoryTag, elapsed: i32);
    /// The approximate size in bytes.
    fn bytes(&self) -> usize;
}

/// The implementation of [`Stations`] for one protocol.
struct Typed<P: Protocol> {
    nodes: Nodes<P>,
    /// The nodes without the seeded fault, for comparison. `None` if no fault is seeded.
    right: Option<Nodes<P>>,
    stations: Interner<Station<P>>,
    msgs: Interner<P::Msg>,
    fx: Effects<P::Msg>,
    record: Record<P>,
    is_altered: bool,
}

/// The stations (controllers with their parked inputs) of a machine with these homes of lines, for
/// programs with these kernels.
pub(crate) fn of<P: Protocol>(
    topology: &Topology,
    homes: Homes,
    seeded_fault: Option<SeededFault>,
    kernels: &[Vec<ArrayUse>],
) -> Result<Box<dyn Stations>, String> {
    let mut nodes = Nodes::<P>::new(topology, homes, seeded_fault)?;
    kernels.iter().for_each(|uses| nodes.add_kernel(uses));
    Ok(Box::new(Typed {
        right: seeded_fault.map(|_| nodes.clone().without_seeded_fault()),
        nodes,
        stations: Interner::default(),
        msgs: Interner::default(),
        fx: Effects::default(),
        record: Record::default(),
        is_altered: false,
    }))
}

impl<P: Protocol> Stations for Typed<P> {
    fn topology(&self) -> &Topology {
        self.nodes.topology()
    }

    fn ids(&self) -> &[NodeId] {
        self.nodes.ids()
    }

    fn kernels(&self) -> &[Vec<ArrayUse>] {
        self.nodes.world().kernels
    }

    fn node_name(&self, at: At) -> String {
        self.nodes.name(at)
    }

    fn entry(&self, agent: Agent, key: PlanKey) -> Result<At, String> {
        self.nodes.entry(agent, key)
    }

    fn boundary(
        &self,
        step: Boundary,
        kernel: KernelId,
        host_has_written: bool,
    ) -> Result<Vec<(Agent, At, Request)>, String> {
        self.nodes.boundary(step, kernel, host_has_written)
    }

    fn fresh(&mut self, at: At) -> u32 {
        self.stations.number(self.nodes.fresh(at))
    }

    fn count(&self) -> usize {
        self.stations.len()
    }

    fn look(&self, station: u32) -> Look {
        let station = self.stations.thing(station);
        let shape = self.nodes.level(station.id().kind).array;
        let (mut victims, mut ways, mut occupied) = (Vec::new(), Vec::new(), Vec::new());
        let mut is_listed = true;
        for set in (0..shape.sets.max(1)).map(SetIndex) {
            let is_needed = station.parked_count(Key::Way(set)) > 0;
            station.node.victims(set, &mut ways);
            station.node.occupied(set, &mut occupied);
            is_listed &= ways.iter().all(|(way, _)| occupied.contains(way));
            victims.extend(ways.drain(..).map(|(way, _)| Victim { way: way.0 as u8, is_needed }));
            occupied.clear();
        }
        let unrest = station.check_at_rest(shape.sets, shape.policy != WritePolicy::Combining);
        let fault = if is_listed {
            station.check_after_step(self.nodes.world())
        } else {
            Some(format!("{:?}: the occupied ways lack a way that can be evicted", station.id()))
        };
        Look { victims, unrest: unrest.map(Arc::from), fault: fault.map(Arc::from) }
    }

    fn views(&self, station: u32) -> Vec<LineView> {
        let mut views = Vec::new();
        self.stations.thing(station).node.lines(&mut views);
        views
    }

    fn conditions(&self, station: u32) -> Vec<Condition> {
        let mut conditions = Vec::new();
        self.stations.thing(station).node.conditions(&mut conditions);
        conditions
    }

    fn step(&mut self, number: u32, input: StationInput, values: &mut Values) -> Result<Response, String> {
        let mut station = self.stations.thing(number).clone();
        let mut fx = core::mem::take(&mut self.fx);
        fx.coverage = proto::Coverage::default();
        let mut record = core::mem::take(&mut self.record);
        record.clear();
        let done = self.perform(&self.nodes, &mut station, input, values, &mut fx, &mut record);
        if let Some(right) = self.right.as_ref().filter(|_| !self.is_altered) {
            let mut other = self.stations.thing(number).clone();
            let mut recorded = Record::default();
            let right =
                self.perform(right, &mut other, input, values, &mut Effects::default(), &mut recorded);
            self.is_altered = station != other || done != right || !is_same(&record, &recorded);
        }
        let rows: Vec<RowId> = fx.coverage.fired().collect();
        self.fx = fx;
        let result = done
            .and_then(|()| self.judge(number, input, values, (&station, &record)))
            .and_then(|()| self.judge_hit(number, input, values, (&station, &record, &rows)))
            .and_then(|is_hit| {
                self.done(station, &mut record, values, Response { rows, is_hit, ..Response::default() })
            });
        self.record = record;
        result
    }

    fn is_altered(&self) -> bool {
        self.is_altered
    }

    fn text_of_message(&self, msg: u32) -> String {
        format!("{:?}", self.msgs.thing(msg))
    }

    fn message(&self, msg: u32) -> (&'static str, Option<LineAddr>) {
        let msg = self.msgs.thing(msg);
        (msg.name(), msg.line())
    }

    fn aged_message(&mut self, msg: u32, elapsed: i32) -> u32 {
        let mut aged = self.msgs.thing(msg).clone();
        aged.age(elapsed);
        self.msgs.number(aged)
    }

    fn retimed_message(&mut self, msg: u32, to: &mut dyn FnMut(u32) -> u32) -> u32 {
        let mut retimed = self.msgs.thing(msg).clone();
        retimed.times(&mut |time| time.0 = to(time.0));
        self.msgs.number(retimed)
    }

    fn retimed_station(&mut self, station: u32, to: &mut dyn FnMut(u32) -> u32) -> u32 {
        let mut retimed = self.stations.thing(station).clone();
        retimed.times(&mut |time| time.0 = to(time.0));
        self.stations.number(retimed)
    }

    fn without(&mut self, station: u32, from: At) -> u32 {
        let mut rest = self.stations.thing(station).clone();
        rest.forget(self.nodes.ids()[from as usize]);
        self.stations.number(rest)
    }

    fn age_tag(&self, station: u32, tag: &mut MemoryTag, elapsed: i32) {
        self.stations.thing(station).node.age_tag(tag, elapsed);
    }

    fn bytes(&self) -> usize {
        self.stations.bytes() + self.msgs.bytes()
    }
}

impl<P: Protocol> Typed<P> {
    /// Gives an input to a station (controller with its parked inputs), and records the effects of
    /// the station's step.
    fn perform(
        &self,
        nodes: &Nodes<P>,
        station: &mut Station<P>,
        input: StationInput,
        values: &Values,
        fx: &mut Effects<P::Msg>,
        record: &mut Record<P>,
    ) -> Result<(), String> {
        let at = nodes.position(station.id()).unwrap_or_default();
        let input = input.map(
            |request| values.requests.thing(request),
            |msg| self.msgs.thing(msg),
            |reply| values.replies.thing(reply),
        );
        nodes.deliver(station, at, &input, fx, record)
    }

    /// Checks the result of one step. At most [`PARKED_MAX`] inputs may be parked. A step that only
    /// parks an ordinary input (no tick and no atomic request) must not change the controller. A step
    /// that makes a line evictable must wake the inputs that wait for a way of its set, and so must an
    /// eviction, unless it takes several steps. No access may overtake those that wait for a way.
    fn judge(
        &self,
        before: u32,
        input: StationInput,
        values: &Values,
        (station, record): (&Station<P>, &Record<P>),
    ) -> Result<(), String> {
        let is_plain = match input {
            StationInput::Request { request, .. } => {
                let request = values.requests.thing(request);
                !request.order.is_atomic() && !request.is_atomic_access()
            }
            StationInput::Tick(_) => false,
            _ => true,
        };
        let before = self.stations.thing(before);
        let parked = |s: &Station<P>| s.parked_keys().iter().map(|(_, n)| n).sum::<usize>();
        if parked(station) > PARKED_MAX {
            return Err(format!("{:?}: more than {PARKED_MAX} inputs are parked", station.id()));
        }
        // The controller itself remembers a request that is parked under its own slot, because only
        // the controller can resume this request. After this, the request may be parked again,
        // under another key.
        let listed = |s: &Station<P>| {
            let keys = s.parked_keys();
            keys.iter().filter(|(key, _)| !matches!(key, Key::Slot(_))).map(|(_, n)| n).sum::<usize>()
        };
        let is_parked = parked(station) > parked(before) && listed(station) > listed(before);
        let waits = is_parked && record.is_silent();
        if is_plain && waits && station.node != before.node {
            return Err(format!(
                "{:?}: a step parks its input, but also changes the state of the controller",
                station.id()
            ));
        }
        let evicted = match input {
            StationInput::Evict(way) => Some(way),
            _ => None,
        };
        if let Some(set) = self.unwoken_set(before, station, evicted, &record.needs) {
            return Err(format!(
                "{:?}: a line of set {} can be evicted, but an input that waits for a way of the set is not \
                 woken",
                station.id(),
                set.0
            ));
        }
        let request_of = |request| values.requests.thing(request);
        let is_bound = is_bound(&input.map(request_of, |msg| self.msgs.thing(msg), |reply| reply));
        match is_bound.then(|| overtaken_set(before, station)).flatten() {
            None => Ok(()),
            Some(set) => Err(format!("{:?}: {}", station.id(), overtaken(set))),
        }
    }

    /// The first set with a lost wake: an input waits for a way of the set, and the step from
    /// `before` to `after` makes a line of the set evictable, or evicts the line of the way `evicted`
    /// but frees no way. The explorer evicts a line of such a set at any time, but the simulator
    /// evicts a line only when an input that needs a way is presented. `needs` are the sets for which
    /// such an input was presented in this step.
    fn unwoken_set(
        &self,
        before: &Station<P>,
        after: &Station<P>,
        evicted: Option<Way>,
        needs: &[SetIndex],
    ) -> Option<SetIndex> {
        let victims = |station: &Station<P>, set| {
            let mut victims = Vec::new();
            station.node.victims(set, &mut victims);
            victims.into_iter().map(|(way, _)| way)
        };
        let mut sets = after.parked_keys().into_iter().filter_map(|(key, _)| match key {
            Key::Way(set) if !needs.contains(&set) => Some(set),
            _ => None,
        });
        sets.find(|&set| {
            let before: Vec<Way> = victims(before, set).collect();
            let is_evicted = evicted.is_some_and(|way| before.contains(&way));
            victims(after, set).any(|way| is_evicted || !before.contains(&way))
        })
    }

    /// Checks the effects of a load that a driver may answer as a hit, without a step
    /// ([`proto::Controller::hit`]). The step must have the same answer as the hit, and no other
    /// effects. Timers are not compared, because the part (the state of one node) knows which
    /// timers run. Returns true if the input is such a load.
    fn judge_hit(
        &self,
        before: u32,
        input: StationInput,
        values: &Values,
        (station, record, rows): (&Station<P>, &Record<P>, &[RowId]),
    ) -> Result<bool, String> {
        let StationInput::Request { slot, request } = input else { return Ok(false) };
        let (before, request) = (self.stations.thing(before), values.requests.thing(request));
        let load = Load { key: PlanKey::of(request), line: request.line, mask: request.mask };
        let world = self.nodes.world();
        // A seeded fault changes only the step and not the hit, so the two are not compared.
        let Some(hit) = before.node.hit(&load, world.homes).filter(|_| world.seeded_fault.is_none()) else {
            return Ok(false);
        };
        let bytes = hit.bytes.len();
        let is_answer = matches!(&record.replies[..], [(to, Some(data))]
            if *to == slot && data.0[..bytes] == *hit.bytes && data.0[bytes..].iter().all(|&byte| byte == 0));
        let does_more = !record.sends.is_empty()
            || !record.memory.is_empty()
            || !record.needs.is_empty()
            || !record.spends.is_empty();
        let is_counted =
            record.uses == Hit::uses(hit.is_dirty) && record.touches == [hit.way] && rows == [hit.row];
        if is_answer && !does_more && is_counted && station == before {
            return Ok(true);
        }
        Err(format!(
            "{:?}: {request:?} is answered as a hit, but its step has other effects than a hit",
            station.id()
        ))
    }

    /// Converts the result of a step: in the response, numbers stand for the new station (controller
    /// with its queues), for messages, for operations on memory and for the bytes of answers.
    fn done(
        &mut self,
        mut station: Station<P>,
        record: &mut Record<P>,
        values: &mut Values,
        mut response: Response,
    ) -> Result<Response, String> {
        response.sends.extend(record.sends.drain(..).map(|(to, msg)| (to as u8, self.msgs.number(msg))));
        for op in record.memory.drain(..) {
            let line = u8::try_from(op.line.0).map_err(|_| {
                format!("a controller accesses {:?} of memory, expected a line number up to 255", op.line)
            })?;
            response.memory.push((line, values.ops.number(op)));
        }
        response.timers = record.timers.drain(..).fold(0, |bits, class| bits | 1 << class.index());
        for (slot, data) in record.replies.drain(..) {
            response.replies.push((slot.0, data.map(|data| values.lines.number(data))));
        }
        station.node.canonicalize();
        response.station = self.stations.number(station);
        Ok(response)
    }
}

/// Whether the records of two steps have the same messages, replies, operations on memory and
/// timers.
fn is_same<P: Protocol>(a: &Record<P>, b: &Record<P>) -> bool {
    a.sends == b.sends && a.replies == b.replies && a.memory == b.memory && a.timers == b.timers
}
