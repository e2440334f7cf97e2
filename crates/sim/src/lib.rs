//! The timed simulator: it runs programs on a machine under a protocol.
//!
//! A protocol defines the effect of each event; this crate computes the cycle at which it happens.
//! Compute units run wavefronts and send requests for lines to the protocol's stations (its
//! controllers). Messages cross a network with latency and bandwidth. Memory has channels, banks
//! and rows. A run is single-threaded and depends only on its inputs.
//!
//! * [`run`] runs a program on a [`config::System`] under a protocol.
//! * [`attribution`] assigns every cycle of a run to a cause.
//! * [`probe::Probe`] observes a run. Two probes are [`perfetto`], which writes a timeline of the
//!   run, and [`race`], which finds races.
//!
//! The crate contains no rule of any protocol and no knowledge of any program.

pub mod config;
mod cores;
mod engine;
mod kernels;
mod led;
mod machine;
pub mod memory;
mod network;
mod options;
mod ports;
pub mod queue;
pub mod race;
mod reports;
mod run;
mod slab;
mod stations;

pub use cores::coalesce;
pub use led::follow;
pub use machine::kernel_shape;
pub use memory::dram;
pub use network::noc;
pub use options::{DropMessage, RunOptions, ScopeReplacement};
pub use reports::outcome::{KernelTime, Outcome};
pub use reports::{attribution, energy, error, perfetto, probe, sample};
pub use run::{counter_names, run, run_subject};
pub use stations::subject::Subject;
