//! Detection of runs that make no progress.
//!
//! Progress is a wavefront that retires or a byte that changes. A change of memory or local memory
//! is visible at once. The change by a store into a cache is not visible: the store may write the
//! value that was already there. As long as the last progress is recent, operations are not
//! examined. After that, each operation is compared with the earlier ones of its wavefront. A
//! wavefront with a new operation (another address or another value) still advances, for example in
//! a long loop. A wavefront that only repeats operations does not advance.
//!
//! The user sets the patience: the number of cycles without progress that are allowed. Two things
//! can take longer without an error. First, a long computation extends the limit: the cycles
//! without progress are counted from its end. While operations are examined, computations of the
//! same length extend the limit only once for each wavefront, so a spin with pauses is found too.
//! Second, the latencies of the machine set a lower bound of the limit: see [`least_patience`].

use core::hash::{Hash, Hasher};

use rustc_hash::{FxHashSet, FxHasher};

use crate::config::System;
use crate::network::noc::Topology;
use crate::queue::Cycle;

/// The minimum patience (the allowed number of cycles without progress), in round trips to memory.
/// The minimum is more than one because accesses queue behind each other.
const ROUND_TRIPS: u64 = 16;
/// The minimum patience (the allowed number of cycles without progress), in periods of the longest
/// timer.
const TIMER_PERIODS: u64 = 4;
/// A computation is long if it takes more cycles than the patience (the allowed number of cycles
/// without progress) divided by this number.
const LONG_TIMES: u64 = 4;

/// The number that stands for the host in [`Watch::busy`]. Small numbers stand for wavefronts.
pub(crate) const BUSY_HOST: u32 = u32::MAX;
/// The number that stands for the command processor in [`Watch::busy`], while it launches a kernel.
pub(crate) const BUSY_LAUNCH: u32 = u32::MAX - 1;
/// The number that stands for the first station (controller) in [`Watch::busy`]. The number
/// `BUSY_STATION - n` stands for station `n`.
pub(crate) const BUSY_STATION: u32 = u32::MAX - 2;

/// The minimum patience (the allowed number of cycles without progress): with less, the latencies
/// of a machine alone could make a run count as stuck.
pub(crate) fn least_patience(system: &System) -> u64 {
    let noc = &system.noc;
    let hops = match noc.topology {
        Topology::Mesh { columns, rows } | Topology::Torus { columns, rows } => {
            u64::from(columns.get()) + u64::from(rows.get())
        }
        Topology::Crossbar { .. } => 1,
    };
    let mut path = hops * u64::from(noc.hop_latency_cycles) + u64::from(noc.port_latency_cycles);
    if system.chiplets > 1 {
        // The path crosses two networks and the link between them.
        path = 2 * path + u64::from(system.links.latency_cycles);
    }
    let dram = &system.dram;
    let of_levels = system.levels.iter().map(|level| level.latency_cycles);
    let of_memory_side = system.memory_side.iter().map(|cache| cache.latency_cycles);
    let further = of_levels.chain(of_memory_side).map(u64::from).sum::<u64>();
    let served = [
        system.l1.latency_cycles,
        system.l1.path_cycles,
        system.l2.latency_cycles,
        dram.base_latency_cycles,
        dram.row_miss_cycles,
        dram.queue_wait_max_cycles(),
        dram.row_cycle_cycles,
        dram.row_to_row_cycles,
        dram.read_to_write_cycles,
        dram.write_to_read_cycles,
        system.host.memory_latency_cycles,
    ];
    let round_trip = 2 * path + served.map(u64::from).iter().sum::<u64>() + further;
    let timers = &system.timers;
    let timer = timers.drain_cycles.max(timers.epoch_cycles).max(timers.tick_cycles);
    (ROUND_TRIPS * round_trip).max(TIMER_PERIODS * u64::from(timer))
}

/// The detector of runs that make no progress. It examines operations only if the last progress is
/// not recent.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    patience_cycles: u64,
    last_progress: Cycle,
    /// While operations are examined, the cycle of the last operation that differed from all
    /// earlier ones of its wavefront.
    last_novelty: Cycle,
    examining: bool,
    /// The cycle at which the last long computation ends.
    busy_until: Cycle,
    seen: FxHashSet<u64>,
}

impl Watch {
    pub(crate) fn new(patience_cycles: u64) -> Watch {
        Watch {
            patience_cycles: patience_cycles.max(1),
            last_progress: 0,
            last_novelty: 0,
            examining: false,
            busy_until: 0,
            seen: FxHashSet::default(),
        }
    }

    /// Records progress: an event that cannot repeat forever.
    #[inline]
    pub(crate) fn progress(&mut self, now: Cycle) {
        self.last_progress = now;
        if self.examining {
            self.examining = false;
            self.seen.clear();
        }
    }

    /// Records that component `who` is busy for `cycles` cycles. If that is a long time, the run
    /// may go without progress until the component is no longer busy.
    #[inline]
    pub(crate) fn busy(&mut self, now: Cycle, who: u32, cycles: u64) {
        if cycles.saturating_mul(LONG_TIMES) > self.patience_cycles {
            self.busy_long(now, who, cycles);
        }
    }

    #[cold]
    fn busy_long(&mut self, now: Cycle, who: u32, cycles: u64) {
        // A repeated pause of the same length is not progress.
        if !self.examining || self.seen.insert(hash(("busy", who, cycles))) {
            self.busy_until = self.busy_until.max(now.saturating_add(cycles));
        }
    }

    /// Whether the caller must examine operations now, because the last progress is not recent.
    #[inline]
    pub(crate) fn is_examining(&self) -> bool {
        self.examining
    }

