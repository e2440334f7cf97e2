//! The on-chip network: who reaches whom, how late, and over which links.
//!
//! A message follows the one route of its pair of nodes and reserves every link on it at
//! the moment it is sent, in the order of sending. That costs one event a
//! message (its arrival), queues where links are contended, and delivers the
//! messages of one (source, destination) pair in the order they were sent:
//! their route is the same and no reservation overtakes an earlier one.
//!
//! Each node has a port into the network and one out of it, links like all
//! others except that crossing them is no hop. Within one node a message
//! crosses the two ports only.
//!
//! Each chiplet has such a network, and there is a link in each direction between
//! any two chiplets. It begins and ends at the middle node of a grid, and beside the
//! ports of a crossbar. A message to another chiplet crosses its own network, the
//! link, which is one hop, and the other network.

use core::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::config::LinkSpec;
use crate::queue::Cycle;

/// A place on the network: the number of a router or of a crossbar port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NocNode(pub u16);

/// How the nodes are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Topology {
    /// A grid; messages travel along the row first, then along the column.
    Mesh {
        /// Nodes in a row.
        columns: NonZeroU32,
        /// Nodes in a column.
        rows: NonZeroU32,
    },
    /// A grid whose rows and columns are rings; the shorter way round is taken.
    Torus {
        /// Nodes in a row.
        columns: NonZeroU32,
        /// Nodes in a column.
        rows: NonZeroU32,
    },
    /// Every node one hop from every other; only the ports are shared.
    Crossbar {
        /// How many nodes.
        ports: NonZeroU32,
    },
}

impl Topology {
    /// How many nodes there are.
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

/// The network of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NocSpec {
    /// How the nodes are connected.
    pub topology: Topology,
    /// Router and link, each hop.
    pub hop_latency_cycles: u32,
    /// From a controller to its router and back, once a message.
    pub port_latency_cycles: u32,
    /// What a link carries each cycle, in one direction: also the size of a flit.
    pub link_bytes_per_cycle: NonZeroU32,
    /// What a node's port carries each cycle, in one direction.
    pub port_bytes_per_cycle: NonZeroU32,
    /// Bytes of every message beside its payload: address, kind, mask.
    #[serde(default = "header_bytes")]
    pub header_bytes: u32,
}

/// A 40-bit line number, a kind, a sender and a short mask.
fn header_bytes() -> u32 {
    8
}

impl NocSpec {
    /// The largest number of nodes a network may have.
    pub const NODES_MAX: u64 = 1024;
}

/// What one link carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkTraffic {
    /// Bytes carried.
    pub bytes: u64,
    /// Cycles in which it was busy.
    pub busy_cycles: u64,
}

/// What the whole network carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NocTraffic {
    /// Messages sent.
    pub messages: u64,
    /// Bytes sent, counted once a message.
    pub bytes: u64,
    /// Bytes times the hops they travelled.
    pub byte_hops: u64,
    /// Flits sent, counted once a message.
    pub flits: u64,
    /// Flits times the hops they travelled.
    pub flit_hops: u64,
    /// Messages delivered.
    pub delivered_messages: u64,
    /// Bytes delivered.
    pub delivered_bytes: u64,
    /// Cycles that messages waited for a busy link or port.
    pub queue_cycles: u64,
    /// Messages that crossed from one chiplet to another.
    pub link_messages: u64,
    /// Their bytes.
    pub link_bytes: u64,
    /// Cycles that they waited for a busy link between chiplets: part of the above.
    pub link_queue_cycles: u64,
}

/// What a link connects.
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

#[derive(Clone, Copy, Debug, Default)]
struct Link {
    free_at: Cycle,
    traffic: LinkTraffic,
}

/// How many directions lead from a node.
const DIRECTIONS: usize = 4;

/// A row or a column of nodes.
#[derive(Clone, Copy, Debug)]
struct Axis {
    length: u32,
    /// How far apart the numbers of neighbours are.
    stride: u32,
    /// Is it a ring?
    wraps: bool,
    /// The direction of a step up among those of a node; a step down comes before it.
    up: usize,
}

impl Axis {
    /// How many steps lead from one place to another, and whether they go up. A tie
    /// between the two ways round a ring goes up.
    #[inline]
    fn steps(self, at: u32, to: u32) -> (u32, bool) {
        if !self.wraps {
            return (at.abs_diff(to), to > at);
        }
        let upward = if to >= at { to - at } else { to + self.length - at };
        let downward = self.length - upward;
        if upward <= downward { (upward, true) } else { (downward, false) }
    }

