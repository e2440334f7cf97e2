//! Sequential consistency for (heterogeneous-)race-free programs, as defined by Hower
//! et al., "Heterogeneous-race-free memory models" (ASPLOS 2014).
//!
//! [`check`] explores every sequentially consistent execution of a program. If no execution has a
//! race, the model allows exactly the outcomes of these executions. If some execution has a race,
//! the model allows any outcome, and the verdict shows the two accesses that race, an execution
//! with the race, and the reasons why no chain of synchronization orders the two accesses.
//!
//! This implementation decides the questions that the paper leaves open:
//!
//! * A scope is a scope *instance*: work-group 0 and work-group 1 are different scopes.
//!   A work-group and a device with the same threads are different scopes, too.
//! * The scoped synchronization order relates any release to any later acquire of its
//!   scope, regardless of locations. This is the printed definition.
//!   [`SyncOrder::SameLocation`] is the alternative.
//! * Program order is part of happens-before even without synchronization.
//! * [`Model::Drf`] treats all scopes as one.
//! * Scope inclusion is an option; see [`Reading::inclusion`].
//! * A store is a release and a load is an acquire. A read-modify-write is an acquire, a release or
//!   both, as its memory order says. A failed compare-and-swap is a load with its failure order.
//! * A fence is a release, an acquire or both at its scope, without a location. A
//!   barrier is a release on arrival and an acquire on departure.
//! * A relaxed atomic is an error unless [`Reading::relaxed_as`] defines its treatment.
//! * Local memory is treated like other memory (the paper leaves it out, 5.1.5). A
//!   fence that does not order a memory region that the program uses is an error.
//! * A thread that waits for ever does not terminate: it adds no outcome, but its
//!   accesses may race.

mod advice;
mod clock;
mod dot;
mod error;
mod explain;
mod fingerprint;
mod footprint;
mod key;
mod model;
mod plan;
mod report;
mod role;
mod scoping;
mod search;
mod state;
mod trace;
mod verdict;

pub use advice::{Advice, Change, ChangeSet, advise, advise_until};
pub use error::{CheckError, InstrPlace};
pub use explain::{Conflicting, Gap, Link, Race};
pub use model::{Model, Options, Reading, RelaxedAs, SyncOrder, UnknownName};
pub use plan::RaceKind;
pub use scoping::Role;
pub use search::{Effort, Incomplete};
pub use state::Choice;
pub use trace::{Execution, ExecutionStep, StepKind};
pub use verdict::{Verdict, check, check_until};
