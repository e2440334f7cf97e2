//! Exhaustive exploration of a litmus program on a protocol. The controllers are those of the
//! timing simulation. The search covers every order of issue, delivery, memory service, timers
//! and evictions.
//!
//! **Use it** to explore a program on a protocol ([`Explorer`]), to verify a protocol against
//! its claims ([`verify`]), to see which seeded faults are detected ([`mutants`]), to replay a
//! trace from a file ([`trace`]) and to draw it ([`chart`]).
//!
//! **Do not** use it to find the outcomes that a *model* allows: crate `litmus` does that, and
//! [`claim`] calls it. This crate has no time in cycles.
//!
//! The modules, from the outside in:
//!
//! * `verify` runs [tests](corpus) on [machines](Bounds) and [placements](Placement) with an
//!   [`Explorer`], several at once, and tries [`mutants`].
//! * `programs` generates the tests, and evaluates the models of each claim on them.
//! * `search` puts a program on a machine, searches the states and judges the runs: `engine`
//!   searches, `store` keeps the states, and `progress` finds runs that never end. These three
//!   work on numbers only. `disagreement` checks rules about the lines of several controllers.
//!   `replay` replays a trace.
//! * `machine` is the transition system. Its parts are the nodes of the machine: a part is a
//!   station (a controller with its parked inputs), its threads, and its messages under way.
//!   `known` holds the effect of each move of each part as numbers. `offers` computes the moves
//!   of a part, and `threads` issues and completes the operations of its threads. `thread` is
//!   one thread, `operation` the request of an instruction. `preempt` moves work-groups between
//!   parts, `kernels` runs a sequence of kernels, and `controllers` steps stations and caches
//!   the results.
//!
//! ```
//! use explore::{Requirements, Bounds, Explorer, Limits, Placement, Subject};
//! use proto::WritePolicy::Combining;
//! let (_, text) = explore::corpus::SHIPPED.iter().find(|(path, _)| *path == "hrf/fig6.litmus").expect("shipped");
//! let program = litmus::parse::parse(text)?;
//! let mut explorer = Explorer::new(&Subject::of::<zoo::vi::Vi>(), Bounds::new(Combining, Combining), None);
//! let placement = Placement::spread(&program);
//! let found = explorer
//!     .explore(&program, &placement, &Requirements::default(), &mut Limits::default())
//!     .expect("the machine has all that the program needs");
//! assert_eq!(found.outcomes, [vec![1, 1]].into());
//! assert_eq!(found.violation, None);
//! # Ok::<(), litmus::parse::TextError>(())
//! ```

mod components;
pub mod cutoff;
mod machine;
pub mod mutants;
pub mod panics;
mod parallel;
mod priority;
mod programs;
mod search;
pub mod stress;
mod subject;
pub mod trace;
pub mod verify;

pub use machine::bounds::Bounds;
pub use machine::crossing::Crossing;
pub use machine::drain::overwritten;
pub use machine::kernels::StagedKernel;
pub use machine::moves::Move;
pub use machine::operation::rmw_kind;
pub use machine::outcome::Outcome;
pub use machine::placement::{Placement, Unsupported, Word};
pub use machine::thread::SILENT_MAX;
pub use mutants::rows::RowName;
pub use programs::{Programs, claim, corpus};
pub use search::engine::{Incomplete, Limits};
pub use search::replay::{ChartStep, End, FILTERED_OUT, NO_MOVE_LEFT, Replay};
pub use search::{Exploration, Explorer, Fault, Requirements, Violation, show};
pub use subject::Subject;
pub use trace::{Trace, chart};
