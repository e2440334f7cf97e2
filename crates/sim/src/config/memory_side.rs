//! Settings of memory-side caches, which stand in front of main memory.

use serde::{Deserialize, Serialize};

use super::{Problem, System, number};

/// The rule of a memory-side cache for the bytes of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SideWrite {
    /// The bytes stay in the cache until their line is evicted.
    Back,
    /// The bytes go on to memory at once. A copy in the cache is updated.
    Update,
    /// The bytes go on to memory at once. A copy in the cache is invalidated.
    Invalidate,
}

/// Settings of a memory-side cache: one of the `[[memory_side]]` tables. The cache has one part for
/// each bank of the last shared cache, for the lines of this bank. No protocol sees it: it changes
/// the times of operations on memory, and nothing else.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct MemorySideSpec {
    /// The name of the cache, with which its counters and its energy begin. If a protocol has
    /// controllers at a level of this name, the machine has no such memory-side cache: the protocol
    /// itself uses the storage.
    pub name: String,
    /// The size of all parts together. If zero, the machine has no such cache.
    #[serde(deserialize_with = "number::whole_u64")]
    pub bytes: u64,
    /// The number of lines in a set.
    #[serde(deserialize_with = "number::positive_u32")]
    pub ways: u32,
    /// The cycles from the begin of an access to the answer of a hit, or to the access of a miss to
    /// the next memory-side cache or to DRAM.
    #[serde(deserialize_with = "number::positive_u32")]
    pub latency_cycles: u32,
    /// The cycles for which one access occupies a part of the cache.
    #[serde(default, deserialize_with = "number::whole_u32")]
    pub occupancy_cycles: u32,
    /// The rule for the bytes of a write.
    pub write: SideWrite,
    /// The energy of one read of the data array.
    #[serde(default)]
    pub read_pj: f64,
    /// The energy of one write of the data array.
    #[serde(default)]
    pub write_pj: f64,
}

/// The maximum size of a memory-side cache. The simulator keeps a record of each line.
const BYTES_MAX: u64 = 256 << 20;

/// The names that a memory-side cache must not have: those of the L1s, of the host, and of the parts
/// of the energy of a run. The name `l2` is allowed, for protocols without controllers at the L2.
const TAKEN: [&str; 8] = ["l1", "host", "core", "noc", "links", "dram", "lds", "total"];

impl MemorySideSpec {
    /// The wrong values of this cache: keys, and texts with the value found and the value expected.
    /// `set_bytes` is the size of one set in each part of the cache, all parts together. `None` if
    /// other numbers of the machine are wrong.
    fn problems(&self, set_bytes: Option<u64>) -> Vec<(&'static str, String)> {
        let mut found = Vec::new();
        let name = &self.name;
        let is_known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(is_known) {
            let expected = "expected lower-case letters, digits, `-` and `_`";
            found.push(("name", format!("a memory-side cache `{}`, {expected}", name.escape_debug())));
        } else if TAKEN.contains(&name.as_str()) {
            let expected = format!("expected a name other than {}", TAKEN.join(", "));
            found.push(("name", format!("a memory-side cache `{name}`, {expected}")));
        }
        if let Some(set_bytes) = set_bytes
            && (self.bytes > BYTES_MAX || !self.bytes.is_multiple_of(set_bytes))
        {
            let bytes = self.bytes;
            found.push((
                "bytes",
                format!(
                    "{bytes} bytes of `{name}`, expected 0 or a multiple of {set_bytes} bytes (a set in each \
                     bank), at most 256 MiB"
                ),
            ));
        }
        for (key, picojoules) in [("read_pj", self.read_pj), ("write_pj", self.write_pj)] {
            if !picojoules.is_finite() || picojoules < 0.0 {
                found.push((key, format!("{picojoules} pJ, expected a finite number, zero or above")));
            }
        }
        found
    }
}

impl System {
    /// Finds the wrong values of memory-side caches.
    pub(super) fn check_memory_side(&self, found: &mut Vec<Problem>) {
        // If the machine is wrong, its number of banks is unknown.
        let line =
            found.is_empty().then(|| u64::from(self.topology().banks()) * u64::from(self.sector_bytes()));
        for (at, cache) in self.memory_side.iter().enumerate() {
            let at_text = at.to_string();
            let mut add =
                |key: &str, message| found.push(Problem::at(&["memory_side", &at_text, key], message));
            for (key, message) in cache.problems(line.map(|line| line * u64::from(cache.ways))) {
                add(key, message);
            }
            if self.memory_side[..at].iter().any(|other| other.name == cache.name) {
                let name = &cache.name;
                add("name", format!("two memory-side caches `{name}`, expected different names"));
            }
        }
    }
}
