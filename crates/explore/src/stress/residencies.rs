//! The compute units on which the work-groups and wavefronts of a program run.

use super::episode::{Units, group_of};
use super::layout::{GROUPS_MAX, HOST, WAVES};
use super::order::Program;

/// The phase of a work-group's preemption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The wavefronts of the work-group run.
    Runs,
    /// The wavefronts of the work-group wait until their operations under way are complete.
    Stops,
    /// The old compute unit makes a release.
    Saves,
    /// The new compute unit makes an acquire.
    Restores,
}

/// The compute units of work-groups and wavefronts.
#[derive(Clone, Debug)]
pub(super) struct Residencies {
    /// The number of work-groups.
    pub(super) groups: u8,
    /// The compute unit of each work-group.
    pub(super) cus: [u8; GROUPS_MAX],
    units: Units,
    /// The work-group of each wavefront, or `None` for the host.
    of_waves: [Option<u8>; WAVES],
    /// The number of each wavefront among the wavefronts of its compute unit.
    wavefronts: [u8; WAVES],
    /// The hardware number of the first wavefront of each compute unit.
    first_wavefront: u8,
    pub(super) phases: [Phase; GROUPS_MAX],
    /// The wavefronts that may not issue, one bit for each.
    pub(super) stopped: u16,
    /// The number of preemptions that may still begin.
    pub(super) left: u8,
}

impl Residencies {
    /// The compute units of work-groups at the start of a program. The work-groups are assigned to
    /// the compute units in turn.
    pub(super) fn new(program: &Program, units: Units) -> Residencies {
        let mut residencies = Residencies {
            groups: program.groups,
            cus: [0; GROUPS_MAX],
            units,
            of_waves: core::array::from_fn(|wave| group_of(wave, program.groups).map(|group| group as u8)),
            wavefronts: [0; WAVES],
            first_wavefront: program.first_wavefront,
            phases: [Phase::Runs; GROUPS_MAX],
            stopped: 0,
            left: program.preemptions,
        };
        for group in 0..usize::from(program.groups) {
            residencies.cus[group] = units.cu(group) as u8;
        }
        let mut counts = [0; GROUPS_MAX];
        for wave in 0..HOST {
            if let Some(cu) = residencies.cu(wave) {
                residencies.wavefronts[wave] = counts[cu];
                counts[cu] += 1;
            }
        }
        residencies
    }

    #[inline]
    pub(super) fn group(&self, wave: usize) -> Option<usize> {
        self.of_waves[wave].map(usize::from)
    }

    /// The compute unit of a wavefront, or `None` for the host.
    #[inline]
    pub(super) fn cu(&self, wave: usize) -> Option<usize> {
        self.group(wave).map(|group| usize::from(self.cus[group]))
    }

    /// The chiplet of a wavefront, or `None` for the host.
    pub(super) fn chiplet(&self, wave: usize) -> Option<usize> {
        self.cu(wave).map(|cu| self.units.chiplet(cu))
    }

    /// The hardware number of a wavefront on its compute unit; 0 for the host.
    #[inline]
    pub(super) fn wavefront(&self, wave: usize) -> u32 {
        if wave == HOST { 0 } else { u32::from(self.first_wavefront) + u32::from(self.wavefronts[wave]) }
    }

    /// Whether a wavefront may not issue.
    #[inline]
    pub(super) fn is_stopped(&self, wave: usize) -> bool {
        self.stopped >> wave & 1 == 1
    }

    /// Whether a work-group is between two compute units.
    pub(super) fn is_moving(&self) -> bool {
        self.stopped != 0
    }

    pub(super) fn waves(&self, group: usize) -> impl Iterator<Item = usize> + use<> {
        (group..HOST).step_by(usize::from(self.groups))
    }

    /// Gives the wavefronts of an arriving work-group the first free numbers of its compute unit.
    pub(super) fn number(&mut self, group: usize) {
        let is_here = |residencies: &Residencies, wave: usize| {
            residencies.group(wave) != Some(group)
                && residencies.cu(wave) == Some(usize::from(residencies.cus[group]))
        };
        let others = (0..HOST).filter(|&wave| is_here(self, wave));
        let mut taken = others.fold(0u16, |taken, wave| taken | 1 << self.wavefronts[wave]);
        for wave in self.waves(group) {
            self.wavefronts[wave] = taken.trailing_ones() as u8;
            taken |= taken + 1;
        }
    }
}
