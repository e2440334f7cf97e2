//! Tests of operations on memory from controllers that do not stand beside memory. The operations
//! cross the chip and cost messages, bytes, time and energy, on every topology and every machine.

use core::num::NonZeroU32;
use std::collections::BTreeMap;

use kernel::prelude::*;
use proto::parts::Host;
use proto::{Agent, Info, Kind, Levels, NodeId, Per, PlanKey, Protocol, Settings, protocol_nodes};
use sim::attribution::Cause;
use sim::config::System;
use sim::error::{Cause as StuckBy, RunError};
use sim::noc::{LinkEnds, Topology};
use sim::{DropMessage, Outcome, RunOptions};

use crate::common::{histogram, histogram_values, system, vec_add, vec_add_answer};
use crate::toys;

/// A protocol in which every access, from compute units and from the host, goes to
/// memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Uncached;

protocol_nodes! { Uncached: Port(Host), Host(Host) }

impl Protocol for Uncached {
    type Node = Node;
    type Msg = Msg;
    type Params = ();
    const INFO: Info =
        Info { name: "uncached", summary: "every access in memory", claims: &[], ..toys::INFO };
    const KINDS: &'static [Kind] =
        &[Kind::port("Port", "l1", Per::Cu), Kind::port("Host", "host", Per::Host)];

    fn params(_: &Levels, _: &Settings) -> Result<(), String> {
        Ok(())
    }
    fn node(id: NodeId, _: &Levels, (): &()) -> Node {
        if id.kind == 0 { Node::Port(Host) } else { Node::Host(Host) }
    }
    fn entry((): &(), agent: Agent, _: PlanKey) -> NodeId {
        agent.enters(0, 1)
    }
    toys::no_tables! {}
}

/// A protocol in which every access goes to memory from one controller in the middle of the chip.
mod hub {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub(crate) struct Hub;

    protocol_nodes! { Hub: Port(Host), Host(Host) }

    impl Protocol for Hub {
        type Node = Node;
        type Msg = Msg;
        type Params = ();
        const INFO: Info = Info { name: "hub", ..Uncached::INFO };
        const KINDS: &'static [Kind] =
            &[Kind::port("Port", "hub", Per::Machine), Kind::port("Host", "host", Per::Host)];

        fn params(_: &Levels, _: &Settings) -> Result<(), String> {
            Ok(())
        }
        fn node(id: NodeId, _: &Levels, (): &()) -> Node {
            if id.kind == 0 { Node::Port(Host) } else { Node::Host(Host) }
        }
        fn entry((): &(), agent: Agent, _: PlanKey) -> NodeId {
            let kind = u8::from(matches!(agent, Agent::Host(_)));
            NodeId { kind, index: 0 }
        }
        toys::no_tables! {}
    }
}

fn on<P: Protocol>(system: &System, program: Program) -> Outcome {
    sim::run::<P, ()>(system, program, &RunOptions::default(), &mut ()).unwrap()
}

/// Every machine of this repository, with its own network and with every other network topology.
fn machines() -> Vec<System> {
    let n = |count: u32| NonZeroU32::new(count).unwrap();
    let mut all = Vec::new();
    for name in ["hlrc-8cu", "hlrc-128cu", "hrf-8cu", "stc-8cu", "titan-v"] {
        let own = system(name);
        let ports = own.cu.count + own.l2.banks;
        let others = [
            Topology::Mesh { columns: n(4), rows: n(ports.div_ceil(4)) },
            Topology::Torus { columns: n(5), rows: n(ports.div_ceil(5)) },
            Topology::Crossbar { ports: n(ports) },
        ];
        for topology in [own.noc.topology].into_iter().chain(others) {
            let mut machine = own.clone();
            // The tests count the bytes of whole lines.
            machine.l1.sector_bytes = None;
            machine.noc.topology = topology;
            all.push(machine);
        }
    }
    all
}

#[test]
fn each_operation_and_each_answer_is_a_message_with_the_right_bytes() {
    for system in machines() {
        let what = format!("{} on {:?}", system.name, system.noc.topology);
        let outcome = on::<Uncached>(&system, vec_add(1000));
        outcome.answer.expect("c", &vec_add_answer(1000)).unwrap();
        let count = |name: &str| outcome.counters[name];
        let operations = count("memory_ops");
        assert!(operations > 0 && count("noc_messages") == 2 * operations, "{what}");
        // The expected bytes: memory and the network both move the lines that are read and the
        // bytes that are written, and each message has a header.
        let headers = 2 * operations * u64::from(system.noc.header_bytes);
        assert_eq!(count("noc_bytes_sent"), headers + count("dram_bytes"), "{what}");
        assert_eq!(count("noc_bytes_received"), count("noc_bytes_sent"), "{what}");
        assert!(outcome.energy.noc > 0.0, "{what}");
        let ports = outcome.links.iter().map(|(_, traffic)| traffic.bytes).sum::<u64>();
        assert_eq!(
            ports - count("noc_byte_hops") * u64::from(has_links(&system)),
            2 * count("noc_bytes_sent")
        );
        let outcome = on::<Uncached>(&system, histogram(500));
        let mut bins = vec![0u32; 256];
        histogram_values(500).iter().for_each(|&v| bins[v as usize] += 1);
        outcome.answer.expect("bins", &bins).unwrap();
        assert_eq!(outcome.counters["noc_messages"], 2 * outcome.counters["memory_ops"], "{what}");
    }
}

