//! Work-groups on compute units: a work-group is admitted to a compute unit, leaves it, or moves to
//! another one.

use kernel::{Coords, Grid, Launch, Session};

use crate::cores::Cores;
use crate::cores::instr::{Owner, Phase};
use crate::cores::unit::Group;
use crate::cores::wave::Stage;
use crate::reports::probe::WaveAt;

impl Cores<'_> {
    /// Whether a compute unit has a free work-group slot, and enough free wavefront slots and local
    /// memory, for a work-group of this grid.
    pub(crate) fn has_room(&self, cu: u32, grid: &Grid) -> bool {
        self.units[cu as usize].has_room(self.system, grid)
    }

    /// Admits a work-group to a compute unit. Returns the number by which the machine knows the
    /// work-group while it runs.
    pub(crate) fn admit(&mut self, cu: u32, work_group: u32, grid: &Grid) -> u32 {
        self.units[cu as usize].admit(u64::from(grid.lds_bytes));
        self.groups.insert(Group {
            number: work_group,
            waves: grid.waves,
            ended: 0,
            lds: vec![0; grid.lds_bytes as usize],
            at_barrier: Vec::new(),
        })
    }

    /// Puts a wavefront of the given age into the lowest free slot of a compute unit. Returns the
    /// slot's number on the machine, or `None` if no slot is free.
    pub(crate) fn place(
        &mut self,
        session: &Session,
        launch: &Launch,
        (cu, group): (u32, u32),
        wave: u32,
        age: u64,
    ) -> Option<u32> {
        let slot = self.units[cu as usize].take_slot()?;
        let work_group = self.groups.get(group)?.number;
        let at = Coords { work_group, wave, compute_unit: cu };
        let number = cu * self.system.cu.wavefront_slots + slot;
        let place = &mut self.waves[number as usize];
        place.task = Some(session.spawn(launch.kernel, at));
        place.at = WaveAt { cu, slot, kernel: launch.kernel, work_group, wave };
        place.group = group;
        place.age = age;
        place.stage = Stage::Idle;
        place.ended = false;
        debug_assert!(place.issue.is_idle() && place.outstanding == 0);
        Some(number)
    }

    /// Frees the slot of a retired wavefront. If this was the last wavefront of its work-group,
    /// removes the work-group, frees its room on the compute unit, and returns true.
    pub(crate) fn leave(&mut self, at: WaveAt, number: u32) -> bool {
        let unit = &mut self.units[at.cu as usize];
        unit.free(at.slot);
        let Some(group) = self.groups.get_mut(number) else { return false };
        group.ended += 1;
        if group.ended < group.waves {
            return false;
        }
        unit.dismiss(group.lds.len() as u64);
        self.groups.remove(number);
        true
    }

    /// Converts the number of a work-group in its grid to the number by which the machine knows the
    /// work-group. `None` if the work-group is not on the machine.
    pub(crate) fn group_of(&self, work_group: u32) -> Option<u32> {
        self.groups.iter().find(|(_, group)| group.number == work_group).map(|(group, _)| group)
    }

    /// The compute unit that a work-group runs on. `None` if all its wavefronts have retired.
    pub(crate) fn cu_of(&self, group: u32) -> Option<u32> {
        self.waves_of(group).first().map(|&wave| self.waves[wave as usize].at.cu)
    }

    /// The wavefronts of a work-group that have not retired, in the order of their numbers in the
    /// work-group.
    pub(crate) fn waves_of(&self, group: u32) -> Vec<u32> {
        let waves = self.waves().filter(|(_, wave)| wave.group == group && wave.is_live());
        let mut waves: Vec<u32> = waves.map(|(number, _)| number).collect();
        waves.sort_by_key(|&number| self.waves[number as usize].at.wave);
        waves
    }

    /// Whether a wavefront has no outstanding instruction, and no operation that the issue rule has
    /// held back. An instruction that waits at a barrier does not count as outstanding.
    pub(crate) fn is_at_rest(&self, number: u32) -> bool {
        let of_wave = self.instrs.iter().filter(|(_, instr)| instr.owner == Owner::Wave(number));
        let mut under_way = of_wave.filter(|(_, instr)| instr.phase != Phase::BarrierWait);
        under_way.next().is_none() && !matches!(self.waves[number as usize].stage, Stage::Held(_))
    }

    /// Moves a work-group to the compute unit `cu`. Returns the moved wavefronts, or `None` if this
    /// compute unit has too few free slots.
    pub(crate) fn move_group(&mut self, group: u32, cu: u32) -> Option<Vec<MovedWave>> {
        let (from, waves) = (self.cu_of(group)?, self.waves_of(group));
        if self.units[cu as usize].free_slots() < waves.len() {
            return None;
        }
        let lds_bytes = self.groups.get(group)?.lds.len() as u64;
        self.units[from as usize].dismiss(lds_bytes);
        self.units[cu as usize].admit(lds_bytes);
        waves.into_iter().map(|wave| self.move_wave(wave, cu)).collect()
    }

    /// Moves a wavefront into the lowest free slot of a compute unit. Returns its old and new
    /// slots, or `None` if no slot is free.
    fn move_wave(&mut self, from: u32, cu: u32) -> Option<MovedWave> {
        let slot = self.units[cu as usize].take_slot()?;
        let to = cu * self.system.cu.wavefront_slots + slot;
        let left = self.waves[from as usize].at;
        self.units[left.cu as usize].free(left.slot);
        self.waves.swap(from as usize, to as usize);
        for (number, (cu, slot)) in [(from, (left.cu, left.slot)), (to, (cu, slot))] {
            let at = &mut self.waves[number as usize].at;
            (at.cu, at.slot) = (cu, slot);
        }
        for instr in self.instrs.iter_mut() {
            if instr.owner == Owner::Wave(from) {
                instr.owner = Owner::Wave(to);
            }
        }
        let units = self.system.cu.simd_units;
        Some(MovedWave { from, to, simd: cu * units + slot % units })
    }
}

/// A wavefront that was moved to another slot, with its old slot, its new slot and its new SIMD
/// unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MovedWave {
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// The SIMD unit of the slot to which the wavefront was moved.
    pub(crate) simd: u32,
}
