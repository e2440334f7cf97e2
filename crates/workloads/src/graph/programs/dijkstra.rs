//! Shortest paths from many vertices by Dijkstra's algorithm. Each source has a work-group.
//!
//! A step of the algorithm settles the nearest vertex that is not settled yet, and relaxes the arcs
//! from it: it stores a shorter distance of a target if the path over the arc is shorter. The
//! work-items of the work-group do each step together, in three parts with a barrier after each.
//! First, every wavefront finds the nearest of its own vertices. Then one wavefront chooses the
//! nearest of these vertices and settles it. In the last part, each work-item relaxes one arc, or
//! several ones if there are more arcs than work-items.
//!
//! The kernel uses neither local memory nor atomics. Work-groups share only the graph, which no
//! kernel writes. The barriers have work-group scope.
//!
//! Hechtman's thesis says of its program `dijkstra` only that it computes the shortest paths
//! between all pairs of vertices. The division of the work, the graph and its size are ours.

use std::rc::Rc;

use kernel::prelude::*;

use super::input::{Arcs, EDGES, VERTICES, sources_of};
use super::on_generated;
use super::rows::Rows;
use crate::fault::{Fault, planted};
use crate::graph::Csr;
use crate::graph::reference::{self, UNREACHED};
use crate::group::first_local;
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload, grid_over};
use crate::settings::{BadSetting, Setting, Settings};

pub(crate) static DIJKSTRA: Workload = Workload {
    name: "dijkstra",
    summary: "computes shortest paths from all vertices by Dijkstra's algorithm, a work-group for each source",
    origin: "Hechtman thesis (2014), Table 3.2; program: ours",
    room: Room::Graph,
    purpose: Purpose::Benchmark,
    // The thesis gives no size. At size `paper`, each of eight compute units computes the paths
    // from 32 sources.
    sizes: Sizes {
        tiny: &[("vertices", "100"), ("edges", "320"), ("sources", "5")],
        small: &[("sources", "16")],
        paper: &[("vertices", "256"), ("edges", "1024")],
    },
    settings: &[
        Setting::count(VERTICES.name, 128, 1, 1 << 16, VERTICES.meaning),
        Setting::count(EDGES.name, 512, 0, 1 << 24, EDGES.meaning),
        Setting::count("sources", 0, 0, 1 << 16, "number of sources of paths; 0 takes all vertices"),
    ],
    make: |settings, seed| on_generated(on_graph, settings, seed),
};

/// The distance of a vertex that no path has reached.
const FAR: u32 = u32::MAX;

/// The key that is larger than the key of each vertex: there is no vertex to settle.
const NO_VERTEX: u64 = u64::MAX;

/// The key of a vertex. Of two vertices, the nearer one has the smaller key. If both have the same
/// distance, the one with the smaller number has the smaller key.
fn key(distance: u32, vertex: u32) -> u64 {
    u64::from(distance) << 32 | u64::from(vertex)
}

/// The arrays of the kernel. Each work-group has a row of `distances` and of `settled`, with an
/// element for each vertex.
#[derive(Clone, Copy, Debug)]
struct Paths {
    /// The outgoing arcs of each vertex. No two arcs of a vertex have the same target.
    rows: Rows,
    lengths: Array<u32>,
    distances: Array<u32>,
    /// Whether each vertex is settled: its distance is final.
    settled: Array<u32>,
    /// For each wavefront, the smallest key of its vertices that are not settled.
    nearest: Array<u64>,
    /// For each work-group, the key of the vertex that the current step settles.
    chosen: Array<u64>,
    vertices: u64,
}

/// Computes the distances of all vertices from one source. The number of the work-group is the
/// source.
async fn paths(w: Wave, s: Paths) {
    s.begin(&w).await;
    loop {
        let own = s.nearest_of_wave(&w).await;
        w.store(s.nearest, w.global_index(), own);
        if !planted(Fault::MissingBarrier) {
            w.barrier().await;
        }
        if w.index() == 0 {
            s.choose(&w).await;
        }
        w.barrier().await;
        let chosen = w.load(s.chosen, u64::from(w.work_group())).await;
        if chosen == NO_VERTEX {
            return;
        }
        s.relax(&w, chosen).await;
        w.barrier().await;
    }
}

