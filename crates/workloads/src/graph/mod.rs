//! Graphs: files of graphs, stand-ins (generated graphs), statistics and reference algorithms.
//!
//! [`Csr`] is the form of a graph that kernels load. [`read`] reads Matrix Market, DIMACS, METIS
//! and SNAP files, compressed or not, and reports its repairs. [`stand_in`] generates graphs that
//! resemble well-known ones. [`GraphSource`] names a file or a stand-in. [`GraphInfo`] has the
//! statistics of a graph. [`mod@reference`] has algorithms on the host that check the answers of
//! workloads. [`programs`] are the workloads on graphs.
//!
//! The readers process a file as a stream and never exceed their memory budget. They check a header
//! before they allocate memory. The options decide whether a defect of a file is an error, or is
//! repaired and counted.

pub mod programs;
pub mod reference;
pub mod stand_in;

mod builder;
mod csr;
mod dimacs;
mod info;
mod matrix_market;
mod metis;
mod options;
mod power_law;
mod read;
mod snap;
mod source;

pub use builder::Repairs;
pub use csr::{Csr, Offsets, Weights};
pub use info::{Degrees, GraphInfo, WeightRange};
pub use options::{DefectPolicy, Direction, Format, ReadOptions};
pub use power_law::power_law;
pub use read::{LoadedGraph, read, read_from, write};
pub use source::{GraphDescription, GraphSource, OpenedGraph};
