//! Scripted runs: a list of moves decides in which order the events of the machine happen.

mod boundaries;
mod crossings;
pub mod follow;
mod machine;
mod moves;
mod preempt;
pub(crate) mod state;
