//! Where a protocol's stations stand on the network, and how fast they are.
//!
//! Compute units are spread evenly over the nodes, and so are the banks of the
//! shared levels. On a crossbar with a port for each, compute units take the
//! first ports and banks the ones behind them. What exists once stands in the
//! middle; the host enters at the first node. The memory of a bank's lines stands
//! beside the bank, whether or not a protocol has a controller there.

use proto::Per;

use crate::config::System;
use crate::fabric::LevelInfo;
use crate::noc::{Noc, NocNode, Topology};

/// Where stations stand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
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
        Placement { nodes: noc.nodes() as u32, cus: system.cu.count, columns }
    }

    /// Where a station of a level stands.
    pub(crate) fn node(&self, level: &LevelInfo, index: u32) -> NocNode {
        match level.per {
            Per::Host => NocNode(0),
            Per::Cu if self.columns.is_none() => NocNode((index % self.nodes) as u16),
            Per::Cu => self.spread(index, level.count),
            Per::Chiplet | Per::Machine if level.is_bank() => self.memory(index, level.count),
            Per::Chiplet | Per::Machine if level.count > 1 => self.spread(index, level.count),
            Per::Chiplet | Per::Machine => self.middle(),
        }
    }

    /// Where a bank and the memory of its lines stand.
    pub(crate) fn memory(&self, bank: u32, banks: u32) -> NocNode {
        match self.columns {
            None if self.cus < self.nodes => NocNode((self.cus + bank % (self.nodes - self.cus)) as u16),
            None => NocNode((bank % self.nodes) as u16),
            Some(_) => self.spread(bank, banks),
        }
    }

    fn spread(&self, index: u32, count: u32) -> NocNode {
        NocNode((u64::from(index) * u64::from(self.nodes) / u64::from(count.max(1))) as u16)
    }

    fn middle(&self) -> NocNode {
        NocNode(match self.columns {
            Some(columns) => self.nodes / columns / 2 * columns + columns / 2,
            None => self.nodes - 1,
        } as u16)
    }
}

/// How fast the stations of a level are.
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
    /// Of the level of that name. A controller that the machine does not declare
    /// takes a cycle.
    pub(crate) fn of(system: &System, level: &str) -> StationTiming {
        let (latency, occupancy, atomic, way) = match level {
            // The port in front of an L1 serves one line after the other.
            "l1" => (system.l1.latency_cycles, 0, 0, 0),
            "l2" => (system.l2.latency_cycles, system.l2.occupancy_cycles, system.l2.atomic_cycles, 0),
            "host" => (0, 0, 0, system.host.memory_latency_cycles.div_ceil(2)),
            _ => (1, 0, 0, 0),
        };
        StationTiming {
            latency_cycles: u64::from(latency),
            occupancy_cycles: u64::from(occupancy),
            atomic_cycles: u64::from(atomic),
            memory_way_cycles: u64::from(way),
        }
    }
}
