//! Shortest paths on the host.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::Csr;

/// The number that stands for the distance of an unreachable vertex.
pub const UNREACHED: u64 = u64::MAX;

/// The number that stands for the hops to an unreachable vertex.
pub const UNREACHED_HOPS: u32 = u32::MAX;

/// The length of the shortest path from `source` to each vertex. The lengths of arcs are those of
/// [`Csr::lengths`].
///
/// # Panics
/// If the graph has no vertex `source`.
#[must_use]
pub fn dijkstra(graph: &Csr, source: u32) -> Vec<u64> {
    let lengths = graph.lengths();
    let mut distance = vec![UNREACHED; graph.vertices() as usize];
    distance[source as usize] = 0;
    let mut queue = BinaryHeap::from([Reverse((0, source))]);
    while let Some(Reverse((reached, v))) = queue.pop() {
        if reached > distance[v as usize] {
            continue;
        }
        for index in graph.row(v) {
            let (u, through) = (graph.targets[index], reached + u64::from(lengths[index]));
            if through < distance[u as usize] {
                distance[u as usize] = through;
                queue.push(Reverse((through, u)));
            }
        }
    }
    distance
}

/// The distance of each vertex from `source` after a number of sweeps. In a sweep, each vertex
/// takes the minimum of its own distance and of the distances over its predecessors. The distance
/// over a predecessor is the predecessor's distance plus the length of the arc.
///
/// # Panics
/// If the graph has no vertex `source`.
#[must_use]
pub fn distance_sweeps(graph: &Csr, source: u32, sweeps: u64) -> Vec<u64> {
    let lengths = graph.lengths();
    let mut distance = vec![UNREACHED; graph.vertices() as usize];
    distance[source as usize] = 0;
    for _ in 0..sweeps {
        let mut next = distance.clone();
        for v in 0..graph.vertices() {
            for index in graph.row(v) {
                let through = distance[v as usize].saturating_add(u64::from(lengths[index]));
                let slot = &mut next[graph.targets[index] as usize];
                *slot = (*slot).min(through);
            }
        }
        if next == distance {
            break;
        }
        distance = next;
    }
    distance
}

/// The number of arcs on the path with the fewest arcs, from `source` to each vertex.
///
/// # Panics
/// If the graph has no vertex `source`.
#[must_use]
pub fn hops(graph: &Csr, source: u32) -> Vec<u32> {
    let mut hops = vec![UNREACHED_HOPS; graph.vertices() as usize];
    hops[source as usize] = 0;
    let mut queue = vec![source];
    let mut next = 0;
    while let Some(&v) = queue.get(next) {
        next += 1;
        for &u in graph.neighbours(v) {
            if hops[u as usize] == UNREACHED_HOPS {
                hops[u as usize] = hops[v as usize] + 1;
                queue.push(u);
            }
        }
    }
    hops
}

#[cfg(test)]
mod tests {
    use super::super::super::{Weights, power_law};
    use super::*;

    #[test]
    fn a_detour_may_be_shorter() {
        let mut graph = Csr::from_edges(4, vec![(0, 1), (0, 2), (2, 1)]);
        graph.weights = Some(Weights::Whole(vec![10, 3, 4]));
        assert_eq!(dijkstra(&graph, 0), [0, 7, 3, UNREACHED]);
        assert_eq!(hops(&graph, 0), [0, 1, 1, UNREACHED_HOPS]);
    }

    #[test]
    fn sweeps_converge_to_the_shortest_distances_from_above() {
        let mut graph = power_law(200, 1000, 3);
        graph.weights = Some(Weights::Whole((0..1000).map(|index| index * 7919 % 100).collect()));
        let exact = dijkstra(&graph, 0);
        assert!(exact.iter().filter(|&&distance| distance < UNREACHED).count() > 50);
        let mut last = distance_sweeps(&graph, 0, 0);
        assert_eq!(last.iter().filter(|&&distance| distance == 0).count(), 1);
        for sweeps in 1..200 {
            let now = distance_sweeps(&graph, 0, sweeps);
            assert!(now.iter().zip(&last).all(|(now, last)| now <= last));
            last = now;
        }
        assert_eq!(last, exact);
        // One sweep reaches only the neighbours of the source.
        let reached = distance_sweeps(&graph, 0, 1).iter().filter(|&&d| d < UNREACHED).count();
        assert_eq!(reached, hops(&graph, 0).iter().filter(|&&hops| hops <= 1).count());
    }
}
