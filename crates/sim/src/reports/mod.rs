//! What a run tells of itself: what it counted, where its cycles went, what it sent
//! last, and why it has no result.

pub mod attribution;
pub(crate) mod counters;
pub mod energy;
pub mod error;
pub(crate) mod history;
pub(crate) mod outcome;
pub mod perfetto;
pub mod probe;
pub(crate) mod progress;
pub mod sample;
pub(crate) mod stuck;
