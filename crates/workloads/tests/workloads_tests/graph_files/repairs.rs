//! The reader counts the arcs that it adds and removes, and the vertices that it renumbers.

use workloads::graph::{Direction, Format, ReadOptions, Weights};

use super::load;

const MTX: &str = "%%MatrixMarket matrix coordinate";

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
fn the_lightest_of_parallel_arcs_remains() {
    let text = "c x\np sp 2 4\na 1 2 9\na 1 2 3\nc\na 1 2 5\na 2 1 1\n";
    let options = ReadOptions { format: Some(Format::Dimacs), ..ReadOptions::default() };
    let loaded = load(text.as_bytes(), &options).expect("a graph");
    assert_eq!(
        (loaded.graph.weights, loaded.repairs.duplicates_merged),
        (Some(Weights::Whole(vec![3, 1])), 2)
    );
}

#[test]
fn gaps_between_vertices_are_closed_and_counted_and_isolated_vertices_remain() {
    let options = ReadOptions { format: Some(Format::Snap), ..ReadOptions::default() };
    let loaded = load(b"10 30\n20 20\n30\t10\n", &options).expect("a graph");
    // Vertex 20 has only a self loop. The loop is removed, the vertex is kept.
    assert_eq!((loaded.graph.vertices(), loaded.graph.sources()), (3, vec![0, 2]));
    assert_eq!((loaded.repairs.vertices_renumbered, loaded.repairs.self_loops_removed), (3, 1));
    let loaded = load(b"# Nodes: 5 Edges: 1\n1 3\n", &options).expect("a graph");
    assert_eq!((loaded.graph.vertices(), loaded.graph.sources()), (5, vec![1]));
    assert_eq!(loaded.repairs.iter().count(), 0);
    let loaded = load(b"# Nodes: 5 Edges: 1\n1 9\n", &options).expect("a graph");
    assert_eq!((loaded.graph.vertices(), loaded.graph.sources()), (5, vec![0]));
}

#[test]
fn an_undirected_edge_list_goes_both_ways_and_any_other_on_request() {
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
    // An empty last line may be missing.
    let loaded = load(b"3 1\n2\n1\n", &options).expect("a graph");
    assert_eq!((loaded.graph.vertices(), loaded.graph.edges()), (3, 2));
}
