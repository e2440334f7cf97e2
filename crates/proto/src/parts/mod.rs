//! Parts that protocols share, each written once.

mod acks;
mod array;
mod few;
mod host;
mod lines;
mod store_buffer;

pub use acks::{AckCounts, AckParity, peers};
pub use array::CacheArray;
pub(crate) use array::Indexing;
pub use few::Few;
pub use host::Host;
pub use lines::{EventOf, Lines, Place, StateOf, hit};
pub use store_buffer::{Popped, StoreBuffer, Waits};
