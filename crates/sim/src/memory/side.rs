//! Memory-side caches: caches in front of DRAM that no protocol sees.
//!
//! A memory-side cache changes the times of operations on memory, and the accesses that reach DRAM.
//! It has no bytes: [`crate::memory::Memory`] has the current bytes of all lines. So the cache keeps
//! only tags, masks of dirty bytes and the order of use. It has one part for each bank of the last
//! shared cache, which serves the lines of this bank. Several caches may stand in a row; a miss in
//! one is an access of the next.
//!
//! A write never needs a line's other bytes: the cache keeps the written bytes, and a read of the
//! line later fetches the rest. An answer about a line is never earlier than an earlier answer about
//! this line, as at DRAM: the cache keeps the cycle at which the last answer about a line leaves. If
//! DRAM serves accesses in another order than that of arrival, the cache knows only when an access
//! reaches DRAM, and the module `behind` holds the answer back.

use proto::{ByteMask, Home, LineAddr};

use crate::config::{MemorySideSpec, SideWrite, System};
use crate::memory::behind::{Access, Behind};
use crate::queue::Cycle;
use crate::reports::memory_side::SideTraffic;
use crate::reports::probe::Probe;
use crate::stations::fabric::LevelInfo;

/// A way of a memory-side cache.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// The bytes that the next cache or DRAM does not have.
    dirty: ByteMask,
    /// The number of the line, plus one. Zero if the way is empty.
    line: u64,
    /// The number of the line's last use. Uses are numbered in the order of time.
    last_use: u64,
    /// The cycle at which the last answer about the line leaves.
    ready_at: Cycle,
    /// Whether all bytes of the line are here. If false, only the dirty bytes are.
    is_whole: bool,
}

/// The part of a memory-side cache that serves the lines of one bank.
#[derive(Clone, Debug, Default)]
struct Part {
    /// The cycle at which the part is free.
    busy_until: Cycle,
    /// The lines that were evicted before their last answers left: each with its number plus one, and
    /// the cycle at which that answer leaves.
    leaving: Vec<(u64, Cycle)>,
}

/// One memory-side cache.
#[derive(Debug)]
struct SideCache {
    latency: u64,
    occupancy: u64,
    write: SideWrite,
    whole: ByteMask,
    sets: u64,
    ways: usize,
    parts: Vec<Part>,
    /// The ways of all sets of all parts.
    entries: Vec<Entry>,
    uses: u64,
}

impl SideCache {
    fn new(spec: &MemorySideSpec, parts: u32, line_bytes: u32) -> SideCache {
        let set_bytes = u64::from(parts) * u64::from(spec.ways) * u64::from(line_bytes);
        let (sets, ways) = ((spec.bytes / set_bytes).max(1), spec.ways as usize);
        SideCache {
            latency: u64::from(spec.latency_cycles),
            occupancy: u64::from(spec.occupancy_cycles),
            write: spec.write,
            whole: ByteMask::full(line_bytes as usize),
            sets,
            ways,
            parts: vec![Part::default(); parts as usize],
            entries: vec![Entry::default(); parts as usize * sets as usize * ways],
            uses: 0,
        }
    }

    /// The ways of the set of a line.
    fn set(&self, home: Home) -> core::ops::Range<usize> {
        let set = u64::from(home.bank) * self.sets + home.index % self.sets;
        let first = set as usize * self.ways;
        first..first + self.ways
    }

    /// The way that has the line. Marks the line as the one that was used last.
    fn find(&mut self, line: LineAddr, home: Home) -> Option<usize> {
        let set = self.set(home);
        let way = self.entries[set.clone()].iter().position(|entry| entry.line == line.0 + 1)?;
        self.uses += 1;
        self.entries[set.start + way].last_use = self.uses;
        Some(set.start + way)
    }

    /// Gives a line a way, without any bytes, at cycle `now`. If the way was not empty, returns what
    /// it had.
    fn insert(&mut self, now: Cycle, line: LineAddr, home: Home) -> (usize, Option<Entry>) {
        let set = self.set(home);
        let oldest = set.min_by_key(|&way| self.entries[way].last_use).unwrap_or(0);
        self.uses += 1;
        let leaving = &mut self.parts[usize::from(home.bank)].leaving;
        let earlier = leaving.iter().filter(|(left, _)| *left == line.0 + 1).map(|(_, at)| *at);
        let ready_at = earlier.max().unwrap_or(0);
        let entry = Entry { line: line.0 + 1, last_use: self.uses, ready_at, ..Entry::default() };
        let left = core::mem::replace(&mut self.entries[oldest], entry);
        if left.ready_at > now {
            leaving.retain(|(_, at)| *at > now);
            leaving.push((left.line, left.ready_at));
        }
        (oldest, (left.line != 0).then_some(left))
    }

