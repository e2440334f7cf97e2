//! Samples of a machine's counters during a run.

use std::collections::BTreeMap;

use crate::queue::Cycle;

/// The counters that are not sums over the run: each is the number of items that are outstanding at
/// the time of the sample.
pub const LEVELS: [&str; 3] = ["requests_in_flight", "messages_in_flight", "memory_ops_in_flight"];

/// The values of the counters of a run at one cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// The cycle of the sample. Events before this cycle are counted, events of this cycle are not.
    pub cycle: Cycle,
    /// The value of every counter, including the counters in [`LEVELS`]. The key is the name of the
    /// counter. The counters for messages of one name exist only after such a message was sent.
    pub counters: BTreeMap<String, u64>,
}

impl Sample {
    /// The value of a counter. Zero if the counter does not exist.
    #[must_use]
    pub fn count(&self, name: &str) -> u64 {
        self.counters.get(name).copied().unwrap_or(0)
    }
}
