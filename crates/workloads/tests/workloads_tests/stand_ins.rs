//! Stand-ins (graphs that are generated in place of published ones) have the size and the kind of
//! their originals.

use std::ops::RangeInclusive;

use workloads::graph::stand_in::Scale;
use workloads::graph::{Csr, GraphInfo, Weights, stand_in};

fn sixteenth() -> Scale {
    Scale::new(1, 16).expect("a scale")
}

fn info(name: &str, scale: Scale) -> GraphInfo {
    GraphInfo::of(&stand_in::find(name).expect("a stand-in").generate(scale, 1))
}

/// The statistics of a stand-in (a generated graph) at full size and at a sixteenth of this size.
fn both(name: &str) -> [GraphInfo; 2] {
    [info(name, Scale::FULL), info(name, sixteenth())]
}

fn within(value: f64, range: RangeInclusive<f64>) {
    assert!(range.contains(&value), "{value} is not in {range:?}");
}

/// The diameter in hops, divided by the square root of the number of vertices.
fn diameter_per_side(info: &GraphInfo) -> f64 {
    info.diameter_hops_min as f64 / (info.vertices as f64).sqrt()
}

#[test]
fn each_has_its_vertices_and_arcs_within_a_hundredth_for_any_scale_and_seed() {
    for stand_in in stand_in::all() {
        for (scale, seed) in [("1", 1), ("1/16", 1), ("1/16", 2), ("3/40", 3), ("1/100", 4)] {
            let scale: Scale = scale.parse().expect("a scale");
            let graph = stand_in.generate(scale, seed);
            let (vertices, arcs) = (scale.of(u64::from(stand_in.vertices)), scale.of(stand_in.arcs));
            within(f64::from(graph.vertices()) / vertices as f64, 0.99..=1.01);
            // The border is a larger part of a small grid.
            let rim = if stand_in.name == "ecology1" { 0.02 } else { 0.01 };
            within(graph.edges() as f64 / arcs as f64, 1.0 - rim..=1.01);
        }
    }
}

#[test]
fn each_is_undirected_and_simple_with_equal_weights_both_ways() {
    for stand_in in stand_in::all() {
        let graph = stand_in.generate(sixteenth(), 5);
        assert_eq!(graph, graph.reversed(), "{}", stand_in.name);
        let info = GraphInfo::of(&graph);
        assert_eq!((info.self_loops, info.parallel_arcs), (0, 0), "{}", stand_in.name);
    }
}

#[test]
fn the_smallest_scale_works_for_any_seed() {
    let scale = Scale::new(1, 1024).expect("a scale");
    for stand_in in stand_in::all() {
        for seed in 0..50 {
            let graph = stand_in.generate(scale, seed);
            assert!(graph.vertices() > 20 && graph.edges() > 50, "{} with seed {seed}", stand_in.name);
        }
    }
}

