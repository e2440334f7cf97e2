//! The machine description: every number that affects a run, as plain data.
//!
//! The crate `lab` reads a [`System`] from one TOML file. Names of numbers end with their units.
//! Reading fails on a value of the wrong type, and on a number that is zero, negative or too large.
//! The error names the place in the file. [`System::problems`] finds numbers that contradict one
//! another, for example an L1 that is smaller than a line.

mod check;
mod chiplets;
mod core;
mod level;
mod memory;
mod memory_side;
pub(crate) mod number;
mod split;
mod timer;

pub use crate::network::noc::LinkSpec;
pub use check::Problem;
pub use chiplets::{PagePlacement, PageSpec};
pub use core::{CuSpec, EndOfKernel, HostSpec, IssueRule, LaunchSpec, LdsSpec, Scheduler, VectorOpSpec};
pub use level::{LevelSpec, Per};
pub use memory::{Acknowledges, FlushWalk, Invalidation, L1Spec, L2Spec, WritePolicy};
pub use memory_side::{MemorySideSpec, SideWrite};
pub use timer::TimerSpec;

use std::collections::BTreeMap;

use proto::{CacheShape, MemoryLevel, Protocol, Setting, Settings, Topology};
use serde::{Deserialize, Serialize};

use crate::memory::dram::DramSpec;
use crate::network::noc::NocSpec;
use crate::reports::energy::EnergySpec;

/// A machine: one GPU, its memory system and the host beside it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// The name of the machine on the command line and in results.
    pub name: String,
    /// A summary of the machine in one line, for `fencepost list systems`.
    pub summary: String,
    /// The origin of the numbers, such as a paper or a data sheet.
    pub source: String,
    /// The clock frequency. All `_cycles` values of the file count cycles of this clock.
    #[serde(deserialize_with = "number::positive_u32")]
    pub clock_mhz: u32,
    /// The number of GPU chiplets that share the memory.
    #[serde(default = "one", deserialize_with = "number::positive_u32")]
    pub chiplets: u32,
    /// The rule that decides which operations of one wavefront may overlap.
    pub issue_rule: IssueRule,
    /// The settings of the compute units.
    pub cu: CuSpec,
    /// The cycles that vector operations take, for each class of operation.
    pub vector_ops: VectorOpSpec,
    /// The settings of the local memory of each compute unit.
    pub lds: LdsSpec,
    /// The L1 data cache of each compute unit.
    pub l1: L1Spec,
    /// The L2 cache, which all compute units share.
    pub l2: L2Spec,
    /// Memory levels other than the L1s and the L2, such as a third cache level.
    #[serde(default, rename = "level", skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<LevelSpec>,
    /// The caches in front of main memory. Accesses to memory reach the first one first, and DRAM
    /// is behind the last one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory_side: Vec<MemorySideSpec>,
    /// The settings of protocols. The first key is the name of a protocol, the second the name of a
    /// setting.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub protocol: BTreeMap<String, BTreeMap<String, u64>>,
    /// The settings of the on-chip network, which connects the compute units, L2 banks and memory
    /// of a chiplet.
    pub noc: NocSpec,
    /// The settings of the links between chiplets.
    #[serde(default)]
    pub links: LinkSpec,
    /// The settings of pages: their size, and the rule that places them on chiplets.
    #[serde(default)]
    pub pages: PageSpec,
    /// The settings of main memory.
    pub dram: DramSpec,
    /// The times of kernel and work-group launches, and the scope of the release at a kernel's end.
    pub launch: LaunchSpec,
    /// The host: the CPU that launches kernels.
    pub host: HostSpec,
    /// The periods of the timers that protocols use.
    pub timers: TimerSpec,
    /// The energy of each access and operation.
    pub energy: EnergySpec,
}

fn one() -> u32 {
    1
}

impl System {
    /// The number of work-items that one compute unit holds at a time.
    #[must_use]
    pub fn work_items_per_cu(&self) -> u64 {
        u64::from(self.cu.wavefront_slots) * u64::from(self.cu.lanes)
    }

