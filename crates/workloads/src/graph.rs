//! Directed graphs in compressed sparse rows, and a seeded generator.

use kernel::rng::Rng;

/// A directed graph: the targets of vertex `v` are
/// `targets[offsets[v]..offsets[v + 1]]`, in ascending order. Parallel edges
/// may occur.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Csr {
    /// Where each vertex's targets start; one entry more than vertices.
    pub offsets: Vec<u32>,
    /// The targets.
    pub targets: Vec<u32>,
}

impl Csr {
    /// A graph of these edges.
    ///
    /// # Panics
    /// If an edge names a vertex that does not exist.
    #[must_use]
    pub fn from_edges(vertices: u32, mut edges: Vec<(u32, u32)>) -> Self {
        edges.sort_unstable();
        let mut offsets = vec![0u32; vertices as usize + 1];
        for &(source, target) in &edges {
            assert!(source < vertices && target < vertices, "edge {source} -> {target} leaves the graph");
            offsets[source as usize + 1] += 1;
        }
        for v in 0..vertices as usize {
            offsets[v + 1] += offsets[v];
        }
        Csr { offsets, targets: edges.into_iter().map(|(_, target)| target).collect() }
    }

    /// How many vertices.
    #[must_use]
    pub fn vertices(&self) -> u32 {
        self.offsets.len().saturating_sub(1) as u32
    }

    /// How many edges.
    #[must_use]
    pub fn edges(&self) -> u64 {
        self.targets.len() as u64
    }

    /// How many edges leave a vertex.
    ///
    /// # Panics
    /// If there is no such vertex.
    #[must_use]
    pub fn degree(&self, vertex: u32) -> u32 {
        self.offsets[vertex as usize + 1] - self.offsets[vertex as usize]
    }

    /// The source of each edge, in the order of the targets.
    #[must_use]
    pub fn sources(&self) -> Vec<u32> {
        let each = |v| core::iter::repeat_n(v, self.degree(v) as usize);
        (0..self.vertices()).flat_map(each).collect()
    }
}

/// A graph with few vertices of high degree and many of low degree: the
/// recursive-matrix generator with the probabilities 0.57, 0.19, 0.19, 0.05
/// that Graph500 uses. Edges that leave the graph, and self loops, are drawn anew.
#[must_use]
pub fn power_law(vertices: u32, edges: u64, seed: u64) -> Csr {
    let mut rng = Rng::new(seed);
    let bits = vertices.max(2).next_power_of_two().trailing_zeros();
    let mut list = Vec::with_capacity(edges as usize);
    while (list.len() as u64) < edges && vertices > 1 {
        let (mut source, mut target) = (0, 0);
        for _ in 0..bits {
            let draw = rng.below(100);
            source = source << 1 | u32::from(draw >= 76);
            target = target << 1 | u32::from((57..76).contains(&draw) || draw >= 95);
        }
        if source < vertices && target < vertices && source != target {
            list.push((source, target));
        }
    }
    Csr::from_edges(vertices, list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_hold_the_edges_they_were_made_of() {
        let csr = Csr::from_edges(4, vec![(2, 1), (0, 3), (2, 0), (0, 1)]);
        assert_eq!(csr.offsets, [0, 2, 2, 4, 4]);
        assert_eq!(csr.targets, [1, 3, 0, 1]);
        assert_eq!(csr.sources(), [0, 0, 2, 2]);
        assert_eq!((csr.vertices(), csr.edges(), csr.degree(2)), (4, 4, 2));
    }

    #[test]
    fn the_generator_keeps_its_promise_for_any_size() {
        for (vertices, edges) in [(2, 5), (3, 10), (1000, 5000), (16384, 100_000)] {
            let csr = power_law(vertices, edges, 7);
            assert_eq!((csr.vertices(), csr.edges()), (vertices, edges));
            assert!(csr.sources().iter().zip(&csr.targets).all(|(s, t)| s != t));
            assert_eq!(csr, power_law(vertices, edges, 7));
            assert_ne!(csr, power_law(vertices, edges, 8));
        }
    }

    #[test]
    fn degrees_are_skewed() {
        let csr = power_law(16384, 100_000, 1);
        let mut degrees: Vec<u32> = (0..csr.vertices()).map(|v| csr.degree(v)).collect();
        degrees.sort_unstable_by(|a, b| b.cmp(a));
        let top: u32 = degrees[..164].iter().sum();
        // One vertex in a hundred has more than a tenth of all edges, and half have few.
        assert!(top > 10_000, "{top}");
        assert!(degrees[8192] < 4, "{}", degrees[8192]);
    }
}
