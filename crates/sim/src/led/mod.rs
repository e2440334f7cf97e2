//! Scripted runs: a list of moves decides the order of the machine's events.

mod boundaries;
mod crossings;
pub mod follow;
mod machine;
mod moves;
mod preempt;
pub(crate) mod state;
