//! Checks of a machine description that involve several of its numbers.

use proto::words::counted;

use super::{Acknowledges, System, WritePolicy};
use crate::memory::dram::DramScheduler;
use crate::network::noc::NocSpec;

/// A wrong value in a machine description: its key, and a text with the value found and the value
/// expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The path to the key, from the top of the file, such as `["l1", "bytes"]`. A part that is a
    /// number is an index into a list.
    pub path: Vec<String>,
    /// The value found and the value expected, such as `65 lanes, expected a power of two up to
    /// 64`.
    pub message: String,
}

impl Problem {
    fn new(table: &str, key: &str, message: String) -> Self {
        Problem::at(&[table, key], message)
    }

    /// A problem with the value at this path. The path begins at the top of the file; a part that
    /// is a number is an index into a list. Empty parts are left out.
    pub(super) fn at(path: &[&str], message: String) -> Self {
        let path = path.iter().filter(|part| !part.is_empty());
        Problem { path: path.map(|part| (*part).to_owned()).collect(), message }
    }

    /// The path of the wrong value as text, such as `l1.bytes`.
    #[must_use]
    pub fn key(&self) -> String {
        self.path.join(".")
    }
}

impl System {
    /// Finds every impossible value and every impossible combination of values, in the order of the
    /// description. The list is empty for a valid machine.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        let mut found = Vec::new();
        self.check_cu(&mut found);
        self.check_l1(&mut found);
        self.check_l2(&mut found);
        self.check_levels(&mut found);
        self.check_memory_side(&mut found);
        self.check_noc(&mut found);
        self.check_chiplets(&mut found);
        self.check_dram(&mut found);
        self.check_energy(&mut found);
        found
    }

    fn check_cu(&self, found: &mut Vec<Problem>) {
        let cu = &self.cu;
        if cu.count > 4096 {
            let message = format!("{} compute units, expected at most 4096", cu.count);
            found.push(Problem::new("cu", "count", message));
        }
        if !matches!(cu.lanes, 1..=64) || !cu.lanes.is_power_of_two() {
            let message = format!("{} lanes, expected a power of two up to 64", cu.lanes);
            found.push(Problem::new("cu", "lanes", message));
        }
        if cu.simd_units > cu.wavefront_slots {
            let message = format!(
                "{} for {}, expected at least one slot for each SIMD unit",
                counted(u64::from(cu.wavefront_slots), "wavefront slot"),
                counted(u64::from(cu.simd_units), "SIMD unit")
            );
            found.push(Problem::new("cu", "wavefront_slots", message));
        }
        if cu.wavefront_slots > 1024 {
            let message = format!("{} wavefront slots, expected at most 1024", cu.wavefront_slots);
            found.push(Problem::new("cu", "wavefront_slots", message));
        }
        if cu.work_group_slots > cu.wavefront_slots {
            let message = format!(
                "{} in {}, expected at least one wavefront slot for each work-group",
                counted(u64::from(cu.work_group_slots), "work-group"),
                counted(u64::from(cu.wavefront_slots), "wavefront slot")
            );
            found.push(Problem::new("cu", "work_group_slots", message));
        }
        if let Some(entries) = cu.write_buffer_entries
            && !proto::issue::IssueRule::from(self.issue_rule).buffers_stores()
        {
            let message = format!(
                "{} with an `issue_rule` without a write buffer, expected `sc-wb`, `tso`, `tso-forwarding`, \
                 `rmo`, `rmo-fifo` or `rmo-forwarding`",
                counted(u64::from(entries), "entry")
            );
            found.push(Problem::new("cu", "write_buffer_entries", message));
        }
    }

    fn check_l1(&self, found: &mut Vec<Problem>) {
        let l1 = &self.l1;
        let line = l1.line_bytes;
        if ![32, 64, 128].contains(&line) {
            let message = format!("a line of {}, expected 32, 64 or 128", counted(u64::from(line), "byte"));
            found.push(Problem::new("l1", "line_bytes", message));
            return;
        }
        if let Some(sector) = l1.sector_bytes
            && (![32, 64, 128].contains(&sector) || sector > line)
        {
            let message = format!(
                "a sector of {}, expected 32, 64 or 128, at most the {line} bytes of a line",
                counted(u64::from(sector), "byte")
            );
            found.push(Problem::new("l1", "sector_bytes", message));
            return;
        }
        if l1.bytes < u64::from(line) {
            let message =
                format!("an L1 of {}, expected at least one line of {line} bytes", counted(l1.bytes, "byte"));
            found.push(Problem::new("l1", "bytes", message));
            return;
        }
        if l1.bytes > 64 << 20 {
            let message = format!("an L1 of {} bytes, expected at most 64 MiB", l1.bytes);
            found.push(Problem::new("l1", "bytes", message));
        }
        let set_bytes = u64::from(line) * u64::from(l1.ways);
        if !l1.bytes.is_multiple_of(set_bytes) {
            let message = format!(
                "an L1 of {} bytes, expected a multiple of the size of a set ({} of {line} bytes)",
                l1.bytes,
                counted(u64::from(l1.ways), "way")
            );
            found.push(Problem::new("l1", "bytes", message));
        }
        if let Some(shared) = l1.shared_with_lds_bytes {
            let least = l1.bytes.saturating_add(self.lds.bytes);
            let expected = if shared < least {
                Some(format!("at least the sum of `l1.bytes` and `lds.bytes`, {}", counted(least, "byte")))
            } else {
                (shared > 64 << 20).then(|| "at most 64 MiB".to_owned())
            };
            if let Some(expected) = expected {
                let message = format!("{}, expected {expected}", counted(shared, "byte"));
                found.push(Problem::new("l1", "shared_with_lds_bytes", message));
            }
        }
        if u64::from(l1.store_buffer_entries) > 1 << 20 {
            let message =
                format!("{} store buffer entries, expected at most 1048576", l1.store_buffer_entries);
            found.push(Problem::new("l1", "store_buffer_entries", message));
        }
        if l1.miss_registers > 1 << 16 {
            let message = format!("{} miss registers, expected at most 65536", l1.miss_registers);
            found.push(Problem::new("l1", "miss_registers", message));
        }
    }

    fn check_l2(&self, found: &mut Vec<Problem>) {
        let l2 = &self.l2;
        let line = u64::from(self.l1.line_bytes);
        if l2.banks > 4096 {
            let message = format!("{} L2 banks, expected at most 4096", l2.banks);
            found.push(Problem::new("l2", "banks", message));
            return;
        }
        if l2.bytes > 16 << 30 {
            let message = format!("an L2 of {} bytes, expected at most 16 GiB", l2.bytes);
            found.push(Problem::new("l2", "bytes", message));
            return;
        }
        if l2.acknowledges == Acknowledges::Memory {
            let why = if l2.write_policy == WritePolicy::Combining {
                Some("with the write policy `combining`, expected an L2 that passes each write on to memory")
            } else if l2.below.is_some() {
                Some("with a level below the L2, expected memory below it")
            } else {
                None
            };
            if let Some(why) = why {
                found.push(Problem::new("l2", "acknowledges", format!("`memory` {why}")));
            }
        }
        let set_bytes = line * u64::from(l2.banks) * u64::from(l2.ways);
        if !l2.bytes.is_multiple_of(set_bytes) {
            let message = format!(
                "an L2 of {}, expected a multiple of {set_bytes} bytes ({} times {} times {line} bytes of a line)",
                counted(l2.bytes, "byte"),
                counted(u64::from(l2.banks), "bank"),
                counted(u64::from(l2.ways), "way")
            );
            found.push(Problem::new("l2", "bytes", message));
        }
        if l2.miss_registers > 1 << 16 {
            let message = format!("{} miss registers, expected at most 65536", l2.miss_registers);
            found.push(Problem::new("l2", "miss_registers", message));
        }
        for (what, count) in [("compute units", self.cu.count), ("L2 banks", l2.banks)] {
            if self.chiplets == 0 || !count.is_multiple_of(self.chiplets) {
                let message = format!(
                    "{}, expected a divisor of the number of {what}, {count}",
                    counted(u64::from(self.chiplets), "chiplet")
                );
                found.push(Problem::new("", "chiplets", message));
            }
        }
    }

    fn check_levels(&self, found: &mut Vec<Problem>) {
        let line = u64::from(self.l1.line_bytes.max(1));
        for (at, level) in self.levels.iter().enumerate() {
            for (key, message) in level.problems(line) {
                found.push(Problem::at(&["level", &at.to_string(), key], message));
            }
        }
        if found.is_empty()
            && let Err(why) = self.topology().check()
        {
            let names = |level: &&crate::config::LevelSpec| why.contains(&format!("`{}`", level.name));
            let at = self.levels.iter().position(|level| names(&level));
            found.push(match at {
                Some(at) => Problem::at(&["level", &at.to_string(), "name"], why),
                None => Problem::at(&["l2", "below"], why),
            });
        }
    }

    fn check_noc(&self, found: &mut Vec<Problem>) {
        let nodes = self.noc.topology.nodes();
        if nodes > NocSpec::NODES_MAX {
            let message = format!("a network of {nodes} nodes, expected at most {}", NocSpec::NODES_MAX);
            found.push(Problem::new("noc", "topology", message));
        }
        let cus = u64::from(self.cu.count / self.chiplets.max(1));
        if nodes < cus {
            let of = if self.chiplets > 1 { " of a chiplet" } else { "" };
            let message = format!(
                "a network of {}, expected at least {cus}, one for each compute unit{of}",
                counted(nodes, "node")
            );
            found.push(Problem::new("noc", "topology", message));
        }
    }

    fn check_chiplets(&self, found: &mut Vec<Problem>) {
        let nodes = self.noc.topology.nodes();
        if self.chiplets > 1 && nodes <= NocSpec::NODES_MAX {
            let all = nodes * u64::from(self.chiplets);
            if all > NocSpec::NODES_MAX {
                let most = NocSpec::NODES_MAX;
                let message = format!(
                    "{} chiplets with networks of {nodes} nodes have {all} nodes, expected at most {most}",
                    self.chiplets
                );
                found.push(Problem::new("", "chiplets", message));
            }
        }
        let channels = self.dram.channels.get();
        let chiplets = self.chiplets.max(1);
        if !channels.is_multiple_of(chiplets) && !chiplets.is_multiple_of(channels) {
            let message = format!(
                "{channels} channels, expected a multiple or a divisor of the number of chiplets, {chiplets}"
            );
            found.push(Problem::new("dram", "channels", message));
        }
        let (page, line) = (self.pages.bytes, self.l1.line_bytes);
        if !page.is_multiple_of(line) {
            let message = format!("{page} bytes, expected a multiple of the line size, {line} bytes");
            found.push(Problem::new("pages", "bytes", message));
        }
        let picojoules = self.links.byte_pj;
        if !picojoules.is_finite() || picojoules < 0.0 {
            let message = format!("{picojoules} pJ, expected a finite number, zero or above");
            found.push(Problem::new("links", "byte_pj", message));
        }
    }

    fn check_dram(&self, found: &mut Vec<Problem>) {
        let dram = &self.dram;
        if dram.channels.get() > 1024 {
            let message = format!("{} channels, expected at most 1024", dram.channels);
            found.push(Problem::new("dram", "channels", message));
        }
        if dram.banks_per_channel.get() > 1024 {
            let message = format!("{} banks in each channel, expected at most 1024", dram.banks_per_channel);
            found.push(Problem::new("dram", "banks_per_channel", message));
        }
        let line = self.l1.line_bytes;
        for (key, bytes) in [("row_bytes", dram.row_bytes), ("interleave_bytes", dram.interleave_bytes)] {
            if !bytes.get().is_multiple_of(line) {
                let message = format!(
                    "{}, expected a multiple of the line size, {line} bytes",
                    counted(u64::from(bytes.get()), "byte")
                );
                found.push(Problem::new("dram", key, message));
            }
        }
        if dram.row_miss_cycles < dram.row_hit_cycles {
            let message = format!(
                "a row miss of {}, expected at least the time of a row hit, {}",
                counted(u64::from(dram.row_miss_cycles), "cycle"),
                dram.row_hit_cycles
            );
            found.push(Problem::new("dram", "row_miss_cycles", message));
        }
        self.check_dram_queues(found);
        self.check_dram_spacing(found);
    }

    fn check_dram_queues(&self, found: &mut Vec<Problem>) {
        let dram = &self.dram;
        let counts = [("queue_entries", dram.queue_entries), ("write_entries", dram.write_entries)];
        for (key, entries) in counts {
            if let Some(entries) = entries.filter(|entries| entries.get() > 1 << 16) {
                let message = format!("{entries} entries, expected at most 65536");
                found.push(Problem::new("dram", key, message));
            }
        }
        let (high, low) = (dram.write_high_entries, dram.write_low_entries);
        let Some(entries) = dram.write_entries else {
            for (key, value) in [("write_high_entries", high), ("write_low_entries", low)] {
                if let Some(value) = value {
                    let message = format!("{value} without `dram.write_entries`, expected both");
                    found.push(Problem::new("dram", key, message));
                }
            }
            return;
        };
        let (Some(high), Some(low)) = (high, low) else {
            let message = format!(
                "{}, expected `dram.write_high_entries` and `dram.write_low_entries` with them",
                counted(u64::from(entries.get()), "entry")
            );
            found.push(Problem::new("dram", "write_entries", message));
            return;
        };
        if high > entries {
            let message = format!("{high} entries, expected at most `dram.write_entries`, {entries}");
            found.push(Problem::new("dram", "write_high_entries", message));
        }
        if low > high {
            let message = format!("{low} entries, expected at most `dram.write_high_entries`, {high}");
            found.push(Problem::new("dram", "write_low_entries", message));
        }
    }

    /// Finds the wrong minimum times between accesses to memory.
    fn check_dram_spacing(&self, found: &mut Vec<Problem>) {
        let dram = &self.dram;
        for (key, value) in dram.spacing() {
            let expected = if value > 0 && dram.scheduler == DramScheduler::OldestFirst {
                "0, or the `dram.scheduler` `open-row-first`"
            } else if value > 1 << 20 {
                "at most 1048576"
            } else {
                continue;
            };
            found.push(Problem::new("dram", key, format!("{value}, expected {expected}")));
        }
        let (groups, banks) = (dram.bank_groups, dram.banks_per_channel.get());
        let (bytes, of_channel) = (dram.group_bytes_per_cycle, dram.channel_bytes_per_cycle.get());
        if groups > 0 && !banks.is_multiple_of(groups) {
            let message = format!("{groups}, expected a divisor of `dram.banks_per_channel`, {banks}");
            found.push(Problem::new("dram", "bank_groups", message));
        }
        let message = match (groups, bytes) {
            (0, 1..) => format!("{bytes} without `dram.bank_groups`, expected both"),
            (1.., 0) => format!("0 with {groups} `dram.bank_groups`, expected both"),
            _ if bytes > of_channel => {
                format!("{bytes}, expected at most `dram.channel_bytes_per_cycle`, {of_channel}")
            }
            _ => return,
        };
        found.push(Problem::new("dram", "group_bytes_per_cycle", message));
    }

    fn check_energy(&self, found: &mut Vec<Problem>) {
        for (key, picojoules) in self.energy.numbers() {
            if !picojoules.is_finite() || picojoules < 0.0 {
                let message = format!("{picojoules} pJ, expected a finite number, zero or above");
                found.push(Problem::new("energy", key, message));
            }
        }
    }
}
