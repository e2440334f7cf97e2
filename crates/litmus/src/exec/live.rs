//! Liveness of registers: finds the registers whose values may still be read.

use crate::program::{Expr, Fence, Instr, Program, Term, ThreadId};

/// For each position in the thread's code and for the end of the code, whether each register is
/// live. A register is live if its value may still be used: by a later instruction, as a part of
/// the final state, or by the test's filter on final states.
pub(crate) fn live_registers(program: &Program, id: ThreadId) -> Vec<Vec<bool>> {
    let thread = program.thread(id);
    let count = thread.registers.len();
    let end = thread.code.len();
    let mut live = vec![vec![false; count]; end + 1];
    let mut terms = program.state_terms();
    if let Some(filter) = &program.filter {
        filter.collect_terms(&mut terms);
    }
    for term in terms {
        if let Term::Reg(thread, reg) = term
            && thread == id
        {
            live[end][usize::from(reg.0)] = true;
        }
    }
    loop {
        let mut changed = false;
        for at in (0..end).rev() {
            let instr = &thread.code[at];
            let mut here = match instr {
                Instr::Jump { target } => live[(*target).min(end)].clone(),
                Instr::Branch { target, .. } => {
                    let mut both = live[at + 1].clone();
                    both.iter_mut().zip(&live[(*target).min(end)]).for_each(|(a, b)| *a |= b);
                    both
                }
                _ => live[at + 1].clone(),
            };
            kill(instr, &mut here);
            for_each_read(instr, &mut |expr| {
                expr.for_each_reg(&mut |reg| here[usize::from(reg.0)] = true);
            });
            if here != live[at] {
                live[at] = here;
                changed = true;
            }
        }
        if !changed {
            return live;
        }
    }
}

fn kill(instr: &Instr, live: &mut [bool]) {
    let mut set = |reg: Option<crate::program::Reg>| {
        if let Some(reg) = reg {
            live[usize::from(reg.0)] = false;
        }
    };
    match instr {
        Instr::Load { dst, .. } | Instr::Assign { dst, .. } => set(Some(*dst)),
        Instr::Rmw { dst, .. } | Instr::Await { dst, .. } => set(*dst),
        Instr::Cas(cas) => {
            set(cas.dst);
            set(cas.success);
        }
        _ => {}
    }
}

/// Calls `visit` with each expression that the instruction evaluates.
pub(crate) fn for_each_read(instr: &Instr, visit: &mut dyn FnMut(&Expr)) {
    if let Some(access) = instr.access() {
        visit(&access.address);
    }
    match instr {
        Instr::Store { value, .. } | Instr::Assign { value, .. } | Instr::Await { value, .. } => visit(value),
        Instr::Rmw { operand, .. } => visit(operand),
        Instr::Cas(cas) => {
            visit(&cas.expected);
            visit(&cas.desired);
        }
        Instr::Branch { cond, .. } => visit(cond),
        Instr::Barrier(barrier) => {
            visit(&barrier.id);
            if let Some(quorum) = &barrier.quorum {
                visit(quorum);
            }
        }
        Instr::Fence(Fence { section: Some(section), .. }) => {
            visit(&section.address);
            if let Some(key) = &section.key {
                visit(key);
            }
        }
        Instr::Load { .. } | Instr::Fence(_) | Instr::Jump { .. } => {}
    }
}
