//! A machine that is led: a list of moves says in which order choices are made.

mod boundaries;
mod crossings;
pub mod follow;
pub(crate) mod leader;
mod machine;
mod moves;
mod preempt;
