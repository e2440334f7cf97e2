//! Tests of machines with several chiplets: page placement, link traffic, and memory traffic.

use kernel::prelude::*;
use sim::config::{PagePlacement, System};
use sim::noc::{LinkEnds, Topology};
use sim::{Outcome, RunOptions};

use crate::common::system;

const POLICIES: [PagePlacement; 3] =
    [PagePlacement::Interleaved, PagePlacement::Hash, PagePlacement::FirstTouch];
/// The number of words in a page.
const PAGE: u64 = 1024;
/// The number of pages of an array. Each compute unit gets two work-groups, all resident at once,
/// so every kernel runs the same work-groups on the same compute unit.
const PAGES: u64 = 16;

/// The machine `hrf-8cu` with this many chiplets, and an L2 of 256 KiB in all.
fn machine(chiplets: u32, placement: PagePlacement) -> System {
    let mut system = system("hrf-8cu");
    system.chiplets = chiplets;
    system.l2.bytes = 256 << 10;
    system.pages.placement = placement;
    assert_eq!(system.problems(), []);
    system
}

/// A program that repeats `c[i] = a[i] + b[i]`, with one page of each array for each work-group. If
/// `host_stores`, the host stores to each page first.
fn stream(pages: u64, rounds: u32, host_stores: bool) -> Program {
    Program::new("stream", move |host| async move {
        let len = pages * PAGE;
        let (a, b, c) = (host.alloc("a", len), host.alloc("b", len), host.alloc("c", len));
        host.write(a, &(0..len as u32).collect::<Vec<_>>()).await;
        host.write(b, &vec![7u32; len as usize]).await;
        for page in (0..pages).filter(|_| host_stores) {
            host.store(a, page * PAGE, (page * PAGE) as u32).await;
            host.store(b, page * PAGE, 7).await;
            host.store(c, page * PAGE, 0).await;
        }
        for _ in 0..rounds {
            let kernel = Kernel::new("add", move |w: Wave| async move {
                let first = w.first_item();
                let (x, y) = (w.load(a, Unit(first)), w.load(b, Unit(first)));
                let sum = x.await + y.await;
                w.store(c, Unit(first), sum).await;
            })
            .uses([a.read(), b.read(), c.write()]);
            host.launch(kernel, Grid::new(pages as u32, 16)).await;
        }
        Answer::new().with_array("c", &host, c).await
    })
}

fn run(system: &System, program: Program) -> Outcome {
    crate::common::run(system, program, &RunOptions::default()).unwrap()
}

fn streamed(system: &System, host_stores: bool) -> Outcome {
    let outcome = run(system, stream(PAGES, 3, host_stores));
    let expected: Vec<u32> = (0..(PAGES * PAGE) as u32).map(|i| i + 7).collect();
    outcome.answer.expect("c", &expected).unwrap();
    outcome
}

#[test]
fn chiplets_with_equal_l2_keep_the_memory_reads_of_a_stream() {
    for placement in POLICIES {
        let one = streamed(&machine(1, placement), false).counters["dram_reads"];
        // Each line of the two source arrays is read from memory once. In the second and third
        // round it is a hit.
        assert_eq!(one, 2 * PAGES * PAGE * 4 / 64);
        for chiplets in [2, 4, 8] {
            let reads = streamed(&machine(chiplets, placement), false).counters["dram_reads"];
            let most = one + one / 20;
            assert!((one..=most).contains(&reads), "{chiplets} chiplets, {placement:?}: {reads}, {one}");
        }
    }
}

#[test]
fn on_one_chiplet_every_policy_gives_the_same_run_without_links() {
    let outcomes = POLICIES.map(|placement| streamed(&machine(1, placement), false));
    for outcome in &outcomes {
        assert_eq!(outcome.counters, outcomes[0].counters);
        assert_eq!(outcome.energy.links, None);
        assert_eq!((outcome.counters["link_messages"], outcome.counters["link_bytes"]), (0, 0));
        assert!(!outcome.links.iter().any(|(ends, _)| matches!(ends, LinkEnds::Chiplets(..))));
    }
}