    /// The size of a sector: the part of a line that the caches fetch and validate for itself. A line
    /// is one sector unless the description says otherwise. Protocols treat a sector as a line.
    #[must_use]
    pub fn sector_bytes(&self) -> u32 {
        self.l1.sector_bytes.unwrap_or(self.l1.line_bytes)
    }

    /// The number of sectors of a line.
    #[must_use]
    pub(crate) fn sectors_per_line(&self) -> u32 {
        self.l1.line_bytes / self.sector_bytes().max(1)
    }

    /// The levels of caches, the compute units and the chiplets of the machine, in the form that
    /// protocols use. The result is valid only if [`System::problems`] finds nothing.
    #[must_use]
    pub fn topology(&self) -> Topology {
        let (l1, l2) = (&self.l1, &self.l2);
        let sets = |bytes: u64, ways: u32| sets(bytes, ways, l1.line_bytes);
        let sectors = self.sectors_per_line();
        let narrow = |count: u32| u16::try_from(count).unwrap_or(u16::MAX);
        // If the size of the L1s depends on the kernel, this is the shape of the largest one.
        let near_ways = self.l1_ways_max();
        let near = CacheShape {
            sets: self.l1_sets(),
            ways: near_ways * sectors,
            policy: l1.write_policy.into(),
            store_buffer_entries: l1
                .flush_walk
                .dirty_lines(l1.store_buffer_entries, self.l1_sets() * near_ways * sectors),
            miss_registers: l1.miss_registers,
            ignores_acquires: l1.invalidation == Invalidation::None,
        };
        let bank_sets = sets(l2.bytes / u64::from(l2.banks), l2.ways);
        let far = CacheShape {
            sets: bank_sets,
            ways: l2.ways * sectors,
            policy: l2.write_policy.into(),
            store_buffer_entries: l2
                .flush_walk
                .dirty_lines(l2.store_buffer_entries, bank_sets * l2.ways * sectors),
            miss_registers: l2.miss_registers,
            ignores_acquires: false,
        };
        let mut levels = vec![
            MemoryLevel::new("l1", proto::Per::Cu).array(near).over("l2"),
            MemoryLevel {
                below: l2.below.clone(),
                ..MemoryLevel::new("l2", proto::Per::Chiplet)
                    .count(narrow(l2.banks / self.chiplets))
                    .array(far)
            },
        ];
        levels.extend(self.levels.iter().map(|level| level.level(l1.line_bytes, sectors)));
        if self.levels.iter().all(|level| level.name != "host") {
            levels.push(MemoryLevel::new("host", proto::Per::Host));
        }
        Topology {
            cus: narrow(self.cu.count),
            hosts: 1,
            chiplets: narrow(self.chiplets),
            line_bytes: narrow(self.sector_bytes()),
            lines_per_tag: narrow(sectors),
            levels,
        }
    }

    /// The settings of protocol `P`: the values in this description, and the default values for all
    /// other settings.
    ///
    /// # Errors
    /// If a setting in this description is unknown or out of range. The error names the key and the
    /// expected value.
    pub fn settings<P: Protocol>(&self) -> Result<Settings, String> {
        self.settings_of(P::INFO.name, P::SETTINGS)
    }

    /// The settings in this description that are for one protocol. `declared` are the settings that
    /// the protocol has.
    fn settings_of(&self, protocol: &str, declared: &[Setting]) -> Result<Settings, String> {
        let given = self.protocol.get(protocol);
        let mut given = given.into_iter().flatten().map(|(name, value)| (name.as_str(), *value));
        Settings::read(declared, &mut given)
            .map_err(|(name, why)| format!("`protocol.{protocol}.{name}`: {why}"))
    }

    /// Finds every wrong value among the settings in this description that are for one protocol.
    /// `declared` are the settings that the protocol has.
    #[must_use]
    pub fn wrong_settings(&self, protocol: &str, declared: &[Setting]) -> Vec<Problem> {
        let given = self.protocol.get(protocol).into_iter().flatten();
        let wrong = given.filter_map(|(name, &value)| {
            Settings::read(declared, &mut [(name.as_str(), value)].into_iter()).err()
        });
        wrong.map(|(name, why)| Problem::at(&["protocol", protocol, &name], why)).collect()
    }
}

