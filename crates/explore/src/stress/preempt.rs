//! Preemption: a work-group leaves its compute unit and continues on another one.
//!
//! The wavefronts of the work-group stop issuing. When their operations under way are complete, the
//! compute unit releases as at the end of a kernel. Then another compute unit acquires as at the
//! beginning of a kernel, and the wavefronts go on there.

use super::fault::EpisodeFault;
use super::machine::Machine;
use super::order::Program;
use super::residencies::Phase;
use super::slots::Sender;
use proto::Boundary;

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
