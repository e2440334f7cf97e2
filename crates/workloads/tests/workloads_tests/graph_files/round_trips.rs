//! A written graph is read back unchanged.

use proptest::prelude::*;
use workloads::graph::{Csr, Format, ReadOptions, Weights};

use super::{gzip, keep_all, load, written};

#[derive(Clone, Copy, Debug)]
enum Numbers {
    None,
    Whole,
    Signed,
    Real,
}

/// Graphs with self loops, parallel arcs and isolated vertices.
fn graphs(numbers: &'static [Numbers]) -> impl Strategy<Value = Csr> {
    let arcs = |vertices: u32| {
        (Just(vertices), proptest::collection::vec((0..vertices, 0..vertices, any::<i32>()), 0..60))
    };
    ((1..40u32).prop_flat_map(arcs), proptest::sample::select(numbers)).prop_map(
        |((vertices, mut arcs), numbers)| {
            let value = |number: i32| match numbers {
                Numbers::None => 0.0,
                Numbers::Whole => f64::from(number as u32),
                Numbers::Signed => f64::from(number),
                Numbers::Real => f64::from(number) / 1013.0,
            };
            arcs.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(value(a.2).total_cmp(&value(b.2))));
            let mut graph = Csr::from_edges(vertices, arcs.iter().map(|arc| (arc.0, arc.1)).collect());
            if !matches!(numbers, Numbers::None) && !arcs.is_empty() {
                graph.weights = Some(Weights::from_values(arcs.iter().map(|arc| value(arc.2)).collect()));
            }
            graph
        },
    )
}

/// The undirected graph, without self loops and parallel arcs. If `graph` has weights, both arcs of
/// an edge get the same weight.
fn undirected(graph: &Csr) -> Csr {
    let mut undirected = graph.undirected();
    if graph.weights.is_some() {
        let weight = |(u, v, _): (u32, u32, Option<f64>)| u.min(v) * 100 + u.max(v);
        undirected.weights = Some(Weights::Whole(undirected.arcs().map(weight).collect()));
    }
    undirected
}

