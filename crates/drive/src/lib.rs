//! The interpreter of a protocol's effects.
//!
//! [`Nodes::deliver`] gives an input to a station (one controller of a protocol with its parked
//! inputs) and hands the effects to a [`Driver`], in a fixed order. The simulator, the explorer and
//! the random tester use it. So does [`MinimalDriver`], which delivers all inputs in one fixed
//! order until no input is outstanding. A driver only chooses when an input arrives, in which order
//! inputs arrive, and which way is evicted.
//!
//! No code of this crate depends on how long an operation takes. The tests of the crate `explore`
//! contain a second, simple engine that does not use this crate, so that they check this crate
//! independently.

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
