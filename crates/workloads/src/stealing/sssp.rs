//! Shortest paths from one vertex. In each sweep, every vertex adds, for each predecessor, the
//! length of the arc to the distance of the predecessor. The new distance of the vertex is the
//! minimum of these sums and of its old distance.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use kernel::Use;
use kernel::prelude::*;

use super::input::InArcs;
use super::sweep::{Application, rows};

/// The number that stands for the distance of an unreached vertex.
pub(crate) const UNREACHED: u32 = u32::MAX;

/// The arrays of the sweeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sssp {
    offsets: Array<u32>,
    sources: Array<u32>,
    lengths: Array<u32>,
    /// The distances before a sweep and those after it. The two arrays change roles in each sweep.
    distances: [Array<u32>; 2],
}

impl Sssp {
    pub(crate) async fn load(host: &Host, arcs: &InArcs, from: u32) -> Self {
        let (vertices, count) = (u64::from(arcs.vertices()), arcs.sources.len() as u64);
        let app = Sssp {
            offsets: host.alloc("offsets", vertices + 1),
            sources: host.alloc("sources", count),
            lengths: host.alloc("lengths", count),
            distances: [host.alloc("distances-even", vertices), host.alloc("distances-odd", vertices)],
        };
        host.write(app.offsets, &arcs.offsets).await;
        host.write(app.sources, &arcs.sources).await;
        host.write(app.lengths, &arcs.lengths).await;
        host.write(app.distances[0], &start(arcs, from)).await;
        app
    }

    /// The array that has the distances after `sweeps` sweeps.
    pub(crate) fn result(&self, sweeps: usize) -> Array<u32> {
        self.distances[sweeps % 2]
    }
}

impl Application for Sssp {
    const NAME: &'static str = "relax";

    fn uses(&self, sweep: u32) -> Vec<Use> {
        let (old, new) = (self.result(sweep as usize), self.result(sweep as usize + 1));
        vec![self.offsets.read(), self.sources.read(), self.lengths.read(), old.read(), new.write()]
    }

    async fn visit(&self, w: &Wave, first: u64, sweep: u32) -> u32 {
        let (old, new) = (self.result(sweep as usize), self.result(sweep as usize + 1));
        let distance = w.load(old, Unit(first));
        let (mut arc, end) = rows(w, self.offsets, first).await;
        let distance = distance.await;
        let mut best = distance;
        let mut todo = w.when(arc.lt(end));
        while todo.any() {
            let (source, length) = (todo.load(self.sources, arc), todo.load(self.lengths, arc));
            let theirs = todo.load(old, source.await).await;
            let path = theirs.zip(Class::Int, length.await, u32::saturating_add);
            best.assign(todo.mask(), best.min(path));
            arc += 1;
            todo = todo.when(arc.lt(end));
        }
        w.store(new, Unit(first), best);
        (best.ne(distance) & w.mask()).count()
    }
}

fn start(arcs: &InArcs, from: u32) -> Vec<u32> {
    (0..arcs.vertices()).map(|v| if v == from { 0 } else { UNREACHED }).collect()
}

/// Computes the distances on the host by `sweeps` sweeps. If `sweeps` is 0, the sweeps end after
/// the first one that changes no distance. Returns the distances and the number of sweeps.
pub(crate) fn reference(arcs: &InArcs, from: u32, sweeps: u32) -> (Vec<u32>, u32) {
    let mut old = start(arcs, from);
    for sweep in 0.. {
        if sweeps != 0 && sweep == sweeps {
            return (old, sweep);
        }
        let reach = |v: usize| {
            let paths = arcs.reaching(v).map(|(u, length)| old[u].saturating_add(length));
            paths.fold(old[v], u32::min)
        };
        let new: Vec<u32> = (0..old.len()).map(reach).collect();
        let is_same = new == old;
        old = new;
        if sweeps == 0 && is_same {
            return (old, sweep + 1);
        }
    }
    (old, u32::MAX)
}

/// The distances from the vertex `from`, computed on the host by Dijkstra's algorithm.
pub(crate) fn dijkstra(arcs: &InArcs, from: u32) -> Vec<u32> {
    let vertices = arcs.vertices() as usize;
    let mut leaving = vec![Vec::new(); vertices];
    for v in 0..vertices {
        for (u, length) in arcs.reaching(v) {
            leaving[u].push((v, length));
        }
    }
    let mut distances = start(arcs, from);
    let mut queue = BinaryHeap::from([Reverse((0, from as usize))]);
    while let Some(Reverse((distance, u))) = queue.pop() {
        if distance > distances[u] {
            continue;
        }
        for &(v, length) in &leaving[u] {
            let path = distance.saturating_add(length);
            if path < distances[v] {
                distances[v] = path;
                queue.push(Reverse((path, v)));
            }
        }
    }
    distances
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data;
    use crate::graph::{Weights, power_law};

    #[test]
    fn converged_sweeps_equal_dijkstra_and_fewer_sweeps_do_not() {
        let mut graph = power_law(500, 3000, 4);
        graph.weights = Some(Weights::Whole(data::words_below(3, 3000, 100)));
        let arcs = InArcs::of(&graph).unwrap();
        let (distances, sweeps) = reference(&arcs, 0, 0);
        assert!(sweeps > 4, "{sweeps}");
        assert_eq!(distances, dijkstra(&arcs, 0));
        assert_eq!(reference(&arcs, 0, sweeps - 1), (distances.clone(), sweeps - 1));
        assert_ne!(reference(&arcs, 0, sweeps - 2).0, distances);
        // Some vertices are unreachable, others need several arcs.
        assert!(distances.contains(&UNREACHED) && distances.contains(&0));
    }
}
