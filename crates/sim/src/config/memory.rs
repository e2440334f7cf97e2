//! The caches.

use serde::{Deserialize, Serialize};

use super::number;

/// The handling of a store by a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WritePolicy {
    /// Dirty bytes stay until a release, an eviction or a full store FIFO.
    Combining,
    /// The store goes to the next level at once; the line stays.
    Through,
    /// The store goes to the next level at once; the line is invalidated.
    ThroughInvalidate,
}

impl From<WritePolicy> for proto::WritePolicy {
    fn from(policy: WritePolicy) -> Self {
        match policy {
            WritePolicy::Combining => proto::WritePolicy::Combining,
            WritePolicy::Through => proto::WritePolicy::Through,
            WritePolicy::ThroughInvalidate => proto::WritePolicy::ThroughInvalidate,
        }
    }
}

/// The invalidation of all lines of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Invalidation {
    /// All lines together, in `invalidate_cycles`.
    Flash,
    /// Line after line, `invalidate_cycles` for each.
    Walked,
}

/// The data cache of one compute unit.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct L1Spec {
    /// Its size.
    #[serde(deserialize_with = "number::positive_u64")]
    pub bytes: u64,
    /// Lines in a set.
    #[serde(deserialize_with = "number::positive_u32")]
    pub ways: u32,
    /// The line of the whole machine: 32, 64 or 128 bytes.
    #[serde(deserialize_with = "number::positive_u32")]
    pub line_bytes: u32,
    /// From issue to use of a hit.
    #[serde(deserialize_with = "number::positive_u32")]
    pub latency_cycles: u32,
    /// Lines that it looks up in one cycle.
    #[serde(deserialize_with = "number::positive_u32")]
    pub ports: u32,
    /// The misses that it can have outstanding.
    #[serde(deserialize_with = "number::positive_u32")]
    pub miss_registers: u32,
    /// The capacity of the store FIFO, in dirty lines.
    #[serde(deserialize_with = "number::positive_u32")]
    pub store_fifo_entries: u32,
    /// The handling of a store.
    pub write_policy: WritePolicy,
    /// The way an acquire invalidates the cache.
    pub invalidation: Invalidation,
    /// The cost of an invalidation: for the whole cache (flash) or for each line
    /// (walked).
    #[serde(deserialize_with = "number::whole_u32")]
    pub invalidate_cycles: u32,
}

/// The cache that all compute units share.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct L2Spec {
    /// Its size, all banks together.
    #[serde(deserialize_with = "number::positive_u64")]
    pub bytes: u64,
    /// The number of banks. Consecutive lines go to consecutive banks.
    #[serde(deserialize_with = "number::positive_u32")]
    pub banks: u32,
    /// Lines in a set.
    #[serde(deserialize_with = "number::positive_u32")]
    pub ways: u32,
    /// From the arrival of a request at the bank to its answer, for a hit.
    #[serde(deserialize_with = "number::positive_u32")]
    pub latency_cycles: u32,
    /// The cycles for which one access occupies a bank.
    #[serde(deserialize_with = "number::positive_u32")]
    pub occupancy_cycles: u32,
    /// The least distance between two atomics on one line.
    #[serde(deserialize_with = "number::positive_u32")]
    pub atomic_cycles: u32,
    /// The misses that one bank can have outstanding.
    #[serde(deserialize_with = "number::positive_u32")]
    pub miss_registers: u32,
    /// The capacity of a bank's store FIFO, in dirty lines. It is emptied by a
    /// release at system scope.
    #[serde(deserialize_with = "number::positive_u32")]
    pub store_fifo_entries: u32,
    /// The handling of a store.
    pub write_policy: WritePolicy,
    /// The level below. Without it, memory is below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<String>,
}