    /// A step from the node with this number, which is at this place of the axis.
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

    /// Does any route take a step from this place in this direction?
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
struct Routes {
    nodes: usize,
    hop_latency: u64,
    axes: Option<[Axis; 2]>,
    /// By node: its place in its row and in its column.
    places: Vec<[u32; 2]>,
    /// Four to a node: the links from it, down and up its row, down and up its column.
    links: Vec<u32>,
    /// Where links to other chiplets begin and end. No node of a crossbar.
    gateway: usize,
}

impl Routes {
    /// The routes of a topology, and the nodes that its links connect. The number of
    /// the first of them is `first`.
    fn new(topology: Topology, hop_latency: u64, first: usize) -> (Routes, Vec<(usize, usize)>) {
        let nodes = topology.nodes() as usize;
        let (columns, rows, wraps) = match topology {
            Topology::Crossbar { .. } => {
                let (places, links) = (Vec::new(), Vec::new());
                return (
                    Routes { nodes, hop_latency, axes: None, places, links, gateway: nodes },
                    Vec::new(),
                );
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
        (Routes { nodes, hop_latency, axes: Some(axes), places, links, gateway }, ends)
    }

    /// How many hops lie between two nodes. A crossbar counts one.
    #[inline]
    fn hops(&self, from: usize, to: usize) -> u32 {
        let Some(axes) = self.axes else { return u32::from(from != to) };
        let (from, to) = (self.places[from], self.places[to]);
        (0..2).map(|i| axes[i].steps(from[i], to[i]).0).sum()
    }

    /// How long the last of some links that lie behind a message was busy with it. The
    /// ports of a crossbar are all it has.
    #[inline]
    fn tail(&self, hops: u64, flits: u64) -> u64 {
        if hops == 0 || self.axes.is_none() { 0 } else { flits }
    }

    /// Takes a message from one node to another of the chiplet whose links begin at
    /// `first`. Returns how many hops that is.
    #[inline]
    fn walk(
        &self,
        way: &mut Way<'_, impl FnMut(LinkUse)>,
        first: usize,
        (from, to): (usize, usize),
        flits: u64,
    ) -> u64 {
        let Some(axes) = self.axes else {
            let hops = u64::from(from != to);
            way.head += hops * self.hop_latency;
            return hops;
        };
        let (place, target) = (self.places[from], self.places[to]);
        let (mut node, mut hops) = (from as u32, 0);
        for (i, axis) in axes.iter().enumerate() {
            let (steps, is_up) = axis.steps(place[i], target[i]);
            let (direction, mut at) = (axis.up - usize::from(!is_up), place[i]);
            let stride = if is_up { axis.stride } else { axis.stride.wrapping_neg() };
            for _ in 0..steps {
                way.cross(first + self.links[DIRECTIONS * node as usize + direction] as usize, flits);
                way.head += self.hop_latency;
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

/// A message on its way over links.
struct Way<'a, W> {
    links: &'a mut [Link],
    bytes: u64,
    /// When its head is where it has come to.
    head: Cycle,
    queued: u64,
    watch: W,
}

impl<W: FnMut(LinkUse)> Way<'_, W> {
    /// Reserves a link for so many cycles, once it is free.
    #[inline]
    fn cross(&mut self, link: usize, cycles: u64) {
        let l = &mut self.links[link];
        let start = self.head.max(l.free_at);
        self.queued += start - self.head;
        l.free_at = start + cycles;
        l.traffic.bytes += self.bytes;
        l.traffic.busy_cycles += cycles;
        (self.watch)(LinkUse { link, from: start, until: start + cycles });
        self.head = start;
    }
}

/// The network.
#[derive(Clone, Debug)]
pub struct Noc {
    spec: NocSpec,
    between: LinkSpec,
    chiplets: usize,
    routes: Routes,
    /// How many links each chiplet has.
    links_each: usize,
    /// For each chiplet ports in, ports out and the links between nodes; then the
    /// links between chiplets.
    links: Vec<Link>,
    ends: Vec<LinkEnds>,
    traffic: NocTraffic,
}

/// When a message occupied a link, for those who draw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkUse {
    /// Which link.
    pub link: usize,
    /// First busy cycle.
    pub from: Cycle,
    /// First cycle in which the link is free again.
    pub until: Cycle,
}

impl Noc {
    /// Builds the network of a machine of one chiplet, and its routes.
    ///
    /// # Errors
    /// If the network has more nodes than [`NocSpec::NODES_MAX`].
    pub fn new(spec: &NocSpec) -> Result<Noc, String> {
        Noc::of_chiplets(spec, &LinkSpec::default(), 1)
    }

    /// Builds the networks of some chiplets, and the links between them.
    ///
    /// # Errors
    /// If there are more nodes than [`NocSpec::NODES_MAX`].
    pub fn of_chiplets(spec: &NocSpec, between: &LinkSpec, chiplets: u32) -> Result<Noc, String> {
        let nodes = spec.topology.nodes();
        let all = nodes.saturating_mul(u64::from(chiplets));
        if all > NocSpec::NODES_MAX {
            let most = NocSpec::NODES_MAX;
            return Err(format!("the network has {all} nodes, but at most {most} are supported"));
        }
        let (nodes, chiplets) = (nodes as usize, chiplets as usize);
        let (routes, hops) = Routes::new(spec.topology, u64::from(spec.hop_latency_cycles), 2 * nodes);
        let mut ends = Vec::new();
        for chiplet in 0..chiplets {
            let node = |i: usize| NocNode((chiplet * nodes + i) as u16);
            ends.extend((0..nodes).map(|i| LinkEnds::Inject(node(i))));
            ends.extend((0..nodes).map(|i| LinkEnds::Eject(node(i))));
            ends.extend(hops.iter().map(|&(from, to)| LinkEnds::Hop(node(from), node(to))));
        }
        let others = |from| (0..chiplets).filter(move |&to| to != from).map(move |to| (from, to));
        let pairs = (0..chiplets).flat_map(others);
        ends.extend(pairs.map(|(from, to)| LinkEnds::Chiplets(from as u16, to as u16)));
        Ok(Noc {
            spec: *spec,
            between: between.clone(),
            chiplets,
            routes,
            links_each: 2 * nodes + hops.len(),
            links: vec![Link::default(); ends.len()],
            ends,
            traffic: NocTraffic::default(),
        })
    }

    /// How many nodes it connects, over all chiplets.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.routes.nodes * self.chiplets
    }

    /// The chiplet of a node, and its number there.
    #[inline]
    fn within(&self, node: NocNode) -> (usize, usize) {
        let node = usize::from(node.0);
        if self.chiplets == 1 { (0, node) } else { (node / self.routes.nodes, node % self.routes.nodes) }
    }

    /// How many hops lie between two nodes. A crossbar counts one, and so does a
    /// link between chiplets.
    #[inline]
    #[must_use]
    pub fn hops(&self, from: NocNode, to: NocNode) -> u32 {
        let ((here, from), (there, to)) = (self.within(from), self.within(to));
        if here == there {
            return self.routes.hops(from, to);
        }
        self.routes.hops(from, self.routes.gateway) + 1 + self.routes.hops(self.routes.gateway, to)
    }

    /// Sends a message and returns when it arrives. `watch` sees every link it
    /// crosses.
    #[inline]
    pub fn send(
        &mut self,
        now: Cycle,
        from: NocNode,
        to: NocNode,
        bytes: u32,
        watch: impl FnMut(LinkUse),
    ) -> Cycle {
        let ((here, source), (there, target)) = (self.within(from), self.within(to));
        let flits = u64::from(bytes.div_ceil(self.spec.link_bytes_per_cycle.get()).max(1));
        let port_cycles = u64::from(bytes.div_ceil(self.spec.port_bytes_per_cycle.get()).max(1));
        let (routes, nodes) = (&self.routes, self.routes.nodes);
        let (first, last) = (here * self.links_each, there * self.links_each);
        let mut way = Way { links: &mut self.links, bytes: u64::from(bytes), head: now, queued: 0, watch };
        way.cross(first + source, port_cycles);
        let (hops, behind) = if here == there {
            let hops = routes.walk(&mut way, first, (source, target), flits);
            (hops, None)
        } else {
            // The links to others of each chiplet stand behind one another.
            let nth = there - usize::from(there > here);
            let link = self.links_each * self.chiplets + here * (self.chiplets - 1) + nth;
            let cycles = u64::from(bytes.div_ceil(self.between.bytes_per_cycle.max(1)).max(1));
            let latency = u64::from(self.between.latency_cycles);
            let before = routes.walk(&mut way, first, (source, routes.gateway), flits);
            let (left, queued) = (way.head + routes.tail(before, flits), way.queued);
            way.cross(link, cycles);
            self.traffic.link_messages += 1;
            self.traffic.link_bytes += u64::from(bytes);
            self.traffic.link_queue_cycles += way.queued - queued;
            let crossed = way.head + cycles;
            way.head += latency;
            let after = routes.walk(&mut way, last, (routes.gateway, target), flits);
            // Its last byte comes behind the slowest part of the way, and what waits
            // in front of a later part makes up for that.
            let behind = left.max(crossed) + latency + after * routes.hop_latency;
            (before + 1 + after, Some(behind.max(way.head + routes.tail(after, flits))))
        };
        way.cross(last + nodes + target, port_cycles);
        let (head, queued) = (way.head, way.queued);
        self.traffic.messages += 1;
        self.traffic.bytes += u64::from(bytes);
        self.traffic.byte_hops += u64::from(bytes) * hops;
        self.traffic.flits += flits;
        self.traffic.flit_hops += flits * hops;
        self.traffic.queue_cycles += queued;
        let end = match behind {
            None => head + if hops > 0 { flits.max(port_cycles) } else { port_cycles },
            Some(behind) => behind.max(head + port_cycles),
        };
        end - 1 + u64::from(self.spec.port_latency_cycles)
    }

    /// Notes that a message of `bytes` has arrived.
    #[inline]
    pub fn delivered(&mut self, bytes: u32) {
        self.traffic.delivered_messages += 1;
        self.traffic.delivered_bytes += u64::from(bytes);
    }

    /// What the network carried so far.
    #[must_use]
    pub fn traffic(&self) -> NocTraffic {
        self.traffic
    }

    /// Every link with what it carried, ports first.
    pub fn links(&self) -> impl Iterator<Item = (LinkEnds, LinkTraffic)> + '_ {
        self.ends.iter().copied().zip(self.links.iter().map(|l| l.traffic))
    }

    /// What a link connects.
    #[must_use]
    pub fn ends(&self, link: usize) -> LinkEnds {
        self.ends[link]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spec(topology: Topology) -> NocSpec {
        let bytes = NonZeroU32::new(16).unwrap();
        NocSpec {
            topology,
            hop_latency_cycles: 3,
            port_latency_cycles: 2,
            link_bytes_per_cycle: bytes,
            port_bytes_per_cycle: bytes,
            header_bytes: 8,
        }
    }

    fn grid(columns: u32, rows: u32) -> (NonZeroU32, NonZeroU32) {
        (NonZeroU32::new(columns).unwrap(), NonZeroU32::new(rows).unwrap())
    }

    fn mesh(columns: u32, rows: u32) -> Topology {
        let (columns, rows) = grid(columns, rows);
        Topology::Mesh { columns, rows }
    }

    fn torus(columns: u32, rows: u32) -> Topology {
        let (columns, rows) = grid(columns, rows);
        Topology::Torus { columns, rows }
    }

    fn crossbar(ports: u32) -> Topology {
        Topology::Crossbar { ports: NonZeroU32::new(ports).unwrap() }
    }

    #[test]
    fn hops_are_the_distance_of_the_topology() {
        let mesh = Noc::new(&spec(mesh(4, 3))).unwrap();
        let torus = Noc::new(&spec(torus(4, 3))).unwrap();
        let crossbar = Noc::new(&spec(crossbar(12))).unwrap();
        for from in 0..12usize {
            for to in 0..12usize {
                let (dx, dy) = ((from % 4).abs_diff(to % 4), (from / 4).abs_diff(to / 4));
                let (a, b) = (NocNode(from as u16), NocNode(to as u16));
                assert_eq!(mesh.hops(a, b) as usize, dx + dy);
                assert_eq!(torus.hops(a, b) as usize, dx.min(4 - dx) + dy.min(3 - dy));
                assert_eq!(crossbar.hops(a, b), u32::from(from != to));
            }
        }
    }

    #[test]
    fn a_route_goes_along_the_row_first() {
        let mut noc = Noc::new(&spec(mesh(4, 3))).unwrap();
        let mut links = Vec::new();
        noc.send(0, NocNode(1), NocNode(11), 16, |u| links.push(u.link));
        let ends: Vec<_> = links.into_iter().map(|l| noc.ends(l)).collect();
        let hop = |a, b| LinkEnds::Hop(NocNode(a), NocNode(b));
        let (inject, eject) = (LinkEnds::Inject(NocNode(1)), LinkEnds::Eject(NocNode(11)));
        assert_eq!(ends, [inject, hop(1, 2), hop(2, 3), hop(3, 7), hop(7, 11), eject]);
    }

    #[test]
    fn the_links_of_a_route_lead_from_its_begin_to_its_end() {
        for (columns, rows) in (1..6).flat_map(|columns| (1..6).map(move |rows| (columns, rows))) {
            for topology in [mesh(columns, rows), torus(columns, rows)] {
                let nodes = (columns * rows) as u16;
                let mut noc = Noc::new(&spec(topology)).unwrap();
                for (from, to) in (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to))) {
                    let mut links = Vec::new();
                    noc.send(0, NocNode(from), NocNode(to), 8, |used| links.push(used.link));
                    let mut at = NocNode(from);
                    assert_eq!(noc.ends(links[0]), LinkEnds::Inject(at));
                    for &link in &links[1..links.len() - 1] {
                        let LinkEnds::Hop(a, b) = noc.ends(link) else { panic!("no hop: {link}") };
                        assert_eq!(a, at, "{topology:?}, {from} to {to}");
                        at = b;
                    }
                    assert_eq!(at, NocNode(to), "{topology:?}, {from} to {to}");
                    assert_eq!(noc.ends(links[links.len() - 1]), LinkEnds::Eject(at));
                    assert_eq!(links.len() as u32 - 2, noc.hops(NocNode(from), NocNode(to)));
                }
            }
        }
        // Two steps lead either way round a ring of four: a tie goes up.
        let mut noc = Noc::new(&spec(torus(4, 1))).unwrap();
        let mut links = Vec::new();
        noc.send(0, NocNode(3), NocNode(1), 8, |used| links.push(used.link));
        assert_eq!(noc.ends(links[1]), LinkEnds::Hop(NocNode(3), NocNode(0)));
    }

