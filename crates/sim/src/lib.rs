//! Time: the machine around the protocols.
//!
//! A protocol says what happens; this crate says when. Compute units run
//! wavefronts and ask the protocol's stations for lines; messages cross a
//! network with latency and bandwidth; memory has channels, banks and rows.
//! A run is single-threaded and depends on nothing but its inputs.

pub mod coalesce;
pub mod config;
pub mod dram;
pub mod energy;
pub mod memory;
pub mod noc;
pub mod queue;
