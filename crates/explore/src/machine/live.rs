//! Liveness of a thread's registers. A register is live if a later instruction or the condition of
//! the test may read it. States that differ only in registers that are not live count as equal.

use litmus::program::{Expr, Instr, Program, Reg, Term};

/// The live registers of each thread at each position of its code, as a mask. If a thread has more
/// than 64 registers, all of them count as live.
pub(crate) fn registers(program: &Program) -> Vec<Vec<u64>> {
    let mut terms = program.state_terms();
    if let Some(filter) = &program.filter {
        filter.collect_terms(&mut terms);
    }
    let threads = program.threads.iter().enumerate();
    let of = threads.map(|(t, thread)| {
        if thread.registers.len() > 64 {
            return vec![u64::MAX; thread.code.len() + 1];
        }
        let observed = terms.iter().fold(0, |set, term| match term {
            Term::Reg(of, reg) if usize::from(of.0) == t => set | bit(*reg),
            _ => set,
        });
        of_thread(&thread.code, observed)
    });
    of.collect()
}

fn of_thread(code: &[Instr], observed: u64) -> Vec<u64> {
    let mut live = vec![observed; code.len() + 1];
    loop {
        let mut changed = false;
        for (pc, instr) in code.iter().enumerate().rev() {
            let mut after = if matches!(instr, Instr::Jump { .. }) { 0 } else { live[pc + 1] };
            if let Some(target) = instr.target() {
                after |= live[target.min(code.len())];
            }
            let mut now = after & !kills(instr);
            reads(instr, &mut |reg| now |= bit(reg));
            changed |= now != live[pc];
            live[pc] = now;
        }
        if !changed {
            return live;
        }
    }
}

/// The bit of a register in a mask. Meaningful only if the thread has at most 64 registers.
fn bit(reg: Reg) -> u64 {
    1 << (reg.0 % 64)
}

/// The registers that the instruction always overwrites.
fn kills(instr: &Instr) -> u64 {
    match instr {
        Instr::Load { dst, .. } | Instr::Assign { dst, .. } => bit(*dst),
        Instr::Rmw { dst, .. } | Instr::Await { dst, .. } => dst.map_or(0, bit),
        Instr::Cas(cas) => cas.dst.map_or(0, bit) | cas.success.map_or(0, bit),
        _ => 0,
    }
}

/// Calls `visit` for every register that the instruction reads.
pub(crate) fn reads(instr: &Instr, visit: &mut dyn FnMut(Reg)) {
    let mut of = |expr: &Expr| expr.for_each_reg(visit);
    if let Some(access) = instr.access() {
        of(&access.address);
    }
    match instr {
        Instr::Store { value, .. } | Instr::Await { value, .. } | Instr::Assign { value, .. } => of(value),
        Instr::Rmw { operand, .. } => of(operand),
        Instr::Cas(cas) => {
            of(&cas.expected);
            of(&cas.desired);
        }
        Instr::Barrier(barrier) => {
            of(&barrier.id);
            if let Some(quorum) = &barrier.quorum {
                of(quorum);
            }
        }
        Instr::Branch { cond, .. } => of(cond),
        Instr::Load { .. } | Instr::Fence(_) | Instr::Jump { .. } => {}
    }
}
