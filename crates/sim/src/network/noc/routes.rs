//! Routes within a chiplet: the links from one node to another.

use core::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// A place on the network: the number of a router or of a crossbar port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NocNode(pub u16);

/// How the nodes are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Topology {
    /// A grid. Messages travel along the row first, then along the column.
    Mesh {
        /// Nodes in a row.
        columns: NonZeroU32,
        /// Nodes in a column.
        rows: NonZeroU32,
    },
    /// A grid whose rows and columns are rings. Messages take the shorter
    /// direction.
    Torus {
        /// Nodes in a row.
        columns: NonZeroU32,
        /// Nodes in a column.
        rows: NonZeroU32,
    },
    /// A crossbar: every node is one hop from every other, and only the ports are
    /// shared.
    Crossbar {
        /// The number of nodes.
        ports: NonZeroU32,
    },
}

impl Topology {
    /// The number of nodes.
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

/// The ends of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEnds {
    /// A node's port into the network.
    Inject(NocNode),
    /// A node's port out of the network.
    Eject(NocNode),
    /// From one node to the next.
    Hop(NocNode, NocNode),
    /// From one chiplet to another.
    Chiplets(u16, u16),
}

/// The number of directions from a node.
const DIRECTIONS: usize = 4;

/// A row or a column of nodes.
#[derive(Clone, Copy, Debug)]
struct Axis {
    length: u32,
    /// The difference between the numbers of adjacent nodes.
    stride: u32,
    /// Whether it is a ring.
    wraps: bool,
    /// The index of the upward direction among those of a node. The downward
    /// direction precedes it.
    up: usize,
}

impl Axis {
    /// The number of steps between two places, and whether they go up. A tie
    /// between the two directions of a ring goes up.
    #[inline]
    fn steps(self, at: u32, to: u32) -> (u32, bool) {
        if !self.wraps {
            return (at.abs_diff(to), to > at);
        }
        let upward = if to >= at { to - at } else { to + self.length - at };
        let downward = self.length - upward;
        if upward <= downward { (upward, true) } else { (downward, false) }
    }

    /// One step from the node with this number, which is at this place of the axis.
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

    /// Whether any route takes a step from this place in this direction.
    fn has_step(self, at: u32, is_up: bool) -> bool {
        match (self.wraps, is_up) {
            (true, true) => self.length > 1,
            (true, false) => self.length > 2,
            (false, true) => at + 1 < self.length,
            (false, false) => at > 0,
        }
    }
}

/// The routes within a chiplet: along the row first, then along the column. A
/// crossbar has no axes.
#[derive(Clone, Debug)]
pub(super) struct Routes {
    pub(super) nodes: usize,
    axes: Option<[Axis; 2]>,
    /// By node: its index in its row and in its column.
    places: Vec<[u32; 2]>,
    /// Four for each node: the links down and up its row, then down and up its
    /// column.
    links: Vec<u32>,
    /// The node at which links to other chiplets begin and end. For a crossbar, no
    /// node.
    pub(super) gateway: usize,
}

impl Routes {
    /// The routes of a topology, and the nodes that each of its links connects.
    /// `first` is the number of the first link.
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

    /// The hops between two nodes. A crossbar counts as one.
    #[inline]
    pub(super) fn hops(&self, from: usize, to: usize) -> u32 {
        let Some(axes) = self.axes else { return u32::from(from != to) };
        let (from, to) = (self.places[from], self.places[to]);
        (0..2).map(|i| axes[i].steps(from[i], to[i]).0).sum()
    }

    /// Whether links connect the nodes. A crossbar has only ports.
    #[inline]
    pub(super) fn has_links(&self) -> bool {
        self.axes.is_some()
    }

    /// Walks from one node to another. `hop` gets the link of each hop, if it has
    /// one. Returns the number of hops.
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
