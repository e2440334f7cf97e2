//! Graphs: files, stand-ins, statistics and reference algorithms.
//!
//! [`Csr`] is the form of a graph that kernels load. [`read`] reads Matrix
//! Market, DIMACS, METIS and SNAP files, compressed or not, and reports its
//! repairs. [`stand_in`] generates graphs that resemble well-known ones.
//! [`GraphSource`] names a file or a stand-in. [`GraphInfo`] has the statistics,
//! and [`mod@reference`] the algorithms that check answers. [`programs`] are
//! workloads on graphs.
//!
//! Readers process a file as a stream and never exceed the memory budget. They
//! check a header before they allocate. A defect of a file is an error, or is
//! repaired and counted: the options decide.

pub mod programs;
pub mod reference;
pub mod stand_in;

mod builder;
mod csr;
mod dimacs;
mod error;
mod info;
mod matrix_market;
mod metis;
mod options;
mod power_law;
mod read;
mod scan;
mod snap;
mod source;

pub use builder::Repairs;
pub use csr::{Csr, Offsets, Weights};
pub use error::{FilePosition, GraphError};
pub use info::{Degrees, GraphInfo, WeightRange};
pub use options::{DefectPolicy, Direction, Format, ReadOptions};
pub use power_law::power_law;
pub use read::{LoadedGraph, read, read_from, write};
pub use source::{GraphDescription, GraphSource, OpenedGraph};
