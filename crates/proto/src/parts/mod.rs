//! Parts that protocols share, each written once.

mod acks;
mod array;
mod host;
mod lines;
mod small_map;
mod store_buffer;

pub use acks::{AckCounts, AckParity, peers};
pub use array::CacheArray;
pub(crate) use array::Indexing;
pub use host::Host;
pub use lines::{EventOf, Lines, Place, StateOf, hit};
pub use small_map::SmallMap;
pub use store_buffer::{FlushWaiter, Popped, StoreBuffer};
