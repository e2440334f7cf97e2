//! Settings of the L1 and L2 caches.

use serde::{Deserialize, Serialize};

use super::number;

/// The rule of a cache for stores: keep the bytes, or pass them on to the next level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WritePolicy {
    /// Dirty bytes stay in the cache until a release or an eviction writes them out, or until the
    /// store buffer is full.
    Combining,
    /// The bytes of a store go to the next level at once. The line stays in the cache.
    Through,
    /// The bytes of a store go to the next level at once. The line is invalidated in the cache.
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

/// The place that a write must have reached when the L2 acknowledges it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Acknowledges {
    /// The L2 acknowledges a write when the write has reached the L2.
    #[default]
    L2,
    /// The L2 acknowledges a write when memory has answered the write that the L2 passes on.
    Memory,
}

impl Acknowledges {
    fn is_l2(&self) -> bool {
        *self == Acknowledges::L2
    }
}

/// The mechanism that invalidates all lines of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Invalidation {
    /// All lines are invalidated together, in `invalidate_cycles`.
    Flash,
    /// The lines are invalidated one after the other, in `invalidate_cycles` for each.
    Walked,
    /// An acquire leaves all lines in the cache, so loads can return stale values. No claim of a
    /// protocol holds. The purpose of this mechanism is to measure the cost of invalidations.
    None,
}

/// The mechanism by which a cache finds its dirty lines at the beginning of a flush. In a walk, the
/// cache looks through all its lines. The station (the cache's controller) serves no request during
/// the walk, and writes the dirty lines out after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlushWalk {
    /// The store buffer names the dirty lines, so the cache does not search for them.
    #[default]
    None,
    /// To find its dirty lines, the cache looks at one line in each cycle.
    Lines,
    /// To find its dirty lines, the cache looks at all lines of one set in each cycle.
    Sets,
}

impl FlushWalk {
    /// The cycles that a cache with this number of lines takes to find its dirty lines.
    pub(crate) fn cycles(self, lines: u64, ways: u32) -> u64 {
        match self {
            FlushWalk::None => 0,
            FlushWalk::Lines => lines,
            FlushWalk::Sets => lines / u64::from(ways.max(1)),
        }
    }

    /// The maximum number of dirty lines in a cache with this number of lines. A cache that looks
    /// through its lines to find the dirty ones has no store buffer, so every line may be dirty.
    pub(super) fn dirty_lines(self, store_buffer_entries: u32, lines: u32) -> u32 {
        if self == FlushWalk::None { store_buffer_entries } else { lines }
    }

    fn is_none(&self) -> bool {
        *self == FlushWalk::None
    }
}

