//! Main memory: its bytes and its timing.

pub(crate) mod bytes;
pub mod dram;

pub use bytes::Memory;
