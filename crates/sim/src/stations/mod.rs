//! The stations of a protocol (controllers with their waiting inputs), and their timing.

mod copy;
pub(crate) mod fabric;
pub(crate) mod subject;
pub(crate) mod timed;
pub(crate) mod timing;
