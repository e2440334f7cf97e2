//! The storage that an L1 shares with the local memory of its compute unit. Each kernel leaves the
//! L1s what its work-groups do not need.
//!
//! If a kernel leaves the L1s another size than the kernel before it, the L1s evict all their lines
//! before the kernel begins: dirty bytes are written out, and clean lines are dropped. Only then does
//! the size change.

use super::Machine;
use crate::config::System;
use crate::queue::Cycle;
use crate::reports::attribution::QueueWaits;
use crate::reports::error::RunError;
use crate::reports::probe::Probe;
use crate::stations::fabric::StationId;
use crate::stations::timed::{StepInput, TimedStations};

/// Checks that the size of all L1s can change, if the machine shares their storage with the local
/// memory.
///
/// # Errors
/// If the protocol has an L1 whose size cannot change.
pub(super) fn check(system: &System, stations: &mut TimedStations) -> Result<(), RunError> {
    if system.l1.shared_with_lds_bytes.is_none() {
        return Ok(());
    }
    let ways = system.l1_ways_max();
    for station in stations.l1s() {
        if !stations.resize_l1(system, station, ways) {
            let name = stations.name(station);
            return Err(RunError::Machine(format!(
                "the size of {name} cannot change under this protocol, expected a machine without \
                 `l1.shared_with_lds_bytes`"
            )));
        }
    }
    Ok(())
}

impl<Pr: Probe> Machine<'_, Pr> {
    /// Gives the L1s the size that the kernel which is launched now leaves them. Returns false if
    /// the kernel must wait, because an L1 must change its size and still holds lines.
    pub(super) fn split_storage(&mut self, now: Cycle) -> bool {
        let Some(current) = self.kernels.current() else { return true };
        let ways = self.system.l1_ways(&current.launch.grid);
        if ways == self.l1_ways {
            return true;
        }
        let mut is_empty = true;
        for station in self.stations.l1s() {
            self.evict_all(now, station);
            is_empty &= self.stations.is_empty(station);
        }
        if !is_empty {
            return false;
        }
        for station in self.stations.l1s() {
            self.stations.resize_l1(self.system, station, ways);
        }
        self.l1_ways = ways;
        true
    }

    /// Evicts every line that a station (controller) may evict now. A line whose eviction takes
    /// several steps leaves later, and other lines of its set after it.
    fn evict_all(&mut self, now: Cycle, station: StationId) {
        self.catch_up(now, station);
        while !self.engine.has_failed()
            && let Some(way) = self.stations.fabric_mut().victim(station)
        {
            self.stations.evict(station, way);
            self.carry_out(now, station, StepInput::Timer, QueueWaits::default());
        }
    }
}
