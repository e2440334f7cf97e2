//! The latencies and the throughput of stations (the controllers of the protocol).

use core::num::NonZeroU32;

use proto::Uses;

use crate::config::{Invalidation, Per, System};

/// The latencies and the throughput of the stations (controllers) of one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StationTiming {
    /// Cycles from the arrival of an access until its messages and answers leave.
    pub(crate) latency_cycles: u64,
    /// Cycles of the way from the core to the station (controller) and back. They are added to each
    /// answer.
    pub(crate) path_cycles: u64,
    /// Cycles for which one access occupies the station (controller).
    pub(crate) occupancy_cycles: u64,
    /// The minimum number of cycles between two atomics on one line.
    pub(crate) atomic_cycles: u64,
    /// Cycles for which one atomic occupies the station (controller), whatever its words. `None` if
    /// the machine description says nothing about the occupancy of atomics. An access with an atomic
    /// then occupies the station as any other access, and an atomic that another input wakes does
    /// not occupy it.
    pub(crate) atomic_occupancy_cycles: Option<u64>,
    /// The number of words that the station (controller) updates by atomics in one cycle. `None` if
    /// it updates any number.
    pub(crate) atomic_words_per_cycle: Option<NonZeroU32>,
    /// Cycles of the path to memory in each direction, not counting the network.
    pub(crate) memory_path_cycles: u64,
    /// Cycles of an invalidation: of all lines together, or of each line if `is_walked`.
    pub(crate) invalidate_cycles: u64,
    /// Whether an invalidation removes lines one after the other.
    pub(crate) is_walked: bool,
    /// Cycles that the cache takes to find its dirty lines at the beginning of a flush.
    pub(crate) flush_cycles: u64,
    /// The number of requests from cores that may enter a station (controller) in one cycle.
    pub(crate) ports: u32,
}

impl StationTiming {
    /// The cycles for which an access occupies the station (controller). `uses` counts what the
    /// access does there.
    #[inline]
    pub(crate) fn occupancy(&self, uses: &Uses) -> u64 {
        match self.atomic_occupancy_cycles {
            Some(each) if uses.atomics > 0 => {
                let words =
                    self.atomic_words_per_cycle.map_or(0, |each| uses.atomic_words.div_ceil(each.get()));
                (u64::from(uses.atomics) * each).max(u64::from(words))
            }
            _ => self.occupancy_cycles,
        }
    }

    /// Whether the atomics of a step occupy the station (controller), whatever the step's input.
    #[inline]
    pub(crate) fn charges_atomics(&self, uses: &Uses) -> bool {
        uses.atomics > 0 && self.atomic_occupancy_cycles.is_some()
    }

    /// The cycles from the begin of the first atomic of a step to the begin of its last one.
    #[inline]
    pub(crate) fn before_last_atomic(&self, uses: &Uses) -> u64 {
        let each = self.atomic_occupancy_cycles.unwrap_or(0).max(self.atomic_cycles);
        u64::from(uses.atomics.saturating_sub(1)) * each
    }

