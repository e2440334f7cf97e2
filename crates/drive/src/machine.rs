//! A machine that stores its stations (the controllers of a protocol) and its memory as plain
//! values.

use crate::interpreter::StationInput;
use crate::nodes::{At, Nodes, serve};
use crate::plain::{InputOf, MinimalDriver, PendingInputs, StationStore};
use crate::record::Record;
use proto::{
    Agent, Boundary, Effects, KernelId, Key, LineAddr, LineData, MemoryOp, MemoryReply, Node as _, PlanKey,
    Protocol, Request, SetIndex, Slot, Station, Way,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The stations (the controllers of a protocol) and the memory of a machine.
#[derive(Debug)]
pub struct Machine<P: Protocol> {
    nodes: Nodes<P>,
    stations: Vec<Station<P>>,
    memory: BTreeMap<LineAddr, LineData>,
    fx: Effects<P::Msg>,
}

impl<P: Protocol> Machine<P> {
    /// Creates a machine with all controllers in their initial states. All bytes of memory are
    /// zero.
    #[must_use]
    pub fn new(nodes: Nodes<P>) -> Self {
        let stations = (0..nodes.ids().len() as At).map(|at| nodes.fresh(at)).collect();
        Machine { nodes, stations, memory: BTreeMap::new(), fx: Effects::default() }
    }

    /// Gives this machine to the minimal driver, and gives every station (a controller with its
    /// parked inputs) its first input.
    ///
    /// # Errors
    /// If the protocol violates a rule. The error describes the rule.
    pub fn plain(self) -> Result<MinimalDriver<Self>, Arc<str>> {
        let timers = vec![0; self.stations.len()];
        let mut plain = MinimalDriver::new(self, Slot(0), timers);
        plain.start()?;
        Ok(plain)
    }

    /// The controllers of the machine by position, and the constants of the run.
    #[must_use]
    pub fn nodes(&self) -> &Nodes<P> {
        &self.nodes
    }

    /// The station at this position: one controller with its parked inputs.
    #[must_use]
    pub fn station(&self, at: At) -> &Station<P> {
        &self.stations[at as usize]
    }

    /// The effects of the last step, as the station (the controller that made the step) recorded
    /// them. The counts of fired table rows (the coverage) are not reset between steps: they grow
    /// until the caller replaces them.
    pub fn effects(&mut self) -> &mut Effects<P::Msg> {
        &mut self.fx
    }

    /// The bytes of one line of memory.
    #[must_use]
    pub fn line(&self, line: LineAddr) -> LineData {
        self.memory.get(&line).copied().unwrap_or_default()
    }

    /// Performs an operation on memory. Returns the reply.
    pub fn serve(&mut self, op: &MemoryOp) -> MemoryReply {
        serve(self.memory.entry(op.line).or_default(), op)
    }

    /// Gives an input to a station (a controller with its parked inputs). Returns a record of the
    /// effects.
    ///
    /// # Errors
    /// If the protocol violates a rule. The error describes the rule.
    pub fn record(
        &mut self,
        at: At,
        input: &StationInput<&Request, &P::Msg, &MemoryReply>,
    ) -> Result<Record<P>, String> {
        let mut record = Record::default();
        let station = &mut self.stations[at as usize];
        self.nodes.deliver(station, at, input, &mut self.fx, &mut record)?;
        Ok(record)
    }
}

impl<P: Protocol> StationStore for Machine<P> {
    type Request = Request;
    type Msg = P::Msg;
    type Reply = MemoryReply;
    type Data = LineData;

    fn count(&self) -> At {
        self.stations.len() as At
    }

    fn is_clocked(&self) -> bool {
        P::CLOCKED
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

    fn write(&mut self, request: &Request) -> Request {
        *request
    }

    fn deliver(
        &mut self,
        at: At,
        input: InputOf<Self>,
        ahead: &mut PendingInputs<Self>,
    ) -> Result<(), Arc<str>> {
        let record = self.record(at, &input.as_ref())?;
        for (to, msg) in record.sends {
            ahead.push(to, StationInput::Message { from: at, msg });
        }
        for op in &record.memory {
            ahead.push(at, StationInput::Memory { reply: self.serve(op) });
        }
        record.timers.into_iter().for_each(|class| ahead.arm(at, class));
        record.replies.into_iter().for_each(|(slot, data)| ahead.answer(slot, data));
        Ok(())
    }

    fn wanted(&mut self, at: At) -> Option<Way> {
        let station = &self.stations[at as usize];
        let awaited_set = |key| match key {
            (Key::Way(set), _) => Some(set),
            _ => None,
        };
        let set: SetIndex = station.parked_keys().into_iter().find_map(awaited_set)?;
        let mut victims = Vec::new();
        station.node.victims(set, &mut victims);
        victims.first().map(|(way, _)| *way)
    }
}
