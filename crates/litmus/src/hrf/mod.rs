//! Sequential consistency for (heterogeneous-)race-free programs, as defined by
//! Hower et al., "Heterogeneous-race-free memory models" (ASPLOS 2014), with
//! its open ends decided.
//!
//! [`check`] explores every sequentially consistent execution of a program. If
//! none of them has a race, the outcomes that the model allows are exactly
//! theirs. If one has, the model promises nothing, and the verdict shows the
//! pair that races, an execution in which it does, and why no chain of
//! synchronization orders the two.
//!
//! What the paper leaves open, and what we take it to mean:
//!
//! * A scope is a scope *instance*: work-group 0 and work-group 1 are different
//!   scopes, and so are a work-group and a device that hold the same threads.
//! * The scoped synchronization order relates any release to any later acquire
//!   of its scope, whatever locations they reach, as printed.
//!   [`SyncOrder::SameLocation`] is the other reading.
//! * Program order is part of happens-before even if nothing synchronizes.
//! * [`Model::Drf`] takes all scopes for one.
//! * Scope inclusion is an option; see [`Reading::inclusion`].
//! * A store releases, a load acquires, a read-modify-write does what its order
//!   says. A compare-and-swap that fails is a load of its failure order.
//! * A fence is a release, an acquire or both at its scope, without a location.
//!   A barrier releases when it is come to and acquires when it is left.
//! * A relaxed atomic is an error unless [`Reading::relaxed_as`] says how to
//!   read it.
//! * Scratchpad memory is memory (the paper disregards it, 5.1.5); a fence that
//!   leaves out a memory which the program uses is an error.
//! * A thread that waits for ever has not ended: it adds no outcome, but what it
//!   did until then may race.

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
pub use error::{CheckError, Place};
pub use explain::{Gap, Link};
pub use model::{Model, Options, Reading, RelaxedAs, SyncOrder, UnknownName};
pub use plan::RaceKind;
pub use scoping::Role;
pub use search::{Choice, Effort};
pub use trace::{Execution, Step, StepKind};
pub use verdict::{Conflicting, Incomplete, Race, Verdict, check, check_until};
