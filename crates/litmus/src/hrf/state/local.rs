//! Executes the instructions of a thread that other threads cannot observe: arithmetic and jumps.
//! Detects loop iterations without an effect.

use crate::hrf::CheckError;
use crate::hrf::plan::Plan;
use crate::program::Instr;

use super::{Iteration, Phase, State};

impl State {
    /// Runs thread `t` until its next instruction is one that other threads can observe, or until
    /// it ends.
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

    /// Whether the current iteration of the loop with the head `head` ends without an effect: it
    /// wrote nothing, and the live registers have the values that they had at the start of the
    /// iteration.
    fn has_no_effect(&self, plan: &Plan<'_>, t: usize, head: usize) -> bool {
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

    /// Counts a backward jump at `pc`, unless the loop iteration before this jump had no effect.
    /// Returns false if the thread has now taken the jump more often than the options allow.
    fn count_jump(&mut self, plan: &Plan<'_>, t: usize, pc: usize, head: usize) -> bool {
        if self.has_no_effect(plan, t, head) {
            return true;
        }
        self.threads[t].jumps[pc] += 1;
        self.threads[t].jumps[pc] <= plan.options.unroll
    }

    /// Begins an iteration of a loop. Returns false if the previous iteration had no effect and
    /// made no access, because the thread then loops for ever.
    fn begin_iteration(&mut self, plan: &Plan<'_>, t: usize, head: usize) -> bool {
        let no_effect = self.has_no_effect(plan, t, head);
        let registers = self.registers_of(plan, t).to_vec();
        let thread = &mut self.threads[t];
        let fresh = Iteration { head: head as u16, registers, reads: Vec::new() };
        let before = thread.iteration.replace(fresh);
        if let Some(before) = before.filter(|_| no_effect) {
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