/// The number of work-items of a work-group.
fn stride(w: &Wave) -> u64 {
    u64::from(w.waves() * w.lanes())
}

impl Paths {
    /// The index of the first element of the work-group's row.
    fn row(&self, w: &Wave) -> u64 {
        u64::from(w.work_group()) * self.vertices
    }

    /// Stores the distances before the first step. Each work-item stores the elements of the same
    /// vertices that it looks at in [`Paths::nearest_of_wave`], so no barrier is needed between the
    /// two.
    async fn begin(&self, w: &Wave) {
        let mut first = first_local(w);
        while first < self.vertices {
            let active = w.below(first, self.vertices);
            let is_source = (w.lane_id() + first as u32).eq(w.work_group());
            let at = Unit(self.row(w) + first);
            active.store(self.distances, at, Lanes::select(is_source, 0, FAR));
            active.store(self.settled, at, Lanes::splat(0)).await;
            first += stride(w);
        }
    }

    /// The smallest key of the wavefront's vertices that are reached and not settled.
    async fn nearest_of_wave(&self, w: &Wave) -> u64 {
        let mut nearest = Lanes::splat(NO_VERTEX);
        let mut first = first_local(w);
        while first < self.vertices {
            let active = w.below(first, self.vertices);
            let at = Unit(self.row(w) + first);
            let (distance, settled) = (active.load(self.distances, at), active.load(self.settled, at));
            let (distance, settled) = (distance.await, settled.await);
            let is_open = active.mask() & settled.eq(0) & distance.ne(FAR);
            let keys = distance.zip(Class::Int, w.lane_id() + first as u32, key);
            nearest.assign(is_open, nearest.min(keys));
            first += stride(w);
        }
        w.reduce(&nearest, NO_VERTEX, Class::Int, u64::min)
    }

    /// Chooses the nearest vertex among those of all wavefronts, and settles it.
    async fn choose(&self, w: &Wave) {
        let (group, waves) = (u64::from(w.work_group()), u64::from(w.waves()));
        let mut nearest = Lanes::splat(NO_VERTEX);
        let mut first = 0;
        while first < waves {
            let active = w.below(first, waves);
            let keys = active.load(self.nearest, Unit(group * waves + first)).await;
            nearest.assign(active.mask(), nearest.min(keys));
            first += u64::from(w.lanes());
        }
        let chosen = w.reduce(&nearest, NO_VERTEX, Class::Int, u64::min);
        w.store(self.chosen, group, chosen);
        if chosen != NO_VERTEX {
            w.store(self.settled, self.row(w) + u64::from(chosen as u32), 1);
        }
    }

    /// Relaxes the arcs from the vertex whose key is `chosen`. The distance of a settled vertex does
    /// not change, because no path over the vertex is shorter.
    async fn relax(&self, w: &Wave, chosen: u64) {
        let (row, vertex) = (self.row(w), u64::from(chosen as u32));
        let vertex = if planted(Fault::WrongIndex) { vertex.saturating_sub(1) } else { vertex };
        let distance = Lanes::splat((chosen >> 32) as u32);
        let (start, end) = (w.load(self.rows.offsets, vertex), w.load(self.rows.offsets, vertex + 1));
        let (mut first, end) = (u64::from(start.await) + first_local(w), u64::from(end.await));
        while first < end {
            let active = w.below(first, end);
            let length = active.load(self.lengths, Unit(first));
            let target = active.load(self.rows.targets, Unit(first)).await + row as u32;
            let old = active.load(self.distances, target).await;
            let path = distance.zip(Class::Int, length.await, u32::saturating_add);
            active.when(path.lt(old)).store(self.distances, target, path);
            first += stride(w);
        }
    }
}

