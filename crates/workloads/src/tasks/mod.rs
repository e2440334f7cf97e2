//! A work-sharing task runtime, and task programs.
//!
//! The runtime follows section 7 of "Heterogeneous-race-free Memory Models" (ASPLOS 2014).
//! Wavefronts run until no task is left. The device, each work-group and each wavefront has a
//! queue. A task-front holds as many tasks as a wavefront has lanes, and all its tasks call the
//! same function. A full front enters the private queue of its wavefront. If the queue of the
//! work-group or of the device holds too few fronts, it gets the oldest front.
//!
//! * [`TaskProgram`]: a program made of tasks. [`Worker`]: a wavefront that makes, takes and runs
//!   tasks.
//! * [`Plan`]: the queues and wavefronts of a run. [`Scopes`]: the scopes of the queues under each
//!   policy.
//! * [`Tree`]: the trees of Unbalanced Tree Search, and their traversal on the
//!   host.
//!
//! The guide below explains how to write a program of tasks. Its code is compiled and run as a
//! test.
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
pub use policy::{PartialFronts, Scopes};
pub(crate) use queens::QUEENS;
pub use run::{Plan, SETTINGS, TALLIES_MAX, TaskProgram, TaskTotals, check_work};
pub use tree::{Limits, TooLarge, Tree, TreeKind, TreeShape, TreeSummary};
pub(crate) use uts::{INPUTS, UTS};
pub use worker::{TaskCounts, Worker};
