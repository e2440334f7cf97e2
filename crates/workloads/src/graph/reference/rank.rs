//! PageRank by power iteration on the host.

use super::super::Csr;

/// The result of a power iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranks {
    /// The PageRank of each vertex.
    pub ranks: Vec<f64>,
    /// The number of sweeps (steps of the power iteration) that were performed.
    pub sweeps: u64,
    /// The sum of the changes of all ranks in the last sweep (step of the power iteration).
    pub change: f64,
}

/// Computes ranks by sweeps, which begin with equal ranks. The sweeps end when the sum of changes
/// is at most `tolerance`, or after `sweeps_max` sweeps. In a sweep, each vertex gets the rank
/// `(1 - damping) / n + damping * sum(rank(u) / degree(u))`. Here, `n` is the number of vertices,
/// and the sum is over the vertices `u` with an arc to the vertex. A vertex without
/// outgoing arcs passes its rank on to no vertex. If there is such a vertex, the ranks add up to
/// less than 1.
#[must_use]
pub fn ranks(graph: &Csr, damping: f64, tolerance: f64, sweeps_max: u64) -> Ranks {
    let vertices = f64::from(graph.vertices());
    let mut now =
        Ranks { ranks: vec![1.0 / vertices; graph.vertices() as usize], sweeps: 0, change: f64::INFINITY };
    while now.sweeps < sweeps_max && now.change > tolerance {
        let mut sums = vec![0.0; now.ranks.len()];
        for v in 0..graph.vertices() {
            let share = now.ranks[v as usize] / f64::from(graph.degree(v));
            for &u in graph.neighbours(v) {
                sums[u as usize] += share;
            }
        }
        let next: Vec<f64> = sums.into_iter().map(|sum| (1.0 - damping) / vertices + damping * sum).collect();
        now.change = next.iter().zip(&now.ranks).map(|(next, last)| (next - last).abs()).sum();
        now.ranks = next;
        now.sweeps += 1;
    }
    now
}

/// The ranks after exactly `sweeps` sweeps (steps of the power iteration).
#[must_use]
pub fn rank_sweeps(graph: &Csr, damping: f64, sweeps: u64) -> Vec<f64> {
    ranks(graph, damping, -1.0, sweeps).ranks
}

#[cfg(test)]
mod tests {
    use super::super::super::power_law;
    use super::*;

    #[test]
    fn ranks_converge_to_a_fixed_point_with_sum_one() {
        let graph = power_law(300, 2000, 1).undirected();
        let graph = Csr::from_edges(
            300,
            graph.arcs().map(|(s, t, _)| (s, t)).chain((0..300).map(|v| (v, v))).collect(),
        );
        let found = ranks(&graph, 0.85, 1e-12, 1000);
        assert!(found.change <= 1e-12 && found.sweeps < 300, "{} sweeps", found.sweeps);
        assert!((found.ranks.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let more = rank_sweeps(&graph, 0.85, found.sweeps + 50);
        assert!(found.ranks.iter().zip(&more).all(|(a, b)| (a - b).abs() < 1e-11));
    }

    #[test]
    fn the_centre_of_a_star_has_the_exact_rank() {
        let graph = Csr::from_edges(5, (1..5).flat_map(|v| [(0, v), (v, 0)]).collect());
        let found = ranks(&graph, 0.85, 1e-14, 1000).ranks;
        // The rank `m` of the middle and the rank `l` of a leaf are m = 0.03 + 0.85 * 4 * l, l =
        // 0.03 + 0.85 * m / 4.
        let middle = (0.03 + 0.85 * 4.0 * 0.03) / (1.0 - 0.85 * 0.85);
        assert!((found[0] - middle).abs() < 1e-12, "{found:?}");
        assert_eq!(rank_sweeps(&graph, 0.85, 0), [0.2; 5]);
        assert!((rank_sweeps(&graph, 0.85, 1)[0] - (0.03 + 0.85 * 0.8)).abs() < 1e-12);
    }
}
