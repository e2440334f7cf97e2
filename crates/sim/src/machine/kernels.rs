//! Kernel boundaries: the acquires at the beginning of a kernel, the releases at its end, and the
//! steps that follow them.

use proto::{Agent, Boundary, KernelId, Op, Scope};

use super::Machine;
use crate::cores::instr::{Instr, Owner, RequestHead};
use crate::engine::Event;
use crate::kernels::NextPhase;
use crate::queue::Cycle;
use crate::reports::attribution::Cause;
use crate::reports::error::RunError;
use crate::reports::probe::{Probe, WaveAt};

impl<Pr: Probe> Machine<'_, Pr> {
    /// Launches a kernel for the host: tells the protocol which arrays it uses, and queues it.
    pub(super) fn launch(&mut self, now: Cycle, kernel: KernelId) {
        let launch = self.session.launch(kernel);
        self.reports.probe.launch(now, kernel, &launch.name);
        self.stations.fabric_mut().add_kernel(&launch.uses);
        self.kernels.launch(&mut self.engine, &mut self.reports, launch);
    }

    /// Begins a kernel, because its launch latency has passed. If the kernel leaves the L1s another
    /// size, it begins when they are empty.
    pub(super) fn begin_kernel(&mut self, now: Cycle) {
        if !self.split_storage(now) {
            return self.engine.at(now + 1, Event::Launch);
        }
        self.reports.times.phase_done(now, Cause::Launch);
        let written = self.host_has_written();
        self.set_between_steps(true);
        self.boundary(now, Boundary::BeginMachine, written);
    }

    /// Sends the acquire or release requests of one step of a kernel's beginning or end. The
    /// command processor sends one request, or each compute unit does.
    fn boundary(&mut self, now: Cycle, step: Boundary, host_has_written: bool) {
        let Some((kernel, agents)) = self.kernels.enter_boundary(step) else { return };
        let (op, scope) = (step.op(kernel), step.scope(host_has_written));
        for (number, agent) in (0..).zip(agents) {
            let instr = self.boundary_instr(now, Owner::Kernel(kernel), op, scope);
            self.queue_boundary(now, number, agent, instr);
        }
    }

    /// Adds an instruction for an acquire or release request at a kernel's beginning or end.
    /// Returns the instruction's number.
    pub(crate) fn boundary_instr(&mut self, now: Cycle, owner: Owner, op: Op, scope: Scope) -> u32 {
        self.cores.add(Instr::new(now, owner, RequestHead::of_boundary(op, scope), 1))
    }

    /// Releases the writes of completed kernels to the host, unless this has been done. Returns
    /// true if the host must wait for the answer.
    pub(super) fn release_to_host(&mut self, now: Cycle) -> bool {
        if self.stays_unreleased() {
            return false;
        }
        let Some(last) = self.kernels.take_unreleased() else { return false };
        let step = Boundary::EndMachine;
        let instr = self.boundary_instr(now, Owner::Release, step.op(last), step.scope(false));
        self.queue_boundary(now, 0, Agent::CommandProcessor, instr);
        true
    }

    /// Records the answer to an acquire or release request at a kernel's beginning or end. After
    /// the last answer, continues with the next step.
    pub(super) fn boundary_done(&mut self, now: Cycle) {
        if !self.kernels.answered() {
            return;
        }
        self.set_between_steps(true);
        match self.kernels.phase_done(&mut self.engine, &mut self.reports) {
            NextPhase::Wait => {}
            NextPhase::Boundary(step) => self.boundary(now, step, false),
            NextPhase::Ended(op) => self.host_completed(now, op),
        }
    }

    /// Frees the slot of a retired wavefront, and the room of its work-group if the work-group has
    /// ended. If the kernel has ended, sends the requests of its end.
    pub(super) fn wave_left(&mut self, now: Cycle, at: WaveAt, group: u32) {
        let has_group_ended = self.cores.leave(at, group);
        if !self.kernels.wave_left(&mut self.engine, has_group_ended) {
            return;
        }
        if let Err(why) = self.reports.times.kernel_ran(now) {
            return self.engine.fail(RunError::Unreconciled(why));
        }
        self.boundary(now, Boundary::EndCus, false);
    }
}
