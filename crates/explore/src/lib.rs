//! Exhaustive search of protocol and litmus program: the very controllers that
//! are timed, under every order of issue, delivery, memory, timers and
//! evictions.
//!
//! **Use it** to find what a protocol does with a program ([`Explorer`]), to
//! verify a protocol against its claims ([`verify`]), to see which seeded faults
//! are noticed ([`mutants`]), to make a trace again from a file ([`trace`]) and to
//! draw it ([`chart`]).
//! **Do not** look here for what a *model* allows: that is `litmus`, and [`claim`]
//! asks it. Nothing here knows time.
//!
//! From the outside in:
//!
//! * `verify` takes [tests](corpus), [machines](Bounds) and [placements](Placement)
//!   to an [`Explorer`], several at once, and tries [`mutants`].
//! * `programs` makes the tests, and asks the models of each claim.
//! * `search` puts a program on a machine, searches and judges: `engine` searches,
//!   with `store` for the states; `progress` looks for runs that never end. They know
//!   numbers only. `replay` makes a trace again.
//! * `machine` is what is searched. `known` is its numbers: what each move of each
//!   part of a machine does. Parts are a station, its threads and what is under way.
//!   `offers` finds the moves of a part, `threads` lets its threads issue and go on;
//!   `thread` is one of them, `operation` the request of its instruction.
//!   `preempt` takes work-groups to other parts, `kernels` has kernels follow one another.
//!   `controllers` tells stations things, and remembers what they did.
//!
//! ```
//! use explore::{Asked, Bounds, Explorer, Limits, Placement, Subject};
//! use proto::WritePolicy::Combining;
//! let (_, text) = explore::corpus::SHIPPED.iter().find(|(path, _)| *path == "hrf/fig6.litmus").expect("shipped");
//! let program = litmus::parse::parse(text)?;
//! let mut explorer = Explorer::new(&Subject::of::<zoo::vi::Vi>(), Bounds::new(Combining, Combining), None);
//! let placement = Placement::spread(&program);
//! let found = explorer
//!     .explore(&program, &placement, &Asked::default(), &mut Limits::default())
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
pub use machine::crossing::Crosser;
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
pub use search::replay::{End, LEFT_OUT, Replay, STUCK, Step};
pub use search::{Asked, Explorer, Fault, Found, Violation, show};
pub use subject::Subject;
pub use trace::{Trace, chart};
