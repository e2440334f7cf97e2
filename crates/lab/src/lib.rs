//! Runs experiments: looks up machines, scenarios and workloads by name, starts runs, and keeps
//! their results.
//!
//! This crate looks up every name that a user gives. Every fault in the user's input becomes one
//! [`Error`]: a sentence with the place, the value found and the value expected.
//!
//! Use it to run experiments from a program. The crate `sim` simulates the cycles, and the crate
//! `zoo` contains the protocols.

pub mod catalog;
pub mod cluster;
mod comparison;
mod digest;
mod error;
pub mod experiment;
pub mod info;
pub mod input;
pub mod litmus;
pub mod markdown;
mod origin;
pub mod paper;
mod place;
pub mod race;
mod record;
mod recorded;
pub mod replay;
pub mod report;
pub mod results;
pub mod run;
pub mod runner;
mod scenario;
pub mod series;
mod source;
pub mod store;
pub mod stress;
pub mod study;
pub mod systems;
pub mod table;
pub mod task;
pub mod verify;
pub mod watch;
mod why;

/// A digest of the source code that can affect results. `crates/lab/build.rs` computes the digest.
pub const CODE: &str = env!("FENCEPOST_CODE");

pub use comparison::{Comparison, Intervals, Mean, Row};
pub use error::Error;
pub use place::Place;
pub use record::{KernelRecord, Record};
pub use recorded::Recorded;
pub use scenario::Scenario;
pub use why::{Account, Difference, Part};
pub use workloads::nearest::nearest;