    /// The timing of the level with this name, from its section of the machine description. Without
    /// such a section, a level other than `l1`, `l2` and `host` has a latency of one cycle.
    pub(crate) fn of(system: &System, level: &str) -> StationTiming {
        let (l1, l2) = (&system.l1, &system.l2);
        let declared = system.levels.iter().find(|declared| declared.name == level);
        let path = if level == "host" { system.host.memory_latency_cycles.div_ceil(2) } else { 0 };
        let is_first = declared.is_some_and(|declared| declared.per == Per::Cu);
        let (latency, occupancy, atomic) = match (declared, level) {
            // The port of a first-level cache already limits its requests in each cycle. An access
            // therefore does not occupy the station as well.
            (Some(level), _) if is_first => (level.latency_cycles, 0, 0),
            (Some(level), _) => (level.latency_cycles, level.occupancy_cycles, level.atomic_cycles),
            (None, "l1") => (l1.latency_cycles, 0, 0),
            (None, "l2") => (l2.latency_cycles, l2.occupancy_cycles, l2.atomic_cycles),
            (None, "host") => (0, 0, 0),
            (None, _) => (1, 0, 0),
        };
        let (atomic_occupancy, words) = match (declared, level) {
            (None, "l2") => (l2.atomic_occupancy_cycles, l2.atomic_words_per_cycle),
            _ => (None, 0),
        };
        let (invalidation, invalidate, ports) = match (declared, level) {
            (Some(level), _) => (level.invalidation, level.invalidate_cycles, level.ports),
            (None, "l1") => (l1.invalidation, l1.invalidate_cycles, l1.ports),
            (None, _) => (Invalidation::Flash, 0, l1.ports),
        };
        let line_bytes = u64::from(l1.line_bytes.max(1));
        let flush_cycles = match (declared, level) {
            (None, "l1") => l1_flush_cycles(system, l1.ways),
            (None, "l2") => l2.flush_walk.cycles(l2.bytes / line_bytes / u64::from(l2.banks.max(1)), l2.ways),
            _ => 0,
        };
        StationTiming {
            latency_cycles: u64::from(latency),
            path_cycles: if level == "l1" { u64::from(l1.path_cycles) } else { 0 },
            occupancy_cycles: u64::from(occupancy),
            atomic_cycles: u64::from(atomic),
            atomic_occupancy_cycles: atomic_occupancy.or((words > 0).then_some(occupancy)).map(u64::from),
            atomic_words_per_cycle: NonZeroU32::new(words),
            memory_path_cycles: u64::from(path),
            invalidate_cycles: u64::from(invalidate),
            is_walked: invalidation == Invalidation::Walked,
            flush_cycles,
            ports,
        }
    }
}

/// The cycles that an L1 with `ways` lines in each set takes to find its dirty lines at the beginning
/// of a flush.
pub(crate) fn l1_flush_cycles(system: &System, ways: u32) -> u64 {
    system.l1.flush_walk.cycles(u64::from(system.l1_sets()) * u64::from(ways), ways)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{FlushWalk, L2Spec};

    fn system() -> System {
        toml::from_str(include_str!("../../../../systems/hrf-8cu.toml")).unwrap()
    }

    #[test]
    fn a_first_level_is_limited_only_by_its_port() {
        let timing = |per: &str| {
            let level = format!(
                "name = \"read\"\nper = \"{per}\"\nlatency_cycles = 20\noccupancy_cycles = 9\natomic_cycles = 4"
            );
            let level = toml::from_str(&level).unwrap();
            let timing = StationTiming::of(&System { levels: vec![level], ..system() }, "read");
            (timing.latency_cycles, timing.occupancy_cycles, timing.atomic_cycles)
        };
        assert_eq!((timing("cu"), timing("chiplet")), ((20, 0, 0), (20, 9, 4)));
    }

    #[test]
    fn an_atomic_occupies_a_bank_for_its_sector_and_for_its_words() {
        let occupancies = |atomic_occupancy_cycles, atomic_words_per_cycle| {
            let mut system = system();
            system.l2 =
                L2Spec { occupancy_cycles: 2, atomic_occupancy_cycles, atomic_words_per_cycle, ..system.l2 };
            let timing = StationTiming::of(&system, "l2");
            let of =
                |atomics, atomic_words| timing.occupancy(&Uses { atomics, atomic_words, ..Uses::default() });
            [of(0, 0), of(1, 1), of(1, 7), of(1, 8), of(3, 3)]
        };
        assert_eq!(occupancies(None, 0), [2; 5]);
        assert_eq!(occupancies(Some(3), 0), [2, 3, 3, 3, 9]);
        assert_eq!(occupancies(None, 2), [2, 2, 4, 4, 6]);
        assert_eq!(occupancies(Some(1), 1), [2, 1, 7, 8, 3]);
    }

    #[test]
    fn a_walk_takes_a_cycle_for_each_line_or_each_set() {
        let timing = |level: &str, walk| {
            let mut system = system();
            (system.l1.flush_walk, system.l2.flush_walk) = (walk, walk);
            StationTiming::of(&system, level).flush_cycles
        };
        assert_eq!(
            [FlushWalk::None, FlushWalk::Lines, FlushWalk::Sets].map(|walk| timing("l1", walk)),
            [0, 512, 32]
        );
        // A bank has a sixteenth of 2 MB.
        assert_eq!([FlushWalk::Lines, FlushWalk::Sets].map(|walk| timing("l2", walk)), [2048, 128]);
        assert_eq!(timing("host", FlushWalk::Lines), 0);
    }
}