    #[test]
    fn an_idle_network_takes_hops_times_latency_plus_the_tail() {
        let mut noc = Noc::new(&spec(mesh(4, 3))).unwrap();
        assert_eq!(noc.send(100, NocNode(0), NocNode(11), 8, |_| ()), 100 + 5 * 3 + 2);
        let mut noc = Noc::new(&spec(mesh(4, 3))).unwrap();
        assert_eq!(noc.send(100, NocNode(0), NocNode(11), 72, |_| ()), 100 + 5 * 3 + 4 + 2);
        let mut noc = Noc::new(&spec(mesh(4, 3))).unwrap();
        assert_eq!(noc.send(100, NocNode(5), NocNode(5), 16, |_| ()), 100 + 2);
        let mut noc = Noc::new(&spec(crossbar(12))).unwrap();
        assert_eq!(noc.send(100, NocNode(0), NocNode(11), 8, |_| ()), 100 + 3 + 2);
    }

    fn two_chiplets(topology: Topology) -> Noc {
        let between = LinkSpec { latency_cycles: 20, bytes_per_cycle: 4, byte_pj: 1.0 };
        Noc::of_chiplets(&spec(topology), &between, 2).unwrap()
    }

    #[test]
    fn a_message_to_another_chiplet_pays_both_networks_and_the_link_between_them() {
        // A 3 x 3 mesh: the middle is node 4, and node 13 on the other chiplet.
        let mut noc = two_chiplets(mesh(3, 3));
        let mut links = Vec::new();
        let arrives = noc.send(100, NocNode(3), NocNode(17), 8, |u| links.push(u.link));
        let ends: Vec<_> = links.into_iter().map(|l| noc.ends(l)).collect();
        let hop = |a, b| LinkEnds::Hop(NocNode(a), NocNode(b));
        let between = LinkEnds::Chiplets(0, 1);
        let (inject, eject) = (LinkEnds::Inject(NocNode(3)), LinkEnds::Eject(NocNode(17)));
        assert_eq!(ends, [inject, hop(3, 4), between, hop(13, 14), hop(14, 17), eject]);
        // Eight bytes over a link of four a cycle: the tail comes a cycle later.
        assert_eq!(arrives, 100 + 3 * 3 + 20 + 1 + 2);
        assert_eq!(noc.hops(NocNode(3), NocNode(17)), 4);
        let traffic = noc.traffic();
        assert_eq!((traffic.link_messages, traffic.link_bytes, traffic.byte_hops), (1, 8, 32));

        let mut noc = two_chiplets(crossbar(4));
        assert_eq!(noc.send(100, NocNode(6), NocNode(1), 4, |_| ()), 100 + 3 + 20 + 3 + 2);
        assert_eq!(noc.hops(NocNode(6), NocNode(1)), 3);
        assert_eq!(noc.send(200, NocNode(6), NocNode(5), 4, |_| ()), 200 + 3 + 2);
        assert_eq!(noc.traffic().link_messages, 1);
    }

