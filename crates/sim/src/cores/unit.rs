//! Compute units, and the work-groups on them.

use kernel::Grid;

use crate::config::System;
use crate::queue::Cycle;

/// A compute unit.
#[derive(Debug)]
pub(crate) struct Cu {
    /// Free wavefront slots in descending order; the lowest is taken first.
    free_slots: Vec<u32>,
    groups: u32,
    lds_bytes: u64,
    pub(super) lds_free_at: Cycle,
}

impl Cu {
    /// A compute unit without work.
    pub(super) fn new(system: &System) -> Cu {
        Cu {
            free_slots: (0..system.cu.wavefront_slots).rev().collect(),
            groups: 0,
            lds_bytes: 0,
            lds_free_at: 0,
        }
    }

    /// Has it a place for a work-group of that grid?
    pub(super) fn has_room(&self, system: &System, grid: &Grid) -> bool {
        self.free_slots.len() >= grid.waves as usize
            && self.groups < system.cu.work_group_slots
            && self.lds_bytes + u64::from(grid.lds_bytes) <= system.lds.bytes
    }

    /// How many wavefronts can come.
    pub(super) fn free_slots(&self) -> usize {
        self.free_slots.len()
    }

    /// A work-group comes.
    pub(super) fn admit(&mut self, lds_bytes: u64) {
        self.groups += 1;
        self.lds_bytes += lds_bytes;
    }

    /// A work-group leaves.
    pub(super) fn dismiss(&mut self, lds_bytes: u64) {
        self.groups -= 1;
        self.lds_bytes -= lds_bytes;
    }

    /// Takes the lowest free slot for a wavefront.
    pub(super) fn take_slot(&mut self) -> Option<u32> {
        self.free_slots.pop()
    }

    /// A wavefront has left its slot.
    pub(super) fn free(&mut self, slot: u32) {
        let behind = self.free_slots.partition_point(|&other| other > slot);
        self.free_slots.insert(behind, slot);
    }
}

/// A work-group on the machine.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) number: u32,
    pub(crate) waves: u32,
    pub(crate) ended: u32,
    pub(crate) lds: Vec<u8>,
    /// The barrier instructions of the wavefronts that wait.
    pub(crate) at_barrier: Vec<u32>,
}