#[test]
fn byte_hops_and_link_bytes_rise_with_the_number_of_chiplets() {
    for placement in [PagePlacement::Interleaved, PagePlacement::Hash] {
        let mut before = (0, 0);
        for chiplets in [1, 2, 4, 8] {
            let counters = streamed(&machine(chiplets, placement), false).counters;
            let now = (counters["noc_byte_hops"], counters["link_bytes"]);
            assert!(now.0 > before.0, "{chiplets} chiplets, {placement:?}: {now:?}, {before:?}");
            assert!(
                chiplets == 1 || now.1 > before.1,
                "{chiplets} chiplets, {placement:?}: {now:?}, {before:?}"
            );
            before = now;
        }
    }
}

#[test]
fn first_touch_places_the_pages_of_a_compute_unit_on_its_chiplet() {
    for chiplets in [2, 4, 8] {
        let bytes = |placement, host_stores| streamed(&machine(chiplets, placement), host_stores).counters["link_bytes"];
        let (local, interleaved) =
            (bytes(PagePlacement::FirstTouch, false), bytes(PagePlacement::Interleaved, false));
        assert!(local * 10 < interleaved, "{chiplets} chiplets: {local} and {interleaved}");
        // The host's stores are the first touch of each page, and place it as with interleaved
        // pages.
        let hosted = bytes(PagePlacement::FirstTouch, true);
        let both = bytes(PagePlacement::Interleaved, true);
        assert!(hosted.abs_diff(both) * 10 < both, "{chiplets} chiplets: {hosted} and {both}");
    }
}

#[test]
fn first_touch_is_deterministic() {
    let once = || streamed(&machine(4, PagePlacement::FirstTouch), false);
    let (first, second) = (once(), once());
    assert_eq!((first.cycles, &first.counters), (second.cycles, &second.counters));
}

#[test]
fn links_cost_time_bandwidth_and_energy() {
    let with = |change: &dyn Fn(&mut System)| {
        let mut system = machine(4, PagePlacement::Interleaved);
        change(&mut system);
        streamed(&system, false)
    };
    let near = with(&|system| system.links.latency_cycles = 0);
    let far = with(&|system| system.links.latency_cycles = 400);
    assert!(far.cycles > near.cycles + 400, "{} and {}", far.cycles, near.cycles);
    let narrow = with(&|system| system.links.bytes_per_cycle = 1);
    assert!(narrow.counters["link_queue_cycles"] > 100 * near.counters["link_queue_cycles"].max(1));
    let dear = with(&|system| system.links.byte_pj = 10.0);
    assert_eq!(dear.energy.links, Some(dear.counters["link_bytes"] as f64 * 10.0));
    let parts: f64 =
        dear.energy.entries().iter().filter(|(part, _)| *part != "total").map(|(_, pj)| pj).sum();
    assert!((parts - dear.energy.total).abs() < 1e-6 * parts);
    let by_links: u64 = dear
        .links
        .iter()
        .filter(|(ends, _)| matches!(ends, LinkEnds::Chiplets(..)))
        .map(|(_, t)| t.bytes)
        .sum();
    assert_eq!(by_links, dear.counters["link_bytes"]);
}

#[test]
fn an_impossible_number_of_chiplets_is_reported_by_its_key() {
    let keys = |change: &dyn Fn(&mut System)| -> Vec<(String, String)> {
        let mut system = system("hrf-8cu");
        change(&mut system);
        let found = system.problems();
        found.into_iter().map(|found| (found.key(), found.message)).collect()
    };
    let of = |key: &str, message: &str| vec![(key.to_owned(), message.to_owned())];
    assert_eq!(
        keys(&|s| s.pages.bytes = 100),
        of("pages.bytes", "100 bytes, expected a multiple of the line size, 64 bytes")
    );
    assert_eq!(
        keys(&|s| s.links.byte_pj = -1.0),
        of("links.byte_pj", "-1 pJ, expected a finite number, zero or above")
    );
    assert_eq!(
        keys(&|s| (s.chiplets, s.dram.channels) = (4, 6.try_into().unwrap())),
        of("dram.channels", "6 channels, expected a multiple or a divisor of the number of chiplets, 4")
    );
    assert_eq!(keys(&|s| (s.chiplets, s.dram.channels) = (8, 4.try_into().unwrap())), []);
    let many = keys(&|s| {
        (s.chiplets, s.cu.count, s.l2.banks, s.dram.channels) = (64, 64, 64, 64.try_into().unwrap());
        s.noc.topology = Topology::Crossbar { ports: 300.try_into().unwrap() };
    });
    let message = "64 chiplets with networks of 300 nodes have 19200 nodes, expected at most 16384";
    assert_eq!(many, of("chiplets", message));
}
