//! Exhaustive search of a protocol with a litmus program. The controllers are those of the
//! timing simulation. The search covers every order of issue, delivery, memory service, timers
//! and evictions.
//! **Use it** to find what a protocol does with a program ([`Explorer`]), to
//! **Use it** to explore a program on a protocol ([`Explorer`]), to verify a protocol against
//! its claims ([`verify`]), to see which seeded faults are detected ([`mutants`]), to replay a
//! trace from a file ([`trace`]) and to draw it ([`chart`]).
//! **Do not** use it to find the outcomes that a *model* allows: crate `litmus` does that, and
//! [`claim`] calls it. Time in cycles does not exist here.
//! From the outside in:
//! From the outside in:
//! * `verify` takes [tests](corpus), [machines](Bounds) and [placements](Placement)
//! * `verify` runs [tests](corpus) on [machines](Bounds) and [placements](Placement) with an
//!   [`Explorer`], several at once, and tries [`mutants`].
//! * `programs` generates the tests, and asks the models of each claim.
//! * `search` puts a program on a machine, searches and judges: `engine` searches, with
//!   `store` for the states; `progress` finds runs that never end. Both work on numbers only.
//!   `replay` replays a trace.
//! * `machine` is the transition system. `known` holds it as numbers: the effect of each move
//!   of each part of a machine. A part is a station with its threads and its messages under
//!   way. `offers` computes the moves of a part, `threads` issues and completes for its
//!   threads; `thread` is one thread, `operation` the request of an instruction. `preempt`
//!   moves work-groups between parts, `kernels` runs a sequence of kernels. `controllers`
//!   steps stations and caches the results.
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

mod machine;
pub mod mutants;
mod parallel;
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
pub use search::replay::{End, FILTERED_OUT, NO_MOVE_LEFT, Replay, Step};
pub use search::{Exploration, Explorer, Fault, Requirements, Violation, show};
pub use subject::Subject;
pub use trace::{Trace, chart};
