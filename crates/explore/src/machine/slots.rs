//! The slots of requests. A slot encodes the requesting thread, the thread's compute unit, and the
//! id of the request, so that an answer finds the thread.

use proto::{Agent, PlanKey, Slot};

use crate::machine::controllers::Controllers;
use crate::machine::placement::Placement;
use crate::machine::thread::{PENDING_MAX, Seat};

/// The slots of a program's requests.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    /// The agent (compute unit or host) of each thread at the start of the program.
    agents: Vec<Agent>,
    /// The node that each thread's ordinary loads enter at the start, which is the node of the
    /// thread's part.
    first: Vec<u8>,
    /// The node that each compute unit's ordinary loads enter, on machines with preemption.
    units: Vec<u8>,
}

impl Slots {
    pub(crate) fn new(
        controllers: &Controllers,
        placement: &Placement,
        preemptions: u8,
    ) -> Result<Slots, String> {
        let entry = |agent: Agent| controllers.entry(agent, PlanKey::PLAIN_LOAD);
        let units = if preemptions > 0 { controllers.topology().cus } else { 0 };
        Ok(Slots {
            agents: placement.agents.clone(),
            first: placement.agents.iter().map(|&agent| entry(agent)).collect::<Result<_, _>>()?,
            units: (0..units).map(|cu| entry(Agent::Cu(cu))).collect::<Result<_, _>>()?,
        })
    }

    /// The node that a thread's ordinary loads enter at the start of the program.
    pub(crate) fn first(&self, thread: usize) -> u8 {
        self.first[thread]
    }

    /// The node that a compute unit's ordinary loads enter. `None` on machines without preemption.
    pub(crate) fn unit(&self, cu: u16) -> Option<u8> {
        self.units.get(usize::from(cu)).copied()
    }

    /// The number of compute units that a work-group may move to; 0 without preemption.
    pub(crate) fn units(&self) -> u16 {
        self.units.len() as u16
    }

    /// The number of slots of threads on their initial compute units.
    fn stride(&self) -> u32 {
        self.first.len() as u32 * PENDING_MAX
    }

    /// The slot of a thread's request, from the thread's place and the request's id.
    pub(crate) fn of(&self, thread: u8, seat: &Seat, id: u8) -> Slot {
        let place = match seat.agent {
            Agent::Cu(cu) if seat.agent != self.agents[usize::from(thread)] => u32::from(cu) + 1,
            _ => 0,
        };
        Slot(place * self.stride() + u32::from(thread) * PENDING_MAX + u32::from(id))
    }

    /// The first slot of requests at the boundaries of kernels. These slots follow the slots of
    /// threads.
    pub(crate) fn of_boundaries(&self) -> u32 {
        (self.units.len() as u32 + 1) * self.stride()
    }

    /// The thread that a slot belongs to, and the id of the request.
    pub(crate) fn thread(&self, slot: u32) -> (u8, u8) {
        let of = slot % self.stride();
        ((of / PENDING_MAX) as u8, (of % PENDING_MAX) as u8)
    }

    /// The node at which the thread of a slot is.
    pub(crate) fn home(&self, slot: u32) -> Option<u8> {
        match (slot / self.stride()) as usize {
            0 => self.first.get((slot / PENDING_MAX) as usize).copied(),
            place => self.units.get(place - 1).copied(),
        }
    }
}
