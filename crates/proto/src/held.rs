//! A request that waits at a station.

use core::hash::{Hash, Hasher};

use crate::line::LineData;
use crate::request::Request;

/// A request that is parked (waits) at the station. `stage` is the index of the current step in the
/// request's plan (the sequence of steps that performs the request).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct HeldRequest {
    pub(crate) req: Request,
    pub(crate) stage: u8,
    pub(crate) data: LineData,
    /// Whether the request is parked under its own slot, that is, until an answer for this slot
    /// arrives. Such a request is in no list of parked inputs.
    pub(crate) under_slot: bool,
    pub(crate) stats: RequestStats,
}

/// The statistics of a request. The behaviour of the machine does not depend on them. Therefore two
/// requests compare as equal if they differ only in their statistics.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RequestStats {
    /// Whether the request has been counted as a hit, a miss or a bypass.
    pub(crate) counted: bool,
    /// Whether the request has needed anything from the level below.
    pub(crate) below: bool,
}

impl PartialEq for RequestStats {
    fn eq(&self, _: &RequestStats) -> bool {
        true
    }
}
impl Eq for RequestStats {}
impl Hash for RequestStats {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
