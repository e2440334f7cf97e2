//! The stations (controllers with parked inputs) of a protocol, and their timing.

pub(crate) mod fabric;
pub(crate) mod subject;
pub(crate) mod timed;
pub(crate) mod timing;
