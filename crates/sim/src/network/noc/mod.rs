//! The on-chip network: its nodes, its links, and the latency of messages.
//!
//! Each pair of nodes has one route. When a message is sent, it reserves every link of its route at
//! once. A message therefore costs one event, its arrival, and still waits in queues at busy links.
//! Messages from one node to another arrive in the order of sending: they share a route, and no
//! reservation overtakes an earlier one.
//!
//! Each node has a port into the network and a port out of it. A port is reserved like a link, but
//! crossing it does not count as a hop. A message within one node crosses only the two ports.
//!
//! Each chiplet has its own network. Two links, one in each direction, connect any two chiplets.
//! These links begin and end at the middle node of a grid, or beside the ports of a crossbar. A
//! message to another chiplet crosses the network of its own chiplet, the link (which counts as one
//! hop), and the network of the other chiplet.

mod routes;
#[cfg(test)]
mod tests;
mod traffic;

pub use routes::{LinkEnds, NocNode, Topology};
pub use traffic::{LinkTraffic, LinkUse, NocTraffic};

use core::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::config::number;
use crate::queue::Cycle;
use routes::Routes;
use traffic::{Link, MessagePath};

/// Settings of the on-chip network of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NocSpec {
    /// The shape of the network: mesh, torus or crossbar.
    pub topology: Topology,
    /// Cycles of one hop: through a router and along a link.
    pub hop_latency_cycles: u32,
    /// Cycles through the two ports of a message: from its controller to a router, and from a
    /// router to a controller.
    pub port_latency_cycles: u32,
    /// The number of bytes that a link carries in one cycle in one direction. This is also the size
    /// of a flit.
    pub link_bytes_per_cycle: NonZeroU32,
    /// The number of bytes that a node's port carries in one cycle in one direction.
    pub port_bytes_per_cycle: NonZeroU32,
    /// The number of bytes of every message in addition to its payload: address, kind, mask.
    #[serde(default = "header_bytes")]
    pub header_bytes: u32,
    /// The nodes of a mesh or torus to which banks are attached. On a crossbar it has no effect.
    #[serde(default, skip_serializing_if = "BankNodes::is_area")]
    pub bank_nodes: BankNodes,
}

/// The nodes of a mesh or torus to which banks are attached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BankNodes {
    /// Nodes that are spread evenly over the area of the grid.
    #[default]
    Area,
    /// Nodes that are spread evenly along the edge of the grid: its first and last rows and columns.
    Edge,
}

impl BankNodes {
    fn is_area(&self) -> bool {
        *self == BankNodes::Area
    }
}

/// The default header size: a 40-bit line number, a kind, a sender and a short mask.
fn header_bytes() -> u32 {
    8
}

impl NocSpec {
    /// The largest number of nodes that the networks of a machine may have.
    pub const NODES_MAX: u64 = 16_384;
}

/// Settings of the links between chiplets. Any two chiplets have one link in each direction. The
/// defaults are those of an MCM-GPU (Arunkumar et al., ISCA 2017) at 1 GHz: 32 cycles, 768 GB/s,
/// 0.54 pJ a bit.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct LinkSpec {
    /// Cycles from the network of one chiplet to the network of the other.
    #[serde(deserialize_with = "number::whole_u32")]
    pub latency_cycles: u32,
    /// The number of bytes that a link carries in one cycle in one direction.
    #[serde(deserialize_with = "number::positive_u32")]
    pub bytes_per_cycle: u32,
    /// The energy of one byte on a link.
    pub byte_pj: f64,
}

impl Default for LinkSpec {
    fn default() -> Self {
        LinkSpec { latency_cycles: 32, bytes_per_cycle: 768, byte_pj: 4.32 }
    }
}

/// The networks of all chiplets and the links between chiplets.
#[derive(Clone, Debug)]
pub struct Noc {
    spec: NocSpec,
    between: LinkSpec,
    chiplets: usize,
    routes: Routes,
    /// The number of links and ports within each chiplet.
    links_each: usize,
    /// All links. The links of each chiplet come first: its ports into the network, its ports out
    /// of the network, and the links between its nodes. The links between chiplets come last.
    links: Vec<Link>,
    ends: Vec<LinkEnds>,
    traffic: NocTraffic,
}

