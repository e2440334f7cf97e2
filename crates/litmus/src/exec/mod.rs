//! Candidate executions of a program.
//!
//! Threads are unfolded into traces: every path through the code, with symbolic values
//! for reads. One trace for each thread makes a [`Skeleton`](skeleton::Skeleton): the
//! events and all relations that do not depend on reads-from.

pub mod event;
pub(crate) mod live;
pub mod matrix;
mod meeting;
pub mod set;
pub mod skeleton;
pub(crate) mod sym;
pub(crate) mod unfold;
