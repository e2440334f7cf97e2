//! Shortest paths by the algorithm of Bellman and Ford. A round is the product of a matrix and a
//! vector in which minimum and plus replace plus and times (the workload `sssp` of Pannotia).
//!
//! A round has three kernels: the product, the copy of its result, and the comparison by which the
//! host learns whether a distance has changed.

use std::rc::Rc;

use kernel::prelude::*;

use super::flag::Flag;
use super::input::{Arcs, EDGES, SOURCE, VERTICES, source_of};
use super::on_generated;
use super::rows::Rows;
use crate::graph::Csr;
use crate::graph::reference::{self, UNREACHED};
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload, grid_over};
use crate::settings::{BadSetting, Settings};

pub(crate) static SSSP_BELLMAN_FORD: Workload = Workload {
    name: "sssp-bellman-ford",
    summary: "computes shortest paths by rounds over all vertices, until no distance changes",
    origin: "Pannotia (2013), sssp; Dalmia thesis, Tables 3.3 and 5.2",
    room: Room::Graph,
    purpose: Purpose::Benchmark,
    // The size `paper` has the vertices and edges of AK.gr of Table 5.2, a road network of Alaska.
    sizes: Sizes {
        tiny: &[("vertices", "700"), ("edges", "3000")],
        small: &[("vertices", "4k"), ("edges", "15_000")],
        paper: &[("vertices", "69k"), ("edges", "153k")],
    },
    settings: &[VERTICES, EDGES, SOURCE],
    make: |settings, seed| on_generated(on_graph, settings, seed),
};

/// The distance of a vertex that no path has reached.
const FAR: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Distances {
    /// The incoming arcs of each vertex.
    rows: Rows,
    lengths: Array<u32>,
    /// The distance of each vertex before the current round (a step of the algorithm).
    old: Array<u32>,
    /// The distance of each vertex after the current round (a step of the algorithm).
    new: Array<u32>,
    /// The distance of each vertex before the current round (a step of the algorithm). The kernel
    /// `assign` saves it here, and the kernel `compare` compares it with the new distance.
    last: Array<u32>,
    changed: Flag,
}

/// Computes for each vertex the minimum of its old distance and of the distances over its
/// predecessors. The distance over a predecessor is the predecessor's old distance plus the length
/// of the arc.
async fn min_plus(w: Wave, s: Distances) {
    let base = w.first_item();
    let w = w.below(base, s.old.len());
    let own = w.load(s.old, Unit(base));
    let bounds = s.rows.from(&w, base).await;
    let mut best = own.await;
    let visit = async |w: &Wave, arc: Lanes<u32>, source: Lanes<u32>| {
        let (length, distance) = (w.load(s.lengths, arc), w.load(s.old, source));
        let path = distance.await.zip(Class::Int, length.await, u32::saturating_add);
        best.assign(w.mask(), best.min(path));
    };
    s.rows.each_arc(&w, bounds, visit).await;
    w.store(s.new, Unit(base), best).await;
}

async fn assign(w: Wave, s: Distances) {
    let base = w.first_item();
    let w = w.below(base, s.old.len());
    let (old, new) = (w.load(s.old, Unit(base)), w.load(s.new, Unit(base)));
    w.store(s.last, Unit(base), old.await);
    w.store(s.old, Unit(base), new.await).await;
}

async fn compare(w: Wave, s: Distances) {
    let base = w.first_item();
    let w = w.below(base, s.old.len());
    let (last, now) = (w.load(s.last, Unit(base)), w.load(s.old, Unit(base)));
    let differs = last.await.ne(now.await);
    s.changed.raise(&w.when(differs)).await;
}

async fn distances(host: &Host, arcs: &Arcs, lengths: &[u32], source: u32) -> Array<u32> {
    let vertices = arcs.vertices();
    let s = Distances {
        rows: Rows::load(host, arcs).await,
        lengths: host.alloc("lengths", lengths.len() as u64),
        old: host.alloc("distances", vertices),
        new: host.alloc("new-distances", vertices),
        last: host.alloc("last-distances", vertices),
        changed: Flag::alloc(host, "changed"),
    };
    host.write(s.lengths, lengths).await;
    let start: Vec<u32> = (0..vertices as u32).map(|v| if v == source { 0 } else { FAR }).collect();
    host.write(s.old, &start).await;
    let grid = grid_over(&host.shape(), vertices);
    loop {
        s.changed.clear(host).await;
        let kernel = Kernel::new("min-plus", move |w| min_plus(w, s)).uses(s.rows.uses()).uses([
            s.lengths.read(),
            s.old.read(),
            s.new.write().in_parts(GROUP_ITEMS),
        ]);
        host.launch(kernel, grid).await;
        let own = [s.old.read_write(), s.new.read(), s.last.write()];
        let kernel = Kernel::new("assign", move |w| assign(w, s));
        host.launch(kernel.uses(own.map(|used| used.in_parts(GROUP_ITEMS))), grid).await;
        let own = [s.old.read(), s.last.read()];
        let kernel = Kernel::new("compare", move |w| compare(w, s))
            .uses(own.map(|used| used.in_parts(GROUP_ITEMS)))
            .uses([s.changed.raised()]);
        host.launch(kernel, grid).await;
        if !s.changed.is_raised(host).await {
            return s.old;
        }
    }
}

pub(super) fn on_graph(graph: &Csr, settings: &Settings, _seed: u64) -> Result<Instance, BadSetting> {
    let source = source_of(settings, graph.vertices())?;
    let incoming = graph.reversed();
    // Weights that are not whole numbers are scaled to whole lengths. An arc gets the same length
    // in both directions.
    let lengths = incoming.lengths();
    let arcs = Arcs::of(incoming, settings)?;
    let graph = Rc::new(graph.clone());
    let program = Program::new("sssp-bellman-ford", move |host| async move {
        let distances = distances(&host, &arcs, &lengths, source).await;
        Answer::new().with_array("distances", &host, distances).await
    });
    Ok(Instance::new(program, move |answer| {
        // A distance that needs more than 32 bits counts as unreached, as in the kernels.
        let narrow = |far: u64| if far == UNREACHED { FAR } else { u32::try_from(far).unwrap_or(FAR) };
        let expected: Vec<u32> = reference::dijkstra(&graph, source).into_iter().map(narrow).collect();
        answer.expect("distances", &expected)
    }))
}
