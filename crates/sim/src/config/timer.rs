//! The timers of protocols.

use serde::{Deserialize, Serialize};

use super::number;

/// How long the timers of protocols run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TimerSpec {
    /// Between two ticks of an epoch manager.
    #[serde(deserialize_with = "number::positive_u32")]
    pub epoch_cycles: u32,
    /// One unit of a lease or a logical clock.
    #[serde(deserialize_with = "number::positive_u32")]
    pub tick_cycles: u32,
}

impl Default for TimerSpec {
    fn default() -> Self {
        TimerSpec { epoch_cycles: 100, tick_cycles: 1 }
    }
}
