//! The interpreter of a protocol's effects.
//!
//! [`Nodes::tell`] gives a station an input and hands the effects to a [`Driver`], in a
//! fixed order. The simulator, the explorer and the random tester use it. So does
//! [`MinimalDriver`], which carries all effects out in one order until none is left. A driver
//! only chooses when an input arrives, in which order, and which way is evicted.
//!
//! This crate knows no durations. The plain engine in the tests of `explore` does not use
//! this crate, because it is the independent check of it.

mod interpreter;
mod machine;
mod messages;
mod nodes;
mod plain;
mod record;

pub use interpreter::{Driver, StationInput};
pub use machine::Machine;
pub use messages::Messages;
pub use nodes::{At, Nodes, serve};
pub use plain::{InputOf, MinimalDriver, PendingInputs, StationStore};
pub use record::Record;
