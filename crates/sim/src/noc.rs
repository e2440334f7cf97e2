//! The on-chip network: who reaches whom, how late, and over which links.
//!
//! A message follows one precomputed route and reserves every link on it at
//! the moment it is sent, in the order of sending. That costs one event a
//! message (its arrival), queues where links are contended, and delivers the
//! messages of one (source, destination) pair in the order they were sent:
//! their route is the same and no reservation overtakes an earlier one.
//!
//! Each node has a port into the network and one out of it, links like all
//! others except that crossing them is no hop. Within one node a message
//! crosses the two ports only.

use core::num::NonZeroU32;

use serde::{Deserialize, Serialize};

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
}

#[derive(Clone, Copy, Debug, Default)]
struct Link {
    free_at: Cycle,
    traffic: LinkTraffic,
}

/// The network.
#[derive(Clone, Debug)]
pub struct Noc {
    spec: NocSpec,
    nodes: usize,
    /// Ports in, ports out, then the links between nodes.
    links: Vec<Link>,
    ends: Vec<LinkEnds>,
    /// The links of every route, without the ports.
    route_links: Vec<u16>,
    /// Where the route from `a` to `b` starts in `route_links`: entry `a * nodes + b`.
    route_starts: Vec<u32>,
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
    /// Builds the network and its routes.
    ///
    /// # Errors
    /// If the network has more nodes than [`NocSpec::NODES_MAX`].
    pub fn new(spec: &NocSpec) -> Result<Noc, String> {
        let nodes = spec.topology.nodes();
        if nodes > NocSpec::NODES_MAX {
            let most = NocSpec::NODES_MAX;
            return Err(format!("the network has {nodes} nodes, but at most {most} are supported"));
        }
        let nodes = nodes as usize;
        let mut noc = Noc {
            spec: *spec,
            nodes,
            links: Vec::new(),
            ends: Vec::new(),
            route_links: Vec::new(),
            route_starts: vec![0],
            traffic: NocTraffic::default(),
        };
        let node = |i: usize| NocNode(i as u16);
        noc.ends.extend((0..nodes).map(|i| LinkEnds::Inject(node(i))));
        noc.ends.extend((0..nodes).map(|i| LinkEnds::Eject(node(i))));
        // The link from a node in direction d, numbered as it is first used.
        let mut numbers = vec![[u16::MAX; 4]; nodes];
        for from in 0..nodes {
            for to in 0..nodes {
                let mut at = from;
                while let Some((next, direction)) = next_hop(spec.topology, at, to) {
                    let number = &mut numbers[at][direction];
                    if *number == u16::MAX {
                        *number = noc.ends.len() as u16;
                        noc.ends.push(LinkEnds::Hop(node(at), node(next)));
                    }
                    noc.route_links.push(*number);
                    at = next;
                }
                noc.route_starts.push(noc.route_links.len() as u32);
            }
        }
        noc.links = vec![Link::default(); noc.ends.len()];
        Ok(noc)
    }

    /// How many nodes it connects.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// How many hops lie between two nodes. A crossbar counts one.
    #[inline]
    #[must_use]
    pub fn hops(&self, from: NocNode, to: NocNode) -> u32 {
        if matches!(self.spec.topology, Topology::Crossbar { .. }) {
            return u32::from(from != to);
        }
        let route = usize::from(from.0) * self.nodes + usize::from(to.0);
        self.route_starts[route + 1] - self.route_starts[route]
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
        mut watch: impl FnMut(LinkUse),
    ) -> Cycle {
        let (source, target) = (usize::from(from.0), usize::from(to.0));
        let flits = u64::from(bytes.div_ceil(self.spec.link_bytes_per_cycle.get()).max(1));
        let port_cycles = u64::from(bytes.div_ceil(self.spec.port_bytes_per_cycle.get()).max(1));
        let hops = u64::from(self.hops(from, to));
        self.traffic.messages += 1;
        self.traffic.bytes += u64::from(bytes);
        self.traffic.byte_hops += u64::from(bytes) * hops;
        self.traffic.flits += flits;
        self.traffic.flit_hops += flits * hops;
        let hop_latency = u64::from(self.spec.hop_latency_cycles);
        let mut queued = 0;
        let mut cross = |links: &mut [Link], link: usize, head: Cycle, cycles: u64| {
            let l = &mut links[link];
            let start = head.max(l.free_at);
            queued += start - head;
            l.free_at = start + cycles;
            l.traffic.bytes += u64::from(bytes);
            l.traffic.busy_cycles += cycles;
            watch(LinkUse { link, from: start, until: start + cycles });
            start
        };
        let mut head = cross(&mut self.links, source, now, port_cycles);
        if matches!(self.spec.topology, Topology::Crossbar { .. }) {
            head += hops * hop_latency;
        } else {
            let route = source * self.nodes + target;
            let (first, end) = (self.route_starts[route], self.route_starts[route + 1]);
            for &link in &self.route_links[first as usize..end as usize] {
                head = cross(&mut self.links, usize::from(link), head, flits) + hop_latency;
            }
        }
        head = cross(&mut self.links, self.nodes + target, head, port_cycles);
        self.traffic.queue_cycles += queued;
        let tail = if hops > 0 { flits.max(port_cycles) } else { port_cycles } - 1;
        head + tail + u64::from(self.spec.port_latency_cycles)
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

/// The next node on the way and the direction taken: 0 and 1 along the row,
/// 2 and 3 along the column. `None` at the destination and in a crossbar,
/// which has no links but its ports.
fn next_hop(topology: Topology, at: usize, to: usize) -> Option<(usize, usize)> {
    let (columns, rows, wraps) = match topology {
        Topology::Crossbar { .. } => return None,
        Topology::Mesh { columns, rows } => (columns, rows, false),
        Topology::Torus { columns, rows } => (columns, rows, true),
    };
    let (columns, rows) = (columns.get() as usize, rows.get() as usize);
    let (x, y) = (at % columns, at / columns);
    let (to_x, to_y) = (to % columns, to / columns);
    if let Some((x, up)) = step_along(x, to_x, columns, wraps) {
        return Some((y * columns + x, usize::from(up)));
    }
    step_along(y, to_y, rows, wraps).map(|(y, up)| (y * columns + x, 2 + usize::from(up)))
}

/// One step along a row or column of `length`: the new position, and whether
/// the step goes up. A tie between the two ways round a ring goes up.
fn step_along(at: usize, to: usize, length: usize, wraps: bool) -> Option<(usize, bool)> {
    if at == to {
        return None;
    }
    let upward = (to + length - at) % length;
    let up = if wraps { upward <= length - upward } else { to > at };
    Some((if up { (at + 1) % length } else { (at + length - 1) % length }, up))
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
            sends in prop::collection::vec((0u64..5, 0u16..12, 0u16..12, 1u32..200), 1..300),
        ) {
            let topology = [mesh(4, 3), torus(4, 3), crossbar(12)][kind as usize];
            let mut noc = Noc::new(&spec(topology)).unwrap();
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
