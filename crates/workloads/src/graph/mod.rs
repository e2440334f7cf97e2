//! Graphs: files, stand-ins for well-known ones, statistics, and what is true of them.
//!
//! [`Csr`] is the graph as kernels load it. [`read`] reads Matrix Market,
//! DIMACS, METIS and SNAP files, compressed or not, and says what it repaired.

mod csr;
mod dimacs;
mod error;
mod intake;
mod matrix_market;
mod metis;
mod options;
mod power_law;
mod read;
mod scan;
mod snap;

pub use csr::{Csr, Offsets, Weights};
pub use error::{GraphError, Place};
pub use intake::Repairs;
pub use options::{Choice, Direction, Format, ReadOptions};
pub use power_law::power_law;
pub use read::{Loaded, read, read_from, write};
