//! Main memory: its bytes, its timing, and the operations on their way to it.

pub(crate) mod bytes;
pub mod dram;
pub(crate) mod way;

pub use bytes::Memory;
