//! Samples of a machine's counters during a run.

use std::collections::BTreeMap;

use crate::queue::Cycle;

/// Counters that are levels, not sums: the number of items under way at that
/// moment.
pub const LEVELS: [&str; 3] = ["requests_in_flight", "messages_in_flight", "memory_ops_in_flight"];

/// The counters of a run at a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// The time of the sample. Earlier events are counted, those of this cycle are
    /// not.
    pub cycle: Cycle,
    /// Every counter by name, including the [levels](LEVELS). Counters of a message
    /// exist once a message of that name was sent.
    pub counters: BTreeMap<String, u64>,
}

impl Sample {
    /// A counter; zero if it does not exist.
    #[must_use]
    pub fn count(&self, name: &str) -> u64 {
        self.counters.get(name).copied().unwrap_or(0)
    }
}
