//! Shortest paths from many vertices. Distances are read by acquire loads and written by release
//! stores.
//!
//! A work-item computes the distance of one vertex from one source. It loads the distances of the
//! predecessors by acquire loads and stores a shorter distance by a release store. It may therefore
//! see distances that other work-groups store during the same kernel. The host launches the kernel
//! again until no distance changes, and then continues with the next sources.

use std::rc::Rc;

use kernel::prelude::*;

use super::flag::Flag;
use super::input::{Arcs, EDGES, VERTICES, sources_of};
use super::on_generated;
use super::rows::Rows;
use crate::graph::Csr;
use crate::graph::reference::{self, UNREACHED};
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload, grid_over};
use crate::settings::{BadSetting, Setting, Settings};

pub(crate) static APSP: Workload = Workload {
    name: "apsp",
    summary: "computes shortest paths from all vertices, with acquire loads and release stores",
    origin: "QuickRelease (HPCA 2014); Hechtman thesis, section 4.4.2",
    room: Room::Graph,
    purpose: Purpose::Benchmark,
    // The thesis gives no size. This one has a quarter of a million distances.
    sizes: Sizes {
        tiny: &[("vertices", "100"), ("edges", "320"), ("sources", "5"), ("batch", "4")],
        small: &[("sources", "16")],
        paper: &[("vertices", "512"), ("edges", "2048")],
    },
    settings: &[
        Setting::count(VERTICES.name, 128, 1, 1 << 16, VERTICES.meaning),
        Setting::count(EDGES.name, 512, 0, 1 << 24, EDGES.meaning),
        Setting::count("sources", 0, 0, 1 << 16, "number of sources of paths; 0 takes all vertices"),
        Setting::count("batch", 16, 1, 1 << 12, "number of sources whose paths one kernel computes"),
    ],
    make: |settings, seed| on_generated(on_graph, settings, seed),
};

/// The distance of a vertex that no path has reached.
const FAR: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Distances {
    /// The incoming arcs of each vertex.
    rows: Rows,
    lengths: Array<u32>,
    /// For each source, the distances from it to all vertices. Those of the first source come
    /// first.
    distances: Array<u32>,
    changed: Flag,
    vertices: u64,
}

/// Shortens the paths from a batch of sources. `first_source` is the number of the first source in
/// the batch. For each source, several work-groups cover all vertices.
async fn relax(w: Wave, s: Distances, first_source: u64) {
    let groups = s.vertices.div_ceil(GROUP_ITEMS);
    let (source, part) = (u64::from(w.work_group()) / groups, u64::from(w.work_group()) % groups);
    let vertex = part * GROUP_ITEMS + u64::from(w.index() * w.lanes());
    let w = w.below(vertex, s.vertices);
    let row = (first_source + source) * s.vertices;
    // No other work-item writes this distance.
    let own = w.load(s.distances, Unit(row + vertex));
    let bounds = s.rows.from(&w, vertex).await;
    let own = own.await;
    let mut best = own;
    let visit = async |w: &Wave, arc: Lanes<u32>, before: Lanes<u32>| {
        let length = w.load(s.lengths, arc);
        let theirs = w.atomic_load(s.distances, before + row as u32, acquire(Level::Device)).await;
        let path = theirs.zip(Class::Int, length.await, u32::saturating_add);
        best.assign(w.mask(), best.min(path));
    };
    s.rows.each_arc(&w, bounds, visit).await;
    let shorter = w.when(best.lt(own));
    shorter.atomic_store(s.distances, Unit(row + vertex), best, release(Level::Device)).await;
    s.changed.raise(&shorter).await;
}

async fn all_distances(
    host: &Host,
    arcs: &Arcs,
    lengths: &[u32],
    (sources, batch): (u64, u64),
) -> Array<u32> {
    let vertices = arcs.vertices();
    let s = Distances {
        rows: Rows::load(host, arcs).await,
        lengths: host.alloc("lengths", lengths.len() as u64),
        distances: host.alloc("distances", sources * vertices),
        changed: Flag::alloc(host, "changed"),
        vertices,
    };
    host.write(s.lengths, lengths).await;
    let mut start = vec![FAR; (sources * vertices) as usize];
    (0..sources as usize).for_each(|source| start[source * vertices as usize + source] = 0);
    host.write(s.distances, &start).await;
    let mut first = 0;
    while first < sources {
        let end = sources.min(first + batch);
        let items = (end - first) * vertices.next_multiple_of(GROUP_ITEMS);
        let of_batch = s.distances.slice(first * vertices..end * vertices);
        loop {
            s.changed.clear(host).await;
            let kernel = Kernel::new("relax", move |w| relax(w, s, first))
                .uses(s.rows.uses_anywhere())
                .uses([s.lengths.read(), of_batch.read_write(), s.changed.raised()]);
            host.launch(kernel, grid_over(&host.shape(), items)).await;
            if !s.changed.is_raised(host).await {
                break;
            }
        }
        first = end;
    }
    s.distances
}

pub(super) fn on_graph(graph: &Csr, settings: &Settings, _seed: u64) -> Result<Instance, BadSetting> {
    let sources = sources_of(settings, graph.vertices())?;
    let batch = settings.count("batch");
    let incoming = graph.reversed();
    let lengths = incoming.lengths();
    let arcs = Arcs::of(incoming, settings)?;
    let graph = Rc::new(graph.clone());
    let program = Program::new("apsp", move |host| async move {
        let distances = all_distances(&host, &arcs, &lengths, (sources, batch)).await;
        Answer::new().with_array("distances", &host, distances).await
    });
    Ok(Instance::new(program, move |answer| {
        // A distance that needs more than 32 bits counts as unreached, as in the kernel.
        let narrow = |far: u64| if far == UNREACHED { FAR } else { u32::try_from(far).unwrap_or(FAR) };
        let from = |source| reference::dijkstra(&graph, source).into_iter().map(narrow);
        answer.expect("distances", &(0..sources as u32).flat_map(from).collect::<Vec<_>>())
    }))
}
