//! PageRank by pulling: in each step, a vertex adds up the contributions of its predecessors. A
//! vertex without outgoing arcs passes its rank on to no other vertex, so its rank is lost in each
//! step.
//!
//! With the policy `topology`, every vertex adds up contributions in each step. With the policy
//! `data-driven`, a vertex does so only if the rank of a predecessor has changed in the step
//! before: a vertex whose rank changes marks its successors.

use std::rc::Rc;

use kernel::prelude::*;

use super::flag::Flag;
use super::input::{Arcs, EDGES, VERTICES};
use super::on_generated;
use super::rows::Rows;
use crate::graph::Csr;
use crate::graph::reference::rank_sweeps;
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload, grid_over};
use crate::settings::{BadSetting, Setting, Settings};

pub(crate) static PAGERANK_PULL: Workload = Workload {
    name: "pagerank-pull",
    summary: "pulls ranks along the edges of a graph, from all vertices or from changed ones",
    origin: "Pannotia (2013), pagerank; topology-driven and data-driven as in Whang and others (Euro-Par 2015)",
    room: Room::Graph,
    purpose: Purpose::Benchmark,
    // The size `paper` has the vertices and edges of the census graph nv2010 in Table 3.3 of the
    // Dalmia thesis, which lists PageRank with this graph.
    sizes: Sizes {
        tiny: &[("vertices", "700"), ("edges", "3000"), ("steps", "4")],
        small: &[("vertices", "8k"), ("edges", "30_000"), ("steps", "5")],
        paper: &[("vertices", "84k"), ("edges", "208k")],
    },
    settings: &[
        VERTICES,
        EDGES,
        Setting::count(
            "steps",
            10,
            1,
            10_000,
            "maximum number of steps; the program ends after a step without a change",
        ),
        ACTIVE,
    ],
    make: |settings, seed| on_generated(on_graph, settings, seed),
};

const ACTIVE: Setting = Setting::policy(
    "active",
    &[("topology", "all vertices"), ("data-driven", "the successors of vertices with a changed rank")],
    "the vertices that pull in a step",
);

const DAMPING: f32 = 0.85;

/// The program counts a rank as unchanged if its relative change in a step is at most this number.
const CHANGE_MAX: f32 = 1e-5;

/// The maximum relative difference between a rank and the rank by power iteration in double
/// precision. A difference exists because the program ignores small changes (see [`CHANGE_MAX`]),
/// which add up.
const TOLERANCE: f64 = 1e-3;

#[derive(Clone, Copy, Debug)]
struct Ranking {
    incoming: Rows,
    /// The outgoing arcs of each vertex. A step of the policy `data-driven` marks the successors.
    outgoing: Rows,
    ranks: Array<f32>,
    /// The contribution of each vertex along each of its arcs, before and after a step.
    contributions: [Array<f32>; 2],
    /// Whether each vertex adds up contributions in this step (first array), and in the next step
    /// (second array). The two arrays change roles after each step.
    active: [Array<u32>; 2],
    changed: Flag,
    /// The part of a rank that does not depend on predecessors.
    base: f32,
    is_data_driven: bool,
}

