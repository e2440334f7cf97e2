//! PageRank by pulling: in each sweep, every vertex adds up the contributions of its predecessors.
//! A vertex without outgoing arcs passes its rank on to no other vertex, so its rank is lost in
//! each sweep.

use kernel::Use;
use kernel::prelude::*;

use super::input::InArcs;
use super::sweep::{Application, rows};

const DAMPING: f32 = 0.85;

/// The program counts a rank as unchanged if its relative change in a sweep is at most this number.
const CHANGE_MAX: f32 = 1e-5;

/// The maximum relative difference between a rank, which is in single precision, and the rank by
/// power iteration in double precision.
pub(crate) const TOLERANCE: f64 = 1e-4;

/// The arrays of the sweeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageRank {
    offsets: Array<u32>,
    sources: Array<u32>,
    out_degrees: Array<u32>,
    /// The rank of each vertex. Only the work-item of a vertex reads its rank.
    ranks: Array<f32>,
    /// The contribution of each vertex along each of its arcs, before and after a sweep. The two
    /// arrays change roles in each sweep.
    contributions: [Array<f32>; 2],
    /// The part of a rank that does not depend on predecessors.
    base: f32,
}

impl PageRank {
    pub(crate) async fn load(host: &Host, arcs: &InArcs) -> Self {
        let vertices = u64::from(arcs.vertices());
        let app = PageRank {
            offsets: host.alloc("offsets", vertices + 1),
            sources: host.alloc("sources", arcs.sources.len() as u64),
            out_degrees: host.alloc("out-degrees", vertices),
            ranks: host.alloc("ranks", vertices),
            contributions: [
                host.alloc("contributions-even", vertices),
                host.alloc("contributions-odd", vertices),
            ],
            base: (1.0 - DAMPING) / vertices as f32,
        };
        let first = 1.0 / vertices as f32;
        let contributions: Vec<f32> =
            arcs.out_degrees.iter().map(|&degree| contribution(first, degree)).collect();
        host.write(app.offsets, &arcs.offsets).await;
        host.write(app.sources, &arcs.sources).await;
        host.write(app.out_degrees, &arcs.out_degrees).await;
        host.write(app.ranks, &vec![first; contributions.len()]).await;
        host.write(app.contributions[0], &contributions).await;
        app
    }

    /// The array that has the rank of each vertex.
    pub(crate) fn result(&self) -> Array<f32> {
        self.ranks
    }
}

fn contribution(rank: f32, out_degree: u32) -> f32 {
    if out_degree == 0 { 0.0 } else { rank / out_degree as f32 }
}

impl Application for PageRank {
    const NAME: &'static str = "pull";

    fn uses(&self, sweep: u32) -> Vec<Use> {
        let (old, new) =
            (self.contributions[sweep as usize % 2], self.contributions[(sweep as usize + 1) % 2]);
        let graph = [self.offsets.read(), self.sources.read(), self.out_degrees.read()];
        [graph.as_slice(), &[self.ranks.read_write(), old.read(), new.write()]].concat()
    }

    async fn visit(&self, w: &Wave, first: u64, sweep: u32) -> u32 {
        let (old, new) =
            (self.contributions[sweep as usize % 2], self.contributions[(sweep as usize + 1) % 2]);
        let (rank, degree) = (w.load(self.ranks, Unit(first)), w.load(self.out_degrees, Unit(first)));
        let (mut arc, end) = rows(w, self.offsets, first).await;
        let mut sum = Lanes::splat(0.0f32);
        let mut todo = w.when(arc.lt(end));
        while todo.any() {
            let source = todo.load(self.sources, arc).await;
            let more = sum + todo.load(old, source).await;
            sum.assign(todo.mask(), more);
            arc += 1;
            todo = todo.when(arc.lt(end));
        }
        let (rank, degree) = (rank.await, degree.await);
        let next = sum * DAMPING + self.base;
        let gives = Lanes::select(degree.eq(0), 0.0, next / degree.to_f32());
        w.store(self.ranks, Unit(first), next);
        w.store(new, Unit(first), gives);
        ((next - rank).abs().gt(next * CHANGE_MAX) & w.mask()).count()
    }
}

/// The number of sweeps until no rank changes any more. The host computes this number in single
/// precision, with the same order of additions as the device.
pub(crate) fn sweeps_needed(arcs: &InArcs) -> u32 {
    let vertices = arcs.vertices() as f32;
    let mut ranks = vec![1.0 / vertices; arcs.vertices() as usize];
    for sweep in 1.. {
        let give = |(&rank, &degree): (&f32, &u32)| contribution(rank, degree);
        let contributions: Vec<f32> = ranks.iter().zip(&arcs.out_degrees).map(give).collect();
        let pull = |v| arcs.reaching(v).fold(0.0f32, |sum, (u, _)| sum + contributions[u]);
        let next: Vec<f32> =
            (0..ranks.len()).map(|v| pull(v) * DAMPING + (1.0 - DAMPING) / vertices).collect();
        let moved = next.iter().zip(&ranks).any(|(next, rank)| (next - rank).abs() > next * CHANGE_MAX);
        ranks = next;
        if !moved {
            return sweep;
        }
    }
    u32::MAX
}

/// The ranks after `steps` steps of the power iteration in double precision.
pub(crate) fn reference(arcs: &InArcs, steps: u32) -> Vec<f64> {
    let (damping, vertices) = (f64::from(DAMPING), f64::from(arcs.vertices()));
    let mut ranks = vec![1.0 / vertices; arcs.vertices() as usize];
    for _ in 0..steps {
        let give = |(u, _): (usize, u32)| ranks[u] / f64::from(arcs.out_degrees[u]);
        let pull = |v| arcs.reaching(v).map(give).sum::<f64>();
        ranks = (0..ranks.len()).map(|v| pull(v) * damping + (1.0 - damping) / vertices).collect();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::power_law;

    #[test]
    fn converged_ranks_are_near_those_of_a_long_power_iteration() {
        let arcs = InArcs::of(&power_law(300, 2000, 5)).unwrap();
        let sweeps = sweeps_needed(&arcs);
        assert!((10..200).contains(&sweeps), "{sweeps}");
        let (now, end) = (reference(&arcs, sweeps), reference(&arcs, 1000));
        let far = now.iter().zip(&end).map(|(now, end)| (now - end).abs() / end).fold(0.0, f64::max);
        assert!(far < TOLERANCE, "{far}");
        // After three steps the ranks still differ.
        let early = reference(&arcs, 3);
        assert!(early.iter().zip(&end).any(|(now, end)| (now - end).abs() / end > TOLERANCE));
    }
}
