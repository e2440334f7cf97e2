//! Exhaustive search of protocol and litmus program: the very controllers that
//! are timed, under every order of issue, delivery, memory, timers and
//! evictions.

mod bounds;
pub mod chart;
pub mod claim;
mod controllers;
pub mod corpus;
mod engine;
mod explorer;
mod intern;
mod known;
mod live;
mod machine;
mod moves;
pub mod mutants;
mod outcome;
mod placement;
mod progress;
mod replay;
mod rows;
mod store;
mod thread;
pub mod verify;

pub use bounds::Bounds;
pub use engine::{Incomplete, Limits};
pub use explorer::{Asked, Explorer, Fault, Found, Violation, show};
pub use moves::Move;
pub use outcome::Outcome;
pub use placement::{Placement, Unsupported};
pub use replay::{Replay, Step};
