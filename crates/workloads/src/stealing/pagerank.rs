//! PageRank by pulling: each sweep, every vertex adds up what those that point
//! at it give. Rank that reaches a vertex without arcs goes no further.

use kernel::Use;
use kernel::prelude::*;

use super::input::InArcs;
use super::sweep::{Application, rows};

const DAMPING: f32 = 0.85;

/// A rank that moves by no more than this part of itself has not changed.
const STILL: f32 = 1e-5;

/// Ranks are in single precision; they may differ from the double-precision
/// power iteration by this part of themselves.
pub(crate) const TOLERANCE: f64 = 1e-4;

/// What the sweeps work on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageRank {
    offsets: Array<u32>,
    sources: Array<u32>,
    out_degrees: Array<u32>,
    /// Only its own vertex looks at a rank.
    ranks: Array<f32>,
    /// What a vertex gives along each arc, before and after a sweep, in turn.
    gifts: [Array<f32>; 2],
    /// What a vertex gets from nobody.
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
            gifts: [host.alloc("gifts-even", vertices), host.alloc("gifts-odd", vertices)],
            base: (1.0 - DAMPING) / vertices as f32,
        };
        let first = 1.0 / vertices as f32;
        let gifts: Vec<f32> = arcs.out_degrees.iter().map(|&degree| gift(first, degree)).collect();
        host.write(app.offsets, &arcs.offsets).await;
        host.write(app.sources, &arcs.sources).await;
        host.write(app.out_degrees, &arcs.out_degrees).await;
        host.write(app.ranks, &vec![first; gifts.len()]).await;
        host.write(app.gifts[0], &gifts).await;
        app
    }

    /// The ranks.
    pub(crate) fn result(&self) -> Array<f32> {
        self.ranks
    }
}

fn gift(rank: f32, out_degree: u32) -> f32 {
    if out_degree == 0 { 0.0 } else { rank / out_degree as f32 }
}

impl Application for PageRank {
    const NAME: &'static str = "pull";

    fn uses(&self, sweep: u32) -> Vec<Use> {
        let (old, new) = (self.gifts[sweep as usize % 2], self.gifts[(sweep as usize + 1) % 2]);
        let graph = [self.offsets.read(), self.sources.read(), self.out_degrees.read()];
        [graph.as_slice(), &[self.ranks.read_write(), old.read(), new.write()]].concat()
    }

    async fn visit(&self, w: &Wave, first: u64, sweep: u32) -> u32 {
        let (old, new) = (self.gifts[sweep as usize % 2], self.gifts[(sweep as usize + 1) % 2]);
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
        ((next - rank).abs().gt(next * STILL) & w.mask()).count()
    }
}

/// How many sweeps it takes until nothing changes, in the same precision and
/// order of additions.
pub(crate) fn sweeps_needed(arcs: &InArcs) -> u32 {
    let vertices = arcs.vertices() as f32;
    let mut ranks = vec![1.0 / vertices; arcs.vertices() as usize];
    for sweep in 1.. {
        let give = |(&rank, &degree): (&f32, &u32)| gift(rank, degree);
        let gifts: Vec<f32> = ranks.iter().zip(&arcs.out_degrees).map(give).collect();
        let pull = |v| arcs.reaching(v).fold(0.0f32, |sum, (u, _)| sum + gifts[u]);
        let next: Vec<f32> =
            (0..ranks.len()).map(|v| pull(v) * DAMPING + (1.0 - DAMPING) / vertices).collect();
        let moved = next.iter().zip(&ranks).any(|(next, rank)| (next - rank).abs() > next * STILL);
        ranks = next;
        if !moved {
            return sweep;
        }
    }
    u32::MAX
}

/// So many steps of the power iteration in double precision.
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
    fn ranks_that_are_still_are_those_of_the_power_iteration_without_end() {
        let arcs = InArcs::of(&power_law(300, 2000, 5)).unwrap();
        let sweeps = sweeps_needed(&arcs);
        assert!((10..200).contains(&sweeps), "{sweeps}");
        let (now, end) = (reference(&arcs, sweeps), reference(&arcs, 1000));
        let far = now.iter().zip(&end).map(|(now, end)| (now - end).abs() / end).fold(0.0, f64::max);
        assert!(far < TOLERANCE, "{far}");
        // One step before the end of nothing, something does move.
        let early = reference(&arcs, 3);
        assert!(early.iter().zip(&end).any(|(now, end)| (now - end).abs() / end > TOLERANCE));
    }
}
