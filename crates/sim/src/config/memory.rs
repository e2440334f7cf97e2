//! The caches.

use serde::{Deserialize, Serialize};

use super::number;

/// What a cache does with a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WritePolicy {
    /// Dirty bytes stay until a release, an eviction or a full store FIFO.
    Combining,
    /// Written on to the next level at once; the line stays.
    Through,
    /// Written on to the next level at once; the line is invalidated.
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

/// How an L1 invalidates all of its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Invalidation {
    /// All lines at once, in `invalidate_cycles`.
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
    /// Lines that it can look up in one cycle.
    #[serde(deserialize_with = "number::positive_u32")]
    pub ports: u32,
    /// Misses that may be outstanding.
    #[serde(deserialize_with = "number::positive_u32")]
    pub miss_registers: u32,
    /// Dirty lines that the store FIFO remembers until a release.
    #[serde(deserialize_with = "number::positive_u32")]
    pub store_fifo_entries: u32,
    /// What it does with a store.
    pub write_policy: WritePolicy,
    /// How an acquire invalidates it.
    pub invalidation: Invalidation,
    /// What that costs: for the whole cache (flash) or for each line (walked).
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
    /// Banks; consecutive lines go to consecutive banks.
    #[serde(deserialize_with = "number::positive_u32")]
    pub banks: u32,
    /// Lines in a set.
    #[serde(deserialize_with = "number::positive_u32")]
    pub ways: u32,
    /// From the arrival of a request at the bank to its answer, if it hits.
    #[serde(deserialize_with = "number::positive_u32")]
    pub latency_cycles: u32,
    /// How long one access keeps a bank from beginning the next.
    #[serde(deserialize_with = "number::positive_u32")]
    pub occupancy_cycles: u32,
    /// How long an atomic keeps its line from the next one of that line.
    #[serde(deserialize_with = "number::positive_u32")]
    pub atomic_cycles: u32,
    /// Misses that may be outstanding in one bank.
    #[serde(deserialize_with = "number::positive_u32")]
    pub miss_registers: u32,
    /// Dirty lines that the store FIFO of one bank remembers until a release
    /// at system scope.
    #[serde(deserialize_with = "number::positive_u32")]
    pub store_fifo_entries: u32,
    /// What it does with a store.
    pub write_policy: WritePolicy,
    /// The level below it, if it is not over memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<String>,
}
