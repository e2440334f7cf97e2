//! Main memory: its bytes, its timing, the caches in front of it, and the operations that are
//! outstanding.

mod behind;
pub(crate) mod bytes;
pub mod dram;
mod dram_spec;
pub(crate) mod operations;
mod scheduler;
pub(crate) mod side;
mod spacing;

pub use bytes::Memory;
