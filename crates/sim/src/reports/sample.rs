//! What a machine has counted so far, looked at again and again during a run.

use std::collections::BTreeMap;

use crate::queue::Cycle;

/// What is not a sum but stands at a level: what is under way at that moment.
pub const LEVELS: [&str; 3] = ["requests_in_flight", "messages_in_flight", "memory_ops_in_flight"];

/// The counters of a run at a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// The moment: all that happened before this cycle is counted.
    pub cycle: Cycle,
    /// Every counter by its name, the [levels](LEVELS) among them. Counters of
    /// messages are there once a message of that name was sent.
    pub counters: BTreeMap<String, u64>,
}

impl Sample {
    /// A counter; zero if nothing was counted under that name.
    #[must_use]
    pub fn count(&self, name: &str) -> u64 {
        self.counters.get(name).copied().unwrap_or(0)
    }
}
