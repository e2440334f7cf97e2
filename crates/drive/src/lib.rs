//! The one interpreter of a protocol's effects.
//!
//! [`Nodes::tell`] gives a station an input and hands what it does to a
//! [`Driver`], in one order. All machines use it: the timed one, the explored
//! one, the stressed one, and [`Plain`], which carries everything out in one
//! order until nothing is left. A driver chooses only: when something arrives,
//! in which order, and which way is given up.
//!
//! Nothing here knows how long anything takes. The plain engine in the tests of `explore` does not
//! use this crate: it is the independent check of it.

mod interpreter;
mod machine;
mod messages;
mod nodes;
mod plain;
mod record;

pub use interpreter::{Driver, Told};
pub use machine::Machine;
pub use messages::Messages;
pub use nodes::{At, Nodes, serve};
pub use plain::{Ahead, Plain, Stage, Under};
pub use record::Record;