impl Noc {
    /// Builds the network of a machine with one chiplet.
    ///
    /// # Errors
    /// If the network has more nodes than [`NocSpec::NODES_MAX`].
    pub fn new(spec: &NocSpec) -> Result<Noc, String> {
        Noc::of_chiplets(spec, &LinkSpec::default(), 1)
    }

    /// Builds the networks of several chiplets and the links between them.
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
        let (routes, hops) = Routes::new(spec.topology, 2 * nodes);
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

    /// The number of nodes of all chiplets together.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.routes.nodes * self.chiplets
    }

    /// The chiplet to which a node belongs, and the number of the node within that chiplet.
    #[inline]
    fn within(&self, node: NocNode) -> (usize, usize) {
        let node = usize::from(node.0);
        if self.chiplets == 1 { (0, node) } else { (node / self.routes.nodes, node % self.routes.nodes) }
    }

    /// The number of hops between two nodes. The way through a crossbar counts as one hop, and so
    /// does a link between chiplets.
    #[inline]
    #[must_use]
    pub fn hops(&self, from: NocNode, to: NocNode) -> u32 {
        let ((here, from), (there, to)) = (self.within(from), self.within(to));
        if here == there {
            return self.routes.hops(from, to);
        }
        self.routes.hops(from, self.routes.gateway) + 1 + self.routes.hops(self.routes.gateway, to)
    }

    /// Sends a message and returns its cycle of arrival. `watch` is called for every link and port
    /// that the message crosses.
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
        let hop_latency = u64::from(self.spec.hop_latency_cycles);
        // The number of cycles for which a message occupies the last of the first `hops` links of
        // its route.
        let tail = |hops| if hops == 0 || !routes.has_links() { 0 } else { flits };
        let (first, last) = (here * self.links_each, there * self.links_each);
        let mut path =
            MessagePath { links: &mut self.links, bytes: u64::from(bytes), head: now, queued: 0, watch };
        path.cross(first + source, port_cycles);
        let (hops, behind) = if here == there {
            let hops = routes.walk((source, target), |link| path.hop(first, link, flits, hop_latency));
            (hops, None)
        } else {
            // The outgoing links of a chiplet are adjacent.
            let nth = there - usize::from(there > here);
            let link = self.links_each * self.chiplets + here * (self.chiplets - 1) + nth;
            let cycles = u64::from(bytes.div_ceil(self.between.bytes_per_cycle.max(1)).max(1));
            let latency = u64::from(self.between.latency_cycles);
            let before =
                routes.walk((source, routes.gateway), |link| path.hop(first, link, flits, hop_latency));
            let (left, queued) = (path.head + tail(before), path.queued);
            path.cross(link, cycles);
            self.traffic.link_messages += 1;
            self.traffic.link_bytes += u64::from(bytes);
            self.traffic.link_queue_cycles += path.queued - queued;
            let crossed = path.head + cycles;
            path.head += latency;
            let after =
                routes.walk((routes.gateway, target), |link| path.hop(last, link, flits, hop_latency));
            // The last byte of the message follows the slowest part of the route. If the message
            // waits before a later part of the route, this wait hides the delay of an earlier part.
            let behind = left.max(crossed) + latency + after * hop_latency;
            (before + 1 + after, Some(behind.max(path.head + tail(after))))
        };
        path.cross(last + nodes + target, port_cycles);
        let (head, queued) = (path.head, path.queued);
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

    /// Counts a message of `bytes` bytes as delivered.
    #[inline]
    pub fn delivered(&mut self, bytes: u32) {
        self.traffic.delivered_messages += 1;
        self.traffic.delivered_bytes += u64::from(bytes);
    }

    /// The traffic of the network since the beginning of the run.
    #[must_use]
    pub fn traffic(&self) -> NocTraffic {
        self.traffic
    }

    /// Every link and port, with its two ends and its traffic. The ports and links of each chiplet
    /// come first, and the links between chiplets last.
    pub fn links(&self) -> impl Iterator<Item = (LinkEnds, LinkTraffic)> + '_ {
        self.ends.iter().copied().zip(self.links.iter().map(|l| l.traffic))
    }

    /// The two ends of a link.
    #[must_use]
    pub fn ends(&self, link: usize) -> LinkEnds {
        self.ends[link]
    }
}
