//! Kernel boundaries in a machine that follows a script of moves.
//!
//! A program is divided into steps: the requests at one kernel boundary (a kernel's beginning or
//! end), or the code that runs after them. A move of the script begins each step.

use proto::{Agent, Boundary};

use crate::cores::instr::Owner;
use crate::cores::wave::{Stage, Wave};
use crate::engine::Event;
use crate::kernels::KernelPhase;
use crate::led::moves::{Move, ScriptKernel};
use crate::machine::Machine;
use crate::queue::Cycle;
use crate::reports::probe::Probe;

impl<Pr: Probe> Machine<'_, Pr> {
    fn led_kernels(&self) -> Option<&[ScriptKernel]> {
        self.script.as_ref().and_then(|script| script.kernels.as_deref())
    }

    /// Records that a step of the program (the requests at a kernel boundary, or the code after
    /// them) has ended (true) or that the next step has begun (false). While the value is true, the
    /// machine waits for the move of the script that begins the next step.
    pub(crate) fn set_between_steps(&mut self, is_between_steps: bool) {
        if let Some(script) = self.script.as_mut().filter(|script| script.orders_boundaries()) {
            script.is_between_steps = is_between_steps;
        }
    }

    pub(crate) fn is_between_steps(&self) -> bool {
        self.script.as_ref().is_some_and(|script| script.is_between_steps)
    }

    /// Whether the host has written to memory since the last kernel began. If the script of moves
    /// that the run follows lists the current kernel, the answer comes from this script.
    pub(crate) fn host_has_written(&mut self) -> bool {
        let written = self.host.take_written();
        let number = self.kernels.number().map(|kernel| usize::from(kernel.0));
        let led = self.led_kernels().zip(number).and_then(|(kernels, number)| kernels.get(number));
        led.map_or(written, |kernel| kernel.host_has_written)
    }

    /// Whether the script of moves lets the host make its next access before the writes of the last
    /// kernel are released to the host.
    pub(crate) fn stays_unreleased(&self) -> bool {
        let last = self.kernels.unreleased().map(|kernel| usize::from(kernel.0));
        let led = self.led_kernels().zip(last).and_then(|(kernels, last)| kernels.get(last));
        led.is_some_and(|kernel| !kernel.is_released)
    }

    /// Whether the current kernel comes after all kernels that the script of moves lists.
    pub(crate) fn is_after_script(&self) -> bool {
        let number = self.kernels.number().map(|kernel| usize::from(kernel.0));
        self.led_kernels().zip(number).is_some_and(|(kernels, number)| number >= kernels.len())
    }

    /// Queues an acquire or release request at a kernel's beginning or end. If moves (steps of the
    /// script) order these requests, the request is held until a move names it.
    pub(crate) fn queue_boundary(&mut self, now: Cycle, number: u32, agent: Agent, instr: u32) {
        match self.script.as_mut().filter(|script| script.orders_boundaries()) {
            Some(script) => script.boundary.push((number, agent, instr)),
            None => self.queue_order(now, agent, instr),
        }
    }

    /// Makes the held acquire or release request of one agent (a compute unit or the command
    /// processor) at a kernel's beginning or end. `number` is the number by which the script names
    /// the agent. Returns `None` if no such request can be made now.
    pub(crate) fn make_boundary(&mut self, now: Cycle, number: u32) -> Option<&'static str> {
        let script = self.script.as_mut().filter(|script| !script.is_between_steps)?;
        let at = script.boundary.iter().position(|&(other, ..)| other == number)?;
        let (_, agent, instr) = script.boundary.remove(at);
        self.queue_order(now, agent, instr);
        Some("")
    }

    /// Makes the move (a step of the script) that begins the next step of the program: requests at
    /// a kernel boundary, or the code after them. Returns `None` if this move is not possible.
    pub(crate) fn make_next(&mut self, now: Cycle, held: &mut Vec<Event>) -> Option<&'static str> {
        if self.is_between_steps() {
            self.set_between_steps(false);
            return Some("");
        }
        if !self.may_end_kernel() {
            return None;
        }
        let (last, rest) = held.drain(..).partition(|&event| self.is_last(event));
        *held = rest;
        let last: Vec<Event> = last;
        last.into_iter().for_each(|event| self.happen(now, event));
        Some("")
    }

    /// Whether wavefronts and the host may issue operations now.
    pub(crate) fn may_issue(&self) -> bool {
        let current = self.kernels.current();
        let orders_boundaries = self.script.as_ref().is_some_and(|script| script.orders_boundaries());
        !orders_boundaries
            || !self.is_between_steps() && current.is_none_or(|current| current.phase == KernelPhase::Running)
    }

    /// Whether the current kernel may end: all its threads have ended, and the script of moves says
    /// that the program continues after this kernel.
    fn may_end_kernel(&self) -> bool {
        let Some(current) = self.kernels.current() else { return false };
        let number = usize::from(current.launch.kernel.0);
        let led = self.led_kernels().and_then(|kernels| kernels.get(number));
        let is_followed = led.is_some_and(|kernel| kernel.is_followed);
        is_followed && current.phase == KernelPhase::Running && self.are_threads_done()
    }

    /// Whether all threads have ended, and no acquire or release at a kernel's beginning or end is
    /// outstanding.
    pub(crate) fn is_program_over(&self) -> bool {
        let step = self.kernels.current().map(|current| current.phase);
        let is_at_boundary = matches!(step, Some(KernelPhase::Boundary(_)));
        self.are_threads_done() && !is_at_boundary
    }

    /// Whether all wavefronts (also those of preempted work-groups) and the host have ended.
    fn are_threads_done(&self) -> bool {
        let is_done = |wave: &Wave| {
            let is_live = wave.is_live();
            let is_last = wave.stage == Stage::Arithmetic(None) && wave.pending.is_empty();
            !is_live || is_last && wave.outstanding == 0
        };
        let is_preempted = self.script.as_ref().is_some_and(|script| !script.preempted.is_empty());
        self.cores.waves().all(|(_, wave)| is_done(wave)) && !self.host.is_at_work() && !is_preempted
    }

    /// The possible moves (steps of a script) that begin the next step of the program, make a
    /// request at a kernel boundary, or resume a preempted work-group. These moves name no held
    /// event (an event that waits for a move).
    pub(crate) fn open_without_events(&self) -> Vec<Move> {
        let Some(script) = &self.script else { return Vec::new() };
        let mut open = Vec::new();
        if script.is_between_steps || self.may_end_kernel() {
            open.push(Move::Next);
        } else {
            open.extend(script.boundary.iter().map(|&(agent, ..)| Move::Boundary { agent }));
        }
        open.extend(self.resumes());
        open
    }

    /// Queues an acquire or release for a single work-group. The compute unit of the work-group
    /// makes it, with the same request as at a kernel's beginning or end.
    pub(crate) fn queue_for_group(&mut self, now: Cycle, group: u32, boundary: Boundary) {
        let Some(kernel) = self.kernels.number() else { return };
        let Some(cu) = self.cores.cu_of(group) else { return };
        let (op, scope) = (boundary.op(kernel), boundary.scope(false));
        let instr = self.boundary_instr(now, Owner::Group(group), op, scope);
        if !self.holds_back(instr) {
            self.queue_order(now, Agent::Cu(cu as u16), instr);
        }
    }
}