    /// Begins an access that arrives at cycle `now`. Returns the cycles that it waits for the part of
    /// the cache, and the cycle at which the tags are known.
    fn begin(&mut self, now: Cycle, home: Home) -> (u64, Cycle) {
        let busy = &mut self.parts[usize::from(home.bank)].busy_until;
        let start = now.max(*busy);
        *busy = start + self.occupancy;
        (start - now, start + self.latency)
    }
}

/// The memory-side caches of a machine, in the order in which accesses reach them.
#[derive(Debug)]
pub(crate) struct MemorySide {
    caches: Vec<SideCache>,
}

/// The memory-side caches of a machine whose protocol has controllers at `levels`. A cache of size
/// zero does not exist, and neither does a cache whose storage is a level of the protocol.
pub(crate) fn present<'a>(
    system: &'a System,
    levels: &'a [LevelInfo],
) -> impl Iterator<Item = &'a MemorySideSpec> {
    let is_level = |name: &str| levels.iter().any(|level| level.name == name);
    system.memory_side.iter().filter(move |spec| spec.bytes > 0 && !is_level(&spec.name))
}

impl MemorySide {
    /// The memory-side caches of a machine, without lines. `None` if it has no such cache.
    pub(crate) fn new(system: &System, levels: &[LevelInfo]) -> Option<MemorySide> {
        let parts = system.topology().banks();
        let new = |spec: &MemorySideSpec| SideCache::new(spec, parts, system.sector_bytes());
        let caches: Vec<SideCache> = present(system, levels).map(new).collect();
        (!caches.is_empty()).then_some(MemorySide { caches })
    }

    /// Performs an access that reaches the first cache at cycle `now`. Returns the cycle at which it
    /// is done. `traffic` has the counters of each cache.
    pub(crate) fn access<Pr: Probe>(
        &mut self,
        now: Cycle,
        line: LineAddr,
        access: Access,
        traffic: &mut [(String, SideTraffic)],
        behind: &mut Behind<'_, Pr>,
    ) -> Cycle {
        pass(&mut self.caches, now, line, access, traffic, behind)
    }
}

