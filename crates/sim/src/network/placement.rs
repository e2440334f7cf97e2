//! The nodes of the network at which a protocol's stations (its controllers) are attached.
//!
//! Compute units and other components that come in groups are divided among the chiplets in order.
//! The compute units of a chiplet are spread evenly over its nodes, and so are the banks of the
//! shared levels: over the area of a grid, or along its edge ([`BankNodes`]). On a crossbar with
//! enough ports, compute units take the first ports and banks the ports after them. A component
//! that exists only once is at the middle node of the first chiplet, and on a crossbar at its last
//! port; the host is at the first node of that chiplet. The memory of a bank's lines is attached beside the bank, even if a protocol
//! has no controller there.

use proto::Per;

use crate::config::System;
use crate::network::noc::{BankNodes, Noc, NocNode, Topology};
use crate::stations::fabric::LevelInfo;

/// The rule that assigns stations (controllers) to network nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    chiplets: u32,
    /// The number of network nodes of each chiplet. The field `cus` is the number of compute units
    /// of each chiplet.
    nodes: u32,
    cus: u32,
    /// The grid of a mesh or torus. `None` for a crossbar.
    grid: Option<NodeGrid>,
    bank_nodes: BankNodes,
}

/// The nodes of a chiplet on a mesh or torus.
#[derive(Clone, Copy, Debug)]
struct NodeGrid {
    columns: u32,
    rows: u32,
}

impl NodeGrid {
    /// The node of component `index` of `count` components that are spread evenly over the area.
    /// The grid is divided into cells, as near to squares as the count allows. A cell has one
    /// component, at its centre. If the count has no divisors that fit, components are spread over
    /// the nodes in the order of their numbers.
    fn spread(self, index: u32, count: u32) -> u32 {
        let NodeGrid { columns, rows } = self;
        // The sides of a cell are `columns / across` and `rows / down`. Their product is fixed, so
        // their sum is smallest where they are nearest to each other.
        let fitting =
            (1..=columns.min(count)).filter(|across| count.is_multiple_of(*across) && count / across <= rows);
        let sides = |across: u32| {
            u64::from(columns) * u64::from(count / across) + u64::from(rows) * u64::from(across)
        };
        // Of two equally good shapes, the one with more columns is chosen.
        let Some(across) = fitting.rev().min_by_key(|&across| sides(across)) else {
            return (u64::from(index) * u64::from(columns * rows) / u64::from(count.max(1))) as u32;
        };
        let down = count / across;
        let (column, row) = (index % across, index / across);
        (2 * row + 1) * rows / (2 * down) * columns + (2 * column + 1) * columns / (2 * across)
    }

    /// The node of component `index` of `count` components that are spread evenly along the edge,
    /// clockwise from the first node.
    fn edge(self, index: u32, count: u32) -> u32 {
        let NodeGrid { columns, rows } = self;
        if columns == 1 || rows == 1 {
            return self.spread(index, count);
        }
        let (top, side) = (columns - 1, rows - 1);
        let length = 2 * (top + side);
        let at = (u64::from(index) * u64::from(length) / u64::from(count.max(1))) as u32 % length;
        let (column, row) = match at {
            at if at < top => (at, 0),
            at if at < top + side => (top, at - top),
            at if at < 2 * top + side => (2 * top + side - at, side),
            at => (0, length - at),
        };
        row * columns + column
    }
}

