//! Statistics of a graph that determine its load on a machine.

use core::fmt;

use kernel::rng::Rng;
use proto::words::{grouped, plural};
use serde::Serialize;

use super::Csr;
use super::reference::{UNREACHED_HOPS, hops};

/// The statistics of a graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GraphInfo {
    /// The number of vertices.
    pub vertices: u64,
    /// The number of arcs. An undirected edge is two arcs.
    pub arcs: u64,
    /// Whether each arc has a reverse arc.
    pub symmetric: bool,
    /// The number of arcs from a vertex to itself.
    pub self_loops: u64,
    /// The number of parallel arcs. Of several arcs between two vertices, the first one is not
    /// counted.
    pub parallel_arcs: u64,
    /// The distribution of the vertices' out-degrees.
    pub degree: Degrees,
    /// The number of components, in which arcs connect vertices in either direction.
    pub components: u64,
    /// The number of vertices in the largest component.
    pub largest_component: u64,
    /// A lower bound of the diameter: the largest distance, in arcs, that a repeated breadth-first
    /// search finds in the largest component of the undirected graph.
    pub diameter_hops_min: u64,
    /// The mean of |u - v| over all arcs from u to v, divided by the number of vertices. It
    /// measures how far apart neighbours are in memory. A random numbering of the vertices gives
    /// 1/3.
    pub locality: f64,
    /// The largest |u - v| of an arc from u to v: the bandwidth of the matrix whose rows are the
    /// vertices.
    pub bandwidth: u64,
    /// The clustering coefficient: the probability that two neighbours of one vertex are neighbours
    /// of each other. It is estimated by samples in the undirected graph.
    pub clustering: f64,
    /// The range of the weights, if the graph has weights.
    pub weights: Option<WeightRange>,
}

/// The distribution of the out-degrees of a graph's vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Degrees {
    /// The smallest degree of a vertex.
    pub min: u32,
    /// The mean degree of the vertices.
    pub mean: f64,
    /// The largest degree of a vertex.
    pub max: u32,
    /// The 10th percentile of the degrees.
    pub p10: u32,
    /// The median of the degrees.
    pub p50: u32,
    /// The 90th percentile of the degrees.
    pub p90: u32,
    /// The 99th percentile of the degrees.
    pub p99: u32,
    /// The Gini coefficient of the degrees: 0 if all degrees are equal, near 1 if a few vertices
    /// have nearly all arcs.
    pub gini: f64,
}

/// The range of the weights of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WeightRange {
    /// Whether all weights are whole numbers from 0 to 2^32 - 1.
    pub whole: bool,
    /// The smallest weight of an arc.
    pub min: f64,
    /// The mean weight of the arcs.
    pub mean: f64,
    /// The largest weight of an arc.
    pub max: f64,
}

const WEDGES_SAMPLED: u64 = 100_000;

impl GraphInfo {
    /// The statistics of a graph.
    #[must_use]
    pub fn of(graph: &Csr) -> GraphInfo {
        let reversed = graph.reversed();
        let symmetric = graph.offsets == reversed.offsets && graph.targets == reversed.targets;
        let undirected = graph.joined_with(&reversed);
        drop(reversed);
        let parts = Components::of(&undirected);
        let (mut self_loops, mut parallel_arcs, mut apart, mut bandwidth) = (0, 0, 0u128, 0);
        for v in 0..graph.vertices() {
            let row = graph.neighbours(v);
            self_loops += row.iter().filter(|&&u| u == v).count() as u64;
            parallel_arcs += row.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64;
            apart += row.iter().map(|&u| u128::from(u.abs_diff(v))).sum::<u128>();
            bandwidth = row.iter().map(|u| u.abs_diff(v)).max().unwrap_or(0).max(bandwidth);
        }
        GraphInfo {
            vertices: u64::from(graph.vertices()),
            arcs: graph.edges(),
            symmetric,
            self_loops,
            parallel_arcs,
            degree: Degrees::of(graph),
            components: parts.count,
            largest_component: parts.largest,
            diameter_hops_min: pseudo_diameter(&undirected, parts.largest_start),
            locality: share(apart as f64, graph.edges() as f64 * f64::from(graph.vertices())),
            bandwidth: u64::from(bandwidth),
            clustering: clustering(&undirected),
            weights: graph.weights.as_ref().filter(|weights| !weights.is_empty()).map(|weights| {
                WeightRange {
                    whole: matches!(weights, super::Weights::Whole(_)),
                    min: weights.iter().fold(f64::INFINITY, f64::min),
                    mean: weights.iter().sum::<f64>() / weights.len() as f64,
                    max: weights.iter().fold(f64::NEG_INFINITY, f64::max),
                }
            }),
        }
    }
}

/// `part / whole`, or 0 if `whole` is 0.
fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

