//! Compute units and their work-groups.

use kernel::Grid;

use crate::config::System;
use crate::queue::Cycle;

/// A compute unit: its free wavefront slots, work-group slots and local memory.
#[derive(Debug)]
pub(crate) struct Cu {
    /// The free wavefront slots in descending order, so that the lowest slot is at the end and is
    /// taken first.
    free_slots: Vec<u32>,
    groups: u32,
    lds_bytes: u64,
    pub(super) lds_free_at: Cycle,
}

impl Cu {
    /// A compute unit without work-groups.
    pub(super) fn new(system: &System) -> Cu {
        Cu {
            free_slots: (0..system.cu.wavefront_slots).rev().collect(),
            groups: 0,
            lds_bytes: 0,
            lds_free_at: 0,
        }
    }

    /// Whether the compute unit has a free work-group slot, and enough free wavefront slots and
    /// local memory, for a work-group of this grid.
    pub(super) fn has_room(&self, system: &System, grid: &Grid) -> bool {
        self.free_slots.len() >= grid.waves as usize
            && self.groups < system.cu.work_group_slots
            && self.lds_bytes + u64::from(grid.lds_bytes) <= system.lds.bytes
    }

    /// The number of free wavefront slots.
    pub(super) fn free_slots(&self) -> usize {
        self.free_slots.len()
    }

    /// Reserves a work-group slot and local memory for a work-group.
    pub(super) fn admit(&mut self, lds_bytes: u64) {
        self.groups += 1;
        self.lds_bytes += lds_bytes;
    }

    /// Frees the work-group slot and the local memory of a work-group.
    pub(super) fn dismiss(&mut self, lds_bytes: u64) {
        self.groups -= 1;
        self.lds_bytes -= lds_bytes;
    }

    /// Takes the lowest free wavefront slot. `None` if no slot is free.
    pub(super) fn take_slot(&mut self) -> Option<u32> {
        self.free_slots.pop()
    }

    /// Frees the slot of a wavefront.
    pub(super) fn free(&mut self, slot: u32) {
        let behind = self.free_slots.partition_point(|&other| other > slot);
        self.free_slots.insert(behind, slot);
    }
}

/// A work-group that runs on the machine.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) number: u32,
    pub(crate) waves: u32,
    pub(crate) ended: u32,
    pub(crate) lds: Vec<u8>,
    /// The barrier instructions of the wavefronts that wait at the barrier.
    pub(crate) at_barrier: Vec<u32>,
}