fn has_links(system: &System) -> bool {
    !matches!(system.noc.topology, Topology::Crossbar { .. })
}

#[test]
fn a_controller_in_the_middle_of_the_chip_uses_the_network_too() {
    for system in machines() {
        let outcome = on::<hub::Hub>(&system, vec_add(500));
        outcome.answer.expect("c", &vec_add_answer(500)).unwrap();
        let count = |name: &str| outcome.counters[name];
        let what = format!("{} on {:?}", system.name, system.noc.topology);
        assert!(count("memory_ops") > 0 && count("noc_messages") == 2 * count("memory_ops"), "{what}");
        let headers = 2 * count("memory_ops") * u64::from(system.noc.header_bytes);
        assert_eq!(count("noc_bytes_sent"), headers + count("dram_bytes"), "{what}");
        assert!(outcome.energy.noc > 0.0, "{what}");
    }
}

/// A program that adds one to a word, `times` times.
pub fn updates(times: u64) -> Program {
    Program::new("updates", move |host| async move {
        let data = host.alloc::<u32>("data", 1);
        let kernel = Kernel::new("add", move |w: Wave| async move {
            for _ in 0..times {
                w.fetch_add(data, 0u64, 1, relaxed(Level::Device)).await;
            }
        });
        host.launch(kernel, Grid::new(1, 1)).await;
        Answer::new().with_array("data", &host, data).await
    })
}

#[test]
fn an_update_carries_one_word_each_way_and_memory_reads_and_writes() {
    for system in machines() {
        let counters = |times: u64| on::<Uncached>(&system, updates(times)).counters;
        let (one, four) = (counters(1), counters(4));
        let three = |name: &str| four[name] - one[name];
        let what = format!("{} on {:?}", system.name, system.noc.topology);
        assert_eq!(three("memory_ops"), 3, "{what}");
        assert_eq!(three("noc_bytes_sent"), 3 * (2 * u64::from(system.noc.header_bytes) + 4 + 4), "{what}");
        assert_eq!(three("dram_bytes"), 3 * (u64::from(system.l1.line_bytes) + 4), "{what}");
    }
}

#[test]
fn a_changed_byte_in_memory_is_progress() {
    // The stores alternate between two values, so the operations repeat, and only the changed bytes
    // in memory are progress.
    let program = Program::new("by-turns", |host| async move {
        let data = host.alloc::<u32>("data", 1);
        let kernel = Kernel::new("store", move |w: Wave| async move {
            for turn in 0..401u32 {
                w.store(data, 0u64, turn % 2 + 1).await;
            }
        });
        host.launch(kernel, Grid::new(1, 1)).await;
        Answer::new().with_array("data", &host, data).await
    });
    let options = RunOptions { patience_cycles: 1, ..RunOptions::default() };
    let run = sim::run::<Uncached, ()>(&system("hlrc-8cu"), program, &options, &mut ());
    run.expect("the run makes progress").answer.expect("data", &[1u32]).unwrap();
}

/// A program that loads a word of each of `lines` lines, one after the other.
fn chain(lines: u64, words_of_line: u64) -> Program {
    Program::new("chain", move |host| async move {
        let data = host.alloc::<u32>("data", lines * words_of_line);
        let kernel = Kernel::new("load", move |w: Wave| async move {
            for line in 0..lines {
                w.load(data, line * words_of_line).await;
            }
        });
        host.launch(kernel, Grid::new(1, 1)).await;
        Answer::new()
    })
}

/// The node of component `index` of `count` components on a grid. Components are at the centres of
/// equal cells. The cells are as near to squares as the count allows; with equally good cells, there
/// are more columns.
fn node_on_grid(columns: u64, rows: u64, index: u64, count: u64) -> u64 {
    let elongation = |across: u64| {
        let (width, height) = (columns as f64 / across as f64, rows as f64 * across as f64 / count as f64);
        (width / height).max(height / width)
    };
    let shapes = (1..=columns).rev().filter(|across| count.is_multiple_of(*across) && count / across <= rows);
    match shapes.min_by(|a, b| elongation(*a).total_cmp(&elongation(*b))) {
        None => index * columns * rows / count,
        Some(across) => {
            let row = (2 * (index / across) + 1) * rows / (2 * (count / across));
            row * columns + (2 * (index % across) + 1) * columns / (2 * across)
        }
    }
}

/// The nodes of the first compute unit and of the memory of a bank's lines. On a crossbar, compute
/// units have the first ports and banks the ports after them.
fn nodes_of(system: &System, bank: u64) -> (u64, u64) {
    let (cus, banks) = (u64::from(system.cu.count), u64::from(system.l2.banks));
    match system.noc.topology {
        Topology::Crossbar { .. } => (0, cus + bank % (system.noc.topology.nodes() - cus)),
        Topology::Mesh { columns, rows } | Topology::Torus { columns, rows } => {
            let of = |index, count| node_on_grid(columns.get().into(), rows.get().into(), index, count);
            (of(0, cus), of(bank, banks))
        }
    }
}

