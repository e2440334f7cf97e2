//! The timed machine on which a trace (a file with a counterexample) is replayed. The trace
//! determines the machine's caches, banks and cores. A machine description determines the
//! latencies.

use std::num::NonZeroU32;

use explore::{Trace, Word};
use proto::issue::IssueRule;
use proto::{LineAddr, WritePolicy};
use sim::config::{self, Acknowledges, EndOfKernel, PagePlacement, PageSpec, Per, System};
use sim::noc::Topology;

use super::roles::ThreadRoles;

/// The addresses at which the timed machine places the words of a litmus program.
#[derive(Clone, Debug)]
pub(super) struct AddressMap {
    words: Vec<Word>,
    line_bytes: u64,
    /// The number of the memory line of the machine that holds the first line of the program. This
    /// line of the machine belongs to the first bank.
    first: u64,
}

/// The size of a word, in bytes.
pub(super) const WORD: u64 = 4;

impl AddressMap {
    pub(super) fn of(trace: &Trace) -> Result<AddressMap, String> {
        let (words, bytes) = trace.placement.layout(trace.program()).map_err(|error| error.to_string())?;
        // The number of bytes of a line must be a power of two, because the timed machine takes the
        // line from bits of an address.
        let line_bytes = u64::from(bytes).next_power_of_two();
        let banks = u64::from(trace.bounds.banks);
        let first = (kernel::FIRST_ADDR / line_bytes).next_multiple_of(banks);
        Ok(AddressMap { words, line_bytes, first })
    }

    /// The machine's line that represents the line with the number `line` in the trace.
    pub(super) fn line(&self, line: u8) -> LineAddr {
        LineAddr(self.first + u64::from(line))
    }

    /// The number that a line of the machine has in the trace. `u8::MAX` if the line is not in the
    /// trace.
    pub(super) fn line_in_trace(&self, line: LineAddr) -> u8 {
        line.0.checked_sub(self.first).and_then(|line| u8::try_from(line).ok()).unwrap_or(u8::MAX)
    }

    /// The index of a location of the program in the array that holds all words of the program. The
    /// index is used only if the program has one array for all lines.
    pub(super) fn position(&self, loc: usize) -> u64 {
        let Word { line, offset, .. } = self.words[loc];
        ((self.first + line.0) * self.line_bytes + offset as u64 - kernel::FIRST_ADDR) / WORD
    }

    /// The number of words in the array that holds all words of the program.
    pub(super) fn len(&self) -> u64 {
        (0..self.words.len()).map(|loc| self.position(loc) + 1).max().unwrap_or(1)
    }

    /// The number of lines of the program, up to the last line that the program uses.
    pub(super) fn lines(&self) -> u64 {
        self.words.iter().map(|word| word.line.0 + 1).max().unwrap_or(0)
    }

    /// The number of words that the allocator must skip, so that the next array begins at the
    /// program's first line.
    pub(super) fn gap(&self) -> u64 {
        (self.first * self.line_bytes - kernel::FIRST_ADDR) / WORD
    }

    /// The number of words of a line.
    pub(super) fn line_words(&self) -> u64 {
        self.line_bytes / WORD
    }

    /// The number of a location's line, and the index of its word in the line.
    pub(super) fn in_line(&self, loc: usize) -> (usize, u64) {
        let Word { line, offset, .. } = self.words[loc];
        (line.0 as usize, offset as u64 / WORD)
    }

    /// For each page of the program, a line of the page and the chiplet on which the trace places
    /// the page.
    pub(super) fn pages(&self, trace: &Trace) -> Vec<(LineAddr, u16)> {
        trace.bounds.placed().map(|(line, chiplet)| (LineAddr(self.first + line.0), chiplet)).collect()
    }

