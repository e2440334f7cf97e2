//! The timers of protocols.

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
    /// Between two ticks of the clock that protocols look at: leases and deadlines
    /// are counted in them.
    #[serde(deserialize_with = "number::positive_u32")]
    pub tick_cycles: u32,
}