/// Performs an access at the first of these caches. Without caches, performs it at DRAM.
fn pass<Pr: Probe>(
    caches: &mut [SideCache],
    now: Cycle,
    line: LineAddr,
    access: Access,
    traffic: &mut [(String, SideTraffic)],
    behind: &mut Behind<'_, Pr>,
) -> Cycle {
    let ([cache, lower @ ..], [(_, count), counts @ ..]) = (caches, traffic) else {
        return behind.access(now, line, access);
    };
    let home = behind.homes.home(line);
    let (waited, begun) = cache.begin(now, home);
    behind.side_wait += waited;
    count.accesses += 1;
    count.queue_cycles += waited;
    let found = cache.find(line, home);
    let has_bytes = found.is_some_and(|way| cache.entries[way].is_whole);
    let keeps = match access {
        Access::Read => true,
        // The write that follows would invalidate the line again.
        Access::ReadForUpdate => cache.write != SideWrite::Invalidate,
        Access::Write(_) => cache.write == SideWrite::Back,
    };
    let is_write = matches!(access, Access::Write(_));
    let is_served = if is_write { keeps } else { has_bytes };
    match (is_served, is_write) {
        (true, _) => count.hits += 1,
        (false, true) => count.bypasses += 1,
        (false, false) => count.misses += 1,
    }
    let passed = match (access, cache.write) {
        // This cache keeps the write that follows.
        (Access::ReadForUpdate, SideWrite::Back) => Access::Read,
        _ => access,
    };
    let done = if is_served { begun } else { pass(lower, begun, line, passed, counts, behind) };
    let (way, left) = match found {
        Some(way) => (way, None),
        None if keeps => cache.insert(begun, line, home),
        None => return done,
    };
    if let Some(left) = left {
        count.evictions += 1;
        if !left.dirty.is_empty() {
            count.lines_written_out += 1;
            count.data_reads += 1;
            behind.aside(|behind| {
                pass(lower, begun, LineAddr(left.line - 1), Access::Write(left.dirty), counts, behind);
            });
        }
    }
    let entry = &mut cache.entries[way];
    match access {
        Access::Read | Access::ReadForUpdate if is_served => count.data_reads += 1,
        Access::Read | Access::ReadForUpdate => {
            entry.is_whole = true;
            count.data_writes += 1;
        }
        Access::Write(mask) => match cache.write {
            SideWrite::Back => {
                entry.dirty = entry.dirty.union(mask);
                entry.is_whole |= entry.dirty.contains(cache.whole);
                count.data_writes += 1;
            }
            SideWrite::Update => count.data_writes += 1,
            SideWrite::Invalidate => {
                *entry = Entry::default();
                count.lines_invalidated += 1;
                return done;
            }
        },
    }
    entry.ready_at = entry.ready_at.max(done);
    entry.ready_at
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use proto::Homes;

    use super::*;
    use crate::memory::dram::Dram;

    /// A machine with two banks and these memory-side caches.
    fn system(caches: &[(u64, u32, SideWrite)]) -> System {
        let text = include_str!("../../../../systems/hlrc-8cu.toml");
        let mut system: System = toml::from_str(text).unwrap();
        system.l2.banks = 2;
        let spec = |(name, &(bytes, latency_cycles, write)): (&str, &(u64, u32, SideWrite))| MemorySideSpec {
            name: name.to_owned(),
            bytes,
            ways: 2,
            latency_cycles,
            occupancy_cycles: 3,
            write,
            read_pj: 0.0,
            write_pj: 0.0,
        };
        system.memory_side = ["near", "far"].into_iter().zip(caches).map(spec).collect();
        assert_eq!(system.problems(), []);
        system
    }

    /// The memory-side caches of a machine, with DRAM behind them.
    struct Side {
        caches: MemorySide,
        dram: Dram,
        homes: Homes,
        traffic: Vec<(String, SideTraffic)>,
    }

    impl Side {
        fn new(caches: &[(u64, u32, SideWrite)]) -> Side {
            let system = system(caches);
            Side {
                caches: MemorySide::new(&system, &[]).unwrap(),
                dram: Dram::new(&system.dram, 1),
                homes: Homes::new(&system.topology(), 64),
                traffic: caches.iter().map(|_| (String::new(), SideTraffic::default())).collect(),
            }
        }

        /// The cycle at which an access is done.
        fn access(&mut self, now: Cycle, line: u64, access: Access) -> Cycle {
            let (dram, homes, probe) = (&mut self.dram, &self.homes, &mut ());
            let (line_bytes, deferred) = (64, None);
            let mut behind = Behind { dram, homes, line_bytes, probe, deferred, dram_wait: 0, side_wait: 0 };
            self.caches.access(now, LineAddr(line), access, &mut self.traffic, &mut behind)
        }

        /// The accesses of an access that reach DRAM later: for each, the cycle at which it reaches DRAM,
        /// whether it writes, and whether the access waits for it.
        fn deferred(&mut self, now: Cycle, line: u64, access: Access) -> Vec<(Cycle, bool, bool)> {
            let (dram, homes, probe) = (&mut self.dram, &self.homes, &mut ());
            let (line_bytes, deferred) = (64, Some(Vec::new()));
            let mut behind = Behind { dram, homes, line_bytes, probe, deferred, dram_wait: 0, side_wait: 0 };
            self.caches.access(now, LineAddr(line), access, &mut self.traffic, &mut behind);
            let deferred = behind.deferred.unwrap().into_iter();
            deferred.map(|d| (d.request.arrived, d.request.written_bytes.is_some(), d.is_awaited)).collect()
        }

        /// The reads and writes of DRAM.
        fn dram(&self) -> (u64, u64) {
            (self.dram.traffic().reads, self.dram.traffic().writes)
        }

        fn near(&self) -> SideTraffic {
            self.traffic[0].1
        }
    }

    const WORD: Access = Access::Write(ByteMask(0xf));
    const LINE: Access = Access::Write(ByteMask((1 << 64) - 1));
    const BACK: SideWrite = SideWrite::Back;

    #[test]
    fn a_hit_takes_the_latency_and_a_miss_takes_that_of_dram_too() {
        let mut side = Side::new(&[(1024, 30, BACK)]);
        let dram = Dram::new(&system(&[]).dram, 1).access(0, 0u64, 64, false).done;
        assert_eq!(side.access(0, 0, Access::Read), 30 + dram);
        // The fill is under way.
        assert_eq!(side.access(10, 0, Access::Read), 30 + dram);
        assert_eq!(side.access(1000, 0, Access::Read), 1030);
        // The other access occupies the part of the other bank, then that of this bank.
        assert_eq!(side.access(1000, 1, LINE), 1030);
        assert_eq!(side.access(1000, 0, Access::Read), 1033);
        assert_eq!((side.dram(), side.near().queue_cycles), ((1, 0), 3));
    }

    #[test]
    fn each_rule_for_writes_has_its_accesses_of_dram() {
        // The accesses of DRAM after each access to one line.
        let accesses =
            [WORD, Access::Read, WORD, Access::Read, LINE, Access::Read, Access::ReadForUpdate, WORD];
        let dram = |write| {
            let mut side = Side::new(&[(1024, 5, write)]);
            let each = accesses.map(|access| {
                let now = side.dram.traffic().reads * 1000;
                side.access(now, 4, access);
                side.dram()
            });
            (each, side.near())
        };
        let (each, near) = dram(SideWrite::Back);
        assert_eq!(each, [(0, 0), (1, 0), (1, 0), (1, 0), (1, 0), (1, 0), (1, 0), (1, 0)]);
        assert_eq!((near.hits, near.misses, near.bypasses, near.lines_invalidated), (7, 1, 0, 0));
        assert_eq!((near.data_reads, near.data_writes), (3, 5));
        let (each, near) = dram(SideWrite::Update);
        assert_eq!(each, [(0, 1), (1, 1), (1, 2), (1, 2), (1, 3), (1, 3), (1, 3), (1, 4)]);
        assert_eq!((near.hits, near.misses, near.bypasses, near.lines_invalidated), (3, 1, 4, 0));
        assert_eq!((near.data_reads, near.data_writes), (3, 4));
        let (each, near) = dram(SideWrite::Invalidate);
        assert_eq!(each, [(0, 1), (1, 1), (1, 2), (2, 2), (2, 3), (3, 3), (3, 3), (3, 4)]);
        assert_eq!((near.hits, near.misses, near.bypasses, near.lines_invalidated), (1, 3, 4, 3));
        assert_eq!((near.data_reads, near.data_writes), (1, 3));
    }

    #[test]
    fn an_atomic_keeps_no_line_that_its_write_would_invalidate() {
        let mut side = Side::new(&[(1024, 5, SideWrite::Invalidate)]);
        side.access(0, 4, Access::ReadForUpdate);
        side.access(0, 4, WORD);
        let near = side.near();
        assert_eq!((near.misses, near.bypasses, near.lines_invalidated, near.data_writes), (1, 1, 0, 0));
        assert_eq!(side.dram(), (1, 1));
    }

    #[test]
    fn the_least_recently_used_line_leaves_with_its_dirty_bytes_only() {
        // Two banks with two sets of two ways: lines 0, 4 and 8 share a set.
        let mut side = Side::new(&[(512, 5, BACK)]);
        for (line, access) in [(0, WORD), (4, Access::Read), (0, Access::Read), (8, Access::Read)] {
            side.access(0, line, access);
        }
        // Line 4 has left without a write; then line 0 leaves, and 4 bytes go to DRAM.
        assert_eq!((side.near().evictions, side.near().lines_written_out, side.dram()), (1, 0, (3, 0)));
        let bytes = side.dram.traffic().bytes;
        side.access(0, 12, WORD);
        assert_eq!((side.near().evictions, side.near().lines_written_out, side.dram()), (2, 1, (3, 1)));
        let width = u64::from(system(&[]).dram.channel_bytes_per_cycle.get());
        assert!(side.dram.traffic().bytes - bytes <= width, "a whole line was written");
    }

    #[test]
    fn a_write_waits_for_the_answer_about_an_evicted_line_whose_fill_is_under_way() {
        let mut side = Side::new(&[(256, 5, BACK)]);
        let filled = side.access(0, 0, Access::Read);
        side.access(0, 2, Access::Read);
        side.access(0, 4, Access::Read);
        assert_eq!((side.near().evictions, side.access(1, 0, WORD)), (1, filled));
        assert!(side.access(1, 6, WORD) < filled);
    }

    #[test]
    fn a_miss_in_one_cache_is_an_access_of_the_next() {
        let mut side = Side::new(&[(256, 5, BACK), (4096, 40, SideWrite::Update)]);
        // The near cache has one set of two ways in each bank.
        for line in [0, 2, 4, 0] {
            side.access(0, line, Access::Read);
        }
        let (near, far) = (side.traffic[0].1, side.traffic[1].1);
        assert_eq!((near.misses, far.accesses, far.hits, far.misses), (4, 4, 1, 3));
        assert_eq!(side.access(9000, 2, Access::Read), 9045);
        side.access(9000, 0, WORD);
        side.access(9000, 4, Access::Read);
        side.access(9000, 6, Access::Read);
        let far = side.traffic[1].1;
        assert_eq!((side.near().lines_written_out, far.bypasses, side.dram()), (1, 1, (4, 1)));
    }

    #[test]
    fn an_access_waits_for_its_fill_and_not_for_the_write_of_an_evicted_line() {
        let mut side = Side::new(&[(256, 5, BACK), (256, 40, BACK)]);
        assert_eq!(side.deferred(0, 0, WORD), []);
        assert_eq!(side.deferred(100, 2, Access::Read), [(145, false, true)]);
        let mut near = Side::new(&[(256, 5, BACK)]);
        near.deferred(0, 0, WORD);
        near.deferred(0, 2, Access::Read);
        assert_eq!(near.deferred(100, 4, Access::Read), [(105, false, true), (105, true, false)]);
        let mut through = Side::new(&[(256, 5, SideWrite::Update)]);
        assert_eq!(through.deferred(0, 0, WORD), [(5, true, true)]);
    }

    fn accesses() -> impl Strategy<Value = Vec<(u64, u64, Access)>> {
        let access = prop_oneof![
            Just(Access::Read),
            Just(WORD),
            Just(Access::Write(ByteMask(0xff00))),
            Just(LINE),
            Just(Access::ReadForUpdate),
        ];
        prop::collection::vec((0u64..20, 0u64..24, access), 1..200)
    }

    fn rule() -> impl Strategy<Value = SideWrite> {
        prop::sample::select(vec![SideWrite::Back, SideWrite::Update, SideWrite::Invalidate])
    }

    proptest! {
        #[test]
        fn counts_are_conserved_and_answers_about_a_line_are_in_order(
            near in rule(),
            far in rule(),
            caches in 1usize..3,
            accesses in accesses(),
        ) {
            let mut side = Side::new(&[(256, 4, near), (1024, 9, far)][..caches]);
            let (mut now, mut count) = (0, 0);
            let mut last: BTreeMap<u64, Cycle> = BTreeMap::new();
            for (wait, line, access) in accesses {
                now += wait;
                let steps = match access {
                    Access::ReadForUpdate => &[Access::ReadForUpdate, WORD][..],
                    _ => &[access],
                };
                let done = steps.iter().map(|step| side.access(now, line, *step)).max().unwrap();
                count += steps.len() as u64;
                prop_assert!(done >= now + 4);
                let before = last.insert(line, done).unwrap_or(0);
                prop_assert!(done >= before, "line {}: {} after {}", line, done, before);
            }
            prop_assert_eq!(side.near().accesses, count);
            let (reads, writes) = side.dram();
            let mut below = reads + writes;
            for (_, traffic) in side.traffic.iter().rev() {
                prop_assert_eq!(traffic.check("cache", ("accesses", below)), Ok(()));
                below = traffic.accesses;
            }
        }

        #[test]
        fn dirty_bytes_reach_dram_exactly_once(
            accesses in prop::collection::vec((0u64..24, prop::bool::ANY), 1..200),
        ) {
            // A line that is written is written out when it leaves, or is still in the cache.
            let mut side = Side::new(&[(256, 4, BACK)]);
            for (line, is_write) in accesses {
                side.access(0, line, if is_write { WORD } else { Access::Read });
                let entries = &side.caches.caches[0].entries;
                let found = entries.iter().filter(|entry| entry.line == line + 1).collect::<Vec<_>>();
                prop_assert_eq!(found.len(), 1);
                prop_assert!(!is_write || !found[0].dirty.is_empty());
            }
            prop_assert_eq!(side.dram().1, side.near().lines_written_out);
        }
    }
}