    /// The machine of the timed replay. It has the caches, the banks and the cores of the trace,
    /// and the latencies of the machine description `latencies`.
    pub(super) fn system(&self, trace: &Trace, roles: &ThreadRoles, latencies: &System) -> System {
        let bounds = &trace.bounds;
        let mut system = latencies.clone();
        let (cus, banks) = (roles.compute_units, u32::from(bounds.banks));
        let cache = |sets: u32, ways: u32| self.line_bytes * u64::from(sets) * u64::from(ways);
        system.chiplets = u32::from(bounds.chiplets);
        if system.chiplets > 1 {
            system.dram.channels = NonZeroU32::MIN.saturating_add(system.chiplets - 1);
        }
        // The moves decide when memory performs operations.
        system.dram = system.dram.oldest_first();
        system.memory_side.clear();
        system.pages = PageSpec { bytes: self.line_bytes as u32, placement: PagePlacement::FirstTouch };
        system.issue_rule = rule(bounds.core);
        system.cu.write_buffer_entries = None;
        system.cu.count = cus;
        // A wavefront that waits for its turn occupies its SIMD unit, so each wavefront gets its
        // own SIMD unit.
        system.cu.wavefront_slots = roles.waves_per_cu();
        system.cu.simd_units = roles.waves_per_cu();
        system.cu.work_group_slots = roles.waves_per_cu();
        system.cu.lanes = 1;
        system.l1.bytes = cache(bounds.sets.0, bounds.ways.0);
        system.l1.ways = bounds.ways.0;
        system.l1.shared_with_lds_bytes = None;
        system.l1.line_bytes = self.line_bytes as u32;
        system.l1.sector_bytes = None;
        system.l1.miss_registers = bounds.misses.0;
        system.l1.store_buffer_entries = bounds.store_buffer;
        system.l1.write_policy = policy(bounds.l1);
        system.l2.bytes = cache(bounds.sets.1, bounds.ways.1) * u64::from(banks);
        system.l2.ways = bounds.ways.1;
        system.l2.banks = banks;
        system.l2.miss_registers = bounds.misses.1;
        system.l2.store_buffer_entries = bounds.store_buffer;
        system.l2.write_policy = policy(bounds.l2);
        system.l2.acknowledges = Acknowledges::L2;
        for level in &mut system.levels {
            let is_shared = matches!(level.per, Per::Chiplet | Per::Machine) && level.keeps_lines();
            let (sets, ways, misses) = match is_shared {
                true => (bounds.sets.1, bounds.ways.1, bounds.misses.1),
                false => (bounds.sets.0, bounds.ways.0, bounds.misses.0),
            };
            let (policy, count) =
                if is_shared { (bounds.l2, banks / system.chiplets) } else { (bounds.l1, 1) };
            level.count = count;
            level.bytes = level.keeps_lines().then(|| cache(sets, ways));
            level.lines = None;
            (level.ways, level.miss_registers) = (ways, misses);
            level.store_buffer_entries = bounds.store_buffer;
            level.write_policy = self::policy(policy);
        }
        let ports = NonZeroU32::MIN.saturating_add(cus + banks - 1);
        system.noc.topology = Topology::Crossbar { ports };
        // The end of a kernel is handled as in the explorer. In a program of several kernels, the
        // release of a kernel to the host happens only when the host next accesses memory.
        system.launch.end_of_kernel = match trace.placement.stages.is_empty() {
            true => EndOfKernel::System,
            false => EndOfKernel::Device,
        };
        system
    }
}

fn rule(rule: IssueRule) -> config::IssueRule {
    match rule {
        IssueRule::InOrder => config::IssueRule::InOrder,
        IssueRule::Gpu => config::IssueRule::Gpu,
        IssueRule::ScWriteBuffer => config::IssueRule::ScWriteBuffer,
        IssueRule::Tso => config::IssueRule::Tso,
        IssueRule::TsoForwarding => config::IssueRule::TsoForwarding,
        IssueRule::Rmo => config::IssueRule::Rmo,
        IssueRule::RmoFifo => config::IssueRule::RmoFifo,
        IssueRule::RmoForwarding => config::IssueRule::RmoForwarding,
    }
}

fn policy(policy: WritePolicy) -> config::WritePolicy {
    policy.pick(
        config::WritePolicy::Combining,
        config::WritePolicy::Through,
        config::WritePolicy::ThroughInvalidate,
    )
}