    /// The cycle of the last progress: a wavefront that retired, or a byte that changed.
    pub(crate) fn last_progress(&self) -> Cycle {
        self.last_progress
    }

    /// Records whether an operation differs from all earlier ones. `operation` contains everything
    /// that distinguishes operations.
    pub(crate) fn examine(&mut self, now: Cycle, operation: impl Hash) {
        if self.seen.insert(hash(operation)) {
            self.last_novelty = now;
        }
    }

    /// The last cycle at which the run does not count as stuck, even without further progress.
    pub(crate) fn stuck_after(&self) -> Cycle {
        let since = match self.examining {
            true => self.last_novelty.max(self.busy_until),
            false => self.last_progress,
        };
        since.saturating_add(self.patience_cycles)
    }

    /// Whether the run has made no progress for too long. When the patience (the allowed number of
    /// cycles without progress) elapses for the first time, the answer is no, and operations are
    /// examined from then on.
    pub(crate) fn is_stuck(&mut self, now: Cycle) -> bool {
        if now <= self.stuck_after() {
            return false;
        }
        if !self.examining {
            self.examining = true;
            self.last_novelty = now;
            return false;
        }
        true
    }
}

fn hash(of: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    of.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::dram::DramScheduler;

    fn least(change: impl FnOnce(&mut System)) -> u64 {
        let mut system: System = toml::from_str(include_str!("../../../../systems/hlrc-8cu.toml")).unwrap();
        change(&mut system);
        least_patience(&system)
    }

    #[test]
    fn the_least_patience_is_sixteen_round_trips_or_four_periods_of_the_longest_timer() {
        let usual = least(|_| {});
        // Each of these settings lies once on a round trip, so one more cycle there makes the round
        // trip one cycle longer.
        let once: [fn(&mut System); 6] = [
            |system| system.l1.latency_cycles += 1,
            |system| system.l1.path_cycles += 1,
            |system| system.l2.latency_cycles += 1,
            |system| system.dram.base_latency_cycles += 1,
            |system| system.dram.row_miss_cycles += 1,
            |system| system.host.memory_latency_cycles += 1,
        ];
        assert_eq!(once.map(|slower| least(slower) - usual), [16; 6]);
        let open_row_first = |system: &mut System| {
            system.dram.scheduler = DramScheduler::OpenRowFirst;
            system.dram.queue_wait_max_cycles = Some(300);
        };
        assert_eq!(least(open_row_first) - usual, 16 * 300);
        let spacing: [fn(&mut System); 4] = [
            |system| system.dram.row_cycle_cycles = 5,
            |system| system.dram.row_to_row_cycles = 5,
            |system| system.dram.read_to_write_cycles = 5,
            |system| system.dram.write_to_read_cycles = 5,
        ];
        assert_eq!(spacing.map(|slower| least(slower) - usual), [16 * 5; 4]);
        // The round trip takes two paths, each over as many hops as the mesh has rows and columns.
        assert_eq!(least(|system| system.noc.hop_latency_cycles += 1) - usual, 16 * 2 * 6);
        assert_eq!(least(|system| system.noc.port_latency_cycles += 1) - usual, 16 * 2);
        let timers: [fn(&mut System); 3] = [
            |system| system.timers.drain_cycles = 1_000_000,
            |system| system.timers.epoch_cycles = 1_000_000,
            |system| system.timers.tick_cycles = 1_000_000,
        ];
        assert_eq!(timers.map(least), [4_000_000; 3]);
        let level = "name = \"l3\"\nper = \"machine\"\nlatency_cycles = 7";
        assert_eq!(least(|system| system.levels.push(toml::from_str(level).unwrap())) - usual, 16 * 7);
        let two = least(|system| system.chiplets = 2);
        assert_eq!(
            least(|system| (system.chiplets, system.links.latency_cycles) =
                (2, system.links.latency_cycles + 5))
                - two,
            16 * 2 * 5
        );
        assert!(two > usual, "a path between chiplets crosses two networks");
    }

    #[test]
    fn repeated_operations_exhaust_the_patience_and_new_ones_do_not() {
        let mut watch = Watch::new(100);
        assert!(!watch.is_stuck(100));
        assert!(!watch.is_stuck(101));
        assert!(watch.is_examining());
        watch.examine(150, (0, 1));
        watch.examine(190, (0, 2));
        watch.examine(195, (0, 1));
        assert_eq!(watch.stuck_after(), 290);
        assert!(!watch.is_stuck(290));
        assert!(watch.is_stuck(291));
        watch.progress(291);
        assert_eq!(watch.stuck_after(), 391);
        assert!(!watch.is_examining() && !watch.is_stuck(391));
    }

    #[test]
    fn a_long_computation_extends_the_patience_only_until_it_ends() {
        let mut watch = Watch::new(100);
        watch.busy(0, 0, 1000);
        assert!(!watch.is_stuck(101) && watch.is_examining());
        assert!(!watch.is_stuck(1100));
        assert!(watch.is_stuck(1101));
        watch.progress(5000);
        assert!(!watch.is_stuck(5101) && !watch.is_stuck(5201));
        assert!(watch.is_stuck(5202), "the patience, because nothing is busy");
    }

    #[test]
    fn repeated_pauses_of_the_same_length_are_not_progress() {
        let mut watch = Watch::new(100);
        let lost = (0..100).find(|round| {
            let now = round * 1000;
            watch.busy(now, 7, 900);
            watch.is_stuck(now + 950)
        });
        assert_eq!(lost, Some(2), "the second pause is the last one that is new");
    }
}
