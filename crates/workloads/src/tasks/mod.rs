//! A work-sharing task runtime, and task programs.
//!
//! The runtime follows section 7 of "Heterogeneous-race-free Memory Models"
//! (ASPLOS 2014): persistent wavefronts, one queue of the device, one queue per
//! work-group and one per wavefront. A front holds as many tasks as a wavefront
//! has lanes, and all its tasks call one function. A full front enters the
//! private queue. If a queue above holds too little, it gets the oldest front.
//!
//! * [`TaskProgram`]: a program. [`Worker`]: makes and takes tasks.
//! * [`Plan`]: the queues and wavefronts of a run. [`Scopes`]: the two policies.
//! * [`Tree`]: the trees of Unbalanced Tree Search, and their traversal on the
//!   host.
//!
//! The guide below explains how to write a task program. Its code is compiled and
//! run as a test.
#![doc = include_str!("../../../../docs/tasks.md")]

mod fib;
mod forecast;
mod front;
mod policy;
mod queens;
mod ring;
mod run;
mod sha1;
mod spread;
mod tree;
mod uts;
mod worker;

pub(crate) use fib::FIB;
pub use policy::Scopes;
pub(crate) use queens::QUEENS;
pub use run::{Plan, SETTINGS, TALLIES_MAX, TaskProgram, TaskTotals, check_work};
pub use tree::{Limits, TooLarge, Tree, TreeKind, TreeShape, TreeSummary};
pub(crate) use uts::{INPUTS, UTS};
pub use worker::{TaskCounts, Worker};
