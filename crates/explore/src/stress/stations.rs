//! The stations of one protocol (controllers with their parked inputs) for stress tests, behind an
//! interface that is independent of the protocol.

use super::under_way::UnderWay;
use crate::priority::{is_bound, overtaken, overtaken_set};
use drive::{At, Driver, Messages, Nodes, StationInput};
use proto::{
    Agent, Boundary, Effects, Homes, KernelId, Key, LineData, MemoryOp, MemoryReply, MemoryTag, Message as _,
    Node as _, PlanKey, Protocol, Rank, Request, SeededFault, SetIndex, Settings, Setup, Slot, Spending,
    Station, TimerClass, Topology, Uses, Way,
};

/// The stations (controllers with their parked inputs) of a machine. Messages between stations are
/// given by number.
pub(crate) trait Stations {
    /// The shape of the machine that the stations (controllers) belong to.
    fn topology(&self) -> &Topology;
    /// The number of stations (controllers with their parked inputs).
    fn count(&self) -> At;
    /// The name of a node, for example `L1[0]`.
    fn node_name(&self, at: At) -> String;
    /// The node that an operation of an agent (a compute unit, a host or the command processor)
    /// enters.
    fn entry(&self, agent: Agent, key: PlanKey) -> Result<At, String>;
    /// The requests that agents (compute units and the command processor) make in one step of a
    /// kernel's beginning or end. Each request has its agent and the node that it enters.
    fn boundary(
        &self,
        step: Boundary,
        kernel: KernelId,
        host_has_written: bool,
    ) -> Result<Vec<(Agent, At, Request)>, String>;
    /// Restores the initial state of all stations (controllers with their parked inputs), and
    /// removes all messages under way.
    fn reset_to(&mut self);
    /// Sets the homes (chiplets and banks) of lines.
    fn place(&mut self, homes: Homes);
    /// Whether the controller of a station has no operation under way, and the station has no
    /// parked input.
    fn is_quiet(&self, at: At) -> bool;
    /// Whether an input is parked at a station (controller) until a way of the set is free.
    fn is_wanted(&self, at: At, set: SetIndex) -> bool;
    /// Sets whether each step is followed by a call of [`Stations::fault`].
    fn watch(&mut self, is_watched: bool);
    /// The first rule that the last step of a station (controller) breaks, as a sentence; see
    /// [`Station::check_after_step`] and [`overtaken_set`].
    fn fault(&mut self, at: At) -> Option<String>;
    /// Appends the ways of a set that can be evicted to `out`. Each way has a rank: the way with
    /// the lowest rank is evicted first.
    fn victims(&self, at: At, set: SetIndex, out: &mut Vec<(Way, Rank)>);
    /// The number of ticks to the next deadline of a station (controller), or `None` if it has no
    /// deadline.
    fn next_deadline(&self, at: At) -> Option<u32>;
    /// Shortens the relative times in a message under way by `elapsed` ticks.
    fn age(&mut self, msg: u32, elapsed: i32);
    /// Shortens the relative times in the tag (the sender's context) of a memory operation of a
    /// station (controller) by `elapsed` ticks.
    fn age_tag(&self, at: At, tag: &mut MemoryTag, elapsed: i32);
    /// Gives an input to a station (controller with its parked inputs). Adds the effects of the
    /// station's step, such as messages, to `under_way`.
    fn deliver(
        &mut self,
        at: At,
        input: &StationInput<&Request, u32, &MemoryReply>,
        under_way: &mut UnderWay,
    ) -> Result<(), String>;
}

/// The implementation of [`Stations`] for one protocol.
struct Typed<P: Protocol> {
    nodes: Nodes<P>,
    stations: Vec<Station<P>>,
    is_watched: bool,
    /// The station (controller with its parked inputs) before its last step, if [`Stations::fault`]
    /// compares it with the station after the step.
    before: Option<Station<P>>,
    /// The initial controller of each node.
    fresh: Vec<P::Node>,
    messages: Messages<P::Msg>,
    fx: Effects<P::Msg>,
}

/// The stations (controllers with their parked inputs) of a machine with these homes of lines.
pub(crate) fn of<P: Protocol>(
    (topology, number): (&Topology, usize),
    homes: Homes,
    seeded_fault: Option<SeededFault>,
) -> Result<Box<dyn Stations>, String> {
    let setup = Setup::with(topology, &Settings::tested::<P>(number), homes)?;
    let nodes = Nodes::<P>::with(topology, setup, seeded_fault);
    let stations: Vec<Station<P>> = (0..nodes.ids().len() as At).map(|at| nodes.fresh(at)).collect();
    Ok(Box::new(Typed {
        fresh: stations.iter().map(|station| station.node.clone()).collect(),
        stations,
        is_watched: false,
        before: None,
        messages: Messages::default(),
        fx: Effects::default(),
        nodes,
    }))
}

