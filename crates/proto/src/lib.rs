//! The vocabulary and the contract of Fencepost.
//!
//! Everything that a protocol, a driver and a checker must agree on stands
//! here, and nothing else: addresses, lines and byte masks, requests with
//! order and scope, tables as data, the contract of a controller, the station
//! that both drivers run, and the parts that protocols share.
//!
//! **Use it** to write a protocol or a driver. **Do not** look here for time,
//! energy, or anything that a single protocol knows.

mod boundary;
mod contract;
mod divisor;
mod effects;
mod homes;
pub mod issue;
mod levels;
mod line;
mod lookup;
mod messages;
mod node;
mod nodes;
pub mod page;
pub mod parts;
mod passes_on;
mod plan;
mod queue;
mod request;
mod room;
mod settings;
mod setup;
mod station;
mod symbols;
mod table;
mod topology;
mod uses;
pub mod words;

pub use boundary::Boundary;
pub use contract::*;
pub use effects::Effects;
pub use homes::{Home, Homes, PagePolicy};
pub use levels::*;
pub use line::*;
pub use node::*;
pub use plan::*;
pub use request::*;
pub use settings::*;
pub use setup::Setup;
pub use station::Station;
pub use symbols::Symbol;
pub use table::*;
pub use topology::{CacheShape, MemoryLevel, Per, Topology, WritePolicy};
pub use uses::*;