impl Degrees {
    /// The distribution of the out-degrees of a graph. All fields are zero if the graph has no
    /// vertices.
    #[must_use]
    pub fn of(graph: &Csr) -> Degrees {
        let mut sorted: Vec<u32> = (0..graph.vertices()).map(|v| graph.degree(v)).collect();
        sorted.sort_unstable();
        let Some(last) = sorted.len().checked_sub(1) else { return Degrees::default() };
        let percentile = |percent: usize| sorted[(last * percent).div_ceil(100)];
        let (count, arcs) = (sorted.len() as f64, graph.edges() as f64);
        let weighted: f64 =
            sorted.iter().zip(1u32..).map(|(&degree, rank)| f64::from(degree) * f64::from(rank)).sum();
        Degrees {
            min: sorted[0],
            mean: arcs / count,
            max: sorted[last],
            p10: percentile(10),
            p50: percentile(50),
            p90: percentile(90),
            p99: percentile(99),
            gini: share(2.0 * weighted - (count + 1.0) * arcs, count * arcs),
        }
    }
}

/// The connected components of an undirected graph.
struct Components {
    count: u64,
    largest: u64,
    largest_start: u32,
}

impl Components {
    fn of(undirected: &Csr) -> Components {
        let mut parts = Components { count: 0, largest: 0, largest_start: 0 };
        let mut seen = vec![false; undirected.vertices() as usize];
        let mut queue = Vec::new();
        for start in 0..undirected.vertices() {
            if core::mem::replace(&mut seen[start as usize], true) {
                continue;
            }
            parts.count += 1;
            queue.clear();
            queue.push(start);
            let mut next = 0;
            while let Some(&v) = queue.get(next) {
                next += 1;
                for &u in undirected.neighbours(v) {
                    if !core::mem::replace(&mut seen[u as usize], true) {
                        queue.push(u);
                    }
                }
            }
            if next as u64 > parts.largest {
                (parts.largest, parts.largest_start) = (next as u64, start);
            }
        }
        parts
    }
}

/// A lower bound of the diameter, in arcs. A breadth-first search begins at `start`. Each further
/// search begins at the farthest vertex of the search before. The searches end when the largest
/// distance no longer grows, or after eight searches.
fn pseudo_diameter(undirected: &Csr, start: u32) -> u64 {
    const SWEEPS_MAX: u32 = 8;
    let (mut from, mut farthest) = (start, 0);
    let sweeps = if undirected.vertices() > 0 { SWEEPS_MAX } else { 0 };
    for _ in 0..sweeps {
        let hops = hops(undirected, from);
        let reached = hops.iter().zip(0..).filter(|(hops, _)| **hops != UNREACHED_HOPS);
        // Of the farthest vertices, the one with the lowest number is taken, so that the order of
        // the search does not matter.
        let Some((&distance, vertex)) = reached.max_by_key(|(hops, vertex)| (**hops, u32::MAX - vertex))
        else {
            break;
        };
        from = vertex;
        if distance <= farthest {
            break;
        }
        farthest = distance;
    }
    u64::from(farthest)
}

/// The share of sampled wedges that are closed. A wedge is a vertex with two of its neighbours; it
/// is closed if they are neighbours of each other.
fn clustering(undirected: &Csr) -> f64 {
    let mut wedges = 0;
    let until: Vec<u64> = (0..undirected.vertices())
        .map(|v| {
            let degree = u64::from(undirected.degree(v));
            wedges += degree * degree.saturating_sub(1) / 2;
            wedges
        })
        .collect();
    if wedges == 0 {
        return 0.0;
    }
    let mut rng = Rng::new(0);
    let mut closed = 0;
    for _ in 0..WEDGES_SAMPLED {
        let draw = rng.below(wedges);
        let middle = until.partition_point(|&until| until <= draw) as u32;
        let row = undirected.neighbours(middle);
        let first = rng.below(row.len() as u64) as usize;
        let second = rng.below(row.len() as u64 - 1) as usize;
        let second = second + usize::from(second >= first);
        closed += u64::from(undirected.neighbours(row[first]).binary_search(&row[second]).is_ok());
    }
    closed as f64 / WEDGES_SAMPLED as f64
}

