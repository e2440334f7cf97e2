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
pub use options::{DropMessage, OtherScope, RunOptions};
pub use reports::outcome::{KernelTime, Outcome};
pub use reports::{attribution, energy, error, perfetto, probe, sample};
pub use run::{counter_names, run, run_subject};
pub use stations::subject::Subject;
