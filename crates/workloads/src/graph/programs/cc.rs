//! Connected components of the undirected graph. The kernels run in rounds.
//!
//! With the policy `hook-and-jump` (Shiloach and Vishkin, 1982, in the form of Soman and others,
//! 2010), the components are trees of parents, and a round has two kernels. The first visits all
//! arcs: it compares the parents of the two ends of an arc, and makes the smaller parent the parent
//! of the larger one. The second kernel makes the root of each vertex's tree its parent. With the
//! policy `propagate`, a round is one kernel, in which each vertex takes the smallest label of
//! itself and its neighbours.

use std::rc::Rc;

use kernel::prelude::*;

use super::components::{flatten, reference};
use super::flag::Flag;
use super::input::{Arcs, EDGES, VERTICES};
use super::on_generated;
use super::rows::Rows;
use crate::graph::Csr;
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload, grid_over};
use crate::settings::{BadSetting, Setting, Settings};

pub(crate) static CC: Workload = Workload {
    name: "cc",
    summary: "finds the connected components of a graph in rounds of hooking and pointer jumping",
    origin: "Shiloach and Vishkin (1982), Soman and others (2010)",
    room: Room::Graph,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("vertices", "700"), ("edges", "800")],
        small: &[("vertices", "8k"), ("edges", "30_000")],
        paper: &[("vertices", "128k"), ("edges", "512k")],
    },
    settings: &[VERTICES, EDGES, METHOD],
    make: |settings, seed| on_generated(on_graph, settings, seed),
};

const METHOD: Setting = Setting::policy(
    "method",
    &[
        (
            "hook-and-jump",
            "arcs put trees under each other, and vertices then point to the roots of their trees",
        ),
        ("propagate", "a vertex takes the least label of its neighbours"),
    ],
    "the work of one round of the algorithm",
);

#[derive(Clone, Copy, Debug)]
struct Forest {
    sources: Array<u32>,
    targets: Array<u32>,
    parents: Array<u32>,
    changed: Flag,
}

/// For each arc, compares the parents of its two ends, and makes the smaller parent the parent of
/// the larger one.
async fn hook(w: Wave, s: Forest) {
    let base = w.first_item();
    let w = w.below(base, s.sources.len());
    let (source, target) = (w.load(s.sources, Unit(base)), w.load(s.targets, Unit(base)));
    let source = w.atomic_load(s.parents, source.await, relaxed(Level::Device));
    let target = w.atomic_load(s.parents, target.await, relaxed(Level::Device));
    let (source, target) = (source.await, target.await);
    let w = w.when(source.ne(target));
    // Other wavefronts load these parents in the same kernel, so the minimum operations may not be
    // declared commutative.
    let (high, low) = (source.max(target), source.min(target));
    w.update(s.parents, high, RmwKind::MinU, low, relaxed(Level::Device));
    s.changed.raise(&w).await;
}

async fn components_by_hooks(host: &Host, arcs: &Arcs, sources: &[u32]) -> Array<u32> {
    let (vertices, count) = (arcs.vertices(), sources.len() as u64);
    let s = Forest {
        sources: host.alloc("sources", count),
        targets: host.alloc("targets", count),
        parents: host.alloc("parents", vertices),
        changed: Flag::alloc(host, "changed"),
    };
    host.write(s.sources, sources).await;
    host.write(s.targets, &arcs.targets).await;
    host.write(s.parents, &(0..vertices as u32).collect::<Vec<_>>()).await;
    loop {
        s.changed.clear(host).await;
        let own = [s.sources.read(), s.targets.read()];
        let kernel = Kernel::new("hook", move |w| hook(w, s))
            .uses(own.map(|used| used.in_parts(GROUP_ITEMS)))
            .uses([s.parents.read_write(), s.changed.raised()]);
        host.launch(kernel, grid_over(&host.shape(), count)).await;
        let kernel = Kernel::new("jump", move |w| flatten(w, s.parents)).uses([s.parents.read_write()]);
        host.launch(kernel, grid_over(&host.shape(), vertices)).await;
        if !s.changed.is_raised(host).await {
            return s.parents;
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Labels {
    rows: Rows,
    /// The label of each vertex before a round (one kernel), and its label after the round. The two
    /// arrays change roles in each round.
    labels: [Array<u32>; 2],
    changed: Flag,
}

/// Stores for each vertex the smallest label of the vertex and its neighbours.
async fn propagate(w: Wave, s: Labels, round: usize) {
    let base = w.first_item();
    let (old, new) = (s.labels[round % 2], s.labels[(round + 1) % 2]);
    let w = w.below(base, old.len());
    let own = w.load(old, Unit(base));
    let bounds = s.rows.from(&w, base).await;
    let own = own.await;
    let mut least = own;
    let visit = async |w: &Wave, _arc: Lanes<u32>, target: Lanes<u32>| {
        let label = w.load(old, target).await;
        least.assign(w.mask(), least.min(label));
    };
    s.rows.each_arc(&w, bounds, visit).await;
    w.store(new, Unit(base), least);
    s.changed.raise(&w.when(least.ne(own))).await;
}

async fn components_by_labels(host: &Host, arcs: &Arcs) -> Array<u32> {
    let vertices = arcs.vertices();
    let s = Labels {
        rows: Rows::load(host, arcs).await,
        labels: [host.alloc("labels-even", vertices), host.alloc("labels-odd", vertices)],
        changed: Flag::alloc(host, "changed"),
    };
    host.write(s.labels[0], &(0..vertices as u32).collect::<Vec<_>>()).await;
    for round in 0.. {
        s.changed.clear(host).await;
        let kernel = Kernel::new("propagate", move |w| propagate(w, s, round))
            .uses(s.rows.uses())
            .uses([s.labels[round % 2].read(), s.labels[(round + 1) % 2].write().in_parts(GROUP_ITEMS)])
            .uses([s.changed.raised()]);
        host.launch(kernel, grid_over(&host.shape(), vertices)).await;
        if !s.changed.is_raised(host).await {
            break;
        }
    }
    // The last round changed no label, so both arrays are equal.
    s.labels[0]
}

pub(super) fn on_graph(graph: &Csr, settings: &Settings, _seed: u64) -> Result<Instance, BadSetting> {
    let by_hooks = settings.is("method", "hook-and-jump");
    let graph = Rc::new(graph.undirected());
    let sources = graph.sources();
    let arcs = Arcs::of((*graph).clone(), settings)?;
    let program = Program::new("cc", move |host| async move {
        let labels = if by_hooks {
            components_by_hooks(&host, &arcs, &sources).await
        } else {
            components_by_labels(&host, &arcs).await
        };
        Answer::new().with_array("components", &host, labels).await
    });
    Ok(Instance::new(program, move |answer| answer.expect("components", &reference(&graph))))
}
