//! Work stealing, and applications on graphs that are balanced by it.
//!
//! Each compute unit has a queue, which belongs to one work-group; work-groups
//! that have nothing left may take tasks from the queues of others. After
//! sections II.C, II.D, IV.A and IV.B of "Lazy Release Consistency for GPUs"
//! (MICRO 2016).
//!
//! * [`order`]: every step of the queue's operations as data, with its reason.
//! * [`Queues`]: push, pop, steal. [`Worker`]: how a work-group gets tasks.
//! * [`Policy`]: scopes, stealing, padding. [`SCENARIOS`] and [`for_machine`]: those of the
//!   paper.
//! * [`App`]: shortest paths, colouring and PageRank on any graph.
//!
//! `docs/work-stealing.md` tells what was chosen where the paper is silent.

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
pub use deque::{Queues, Theft, atomic_bytes};
pub use policy::{Policy, SCENARIOS, Scenario, Stealing, for_machine, scenario};
pub use worker::{Worker, lds_bytes};
