//! Parts that protocols share, each written once.

mod acks;
mod array;
mod host;
mod store_buffer;

pub use acks::{AckCounts, AckParity};
pub use array::CacheArray;
pub use host::Host;
pub use store_buffer::{Popped, StoreBuffer};
