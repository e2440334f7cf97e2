//! Betweenness centrality by the algorithm of Brandes (the workload `bc` of Pannotia).
//!
//! For each source, the forward kernels find the levels of a breadth-first search and count the
//! shortest paths by atomic adds. The backward kernels visit the levels from the last to the first.
//! Each vertex has a dependency, the amount that the source adds to its centrality, and adds to the
//! dependencies of its predecessors by atomic float adds. A last kernel adds the dependencies to
//! the centralities.
//!
//! Pannotia counts paths in 32-bit integers. The number of shortest paths between two vertices of a
//! grid exceeds such an integer, and also a float of 32 bits. The counts are therefore floats of 64
//! bits here. A graph with even more paths is refused.

use kernel::prelude::*;

use super::flag::Flag;
use super::input::{Arcs, EDGES, VERTICES};
use super::on_generated;
use super::rows::Rows;
use crate::graph::Csr;
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload, grid_over};
use crate::settings::{BadSetting, Setting, Settings};

pub(crate) static BC: Workload = Workload {
    name: "bc",
    summary: "adds up betweenness centrality from several sources: levels forward, dependencies backward",
    origin: "Pannotia (2013), bc; STC paper (TACO 2023), section 7; Dalmia thesis, Table 3.3",
    room: Room::Graph,
    purpose: Purpose::Benchmark,
    // The size `paper` has the vertices and edges of the census graph CT of Table 3.3, but eight
    // sources instead of all vertices.
    sizes: Sizes {
        tiny: &[("vertices", "400"), ("edges", "1500"), ("sources", "2")],
        small: &[("vertices", "8k"), ("edges", "30_000")],
        paper: &[("vertices", "67k"), ("edges", "168k"), ("sources", "8")],
    },
    settings: &[
        VERTICES,
        EDGES,
        Setting::count(
            "sources",
            2,
            1,
            1 << 26,
            "number of sources of shortest paths, spread over the vertices",
        ),
    ],
    make: |settings, seed| on_generated(on_graph, settings, seed),
};

/// The level of a vertex that the breadth-first search has not reached.
const UNREACHED: u32 = u32::MAX;

/// The maximum relative difference between a centrality and the reference in double precision. A
/// difference exists because the atomic adds have no fixed order. All terms are positive.
const TOLERANCE: f64 = 1e-4;

/// The maximum number of shortest paths between two vertices. Up to this limit, the numbers of
/// paths and their reciprocals are normal floats of 64 bits.
const PATHS_MAX: f64 = 1e300;

#[derive(Clone, Copy, Debug)]
struct Centrality {
    outgoing: Rows,
    incoming: Rows,
    levels: Array<u32>,
    /// The number of shortest paths from the source to each vertex.
    paths: Array<f64>,
    dependencies: Array<f32>,
    centralities: Array<f32>,
    more: Flag,
}

/// Clears the arrays for a search from the vertex `source`.
async fn clear(w: Wave, s: Centrality, source: u32) {
    let base = w.first_item();
    let is_source = w.item().eq(source);
    let w = w.below(base, s.levels.len());
    w.store(s.levels, Unit(base), Lanes::select(is_source, 0, UNREACHED));
    w.store(s.paths, Unit(base), Lanes::select(is_source, 1.0, 0.0));
    w.store(s.dependencies, Unit(base), Lanes::splat(0.0)).await;
}

/// Adds the numbers of paths of the vertices on a level to those of their successors on the next
/// level.
async fn forward(w: Wave, s: Centrality, level: u32) {
    let base = w.first_item();
    let w = w.below(base, s.levels.len());
    let own = w.atomic_load(s.levels, Unit(base), relaxed(Level::Device)).await;
    let w = w.when(own.eq(level));
    if !w.any() {
        return;
    }
    let paths = w.load(s.paths, Unit(base));
    let bounds = s.outgoing.from(&w, base).await;
    let paths = paths.await;
    let visit = async |w: &Wave, _arc: Lanes<u32>, target: Lanes<u32>| {
        let seen = w.atomic_load(s.levels, target, relaxed(Level::Device)).await;
        let found = w.when(seen.eq(UNREACHED));
        found.atomic_store(s.levels, target, Lanes::splat(level + 1), relaxed(Level::Device));
        s.more.raise(&found);
        let next = w.when(seen.eq(UNREACHED) | seen.eq(level + 1));
        next.update(s.paths, target, RmwKind::AddF, paths, relaxed(Level::Device).commutative()).await;
    };
    s.outgoing.each_arc(&w, bounds, visit).await;
}