/// The arcs without parallel ones, and their lengths. Of parallel arcs, the shortest remains.
fn without_parallel(arcs: &Arcs, lengths: &[u32]) -> (Arcs, Vec<u32>) {
    let mut kept = Arcs { offsets: vec![0], targets: Vec::new() };
    let mut kept_lengths = Vec::new();
    for bounds in arcs.offsets.windows(2) {
        let (first, row) = (kept.targets.len(), bounds[0] as usize..bounds[1] as usize);
        for (&target, &length) in arcs.targets[row.clone()].iter().zip(&lengths[row]) {
            // The arcs from one vertex are in the order of their targets.
            match kept_lengths[first..].last_mut() {
                Some(shortest) if kept.targets.last() == Some(&target) => *shortest = length.min(*shortest),
                _ => {
                    kept.targets.push(target);
                    kept_lengths.push(length);
                }
            }
        }
        kept.offsets.push(kept.targets.len() as u32);
    }
    (kept, kept_lengths)
}

async fn all_distances(host: &Host, arcs: &Arcs, lengths: &[u32], sources: u64) -> Array<u32> {
    let vertices = arcs.vertices();
    let grid = grid_over(&host.shape(), sources * GROUP_ITEMS);
    let waves = u64::from(grid.waves);
    let s = Paths {
        rows: Rows::load(host, arcs).await,
        lengths: host.alloc("lengths", lengths.len() as u64),
        distances: host.alloc("distances", sources * vertices),
        settled: host.alloc("settled", sources * vertices),
        nearest: host.alloc("nearest", sources * waves),
        chosen: host.alloc("chosen", sources),
        vertices,
    };
    host.write(s.lengths, lengths).await;
    let kernel = Kernel::new("dijkstra", move |w| paths(w, s))
        .uses(s.rows.uses_anywhere())
        .uses([s.lengths.read()])
        .uses([s.distances, s.settled].map(|array| array.read_write().in_parts(vertices)))
        .uses([s.nearest.read_write().in_parts(waves), s.chosen.read_write().in_parts(1)]);
    host.launch(kernel, grid).await;
    s.distances
}

pub(super) fn on_graph(graph: &Csr, settings: &Settings, _seed: u64) -> Result<Instance, BadSetting> {
    let sources = sources_of(settings, graph.vertices())?;
    let (arcs, lengths) = without_parallel(&Arcs::of(graph.clone(), settings)?, &graph.lengths());
    let graph = Rc::new(graph.clone());
    let program = Program::new("dijkstra", move |host| async move {
        let distances = all_distances(&host, &arcs, &lengths, sources).await;
        Answer::new().with_array("distances", &host, distances).await
    });
    Ok(Instance::new(program, move |answer| {
        // A distance that needs more than 32 bits counts as unreached, as in the kernel.
        let narrow = |far: u64| if far == UNREACHED { FAR } else { u32::try_from(far).unwrap_or(FAR) };
        let from = |source| reference::dijkstra(&graph, source).into_iter().map(narrow);
        answer.expect("distances", &(0..sources as u32).flat_map(from).collect::<Vec<_>>())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::finds;

    #[test]
    fn the_check_finds_a_wrong_index_and_a_missing_barrier() {
        assert!(finds(&DIJKSTRA, Fault::WrongIndex));
        assert!(finds(&DIJKSTRA, Fault::MissingBarrier));
    }

    #[test]
    fn the_shortest_of_parallel_arcs_remains() {
        // Two arcs from vertex 0 to vertex 1, none from vertex 1, and three to vertex 1 from vertex 2.
        let arcs = Arcs { offsets: vec![0, 3, 3, 6], targets: vec![1, 1, 2, 1, 1, 1] };
        let (kept, lengths) = without_parallel(&arcs, &[7, 4, 9, 5, 3, 8]);
        assert_eq!(kept.offsets, [0, 2, 2, 3]);
        assert_eq!(kept.targets, [1, 2, 1]);
        assert_eq!(lengths, [4, 9, 3]);
    }

    #[test]
    fn the_nearer_vertex_has_the_smaller_key() {
        assert!(key(1, 9) < key(2, 0));
        assert!(key(1, 8) < key(1, 9));
        assert!(key(FAR - 1, u32::MAX) < NO_VERTEX);
    }
}
