//! Connected components of the undirected graph in three kernels, which make atomic operations on
//! one forest (ECL-CC of Jaiganesh and Burtscher, HPDC 2018, with one work-item for each vertex).
//!
//! The first kernel makes a smaller neighbour the parent of each vertex. The second kernel visits
//! each edge once: it follows the parents of both ends to their roots, shortens these paths, and
//! makes the smaller root the parent of the larger one by a compare-exchange. The third kernel
//! makes the root of each vertex its parent. The kernels run only once.

use std::rc::Rc;

use kernel::prelude::*;

use super::components::{flatten, reference};
use super::input::{Arcs, EDGES, VERTICES};
use super::on_generated;
use super::rows::Rows;
use crate::graph::Csr;
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload, grid_over};
use crate::settings::{BadSetting, Settings};

pub(crate) static CCA: Workload = Workload {
    name: "cca",
    summary: "finds the connected components of a graph: atomics join the trees of the ends of each edge",
    origin: "Jaiganesh and Burtscher (HPDC 2018); Dalmia thesis, Table 3.3",
    room: Room::Graph,
    purpose: Purpose::Benchmark,
    // The thesis gives the name of the workload, its atomics and its inputs, but not its algorithm.
    sizes: Sizes {
        tiny: &[("vertices", "700"), ("edges", "800")],
        small: &[],
        paper: &[("vertices", "128k"), ("edges", "512k")],
    },
    settings: &[VERTICES, EDGES],
    make: |settings, seed| on_generated(on_graph, settings, seed),
};

#[derive(Clone, Copy, Debug)]
struct Forest {
    rows: Rows,
    parents: Array<u32>,
}

/// Makes the smallest neighbour of each vertex its parent, if this neighbour is smaller than the
/// vertex.
async fn initialize(w: Wave, s: Forest) {
    let base = w.first_item();
    let w = w.below(base, s.parents.len());
    let (start, end) = s.rows.from(&w, base).await;
    let own = w.item();
    // The neighbours are in ascending order, so the first one is the smallest.
    let first = w.when(start.lt(end)).load(s.rows.targets, start).await;
    let parent = Lanes::select(start.lt(end) & first.lt(own), first, own);
    w.store(s.parents, Unit(base), parent).await;
}

/// The root of the tree that contains each lane's vertex. On the way, the grandparent of each
/// vertex becomes its parent.
async fn root(w: &Wave, parents: Array<u32>, vertex: Lanes<u32>) -> Lanes<u32> {
    let (mut last, mut now) = (vertex, w.atomic_load(parents, vertex, relaxed(Level::Device)).await);
    let mut todo = w.when(now.ne(vertex));
    while todo.any() {
        let next = todo.atomic_load(parents, now, relaxed(Level::Device)).await;
        todo = todo.when(next.lt(now));
        todo.atomic_store(parents, last, next, relaxed(Level::Device)).await;
        last.assign(todo.mask(), now);
        now.assign(todo.mask(), next);
    }
    now
}

async fn hook(w: Wave, s: Forest) {
    let base = w.first_item();
    let w = w.below(base, s.parents.len());
    let own = w.item();
    let bounds = s.rows.from(&w, base).await;
    let mut mine = root(&w, s.parents, own).await;
    let visit = async |w: &Wave, _arc: Lanes<u32>, target: Lanes<u32>| {
        let w = w.when(target.lt(own));
        let mut theirs = root(&w, s.parents, target).await;
        let mut todo = w.when(mine.ne(theirs));
        while todo.any() {
            let (high, low) = (mine.max(theirs), mine.min(theirs));
            let old = todo.compare_exchange(s.parents, high, high, low, relaxed(Level::Device)).await;
            // If the exchange succeeds, both ends have the lower root. Otherwise the higher vertex
            // is no longer a root, and its new parent is used instead.
            let now = Lanes::select(old.eq(high), low, old);
            let (mine_is_high, theirs_is_high) = (mine.eq(high), theirs.eq(high));
            mine.assign(todo.mask() & mine_is_high, now);
            theirs.assign(todo.mask() & theirs_is_high, now);
            todo = todo.when(mine.ne(theirs));
        }
    };
    s.rows.each_arc(&w, bounds, visit).await;
}

async fn components(host: &Host, arcs: &Arcs) -> Array<u32> {
    let vertices = arcs.vertices();
    let s = Forest { rows: Rows::load(host, arcs).await, parents: host.alloc("parents", vertices) };
    let grid = grid_over(&host.shape(), vertices);
    let kernel = Kernel::new("initialize", move |w| initialize(w, s))
        .uses(s.rows.uses())
        .uses([s.parents.write().in_parts(GROUP_ITEMS)]);
    host.launch(kernel, grid).await;
    let kernel = Kernel::new("hook", move |w| hook(w, s));
    host.launch(kernel.uses(s.rows.uses()).uses([s.parents.read_write()]), grid).await;
    let kernel = Kernel::new("flatten", move |w| flatten(w, s.parents)).uses([s.parents.read_write()]);
    host.launch(kernel, grid).await;
    s.parents
}

pub(super) fn on_graph(graph: &Csr, settings: &Settings, _seed: u64) -> Result<Instance, BadSetting> {
    let graph = Rc::new(graph.undirected());
    let arcs = Arcs::of((*graph).clone(), settings)?;
    let program = Program::new("cca", move |host| async move {
        let parents = components(&host, &arcs).await;
        Answer::new().with_array("components", &host, parents).await
    });
    Ok(Instance::new(program, move |answer| answer.expect("components", &reference(&graph))))
}
