//! A work-sharing task runtime, and programs made of tasks.
//!
//! After section 7 of "Heterogeneous-race-free Memory Models" (ASPLOS 2014):
//! persistent wavefronts, a queue of the device, one of each work-group and one
//! of each wavefront. Tasks are gathered into fronts of as many as a wavefront
//! has lanes, which all call one function. A full front goes to the private
//! queue, and the oldest is given to a queue above that holds too little.
//!
//! * [`TaskProgram`]: what a program is. [`Worker`]: how it makes tasks.
//! * [`Plan`]: how it runs, from settings. [`Scopes`]: the two policies.
//! * [`Tree`]: the trees of Unbalanced Tree Search, and the host's traversal.
//!
//! To write one, see the guide below; its code is compiled and run as a test.
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
pub use run::{Done, Plan, SETTINGS, TALLIES_MAX, TaskProgram, check_work};
pub use tree::{Kind, Limits, Shape, Summary, TooLarge, Tree};
pub(crate) use uts::{INPUTS, UTS};
pub use worker::{Counts, Worker};
