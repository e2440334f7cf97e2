//! Builds the candidate executions of a program.
//!
//! Each thread is unfolded into traces: the paths through its code, with symbolic values for reads.
//! A combination of one trace for each thread makes a [`Skeleton`](skeleton::Skeleton): the events,
//! and all relations that do not depend on reads-from.

pub mod event;
pub(crate) mod live;
pub mod matrix;
mod meeting;
pub mod set;
pub mod skeleton;
pub(crate) mod sym;
pub(crate) mod unfold;
