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
//! * [`verify`] takes [tests](corpus), [machines](Bounds) and [placements](Placement)
//!   to an [`Explorer`], several at once.
//! * `explorer` puts a program on a machine, has it searched, and judges.
//! * `engine` searches, with `store` for the states; `progress` looks for runs
//!   that never end. They know numbers only.
//! * `known` is those numbers: what each move of each part of a machine does.
//!   `machine` learns it: parts are a station, its threads and what is under way.
//!   `offers` finds the moves of a part, `threads` lets its threads issue and go on;
//!   `thread` is one of them, `operation` the request of its instruction.
//!   `preempt` takes work-groups to other parts, `kernels` has kernels follow one another.
//!   `controllers` tells stations things, and remembers what they did.
//!
//! ```
//! use explore::{Asked, Bounds, Explorer, Explores, Limits, Placement};
//! use proto::WritePolicy::Combining;
//! let (_, text) = explore::corpus::SHIPPED.iter().find(|(path, _)| *path == "hrf/fig6.litmus").expect("shipped");
//! let program = litmus::parse::parse(text)?;
//! let mut explorer = Explorer::<zoo::vi::Vi>::new(Bounds::new(Combining, Combining), None);
//! let placement = Placement::spread(&program);
//! let found = explorer
//!     .explore(&program, &placement, &Asked::default(), &mut Limits::default())
//!     .expect("the machine has all that the program needs");
//! assert_eq!(found.outcomes, [vec![1, 1]].into());
//! assert_eq!(found.violation, None);
//! # Ok::<(), litmus::parse::TextError>(())
//! ```

mod ageing;
mod bounds;
pub mod chart;
pub mod claim;
mod controllers;
pub mod corpus;
mod crossing;
mod drain;
mod engine;
mod equivalent;
mod explorer;
mod intern;
mod kernels;
mod known;
mod live;
mod machine;
mod made;
mod message;
mod moves;
pub mod mutants;
mod offers;
mod operation;
mod outcome;
mod parallel;
mod placement;
mod play;
mod preempt;
mod programs;
mod progress;
mod reason;
mod rebase;
mod replay;
pub mod results;
mod rows;
mod run;
mod sampled;
mod slots;
mod stages;
mod store;
pub mod stress;
mod subject;
mod test;
mod thread;
mod threads;
pub mod trace;
mod trials;
mod twist;
mod unproved;
pub mod verify;

pub use bounds::Bounds;
pub use crossing::Crosser;
pub use drain::overwritten;
pub use engine::{Incomplete, Limits};
pub use explorer::{Asked, Explorer, Explores, Fault, Found, Violation, show};
pub use kernels::StagedKernel;
pub use moves::Move;
pub use operation::rmw_kind;
pub use outcome::Outcome;
pub use placement::{Placement, Unsupported, Word};
pub use programs::Programs;
pub use replay::{End, LEFT_OUT, Replay, STUCK, Step};
pub use rows::RowName;
pub use subject::Subject;
pub use thread::SILENT_MAX;
pub use trace::Trace;
