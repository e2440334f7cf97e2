//! The stations of a protocol (controllers with their waiting inputs), and their timing.

mod banks;
pub(crate) mod fabric;
mod leave;
pub(crate) mod subject;
pub(crate) mod timed;
pub(crate) mod timing;
