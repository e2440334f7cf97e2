//! Stand-ins for well-known graphs, generated from a seed.
//!
//! If the file of a graph is not available, a generator makes a graph of the same size and kind:
//! with as many vertices and arcs, and with typical degrees, diameter and locality. The module of
//! each stand-in lists the known facts about the original, and the properties that the generator
//! imitates. A stand-in is not the original: results apply to the kind of graph, not to the file.
//!
//! The same scale and seed give the same graph on every machine. The generators use only those
//! floating-point operations that every machine rounds in the same way: sums, products, quotients
//! and square roots.
//!
//! A [`Scale`] below 1 makes a smaller graph with the same mean degree and shape.
//! Properties that grow with the size in this kind of graph, such as the diameter
//! of a road network or the degree of a hub, shrink with the scale.

mod collaboration;
mod draw;
mod edges;
mod grid;
mod optimization;
mod power_flow;
mod road;
mod scale;
mod words;

use super::Csr;
use crate::settings::known_names;

pub use scale::{BadScale, Scale};

/// A stand-in: the description of a well-known graph, and a generator that replaces it.
#[derive(Clone, Copy)]
pub struct StandIn {
    /// The name of the well-known graph.
    pub name: &'static str,
    /// The number of vertices of the original graph.
    pub vertices: u32,
    /// The number of arcs of the original graph. An undirected edge is two arcs.
    pub arcs: u64,
    /// The kind of graph, such as a road network.
    pub kind: &'static str,
    make: fn(Size, u64) -> Csr,
}

/// The size of a graph that is to be generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size {
    vertices: u32,
    /// The number of undirected edges: half of the arcs.
    edges: usize,
}

static ALL: [StandIn; 7] = [
    StandIn {
        name: "USA-road-d.BAY",
        vertices: 321_270,
        arcs: 800_172,
        kind: "road network with lengths, degrees of 1 to 8, large diameter",
        make: road::generate,
    },
    StandIn {
        name: "USA-road-d.COL",
        vertices: 435_666,
        arcs: 1_057_066,
        kind: "road network with lengths, degrees of 1 to 8, large diameter",
        make: road::generate,
    },
    StandIn {
        name: "c-68",
        vertices: 64_810,
        arcs: 565_996,
        kind: "optimization matrix with values, variables then constraints, a few very long rows",
        make: optimization::generate,
    },
    StandIn {
        name: "ecology1",
        vertices: 1_000_000,
        arcs: 3_996_000,
        kind: "five-point grid",
        make: grid::generate,
    },
    StandIn {
        name: "coAuthorsDBLP",
        vertices: 299_067,
        arcs: 1_955_352,
        kind: "collaboration network, power-law degrees, clustered, small diameter",
        make: collaboration::generate,
    },
    StandIn {
        name: "dictionary28",
        vertices: 52_652,
        arcs: 178_076,
        kind: "words one letter apart, many components",
        make: words::generate,
    },
    StandIn {
        name: "OPF_10000",
        vertices: 43_887,
        arcs: 426_898,
        kind: "optimal power flow matrix with values, variables then constraints of a power grid",
        make: power_flow::generate,
    },
];

impl core::fmt::Debug for StandIn {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("StandIn").field("name", &self.name).finish_non_exhaustive()
    }
}

impl StandIn {
    /// Generates the graph at this scale, from this seed. It has no self loops and no parallel
    /// arcs. Each arc has a reverse arc of the same weight.
    #[must_use]
    pub fn generate(&self, scale: Scale, seed: u64) -> Csr {
        let size = Size {
            vertices: scale.of(u64::from(self.vertices)) as u32,
            edges: scale.of(self.arcs / 2) as usize,
        };
        (self.make)(size, seed)
    }
}

/// All stand-ins (generated graphs that replace published ones).
#[must_use]
pub fn all() -> &'static [StandIn] {
    &ALL
}

/// The stand-in for the well-known graph with this name.
///
/// # Errors
/// If there is no such stand-in. The error names the nearest known name.
pub fn find(name: &str) -> Result<&'static StandIn, String> {
    let known: Vec<&str> = ALL.iter().map(|stand_in| stand_in.name).collect();
    ALL.iter()
        .find(|stand_in| stand_in.name == name)
        .ok_or_else(|| format!("there is no stand-in for a graph `{name}`; {}", known_names(name, &known)))
}
