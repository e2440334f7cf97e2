//! Breadth-first search, level by level.
//!
//! The frontier is the set of vertices on the current level. With the policy `masks`, every level
//! visits all vertices in two kernels, as in Rodinia. The first kernel expands the vertices of the
//! frontier, which a mask marks. The second kernel turns the vertices that the first one found into
//! the next frontier. With the policy `worklist`, a level is one kernel over a list of the
//! frontier, as in LonestarGPU: the wavefront that reaches a vertex first appends the vertex to the
//! next list.

use std::rc::Rc;

use kernel::prelude::*;

use super::flag::Flag;
use super::input::{Arcs, EDGES, SOURCE, VERTICES, source_of};
use super::on_generated;
use super::rows::Rows;
use crate::fault::{Fault, planted};
use crate::graph::Csr;
use crate::graph::reference::{self, UNREACHED_HOPS};
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload, grid_over};
use crate::settings::{BadSetting, Setting, Settings};

pub(crate) static BFS: Workload = Workload {
    name: "bfs",
    summary: "searches a graph breadth first, one level after another",
    origin: "Rodinia (2009) and LonestarGPU (2012); Hechtman thesis, Table 3.2 and section 5.3; \
             Dalmia thesis, Tables 3.3 and 5.2",
    room: Room::Graph,
    purpose: Purpose::Benchmark,
    // The size `paper` is that of graph128k of Table 5.2, with six edges for each vertex as in
    // Rodinia's graphs.
    sizes: Sizes {
        tiny: &[("vertices", "700"), ("edges", "3000")],
        small: &[],
        paper: &[("vertices", "128k"), ("edges", "768k")],
    },
    settings: &[VERTICES, EDGES, SOURCE, FRONTIER],
    make: |settings, seed| on_generated(on_graph, settings, seed),
};

const FRONTIER: Setting = Setting::policy(
    "frontier",
    &[
        ("masks", "a mask over all vertices marks the frontier"),
        ("worklist", "a list contains the vertices of the frontier"),
    ],
    "the representation of the frontier",
);

/// The arrays of the kernels for the policy `masks`.
#[derive(Clone, Copy, Debug)]
struct Masks {
    rows: Rows,
    hops: Array<u32>,
    /// Whether each vertex is in the frontier, the set of vertices on the current level.
    frontier: Array<u32>,
    /// Whether each vertex is in the next frontier, the set of vertices on the next level.
    found: Array<u32>,
    visited: Array<u32>,
    more: Flag,
}

/// Stores the number of hops of the unvisited neighbours of the frontier (the set of vertices on
/// the current level). Several wavefronts may find the same vertex; all of them store the same
/// values.
async fn expand(w: Wave, s: Masks) {
    let base = w.first_item();
    let w = w.below(base, s.hops.len());
    let active = w.load(s.frontier, Unit(base)).await;
    let w = w.when(active.ne(0));
    if !w.any() {
        return;
    }
    w.store(s.frontier, Unit(base), Lanes::splat(0));
    let own = if planted(Fault::WrongIndex) { base.saturating_sub(1) } else { base };
    let hops = w.load(s.hops, Unit(own));
    let bounds = s.rows.from(&w, base).await;
    let next = hops.await + 1;
    let visit = async |w: &Wave, _arc: Lanes<u32>, target: Lanes<u32>| {
        let seen = w.load(s.visited, target).await;
        let w = w.when(seen.eq(0));
        w.atomic_store(s.hops, target, next, relaxed(Level::Device));
        w.atomic_store(s.found, target, Lanes::splat(1), relaxed(Level::Device));
    };
    s.rows.each_arc(&w, bounds, visit).await;
}

/// Turns the vertices that `expand` has found into the next frontier (the set of vertices on the
/// next level).
async fn advance(w: Wave, s: Masks) {
    let base = w.first_item();
    let w = w.below(base, s.hops.len());
    let found = w.load(s.found, Unit(base)).await;
    let w = w.when(found.ne(0));
    w.store(s.found, Unit(base), Lanes::splat(0));
    w.store(s.frontier, Unit(base), Lanes::splat(1));
    w.store(s.visited, Unit(base), Lanes::splat(1));
    s.more.raise(&w).await;
}

