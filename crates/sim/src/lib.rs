//! Time: the machine around the protocols.
//!
//! A protocol says what happens; this crate says when. Compute units run
//! wavefronts and ask the protocol's stations for lines; messages cross a
//! network with latency and bandwidth; memory has channels, banks and rows.
//! A run is single-threaded and depends on nothing but its inputs.
//!
//! * [`run`] runs a program on a [`config::System`] under a protocol.
//! * [`attribution`] says where the cycles of a run went.
//! * [`probe::Probe`] watches a run; [`perfetto`] draws one, [`race`] finds its races.
//!
//! There is no rule of any protocol here, and none of any program.

pub mod attribution;
pub mod coalesce;
pub mod config;
mod counters;
pub mod dram;
pub mod energy;
pub mod error;
mod fabric;
pub mod follow;
mod history;
mod machine;
pub mod memory;
pub mod noc;
mod outcome;
pub mod perfetto;
mod placement;
pub mod probe;
mod progress;
pub mod queue;
pub mod race;
mod run;
pub mod sample;
mod slab;
mod stuck;
mod subject;

pub use machine::{DropMessage, OtherScope, RunOptions, kernel_shape};
pub use outcome::{KernelTime, Outcome};
pub use run::{counter_names, run, run_subject};
pub use subject::Subject;