impl fmt::Display for GraphInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let d = &self.degree;
        writeln!(f, "vertices    {}", grouped(self.vertices))?;
        let kind = if self.symmetric { "symmetric" } else { "directed" };
        write!(f, "arcs        {}, {kind}", grouped(self.arcs))?;
        let loops = plural(self.self_loops, "self loop");
        writeln!(f, ", {} {loops}, {} parallel", grouped(self.self_loops), grouped(self.parallel_arcs))?;
        write!(f, "degree      {} to {}, mean {:.2}", d.min, grouped(u64::from(d.max)), d.mean)?;
        writeln!(f, ", p10 {}, p50 {}, p90 {}, p99 {}, Gini {:.2}", d.p10, d.p50, d.p90, d.p99, d.gini)?;
        let percent = 100.0 * share(self.largest_component as f64, self.vertices as f64);
        write!(f, "components  {}", grouped(self.components))?;
        let (largest, hops) = (self.largest_component, self.diameter_hops_min);
        writeln!(f, ", the largest has {} {} ({percent:.1}%)", grouped(largest), plural(largest, "vertex"))?;
        writeln!(f, "diameter    at least {} {}", grouped(hops), plural(hops, "hop"))?;
        write!(f, "locality    {:.5} (mean |u - v| / n; 0.33 is random)", self.locality)?;
        writeln!(f, ", bandwidth {} (largest |u - v|)", grouped(self.bandwidth))?;
        writeln!(f, "clustering  {:.3} (share of sampled wedges that are closed)", self.clustering)?;
        match &self.weights {
            None => writeln!(f, "weights     none"),
            Some(w) => {
                let kind = if w.whole { "whole" } else { "real" };
                writeln!(f, "weights     {kind}, {} to {}, mean {:.3}", w.min, w.max, w.mean)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Weights;
    use super::*;

    fn both_ways(vertices: u32, edges: &[(u32, u32)]) -> Csr {
        let arcs = edges.iter().flat_map(|&(u, v)| [(u, v), (v, u)]).collect();
        Csr::from_edges(vertices, arcs)
    }

    #[test]
    fn a_path_has_its_length_as_diameter_and_no_triangle() {
        let edges: Vec<(u32, u32)> = (0..999).map(|v| (v, v + 1)).collect();
        let info = GraphInfo::of(&both_ways(1000, &edges));
        assert_eq!((info.vertices, info.arcs, info.components), (1000, 1998, 1));
        assert_eq!((info.largest_component, info.diameter_hops_min), (1000, 999));
        assert!(info.symmetric && info.clustering == 0.0);
        assert!((info.locality - 0.001).abs() < 1e-12);
        assert_eq!(info.bandwidth, 1);
        assert_eq!((info.degree.min, info.degree.p10, info.degree.p50, info.degree.max), (1, 2, 2, 2));
        assert!(info.degree.gini < 0.01);
    }

    #[test]
    fn a_star_is_unequal_and_a_clique_is_closed() {
        let star: Vec<(u32, u32)> = (1..1000).map(|v| (0, v)).collect();
        let info = GraphInfo::of(&both_ways(1000, &star));
        assert_eq!(
            (info.degree.max, info.degree.p99, info.diameter_hops_min, info.bandwidth),
            (999, 1, 2, 999)
        );
        // The vertex in the middle has half of all ends of arcs.
        assert!((info.degree.gini - 0.499).abs() < 1e-9, "{}", info.degree.gini);
        let clique: Vec<(u32, u32)> = (0..20).flat_map(|v| (0..v).map(move |u| (u, v))).collect();
        assert_eq!(GraphInfo::of(&both_ways(20, &clique)).clustering, 1.0);
    }

    #[test]
    fn loops_parallel_arcs_direction_and_components_are_counted() {
        let info = GraphInfo::of(&Csr::from_edges(6, vec![(0, 0), (0, 1), (0, 1), (2, 3), (3, 4)]));
        assert_eq!((info.self_loops, info.parallel_arcs, info.symmetric), (1, 1, false));
        assert_eq!((info.components, info.largest_component, info.diameter_hops_min), (3, 3, 2));
    }

    #[test]
    fn an_empty_graph_has_statistics_too() {
        let info = GraphInfo::of(&Csr::from_edges(0, vec![]));
        assert_eq!((info.vertices, info.components, info.diameter_hops_min), (0, 0, 0));
        assert_eq!((info.locality, info.degree.mean, info.bandwidth), (0.0, 0.0, 0));
    }

    #[test]
    fn the_rendering_shows_each_number() {
        let mut graph = both_ways(1234, &[(0, 1), (1, 2), (0, 2), (2, 3)]);
        graph.weights = Some(Weights::from_values(vec![1.5; 8]));
        let want = "\
vertices    1,234
arcs        8, symmetric, 0 self loops, 0 parallel
degree      0 to 3, mean 0.01, p10 0, p50 0, p90 0, p99 0, Gini 1.00
components  1,231, the largest has 4 vertices (0.3%)
diameter    at least 2 hops
locality    0.00101 (mean |u - v| / n; 0.33 is random), bandwidth 2 (largest |u - v|)
clustering  0.600 (share of sampled wedges that are closed)
weights     real, 1.5 to 1.5, mean 1.500
";
        let text = GraphInfo::of(&graph).to_string();
        let fixed = |line: &&str| !line.starts_with("clustering");
        assert!(text.lines().filter(fixed).eq(want.lines().filter(fixed)), "{text}");
        assert!((GraphInfo::of(&graph).clustering - 0.6).abs() < 0.01, "three of five wedges");
    }
}