    #[test]
    fn messages_wait_for_a_busy_link_between_chiplets() {
        let mut noc = two_chiplets(crossbar(4));
        let first = noc.send(0, NocNode(0), NocNode(4), 64, |_| ());
        let second = noc.send(0, NocNode(1), NocNode(5), 64, |_| ());
        let back = noc.send(0, NocNode(4), NocNode(0), 64, |_| ());
        assert_eq!(second - first, 16);
        assert_eq!(back, first, "each direction has a link of its own");
        assert_eq!(noc.traffic().link_queue_cycles, 16);
    }

    #[test]
    fn every_chiplet_has_the_same_links_and_one_to_each_other() {
        let of = |chiplets| Noc::of_chiplets(&spec(mesh(3, 2)), &LinkSpec::default(), chiplets).unwrap();
        let each = of(1).links().count();
        for chiplets in 1..6usize {
            let noc = of(chiplets as u32);
            assert_eq!(noc.links().count(), chiplets * each + chiplets * (chiplets - 1));
            let ends: std::collections::BTreeSet<_> =
                noc.links().map(|(ends, _)| format!("{ends:?}")).collect();
            assert_eq!(ends.len(), noc.links().count(), "two links have the same ends");
        }
    }

    #[test]
    fn two_messages_over_one_link_share_its_bandwidth() {
        let mut noc = Noc::new(&spec(mesh(3, 1))).unwrap();
        let first = noc.send(0, NocNode(0), NocNode(2), 64, |_| ());
        let second = noc.send(0, NocNode(1), NocNode(2), 64, |_| ());
        assert_eq!(first, 2 * 3 + 3 + 2);
        // The second left later although it started nearer: the link 1-2 was
        // reserved from cycle 3 on, for four cycles.
        assert_eq!(second, 3 + 4 + 3 + 3 + 2);
    }

