//! Graphs: files, stand-ins for well-known ones, statistics, and what is true of them.
//!
//! [`Csr`] is the graph as kernels load it. [`read`] reads Matrix Market,
//! DIMACS, METIS and SNAP files, compressed or not, and says what it repaired.
//! [`stand_in`] makes graphs of the kind of well-known ones, and [`Source`] is
//! either by one name. [`Info`] has the statistics, and [`mod@reference`] the
//! algorithms that answers are checked against.
//!
//! Readers see a file as a stream, and no graph that exceeds the memory it may
//! use is built: where there is a header, it is checked before anything is
//! allocated. What a file should not have is an error or is repaired and
//! counted, by choice; nothing is dropped without a word.

pub mod reference;
pub mod stand_in;

mod csr;
mod dimacs;
mod error;
mod info;
mod intake;
mod matrix_market;
mod metis;
mod options;
mod power_law;
mod read;
mod scan;
mod snap;
mod source;

pub use csr::{Csr, Offsets, Weights};
pub use error::{GraphError, Place};
pub use info::{Degrees, Info, WeightRange};
pub use intake::Repairs;
pub use options::{Choice, Direction, Format, ReadOptions};
pub use power_law::power_law;
pub use read::{Loaded, read, read_from, write};
pub use source::{Description, Opened, Source};
