//! A graph as the applications read it: for each vertex, who points at it.

use crate::graph::Csr;

/// The arcs of a graph by their targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InArcs {
    /// Where each vertex's arcs start; one entry more than vertices.
    pub(crate) offsets: Vec<u32>,
    /// Where each arc comes from, in ascending order within a vertex.
    pub(crate) sources: Vec<u32>,
    /// The length of each arc.
    pub(crate) lengths: Vec<u32>,
    /// How many arcs leave each vertex.
    pub(crate) out_degrees: Vec<u32>,
}

impl InArcs {
    /// Of a graph and the lengths of its arcs in the order of its targets.
    pub(crate) fn of(graph: &Csr, lengths: &[u32]) -> Self {
        let vertices = graph.vertices() as usize;
        let mut offsets = vec![0u32; vertices + 1];
        for &target in &graph.targets {
            offsets[target as usize + 1] += 1;
        }
        for v in 0..vertices {
            offsets[v + 1] += offsets[v];
        }
        let mut next = offsets.clone();
        let (mut sources, mut sorted) = (vec![0; graph.targets.len()], vec![0; graph.targets.len()]);
        let mut out_degrees = vec![0; vertices];
        for ((source, &target), &length) in graph.sources().into_iter().zip(&graph.targets).zip(lengths) {
            let slot = &mut next[target as usize];
            (sources[*slot as usize], sorted[*slot as usize]) = (source, length);
            *slot += 1;
            out_degrees[source as usize] += 1;
        }
        InArcs { offsets, sources, lengths: sorted, out_degrees }
    }

    /// Who is next to whom: each arc both ways, without self loops and
    /// parallel arcs. All lengths are 1.
    pub(crate) fn undirected(graph: &Csr) -> Self {
        let arcs = graph.sources().into_iter().zip(graph.targets.iter().copied());
        let mut both: Vec<(u32, u32)> =
            arcs.filter(|(s, t)| s != t).flat_map(|(s, t)| [(s, t), (t, s)]).collect();
        both.sort_unstable();
        both.dedup();
        let graph = Csr::from_edges(graph.vertices(), both);
        let lengths = vec![1; graph.targets.len()];
        InArcs::of(&graph, &lengths)
    }

    /// How many vertices.
    pub(crate) fn vertices(&self) -> u32 {
        self.out_degrees.len() as u32
    }

    /// The arcs that reach a vertex: where they come from, and their lengths.
    pub(crate) fn reaching(&self, vertex: usize) -> impl Iterator<Item = (usize, u32)> + '_ {
        let row = self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize;
        row.map(|arc| (self.sources[arc] as usize, self.lengths[arc]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arcs_stand_at_their_targets_with_their_lengths() {
        let graph = Csr::from_edges(4, vec![(0, 1), (0, 3), (2, 1), (2, 2), (3, 1)]);
        let arcs = InArcs::of(&graph, &[10, 11, 12, 13, 14]);
        assert_eq!(arcs.offsets, [0, 0, 3, 4, 5]);
        assert_eq!(arcs.reaching(1).collect::<Vec<_>>(), [(0, 10), (2, 12), (3, 14)]);
        assert_eq!(arcs.reaching(3).collect::<Vec<_>>(), [(0, 11)]);
        assert_eq!((arcs.out_degrees.as_slice(), arcs.vertices()), (&[2, 0, 2, 1][..], 4));
    }

    #[test]
    fn neighbours_are_mutual_and_neither_oneself_nor_twice_there() {
        let arcs = InArcs::undirected(&Csr::from_edges(3, vec![(0, 1), (1, 0), (1, 1), (1, 2), (1, 2)]));
        assert_eq!(arcs.offsets, [0, 1, 3, 4]);
        assert_eq!(arcs.sources, [1, 0, 2, 1]);
    }
}