/// The sum of the hops from the first compute unit to the memory of each bank.
fn hops_to_memory(system: &System) -> u64 {
    let hops = |bank: u64| {
        let (from, to) = nodes_of(system, bank);
        match system.noc.topology {
            Topology::Crossbar { .. } => 1,
            Topology::Mesh { columns, .. } => {
                let columns = u64::from(columns.get());
                (from % columns).abs_diff(to % columns) + (from / columns).abs_diff(to / columns)
            }
            Topology::Torus { columns, rows } => {
                let (columns, rows) = (u64::from(columns.get()), u64::from(rows.get()));
                let x = (from % columns).abs_diff(to % columns);
                let y = (from / columns).abs_diff(to / columns);
                x.min(columns - x) + y.min(rows - y)
            }
        }
    };
    (0..u64::from(system.l2.banks)).map(hops).sum()
}

#[test]
fn a_load_from_memory_takes_the_hops_in_both_directions() {
    for system in machines() {
        let lines = u64::from(system.l2.banks);
        let cycles = |more: u32| {
            let mut slower = system.clone();
            slower.noc.hop_latency_cycles += more;
            on::<Uncached>(&slower, chain(lines, u64::from(system.l1.line_bytes) / 4)).cycles
        };
        let what = format!("{} on {:?}", system.name, system.noc.topology);
        assert_eq!(cycles(50) - cycles(0), 50 * 2 * hops_to_memory(&system), "{what}");
    }
}

#[test]
fn requests_use_the_ports_of_the_compute_unit_and_data_those_of_memory() {
    for system in machines() {
        let (lines, line_bytes) = (u64::from(system.l2.banks), u64::from(system.l1.line_bytes));
        let outcome = on::<Uncached>(&system, chain(lines, line_bytes / 4));
        let header = u64::from(system.noc.header_bytes);
        // The expected bytes into and out of the network, at each node.
        let mut expected: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        for bank in 0..lines {
            let (cu, memory) = nodes_of(&system, bank);
            for (node, sent, received) in
                [(cu, header, header + line_bytes), (memory, header + line_bytes, header)]
            {
                let ports = expected.entry(node).or_default();
                *ports = (ports.0 + sent, ports.1 + received);
            }
        }
        let mut found: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        for (link, traffic) in outcome.links.iter().filter(|(_, traffic)| traffic.bytes > 0) {
            match *link {
                LinkEnds::Inject(node) => found.entry(u64::from(node.0)).or_default().0 += traffic.bytes,
                LinkEnds::Eject(node) => found.entry(u64::from(node.0)).or_default().1 += traffic.bytes,
                LinkEnds::Hop(..) | LinkEnds::Chiplets(..) => {}
            }
        }
        assert_eq!(found, expected, "{} on {:?}", system.name, system.noc.topology);
    }
}

#[test]
fn queue_waits_in_the_network_and_at_memory_are_attributed() {
    let mut narrow = system("hlrc-8cu");
    narrow.noc.link_bytes_per_cycle = NonZeroU32::new(1).unwrap();
    let outcome = on::<Uncached>(&narrow, vec_add(2000));
    assert!(outcome.attribution.of(Cause::QueueNoc) > outcome.cycles / 10, "{:?}", outcome.attribution);
    let mut slow = system("hlrc-8cu");
    slow.dram.channels = NonZeroU32::new(1).unwrap();
    let outcome = on::<Uncached>(&slow, vec_add(2000));
    assert!(outcome.counters["dram_queue_cycles"] > 0);
    assert!(outcome.attribution.of(Cause::QueueDram) > 0, "{:?}", outcome.attribution);
}

#[test]
fn banks_reach_the_memory_beside_them_without_the_network() {
    for system in machines() {
        for outcome in
            [on::<zoo::vi::Vi>(&system, vec_add(500)), on::<zoo::hlrc::Hlrc>(&system, histogram(500))]
        {
            let of_memory = outcome.counters.keys().find(|name| name.starts_with("messages.Memory"));
            assert_eq!(of_memory, None);
            assert!(outcome.counters["memory_ops"] > 0);
        }
    }
}

#[test]
fn a_dropped_message_to_or_from_memory_is_diagnosed() {
    let drop = |name: &str| Some(DropMessage { name: name.to_owned(), nth: 3 });
    for name in ["MemoryRead", "MemoryData", "MemoryWritten"] {
        let options = RunOptions { drop: drop(name), patience_cycles: 20_000, ..RunOptions::default() };
        let run = sim::run::<Uncached, ()>(&system("hlrc-8cu"), vec_add(1000), &options, &mut ());
        let Err(RunError::Stuck(stuck)) = run else { panic!("{name}: expected a stuck run, found {run:?}") };
        assert_eq!(stuck.cause, StuckBy::NothingMoves);
        let text = stuck.to_string();
        assert!(text.contains(&format!("{name}, lost on purpose")) && text.contains("memory"), "{text}");
    }
}