/// Settings of the L1, the data cache of one compute unit.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct L1Spec {
    /// The size of one L1.
    #[serde(deserialize_with = "number::positive_u64")]
    pub bytes: u64,
    /// The number of lines in a set of `bytes`.
    #[serde(deserialize_with = "number::positive_u32")]
    pub ways: u32,
    /// The size of the storage of a compute unit that the L1 shares with the local memory. During a
    /// kernel, the L1 has what the local memory of the kernel's work-groups leaves of it, and at
    /// least `bytes`. If absent, the L1 always has `bytes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_with_lds_bytes: Option<u64>,
    /// The size of a line in all caches of the machine: 32, 64 or 128 bytes.
    #[serde(deserialize_with = "number::positive_u32")]
    pub line_bytes: u32,
    /// The size of a sector: 32, 64 or 128 bytes, at most `line_bytes`. A line consists of sectors,
    /// and a tag of a cache stands for a line. The caches and the memory of the machine fetch,
    /// validate, write and update each sector for itself, as protocols do with a line. If absent, a
    /// line is one sector.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::some_positive_u32"
    )]
    pub sector_bytes: Option<u32>,
    /// The cycles from the issue of a hit to the use of its result.
    #[serde(deserialize_with = "number::positive_u32")]
    pub latency_cycles: u32,
    /// The cycles from the core to the cache and back, beside `latency_cycles`. A hit and a miss both
    /// take them.
    #[serde(default, skip_serializing_if = "number::is_zero", deserialize_with = "number::whole_u32")]
    pub path_cycles: u32,
    /// The number of lines that the cache looks up in one cycle.
    #[serde(deserialize_with = "number::positive_u32")]
    pub ports: u32,
    /// The number of misses that the cache can have outstanding.
    #[serde(deserialize_with = "number::positive_u32")]
    pub miss_registers: u32,
    /// The capacity of the store buffer, in dirty lines.
    #[serde(deserialize_with = "number::positive_u32")]
    pub store_buffer_entries: u32,
    /// The rule for a store: keep its bytes in the L1, or pass them on to the L2.
    pub write_policy: WritePolicy,
    /// The mechanism by which an acquire invalidates the cache: all lines together, one after the
    /// other, or not at all.
    pub invalidation: Invalidation,
    /// The cycles of an invalidation: for the whole cache with `flash`, or per line with `walked`.
    #[serde(deserialize_with = "number::whole_u32")]
    pub invalidate_cycles: u32,
    /// The mechanism by which the cache finds its dirty lines at the beginning of a flush.
    #[serde(default, skip_serializing_if = "FlushWalk::is_none")]
    pub flush_walk: FlushWalk,
}

/// Settings of the L2, the cache that all compute units share.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct L2Spec {
    /// The size of the L2, all banks together.
    #[serde(deserialize_with = "number::positive_u64")]
    pub bytes: u64,
    /// The number of banks. Consecutive lines go to consecutive banks.
    #[serde(deserialize_with = "number::positive_u32")]
    pub banks: u32,
    /// The number of lines in a set.
    #[serde(deserialize_with = "number::positive_u32")]
    pub ways: u32,
    /// The cycles from the arrival of a request at a bank to its answer, for a hit.
    #[serde(deserialize_with = "number::positive_u32")]
    pub latency_cycles: u32,
    /// The cycles for which one access occupies a bank.
    #[serde(deserialize_with = "number::positive_u32")]
    pub occupancy_cycles: u32,
    /// The minimum number of cycles between two atomics on one sector, which is a line unless
    /// `l1.sector_bytes` is given.
    #[serde(deserialize_with = "number::positive_u32")]
    pub atomic_cycles: u32,
    /// The cycles for which an atomic on one sector occupies a bank. If absent, it occupies the bank
    /// as long as any other access.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::some_positive_u32"
    )]
    pub atomic_occupancy_cycles: Option<u32>,
    /// The number of words of four bytes that a bank updates by atomics in one cycle. An atomic
    /// occupies the bank at least until its words are updated. If zero, the bank updates any number
    /// of words in one cycle.
    #[serde(default, skip_serializing_if = "number::is_zero", deserialize_with = "number::whole_u32")]
    pub atomic_words_per_cycle: u32,
    /// The number of misses that one bank can have outstanding.
    #[serde(deserialize_with = "number::positive_u32")]
    pub miss_registers: u32,
    /// The capacity of a bank's store buffer, in dirty lines. A release at system scope empties the
    /// store buffer.
    #[serde(deserialize_with = "number::positive_u32")]
    pub store_buffer_entries: u32,
    /// The rule for a store: keep its bytes in the L2, or pass them on to the level below.
    pub write_policy: WritePolicy,
    /// The place that a write must have reached when the L2 acknowledges it. A release waits for
    /// these acks.
    #[serde(default, skip_serializing_if = "Acknowledges::is_l2")]
    pub acknowledges: Acknowledges,
    /// The mechanism by which a bank finds its dirty lines at the beginning of a flush.
    #[serde(default, skip_serializing_if = "FlushWalk::is_none")]
    pub flush_walk: FlushWalk,
    /// The name of the level below the L2. If absent, main memory is below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<String>,
}
