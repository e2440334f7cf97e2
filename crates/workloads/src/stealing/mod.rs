//! Work stealing, and graph applications that use it.
//!
//! Each compute unit has a queue, which one work-group owns. A work-group with
//! an empty queue may steal tasks from other queues. The design follows sections
//! II.C, II.D, IV.A and IV.B of "Lazy Release Consistency for GPUs" (MICRO 2016).
//!
//! * [`order`]: every step of the queue's operations as data, with its reason.
//! * [`Queues`]: push, pop, steal. [`Worker`]: the supply of tasks to a
//!   work-group.
//! * [`Policy`]: scopes, stealing, padding. [`SCENARIOS`] and [`for_machine`]:
//!   the policies of the paper.
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
pub use policy::{Policy, SCENARIOS, Scenario, Stealing, for_machine, scenario};
pub use worker::{Worker, lds_bytes};
