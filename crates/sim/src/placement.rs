//! Where a protocol's stations stand on the network, and how fast they are.
//!
//! What a machine has several of is divided among its chiplets in order. Compute
//! units of a chiplet are spread evenly over its nodes, and so are the banks of the
//! shared levels. On a crossbar with a port for each, compute units take the
//! first ports and banks the ones behind them. What exists once stands in the
//! middle of the first chiplet; the host enters at its first node. The memory of a bank's lines stands
//! beside the bank, whether or not a protocol has a controller there.

use proto::Per;

use crate::config::{Invalidation, System};
use crate::fabric::LevelInfo;
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

    /// Where a station of a level stands.
    pub(crate) fn node(&self, level: &LevelInfo, index: u32) -> NocNode {
        let (_, index) = level.site(index);
        let (count, has_lines) = match &level.beside {
            Some(beside) => (u32::from(beside.count), beside.has_lines),
            None => (level.count, level.has_lines),
        };
        let is_shared = matches!(level.per, Per::Chiplet | Per::Machine);
        match level.per {
            Per::Host => NocNode(0),
            Per::Cu => self.divided(index, count, |index, count| match self.columns {
                Some(_) => self.spread(index, count),
                None => index % self.nodes,
            }),
            _ if is_shared && has_lines => self.memory(index, count),
            _ if count > 1 => self.divided(index, count, |index, count| self.spread(index, count)),
            _ => NocNode(self.middle() as u16),
        }
    }

    /// Where a bank and the memory of its lines stand.
    pub(crate) fn memory(&self, bank: u32, banks: u32) -> NocNode {
        self.divided(bank, banks, |bank, banks| match self.columns {
            None if self.cus < self.nodes => self.cus + bank % (self.nodes - self.cus),
            None => bank % self.nodes,
            Some(_) => self.spread(bank, banks),
        })
    }

    /// The node of one of so many that are divided among the chiplets, by where it
    /// stands within its own. What cannot be divided stands on the first.
    fn divided(&self, index: u32, count: u32, within: impl Fn(u32, u32) -> u32) -> NocNode {
        let each = if count.is_multiple_of(self.chiplets) { count / self.chiplets } else { count }.max(1);
        NocNode((index / each * self.nodes + within(index % each, each)) as u16)
    }

    fn spread(&self, index: u32, count: u32) -> u32 {
        (u64::from(index) * u64::from(self.nodes) / u64::from(count.max(1))) as u32
    }

    fn middle(&self) -> u32 {
        match self.columns {
            Some(columns) => self.nodes / columns / 2 * columns + columns / 2,
            None => self.nodes - 1,
        }
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
    /// What an invalidation costs: in all, or for each line if lines are walked.
    pub(crate) invalidate_cycles: u64,
    /// Are lines invalidated one after the other?
    pub(crate) is_walked: bool,
    /// How many requests of cores enter in one cycle.
    pub(crate) ports: u32,
}

impl StationTiming {
    /// Of the level of that name. A controller that the machine does not declare
    /// takes a cycle.
    pub(crate) fn of(system: &System, level: &str) -> StationTiming {
        let (l1, l2) = (&system.l1, &system.l2);
        let declared = system.levels.iter().find(|declared| declared.name == level);
        let way = if level == "host" { system.host.memory_latency_cycles.div_ceil(2) } else { 0 };
        let is_first = declared.is_some_and(|declared| declared.per == crate::config::Per::Cu);
        let (latency, occupancy, atomic) = match (declared, level) {
            // The port in front of a first level serves one line after the other.
            (Some(level), _) if is_first => (level.latency_cycles, 0, 0),
            (Some(level), _) => (level.latency_cycles, level.occupancy_cycles, level.atomic_cycles),
            (None, "l1") => (l1.latency_cycles, 0, 0),
            (None, "l2") => (l2.latency_cycles, l2.occupancy_cycles, l2.atomic_cycles),
            (None, "host") => (0, 0, 0),
            (None, _) => (1, 0, 0),
        };
        let (invalidation, invalidate, ports) = match (declared, level) {
            (Some(level), _) => (level.invalidation, level.invalidate_cycles, level.ports),
            (None, "l1") => (l1.invalidation, l1.invalidate_cycles, l1.ports),
            (None, _) => (Invalidation::Flash, 0, l1.ports),
        };
        StationTiming {
            latency_cycles: u64::from(latency),
            occupancy_cycles: u64::from(occupancy),
            atomic_cycles: u64::from(atomic),
            memory_way_cycles: u64::from(way),
            invalidate_cycles: u64::from(invalidate),
            is_walked: invalidation == Invalidation::Walked,
            ports,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proto::Beside;

    fn system() -> System {
        toml::from_str(include_str!("../../../systems/hrf-8cu.toml")).unwrap()
    }

    #[test]
    fn neighbours_of_a_level_stand_beside_the_same_controller_of_another() {
        let system = system();
        let noc = Noc::new(&system.noc).unwrap();
        let beside = Beside { name: "l2".to_owned(), count: 4, has_lines: true };
        let level = LevelInfo {
            name: "atomics".to_owned(),
            per: Per::Chiplet,
            count: 8,
            has_lines: false,
            miss_registers: 0,
            height: 1,
            beside: Some(beside),
        };
        let sites: Vec<u32> = (0..8).map(|index| level.site(index).1).collect();
        assert_eq!(sites, [0, 0, 1, 1, 2, 2, 3, 3]);
        let placement = Placement::new(&system, &noc);
        let nodes: Vec<NocNode> = (0..8).map(|index| placement.node(&level, index)).collect();
        let banks: Vec<NocNode> = sites.iter().map(|&bank| placement.memory(bank, 4)).collect();
        assert_eq!(nodes, banks);
    }

    #[test]
    fn the_port_of_a_first_level_is_all_that_keeps_it() {
        let timing = |per: &str| {
            let level = format!(
                "name = \"read\"\nper = \"{per}\"\nlatency_cycles = 20\noccupancy_cycles = 9\natomic_cycles = 4"
            );
            let level = toml::from_str(&level).unwrap();
            let timing = StationTiming::of(&System { levels: vec![level], ..system() }, "read");
            (timing.latency_cycles, timing.occupancy_cycles, timing.atomic_cycles)
        };
        assert_eq!((timing("cu"), timing("chiplet")), ((20, 0, 0), (20, 9, 4)));
    }
}
