//! Routes within a chiplet: for each pair of nodes, the links from one node to the other.

use core::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// A node of the network. The number counts routers or crossbar ports over all chiplets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NocNode(pub u16);

/// The shape of the network of a chiplet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Topology {
    /// A grid. Messages travel along the row first, then along the column.
    Mesh {
        /// The number of nodes in a row.
        columns: NonZeroU32,
        /// The number of nodes in a column.
        rows: NonZeroU32,
    },
    /// A grid whose rows and columns are rings. Messages take the shorter
    /// direction.
    Torus {
        /// The number of nodes in a row.
        columns: NonZeroU32,
        /// The number of nodes in a column.
        rows: NonZeroU32,
    },
    /// A crossbar: one hop leads from every node to every other node. Messages wait only for the
    /// ports of the nodes.
    Crossbar {
        /// The number of nodes, each with one port.
        ports: NonZeroU32,
    },
}

impl Topology {
    /// The number of nodes of a chiplet.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        match *self {
            Topology::Mesh { columns, rows } | Topology::Torus { columns, rows } => {
                u64::from(columns.get()) * u64::from(rows.get())
            }
            Topology::Crossbar { ports } => u64::from(ports.get()),
        }
    }
}

/// The two ends of a link, with its direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEnds {
    /// The port of this node into the network.
    Inject(NocNode),
    /// The port of this node out of the network.
    Eject(NocNode),
    /// The link from one node to an adjacent node.
    Hop(NocNode, NocNode),
    /// The link from one chiplet to another chiplet.
    Chiplets(u16, u16),
}

/// The number of directions in which links leave a node of a grid.
const DIRECTIONS: usize = 4;

/// One dimension of a grid: a row or a column of nodes.
#[derive(Clone, Copy, Debug)]
struct Axis {
    length: u32,
    /// The difference between the numbers of two adjacent nodes of the axis.
    stride: u32,
    /// Whether the axis is a ring, as in a torus.
    wraps: bool,
    /// The index of the upward direction in the list of a node's directions. The index before it
    /// belongs to the downward direction.
    up: usize,
}

impl Axis {
    /// The number of steps from index `at` to index `to` of the axis, and whether the steps go up.
    /// If both directions of a ring are equally short, the steps go up.
    #[inline]
    fn steps(self, at: u32, to: u32) -> (u32, bool) {
        if !self.wraps {
            return (at.abs_diff(to), to > at);
        }
        let upward = if to >= at { to - at } else { to + self.length - at };
        let downward = self.length - upward;
        if upward <= downward { (upward, true) } else { (downward, false) }
    }

    /// Takes one step along the axis from the node `node`, whose index on the axis is `at`. Returns
    /// the new node and its index.
    #[inline]
    fn step(self, node: u32, at: u32, is_up: bool) -> (u32, u32) {
        let last = self.length - 1;
        match (is_up, at) {
            (true, at) if at == last => (node - last * self.stride, 0),
            (true, at) => (node + self.stride, at + 1),
            (false, 0) => (node + last * self.stride, last),
            (false, at) => (node - self.stride, at - 1),
        }
    }

    /// Whether any route takes a step in this direction from index `at` of the axis.
    fn has_step(self, at: u32, is_up: bool) -> bool {
        match (self.wraps, is_up) {
            (true, true) => self.length > 1,
            (true, false) => self.length > 2,
            (false, true) => at + 1 < self.length,
            (false, false) => at > 0,
        }
    }
}

/// The routes within a chiplet. A route first follows the row, then the column. `axes` is `None`
/// for a crossbar.
#[derive(Clone, Debug)]
pub(super) struct Routes {
    pub(super) nodes: usize,
    axes: Option<[Axis; 2]>,
    /// For each node, its index in its row and its index in its column.
    places: Vec<[u32; 2]>,
    /// Four links for each node: to the previous and the next node of its row, then to the previous
    /// and the next node of its column.
    links: Vec<u32>,
    /// The node at which links to other chiplets begin and end. For a crossbar, this is a number
    /// that no node has.
    pub(super) gateway: usize,
}

impl Routes {
    /// The routes within a chiplet of this topology, and the two nodes that each of its links
    /// connects. `first` is the number of the first link.
    pub(super) fn new(topology: Topology, first: usize) -> (Routes, Vec<(usize, usize)>) {
        let nodes = topology.nodes() as usize;
        let (columns, rows, wraps) = match topology {
            Topology::Crossbar { .. } => {
                let (places, links) = (Vec::new(), Vec::new());
                return (Routes { nodes, axes: None, places, links, gateway: nodes }, Vec::new());
            }
            Topology::Mesh { columns, rows } => (columns.get(), rows.get(), false),
            Topology::Torus { columns, rows } => (columns.get(), rows.get(), true),
        };
        let axes = [
            Axis { length: columns, stride: 1, wraps, up: 1 },
            Axis { length: rows, stride: columns, wraps, up: 3 },
        ];
        let places: Vec<_> = (0..nodes as u32).map(|node| [node % columns, node / columns]).collect();
        let mut links = vec![u32::MAX; DIRECTIONS * nodes];
        let mut ends = Vec::new();
        for (node, place) in places.iter().enumerate() {
            for (axis, &at) in axes.iter().zip(place) {
                for is_up in [false, true] {
                    if axis.has_step(at, is_up) {
                        links[DIRECTIONS * node + axis.up - usize::from(!is_up)] =
                            (first + ends.len()) as u32;
                        ends.push((node, axis.step(node as u32, at, is_up).0 as usize));
                    }
                }
            }
        }
        let gateway = (rows / 2 * columns + columns / 2) as usize;
        (Routes { nodes, axes: Some(axes), places, links, gateway }, ends)
    }

    /// The number of hops between two nodes. A crossbar counts as one hop.
    #[inline]
    pub(super) fn hops(&self, from: usize, to: usize) -> u32 {
        let Some(axes) = self.axes else { return u32::from(from != to) };
        let (from, to) = (self.places[from], self.places[to]);
        (0..2).map(|i| axes[i].steps(from[i], to[i]).0).sum()
    }

    /// Whether links connect the nodes. False for a crossbar, which has only ports.
    #[inline]
    pub(super) fn has_links(&self) -> bool {
        self.axes.is_some()
    }

    /// Follows the route from one node to another. For each hop, calls `hop` with the number of its
    /// link, or with `None` on a crossbar. Returns the number of hops.
    #[inline]
    pub(super) fn walk(&self, (from, to): (usize, usize), mut hop: impl FnMut(Option<usize>)) -> u64 {
        let Some(axes) = self.axes else {
            if from != to {
                hop(None);
            }
            return u64::from(from != to);
        };
        let (place, target) = (self.places[from], self.places[to]);
        let (mut node, mut hops) = (from as u32, 0);
        for (i, axis) in axes.iter().enumerate() {
            let (steps, is_up) = axis.steps(place[i], target[i]);
            let (direction, mut at) = (axis.up - usize::from(!is_up), place[i]);
            let stride = if is_up { axis.stride } else { axis.stride.wrapping_neg() };
            for _ in 0..steps {
                hop(Some(self.links[DIRECTIONS * node as usize + direction] as usize));
                if axis.wraps {
                    (node, at) = axis.step(node, at, is_up);
                } else {
                    node = node.wrapping_add(stride);
                }
            }
            hops += u64::from(steps);
        }
        hops
    }
}
