//! The graph that a program runs on, and the settings that describe it.

use proto::words::counted;

use crate::data::{self, mix};
use crate::graph::{Csr, Offsets, Weights, power_law};
use crate::settings::{BadSetting, Setting, Settings};

pub(crate) const VERTICES: Setting =
    Setting::count("vertices", 16_384, 1, 1 << 26, "number of vertices of the graph");
pub(crate) const EDGES: Setting = Setting::count("edges", 60_000, 0, 1 << 28, "number of edges of the graph");
pub(crate) const SOURCE: Setting =
    Setting::count("source", 0, 0, u32::MAX as u64, "the source vertex of all paths");

/// The length of the longest arc in a generated graph. The shortest arc has length 1.
const LENGTH_MAX: u64 = 100;

/// Generates the graph that the settings describe. Its arcs have random lengths.
///
/// # Errors
/// If the settings contradict each other.
pub(crate) fn generated(settings: &Settings, seed: u64) -> Result<Csr, BadSetting> {
    let (vertices, edges) = (settings.count(VERTICES.name), settings.count(EDGES.name));
    if vertices == 1 && edges > 0 {
        return Err(settings.conflict(format!("a graph of 1 vertex cannot have {}", counted(edges, "edge"))));
    }
    // The arrays are the offsets, the targets and the lengths.
    settings.limit_arrays(&[VERTICES.name, EDGES.name], 4 * (vertices + 1 + 2 * edges))?;
    let mut graph = power_law(vertices as u32, edges, seed);
    let lengths = data::words_below(seed, edges, LENGTH_MAX);
    graph.weights = Some(Weights::Whole(lengths.into_iter().map(|length| length + 1).collect()));
    Ok(graph)
}

/// The vertex at which all paths begin, from the settings.
///
/// # Errors
/// If the graph does not have this vertex.
pub(crate) fn source_of(settings: &Settings, vertices: u32) -> Result<u32, BadSetting> {
    let from = settings.count(SOURCE.name);
    if from < u64::from(vertices) {
        return Ok(from as u32);
    }
    let has = counted(u64::from(vertices), "vertex");
    Err(settings.conflict(format!("`source` is vertex {from}, but the graph has {has}")))
}

/// The maximum number of distances in the answer of a program that computes the paths from many
/// sources.
const DISTANCES_MAX: u64 = 1 << 26;

/// The number of sources of a program that computes the paths from many vertices to all vertices,
/// from the settings. The sources are the first vertices of the graph.
///
/// # Errors
/// If the graph has fewer vertices, or there are too many paths.
pub(crate) fn sources_of(settings: &Settings, vertices: u32) -> Result<u64, BadSetting> {
    let vertices = u64::from(vertices);
    let sources = match settings.count("sources") {
        0 => vertices,
        sources => sources,
    };
    if sources <= vertices && sources * vertices <= DISTANCES_MAX {
        return Ok(sources);
    }
    Err(settings.conflict(format!(
        "{sources} sources of paths to {vertices} vertices, expected at most as many sources as vertices \
         and at most {DISTANCES_MAX} paths: set `sources`"
    )))
}

/// The arcs of a graph that has at least one vertex. There are so few arcs that their indices fit
/// in 32 bits.
#[derive(Clone, Debug)]
pub(crate) struct Arcs {
    /// The index of each vertex's first arc, followed by the number of arcs.
    pub(crate) offsets: Vec<u32>,
    /// The target of each arc. The arcs from one vertex are in ascending order of their targets.
    pub(crate) targets: Vec<u32>,
}

impl Arcs {
    /// Takes the arcs out of a graph.
    ///
    /// # Errors
    /// If the graph has no vertex, or too many arcs.
    pub(crate) fn of(graph: Csr, settings: &Settings) -> Result<Arcs, BadSetting> {
        if graph.vertices() == 0 {
            return Err(settings.conflict("the graph has no vertex, expected at least one".to_owned()));
        }
        let Offsets::Narrow(offsets) = graph.offsets else {
            let why = "the graph has 4294967296 arcs or more, but the kernels count arcs in 32 bits";
            return Err(settings.conflict(why.to_owned()));
        };
        Ok(Arcs { offsets, targets: graph.targets })
    }

    /// The number of vertices.
    pub(crate) fn vertices(&self) -> u64 {
        self.offsets.len() as u64 - 1
    }
}

/// A random priority for each vertex. All priorities are different, because `mix` gives different
/// numbers different hashes.
pub(crate) fn priorities(seed: u64, vertices: u32) -> Vec<u32> {
    let salt = mix(seed as u32);
    (0..vertices).map(|vertex| mix(vertex ^ salt)).collect()
}
