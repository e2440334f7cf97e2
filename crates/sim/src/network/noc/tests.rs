//! Tests of the routes of messages and of contention for links.

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
        bank_nodes: BankNodes::Area,
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
fn the_links_of_a_route_connect_its_source_to_its_destination() {
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
    // On a ring of four nodes, two steps in either direction lead to the opposite node. The route
    // goes up.
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
    // In a 3 x 3 mesh, the middle node is node 4. On the second chiplet it is node 13.
    let mut noc = two_chiplets(mesh(3, 3));
    let mut links = Vec::new();
    let arrives = noc.send(100, NocNode(3), NocNode(17), 8, |u| links.push(u.link));
    let ends: Vec<_> = links.into_iter().map(|l| noc.ends(l)).collect();
    let hop = |a, b| LinkEnds::Hop(NocNode(a), NocNode(b));
    let between = LinkEnds::Chiplets(0, 1);
    let (inject, eject) = (LinkEnds::Inject(NocNode(3)), LinkEnds::Eject(NocNode(17)));
    assert_eq!(ends, [inject, hop(3, 4), between, hop(13, 14), hop(14, 17), eject]);
    // The link carries four bytes in one cycle, so the last of eight bytes arrives one cycle later
    // than the first.
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
fn a_wait_for_a_port_does_not_count_as_a_wait_for_the_link_after_it() {
    let mut noc = two_chiplets(crossbar(4));
    noc.send(0, NocNode(0), NocNode(4), 64, |_| ());
    noc.send(0, NocNode(0), NocNode(5), 64, |_| ());
    // The link is busy for sixteen cycles. During four of them, the message waits for its port.
    assert_eq!(noc.traffic().link_queue_cycles, 12);
    assert_eq!(noc.traffic().queue_cycles, 16);
}

#[test]
fn a_wide_link_does_not_hide_the_tail_of_an_earlier_narrow_one() {
    let ports = NonZeroU32::new(64).unwrap();
    let between = LinkSpec { latency_cycles: 20, bytes_per_cycle: 64, byte_pj: 1.0 };
    let spec = NocSpec { port_bytes_per_cycle: ports, ..spec(mesh(3, 3)) };
    let mut noc = Noc::of_chiplets(&spec, &between, 2).unwrap();
    // The message goes from a neighbour of the middle of one chiplet to the middle of the other.
    // The mesh link takes four cycles, every other link one cycle.
    assert_eq!(noc.send(100, NocNode(3), NocNode(13), 64, |_| ()), 100 + 3 + 4 + 20 - 1 + 2);
}

#[test]
fn each_pair_of_chiplets_has_its_own_links() {
    let mut noc = Noc::of_chiplets(&spec(crossbar(2)), &LinkSpec::default(), 4).unwrap();
    let pairs = (0..4).flat_map(|from| (0..4).map(move |to| (from, to)));
    for (from, to) in pairs.filter(|(from, to)| from != to) {
        let mut links = Vec::new();
        noc.send(0, NocNode(2 * from), NocNode(2 * to), 8, |used| links.push(used.link));
        assert_eq!(noc.ends(links[1]), LinkEnds::Chiplets(from, to));
    }
}

#[test]
fn every_chiplet_has_the_same_links_and_one_to_each_other() {
    let of = |chiplets| Noc::of_chiplets(&spec(mesh(3, 2)), &LinkSpec::default(), chiplets).unwrap();
    let each = of(1).links().count();
    for chiplets in 1..6usize {
        let noc = of(chiplets as u32);
        assert_eq!(noc.links().count(), chiplets * each + chiplets * (chiplets - 1));
        let ends: std::collections::BTreeSet<_> = noc.links().map(|(ends, _)| format!("{ends:?}")).collect();
        assert_eq!(ends.len(), noc.links().count(), "two links have the same ends");
    }
}

#[test]
fn two_messages_over_one_link_share_its_bandwidth() {
    let mut noc = Noc::new(&spec(mesh(3, 1))).unwrap();
    let first = noc.send(0, NocNode(0), NocNode(2), 64, |_| ());
    let second = noc.send(0, NocNode(1), NocNode(2), 64, |_| ());
    assert_eq!(first, 2 * 3 + 3 + 2);
    // The second message has the shorter route but arrives later, because link 1-2 is reserved for
    // four cycles from cycle 3 on.
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