    #[test]
    fn traffic_counts_bytes_once_and_byte_hops_per_hop() {
        let mut noc = Noc::new(&spec(mesh(3, 1))).unwrap();
        noc.send(0, NocNode(0), NocNode(2), 40, |_| ());
        noc.send(0, NocNode(1), NocNode(1), 8, |_| ());
        noc.delivered(40);
        let t = noc.traffic();
        assert_eq!((t.messages, t.bytes, t.byte_hops, t.flits, t.flit_hops), (2, 48, 80, 4, 6));
        assert_eq!((t.delivered_messages, t.delivered_bytes), (1, 40));
        let hop_bytes: u64 =
            noc.links().filter(|(e, _)| matches!(e, LinkEnds::Hop(..))).map(|(_, t)| t.bytes).sum();
        assert_eq!(hop_bytes, t.byte_hops);
    }

    #[test]
    fn a_network_beyond_the_limit_is_refused() {
        assert!(Noc::new(&spec(mesh(1 << 16, 1 << 16))).is_err());
    }

    proptest! {
        #[test]
        fn messages_of_a_pair_arrive_in_the_order_sent(
            kind in 0..3,
            chiplets in 1u32..4,
            sends in prop::collection::vec((0u64..5, 0u16..12, 0u16..12, 1u32..200), 1..300),
        ) {
            let nodes = 12 / chiplets;
            let topology = [mesh(nodes, 1), torus(nodes, 1), crossbar(nodes)][kind as usize];
            let topology = if chiplets == 1 && kind < 2 { [mesh(4, 3), torus(4, 3)][kind as usize] } else { topology };
            let between = LinkSpec { latency_cycles: 20, bytes_per_cycle: 3, byte_pj: 1.0 };
            let mut noc = Noc::of_chiplets(&spec(topology), &between, chiplets).unwrap();
            let mut last = std::collections::BTreeMap::new();
            let mut now = 0;
            for (wait, from, to, bytes) in sends {
                now += wait;
                let at = noc.send(now, NocNode(from), NocNode(to), bytes, |_| ());
                prop_assert!(at >= now);
                let before = last.insert((from, to), at).unwrap_or(0);
                prop_assert!(at > before, "{from} to {to}: {before} then {at}");
            }
        }
    }
}
