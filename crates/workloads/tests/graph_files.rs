//! Graph files: what is written is read again, and what is wrong is named.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use workloads::graph::{
    Choice, Csr, Direction, Format, GraphError, Loaded, ReadOptions, Weights, read_from, write,
};

fn keep_all(format: Format) -> ReadOptions {
    let format = Some(format);
    ReadOptions { format, self_loops: Choice::Keep, duplicates: Choice::Keep, ..ReadOptions::default() }
}

fn load(bytes: &[u8], options: &ReadOptions) -> Result<Loaded, GraphError> {
    read_from(bytes, Path::new("g"), options)
}

fn written(graph: &Csr, format: Format) -> Vec<u8> {
    let mut out = Vec::new();
    write(graph, format, &mut out).expect("a graph that the format can hold");
    out
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

#[derive(Clone, Copy, Debug)]
enum Numbers {
    None,
    Whole,
    Signed,
    Real,
}

/// A graph with loops and parallel arcs, and vertices without any.
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

/// The same without loops and parallel arcs, and with equal weights both ways.
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
    fn matrix_market_gives_back_what_was_written(
        graph in graphs(&[Numbers::None, Numbers::Whole, Numbers::Signed, Numbers::Real])
    ) {
        let bytes = written(&graph, Format::MatrixMarket);
        let loaded = load(&bytes, &keep_all(Format::MatrixMarket)).expect("a graph");
        prop_assert_eq!(without_emptiness(loaded.graph), graph);
        prop_assert_eq!(loaded.repairs.iter().count(), 0);
    }

    #[test]
    fn snap_gives_back_what_was_written(
        graph in graphs(&[Numbers::None, Numbers::Whole, Numbers::Signed, Numbers::Real])
    ) {
        // A list of no edges says of no vertex that it is there.
        prop_assume!(graph.edges() > 0);
        let loaded = load(&written(&graph, Format::Snap), &keep_all(Format::Snap)).expect("a graph");
        prop_assert_eq!(loaded.graph, graph);
        prop_assert_eq!(loaded.repairs.iter().count(), 0);
    }

    #[test]
    fn dimacs_gives_back_what_was_written(graph in graphs(&[Numbers::Whole, Numbers::Signed])) {
        let loaded = load(&written(&graph, Format::Dimacs), &keep_all(Format::Dimacs)).expect("a graph");
        prop_assert_eq!(without_emptiness(loaded.graph), graph);
    }

    #[test]
    fn metis_gives_back_what_was_written(graph in graphs(&[Numbers::None, Numbers::Whole])) {
        let graph = undirected(&graph);
        let loaded = load(&written(&graph, Format::Metis), &keep_all(Format::Metis)).expect("a graph");
        prop_assert_eq!(without_emptiness(loaded.graph), without_emptiness(graph));
    }

    #[test]
    fn compression_changes_nothing(graph in graphs(&[Numbers::Whole])) {
        let bytes = written(&graph, Format::Dimacs);
        let plain = load(&bytes, &keep_all(Format::Dimacs)).expect("a graph");
        prop_assert_eq!(load(&gzip(&bytes), &keep_all(Format::Dimacs)).expect("a graph"), plain.clone());
        // Two streams, one after the other, are one file.
        let (first, second) = bytes.split_at(bytes.len() / 2);
        let parts = [gzip(first), gzip(second)].concat();
        prop_assert_eq!(load(&parts, &keep_all(Format::Dimacs)).expect("a graph"), plain);
    }

    #[test]
    fn repairs_leave_a_simple_graph_and_count_what_they_took(graph in graphs(&[Numbers::None, Numbers::Whole])) {
        let options = ReadOptions { format: Some(Format::MatrixMarket), ..ReadOptions::default() };
        let loaded = load(&written(&graph, Format::MatrixMarket), &options).expect("a graph");
        let taken = loaded.repairs.self_loops_removed + loaded.repairs.duplicates_merged;
        prop_assert_eq!(loaded.graph.edges() + taken, graph.edges());
        for v in 0..loaded.graph.vertices() {
            let row = loaded.graph.neighbours(v);
            prop_assert!(row.windows(2).all(|pair| pair[0] < pair[1]) && !row.contains(&v));
        }
        // Of parallel arcs the first in the row has the least weight.
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
    fn a_file_cut_short_is_refused_but_at_its_last_letters(
        graph in graphs(&[Numbers::Whole]), at in any::<proptest::sample::Index>()
    ) {
        prop_assume!(graph.edges() > 0);
        for format in [Format::MatrixMarket, Format::Dimacs, Format::Snap] {
            let bytes = written(&graph, format);
            let cut = &bytes[..at.index(bytes.len())];
            // Digits of the last number may go unnoticed, but no arc may.
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

/// Weights of no arcs and no weights are the same thing here.
fn without_emptiness(mut graph: Csr) -> Csr {
    graph.weights = graph.weights.filter(|weights| !weights.is_empty());
    graph
}

fn sentence(format: Format, text: &str) -> String {
    let options = ReadOptions {
        format: Some(format),
        self_loops: Choice::Refuse,
        duplicates: Choice::Refuse,
        memory_bytes: 1 << 20,
        ..ReadOptions::default()
    };
    match load(text.as_bytes(), &options) {
        Ok(loaded) => panic!("{text:?} was read as {loaded:?}"),
        Err(error) => error.to_string(),
    }
}

fn check(format: Format, cases: &[(&str, &str)]) {
    for (text, want) in cases {
        assert_eq!(sentence(format, text), *want, "for {text:?}");
    }
}

const MTX: &str = "%%MatrixMarket matrix coordinate";

#[test]
fn what_is_wrong_with_a_matrix_is_named() {
    let cases = [
        ("", "g:1:1: the file ends here, expected `%%MatrixMarket`"),
        ("%%MatrixMarket vector", "g:1:16: found `vector`, expected `matrix`"),
        (
            "%%MatrixMarket matrix array real general\n",
            "g:1:23: found `array`, expected `coordinate`, since a dense array is no graph",
        ),
        (
            &format!("{MTX} complex general\n"),
            "g:1:34: found `complex`, expected `real`, `integer` or `pattern`",
        ),
        (
            &format!("{MTX} real hermitian\n"),
            "g:1:39: found `hermitian`, expected `general`, `symmetric` or `skew-symmetric`",
        ),
        (
            &format!("{MTX} pattern skew-symmetric\n"),
            "g:1:42: found `skew-symmetric`, expected `general` or `symmetric`, since a pattern has no signs",
        ),
        (
            &format!("{MTX} real general"),
            "g:1:46: the file ends here, expected a line of rows, columns and entries",
        ),
        (
            &format!("{MTX} real general\n% x\n\n2 x 1\n"),
            "g:4:3: found `x`, expected a number of columns from 1 to 4294967295",
        ),
        (
            &format!("{MTX} real general\n2 3 1\n"),
            "g:2:3: found `3`, expected as many columns as rows, 2, since a graph is square",
        ),
        (
            &format!("{MTX} real general\n2 2\n1 1 1"),
            "g:2:4: found the end of the line, expected a number of entries from 0 to 4611686018427387903",
        ),
        (&format!("{MTX} real general\n2 2 2\n1 2 1\n"), "g:4:1: the file ends here, expected entry 2 of 2"),
        (
            &format!("{MTX} real general\n2 2 1\n1 2 1\n2 1 1\n"),
            "g:4:1: found `2`, expected the end of the file after 1 entries",
        ),
        (&format!("{MTX} real general\n2 2 1\n1 3 1\n"), "g:3:3: found `3`, expected a column from 1 to 2"),
        (&format!("{MTX} real general\n2 2 1\n0 1 1\n"), "g:3:1: found `0`, expected a row from 1 to 2"),
        (
            &format!("{MTX} real general\n2 2 1\n1 2 one\n"),
            "g:3:5: found `one`, expected a value, a finite number",
        ),
        (
            &format!("{MTX} real general\n2 2 1\n1 2 nan\n"),
            "g:3:5: found `nan`, expected a value, a finite number",
        ),
        (
            &format!("{MTX} integer general\n2 2 1\n1 2 1.5\n"),
            "g:3:5: found `1.5`, expected a value, a whole number from -2^53 to 2^53",
        ),
        (
            &format!("{MTX} real general\n2 2 1\n1 2\n"),
            "g:3:4: found the end of the line, expected a value, a finite number",
        ),
        (
            &format!("{MTX} pattern general\n2 2 1\n1 2 7\n"),
            "g:3:5: found `7`, expected the end of the line after an entry",
        ),
        (
            &format!("{MTX} pattern symmetric\n2 2 1\n1 2\n"),
            "g:3:3: found `2`, expected a column of at most 1, since a symmetric file has the lower triangle",
        ),
        (
            &format!("{MTX} real skew-symmetric\n2 2 1\n2 2 1\n"),
            "g:3:3: found `2`, expected a column before 2, since a skew-symmetric file has what is below the diagonal",
        ),
        (
            &format!("{MTX} pattern general\n2 2 1\n2 2\n"),
            "g:3:1: found an arc from a vertex to itself, which the options refuse",
        ),
        (
            &format!("{MTX} pattern general\n3 3 4\n1 2\n2 3\n% x\n3 1\n1 2\n"),
            "g:7:1: found the arc from vertex 0 to vertex 1 (counted from 0) a second time, the first is on line 3, which the options refuse",
        ),
        (
            &format!("{MTX} pattern general\n4000000000 4000000000 9\n"),
            "g:2:23: a graph of 4000000000 vertices and 9 arcs takes at least 89.4 GiB to read, but at most 1.0 MiB may be used",
        ),
        (
            &format!("{MTX} pattern general\n9 9 1000000\n"),
            "g:2:5: a graph of 9 vertices and 1000000 arcs takes at least 26.7 MiB to read, but at most 1.0 MiB may be used",
        ),
    ];
    let cases: Vec<(&str, &str)> = cases.iter().map(|(text, want)| (*text, *want)).collect();
    check(Format::MatrixMarket, &cases);
}

#[test]
fn what_is_wrong_with_a_dimacs_file_is_named() {
    check(
        Format::Dimacs,
        &[
            ("", "g:1:1: the file ends here, expected the problem line `p sp VERTICES ARCS`"),
            ("c only\n", "g:2:1: the file ends here, expected the problem line `p sp VERTICES ARCS`"),
            ("a 1 2 3\n", "g:1:1: found `a`, expected the problem line `p sp VERTICES ARCS`"),
            ("p edge 3 2\n", "g:1:3: found `edge`, expected `sp`, the shortest path problem"),
            ("p sp 0 0\n", "g:1:6: found `0`, expected a number of vertices from 1 to 4294967295"),
            (
                "p sp 3\n",
                "g:1:7: found the end of the line, expected a number of arcs from 0 to 4611686018427387903",
            ),
            ("p sp 3 1\ne 1 2 3\n", "g:2:1: found `e`, expected an arc `a FROM TO WEIGHT` or a comment `c`"),
            ("p sp 3 1\na 1 4 3\n", "g:2:5: found `4`, expected a vertex from 1 to 3"),
            (
                "p sp 3 1\na 1 2\n",
                "g:2:6: found the end of the line, expected a weight, a whole number from -2^53 to 2^53",
            ),
            (
                "p sp 3 1\na 1 2 0x5\n",
                "g:2:7: found `0x5`, expected a weight, a whole number from -2^53 to 2^53",
            ),
            ("p sp 3 1\na 1 2 3 4\n", "g:2:9: found `4`, expected the end of the line after an arc"),
            ("p sp 3 2\na 1 2 3\n", "g:3:1: the file ends here, expected arc 2 of 2"),
            ("p sp 3 1\na 1 2 3\na 2 1 3\n", "g:3:1: found `a`, expected the end of the file after 1 arcs"),
            ("p sp 3 1\na 2 2 3\n", "g:2:3: found an arc from a vertex to itself, which the options refuse"),
            (
                "p sp 3 2\na 1 2 3\na 1 2 1\n",
                "g:3:3: found the arc from vertex 0 to vertex 1 (counted from 0) a second time, the first is on line 2, which the options refuse",
            ),
            (
                "p sp 50000 1\n",
                "g:1:12: a graph of 50000 vertices and 1 arcs takes at least 1.1 MiB to read, but at most 1.0 MiB may be used",
            ),
        ],
    );
}

#[test]
fn what_is_wrong_with_a_metis_file_is_named() {
    check(
        Format::Metis,
        &[
            ("% x\n", "g:2:1: the file ends here, expected a header `VERTICES EDGES [FORMAT [VALUES]]`"),
            ("2 one\n", "g:1:3: found `one`, expected a number of edges from 0 to 4611686018427387903"),
            ("2 1 012\n", "g:1:5: found `012`, expected a format of at most three digits 0 or 1"),
            ("2 1 001 2\n", "g:1:9: found `2`, expected the end of the line, since vertices have no weights"),
            ("2 1 010 0\n", "g:1:9: found `0`, expected a number of vertex weights from 1 to 1000"),
            ("2 1 010 1 1\n", "g:1:11: found `1`, expected the end of the line after the header"),
            ("3 1\n2\n1\n2", "g:4:2: found 3 neighbours in all, expected 2, two for each edge of the header"),
            ("3 1\n2\n", "g:3:1: the file ends here, expected the line of vertex 2 of 3"),
            ("2 1\n2\n1\n7\n", "g:4:1: found `7`, expected the end of the file after 2 vertices"),
            ("2 1\n3\n1\n", "g:2:1: found `3`, expected a vertex from 1 to 2"),
            ("2 1\n-2\n1\n", "g:2:1: found `-2`, expected a vertex from 1 to 2"),
            (
                "2 1 1\n2 5\n1\n",
                "g:3:2: found the end of the line, expected the weight of an edge, a whole number from -2^53 to 2^53",
            ),
            (
                "2 1 10\n9 2\n\n",
                "g:3:1: found the end of the line, expected a size or weight of the vertex, a whole number from -2^53 to 2^53",
            ),
            (
                "3 1\n2 3\n\n\n",
                "g:2:1: found an edge from vertex 1 to vertex 2, expected its reverse on line 3 as well",
            ),
            (
                "% x\n3 1\n\n% y\n1 3\n\n",
                "g:5:1: found an edge from vertex 2 to vertex 1, expected its reverse on line 3 as well",
            ),
            (
                "2 1 1\n2 5\n1 6\n",
                "g:2:1: found weight 5 for the edge to vertex 2, expected 6, its weight on line 3",
            ),
            ("2 1\n1 2\n", "g:2:1: found an arc from a vertex to itself, which the options refuse"),
            (
                "2 2\n2 2\n1 1\n",
                "g:2:3: found the arc from vertex 0 to vertex 1 (counted from 0) a second time, the first is on line 2, which the options refuse",
            ),
        ],
    );
}

#[test]
fn what_is_wrong_with_a_snap_file_is_named() {
    check(
        Format::Snap,
        &[
            ("", "g:1:1: the file ends here, expected an edge `FROM TO`"),
            ("# x\n\n", "g:3:1: the file ends here, expected an edge `FROM TO`"),
            ("1\n", "g:1:2: found the end of the line, expected a vertex from 0 to 4294967294"),
            ("1 4294967295\n", "g:1:3: found `4294967295`, expected a vertex from 0 to 4294967294"),
            ("a b\n", "g:1:1: found `a`, expected a vertex from 0 to 4294967294"),
            ("1,2\n", "g:1:1: found `1,2`, expected a vertex from 0 to 4294967294"),
            ("1 2 x\n", "g:1:5: found `x`, expected a weight, a finite number"),
            ("1 2\n2 3 0.5\n", "g:2:5: found `0.5`, expected no weight, as on the first line"),
            ("1 2 1\n2 3\n", "g:2:4: found the end of the line, expected a weight, as on the first line"),
            ("1 2 1 4\n", "g:1:7: found `4`, expected the end of the line after an edge"),
            (
                "# Nodes: 3 Edges: 3\n0 1\n1 2\n",
                "g:4:1: the file ends here, expected edge 3 of 3, which line 1 announces",
            ),
            ("# Nodes: 3 Edges: 1\n0 1\n1 2\n", "g:4:1: found 2 edges, expected 1, which line 1 announces"),
            (
                "# x\n# Nodes: 2 Edges: 2\n0 1\n1 2\n",
                "g:5:1: found 3 vertices, expected 2, which line 2 announces",
            ),
            ("# Nodes: 5000000000 Edges: 2\n", "g:1:1: found 5000000000 nodes, expected at most 4294967295"),
            (
                "# Nodes: 3 Edges: 1000000\n",
                "g:1:1: a graph of 3 vertices and 1000000 arcs takes at least 34.3 MiB to read, but at most 1.0 MiB may be used",
            ),
            ("0 1\n1 1\n", "g:2:1: found an arc from a vertex to itself, which the options refuse"),
            (
                "0 1\n2 1\n0 1\n",
                "g:3:1: found the arc from vertex 0 to vertex 1 (counted from 0) a second time, the first is on line 1, which the options refuse",
            ),
        ],
    );
}

#[test]
fn symmetry_is_unfolded_and_counted() {
    let text = format!("{MTX} integer skew-symmetric\n3 3 2\n2 1 5\n3 1 -7\n");
    let loaded = load(text.as_bytes(), &ReadOptions::default()).expect("a graph");
    let arcs: Vec<_> = loaded.graph.arcs().collect();
    assert_eq!(arcs, [(0, 1, Some(-5.0)), (0, 2, Some(7.0)), (1, 0, Some(5.0)), (2, 0, Some(-7.0))]);
    assert_eq!((loaded.repairs.arcs_mirrored, loaded.format), (2, Format::MatrixMarket));
    let text = format!("{MTX} pattern SYMMETRIC\r\n% x\r\n3 3 3\r\n1 1\r\n2 1\r\n3 2\r\n");
    let loaded = load(text.as_bytes(), &ReadOptions::default()).expect("a graph");
    assert_eq!((loaded.graph.sources(), loaded.graph.targets), (vec![0, 1, 1, 2], vec![1, 0, 2, 1]));
    assert_eq!((loaded.repairs.arcs_mirrored, loaded.repairs.self_loops_removed), (2, 1));
    let one_way = ReadOptions { direction: Direction::OneWay, ..ReadOptions::default() };
    assert_eq!(load(text.as_bytes(), &one_way).expect("a graph").graph.targets, [0, 1]);
}

#[test]
fn of_parallel_arcs_the_lightest_stays() {
    let text = "c x\np sp 2 4\na 1 2 9\na 1 2 3\nc\na 1 2 5\na 2 1 1\n";
    let options = ReadOptions { format: Some(Format::Dimacs), ..ReadOptions::default() };
    let loaded = load(text.as_bytes(), &options).expect("a graph");
    assert_eq!(
        (loaded.graph.weights, loaded.repairs.duplicates_merged),
        (Some(Weights::Whole(vec![3, 1])), 2)
    );
}

#[test]
fn gaps_between_vertices_are_closed_and_counted_and_loners_stay() {
    let options = ReadOptions { format: Some(Format::Snap), ..ReadOptions::default() };
    let loaded = load(b"10 30\n20 20\n30\t10\n", &options).expect("a graph");
    // Vertex 20 has but a loop, which is left out; the vertex is not.
    assert_eq!((loaded.graph.vertices(), loaded.graph.sources()), (3, vec![0, 2]));
    assert_eq!((loaded.repairs.vertices_renumbered, loaded.repairs.self_loops_removed), (3, 1));
    let loaded = load(b"# Nodes: 5 Edges: 1\n1 3\n", &options).expect("a graph");
    assert_eq!((loaded.graph.vertices(), loaded.graph.sources()), (5, vec![1]));
    assert_eq!(loaded.repairs.iter().count(), 0);
    let loaded = load(b"# Nodes: 5 Edges: 1\n1 9\n", &options).expect("a graph");
    assert_eq!((loaded.graph.vertices(), loaded.graph.sources()), (5, vec![0]));
}

#[test]
fn an_undirected_edge_list_goes_both_ways_and_so_does_any_if_asked() {
    let mut options = ReadOptions { format: Some(Format::Snap), ..ReadOptions::default() };
    let undirected = b"# Undirected graph: x\n# Nodes: 3 Edges: 2\n0 1\n1 2\n";
    let loaded = load(undirected, &options).expect("a graph");
    assert_eq!((loaded.graph.targets.clone(), loaded.repairs.arcs_mirrored), (vec![1, 0, 2, 1], 2));
    options.direction = Direction::BothWays;
    let same = load(b"0 1\n1 2\n2 1\n", &options).expect("a graph");
    assert_eq!((same.graph, same.repairs.duplicates_merged), (loaded.graph, 2));
    options.direction = Direction::OneWay;
    assert_eq!(load(undirected, &options).expect("a graph").graph.targets, [1, 2]);
}

#[test]
fn vertices_of_a_metis_file_may_have_weights_comments_and_no_neighbours() {
    let text = "% c\n4 2 111 2\n% c\n7 1 1 2 50 3 60\n7 1 1 1 50\n% c\n7 1 1 1 60\n7 1 1\n";
    let options = ReadOptions { format: Some(Format::Metis), ..ReadOptions::default() };
    let loaded = load(text.as_bytes(), &options).expect("a graph");
    assert_eq!(loaded.graph.targets, [1, 2, 0, 0]);
    assert_eq!(loaded.graph.weights, Some(Weights::Whole(vec![50, 60, 50, 60])));
    assert_eq!((loaded.graph.vertices(), loaded.repairs.vertex_values_unused), (4, 4));
    // The last line may be missing if it would be empty.
    let loaded = load(b"3 1\n2\n1\n", &options).expect("a graph");
    assert_eq!((loaded.graph.vertices(), loaded.graph.edges()), (3, 2));
}

#[test]
fn a_compressed_file_that_ends_early_or_is_damaged_is_named_with_the_line() {
    let text: String = (0..5000).map(|v| format!("{v} {}\n", v * 7919 % 5000 + 1)).collect();
    let options = ReadOptions { format: Some(Format::Snap), ..ReadOptions::default() };
    let packed = gzip(text.as_bytes());
    let error = load(&packed[..packed.len() / 2], &options).expect_err("half a file").to_string();
    let line: u64 = error.split(':').nth(1).and_then(|line| line.parse().ok()).expect("a line");
    assert!(
        (1000..4500).contains(&line) && error.ends_with("cannot be read on from here: it ends early"),
        "{error}"
    );
    let error = load(&packed[..packed.len() - 1], &options).expect_err("a byte less").to_string();
    assert!(error.starts_with("g:5001:1: ") && error.ends_with("it ends early"), "{error}");
    let mut damaged = packed.clone();
    let checksum = damaged.len() - 8;
    damaged[checksum] ^= 1;
    assert!(matches!(load(&damaged, &options), Err(GraphError::BadGzip { .. })));
    let garbage = [&packed[..], b"more"].concat();
    assert!(matches!(load(&garbage, &options), Err(GraphError::BadGzip { .. })));
    assert!(matches!(load(&packed[..3], &options), Err(GraphError::BadGzip { .. })));
}

#[test]
fn a_small_file_that_unpacks_to_a_large_one_stops_at_the_budget() {
    let packed = gzip("0 1\n".repeat(1 << 20).as_bytes());
    assert!(packed.len() < 1 << 16);
    let options = ReadOptions { format: Some(Format::Snap), memory_bytes: 1 << 20, ..ReadOptions::default() };
    let error = load(&packed, &options).expect_err("too large").to_string();
    let want =
        ": a graph of at least 52429 arcs takes at least 1.0 MiB to read, but at most 1.0 MiB may be used";
    assert!(error.starts_with("g:52429:4") && error.ends_with(want), "{error}");
}

#[test]
fn a_path_that_cannot_be_read_and_an_unknown_format_are_named() {
    let missing = workloads::graph::read(Path::new("no/such/file.gr"), &ReadOptions::default());
    assert!(missing.expect_err("no file").to_string().starts_with("cannot read no/such/file.gr: "));
    let folder = workloads::graph::read(Path::new(env!("CARGO_MANIFEST_DIR")), &ReadOptions::default());
    assert!(folder.expect_err("a folder").to_string().ends_with("it is a directory, expected a graph file"));
    let unknown = load(b"1 2\n", &ReadOptions::default()).expect_err("no format").to_string();
    assert!(
        unknown.starts_with("cannot tell the format of g: expected a name that ends in .mtx"),
        "{unknown}"
    );
}

#[test]
fn formats_refuse_to_write_what_they_cannot_hold() {
    let refused =
        |graph: &Csr, format| write(graph, format, &mut Vec::new()).expect_err("refused").to_string();
    let mut graph = Csr::from_edges(2, vec![(0, 1)]);
    assert_eq!(refused(&graph, Format::Metis), "a METIS file takes undirected graphs without self loops");
    graph.weights = Some(Weights::from_values(vec![0.5]));
    assert_eq!(
        refused(&graph, Format::Dimacs),
        "a .gr file takes whole weights from -2^53 to 2^53, but one is 0.5"
    );
    let mut graph = Csr::from_edges(2, vec![(0, 1), (1, 0)]);
    graph.weights = Some(Weights::from_values(vec![0.5, 0.5]));
    assert_eq!(refused(&graph, Format::Metis), "a METIS file takes whole weights");
}
