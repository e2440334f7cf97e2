//! Input files: streams, a scanner of text, tables of numbers, and errors.
//!
//! [`numbers`] reads tables of numbers, such as matrices and points. The readers of graphs are in
//! [`crate::graph`]. All readers process a file as a stream, compressed or not, and never exceed
//! their memory budget.

pub mod numbers;

mod error;
mod open;
mod scan;

pub use error::{FileError, FilePosition};

pub(crate) use error::printable_path;
pub(crate) use open::{Stream, open, unpacked};
pub(crate) use scan::Scanner;
