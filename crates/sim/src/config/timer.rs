//! The timers of protocols.

use serde::{Deserialize, Serialize};

use super::number;

/// The periods of protocol timers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TimerSpec {
    /// Until the next entry of a buffer may drain.
    #[serde(deserialize_with = "number::positive_u32")]
    pub drain_cycles: u32,
    /// Until the next epoch begins.
    #[serde(deserialize_with = "number::positive_u32")]
    pub epoch_cycles: u32,
    /// Between two ticks of the protocols' clock. Leases and deadlines are counted
    /// in ticks.
    #[serde(deserialize_with = "number::positive_u32")]
    pub tick_cycles: u32,
}
