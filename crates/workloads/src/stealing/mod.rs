//! Work stealing, and applications on graphs that are balanced by it.
//!
//! Each compute unit has a queue, which belongs to one work-group; work-groups
//! that have nothing left may take tasks from the queues of others. After
//! sections II.C, II.D, IV.A and IV.B of "Lazy Release Consistency for GPUs"
//! (MICRO 2016).
//!
//! * [`order`]: every step of the queue's operations as data, with its reason.
//! * [`Queues`]: push, pop, steal. [`Worker`]: how a work-group gets tasks.
//! * [`Policy`]: scopes, stealing, padding. [`SCENARIOS`]: those of the paper.
//! * [`App`]: shortest paths, colouring and PageRank on any graph.
//!
//! The paper says that vertices are distributed evenly over the queues, not how
//! many of them a task has. A task here has as many as a wavefront has lanes
//! (64, a setting). Table 6 speaks for it: the share of atomics that are served
//! by the L2, which is about one for each variable of the queues in each
//! sweep, times the vertices of the input is the same for eight of its nine
//! rows. For 24 KB of lines that makes an atomic for every 8 vertices, so
//! tasks of a few tens.

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
pub use policy::{Policy, SCENARIOS, Scenario, Stealing, scenario};
pub use worker::{Worker, lds_bytes};
