//! What is true of a graph: algorithms on the host that the answers of a
//! machine are checked against. They are the plain ones, not the fast ones.
//!
//! Iterative workloads may stop after N sweeps instead of at the fixed point;
//! the functions named `..._sweeps` do the same number of sweeps, double
//! buffered: a sweep reads what the one before it wrote, and nothing newer.

mod colouring;
mod paths;
mod rank;

pub use colouring::{Conflict, UNCOLOURED, check_colouring, colouring_sweeps, greedy_colouring};
pub use paths::{UNREACHED, UNREACHED_HOPS, dijkstra, distance_sweeps, hops};
pub use rank::{Ranks, rank_sweeps, ranks};
