//! The undirected edges that a generator makes, and the graph of these edges.

use rustc_hash::FxHashSet;

use super::super::{Csr, Offsets, Weights};

/// A set of undirected edges, in the order in which they were added.
pub(super) struct Edges {
    list: Vec<(u32, u32)>,
    known: FxHashSet<(u32, u32)>,
}

impl Edges {
    pub(super) fn with_capacity(edges: usize) -> Self {
        let mut known = FxHashSet::default();
        known.reserve(edges);
        Edges { list: Vec::with_capacity(edges), known }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Adds an edge, unless it is a self loop or a duplicate. Returns whether it was added.
    pub(super) fn add(&mut self, u: u32, v: u32) -> bool {
        let edge = (u.min(v), u.max(v));
        let added = u != v && self.known.insert(edge);
        if added {
            self.list.push(edge);
        }
        added
    }

    /// The same edges, in which `number[v]` replaces each vertex `v`.
    pub(super) fn renumbered(self, number: &[u32]) -> Self {
        let rename = |(u, v): (u32, u32)| (number[u as usize], number[v as usize]);
        Edges { list: self.list.into_iter().map(rename).collect(), known: FxHashSet::default() }
    }

    pub(super) fn into_graph(self, vertices: u32, weight: Option<&dyn Fn(u32, u32) -> u32>) -> Csr {
        graph_of(vertices, &self.list, weight)
    }
}

/// The graph that has two arcs for each edge. `weight` computes the weight of an edge. Its first
/// argument is the smaller vertex, so both arcs have the same weight.
pub(super) fn graph_of(vertices: u32, edges: &[(u32, u32)], weight: Option<&dyn Fn(u32, u32) -> u32>) -> Csr {
    let mut offsets = vec![0u64; vertices as usize + 1];
    for &(u, v) in edges {
        offsets[u as usize + 1] += 1;
        offsets[v as usize + 1] += 1;
    }
    for v in 0..vertices as usize {
        offsets[v + 1] += offsets[v];
    }
    let mut next = offsets.clone();
    let mut targets = vec![0; 2 * edges.len()];
    for &(u, v) in edges {
        for (source, target) in [(u, v), (v, u)] {
            targets[next[source as usize] as usize] = target;
            next[source as usize] += 1;
        }
    }
    let mut graph = Csr { offsets: Offsets::new(offsets), targets, weights: None };
    for v in 0..vertices {
        let row = graph.row(v);
        graph.targets[row].sort_unstable();
    }
    graph.weights = weight.map(|weight| {
        Weights::Whole(
            graph.arcs().map(|(source, target, _)| weight(source.min(target), source.max(target))).collect(),
        )
    });
    graph
}