/// Adds, for each vertex on a level, its contribution to the dependencies of its predecessors on
/// the level before. The dependency of a vertex is the amount that the source adds to its
/// centrality.
async fn backward(w: Wave, s: Centrality, level: u32) {
    let base = w.first_item();
    let w = w.below(base, s.levels.len());
    let own = w.load(s.levels, Unit(base)).await;
    let w = w.when(own.eq(level));
    if !w.any() {
        return;
    }
    let (paths, dependency) = (w.load(s.paths, Unit(base)), w.load(s.dependencies, Unit(base)));
    let bounds = s.incoming.from(&w, base).await;
    let share = (dependency.await + 1.0).to_f64() / paths.await;
    let visit = async |w: &Wave, _arc: Lanes<u32>, source: Lanes<u32>| {
        let theirs = w.load(s.levels, source).await;
        let w = w.when(theirs.eq(level - 1));
        let more = (w.load(s.paths, source).await * share).to_f32();
        w.update(s.dependencies, source, RmwKind::AddF, more, relaxed(Level::Device).commutative()).await;
    };
    s.incoming.each_arc(&w, bounds, visit).await;
}

/// Adds the dependency of each vertex except the source to its centrality.
async fn add(w: Wave, s: Centrality, source: u32) {
    let base = w.first_item();
    let is_source = w.item().eq(source);
    let w = w.below(base, s.levels.len()).unless(is_source);
    let (more, sum) = (w.load(s.dependencies, Unit(base)), w.load(s.centralities, Unit(base)));
    let sum = sum.await + more.await;
    w.store(s.centralities, Unit(base), sum).await;
}

impl Centrality {
    async fn load(host: &Host, outgoing: &Arcs, incoming: &Arcs) -> Centrality {
        let vertices = outgoing.vertices();
        Centrality {
            outgoing: Rows::load(host, outgoing).await,
            incoming: Rows::load(host, incoming).await,
            levels: host.alloc("levels", vertices),
            paths: host.alloc("paths", vertices),
            dependencies: host.alloc("dependencies", vertices),
            centralities: host.alloc("centralities", vertices),
            more: Flag::alloc(host, "more"),
        }
    }

    /// Adds the contribution of the shortest paths from one source to the centralities.
    async fn add_source(self, host: &Host, source: u32) {
        let s = self;
        let grid = grid_over(&host.shape(), s.levels.len());
        let own = [s.levels.write(), s.paths.write(), s.dependencies.write()];
        let kernel = Kernel::new("clear", move |w| clear(w, s, source));
        host.launch(kernel.uses(own.map(|used| used.in_parts(GROUP_ITEMS))), grid).await;
        let mut level = 0;
        loop {
            s.more.clear(host).await;
            let kernel = Kernel::new("forward", move |w| forward(w, s, level))
                .uses(s.outgoing.uses())
                .uses([s.levels.read_write(), s.paths.read_write(), s.more.raised()]);
            host.launch(kernel, grid).await;
            if !s.more.is_raised(host).await {
                break;
            }
            level += 1;
        }
        for level in (1..=level).rev() {
            let kernel = Kernel::new("backward", move |w| backward(w, s, level))
                .uses(s.incoming.uses())
                .uses([s.levels.read(), s.paths.read(), s.dependencies.read_write()]);
            host.launch(kernel, grid).await;
        }
        let own = [s.dependencies.read(), s.centralities.read_write()];
        let kernel = Kernel::new("add", move |w| add(w, s, source));
        host.launch(kernel.uses(own.map(|used| used.in_parts(GROUP_ITEMS))), grid).await;
    }
}

/// The sources of paths: `count` vertices with outgoing arcs, evenly spread over all such vertices.
/// If the graph has fewer such vertices, all of them are sources.
fn sources(graph: &Csr, count: u64) -> Vec<u32> {
    let all: Vec<u32> = (0..graph.vertices()).filter(|&v| graph.degree(v) > 0).collect();
    let count = (count as usize).min(all.len());
    (0..count).map(|index| all[index * all.len() / count]).collect()
}

/// The error that more than [`PATHS_MAX`] shortest paths lead from a source to a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TooManyPaths {
    source: u32,
    vertex: u32,
}

/// The centralities, computed on the host in double precision, by Brandes' algorithm with a queue.
fn reference(graph: &Csr, sources: &[u32]) -> Result<Vec<f64>, TooManyPaths> {
    let vertices = graph.vertices() as usize;
    let mut centralities = vec![0.0; vertices];
    for &source in sources {
        let (mut levels, mut paths) = (vec![UNREACHED; vertices], vec![0.0f64; vertices]);
        let mut order = vec![source];
        (levels[source as usize], paths[source as usize]) = (0, 1.0);
        let mut next = 0;
        while let Some(&v) = order.get(next) {
            next += 1;
            for &u in graph.neighbours(v) {
                if levels[u as usize] == UNREACHED {
                    levels[u as usize] = levels[v as usize] + 1;
                    order.push(u);
                }
                if levels[u as usize] == levels[v as usize] + 1 {
                    paths[u as usize] += paths[v as usize];
                }
            }
        }
        if let Some(&vertex) = order.iter().find(|&&v| paths[v as usize] > PATHS_MAX) {
            return Err(TooManyPaths { source, vertex });
        }
        let mut dependencies = vec![0.0; vertices];
        for &v in order.iter().rev() {
            for &u in graph.neighbours(v) {
                if levels[u as usize] == levels[v as usize] + 1 {
                    dependencies[v as usize] +=
                        paths[v as usize] / paths[u as usize] * (1.0 + dependencies[u as usize]);
                }
            }
            if v != source {
                centralities[v as usize] += dependencies[v as usize];
            }
        }
    }
    Ok(centralities)
}

