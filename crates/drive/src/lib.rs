//! The interpreter of a protocol's effects.
//!
//! [`Nodes::tell`] gives an input to a station (one controller of a protocol with its parked
//! inputs) and hands the effects to a [`Driver`], in a fixed order. The simulator, the explorer and
//! the random tester use it. So does [`MinimalDriver`], which delivers all inputs in one fixed
//! order until none is outstanding. A driver only chooses when an input arrives, in which order
//! inputs arrive, and which way is evicted.
//!
//! This crate knows no durations. The plain engine in the tests of `explore` does not use this
//! crate, because that engine is the independent check of this crate.

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
