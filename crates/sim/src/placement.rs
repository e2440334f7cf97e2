//! Where a protocol's stations stand on the network, and how fast they are.
//!
//! What a machine has several of is divided among its chiplets in order. Compute
//! units of a chiplet are spread evenly over its nodes, and so are the banks of the
//! shared levels. On a crossbar with a port for each, compute units take the
//! first ports and banks the ones behind them. What exists once stands in the
//! middle of the first chiplet; the host enters at its first node. The memory of a bank's lines stands
//! beside the bank, whether or not a protocol has a controller there.

use proto::Role;

use crate::config::System;
use crate::fabric::StationInfo;
use crate::noc::{Noc, NocNode, Topology};

/// Where stations stand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    chiplets: u32,
    /// Of each chiplet.
    nodes: u32,
    cus: u32,
    columns: Option<u32>,
}

impl Placement {
    pub(crate) fn new(system: &System, noc: &Noc) -> Placement {
        let columns = match system.noc.topology {
            Topology::Mesh { columns, .. } | Topology::Torus { columns, .. } => Some(columns.get()),
            Topology::Crossbar { .. } => None,
        };
        let chiplets = system.chiplets;
        Placement { chiplets, nodes: noc.nodes() as u32 / chiplets, cus: system.cu.count / chiplets, columns }
    }

    pub(crate) fn node(&self, station: &StationInfo) -> NocNode {
        self.node_of(station.role, station.index, station.count)
    }

    /// Where the memory of a bank's lines stands.
    pub(crate) fn memory(&self, bank: u32, banks: u32) -> NocNode {
        self.node_of(Role::L2, bank, banks)
    }

    fn node_of(&self, role: Role, index: u32, count: u32) -> NocNode {
        // What cannot be divided among chiplets stands on the first.
        let each = if count.is_multiple_of(self.chiplets) { count / self.chiplets } else { count }.max(1);
        let chiplet = index / each;
        let NocNode(within) = self.node_within(role, index % each, each);
        NocNode((chiplet * self.nodes) as u16 + within)
    }

    /// The node within a chiplet of one of so many.
    fn node_within(&self, role: Role, index: u32, count: u32) -> NocNode {
        let spread = u64::from(index) * u64::from(self.nodes) / u64::from(count.max(1));
        let node = match role {
            Role::Host => 0,
            Role::Manager | Role::CommandProcessor => match self.columns {
                Some(columns) => self.nodes / columns / 2 * columns + columns / 2,
                None => self.nodes - 1,
            },
            Role::L1 | Role::Buffer if self.columns.is_none() => index % self.nodes,
            Role::L1 | Role::Buffer => spread as u32,
            Role::L2 | Role::L3 | Role::Directory => match self.columns {
                None if self.cus < self.nodes => self.cus + index % (self.nodes - self.cus),
                None => index % self.nodes,
                Some(_) => spread as u32,
            },
        };
        NocNode(node as u16)
    }
}

/// How fast the stations of a role are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StationTiming {
    /// From an access to what it sends or answers.
    pub(crate) latency_cycles: u64,
    /// How long one access keeps the station from serving the next.
    pub(crate) occupancy_cycles: u64,
    /// How long an atomic keeps its line from the next one.
    pub(crate) atomic_cycles: u64,
    /// On the way to memory and, as much again, on the way back.
    pub(crate) memory_way_cycles: u64,
}

impl StationTiming {
    pub(crate) fn of(system: &System, role: Role) -> StationTiming {
        let (latency, occupancy, atomic, way) = match role {
            // The port in front of an L1 serves one line after the other.
            Role::L1 => (system.l1.latency_cycles, 0, 0, 0),
            Role::L2 | Role::L3 | Role::Directory => {
                (system.l2.latency_cycles, system.l2.occupancy_cycles, system.l2.atomic_cycles, 0)
            }
            Role::Buffer | Role::Manager | Role::CommandProcessor => (1, 0, 0, 0),
            Role::Host => (0, 0, 0, system.host.memory_latency_cycles.div_ceil(2)),
        };
        StationTiming {
            latency_cycles: u64::from(latency),
            occupancy_cycles: u64::from(occupancy),
            atomic_cycles: u64::from(atomic),
            memory_way_cycles: u64::from(way),
        }
    }
}
