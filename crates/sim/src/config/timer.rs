//! The timers of protocols.

use proto::TimerClass;
use serde::{Deserialize, Serialize};

use super::number;

/// How long the timers of protocols run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TimerSpec {
    /// Until the next entry may leave a buffer.
    #[serde(deserialize_with = "number::positive_u32")]
    pub drain_cycles: u32,
    /// Until the next epoch.
    #[serde(deserialize_with = "number::positive_u32")]
    pub epoch_cycles: u32,
    /// Until a lease runs out.
    #[serde(deserialize_with = "number::positive_u32")]
    pub lease_cycles: u32,
    /// Between two ticks of a logical clock.
    #[serde(deserialize_with = "number::positive_u32")]
    pub tick_cycles: u32,
}

impl TimerSpec {
    /// How long a timer of this class runs.
    #[must_use]
    pub fn cycles(&self, class: TimerClass) -> u32 {
        match class {
            TimerClass::Drain => self.drain_cycles,
            TimerClass::Epoch => self.epoch_cycles,
            TimerClass::Lease => self.lease_cycles,
        }
    }
}
