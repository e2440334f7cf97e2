//! Levels beside the L1s and the L2.

use proto::{CacheShape, MemoryLevel};
use serde::{Deserialize, Serialize};

use super::memory::{Invalidation, WritePolicy};
use super::number;

/// Of what a machine has so many controllers of a level.
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

/// A level beside `[l1]` and `[l2]`: one of the `[[level]]` tables.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LevelSpec {
    /// Its name, by which protocols ask for it.
    pub name: String,
    /// Of what there are `count` controllers each.
    pub per: Per,
    /// How many for each of these.
    #[serde(default = "super::one", deserialize_with = "number::positive_u32")]
    pub count: u32,
    /// The level below it, if it is not over memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<String>,
    /// The level beside whose controllers these stand, if they have no place of
    /// their own on the network. What passes between them takes no hop and no bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<String>,
    /// From the arrival of an access to what it sends or answers.
    #[serde(deserialize_with = "number::positive_u32")]
    pub latency_cycles: u32,
    /// How long one access keeps a controller from beginning the next.
    #[serde(default, deserialize_with = "number::whole_u32")]
    pub occupancy_cycles: u32,
    /// How long an atomic keeps its line from the next one of that line.
    #[serde(default, deserialize_with = "number::whole_u32")]
    pub atomic_cycles: u32,
    /// Requests of cores that enter a controller in one cycle.
    #[serde(default = "super::one", deserialize_with = "number::positive_u32")]
    pub ports: u32,
    /// The size of each controller's array. Without it, the level keeps no lines,
    /// and the next six keys say nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Lines in a set.
    #[serde(default = "super::one", deserialize_with = "number::positive_u32")]
    pub ways: u32,
    /// Misses that may be outstanding in one controller.
    #[serde(default = "super::one", deserialize_with = "number::positive_u32")]
    pub miss_registers: u32,
    /// Dirty lines that the store FIFO of one controller remembers.
    #[serde(default = "super::one", deserialize_with = "number::positive_u32")]
    pub store_fifo_entries: u32,
    /// What it does with a store.
    #[serde(default = "combining")]
    pub write_policy: WritePolicy,
    /// How an acquire invalidates it.
    #[serde(default = "flash")]
    pub invalidation: Invalidation,
    /// What that costs: for the whole array (flash) or for each line (walked).
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
    /// The level as protocols see it, on a machine with such lines.
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