proptest! {
    #[test]
    fn matrix_market_round_trips(
        graph in graphs(&[Numbers::None, Numbers::Whole, Numbers::Signed, Numbers::Real])
    ) {
        let bytes = written(&graph, Format::MatrixMarket);
        let loaded = load(&bytes, &keep_all(Format::MatrixMarket)).expect("a graph");
        prop_assert_eq!(without_emptiness(loaded.graph), graph);
        prop_assert_eq!(loaded.repairs.iter().count(), 0);
    }

    #[test]
    fn snap_round_trips(
        graph in graphs(&[Numbers::None, Numbers::Whole, Numbers::Signed, Numbers::Real])
    ) {
        // A list without edges defines no vertices.
        prop_assume!(graph.edges() > 0);
        let loaded = load(&written(&graph, Format::Snap), &keep_all(Format::Snap)).expect("a graph");
        prop_assert_eq!(loaded.graph, graph);
        prop_assert_eq!(loaded.repairs.iter().count(), 0);
    }

    #[test]
    fn dimacs_round_trips(graph in graphs(&[Numbers::Whole, Numbers::Signed])) {
        let loaded = load(&written(&graph, Format::Dimacs), &keep_all(Format::Dimacs)).expect("a graph");
        prop_assert_eq!(without_emptiness(loaded.graph), graph);
    }

    #[test]
    fn metis_round_trips(graph in graphs(&[Numbers::None, Numbers::Whole])) {
        let graph = undirected(&graph);
        let loaded = load(&written(&graph, Format::Metis), &keep_all(Format::Metis)).expect("a graph");
        prop_assert_eq!(without_emptiness(loaded.graph), without_emptiness(graph));
    }

    #[test]
    fn compression_keeps_the_contents(graph in graphs(&[Numbers::Whole])) {
        let bytes = written(&graph, Format::Dimacs);
        let plain = load(&bytes, &keep_all(Format::Dimacs)).expect("a graph");
        prop_assert_eq!(load(&gzip(&bytes), &keep_all(Format::Dimacs)).expect("a graph"), plain.clone());
        // Two streams, one after the other, are one file.
        let (first, second) = bytes.split_at(bytes.len() / 2);
        let parts = [gzip(first), gzip(second)].concat();
        prop_assert_eq!(load(&parts, &keep_all(Format::Dimacs)).expect("a graph"), plain);
    }

    #[test]
    fn repairs_leave_a_simple_graph_and_count_removals(graph in graphs(&[Numbers::None, Numbers::Whole])) {
        let options = ReadOptions { format: Some(Format::MatrixMarket), ..ReadOptions::default() };
        let loaded = load(&written(&graph, Format::MatrixMarket), &options).expect("a graph");
        let taken = loaded.repairs.self_loops_removed + loaded.repairs.duplicates_merged;
        prop_assert_eq!(loaded.graph.edges() + taken, graph.edges());
        for v in 0..loaded.graph.vertices() {
            let row = loaded.graph.neighbours(v);
            prop_assert!(row.windows(2).all(|pair| pair[0] < pair[1]) && !row.contains(&v));
        }
        // The first of parallel arcs in a row has the least weight.
        let mut kept: Vec<_> = graph.arcs().filter(|arc| arc.0 != arc.1).collect();
        kept.dedup_by_key(|arc| (arc.0, arc.1));
        prop_assert!(loaded.graph.arcs().eq(kept));
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for format in Format::ALL {
            let options = ReadOptions { format: Some(format), memory_bytes: 1 << 20, ..ReadOptions::default() };
            if let Err(error) = load(&bytes, &options) {
                prop_assert!(!error.to_string().chars().any(char::is_control));
            }
        }
    }

    #[test]
    fn a_damaged_file_is_refused_or_still_a_sound_graph(
        graph in graphs(&[Numbers::None, Numbers::Whole]),
        (at, byte) in (any::<proptest::sample::Index>(), proptest::sample::select(&b"0123456789-. \n\t%#acpx\x00\xff"[..])),
    ) {
        let graph = undirected(&graph);
        for format in Format::ALL {
            let mut bytes = written(&graph, format);
            let at = at.index(bytes.len());
            bytes[at] = byte;
            let options = ReadOptions { memory_bytes: 1 << 20, ..keep_all(format) };
            if let Ok(loaded) = load(&bytes, &options) {
                let graph = loaded.graph;
                prop_assert_eq!(graph.offsets.at(graph.vertices() as usize), graph.edges());
                prop_assert!(graph.targets.iter().all(|&target| target < graph.vertices()));
                prop_assert!(graph.weights.as_ref().is_none_or(|weights| weights.len() as u64 == graph.edges()));
            }
        }
    }

    #[test]
    fn a_truncated_file_is_refused_except_within_its_last_number(
        graph in graphs(&[Numbers::Whole]), at in any::<proptest::sample::Index>()
    ) {
        prop_assume!(graph.edges() > 0);
        for format in [Format::MatrixMarket, Format::Dimacs, Format::Snap] {
            let bytes = written(&graph, format);
            let cut = &bytes[..at.index(bytes.len())];
            // The reader may miss lost digits of the last number, but not a lost arc.
            match load(cut, &keep_all(format)) {
                Ok(loaded) => prop_assert_eq!(loaded.graph.edges(), graph.edges()),
                Err(error) => prop_assert!(error.to_string().starts_with("g:"), "{}", error),
            }
            let packed = gzip(&bytes);
            let cut = &packed[..at.index(packed.len())];
            prop_assert!(load(cut, &keep_all(format)).is_err());
        }
    }
}

/// Removes an empty list of weights. A graph without arcs reads the same with an empty list and
/// without one.
fn without_emptiness(mut graph: Csr) -> Csr {
    graph.weights = graph.weights.filter(|weights| !weights.is_empty());
    graph
}
