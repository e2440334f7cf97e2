//! PageRank by pushing: each edge adds a share of its source's rank to its target, by an atomic
//! float add.

use std::rc::Rc;

use kernel::prelude::*;

use crate::fault::{Fault, planted};
use crate::graph::{Csr, power_law};
use crate::instance::{Instance, Purpose, Room, Sizes, Workload, grid_over};
use crate::settings::{BadSetting, Setting, Settings};

pub(crate) static PAGERANK_PUSH: Workload = Workload {
    name: "pagerank-push",
    summary: "pushes ranks along the edges of a graph by atomic float adds, one work-item per edge",
    origin: "ours, after the usual push formulation of PageRank",
    room: Room::Graph,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("vertices", "300"), ("edges", "2000"), ("steps", "3")],
        small: &[],
        paper: &[("vertices", "256k"), ("edges", "4m")],
    },
    settings: &[
        Setting::count("vertices", 16_384, 2, 1 << 26, "number of vertices of the graph"),
        Setting::count("edges", 100_000, 1, 1 << 28, "number of edges of the graph"),
        Setting::count("steps", 1, 1, 1000, "number of steps of the iteration"),
    ],
    make: pagerank_push,
};

const DAMPING: f32 = 0.85;

/// The arrays of the kernels `push` and `apply`.
#[derive(Clone, Copy)]
struct State {
    sources: Array<u32>,
    targets: Array<u32>,
    degree: Array<u32>,
    rank: Array<f32>,
    sum: Array<f32>,
}

/// Adds, for each edge, a share of the source's rank to the sum of the target.
async fn push(w: Wave, s: State) {
    let base = w.first_item();
    let w = w.below(base, s.sources.len());
    let (source, target) = (w.load(s.sources, Unit(base)), w.load(s.targets, Unit(base)));
    let source = source.await;
    let (rank, degree) = (w.load(s.rank, source), w.load(s.degree, source));
    let target = target.await;
    let share = rank.await / degree.await.to_f32();
    if planted(Fault::SplitUpdate) {
        let sum = w.atomic_load(s.sum, target, relaxed(Level::Device)).await;
        return w.atomic_store(s.sum, target, sum + share, relaxed(Level::Device)).await;
    }
    w.update(s.sum, target, RmwKind::AddF, share, relaxed(Level::Device).commutative()).await;
}

/// Computes the new rank of each vertex from the sum of the shares that its predecessors have
/// added, and clears the sum.
async fn apply(w: Wave, s: State, vertices: f32) {
    let base = w.first_item();
    let w = w.below(base, s.rank.len());
    let sum = w.load(s.sum, Unit(base)).await;
    let rank = sum * DAMPING + (1.0 - DAMPING) / vertices;
    w.store(s.rank, Unit(base), rank);
    w.store(s.sum, Unit(base), Lanes::splat(0.0)).await;
}

fn pagerank_push(settings: &Settings, seed: u64) -> Result<Instance, BadSetting> {
    let (vertices, edges) = (settings.count("vertices"), settings.count("edges"));
    settings.limit_arrays(&["vertices", "edges"], 4 * (3 * vertices + 2 * edges))?;
    on_graph(&power_law(vertices as u32, edges, seed), settings, seed)
}

/// Makes the program and its check for a given graph.
pub(crate) fn on_graph(graph: &Csr, settings: &Settings, _seed: u64) -> Result<Instance, BadSetting> {
    let (vertices, edges) = (u64::from(graph.vertices()), graph.edges());
    if vertices == 0 {
        return Err(settings.conflict("the graph has no vertex, expected at least one".to_owned()));
    }
    let steps = settings.count("steps");
    let graph = Rc::new(graph.clone());
    let reference = graph.clone();
    let program = Program::new("pagerank-push", move |host| async move {
        let s = State {
            sources: host.alloc("sources", edges),
            targets: host.alloc("targets", edges),
            degree: host.alloc("degree", vertices),
            rank: host.alloc("rank", vertices),
            sum: host.alloc("sum", vertices),
        };
        let degree: Vec<u32> = (0..graph.vertices()).map(|v| graph.degree(v)).collect();
        host.write(s.sources, &graph.sources()).await;
        host.write(s.targets, &graph.targets).await;
        host.write(s.degree, &degree).await;
        host.write(s.rank, &vec![1.0 / vertices as f32; vertices as usize]).await;
        let shape = host.shape();
        for _ in 0..steps {
            let uses =
                [s.sources.read(), s.targets.read(), s.degree.read(), s.rank.read(), s.sum.read_write()];
            host.launch(Kernel::new("push", move |w| push(w, s)).uses(uses), grid_over(&shape, edges)).await;
            let kernel = Kernel::new("apply", move |w| apply(w, s, vertices as f32));
            let kernel = kernel.uses([s.rank.write(), s.sum.read_write()]);
            host.launch(kernel, grid_over(&shape, vertices)).await;
        }
        Answer::new().with_array("rank", &host, s.rank).await
    });
    Ok(Instance::new(program, move |answer| {
        // The atomic adds have no fixed order, so the last bits of a rank may differ.
        let close = |want: f32, have: f32| (want - have).abs() <= want.abs() * 1e-4;
        answer.compare("rank", &reference_ranks(&reference, steps), close)
    }))
}

/// The ranks after `steps` steps, computed on the host in double precision.
fn reference_ranks(graph: &Csr, steps: u64) -> Vec<f32> {
    let (damping, vertices) = (f64::from(DAMPING), f64::from(graph.vertices()));
    let mut rank = vec![1.0 / vertices; graph.vertices() as usize];
    for _ in 0..steps {
        let mut sum = vec![0.0; rank.len()];
        for (&source, &target) in graph.sources().iter().zip(&graph.targets) {
            sum[target as usize] += rank[source as usize] / f64::from(graph.degree(source));
        }
        rank = sum.into_iter().map(|sum| sum * damping + (1.0 - damping) / vertices).collect();
    }
    rank.into_iter().map(|rank| rank as f32).collect()
}
