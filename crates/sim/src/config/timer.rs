//! Settings of the timers that protocols use.

use serde::{Deserialize, Serialize};

use super::number;

/// The periods of the timers that protocols use.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TimerSpec {
    /// Cycles from the start of a drain timer to its expiry. When the timer expires, the next entry
    /// of a store buffer may drain.
    #[serde(deserialize_with = "number::positive_u32")]
    pub drain_cycles: u32,
    /// Cycles from the start of an epoch timer to its expiry. When the timer expires, the next
    /// epoch of an epoch-based protocol begins.
    #[serde(deserialize_with = "number::positive_u32")]
    pub epoch_cycles: u32,
    /// Cycles between two ticks of the protocols' clock. Protocols count leases and deadlines in
    /// ticks.
    #[serde(deserialize_with = "number::positive_u32")]
    pub tick_cycles: u32,
}