impl Placement {
    pub(crate) fn new(system: &System, noc: &Noc) -> Placement {
        let grid = match system.noc.topology {
            Topology::Mesh { columns, rows } | Topology::Torus { columns, rows } => {
                Some(NodeGrid { columns: columns.get(), rows: rows.get() })
            }
            Topology::Crossbar { .. } => None,
        };
        let chiplets = system.chiplets;
        let (nodes, cus) = (noc.nodes() as u32 / chiplets, system.cu.count / chiplets);
        Placement { chiplets, nodes, cus, grid, bank_nodes: system.noc.bank_nodes }
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
            Per::Cu => self.divided(index, count, |index, count| match self.grid {
                Some(grid) => grid.spread(index, count),
                None => index % self.nodes,
            }),
            _ if is_shared && has_lines => self.memory(index, count),
            _ if count > 1 => self.divided(index, count, |index, count| self.spread(index, count)),
            _ => NocNode(self.middle() as u16),
        }
    }

    /// The network node of a bank. The memory of the bank's lines is attached to the same node.
    pub(crate) fn memory(&self, bank: u32, banks: u32) -> NocNode {
        self.divided(bank, banks, |bank, banks| match (self.grid, self.bank_nodes) {
            (None, _) if self.cus < self.nodes => self.cus + bank % (self.nodes - self.cus),
            (None, _) => bank % self.nodes,
            (Some(grid), BankNodes::Area) => grid.spread(bank, banks),
            (Some(grid), BankNodes::Edge) => grid.edge(bank, banks),
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
        match self.grid {
            Some(grid) => grid.spread(index, count),
            None => (u64::from(index) * u64::from(self.nodes) / u64::from(count.max(1))) as u32,
        }
    }

    fn middle(&self) -> u32 {
        match self.grid {
            Some(NodeGrid { columns, rows }) => rows / 2 * columns + columns / 2,
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
            like: None,
        };
        let sites: Vec<u32> = (0..8).map(|index| level.site(index).1).collect();
        assert_eq!(sites, [0, 0, 1, 1, 2, 2, 3, 3]);
        let placement = Placement::new(&system, &noc);
        let nodes: Vec<NocNode> = (0..8).map(|index| placement.node(&level, index)).collect();
        let banks: Vec<NocNode> = sites.iter().map(|&bank| placement.memory(bank, 4)).collect();
        assert_eq!(nodes, banks);
    }

    #[test]
    fn the_epoch_management_unit_has_a_port_of_its_own() {
        let files = [
            include_str!("../../../../systems/stc-8cu.toml"),
            include_str!("../../../../systems/stc-16cu.toml"),
            include_str!("../../../../systems/stc-32cu.toml"),
        ];
        for file in files {
            let system: System = toml::from_str(file).unwrap();
            let placement = Placement::new(&system, &Noc::new(&system.noc).unwrap());
            let (cus, banks) = (system.cu.count, system.l2.banks);
            let alone = LevelInfo {
                name: "emu".to_owned(),
                per: Per::Machine,
                count: 1,
                has_lines: false,
                miss_registers: 0,
                height: 1,
                beside: None,
                like: None,
            };
            let l2: Vec<NocNode> = (0..banks).map(|bank| placement.memory(bank, banks)).collect();
            let ports: Vec<NocNode> = (cus..cus + banks).map(|port| NocNode(port as u16)).collect();
            assert_eq!(l2, ports, "{}", system.name);
            assert_eq!(placement.node(&alone, 0), NocNode((cus + banks) as u16), "{}", system.name);
        }
    }

    /// The numbers of banks in each column and in each row.
    fn loads(grid: NodeGrid, count: u32, node: impl Fn(u32) -> u32) -> (Vec<u32>, Vec<u32>) {
        let (mut columns, mut rows) = (vec![0; grid.columns as usize], vec![0; grid.rows as usize]);
        for index in 0..count {
            let node = node(index);
            columns[(node % grid.columns) as usize] += 1;
            rows[(node / grid.columns) as usize] += 1;
        }
        (columns, rows)
    }

    #[test]
    fn banks_are_spread_over_the_columns_and_rows_of_a_grid() {
        let spread = |columns, rows, count| {
            let grid = NodeGrid { columns, rows };
            loads(grid, count, |index| grid.spread(index, count))
        };
        // A cell of 2 x 2 nodes has one bank.
        assert_eq!(spread(8, 16, 32), ([0, 8].repeat(4), [0, 4].repeat(8)));
        // A cell has 4 x 4 nodes.
        assert_eq!(spread(16, 32, 32), ([0, 0, 8, 0].repeat(4), [0, 0, 4, 0].repeat(8)));
        assert_eq!(spread(32, 32, 32).0.iter().max(), Some(&4), "eight columns have banks");
        assert_eq!(spread(4, 4, 16), (vec![4; 4], vec![4; 4]), "each node has one bank");
        assert_eq!(spread(2, 4, 4), (vec![2, 2], vec![0, 2, 0, 2]));
        // More banks than nodes, a prime number of banks, one bank: all are on the grid.
        for count in [1, 7, 13, 17, 31, 64] {
            let (columns, rows) = spread(4, 4, count);
            assert_eq!((columns.iter().sum::<u32>(), rows.iter().sum::<u32>()), (count, count), "{count}");
        }
    }

    #[test]
    fn banks_on_the_edge_have_equal_distances_along_the_edge() {
        let grid = NodeGrid { columns: 4, rows: 3 };
        let nodes: Vec<u32> = (0..10).map(|index| grid.edge(index, 10)).collect();
        assert_eq!(nodes, [0, 1, 2, 3, 7, 11, 10, 9, 8, 4]);
        let half: Vec<u32> = (0..5).map(|index| grid.edge(index, 5)).collect();
        assert_eq!(half, [0, 2, 7, 10, 8]);
        let twice: Vec<u32> = (0..20).map(|index| grid.edge(index, 20)).collect();
        assert!(twice.chunks(2).zip(&nodes).all(|(pair, node)| pair == [*node; 2]), "{twice:?}");
        let line = NodeGrid { columns: 1, rows: 8 };
        assert_eq!([0, 1].map(|index| line.edge(index, 2)), [2, 6]);
    }
}
