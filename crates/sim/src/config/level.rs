//! Levels other than the L1s and the L2.

use proto::{CacheShape, MemoryLevel};
use serde::{Deserialize, Serialize};

use super::memory::{Invalidation, WritePolicy};
use super::number;

/// The units that each have `count` controllers of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// Compute units.
    Cu,
    /// Chiplets.
    Chiplet,
    /// Machines.
    Machine,
    /// Hosts.
    Host,
}

impl From<Per> for proto::Per {
    fn from(per: Per) -> Self {
        match per {
            Per::Cu => proto::Per::Cu,
            Per::Chiplet => proto::Per::Chiplet,
            Per::Machine => proto::Per::Machine,
            Per::Host => proto::Per::Host,
        }
    }
}

/// A level other than `[l1]` and `[l2]`: one of the `[[level]]` tables.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LevelSpec {
    /// The name by which protocols find the level.
    pub name: String,
    /// The units that have `count` controllers each.
    pub per: Per,
    /// The number of controllers of each such unit.
    #[serde(default = "super::one", deserialize_with = "number::positive_u32")]
    pub count: u32,
    /// The level below. Without it, memory is below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<String>,
    /// A level whose controllers stand at the same place, if this level has no
    /// place of its own on the network. Messages between the two take no hop and no
    /// bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<String>,
    /// From the arrival of an access to its first message or answer.
    #[serde(deserialize_with = "number::positive_u32")]
    pub latency_cycles: u32,
    /// The cycles for which one access occupies a controller.
    #[serde(default, deserialize_with = "number::whole_u32")]
    pub occupancy_cycles: u32,
    /// The least distance between two atomics on one line.
    #[serde(default, deserialize_with = "number::whole_u32")]
    pub atomic_cycles: u32,
    /// The requests of cores that a controller accepts in one cycle.
    #[serde(default = "super::one", deserialize_with = "number::positive_u32")]
    pub ports: u32,
    /// The size of each controller's array. Without it, the level keeps no lines,
    /// and the next six keys have no effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Lines in a set.
    #[serde(default = "super::one", deserialize_with = "number::positive_u32")]
    pub ways: u32,
    /// The misses that one controller can have outstanding.
    #[serde(default = "super::one", deserialize_with = "number::positive_u32")]
    pub miss_registers: u32,
    /// The capacity of a controller's store FIFO, in dirty lines.
    #[serde(default = "super::one", deserialize_with = "number::positive_u32")]
    pub store_fifo_entries: u32,
    /// The handling of a store.
    #[serde(default = "combining")]
    pub write_policy: WritePolicy,
    /// The way an acquire invalidates the array.
    #[serde(default = "flash")]
    pub invalidation: Invalidation,
    /// The cost of an invalidation: for the whole array (flash) or for each line
    /// (walked).
    #[serde(default, deserialize_with = "number::whole_u32")]
    pub invalidate_cycles: u32,
    /// A read of the data array.
    #[serde(default)]
    pub read_pj: f64,
    /// A write of the data array.
    #[serde(default)]
    pub write_pj: f64,
}

fn combining() -> WritePolicy {
    WritePolicy::Combining
}

fn flash() -> Invalidation {
    Invalidation::Flash
}

impl LevelSpec {
    /// The level as protocols see it, on a machine with lines of this size.
    pub(super) fn level(&self, line_bytes: u32) -> MemoryLevel {
        let narrow = |count: u32| u16::try_from(count).unwrap_or(u16::MAX);
        let array = self.bytes.map(|bytes| CacheShape {
            sets: super::sets(bytes, self.ways, line_bytes),
            ways: self.ways,
            policy: self.write_policy.into(),
            store_buffer_entries: self.store_fifo_entries,
            miss_registers: self.miss_registers,
        });
        MemoryLevel {
            name: self.name.clone(),
            per: self.per.into(),
            count: narrow(self.count),
            array,
            below: self.below.clone(),
            beside: self.beside.clone(),
        }
    }
}
