//! The way between stations: the network, and where stations stand on it.

pub mod noc;
pub(crate) mod placement;
