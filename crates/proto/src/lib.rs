//! The common types of Fencepost, and the contract (the interface) between protocols and drivers. A
//! driver runs the controllers of a protocol, as the simulator does.
//!
//! This crate holds what protocols, drivers and checkers share: addresses, lines and byte masks,
//! requests with order and scope, tables as data, the contract of a controller, the station (a
//! controller with its parked inputs) that all drivers run, and parts of controllers.
//!
//! **Use it** to write a protocol or a driver. It does **not** model time or energy, and it holds
//! no code that only one protocol needs.

mod boundary;
mod clone_in_place;
mod contract;
mod delegate;
mod divisor;
mod effects;
mod held;
mod homes;
pub mod issue;
mod levels;
mod line;
mod lookup;
mod messages;
mod node;
mod nodes;
pub mod page;
mod parked;
pub mod parts;
mod plan;
mod queue;
mod request;
mod seeded_fault;
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
pub use seeded_fault::*;
pub use settings::*;
pub use setup::Setup;
pub use station::Station;
pub use symbols::Symbol;
pub use table::*;
pub use topology::{CacheShape, MemoryLevel, Per, Topology, WritePolicy};
pub use uses::*;
