//! Candidate executions of a program.
//!
//! Threads are unfolded into traces, every way through the code with
//! the values of reads left open. One trace a thread makes a
//! [`Skeleton`](skeleton::Skeleton): the events and all that is known without
//! saying who reads from whom.

pub mod event;
pub(crate) mod live;
pub mod matrix;
mod meeting;
pub mod set;
pub mod skeleton;
pub(crate) mod sym;
pub(crate) mod unfold;
