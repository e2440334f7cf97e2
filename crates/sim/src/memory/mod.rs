//! Main memory: its bytes, its timing, and the operations that are outstanding.

pub(crate) mod bytes;
pub mod dram;
pub(crate) mod operations;
mod scheduler;

pub use bytes::Memory;