async fn search_with_masks(host: &Host, arcs: &Arcs, source: u32) -> Array<u32> {
    let vertices = arcs.vertices();
    let s = Masks {
        rows: Rows::load(host, arcs).await,
        hops: host.alloc("hops", vertices),
        frontier: host.alloc("frontier", vertices),
        found: host.alloc("found", vertices),
        visited: host.alloc("visited", vertices),
        more: Flag::alloc(host, "more"),
    };
    host.write(s.hops, &start(vertices, source)).await;
    let is_source: Vec<u32> = (0..vertices as u32).map(|v| u32::from(v == source)).collect();
    host.write(s.frontier, &is_source).await;
    host.write(s.visited, &is_source).await;
    let grid = grid_over(&host.shape(), vertices);
    loop {
        s.more.clear(host).await;
        let kernel = Kernel::new("expand", move |w| expand(w, s))
            .uses(s.rows.uses())
            .uses([s.frontier.read_write().in_parts(GROUP_ITEMS), s.visited.read()])
            .uses([s.hops.read_write(), s.found.write()]);
        host.launch(kernel, grid).await;
        let own = [s.frontier.write(), s.visited.write(), s.found.read_write()];
        let kernel = Kernel::new("advance", move |w| advance(w, s))
            .uses(own.map(|used| used.in_parts(GROUP_ITEMS)))
            .uses([s.more.raised()]);
        host.launch(kernel, grid).await;
        if !s.more.is_raised(host).await {
            return s.hops;
        }
    }
}

/// The arrays of the kernel for the policy `worklist`.
#[derive(Clone, Copy, Debug)]
struct Lists {
    rows: Rows,
    hops: Array<u32>,
    /// The number of vertices so far in the list of the next level's vertices.
    tail: Array<u32>,
}

/// Visits the neighbours of the `count` vertices in the list `list`. The wavefront that reaches a
/// neighbour first appends it to the list `next`.
async fn expand_list(w: Wave, s: Lists, (list, next): (Array<u32>, Array<u32>), count: u64, hops: u32) {
    let base = w.first_item();
    let w = w.below(base, count);
    let vertex = w.load(list, Unit(base)).await;
    let bounds = s.rows.of(&w, vertex).await;
    let visit = async |w: &Wave, _arc: Lanes<u32>, target: Lanes<u32>| {
        // A load is cheaper than an atomic exchange, and makes most of the exchanges unnecessary.
        let seen = w.atomic_load(s.hops, target, relaxed(Level::Device)).await;
        let w = w.when(seen.eq(UNREACHED_HOPS));
        let (unreached, now) = (Lanes::splat(UNREACHED_HOPS), Lanes::splat(hops));
        let old = w.compare_exchange(s.hops, target, unreached, now, relaxed(Level::Device)).await;
        let w = w.when(old.eq(UNREACHED_HOPS));
        if w.any() {
            let first = w.fetch_add(s.tail, 0, w.mask().count(), relaxed(Level::Device)).await;
            w.store(next, w.rank() + first, target);
        }
    };
    s.rows.each_arc(&w, bounds, visit).await;
}

async fn search_with_lists(host: &Host, arcs: &Arcs, source: u32) -> Array<u32> {
    let vertices = arcs.vertices();
    let s = Lists {
        rows: Rows::load(host, arcs).await,
        hops: host.alloc("hops", vertices),
        tail: host.alloc("tail", 1),
    };
    let (mut list, mut next) =
        (host.alloc::<u32>("list-even", vertices), host.alloc::<u32>("list-odd", vertices));
    host.write(s.hops, &start(vertices, source)).await;
    host.write(list, &[source]).await;
    let (mut count, mut hops) = (1, 0);
    while count > 0 {
        hops += 1;
        host.store(s.tail, 0, 0).await;
        let lists = (list, next);
        let kernel = Kernel::new("expand-list", move |w| expand_list(w, s, lists, count, hops))
            .uses(s.rows.uses_anywhere())
            .uses([list.read().in_parts(GROUP_ITEMS), next.write()])
            .uses([s.hops.read_write(), s.tail.read_write()]);
        host.launch(kernel, grid_over(&host.shape(), count)).await;
        count = u64::from(host.load(s.tail, 0).await);
        (list, next) = (next, list);
    }
    s.hops
}

fn start(vertices: u64, source: u32) -> Vec<u32> {
    (0..vertices as u32).map(|v| if v == source { 0 } else { UNREACHED_HOPS }).collect()
}

pub(super) fn on_graph(graph: &Csr, settings: &Settings, _seed: u64) -> Result<Instance, BadSetting> {
    let uses_lists = settings.is("frontier", "worklist");
    let source = source_of(settings, graph.vertices())?;
    let graph = Rc::new(graph.clone());
    let arcs = Arcs::of((*graph).clone(), settings)?;
    let program = Program::new("bfs", move |host| async move {
        let hops = if uses_lists {
            search_with_lists(&host, &arcs, source).await
        } else {
            search_with_masks(&host, &arcs, source).await
        };
        Answer::new().with_array("hops", &host, hops).await
    });
    Ok(Instance::new(program, move |answer| answer.expect("hops", &reference::hops(&graph, source))))
}
