//! The nodes of the network at which a protocol's stations (its controllers) are attached.
//!
//! Compute units and other components that come in groups are divided among the chiplets in order.
//! The compute units of a chiplet are spread evenly over its nodes, and so are the banks of the
//! shared levels. On a crossbar with enough ports, compute units take the first ports and banks the
//! ports after them. A component that exists only once is at the middle node of the first chiplet;
//! the host is at the first node of that chiplet. The memory of a bank's lines is attached beside
//! the bank, even if a protocol has no controller there.

use proto::Per;

use crate::config::System;
use crate::network::noc::{Noc, NocNode, Topology};
use crate::stations::fabric::LevelInfo;

/// The rule that assigns stations (controllers) to network nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    chiplets: u32,
    /// The number of network nodes of each chiplet. The field `cus` is the number of compute units
    /// of each chiplet.
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

    /// The network node of a station (controller), given the station's level and its index within
    /// this level.
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

    /// The network node of a bank. The memory of the bank's lines is attached to the same node.
    pub(crate) fn memory(&self, bank: u32, banks: u32) -> NocNode {
        self.divided(bank, banks, |bank, banks| match self.columns {
            None if self.cus < self.nodes => self.cus + bank % (self.nodes - self.cus),
            None => bank % self.nodes,
            Some(_) => self.spread(bank, banks),
        })
    }

    /// The node of component `index` of `count` components, which are divided among the chiplets.
    /// `within` computes the node within a chiplet from two numbers: the component's index among
    /// the components of that chiplet, and the number of these components. If `count` is not a
    /// multiple of the number of chiplets, all components are on the first chiplet.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proto::Beside;

    fn system() -> System {
        toml::from_str(include_str!("../../../../systems/hrf-8cu.toml")).unwrap()
    }

    #[test]
    fn controllers_beside_another_level_stand_at_the_place_of_its_controllers() {
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
}
