//! Work stealing, and graph applications that use it.
//!
//! Each compute unit has a queue of tasks, which one work-group owns. A work-group whose queue is
//! empty may steal tasks from other queues. The design follows sections II.C, II.D, IV.A and IV.B
//! of "Lazy Release Consistency for GPUs" (MICRO 2016).
//!
//! * [`order`]: every step of the operations on a queue as data, with the reason for its memory
//!   order.
//! * [`Queues`]: the operations push, pop and steal. [`Worker`]: gives tasks to the wavefronts of a
//!   work-group.
//! * [`Policy`]: scopes, stealing, and padding of variables to lines. [`SCENARIOS`] and
//!   [`for_machine`]: the policies of the paper.
//! * [`App`]: shortest paths, colouring and PageRank on any graph.
//!
//! `docs/work-stealing.md` lists the choices that the paper leaves open.

pub mod order;

mod apps;
mod color;
mod deque;
mod input;
mod pagerank;
mod policy;
mod sssp;
mod sweep;
mod worker;

pub use apps::App;
pub(crate) use apps::{COLOR, PAGERANK, SSSP};
pub use deque::{Queues, StealOutcome, atomic_bytes};
pub use policy::{Layout, Policy, Refill, SCENARIOS, Scenario, Stealing, for_machine, scenario};
pub use worker::{Worker, lds_bytes};
