//! Reference algorithms on the host, which check the answers of a machine. They
//! are simple rather than fast.
//!
//! An iterative workload may stop after N sweeps instead of at the fixed point.
//! The functions named `..._sweeps` perform the same number of sweeps, double
//! buffered: a sweep reads only values of the sweep before.

mod colouring;
mod paths;
mod rank;

pub use colouring::{
    ColouringError, UNCOLOURED, check_colouring, colouring_by_extremes, colouring_sweeps, greedy_colouring,
};
pub use paths::{UNREACHED, UNREACHED_HOPS, dijkstra, distance_sweeps, hops};
pub use rank::{Ranks, rank_sweeps, ranks};