pub(super) fn on_graph(graph: &Csr, settings: &Settings, _seed: u64) -> Result<Instance, BadSetting> {
    let sources = sources(graph, settings.count("sources"));
    let incoming = Arcs::of(graph.reversed(), settings)?;
    let outgoing = Arcs::of(graph.clone(), settings)?;
    let centralities = reference(graph, &sources).map_err(|TooManyPaths { source, vertex }| {
        settings.conflict(format!(
            "vertex {vertex} has more than {PATHS_MAX:e} shortest paths from vertex {source}, expected at \
             most so many, because the kernels count them in double precision; take a smaller graph"
        ))
    })?;
    let centralities: Vec<f32> = centralities.into_iter().map(|sum| sum as f32).collect();
    let program = Program::new("bc", move |host| async move {
        let s = Centrality::load(&host, &outgoing, &incoming).await;
        for source in sources {
            s.add_source(&host, source).await;
        }
        Answer::new().with_array("centralities", &host, s.centralities).await
    });
    Ok(Instance::new(program, move |answer| {
        answer.compare("centralities", &centralities, |want, have| {
            // If a term is smaller than every normal float, it loses digits. The tolerance allows
            // for it.
            let tiny = if want > 0.0 { f64::from(f32::MIN_POSITIVE) } else { 0.0 };
            (f64::from(want) - f64::from(have)).abs() <= f64::from(want) * TOLERANCE + tiny
        })
    }))
}

#[cfg(test)]
mod tests {
    use kernel::reference::{Options, run as reference_run};

    use super::*;
    use crate::graph::stand_in::{self, Scale};

    #[test]
    fn the_middle_of_a_path_is_between_all_pairs() {
        let path = Csr::from_edges(5, (0..4).flat_map(|v| [(v, v + 1), (v + 1, v)]).collect());
        assert_eq!(reference(&path, &[0, 1, 2, 3, 4]), Ok(vec![0.0, 6.0, 8.0, 6.0, 0.0]));
    }

    #[test]
    fn parallel_paths_share_the_dependency() {
        let diamond = Csr::from_edges(4, vec![(0, 1), (0, 2), (1, 3), (2, 3)]);
        assert_eq!(reference(&diamond, &[0]), Ok(vec![0.0, 0.5, 0.5, 0.0]));
        assert_eq!(sources(&diamond, 2), [0, 1]);
    }

    /// Makes the program and its check for the stand-in of the grid `ecology1`, at the scale `1 /
    /// denominator`.
    fn on_grid(denominator: u32) -> Result<Instance, BadSetting> {
        let scale = Scale::new(1, denominator).unwrap_or(Scale::FULL);
        let grid = stand_in::find("ecology1").map(|grid| grid.generate(scale, 1)).unwrap();
        let mut settings = BC.defaults();
        settings.set("sources", "1")?;
        on_graph(&grid, &settings, 0)
    }

    #[test]
    fn a_grid_with_more_shortest_paths_than_a_float_of_32_bits_holds_is_right() {
        let (program, check) = on_grid(64).unwrap_or_else(|error| panic!("{error}")).into_parts();
        let outcome = reference_run(program, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(check(&outcome.answer), Ok(()));
        // From corner to corner of a grid of 125 by 125 there are C(248, 124) paths, over 1e73.
        let most = outcome.answer.get::<f32>("centralities").unwrap().into_iter().fold(0.0, f32::max);
        assert!(most.is_finite() && most > 1000.0, "{most}");
    }

    #[test]
    fn a_graph_with_more_shortest_paths_than_a_float_of_64_bits_holds_is_refused() {
        let message = on_grid(3).map(|_| ()).map_err(|error| error.to_string());
        let message = message.err().unwrap_or_default();
        assert!(message.contains("has more than 1e300 shortest paths from vertex 0"), "{message}");
        // Each of 1000 diamonds in a chain doubles the number of paths.
        let chain =
            (0..1000).flat_map(|d| [(0, 1), (0, 2), (1, 3), (2, 3)].map(|(a, b)| (3 * d + a, 3 * d + b)));
        let chain = Csr::from_edges(3001, chain.collect());
        assert_eq!(reference(&chain, &[0]).map(|_| ()), Err(TooManyPaths { source: 0, vertex: 2991 }));
    }
}
