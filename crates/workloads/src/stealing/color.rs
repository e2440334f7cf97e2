//! A graph colouring. In each sweep, an uncoloured vertex takes the colour of the sweep if its
//! priority is higher than those of all its uncoloured neighbours.
//!
//! Priorities are random and different. Two neighbours therefore never take the same colour, and at
//! least one vertex is coloured in each sweep. The graph is undirected.

use kernel::Use;
use kernel::prelude::*;

use super::input::InArcs;
use super::sweep::{Application, rows};
use crate::data::mix;

/// The arrays of the sweeps. In them, the number 0 means that a vertex is uncoloured, and `i + 1`
/// is the colour of sweep `i`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Color {
    offsets: Array<u32>,
    neighbours: Array<u32>,
    priorities: Array<u32>,
    /// The colours before a sweep and those after it. The two arrays change roles in each sweep.
    colors: [Array<u32>; 2],
}

/// The priority of a vertex. Different vertices have different priorities, because `mix` gives
/// different numbers different hashes.
fn priority(seed: u64, vertex: u32) -> u32 {
    mix(vertex ^ mix(seed as u32))
}

impl Color {
    pub(crate) async fn load(host: &Host, arcs: &InArcs, seed: u64) -> Self {
        let vertices = u64::from(arcs.vertices());
        let app = Color {
            offsets: host.alloc("offsets", vertices + 1),
            neighbours: host.alloc("neighbours", arcs.sources.len() as u64),
            priorities: host.alloc("priorities", vertices),
            colors: [host.alloc("colors-even", vertices), host.alloc("colors-odd", vertices)],
        };
        let priorities: Vec<u32> = (0..arcs.vertices()).map(|v| priority(seed, v)).collect();
        host.write(app.offsets, &arcs.offsets).await;
        host.write(app.neighbours, &arcs.sources).await;
        host.write(app.priorities, &priorities).await;
        app
    }

    /// The array that has the colours after `sweeps` sweeps.
    pub(crate) fn result(&self, sweeps: usize) -> Array<u32> {
        self.colors[sweeps % 2]
    }
}

impl Application for Color {
    const NAME: &'static str = "color";

    fn uses(&self, sweep: u32) -> Vec<Use> {
        let (old, new) = (self.result(sweep as usize), self.result(sweep as usize + 1));
        vec![self.offsets.read(), self.neighbours.read(), self.priorities.read(), old.read(), new.write()]
    }

    async fn visit(&self, w: &Wave, first: u64, sweep: u32) -> u32 {
        let (old, new) = (self.result(sweep as usize), self.result(sweep as usize + 1));
        let (color, mine) = (w.load(old, Unit(first)), w.load(self.priorities, Unit(first)));
        let (mut arc, end) = rows(w, self.offsets, first).await;
        let (color, mine) = (color.await, mine.await);
        let open = w.when(color.eq(0));
        let mut beaten = Mask::NONE;
        let mut todo = open.when(arc.lt(end));
        while todo.any() {
            let neighbour = todo.load(self.neighbours, arc).await;
            let rivals = todo.when(todo.load(old, neighbour).await.eq(0));
            if rivals.any() {
                let theirs = rivals.load(self.priorities, neighbour).await;
                beaten = beaten | rivals.mask() & theirs.gt(mine);
            }
            arc += 1;
            todo = todo.when(arc.lt(end));
        }
        let wins = open.mask().minus(beaten);
        w.store(new, Unit(first), Lanes::select(wins, sweep + 1, color));
        wins.count()
    }
}

/// Colours the graph on the host by `sweeps` sweeps. If `sweeps` is 0, the sweeps end after the
/// first one that changes no colour. Returns the colours and the number of sweeps.
pub(crate) fn reference(arcs: &InArcs, seed: u64, sweeps: u32) -> (Vec<u32>, u32) {
    let mut color = vec![0u32; arcs.vertices() as usize];
    let rank = |v: usize| priority(seed, v as u32);
    for sweep in 0.. {
        if sweeps != 0 && sweep == sweeps {
            return (color, sweep);
        }
        let free = |v: &usize| color[*v] == 0;
        let wins = |v: &usize| free(v) && arcs.reaching(*v).all(|(u, _)| color[u] != 0 || rank(u) < rank(*v));
        let winners: Vec<usize> = (0..color.len()).filter(wins).collect();
        for &v in &winners {
            color[v] = sweep + 1;
        }
        if sweeps == 0 && winners.is_empty() {
            return (color, sweep + 1);
        }
    }
    (color, u32::MAX)
}

/// The first vertex that has the same colour as a neighbour, and this neighbour. If `all` is true,
/// an uncoloured vertex is also returned, paired with itself.
pub(crate) fn first_clash(arcs: &InArcs, colors: &[u32], all: bool) -> Option<(usize, usize)> {
    (0..colors.len()).find_map(|v| match colors[v] {
        0 => all.then_some((v, v)),
        color => arcs.reaching(v).find(|&(u, _)| colors.get(u) == Some(&color)).map(|(u, _)| (v, u)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::power_law;

    #[test]
    fn the_reference_colours_properly_and_a_clash_is_found() {
        let arcs = InArcs::of(&power_law(500, 3000, 4).undirected()).unwrap();
        let (mut colors, sweeps) = reference(&arcs, 1, 0);
        assert_eq!(first_clash(&arcs, &colors, true), None);
        assert_eq!(colors.iter().max(), Some(&(sweeps - 1)));
        let v = (0..500).find(|&v| arcs.reaching(v).next().is_some()).unwrap_or_default();
        let u = arcs.reaching(v).next().map_or(0, |(u, _)| u);
        colors[u] = colors[v];
        assert!(first_clash(&arcs, &colors, true).is_some());
        colors[u] = 0;
        assert_eq!(
            (first_clash(&arcs, &colors, true), first_clash(&arcs, &colors, false)),
            (Some((u, u)), None)
        );
    }

    #[test]
    fn fewer_sweeps_leave_uncoloured_vertices_but_no_clash() {
        let arcs = InArcs::of(&power_law(500, 3000, 4).undirected()).unwrap();
        let (colors, _) = reference(&arcs, 1, 2);
        assert!(colors.contains(&0) && colors.contains(&1) && colors.contains(&2));
        assert_eq!(first_clash(&arcs, &colors, false), None);
    }
}
