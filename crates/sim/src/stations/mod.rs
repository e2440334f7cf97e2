//! The stations of a protocol: what they are, and how long they take.

pub(crate) mod fabric;
pub(crate) mod subject;
pub(crate) mod timed;
pub(crate) mod timing;
