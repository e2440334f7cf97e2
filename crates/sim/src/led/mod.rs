//! A machine that follows a script: a list of moves decides the order of choices.

mod boundaries;
mod crossings;
pub mod follow;
mod machine;
mod moves;
mod preempt;
pub(crate) mod state;
