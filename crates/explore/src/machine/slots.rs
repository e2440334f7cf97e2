//! The slots of requests: each names the thread that asks, where it runs, and
//! which of its requests it is. So an answer finds its way back.

use proto::{Agent, PlanKey, Slot};

use crate::machine::controllers::Controllers;
use crate::machine::placement::Placement;
use crate::machine::thread::{PENDING_MAX, Seat};

/// The slots of a program's requests.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    /// Who runs each thread when the program begins.
    agents: Vec<Agent>,
    /// Where the ordinary loads of each thread go then: to the node whose part it
    /// is of.
    first: Vec<u8>,
    /// The same of each compute unit, where work-groups are preempted.
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

    /// Where a thread's ordinary loads go when the program begins.
    pub(crate) fn first(&self, thread: usize) -> u8 {
        self.first[thread]
    }

    /// Where the ordinary loads of a compute unit go.
    pub(crate) fn unit(&self, cu: u16) -> Option<u8> {
        self.units.get(usize::from(cu)).copied()
    }

    /// How many compute units a work-group may come to.
    pub(crate) fn units(&self) -> u16 {
        self.units.len() as u16
    }

    /// Slots of threads where all run as when the program begins.
    fn stride(&self) -> u32 {
        self.first.len() as u32 * PENDING_MAX
    }

    /// The slot of a thread's request.
    pub(crate) fn of(&self, thread: u8, seat: &Seat, id: u8) -> Slot {
        let place = match seat.agent {
            Agent::Cu(cu) if seat.agent != self.agents[usize::from(thread)] => u32::from(cu) + 1,
            _ => 0,
        };
        Slot(place * self.stride() + u32::from(thread) * PENDING_MAX + u32::from(id))
    }

    /// The first slot of the requests at boundaries: behind those of threads.
    pub(crate) fn of_boundaries(&self) -> u32 {
        (self.units.len() as u32 + 1) * self.stride()
    }

    /// The thread of a slot, and the name of its request.
    pub(crate) fn thread(&self, slot: u32) -> (u8, u8) {
        let of = slot % self.stride();
        ((of / PENDING_MAX) as u8, (of % PENDING_MAX) as u8)
    }

    /// The node whose part the thread of a slot is of.
    pub(crate) fn home(&self, slot: u32) -> Option<u8> {
        match (slot / self.stride()) as usize {
            0 => self.first.get((slot / PENDING_MAX) as usize).copied(),
            place => self.units.get(place - 1).copied(),
        }
    }
}