/// The number of sets of a cache with this size, this number of ways and lines of this size.
fn sets(bytes: u64, ways: u32, line_bytes: u32) -> u32 {
    let sets = bytes / (u64::from(line_bytes) * u64::from(ways)).max(1);
    u32::try_from(sets).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = include_str!("../../../systems/hlrc-8cu.toml");

    fn with(from: &str, to: &str) -> Result<System, String> {
        assert!(TEXT.contains(from), "the description has `{from}`");
        toml::from_str(&TEXT.replacen(from, to, 1)).map_err(|error| error.message().to_owned())
    }

    #[test]
    fn a_description_survives_writing_and_reading() {
        let system: System = toml::from_str(TEXT).unwrap();
        let written = toml::to_string(&system).unwrap();
        assert_eq!(toml::from_str::<System>(&written).unwrap(), system);
    }

    #[test]
    fn the_sets_of_a_cache_follow_from_its_size() {
        let system: System = toml::from_str(TEXT).unwrap();
        let topology = system.topology();
        let sets = |name| topology.level(name).unwrap().array.unwrap().sets;
        assert_eq!((sets("l1"), sets("l2"), topology.banks()), (16, 256, 4));
        assert_eq!(topology.check(), Ok(()));
        assert_eq!(system.work_items_per_cu(), 2560);
    }

    #[test]
    fn a_protocol_sees_sectors_as_lines_of_shared_tags() {
        let whole: System = toml::from_str(TEXT).unwrap();
        let one = with("line_bytes = 64 ", "line_bytes = 64\nsector_bytes = 64 ").unwrap();
        assert_eq!(one.topology(), whole.topology());
        let halves = with("line_bytes = 64 ", "line_bytes = 64\nsector_bytes = 32 ").unwrap();
        assert_eq!(halves.problems(), []);
        let (halves, whole) = (halves.topology(), whole.topology());
        assert_eq!((halves.line_bytes, halves.lines_per_tag), (32, 2));
        for name in ["l1", "l2"] {
            let array = |topology: &Topology| topology.level(name).unwrap().array.unwrap();
            let (half, whole) = (array(&halves), array(&whole));
            assert_eq!((half.sets, half.ways), (whole.sets, 2 * whole.ways));
        }
        assert_eq!(halves.check(), Ok(()));
    }

    #[test]
    fn zero_negative_and_overflowing_numbers_are_refused_with_the_range() {
        for value in ["0", "-3", "4294967296", "99999999999999999999"] {
            let error = with("count = 8 ", &format!("count = {value} ")).unwrap_err();
            assert!(error.contains("1 to 4294967295") || error.contains("integer"), "{value}: {error}");
            for (after, key) in
                [("line_bytes = 64 ", "sector_bytes"), ("banks = 4 ", "atomic_occupancy_cycles")]
            {
                let error = with(after, &format!("{after}\n{key} = {value} ")).unwrap_err();
                let is_right =
                    error.contains("a whole number from 1 to 4294967295") || error.contains("integer");
                assert!(is_right, "{key} = {value}: {error}");
            }
        }
    }

    #[test]
    fn each_issue_rule_is_read_by_its_name() {
        use proto::Symbol as _;
        let read = |name: &str| with("issue_rule = \"gpu\"", &format!("issue_rule = \"{name}\""));
        for &rule in proto::issue::IssueRule::ALL {
            assert_eq!(proto::issue::IssueRule::from(read(rule.label()).unwrap().issue_rule), rule);
        }
        assert_eq!(read("sc-write-buffer").unwrap().issue_rule, IssueRule::ScWriteBuffer);
        let simple = read("sc-simple").unwrap();
        assert!(toml::to_string(&simple).unwrap().contains("issue_rule = \"sc-simple\""));
        let error = read("tso-2").unwrap_err();
        assert!(error.contains("`tso-2`") && error.contains("`sc-wb`"), "{error}");
    }

    #[test]
    fn a_write_buffer_needs_an_issue_rule_that_has_one() {
        let entries =
            |number: &str| with("lanes = 64 ", &format!("write_buffer_entries = {number}\nlanes = 64 "));
        let mut system = entries("4").unwrap();
        let found = system.problems().remove(0);
        assert!(found.message.starts_with("4 entries with an `issue_rule` without"), "{}", found.message);
        system.issue_rule = IssueRule::Tso;
        assert_eq!(system.problems(), []);
        let error = entries("0").unwrap_err();
        assert!(error.contains("a whole number from 1 to 4294967295"), "{error}");
    }

    #[test]
    fn an_impossible_machine_is_reported_by_its_key() {
        let key = |from: &str, to: &str| -> Vec<String> {
            with(from, to).unwrap().problems().iter().map(|found| found.key()).collect()
        };
        assert_eq!(key("name", "name"), [""; 0]);
        assert_eq!(key("bytes = 16384 ", "bytes = 32 "), ["l1.bytes"]);
        assert_eq!(key("line_bytes = 64 ", "line_bytes = 48 ")[0], "l1.line_bytes");
        for sector in [16, 48, 128] {
            let sector = format!("line_bytes = 64\nsector_bytes = {sector} ");
            assert_eq!(key("line_bytes = 64 ", &sector), ["l1.sector_bytes"]);
        }
        assert_eq!(key("banks = 4 ", "banks = 3 "), ["l2.bytes"]);
        assert_eq!(key("rows = 4 ", "rows = 3 "), ["noc.topology"]);
        assert_eq!(key("lanes = 64 ", "lanes = 65 "), ["cu.lanes"]);
        let buffer = "write_buffer_entries = 4\nlanes = 64 ";
        assert_eq!(key("lanes = 64 ", buffer), ["cu.write_buffer_entries"]);
        assert_eq!(key("vector_op_pj = 3.7", "vector_op_pj = -3.7"), ["energy.vector_op_pj"]);
        assert_eq!(key("vector_op_pj = 3.7", "vector_op_pj = nan"), ["energy.vector_op_pj"]);
        assert_eq!(key("row_miss_cycles = 50 ", "row_miss_cycles = 5 "), ["dram.row_miss_cycles"]);
        let queues = |keys: &str| key("row_miss_cycles = 50 ", &format!("row_miss_cycles = 50\n{keys} "));
        let writes = "write_entries = 8\nwrite_high_entries = 6\nwrite_low_entries";
        assert_eq!(queues(&format!("{writes} = 6")), [""; 0]);
        assert_eq!(queues(&format!("{writes} = 7")), ["dram.write_low_entries"]);
        assert_eq!(queues(&format!("{writes} = 2\nqueue_entries = 65537")), ["dram.queue_entries"]);
        assert_eq!(queues("write_entries = 8\nwrite_high_entries = 6"), ["dram.write_entries"]);
        assert_eq!(queues("write_low_entries = 6"), ["dram.write_low_entries"]);
        let high = "write_entries = 8\nwrite_high_entries = 9\nwrite_low_entries = 2";
        assert_eq!(queues(high), ["dram.write_high_entries"]);
        assert_eq!(queues("row_cycle_cycles = 0\nbank_groups = 0"), [""; 0]);
        assert_eq!(queues("row_cycle_cycles = 5"), ["dram.row_cycle_cycles"]);
        let ordered = |keys: &str| queues(&format!("scheduler = \"open-row-first\"\n{keys}"));
        let times = "row_cycle_cycles = 5\nrow_to_row_cycles = 6\nread_to_write_cycles = 7";
        assert_eq!(ordered(times), [""; 0]);
        assert_eq!(ordered("write_to_read_cycles = 1048577"), ["dram.write_to_read_cycles"]);
        assert_eq!(ordered("bank_groups = 4\ngroup_bytes_per_cycle = 8"), [""; 0]);
        assert_eq!(ordered("bank_groups = 4\ngroup_bytes_per_cycle = 9"), ["dram.group_bytes_per_cycle"]);
        assert_eq!(ordered("bank_groups = 4"), ["dram.group_bytes_per_cycle"]);
        assert_eq!(ordered("group_bytes_per_cycle = 8"), ["dram.group_bytes_per_cycle"]);
        assert_eq!(ordered("bank_groups = 3\ngroup_bytes_per_cycle = 8"), ["dram.bank_groups"]);
    }
}
