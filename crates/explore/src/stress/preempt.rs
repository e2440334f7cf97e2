//! Preemption: a work-group leaves its compute unit and continues on another one.
//!
//! The wavefronts of the work-group stop issuing. When their operations under way are complete, the
//! compute unit releases as at the end of a kernel. Then another compute unit acquires as at the
//! beginning of a kernel, and the wavefronts go on there.

use super::episode::group_of;
use super::fault::EpisodeFault;
use super::layout::{GROUPS_MAX, HOST, WAVES};
use super::machine::Machine;
use super::order::Program;
use super::slots::Sender;
use proto::Boundary;

/// The phase of a work-group's preemption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
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
    groups: u8,
    /// The compute unit of each work-group.
    cus: [u8; GROUPS_MAX],
    /// The number of each wavefront among the wavefronts of its compute unit.
    pub(super) wavefronts: [u8; WAVES],
    phases: [Phase; GROUPS_MAX],
    /// The wavefronts that may not issue, one bit for each.
    stopped: u16,
    /// The number of preemptions that may still begin.
    pub(super) left: u8,
}

impl Residencies {
    /// The compute units of work-groups at the start of a program. The work-groups are assigned to
    /// the compute units in turn.
    pub(super) fn new(program: &Program, cus: u16) -> Residencies {
        let mut residencies = Residencies {
            groups: program.groups,
            cus: [0; GROUPS_MAX],
            wavefronts: [0; WAVES],
            phases: [Phase::Runs; GROUPS_MAX],
            stopped: 0,
            left: program.preemptions,
        };
        for group in 0..usize::from(program.groups) {
            residencies.cus[group] = (group % usize::from(cus)) as u8;
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

    pub(super) fn group(&self, wave: usize) -> Option<usize> {
        group_of(wave, self.groups)
    }

    /// The compute unit of a wavefront, or `None` for the host.
    #[inline]
    pub(super) fn cu(&self, wave: usize) -> Option<usize> {
        self.group(wave).map(|group| usize::from(self.cus[group]))
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

    fn waves(&self, group: usize) -> impl Iterator<Item = usize> + use<> {
        (group..HOST).step_by(usize::from(self.groups))
    }

    /// Gives the wavefronts of an arriving work-group the first free numbers of its compute unit.
    fn number(&mut self, group: usize) {
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

impl Machine {
    /// Draws a work-group and begins its preemption, unless the work-group has ended or a
    /// preemption of it is under way.
    pub(super) fn preempt(&mut self, program: &Program) -> Result<(), EpisodeFault> {
        let group = self.draws.below(usize::from(self.residencies.groups));
        let has_ended = self.residencies.waves(group).all(|wave| self.waves[wave].is_done());
        if has_ended || self.residencies.phases[group] != Phase::Runs || self.topology().cus < 2 {
            return Ok(());
        }
        self.residencies.left -= 1;
        self.ran.preemptions += 1;
        self.residencies.phases[group] = Phase::Stops;
        self.residencies.stopped |= self.residencies.waves(group).fold(0, |set, wave| set | 1 << wave);
        self.stop(group, program)
    }

    /// Continues a preemption after an answer to a stopped wavefront of the preempted work-group.
    pub(super) fn stopped(&mut self, wave: usize, program: &Program) -> Result<(), EpisodeFault> {
        self.residencies.group(wave).map_or(Ok(()), |group| self.stop(group, program))
    }

    /// Lets the compute unit of a work-group release, if no operation of the group is under way.
    fn stop(&mut self, group: usize, program: &Program) -> Result<(), EpisodeFault> {
        let is_idle = self.residencies.waves(group).all(|wave| self.waves[wave].is_idle());
        if !is_idle || self.residencies.phases[group] != Phase::Stops {
            return Ok(());
        }
        self.residencies.phases[group] = Phase::Saves;
        self.ask_boundary_of(group, Boundary::EndCus, program)
    }

    /// Continues the preemption of a work-group after the release or the acquire of a compute unit
    /// has been answered.
    pub(super) fn moved(&mut self, group: usize, program: &Program) -> Result<(), EpisodeFault> {
        if self.residencies.phases[group] == Phase::Saves {
            let cus = usize::from(self.topology().cus);
            let further = 1 + self.draws.below(cus - 1);
            self.residencies.cus[group] = ((usize::from(self.residencies.cus[group]) + further) % cus) as u8;
            self.residencies.number(group);
            self.residencies.phases[group] = Phase::Restores;
            return self.ask_boundary_of(group, Boundary::BeginCus, program);
        }
        self.residencies.phases[group] = Phase::Runs;
        for wave in self.residencies.waves(group) {
            self.residencies.stopped &= !(1 << wave);
            self.wake(wave);
        }
        Ok(())
    }

    /// Makes the request of a work-group's compute unit at this boundary (beginning or end) of the
    /// running kernel.
    fn ask_boundary_of(
        &mut self,
        group: usize,
        boundary: Boundary,
        program: &Program,
    ) -> Result<(), EpisodeFault> {
        let cu = usize::from(self.residencies.cus[group]);
        self.ask_boundary((boundary, false), cu, Sender::Group(group as u8), program)
    }
}
