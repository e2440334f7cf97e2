//! Parts of controllers that several protocols use, such as arrays of lines and store buffers.

mod acks;
mod array;
mod countdowns;
mod host;
mod lines;
mod small_map;
mod store_buffer;

pub use acks::{AckCounts, AckParity, peers};
pub use array::{CacheArray, Place};
pub use countdowns::Countdowns;
pub use host::Host;
pub use lines::{EventOf, Lines, StateOf, hit};
pub use small_map::SmallMap;
pub use store_buffer::{FlushWaiter, Popped, StoreBuffer};
