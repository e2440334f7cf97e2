//! The slots of requests. A slot encodes the requesting thread and the id of the request, so that
//! an answer finds the thread. Each node that requests enter has its own numbering, as each port of
//! the simulator has. So the same slot can stand for different threads at two nodes.

use proto::{Agent, PlanKey, Slot};

use crate::machine::controllers::Controllers;
use crate::machine::placement::Placement;
use crate::machine::thread::PENDING_MAX;

/// The tables that convert the requests of a program's threads into slots (numbers of requests at a
/// node), and slots into requests.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    /// For each thread, the node that its ordinary (not atomic) loads enter at the start of the
    /// program. The thread's state is stored in the part (the state of one node) of that node.
    first: Vec<u8>,
    /// For each compute unit, the node that its ordinary loads enter. Empty on machines without
    /// preemption.
    units: Vec<u8>,
    /// For each node, the threads whose requests may enter the node.
    issuers: Vec<Vec<Issuer>>,
}

/// A thread whose requests may enter a given node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Issuer {
    thread: u8,
    /// The node that the ordinary (not atomic) loads of the thread enter. The thread's state is
    /// stored in the part (the state of one node) of that node.
    home: u8,
}

impl Slots {
    pub(crate) fn new(
        controllers: &Controllers,
        placement: &Placement,
        preemptions: u8,
    ) -> Result<Slots, String> {
        let home = |agent: Agent| controllers.entry(agent, PlanKey::PLAIN_LOAD);
        let units = if preemptions > 0 { controllers.topology().cus } else { 0 };
        let mut slots = Slots {
            first: placement.agents.iter().map(|&agent| home(agent)).collect::<Result<_, _>>()?,
            units: (0..units).map(|cu| home(Agent::Cu(cu))).collect::<Result<_, _>>()?,
            issuers: vec![Vec::new(); controllers.ids().len()],
        };
        let mut entries: Vec<(Agent, Vec<u8>)> = Vec::new();
        for (thread, &first) in placement.agents.iter().enumerate() {
            let others = (0..units).map(Agent::Cu).filter(|_| matches!(first, Agent::Cu(_)));
            for agent in core::iter::once(first).chain(others) {
                let known = entries.iter().position(|(of, _)| *of == agent);
                let known = known.unwrap_or_else(|| {
                    entries.push((agent, entries_of(controllers, agent)));
                    entries.len() - 1
                });
                let issuer = Issuer { thread: thread as u8, home: home(agent)? };
                for &entry in &entries[known].1 {
                    let issuers = &mut slots.issuers[usize::from(entry)];
                    if !issuers.contains(&issuer) {
                        issuers.push(issuer);
                    }
                }
            }
        }
        Ok(slots)
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

    /// The slot of a thread's request at the node `entry`. The thread is given by its number and
    /// its home (the node that its ordinary loads enter), and the request by its id.
    pub(crate) fn of(&self, entry: u8, (thread, home): (u8, u8), id: u8) -> Slot {
        let issuers = &self.issuers[usize::from(entry)];
        let at = issuers.iter().position(|issuer| *issuer == Issuer { thread, home });
        Slot(at.unwrap_or(issuers.len()) as u32 * PENDING_MAX + u32::from(id))
    }

    /// The first slot (number of a request at a node) for the requests at the beginning or end of a
    /// kernel. At every node, the slots for these requests follow those for the requests of
    /// threads.
    pub(crate) fn of_boundaries(&self) -> u32 {
        (self.units.len() as u32 + 1) * self.first.len() as u32 * PENDING_MAX
    }

    fn issuer(&self, entry: u8, slot: u32) -> Option<Issuer> {
        self.issuers.get(usize::from(entry))?.get((slot / PENDING_MAX) as usize).copied()
    }

    /// The thread that a slot at the node `entry` belongs to, and the id of the request.
    pub(crate) fn thread(&self, entry: u8, slot: u32) -> Option<(u8, u8)> {
        self.issuer(entry, slot).map(|issuer| (issuer.thread, (slot % PENDING_MAX) as u8))
    }

    /// The home (the node that ordinary loads enter) of the thread that a slot (number of a
    /// request) at the node `entry` belongs to.
    pub(crate) fn home(&self, entry: u8, slot: u32) -> Option<u8> {
        self.issuer(entry, slot).map(|issuer| issuer.home)
    }
}

/// The nodes that the operations of an agent (a compute unit or a host) enter. Operations with
/// different plan keys (kinds, orders, scopes or hints) may enter different nodes.
fn entries_of(controllers: &Controllers, agent: Agent) -> Vec<u8> {
    let mut entries = Vec::new();
    for entry in PlanKey::all().filter_map(|key| controllers.entry(agent, key).ok()) {
        if !entries.contains(&entry) {
            entries.push(entry);
        }
    }
    entries
}
