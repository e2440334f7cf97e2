//! A generator of graphs with a power law of degrees: the recursive-matrix generator.

use kernel::rng::Rng;

use super::Csr;

/// A graph in which a few vertices have a high degree and many a low one. The recursive-matrix
/// generator makes it, with the probabilities 0.57, 0.19, 0.19 and 0.05 of Graph500. It draws again
/// if an edge is a self loop or names a vertex outside the graph.
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
    fn the_generator_keeps_the_requested_size() {
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
        // A hundredth of the vertices has over a tenth of all edges. Half of the vertices have few
        // edges.
        assert!(top > 10_000, "{top}");
        assert!(degrees[8192] < 4, "{}", degrees[8192]);
    }
}
