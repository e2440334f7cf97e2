//! Settings of memory levels other than the L1s and the L2.

use proto::{CacheShape, MemoryLevel};
use serde::{Deserialize, Serialize};

use super::memory::{Invalidation, WritePolicy};
use super::number;

/// The kind of unit that a level's `count` refers to: the level has `count` controllers per unit of
/// this kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// The level's `count` is the number of its controllers per compute unit.
    Cu,
    /// The level's `count` is the number of its controllers per chiplet.
    Chiplet,
    /// The level's `count` is the number of its controllers in the whole machine.
    Machine,
    /// The level's `count` is the number of its controllers per host.
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

/// Settings of a memory level other than `[l1]` and `[l2]`: one of the `[[level]]` tables.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LevelSpec {
    /// The name by which protocols find the level.
    pub name: String,
    /// The kind of unit, such as a chiplet, that has `count` controllers of this level.
    pub per: Per,
    /// The number of controllers per unit of the kind `per`.
    #[serde(default = "super::one", deserialize_with = "number::positive_u32")]
    pub count: u32,
    /// The name of the level below. If absent, main memory is below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<String>,
    /// The name of another level whose positions in the network this level shares. Messages between
    /// the two levels then use no link, and their bytes are not counted. If absent, this level has
    /// positions of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<String>,
    /// Cycles from the arrival of an access at a controller until the controller sends its first
    /// message or answer for this access.
    #[serde(deserialize_with = "number::positive_u32")]
    pub latency_cycles: u32,
    /// The cycles for which one access occupies a controller.
    #[serde(default, deserialize_with = "number::whole_u32")]
    pub occupancy_cycles: u32,
    /// The minimum number of cycles between two atomics on one line.
    #[serde(default, deserialize_with = "number::whole_u32")]
    pub atomic_cycles: u32,
    /// The number of requests from cores that a controller accepts in one cycle.
    #[serde(default = "super::one", deserialize_with = "number::positive_u32")]
    pub ports: u32,
    /// The size of each controller's data array. If absent, the level keeps no lines, and the keys
    /// from `ways` to `invalidate_cycles` have no effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The number of lines in a set.
    #[serde(default = "super::one", deserialize_with = "number::positive_u32")]
    pub ways: u32,
    /// The number of misses that one controller can have outstanding.
    #[serde(default = "super::one", deserialize_with = "number::positive_u32")]
    pub miss_registers: u32,
    /// The capacity of a controller's store buffer, in dirty lines.
    #[serde(default = "super::one", deserialize_with = "number::positive_u32")]
    pub store_buffer_entries: u32,
    /// The rule for a store: keep its bytes in this level, or pass them on to the level below.
    #[serde(default = "combining")]
    pub write_policy: WritePolicy,
    /// The mechanism by which an acquire invalidates the data array: all lines together, one after
    /// the other, or not at all.
    #[serde(default = "flash")]
    pub invalidation: Invalidation,
    /// The cycles of an invalidation: for the whole data array with `flash`, or per line with
    /// `walked`.
    #[serde(default, deserialize_with = "number::whole_u32")]
    pub invalidate_cycles: u32,
    /// The energy of one read of the data array.
    #[serde(default)]
    pub read_pj: f64,
    /// The energy of one write of the data array.
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
    /// The level in the form that protocols use, on a machine with lines of this size and of this
    /// number of sectors.
    pub(super) fn level(&self, line_bytes: u32, sectors: u32) -> MemoryLevel {
        let narrow = |count: u32| u16::try_from(count).unwrap_or(u16::MAX);
        let array = self.bytes.map(|bytes| CacheShape {
            sets: super::sets(bytes, self.ways, line_bytes),
            ways: self.ways * sectors,
            policy: self.write_policy.into(),
            store_buffer_entries: self.store_buffer_entries,
            miss_registers: self.miss_registers,
            ignores_acquires: self.invalidation == Invalidation::None,
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
