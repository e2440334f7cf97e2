//! A maximal independent set by an algorithm of Luby (the workload `mis` of Pannotia).
//!
//! Every vertex has a random priority. A round has three kernels. The first finds, for each
//! undecided vertex, the smallest priority of its undecided neighbours. The second selects the
//! vertices whose own priority is smaller, and excludes their neighbours. The third makes these
//! decisions visible to the next round.
//!
//! All priorities are different. A sequential loop that visits the vertices in the order of their
//! priorities therefore selects the same set.

use std::rc::Rc;

use kernel::prelude::*;

use super::flag::Flag;
use super::input::{Arcs, EDGES, VERTICES, priorities};
use super::on_generated;
use super::rows::Rows;
use crate::graph::Csr;
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload, grid_over};
use crate::settings::{BadSetting, Settings};

pub(crate) static MIS: Workload = Workload {
    name: "mis",
    summary: "selects a maximal independent set of vertices, by random priorities",
    origin: "Pannotia (2013), mis; Dalmia thesis, Table 3.3",
    room: Room::Graph,
    purpose: Purpose::Benchmark,
    // The size `paper` has the vertices and edges of the census graph nv2010 of Table 3.3.
    sizes: Sizes {
        tiny: &[("vertices", "700"), ("edges", "3000")],
        small: &[("vertices", "8k"), ("edges", "30_000")],
        paper: &[("vertices", "84k"), ("edges", "208k")],
    },
    settings: &[VERTICES, EDGES],
    make: |settings, seed| on_generated(on_graph, settings, seed),
};

const UNDECIDED: u32 = 0;
const EXCLUDED: u32 = 1;
const SELECTED: u32 = 2;

#[derive(Clone, Copy, Debug)]
struct Selection {
    rows: Rows,
    priorities: Array<u32>,
    /// The state of each vertex before the current round of kernels.
    states: Array<u32>,
    /// The state of each vertex after the current round of kernels. The work-item of a selected
    /// vertex writes the entry of this vertex. Several work-items may write the entry of an
    /// excluded vertex.
    decisions: Array<u32>,
    /// The smallest priority of each vertex's undecided neighbours.
    least: Array<u32>,
    more: Flag,
}

async fn find_least(w: Wave, s: Selection) {
    let base = w.first_item();
    let w = w.below(base, s.states.len());
    let state = w.load(s.states, Unit(base)).await;
    let w = w.when(state.eq(UNDECIDED));
    if !w.any() {
        return;
    }
    s.more.raise(&w);
    let bounds = s.rows.from(&w, base).await;
    let mut least = Lanes::splat(u32::MAX);
    let visit = async |w: &Wave, _arc: Lanes<u32>, target: Lanes<u32>| {
        let state = w.load(s.states, target).await;
        let w = w.when(state.eq(UNDECIDED));
        let priority = w.load(s.priorities, target).await;
        least.assign(w.mask(), least.min(priority));
    };
    s.rows.each_arc(&w, bounds, visit).await;
    w.store(s.least, Unit(base), least).await;
}

async fn decide(w: Wave, s: Selection) {
    let base = w.first_item();
    let w = w.below(base, s.states.len());
    let state = w.load(s.states, Unit(base)).await;
    let w = w.when(state.eq(UNDECIDED));
    let (priority, least) = (w.load(s.priorities, Unit(base)), w.load(s.least, Unit(base)));
    // A vertex without undecided neighbours may have the largest of all priorities, so equality
    // must select it too.
    let w = w.when(priority.await.le(least.await));
    if !w.any() {
        return;
    }
    w.store(s.decisions, Unit(base), Lanes::splat(SELECTED));
    let bounds = s.rows.from(&w, base).await;
    let visit = async |w: &Wave, _arc: Lanes<u32>, target: Lanes<u32>| {
        // A neighbour that an earlier round selected would have excluded this vertex, so no
        // selected vertex is overwritten.
        w.atomic_store(s.decisions, target, Lanes::splat(EXCLUDED), relaxed(Level::Device)).await;
    };
    s.rows.each_arc(&w, bounds, visit).await;
}

async fn publish(w: Wave, s: Selection) {
    let base = w.first_item();
    let w = w.below(base, s.states.len());
    let decision = w.load(s.decisions, Unit(base)).await;
    w.store(s.states, Unit(base), decision).await;
}

async fn select(host: &Host, arcs: &Arcs, priorities: &[u32]) -> Array<u32> {
    let vertices = arcs.vertices();
    let s = Selection {
        rows: Rows::load(host, arcs).await,
        priorities: host.alloc("priorities", vertices),
        states: host.alloc("states", vertices),
        decisions: host.alloc("decisions", vertices),
        least: host.alloc("least", vertices),
        more: Flag::alloc(host, "more"),
    };
    host.write(s.priorities, priorities).await;
    let grid = grid_over(&host.shape(), vertices);
    loop {
        s.more.clear(host).await;
        let kernel = Kernel::new("find-least", move |w| find_least(w, s))
            .uses(s.rows.uses())
            .uses([s.priorities.read(), s.states.read(), s.more.raised()])
            .uses([s.least.write().in_parts(GROUP_ITEMS)]);
        host.launch(kernel, grid).await;
        let own = [s.priorities.read(), s.states.read(), s.least.read()];
        let kernel = Kernel::new("decide", move |w| decide(w, s))
            .uses(s.rows.uses())
            .uses(own.map(|used| used.in_parts(GROUP_ITEMS)))
            .uses([s.decisions.write()]);
        host.launch(kernel, grid).await;
        let own = [s.decisions.read(), s.states.write()];
        let kernel = Kernel::new("publish", move |w| publish(w, s));
        host.launch(kernel.uses(own.map(|used| used.in_parts(GROUP_ITEMS))), grid).await;
        if !s.more.is_raised(host).await {
            return s.states;
        }
    }
}

/// The final state of each vertex, computed on the host. A loop visits the vertices in the order of
/// their priorities, and selects or excludes each vertex.
fn reference(graph: &Csr, priorities: &[u32]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..graph.vertices()).collect();
    order.sort_unstable_by_key(|&v| priorities[v as usize]);
    let mut states = vec![UNDECIDED; order.len()];
    for v in order {
        if states[v as usize] == UNDECIDED {
            states[v as usize] = SELECTED;
            graph.neighbours(v).iter().for_each(|&u| states[u as usize] = EXCLUDED);
        }
    }
    states
}

pub(super) fn on_graph(graph: &Csr, settings: &Settings, seed: u64) -> Result<Instance, BadSetting> {
    let graph = Rc::new(graph.undirected());
    let arcs = Arcs::of((*graph).clone(), settings)?;
    let ranks = Rc::new(priorities(seed, graph.vertices()));
    let of_program = ranks.clone();
    let program = Program::new("mis", move |host| async move {
        let states = select(&host, &arcs, &of_program).await;
        Answer::new().with_array("states", &host, states).await
    });
    Ok(Instance::new(program, move |answer| answer.expect("states", &reference(&graph, &ranks))))
}
