//! Reference algorithms on the host, which check the answers of a machine. They
//! are simple rather than fast.
//!
//! An iterative workload may stop after N sweeps, before its values stop changing. The functions
//! named `..._sweeps` perform N sweeps too. A sweep reads only values of the sweep before it.

mod colouring;
mod paths;
mod rank;

pub use colouring::{
    ColouringError, UNCOLOURED, check_colouring, colouring_by_extremes, colouring_sweeps, greedy_colouring,
};
pub use paths::{UNREACHED, UNREACHED_HOPS, dijkstra, distance_sweeps, hops};
pub use rank::{Ranks, rank_sweeps, ranks};
