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
        ("c-68", 0x96a84c8df9ed86a9),
        ("ecology1", 0xe3323980b9b6be80),
        ("coAuthorsDBLP", 0x03ae3492ee08390e),
        ("dictionary28", 0x29aab5e03ac25a91),
        ("OPF_10000", 0x49990e3831cd2b75),
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

#[test]
fn the_optimization_matrix_has_a_few_rows_of_thousands() {
    let [full, small] = both("c-68");
    within(f64::from(full.degree.max), 4000.0..=6000.0);
    for info in [full, small] {
        assert_eq!(info.components, 1);
        within(f64::from(info.degree.max) / info.vertices as f64, 0.06..=0.10);
        within(f64::from(info.degree.p90), 9.0..=14.0);
        within(info.diameter_hops_min as f64, 5.0..=12.0);
        within(info.locality, 0.3..=0.5);
        let weights = info.weights.expect("values");
        within(weights.min, 1.0..=2.0);
        within(weights.max, 9_000.0..=10_000.0);
    }
}

#[test]
fn degrees_of_hubs_are_inversely_proportional_to_their_rank() {
    let graph = stand_in::find("c-68").expect("a stand-in").generate(Scale::FULL, 1);
    let mut degrees: Vec<u32> = (0..graph.vertices()).map(|v| graph.degree(v)).collect();
    degrees.sort_unstable_by(|a, b| b.cmp(a));
    for rank in [2, 4, 8] {
        within(f64::from(degrees[0]) / f64::from(degrees[rank - 1]) / rank as f64, 0.8..=1.1);
    }
    assert!(degrees[31] > 150 && degrees[40] < 100, "{} {}", degrees[31], degrees[40]);
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
fn the_power_flow_matrix_has_blocks_along_a_grid() {
    for info in both("OPF_10000") {
        assert_eq!(info.components, 1);
        within(f64::from(info.degree.min), 3.0..=6.0);
        within(f64::from(info.degree.max), 20.0..=60.0);
        within(info.clustering, 0.35..=0.6);
        within(info.locality * (info.vertices as f64).sqrt(), 0.2..=1.0);
        assert!(info.weights.is_some_and(|weights| weights.whole));
    }
    // The diameter of a power grid of 10,000 buses is about 60 lines, not 200.
    within(info("OPF_10000", Scale::FULL).diameter_hops_min as f64, 40.0..=90.0);
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
            "| `{}` | {} | {} | {} to {}, mean {:.2}, Gini {:.2} | {} | {:.4} n | {:.3} |",
            stand_in.name,
            info.vertices,
            info.arcs,
            degree.min,
            degree.max,
            degree.mean,
            degree.gini,
            info.diameter_hops_min,
            info.locality,
            info.clustering
        );
        assert!(guide.lines().any(|line| line == row), "docs/graphs.md lacks the row\n{row}");
    }
}