/// The FNV-1a hash of a graph.
fn fingerprint(graph: &Csr) -> u64 {
    let weights = match &graph.weights {
        Some(Weights::Whole(weights)) => weights.clone(),
        _ => Vec::new(),
    };
    let words = graph.offsets.narrow().into_iter().flatten().chain(&graph.targets).chain(&weights);
    words
        .flat_map(|word| word.to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn a_seed_gives_the_same_graph_on_every_machine() {
    let golden = [
        ("USA-road-d.BAY", 0x0bc32632c862d561),
        ("USA-road-d.COL", 0xb23ac49f6cdce729),
        ("c-68", 0x20dc82c1b89f66b0),
        ("ecology1", 0xe3323980b9b6be80),
        ("coAuthorsDBLP", 0x03ae3492ee08390e),
        ("dictionary28", 0x05865d791a3e72f7),
        ("OPF_10000", 0xd99179d93cfad32f),
    ];
    let fingerprints = stand_in::all().iter().map(|it| (it.name, fingerprint(&it.generate(sixteenth(), 1))));
    assert_eq!(fingerprints.collect::<Vec<_>>(), golden);
}

#[test]
fn another_seed_gives_another_graph_except_for_the_grid() {
    for stand_in in stand_in::all() {
        let same = stand_in.generate(sixteenth(), 1) == stand_in.generate(sixteenth(), 2);
        assert_eq!(same, stand_in.name == "ecology1", "{}", stand_in.name);
    }
}

#[test]
fn road_networks_have_a_large_diameter_locality_and_few_triangles() {
    for info in both("USA-road-d.BAY").into_iter().chain(both("USA-road-d.COL")) {
        assert_eq!((info.components, info.degree.min, info.degree.p10), (1, 1, 1));
        within(f64::from(info.degree.max), 5.0..=9.0);
        within(info.degree.gini, 0.19..=0.24);
        within(diameter_per_side(&info), 1.4..=2.4);
        within(info.clustering, 0.01..=0.05);
        // Neighbours are near in memory: at a distance of a few rows of the map.
        within(info.locality * (info.vertices as f64).sqrt(), 0.0..=1.2);
        let weights = info.weights.expect("lengths");
        assert!(weights.whole && weights.min >= 1.0 && weights.max <= 368_885.0);
        within(weights.mean, 1500.0..=4500.0);
    }
    within(info("USA-road-d.BAY", Scale::FULL).weights.expect("lengths").mean, 2500.0..=3500.0);
}

/// The first row of the constraints in a matrix [H A^T; A 0], divided by the number of rows: no two
/// constraints are neighbours, and the last variable is a neighbour of a constraint.
fn share_of_variables(name: &str, scale: Scale) -> f64 {
    let graph = stand_in::find(name).expect("a stand-in").generate(scale, 1);
    let smaller = graph.arcs().map(|(u, v, _)| u.min(v)).max().expect("an arc");
    f64::from(smaller + 1) / f64::from(graph.vertices())
}

#[test]
fn the_optimization_matrix_has_variables_before_constraints() {
    let [full, small] = both("c-68");
    for (info, scale) in [(full, Scale::FULL), (small, sixteenth())] {
        assert_eq!((info.components, info.degree.min, info.degree.p10), (1, 1, 1));
        within(f64::from(info.degree.p50), 5.0..=7.0);
        within(f64::from(info.degree.p90), 14.0..=20.0);
        within(f64::from(info.degree.p99), 45.0..=60.0);
        within(info.diameter_hops_min as f64, 5.0..=12.0);
        within(info.locality, 0.55..=0.62);
        assert_eq!(info.bandwidth, info.vertices - 1);
        // Of the 22 rows of a gate, 8 are constraints; further constraints are on outputs.
        within(share_of_variables("c-68", scale), 0.62..=0.65);
        let weights = info.weights.expect("values");
        within(weights.min, 1.0..=2.0);
        within(weights.max, 9_000.0..=10_000.0);
    }
}

#[test]
fn two_rows_of_the_optimization_matrix_are_long_and_the_longest_is_the_last() {
    let graph = stand_in::find("c-68").expect("a stand-in").generate(Scale::FULL, 1);
    let mut degrees: Vec<u32> = (0..graph.vertices()).map(|v| graph.degree(v)).collect();
    // Two widths for each of 2,875 gates.
    assert_eq!(degrees.last(), Some(&5750));
    degrees.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(degrees[0], 5750);
    within(f64::from(degrees[1]), 700.0..=850.0);
    within(f64::from(degrees[2]), 60.0..=99.0);
}

#[test]
fn the_grid_has_the_statistics_of_a_grid() {
    let [full, small] = both("ecology1");
    assert_eq!((full.vertices, full.arcs, full.diameter_hops_min), (1_000_000, 3_996_000, 1998));
    assert_eq!((small.vertices, small.arcs, small.diameter_hops_min), (62_500, 249_000, 498));
    for info in [full, small] {
        assert_eq!((info.components, info.degree.min, info.degree.max, info.clustering), (1, 2, 4, 0.0));
        // Half of the arcs have a distance of one cell, half of one row.
        within(info.locality * (info.vertices as f64).sqrt(), 0.49..=0.51);
    }
}

#[test]
fn the_collaboration_network_is_clustered_with_a_small_diameter_and_a_tail() {
    let [full, small] = both("coAuthorsDBLP");
    within(f64::from(full.degree.max), 240.0..=700.0);
    within(full.diameter_hops_min as f64, 17.0..=28.0);
    within(small.diameter_hops_min as f64, 11.0..=24.0);
    for info in [full, small] {
        assert_eq!((info.components, info.degree.min), (1, 1));
        within(f64::from(info.degree.max) / info.degree.mean, 25.0..=110.0);
        within(f64::from(info.degree.p99), 30.0..=60.0);
        within(info.degree.gini, 0.48..=0.57);
        within(info.clustering, 0.25..=0.36);
        within(info.locality, 0.02..=0.10);
    }
}

#[test]
fn the_word_graph_has_one_large_component_and_thousands_of_small_ones() {
    let [full, small] = both("dictionary28");
    within(full.largest_component as f64 / full.vertices as f64, 0.42..=0.53);
    within(full.components as f64, 15_000.0..=25_000.0);
    within(full.diameter_hops_min as f64, 18.0..=45.0);
    within(small.diameter_hops_min as f64, 12.0..=30.0);
    for info in [full, small] {
        within(info.largest_component as f64 / info.vertices as f64, 0.40..=0.65);
        within(info.components as f64 / info.vertices as f64, 0.25..=0.50);
        assert_eq!((info.degree.min, info.degree.p10), (0, 0));
        within(f64::from(info.degree.max), 25.0..=100.0);
        within(info.clustering, 0.2..=0.45);
        // A change of the first letter leads far away, a change of the last one does not.
        within(info.locality, 0.05..=0.2);
    }
}

#[test]
fn the_power_flow_matrix_has_the_variables_of_a_grid_before_its_balances() {
    let [full, small] = both("OPF_10000");
    // The largest degree of the Western US grid is 19, and a bus with n neighbours has 4n + 3. The
    // diameter of that grid is 46 for half as many buses.
    within(f64::from(full.degree.max), 51.0..=91.0);
    within(full.diameter_hops_min as f64, 30.0..=90.0);
    for (info, scale) in [(full, Scale::FULL), (small, sixteenth())] {
        assert_eq!((info.components, info.degree.min), (1, 1));
        within(f64::from(info.degree.max), 31.0..=91.0);
        within(info.clustering, 0.35..=0.6);
        within(info.locality, 0.38..=0.45);
        within(share_of_variables("OPF_10000", scale), 0.54..=0.55);
        assert!(info.weights.is_some_and(|weights| weights.whole));
    }
}

#[test]
fn an_unknown_name_gets_the_nearest_one() {
    let message = stand_in::find("c-86").map(|it| it.name).expect_err("no such name");
    assert!(message.starts_with(
        "there is no stand-in for a graph `c-86`; did you mean `c-68`? There are: USA-road-d.BAY"
    ));
    assert_eq!(stand_in::find("OPF_10000").map(|it| it.arcs), Ok(426_898));
}

#[test]
fn the_table_in_the_guide_has_the_measured_statistics() {
    let guide = include_str!("../../../../docs/graphs.md");
    for stand_in in stand_in::all() {
        let info = GraphInfo::of(&stand_in.generate(Scale::FULL, 1));
        let degree = &info.degree;
        let row = format!(
            "| `{}` | {} | {} | {} to {}, mean {:.2}, Gini {:.2} | {} | {:.4} n | {} | {:.3} |",
            stand_in.name,
            info.vertices,
            info.arcs,
            degree.min,
            degree.max,
            degree.mean,
            degree.gini,
            info.diameter_hops_min,
            info.locality,
            info.bandwidth,
            info.clustering
        );
        assert!(guide.lines().any(|line| line == row), "docs/graphs.md lacks the row\n{row}");
    }
}
