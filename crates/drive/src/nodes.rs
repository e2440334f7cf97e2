//! The controllers of a machine (its caches and banks), and the constants that their steps share.

use proto::{
    Agent, ArrayUse, Boundary, Homes, KernelId, KindLevel, LineData, MemoryOp, MemoryReply, NodeId, PlanKey,
    Protocol, Request, SeededFault, Settings, Setup, Station, Topology, World,
};

/// The position of a controller in the list of all controllers, which is sorted by kind of
/// controller (in the order of `Protocol::KINDS`) and then by index.
pub type At = u32;

/// The list of the controllers of a machine, and the constants that all their steps share during a
/// run.
#[derive(Clone, Debug)]
pub struct Nodes<P: Protocol> {
    topology: Topology,
    setup: Setup<P>,
    kernels: Vec<Vec<ArrayUse>>,
    seeded_fault: Option<SeededFault>,
    ids: Vec<NodeId>,
    /// For each kind of controller, the position of its first controller. One more element at the
    /// end holds the total number of controllers.
    first_of_kind: Vec<At>,
}

impl<P: Protocol> Nodes<P> {
    /// The controllers of a machine whose lines have these homes (chiplet and bank), with the
    /// settings that the protocol has in explorations ([`Protocol::EXPLORED`]).
    ///
    /// # Errors
    /// If the protocol does not support the machine. The error names the property of the machine.
    pub fn new(topology: &Topology, homes: Homes, seeded_fault: Option<SeededFault>) -> Result<Self, String> {
        let setup = Setup::with(topology, &Settings::explored::<P>(), homes)?;
        Ok(Nodes::with(topology, setup, seeded_fault))
    }

    /// The controllers of a machine under a protocol with this setup: the parameters of the
    /// protocol, and the home (chiplet and bank) of each line.
    #[must_use]
    pub fn with(topology: &Topology, setup: Setup<P>, seeded_fault: Option<SeededFault>) -> Self {
        let ids: Vec<NodeId> = setup.levels.nodes().collect();
        let first = |kind: u8| ids.iter().take_while(|id| id.kind < kind).count() as At;
        let first_of_kind = (0..=P::KINDS.len() as u8).map(first).collect();
        Nodes { topology: topology.clone(), setup, kernels: Vec::new(), seeded_fault, ids, first_of_kind }
    }

    /// The shape of the machine: its compute units, chiplets and memory levels.
    #[must_use]
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The memory level (such as the L1s) that a kind of controller belongs to.
    #[must_use]
    pub fn level(&self, kind: u8) -> &KindLevel {
        self.setup.levels.of(kind)
    }

    /// The identifiers of all controllers, by position.
    #[must_use]
    pub fn ids(&self) -> &[NodeId] {
        &self.ids
    }

    /// The position of a controller. `None` if the machine has no such controller.
    #[inline]
    #[must_use]
    pub fn position(&self, id: NodeId) -> Option<At> {
        let kind = usize::from(id.kind);
        let at = self.first_of_kind.get(kind)? + At::from(id.index);
        (at < *self.first_of_kind.get(kind + 1)?).then_some(at)
    }

    /// The position of the controller that receives the requests of an agent (a compute unit, a
    /// host or the command processor) for operations with the plan key `key` (the properties, such
    /// as order and scope, that select the plan of an operation: its sequence of steps).
    ///
    /// # Errors
    /// If the machine has no such controller.
    pub fn entry(&self, agent: Agent, key: PlanKey) -> Result<At, String> {
        let id = P::entry(&self.setup.params, agent, key);
        self.position(id).ok_or_else(|| {
            format!("no controller receives the requests of {agent:?}: the machine has no {id:?}")
        })
    }

    /// The name of a controller, such as `L1[0]`.
    #[must_use]
    pub fn name(&self, at: At) -> String {
        self.ids.get(at as usize).map_or_else(|| format!("node {at}"), |id| name::<P>(*id))
    }

    /// A station in its initial state: the controller at this position, without parked inputs.
    #[must_use]
    pub fn fresh(&self, at: At) -> Station<P> {
        Station::new(self.ids[at as usize], &self.setup)
    }

    /// The requests that agents (such as compute units) make in one step at the beginning or the
    /// end of a kernel. Each element holds the agent that makes the request, the position of the
    /// controller that receives the request, and the request.
    ///
    /// # Errors
    /// If the machine lacks the controller that receives an agent's request.
    pub fn boundary(
        &self,
        step: Boundary,
        kernel: KernelId,
        host_has_written: bool,
    ) -> Result<Vec<(Agent, At, Request)>, String> {
        let request = step.request(kernel, host_has_written);
        let agents = step.agents(self.topology.cus);
        agents.map(|agent| Ok((agent, self.entry(agent, PlanKey::of(&request))?, request))).collect()
    }

    /// The table of the homes (chiplet and bank) of lines. A driver that places pages on chiplets
    /// changes it.
    pub fn homes_mut(&mut self) -> &mut Homes {
        &mut self.setup.homes
    }

    /// Appends an entry for the next kernel to the list of kernels: the arrays that the kernel
    /// uses.
    pub fn add_kernel(&mut self, uses: &[ArrayUse]) {
        self.kernels.push(uses.to_vec());
    }

    /// Returns the same controllers and constants, but without a seeded fault.
    #[must_use]
    pub fn without_seeded_fault(self) -> Self {
        Nodes { seeded_fault: None, ..self }
    }

    /// The constants that all steps of the run share.
    #[inline]
    #[must_use]
    pub fn world(&self) -> World<'_, P> {
        World { kernels: &self.kernels, seeded_fault: self.seeded_fault, ..self.setup.world() }
    }
}

/// The name of a controller, such as `L1[0]`.
pub(crate) fn name<P: Protocol>(id: NodeId) -> String {
    let kind = P::KINDS.get(usize::from(id.kind)).map_or("?", |kind| kind.name);
    format!("{kind}[{}]", id.index)
}

/// Performs an operation on a line of memory, and returns memory's reply.
#[inline]
pub fn serve(line: &mut LineData, op: &MemoryOp) -> MemoryReply {
    MemoryReply { op: *op, data: op.access.perform(line) }
}
