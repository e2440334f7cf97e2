//! The counters of a run, and their consistency checks.

use std::collections::BTreeMap;

use proto::{Hit, LineAddr, Uses};
use rustc_hash::FxHashSet;

use crate::memory::dram::DramTraffic;
use crate::network::noc::NocTraffic;
use crate::queue::Cycle;
pub(crate) use crate::reports::level_uses::LevelUses;
use crate::reports::memory_side::SideTraffic;

macro_rules! counts {
    ($( $(#[doc = $doc:literal])+ $name:ident ),+ $(,)?) => {
        /// Counters of the machine, without those of the network, memory and the stations (the
        /// controllers of the protocol).
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub(crate) struct Counts {
            $( $(#[doc = $doc])+ pub(crate) $name: u64 ),+
        }

        impl Counts {
            fn entries(&self) -> Vec<(&'static str, u64)> {
                vec![ $( (stringify!($name), self.$name) ),+ ]
            }
        }
    };
}

counts! {
    /// The number of kernels that ended.
    kernels,
    /// The number of work-groups that were dispatched.
    work_groups,
    /// The number of wavefronts that retired.
    wavefronts,
    /// The number of vector operations on SIMD units.
    vector_ops,
    /// The number of cycles in which SIMD units were busy, summed over all units.
    simd_busy_cycles,
    /// The number of loads of wavefronts from global memory.
    loads,
    /// The number of stores of wavefronts to global memory.
    stores,
    /// The number of read-modify-writes of wavefronts in global memory.
    atomics,
    /// The number of fences of wavefronts.
    fences,
    /// The number of times that a wavefront passed a barrier.
    barriers,
    /// The number of accesses of wavefronts to local memory.
    lds_accesses,
    /// The number of additional cycles that bank conflicts in local memory cost.
    lds_conflict_cycles,
    /// The number of timed accesses of the host.
    host_accesses,
    /// The number of requests for a line, after coalescing.
    line_requests,
    /// The number of requests without a line: fences and kernel boundaries.
    order_requests,
    /// The number of requests that were answered.
    answers,
    /// The cycles from issue to completion, summed over the kernel boundaries and the operations of
    /// wavefronts (except accesses to local memory). The counters from `load_wait_cycles` to
    /// `release_wait_cycles` are parts of this one.
    op_wait_cycles,
    /// The cycles from issue to completion of plain loads, summed over all of them.
    load_wait_cycles,
    /// The cycles from issue to completion of plain stores, summed over all of them.
    store_wait_cycles,
    /// The cycles from issue to completion of atomic loads, without their acquires.
    atomic_load_wait_cycles,
    /// The cycles from issue to completion of atomic stores, without their releases.
    atomic_store_wait_cycles,
    /// The cycles from issue to completion of read-modify-writes, without their acquires and
    /// releases.
    atomic_rmw_wait_cycles,
    /// The cycles that wavefronts waited at barriers, summed over all wavefronts.
    barrier_wait_cycles,
    /// The cycles of acquires, without the accesses that they belong to. Includes the beginning of
    /// kernels.
    acquire_wait_cycles,
    /// The cycles of releases, without the accesses that they belong to. Includes the end of
    /// kernels.
    release_wait_cycles,
    /// The number of requests for an atomic access to a line.
    atomic_requests,
    /// The sum of the sizes of the different lines that atomics accessed, in bytes.
    atomic_line_bytes,
    /// The maximum over time of the total size of the lines that are registered at L1s (owned by
    /// them), in bytes.
    registered_bytes_peak,
    /// The cycles that line requests waited for the port of their L1, summed over all requests.
    l1_port_wait_cycles,
    /// The cycles that messages waited for a busy receiver, such as an L2 bank.
    bank_wait_cycles,
    /// The number of messages that request a line.
    access_messages,
    /// The number of operations sent to memory.
    memory_ops,
    /// The number of operations that memory answered.
    memory_answers,
    /// The number of messages that a seeded fault dropped.
    dropped_messages,
    /// The number of bytes of the messages that a seeded fault dropped.
    dropped_bytes,
}

/// The number of steps after which the 32-bit counters are added to their 64-bit sums. In one step,
/// a counter grows by far less than 2^32 / 1,000,000, so no counter overflows in between.
const STEPS_BETWEEN_SUMS: u32 = 1 << 10;

/// The number of messages with one name, and the sum of their bytes.
#[derive(Clone, Copy, Debug)]
struct MessageCount {
    name: &'static str,
    messages: u64,
    bytes: u64,
}

/// All counters of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) counts: Counts,
    /// For each level, its name and the activity of its stations (controllers).
    levels: Vec<(String, LevelUses)>,
    /// For each level, the activity that has not been added to `levels` yet. These 32-bit sums are
    /// added in batches.
    recent: Vec<Uses>,
    recent_steps: u32,
    /// For each memory-side cache, its name and its traffic.
    pub(crate) memory_side: Vec<(String, SideTraffic)>,
    names: Vec<MessageCount>,
    /// For each level, a list with an entry for each level: the bytes of the messages, with headers,
    /// that the stations (controllers) of the first level have sent to those of the second level.
    bytes_sent: Vec<Vec<u64>>,
    /// The number of messages between stations (controllers) that are at the same place, so that no
    /// network is used.
    pub(crate) beside_messages: u64,
    /// The number of lines that are registered (owned by a cache) now.
    registered: u64,
    registered_peak: u64,
    /// The cycle at which the last change of epochs began. An epoch is a time in which a protocol
    /// allows writes to a group of addresses.
    change_begun_at: Cycle,
    touched_by_atomics: FxHashSet<LineAddr>,
}

impl Tally {
    /// The counters of a machine with these levels, all zero.
    pub(crate) fn new(names: impl Iterator<Item = String>) -> Tally {
        let levels: Vec<_> = names.map(|name| (name, LevelUses::default())).collect();
        let bytes_sent = vec![vec![0; levels.len()]; levels.len()];
        Tally { recent: vec![Uses::default(); levels.len()], levels, bytes_sent, ..Tally::default() }
    }

    /// These counters, with counters for the memory-side caches of these names.
    #[must_use]
    pub(crate) fn with_memory_side(self, names: impl Iterator<Item = String>) -> Tally {
        Tally { memory_side: names.map(|name| (name, SideTraffic::default())).collect(), ..self }
    }

    #[inline]
    pub(crate) fn uses(&mut self, now: Cycle, level: u8, uses: &Uses) {
        let sum = &mut self.recent[usize::from(level)];
        sum.tag_lookups += uses.tag_lookups;
        sum.accesses += uses.accesses;
        sum.hits += uses.hits;
        sum.load_accesses += uses.load_accesses;
        sum.load_hits += uses.load_hits;
        sum.loads_of_dirty_lines += uses.loads_of_dirty_lines;
        sum.load_bypasses += uses.load_bypasses;
        sum.misses += uses.misses;
        sum.bypasses += uses.bypasses;
        sum.fetches += uses.fetches;
        sum.sync_accesses += uses.sync_accesses;
        sum.sync_hits += uses.sync_hits;
        sum.sync_remote += uses.sync_remote;
        sum.sync_evictions += uses.sync_evictions;
        sum.lines_registered += uses.lines_registered;
        sum.lines_unregistered += uses.lines_unregistered;
        sum.data_reads += uses.data_reads;
        sum.data_writes += uses.data_writes;
        sum.atomics += uses.atomics;
        for (sum, more) in sum.invalidations.0.iter_mut().zip(uses.invalidations.0) {
            *sum += more;
        }
        sum.lines_invalidated += uses.lines_invalidated;
        for (sum, more) in sum.flushes.0.iter_mut().zip(uses.flushes.0) {
            *sum += more;
        }
        sum.lines_written_out += uses.lines_written_out;
        sum.evictions += uses.evictions;
        sum.locks += uses.locks;
        sum.flush_broadcasts += uses.flush_broadcasts;
        sum.invalidation_broadcasts += uses.invalidation_broadcasts;
        sum.lock_broadcasts += uses.lock_broadcasts;
        sum.writes_blocked += uses.writes_blocked;
        sum.blocked_at_change += uses.blocked_at_change;
        sum.blocked_now = sum.blocked_now.max(uses.blocked_now);
        if uses.changes_begun != uses.changes_ended {
            self.epoch_change(now, level, uses);
        }
        if uses.lines_registered != uses.lines_unregistered {
            self.registered = (self.registered + u64::from(uses.lines_registered))
                .saturating_sub(u64::from(uses.lines_unregistered));
            self.registered_peak = self.registered_peak.max(self.registered);
        }
        self.count_step();
    }

    /// Counts a change of epochs that began or ended. An epoch is a time in which a protocol allows
    /// writes to a group of addresses. Only one change is under way at a time.
    #[cold]
    fn epoch_change(&mut self, now: Cycle, level: u8, uses: &Uses) {
        if uses.changes_begun > 0 {
            self.change_begun_at = now;
            return;
        }
        let (_, sums) = &mut self.levels[usize::from(level)];
        sums.changes_ended += 1;
        sums.change_cycles += now - self.change_begun_at;
    }

    /// Counts a hit in a cache of a memory level. Adds the counts in [`Hit::uses`], such as one tag
    /// lookup, to the counters of the level.
    #[inline]
    pub(crate) fn hit(&mut self, level: u8, is_dirty: bool) {
        let uses = Hit::uses(is_dirty);
        let sum = &mut self.recent[usize::from(level)];
        sum.tag_lookups += uses.tag_lookups;
        sum.accesses += uses.accesses;
        sum.hits += uses.hits;
        sum.load_accesses += uses.load_accesses;
        sum.load_hits += uses.load_hits;
        sum.loads_of_dirty_lines += uses.loads_of_dirty_lines;
        sum.data_reads += uses.data_reads;
        self.count_step();
    }

    #[inline]
    fn count_step(&mut self) {
        self.recent_steps += 1;
        if self.recent_steps == STEPS_BETWEEN_SUMS {
            self.sum_up();
        }
    }

    /// Counts a request for an atomic access to a line.
    pub(crate) fn atomic_request(&mut self, line: LineAddr) {
        self.counts.atomic_requests += 1;
        self.touched_by_atomics.insert(line);
    }

    /// Computes the counters in bytes from the corresponding counts of lines.
    pub(crate) fn convert_lines(&mut self, line_bytes: u64) {
        self.counts.atomic_line_bytes = self.touched_by_atomics.len() as u64 * line_bytes;
        self.counts.registered_bytes_peak = self.registered_peak * line_bytes;
    }

    /// Adds the 32-bit counts of recent activity to the 64-bit sums, which cannot overflow, and
    /// sets these counts to zero.
    pub(crate) fn sum_up(&mut self) {
        self.recent_steps = 0;
        for ((_, level), recent) in self.levels.iter_mut().zip(&mut self.recent) {
            level.add(&core::mem::take(recent));
        }
    }

    /// For each level, in the order of the levels' numbers: its name, and its activity up to the
    /// last call of [`Tally::sum_up`].
    pub(crate) fn levels(&self) -> &[(String, LevelUses)] {
        &self.levels
    }

    /// Counts a message of `bytes` bytes that is sent.
    #[inline]
    pub(crate) fn message(&mut self, name: &'static str, bytes: u32) {
        // Equal names nearly always have the same address, which is cheaper to compare than the
        // text.
        let names = &self.names;
        let at = names.iter().position(|n| core::ptr::eq(n.name, name));
        let at = match at.or_else(|| names.iter().position(|n| n.name == name)) {
            Some(at) => at,
            None => {
                self.names.push(MessageCount { name, messages: 0, bytes: 0 });
                self.names.len() - 1
            }
        };
        self.names[at].messages += 1;
        self.names[at].bytes += u64::from(bytes);
    }

    /// Counts the bytes of a message that a station (controller) of one level sends to a station of
    /// another level, or of the same level. Stations at the same place count, too.
    #[inline]
    pub(crate) fn message_between(&mut self, from: u8, to: u8, bytes: u32) {
        self.bytes_sent[usize::from(from)][usize::from(to)] += u64::from(bytes);
    }

    /// The number of messages with this name that were sent.
    pub(crate) fn messages_of(&self, name: &str) -> u64 {
        self.names.iter().find(|n| n.name == name).map_or(0, |n| n.messages)
    }

    /// The names of all messages that were sent.
    pub(crate) fn message_names(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.names.iter().map(|n| n.name).collect();
        names.sort_unstable();
        names
    }

    /// Checks the consistency of the counters. The error names the first
    /// inconsistency.
    pub(crate) fn check(&self, noc: &NocTraffic, dram: &DramTraffic) -> Result<(), String> {
        let c = &self.counts;
        let sum = |f: fn(&LevelUses) -> u64| self.levels.iter().map(|(_, uses)| f(uses)).sum::<u64>();
        for (name, uses) in &self.levels {
            let found = uses.hits + uses.misses + uses.bypasses;
            equal(&format!("{name} hits, misses and bypasses"), found, "accesses", uses.accesses)?;
        }
        let requested = c.line_requests + c.access_messages;
        equal(
            "accesses at all controllers",
            sum(|r| r.accesses),
            "requests and messages for a line",
            requested,
        )?;
        equal(
            "atomic accesses at all controllers",
            sum(|r| r.sync_accesses),
            "requests for an atomic access",
            c.atomic_requests,
        )?;
        at_most(
            "hits of atomic accesses",
            sum(|r| r.sync_hits),
            "all atomic accesses",
            sum(|r| r.sync_accesses),
        )?;
        let below = sum(|r| r.sync_accesses) - sum(|r| r.sync_hits);
        at_most("remote atomic accesses", sum(|r| r.sync_remote), "atomic accesses that did not hit", below)?;
        let registered = sum(|r| r.lines_registered);
        at_most("lines unregistered", sum(|r| r.lines_unregistered), "lines registered", registered)?;
        let parts = c.load_wait_cycles
            + c.store_wait_cycles
            + c.atomic_load_wait_cycles
            + c.atomic_store_wait_cycles
            + c.atomic_rmw_wait_cycles
            + c.barrier_wait_cycles
            + c.acquire_wait_cycles
            + c.release_wait_cycles;
        equal("waits by operation", parts, "waits of all operations", c.op_wait_cycles)?;
        equal("answers", c.answers, "requests", c.line_requests + c.order_requests)?;
        equal("messages delivered", noc.delivered_messages, "messages sent", noc.messages)?;
        equal("bytes delivered", noc.delivered_bytes, "bytes sent", noc.bytes)?;
        let named = self.names.iter().map(|n| n.messages).sum::<u64>();
        equal("messages by name", named, "messages", noc.messages + c.dropped_messages)?;
        let named = self.names.iter().map(|n| n.bytes).sum::<u64>();
        equal("bytes by name", named, "bytes", noc.bytes + c.dropped_bytes)?;
        equal("answers of memory", c.memory_answers, "operations on memory", c.memory_ops)?;
        let mut below = ("accesses of memory", dram.reads + dram.writes);
        for (name, traffic) in self.memory_side.iter().rev() {
            traffic.check(name, below)?;
            below = ("accesses", traffic.accesses);
        }
        equal("row hits and misses", dram.row_hits + dram.row_misses, "accesses of memory", {
            dram.reads + dram.writes
        })
    }

    /// The value of every counter. The key is the name of the counter.
    pub(crate) fn entries(&self, noc: &NocTraffic, dram: &DramTraffic) -> BTreeMap<String, u64> {
        let mut all: BTreeMap<String, u64> = BTreeMap::new();
        all.extend(self.counts.entries().into_iter().map(|(name, value)| (name.to_owned(), value)));
        for (level, uses) in &self.levels {
            for (name, value) in uses.entries() {
                *all.entry(format!("{level}_{name}")).or_default() += value;
            }
        }
        all.extend(self.memory_side.iter().flat_map(|(name, traffic)| traffic.entries(name)));
        let mut put = |name: String, value: u64| {
            all.insert(name, value);
        };
        let sum = |f: fn(&LevelUses) -> u64| self.levels.iter().map(|(_, uses)| f(uses)).sum::<u64>();
        let (synched, hits, remote) =
            (sum(|r| r.sync_accesses), sum(|r| r.sync_hits), sum(|r| r.sync_remote));
        put("sync_accesses".into(), synched);
        put("sync_l1_hits".into(), hits);
        put("sync_remote_l1_hits".into(), remote);
        put("sync_l2_hits".into(), synched - hits - remote);
        put("sync_evictions".into(), sum(|r| r.sync_evictions));
        if self.beside_messages > 0 {
            put("beside_messages".into(), self.beside_messages);
        }
        for n in &self.names {
            put(format!("messages.{}", n.name), n.messages);
            put(format!("message_bytes.{}", n.name), n.bytes);
        }
        for ((from, _), sent) in self.levels.iter().zip(&self.bytes_sent) {
            for ((to, _), &bytes) in self.levels.iter().zip(sent).filter(|(_, bytes)| **bytes > 0) {
                put(format!("bytes_sent.{from}.{to}"), bytes);
            }
        }
        put("noc_messages".into(), noc.messages);
        put("noc_bytes_sent".into(), noc.bytes);
        put("noc_bytes_received".into(), noc.delivered_bytes);
        put("noc_byte_hops".into(), noc.byte_hops);
        put("noc_flits".into(), noc.flits);
        put("noc_flit_hops".into(), noc.flit_hops);
        put("noc_queue_cycles".into(), noc.queue_cycles);
        put("link_messages".into(), noc.link_messages);
        put("link_bytes".into(), noc.link_bytes);
        put("link_queue_cycles".into(), noc.link_queue_cycles);
        put("dram_reads".into(), dram.reads);
        put("dram_writes".into(), dram.writes);
        put("dram_bytes".into(), dram.bytes);
        put("dram_row_hits".into(), dram.row_hits);
        put("dram_row_misses".into(), dram.row_misses);
        put("dram_queue_cycles".into(), dram.queue_cycles);
        all
    }
}

fn equal(what: &str, found: u64, of: &str, expected: u64) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what} ({found}) do not add up to {of} ({expected})"))
}

fn at_most(what: &str, found: u64, of: &str, most: u64) -> Result<(), String> {
    if found <= most {
        return Ok(());
    }
    Err(format!("{what} ({found}) are more than {of} ({most})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn balanced() -> (Tally, NocTraffic, DramTraffic) {
        let mut tally = Tally::new(["l1".to_owned()].into_iter());
        tally.counts.line_requests = 3;
        tally.counts.answers = 3;
        tally.uses(0, 0, &Uses { accesses: 3, hits: 1, misses: 1, bypasses: 1, ..Uses::default() });
        tally.sum_up();
        tally.message("Get", 8);
        tally.message("Data", 72);
        let noc = NocTraffic {
            messages: 2,
            bytes: 80,
            delivered_messages: 2,
            delivered_bytes: 80,
            ..NocTraffic::default()
        };
        (tally, noc, DramTraffic { reads: 1, row_misses: 1, ..DramTraffic::default() })
    }

    #[test]
    fn a_hit_has_the_counts_of_a_step_that_hits() {
        for is_dirty in [false, true] {
            let [mut by_hit, mut by_step] = [0; 2].map(|_| Tally::new(["l1".to_owned()].into_iter()));
            by_hit.hit(0, is_dirty);
            by_step.uses(0, 0, &Hit::uses(is_dirty));
            assert_eq!((&by_hit.recent, by_hit.recent_steps), (&by_step.recent, by_step.recent_steps));
        }
    }

    #[test]
    fn consistent_counters_pass_and_each_inconsistency_is_named() {
        let (tally, noc, dram) = balanced();
        assert_eq!(tally.check(&noc, &dram), Ok(()));
        let entries = tally.entries(&noc, &dram);
        assert_eq!((entries["l1_hits"], entries["messages.Data"], entries["noc_bytes_sent"]), (1, 1, 80));

        let mut lost = tally.clone();
        lost.counts.answers = 2;
        assert!(lost.check(&noc, &dram).unwrap_err().contains("answers (2)"));
        let mut lost = tally.clone();
        lost.uses(0, 0, &Uses { accesses: 1, ..Uses::default() });
        lost.sum_up();
        assert!(lost.check(&noc, &dram).unwrap_err().contains("l1 hits"));
        let lost = NocTraffic { delivered_bytes: 8, ..noc };
        assert!(tally.check(&lost, &dram).unwrap_err().contains("bytes delivered (8)"));
        let lost = DramTraffic { row_misses: 0, ..dram };
        assert!(tally.check(&noc, &lost).unwrap_err().contains("row hits"));
        let mut lost = tally.clone();
        lost.counts.memory_ops = 1;
        assert!(lost.check(&noc, &dram).unwrap_err().contains("memory"));
    }
}