async fn pull(w: Wave, s: Ranking, step: usize) {
    let first = w.first_item();
    let w = w.below(first, s.ranks.len());
    let (old, new) = (s.contributions[step % 2], s.contributions[(step + 1) % 2]);
    let mut pulls = w.clone();
    if s.is_data_driven {
        let active = w.load(s.active[step % 2], Unit(first)).await;
        pulls = w.when(active.ne(0));
        // The contributions change arrays in each step, so those of the other vertices must be
        // copied.
        let rests = w.unless(pulls.mask());
        let contribution = rests.load(old, Unit(first)).await;
        rests.store(new, Unit(first), contribution);
        pulls.store(s.active[step % 2], Unit(first), Lanes::splat(0));
    }
    if !pulls.any() {
        return;
    }
    let (rank, outgoing) = (pulls.load(s.ranks, Unit(first)), s.outgoing.from(&pulls, first).await);
    let bounds = s.incoming.from(&pulls, first).await;
    let mut sum = Lanes::splat(0.0f32);
    let add = async |w: &Wave, _arc: Lanes<u32>, source: Lanes<u32>| {
        let more = sum + w.load(old, source).await;
        sum.assign(w.mask(), more);
    };
    s.incoming.each_arc(&pulls, bounds, add).await;
    let (rank, next) = (rank.await, sum * DAMPING + s.base);
    let degree = outgoing.1 - outgoing.0;
    pulls.store(s.ranks, Unit(first), next);
    pulls.store(new, Unit(first), Lanes::select(degree.eq(0), 0.0, next / degree.to_f32()));
    let changes = pulls.when((next - rank).abs().gt(next * CHANGE_MAX));
    s.changed.raise(&changes);
    if s.is_data_driven {
        let mark = async |w: &Wave, _arc: Lanes<u32>, target: Lanes<u32>| {
            let next = s.active[(step + 1) % 2];
            w.atomic_store(next, target, Lanes::splat(1), relaxed(Level::Device)).await;
        };
        s.outgoing.each_arc(&changes, outgoing, mark).await;
    }
}

async fn rank(host: &Host, incoming: &Arcs, outgoing: &Arcs, steps: u64, is_data_driven: bool) -> Array<f32> {
    let vertices = outgoing.vertices();
    let s = Ranking {
        incoming: Rows::load(host, incoming).await,
        outgoing: Rows::load(host, outgoing).await,
        ranks: host.alloc("ranks", vertices),
        contributions: [
            host.alloc("contributions-even", vertices),
            host.alloc("contributions-odd", vertices),
        ],
        active: [host.alloc("active-even", vertices), host.alloc("active-odd", vertices)],
        changed: Flag::alloc(host, "changed"),
        base: (1.0 - DAMPING) / vertices as f32,
        is_data_driven,
    };
    let first = 1.0 / vertices as f32;
    let degrees = outgoing.offsets.windows(2).map(|row| row[1] - row[0]);
    let gives = |degree: u32| if degree == 0 { 0.0 } else { first / degree as f32 };
    host.write(s.contributions[0], &degrees.map(gives).collect::<Vec<_>>()).await;
    host.write(s.ranks, &vec![first; vertices as usize]).await;
    host.write(s.active[0], &vec![1; vertices as usize]).await;
    let grid = grid_over(&host.shape(), vertices);
    for step in 0..steps as usize {
        s.changed.clear(host).await;
        let (now, next) = (step % 2, (step + 1) % 2);
        let own = [s.ranks.read_write(), s.active[now].read_write(), s.contributions[next].write()];
        let kernel = Kernel::new("pull", move |w| pull(w, s, step))
            .uses(s.incoming.uses())
            .uses(s.outgoing.uses())
            .uses(own.map(|used| used.in_parts(GROUP_ITEMS)))
            .uses([s.contributions[now].read(), s.active[next].write(), s.changed.raised()]);
        host.launch(kernel, grid).await;
        if !s.changed.is_raised(host).await {
            break;
        }
    }
    s.ranks
}

pub(super) fn on_graph(graph: &Csr, settings: &Settings, _seed: u64) -> Result<Instance, BadSetting> {
    let (steps, is_data_driven) = (settings.count("steps"), settings.is("active", "data-driven"));
    let graph = Rc::new(graph.clone());
    let incoming = Arcs::of(graph.reversed(), settings)?;
    let outgoing = Arcs::of((*graph).clone(), settings)?;
    let program = Program::new("pagerank-pull", move |host| async move {
        let ranks = rank(&host, &incoming, &outgoing, steps, is_data_driven).await;
        Answer::new().with_array("ranks", &host, ranks).await
    });
    Ok(Instance::new(program, move |answer| {
        let ranks = rank_sweeps(&graph, f64::from(DAMPING), steps);
        let ranks: Vec<f32> = ranks.into_iter().map(|rank| rank as f32).collect();
        answer.compare("ranks", &ranks, |want, have| {
            (f64::from(want) - f64::from(have)).abs() <= f64::from(want) * TOLERANCE
        })
    }))
}
