//! The local instructions of a thread between two accesses: arithmetic, jumps, loops.

use crate::hrf::CheckError;
use crate::hrf::plan::Plan;
use crate::program::Instr;

use super::{Iteration, Phase, State};

impl State {
    /// Runs thread `t` up to the next instruction that others see.
    pub(super) fn settle(&mut self, plan: &Plan<'_>, t: usize) -> Result<(), CheckError> {
        let code = &plan.program.threads[t].code;
        loop {
            let pc = usize::from(self.threads[t].pc);
            if pc >= code.len() {
                self.threads[t].phase = Phase::Done;
                self.threads[t].pc = code.len() as u16;
                self.threads[t].iteration = None;
                return Ok(());
            }
            if plan.threads[t].heads[pc] && !self.begin_iteration(plan, t, pc) {
                self.threads[t].phase = Phase::Stuck;
                return Ok(());
            }
            if !plan.threads[t].ops[pc].local {
                return Ok(());
            }
            let next = match &code[pc] {
                Instr::Assign { dst, value } => {
                    let value = self.eval(plan, t, value)?;
                    self.set(plan, t, Some(*dst), value);
                    pc + 1
                }
                Instr::Branch { cond, target, .. } if self.eval(plan, t, cond)? != 0 => *target,
                Instr::Jump { target } => *target,
                _ => pc + 1,
            };
            if next <= pc && !self.count_jump(plan, t, pc, next) {
                self.threads[t].phase = Phase::Cut;
                return Ok(());
            }
            self.threads[t].pc = next as u16;
        }
    }

    /// Does the iteration under way come back to `head` with nothing changed?
    fn is_fruitless(&self, plan: &Plan<'_>, t: usize, head: usize) -> bool {
        let live = plan.threads[t].live[head];
        self.threads[t].iteration.as_ref().is_some_and(|iteration| {
            usize::from(iteration.head) == head
                && self
                    .registers_of(plan, t)
                    .iter()
                    .zip(&iteration.registers)
                    .enumerate()
                    .all(|(r, (now, then))| live >> (r % 64) & 1 == 0 || now == then)
        })
    }

    /// Counts a backward jump; false if it may not be taken again.
    fn count_jump(&mut self, plan: &Plan<'_>, t: usize, pc: usize, head: usize) -> bool {
        if self.is_fruitless(plan, t, head) {
            return true;
        }
        self.threads[t].jumps[pc] += 1;
        self.threads[t].jumps[pc] <= plan.options.unroll
    }

    /// Comes to the head of a loop; false if the thread loops without touching
    /// anything.
    fn begin_iteration(&mut self, plan: &Plan<'_>, t: usize, head: usize) -> bool {
        let fruitless = self.is_fruitless(plan, t, head);
        let registers = self.registers_of(plan, t).to_vec();
        let thread = &mut self.threads[t];
        let fresh = Iteration { head: head as u16, registers, reads: Vec::new() };
        let before = thread.iteration.replace(fresh);
        if let Some(before) = before.filter(|_| fruitless) {
            if before.reads.is_empty() {
                return false;
            }
            thread.spins_on = before.reads;
        }
        true
    }

    pub(super) fn leave_iteration(&mut self, t: usize) {
        self.threads[t].iteration = None;
    }
}