/// A driver of stations (controllers with their parked inputs). It records the effects of a
/// station's step in `under_way`, with the events that become possible.
struct Sender<'a, M> {
    messages: &'a mut Messages<M>,
    under_way: &'a mut UnderWay,
}

impl<P: Protocol> Driver<P> for Sender<'_, P::Msg> {
    fn victim(&mut self, _: At, _: &P::Node, _: SetIndex, _: &[Way]) -> Option<Way> {
        None
    }
    fn touched(&mut self, _: At, _: &[Way]) {}
    fn used(&mut self, _: At, _: &Uses) {}
    #[inline]
    fn sent(&mut self, from: At, to: At, msg: P::Msg) {
        self.under_way.sent(from, to, self.messages.insert(msg));
    }
    #[inline]
    fn requested(&mut self, from: At, ops: &mut Vec<MemoryOp>) {
        self.under_way.requested(from, ops);
    }
    #[inline]
    fn armed(&mut self, at: At, class: TimerClass) {
        self.under_way.armed(at, class);
    }
    #[inline]
    fn blocked(&mut self, at: At, set: SetIndex) {
        self.under_way.needed(at, set);
    }
    fn spent(&mut self, _: At, _: &[(Slot, Spending)]) {}
    #[inline]
    fn answered(&mut self, _: At, answers: &mut Vec<(Slot, Option<LineData>)>) {
        self.under_way.replies.append(answers);
    }
}

/// A copy of a station (controller with its parked inputs) before a step, if [`Stations::fault`]
/// compares it with the station after the step. This function is not inlined, because few steps are
/// watched.
#[cold]
fn before<P: Protocol>(
    station: &Station<P>,
    input: &StationInput<&Request, &P::Msg, &MemoryReply>,
) -> Option<Station<P>> {
    let waits = || station.parked_keys().iter().any(|(key, _)| matches!(key, Key::Way(_)));
    (is_bound(input) && waits()).then(|| station.clone())
}

impl<P: Protocol> Stations for Typed<P> {
    fn topology(&self) -> &Topology {
        self.nodes.topology()
    }

    fn count(&self) -> At {
        self.stations.len() as At
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

    fn reset_to(&mut self) {
        for (station, fresh) in self.stations.iter_mut().zip(&self.fresh) {
            station.reset_to(fresh);
        }
        self.messages.clear();
    }

    fn place(&mut self, homes: Homes) {
        *self.nodes.homes_mut() = homes;
    }

    fn is_quiet(&self, at: At) -> bool {
        self.stations[at as usize].is_quiet()
    }

    fn is_wanted(&self, at: At, set: SetIndex) -> bool {
        self.stations[at as usize].parked_count(Key::Way(set)) > 0
    }

    fn watch(&mut self, is_watched: bool) {
        self.is_watched = is_watched;
    }

    fn fault(&mut self, at: At) -> Option<String> {
        let (station, before) = (&self.stations[at as usize], self.before.take());
        let set = before.and_then(|before| overtaken_set(&before, station));
        let is_overtaken = set.map(|set| format!("{}: {}", self.nodes.name(at), overtaken(set)));
        is_overtaken.or_else(|| station.check_after_step(self.nodes.world()))
    }

    fn victims(&self, at: At, set: SetIndex, out: &mut Vec<(Way, Rank)>) {
        let station = &self.stations[at as usize];
        // A controller with lines that the machine does not declare has one set.
        if set.0 < self.nodes.level(station.id().kind).array.sets.max(1) {
            station.node.victims(set, out);
        }
    }

    fn next_deadline(&self, at: At) -> Option<u32> {
        self.stations[at as usize].next_deadline()
    }

    fn age(&mut self, msg: u32, elapsed: i32) {
        if let Some(msg) = self.messages.get_mut(msg) {
            msg.age(elapsed);
        }
    }

    fn age_tag(&self, at: At, tag: &mut MemoryTag, elapsed: i32) {
        self.stations[at as usize].node.age_tag(tag, elapsed);
    }

    fn deliver(
        &mut self,
        at: At,
        input: &StationInput<&Request, u32, &MemoryReply>,
        under_way: &mut UnderWay,
    ) -> Result<(), String> {
        let msg = match *input {
            StationInput::Message { msg, .. } => {
                Some(self.messages.take(msg).ok_or("a message arrives twice")?)
            }
            _ => None,
        };
        let input = input.map(
            |request| request,
            |_| msg.as_deref().expect("the message is under way"),
            |reply| reply,
        );
        if self.is_watched {
            self.before = before(&self.stations[at as usize], &input);
        }
        let mut sender = Sender { messages: &mut self.messages, under_way };
        let result =
            self.nodes.deliver(&mut self.stations[at as usize], at, &input, &mut self.fx, &mut sender);
        msg.into_iter().for_each(|boxed| self.messages.give_back(boxed));
        result
    }
}
