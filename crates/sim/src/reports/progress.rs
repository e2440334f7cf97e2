//! Is the run still getting anywhere?
//!
//! Progress is a wavefront that retires or a byte that changes. What changes
//! memory or local memory is seen at once; a store into a cache may write the
//! value that stood there, which nobody can tell from outside. So while there
//! was progress not long ago, nothing is examined; after that, every operation
//! is compared with what its wavefront did before. A wavefront that does
//! something new (another address, another value) still gets somewhere, if
//! only to the end of a long loop; one that repeats itself does not.
//!
//! The user says for how many cycles nothing may happen. Two things take longer
//! than a small number of cycles although all is well. A long computation is waited
//! for: the cycles count from its end. While operations are examined, that is so
//! once for each length and wavefront, and so a spin with pauses is found too. And
//! the machine's own delays are the least that is waited: see [`least_patience`].

use core::hash::{Hash, Hasher};

use rustc_hash::{FxHashSet, FxHasher};

use crate::config::System;
use crate::network::noc::Topology;
use crate::queue::Cycle;

/// A run is never given up in less than so many round trips to memory: accesses
/// queue behind each other.
const ROUND_TRIPS: u64 = 16;
/// Nor in less than so many periods of the longest timer.
const TIMER_PERIODS: u64 = 4;
/// A computation is long if so many of it are more than the patience.
const LONG_TIMES: u64 = 4;

/// Who is busy in the eyes of [`Watch`], beside wavefronts.
pub(crate) const BUSY_HOST: u32 = u32::MAX;
/// The command processor, which launches a kernel.
pub(crate) const BUSY_LAUNCH: u32 = u32::MAX - 1;
/// The first station; the others are below it.
pub(crate) const BUSY_STATION: u32 = u32::MAX - 2;

/// The cycles that a machine needs to show progress, whatever a user asks for.
pub(crate) fn least_patience(system: &System) -> u64 {
    let noc = &system.noc;
    let hops = match noc.topology {
        Topology::Mesh { columns, rows } | Topology::Torus { columns, rows } => {
            u64::from(columns.get()) + u64::from(rows.get())
        }
        Topology::Crossbar { .. } => 1,
    };
    let mut way = hops * u64::from(noc.hop_latency_cycles) + u64::from(noc.port_latency_cycles);
    if system.chiplets > 1 {
        // Over two networks and the link between them.
        way = 2 * way + u64::from(system.links.latency_cycles);
    }
    let dram = &system.dram;
    let further = system.levels.iter().map(|level| u64::from(level.latency_cycles)).sum::<u64>();
    let served = [
        system.l1.latency_cycles,
        system.l2.latency_cycles,
        dram.base_latency_cycles,
        dram.row_miss_cycles,
        system.host.memory_latency_cycles,
    ];
    let round_trip = 2 * way + served.map(u64::from).iter().sum::<u64>() + further;
    let timers = &system.timers;
    let timer = timers.drain_cycles.max(timers.epoch_cycles).max(timers.tick_cycles);
    (ROUND_TRIPS * round_trip).max(TIMER_PERIODS * u64::from(timer))
}

/// Watches for progress.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    patience_cycles: u64,
    last_progress: Cycle,
    /// The last operation that was new, while operations are examined.
    last_novelty: Cycle,
    examining: bool,
    /// When the last long computation ends.
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

    /// Something happened that cannot happen for ever.
    #[inline]
    pub(crate) fn progress(&mut self, now: Cycle) {
        self.last_progress = now;
        if self.examining {
            self.examining = false;
            self.seen.clear();
        }
    }

    /// Someone is busy for that long: no reason to lose patience.
    #[inline]
    pub(crate) fn busy(&mut self, now: Cycle, who: u32, cycles: u64) {
        if cycles.saturating_mul(LONG_TIMES) > self.patience_cycles {
            self.busy_long(now, who, cycles);
        }
    }

    #[cold]
    fn busy_long(&mut self, now: Cycle, who: u32, cycles: u64) {
        // Who pauses again and again for as long gets nowhere.
        if !self.examining || self.seen.insert(hash(("busy", who, cycles))) {
            self.busy_until = self.busy_until.max(now.saturating_add(cycles));
        }
    }

    /// Shall operations be examined?
    #[inline]
    pub(crate) fn is_examining(&self) -> bool {
        self.examining
    }

    /// When progress was last made.
    pub(crate) fn last_progress(&self) -> Cycle {
        self.last_progress
    }

    /// Examines an operation: anything that tells it from an earlier one.
    pub(crate) fn examine(&mut self, now: Cycle, operation: impl Hash) {
        if self.seen.insert(hash(operation)) {
            self.last_novelty = now;
        }
    }

    /// Until then nothing can be lost.
    pub(crate) fn lost_after(&self) -> Cycle {
        let since = match self.examining {
            true => self.last_novelty.max(self.busy_until),
            false => self.last_progress,
        };
        since.saturating_add(self.patience_cycles)
    }

    /// Has nothing progressed for too long?
    pub(crate) fn is_lost(&mut self, now: Cycle) -> bool {
        if now <= self.lost_after() {
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

    fn least(change: impl FnOnce(&mut System)) -> u64 {
        let mut system: System = toml::from_str(include_str!("../../../../systems/hlrc-8cu.toml")).unwrap();
        change(&mut system);
        least_patience(&system)
    }

    #[test]
    fn the_least_patience_is_sixteen_round_trips_or_four_periods_of_the_longest_timer() {
        let usual = least(|_| {});
        // One cycle more at a place that a round trip passes once.
        let once: [fn(&mut System); 5] = [
            |system| system.l1.latency_cycles += 1,
            |system| system.l2.latency_cycles += 1,
            |system| system.dram.base_latency_cycles += 1,
            |system| system.dram.row_miss_cycles += 1,
            |system| system.host.memory_latency_cycles += 1,
        ];
        assert_eq!(once.map(|slower| least(slower) - usual), [16; 5]);
        // There and back over as many hops as the mesh has rows and columns.
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
        assert!(two > usual, "a way between chiplets crosses two networks");
    }

    #[test]
    fn repeating_operations_lose_patience_and_new_ones_do_not() {
        let mut watch = Watch::new(100);
        assert!(!watch.is_lost(100));
        assert!(!watch.is_lost(101));
        assert!(watch.is_examining());
        watch.examine(150, (0, 1));
        watch.examine(190, (0, 2));
        watch.examine(195, (0, 1));
        assert_eq!(watch.lost_after(), 290);
        assert!(!watch.is_lost(290));
        assert!(watch.is_lost(291));
        watch.progress(291);
        assert_eq!(watch.lost_after(), 391);
        assert!(!watch.is_examining() && !watch.is_lost(391));
    }

    #[test]
    fn a_long_computation_is_waited_for_and_does_not_count_afterwards() {
        let mut watch = Watch::new(100);
        watch.busy(0, 0, 1000);
        assert!(!watch.is_lost(101) && watch.is_examining());
        assert!(!watch.is_lost(1100));
        assert!(watch.is_lost(1101));
        watch.progress(5000);
        assert!(!watch.is_lost(5101) && !watch.is_lost(5201));
        assert!(watch.is_lost(5202), "what was asked for, as nobody is busy");
    }

    #[test]
    fn pauses_of_the_same_length_again_and_again_are_no_progress() {
        let mut watch = Watch::new(100);
        let lost = (0..100).find(|round| {
            let now = round * 1000;
            watch.busy(now, 7, 900);
            watch.is_lost(now + 950)
        });
        assert_eq!(lost, Some(2), "the second pause is the last one that is new");
    }
}
