//! The graph on which the applications run: for each vertex, its incoming arcs.

use crate::graph::{Csr, Offsets};

/// The arcs of a graph, sorted by their targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InArcs {
    /// The index of each vertex's first incoming arc, followed by the number of arcs.
    pub(crate) offsets: Vec<u32>,
    /// The source of each arc. The arcs to one vertex are in ascending order of their sources.
    pub(crate) sources: Vec<u32>,
    /// The length of each arc.
    pub(crate) lengths: Vec<u32>,
    /// The number of arcs that leave each vertex.
    pub(crate) out_degrees: Vec<u32>,
}

impl InArcs {
    /// The incoming arcs of a graph. `None` if there are more arcs than 32 bits can count.
    pub(crate) fn of(graph: &Csr) -> Option<Self> {
        let out_degrees = (0..graph.vertices()).map(|v| graph.degree(v)).collect();
        let reversed = graph.reversed();
        let lengths = reversed.lengths();
        let Offsets::Narrow(offsets) = reversed.offsets else { return None };
        Some(InArcs { offsets, sources: reversed.targets, lengths, out_degrees })
    }

    /// The number of vertices.
    pub(crate) fn vertices(&self) -> u32 {
        self.out_degrees.len() as u32
    }

    /// The sources and lengths of the arcs to a vertex.
    pub(crate) fn reaching(&self, vertex: usize) -> impl Iterator<Item = (usize, u32)> + '_ {
        let row = self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize;
        row.map(|arc| (self.sources[arc] as usize, self.lengths[arc]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Weights;

    #[test]
    fn arcs_are_listed_at_their_targets_with_their_lengths() {
        let mut graph = Csr::from_edges(4, vec![(0, 1), (0, 3), (2, 1), (2, 2), (3, 1)]);
        graph.weights = Some(Weights::Whole(vec![10, 11, 12, 13, 14]));
        let arcs = InArcs::of(&graph).unwrap();
        assert_eq!(arcs.offsets, [0, 0, 3, 4, 5]);
        assert_eq!(arcs.reaching(1).collect::<Vec<_>>(), [(0, 10), (2, 12), (3, 14)]);
        assert_eq!(arcs.reaching(3).collect::<Vec<_>>(), [(0, 11)]);
        assert_eq!((arcs.out_degrees.as_slice(), arcs.vertices()), (&[2, 0, 2, 1][..], 4));
    }
}
