//! Main memory: its bytes, its timing, and the operations that are outstanding.

pub(crate) mod bytes;
pub mod dram;
pub(crate) mod operations;

pub use bytes::Memory;
