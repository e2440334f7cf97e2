//! Settings of memory levels other than the L1s and the L2.

use proto::words::counted;
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

/// The maximum size of each controller's data array.
const BYTES_MAX: u64 = 16 << 30;
/// The maximum number of banks inside a controller.
const BANKS_MAX: u32 = 4096;

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
    /// The number of banks inside a controller. An access occupies only the bank of its line.
    #[serde(
        default = "super::one",
        skip_serializing_if = "is_one",
        deserialize_with = "number::positive_u32"
    )]
    pub banks: u32,
    /// The minimum number of cycles between two atomics on one line.
    #[serde(default, deserialize_with = "number::whole_u32")]
    pub atomic_cycles: u32,
    /// The number of requests from cores that a controller accepts in one cycle.
    #[serde(default = "super::one", deserialize_with = "number::positive_u32")]
    pub ports: u32,
    /// The size of each controller's data array. If `bytes` and `lines` are absent, the level keeps
    /// no lines, and the keys from `ways` to `invalidate_cycles` have no effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The size of each controller's data array in lines, in place of `bytes`.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::some_positive_u64"
    )]
    pub lines: Option<u64>,
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

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one(number: &u32) -> bool {
    *number == 1
}

fn combining() -> WritePolicy {
    WritePolicy::Combining
}

fn flash() -> Invalidation {
    Invalidation::Flash
}

impl LevelSpec {
    /// Whether the controllers of the level keep lines.
    #[must_use]
    pub fn keeps_lines(&self) -> bool {
        self.bytes.is_some() || self.lines.is_some()
    }

    /// The wrong values of the level, on a machine with lines of this size: keys, and texts with the
    /// value found and the value expected.
    pub(super) fn problems(&self, line_bytes: u64) -> Vec<(&'static str, String)> {
        let mut found = Vec::new();
        let mut add = |key, message| found.push((key, message));
        let (name, ways) = (&self.name, u64::from(self.ways));
        let is_known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(is_known) {
            let expected = "expected lower-case letters, digits, `-` and `_`";
            add("name", format!("a level `{}`, {expected}", name.escape_debug()));
        }
        if let Some(bytes) = self.bytes
            && (bytes == 0 || bytes > BYTES_MAX || !bytes.is_multiple_of(line_bytes * ways))
        {
            add(
                "bytes",
                format!(
                    "{bytes} bytes in each `{name}`, expected a multiple of the size of a set ({ways} ways of \
                     {line_bytes} bytes), at most 16 GiB"
                ),
            );
        }
        if let Some(lines) = self.lines {
            if self.bytes.is_some() {
                let found = format!("{} beside `bytes`", counted(lines, "line"));
                add("lines", format!("{found} in `{name}`, expected one of the two keys"));
            } else if lines > BYTES_MAX / line_bytes || !lines.is_multiple_of(ways) {
                let (lines, set) = (counted(lines, "line"), counted(ways, "way"));
                let expected = format!("expected a multiple of the size of a set ({set}), at most 16 GiB");
                add("lines", format!("{lines} in each `{name}`, {expected}"));
            }
        }
        if self.banks > BANKS_MAX {
            add("banks", format!("{} banks in each `{name}`, expected at most {BANKS_MAX}", self.banks));
        }
        for (key, picojoules) in [("read_pj", self.read_pj), ("write_pj", self.write_pj)] {
            if !picojoules.is_finite() || picojoules < 0.0 {
                add(key, format!("{picojoules} pJ, expected a finite number, zero or above"));
            }
        }
        found
    }

    /// The level in the form that protocols use, on a machine with lines of this size and of this
    /// number of sectors.
    pub(super) fn level(&self, line_bytes: u32, sectors: u32) -> MemoryLevel {
        let narrow = |count: u32| u16::try_from(count).unwrap_or(u16::MAX);
        let bytes = self.bytes.or_else(|| Some(self.lines?.saturating_mul(u64::from(line_bytes))));
        let array = bytes.map(|bytes| CacheShape {
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
