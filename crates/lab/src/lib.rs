//! The laboratory bench: systems, scenarios, runs and their results.
//!
//! Everything a person asks for by name is looked up here, and everything
//! that can be wrong with what they asked becomes one [`Error`]: a sentence
//! that names the place, what was found and what was expected.
//!
//! Use it to run experiments from a program. It knows no cycle and no
//! protocol; for those see `sim` and `zoo`.

pub mod catalog;
mod comparison;
mod digest;
mod error;
pub mod experiment;
pub mod input;
pub mod litmus;
pub mod markdown;
mod origin;
pub mod paper;
mod place;
pub mod race;
mod record;
pub mod replay;
pub mod report;
pub mod results;
pub mod run;
pub mod runner;
mod scenario;
pub mod series;
pub mod store;
pub mod stress;
pub mod systems;
pub mod table;
pub mod verify;
pub mod watch;
mod why;

/// Names the code that results depend on, as `crates/lab/build.rs` tells.
pub const CODE: &str = env!("FENCEPOST_CODE");

pub use comparison::{Comparison, Intervals, Mean, Row};
pub use error::Error;
pub use place::Place;
pub use record::{KernelRecord, Record};
pub use scenario::Scenario;
pub use why::{Account, Difference, Part};
pub use workloads::nearest::nearest;
