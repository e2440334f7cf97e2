//! Stand-ins for well-known graphs, made from a seed.
//!
//! When a file is not at hand, a generator makes a graph of its size and kind:
//! as many vertices and arcs, and degrees, diameter and locality as such graphs
//! have. What is known of each graph and what the generator imitates stands in
//! its module. A stand-in is not the graph: it says what this kind of input
//! does, not what that file does.
//!
//! The same scale and seed give the same graph on every machine: only sums,
//! products, quotients and square roots of floating-point numbers are used,
//! which round alike everywhere.
//!
//! A [`Scale`] below 1 makes a smaller graph with the same mean degree and
//! shape. What grows with the size in this kind of graph, as the diameter of a
//! road network or the degree of a hub does, shrinks with it.

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

/// A well-known graph and the generator that stands in for it.
#[derive(Clone, Copy)]
pub struct StandIn {
    /// The name of the graph.
    pub name: &'static str,
    /// Its vertices.
    pub vertices: u32,
    /// Its arcs, where an undirected edge is two.
    pub arcs: u64,
    /// What kind of graph it is.
    pub kind: &'static str,
    make: fn(Size, u64) -> Csr,
}

/// How large a graph is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size {
    vertices: u32,
    /// Undirected edges: half of the arcs.
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
        kind: "optimization matrix with values, a few rows with thousands of entries",
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
        kind: "optimal power flow matrix with values, small dense blocks along a power grid",
        make: power_flow::generate,
    },
];

impl core::fmt::Debug for StandIn {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("StandIn").field("name", &self.name).finish_non_exhaustive()
    }
}

impl StandIn {
    /// The graph of this scale and seed. Without self loops and parallel arcs,
    /// and with each arc in both directions, of equal weight if it has one.
    #[must_use]
    pub fn generate(&self, scale: Scale, seed: u64) -> Csr {
        let size = Size {
            vertices: scale.of(u64::from(self.vertices)) as u32,
            edges: scale.of(self.arcs / 2) as usize,
        };
        (self.make)(size, seed)
    }
}

/// All stand-ins.
#[must_use]
pub fn all() -> &'static [StandIn] {
    &ALL
}

/// The stand-in for the graph of a name.
///
/// # Errors
/// A sentence that names the nearest known one.
pub fn find(name: &str) -> Result<&'static StandIn, String> {
    let known: Vec<&str> = ALL.iter().map(|stand_in| stand_in.name).collect();
    ALL.iter()
        .find(|stand_in| stand_in.name == name)
        .ok_or_else(|| format!("there is no stand-in for a graph `{name}`; {}", known_names(name, &known)))
}
