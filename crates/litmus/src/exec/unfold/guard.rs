//! Guards: the conditions under which a path is taken. A path whose guards contradict each other is
//! dropped at once.

use super::{State, Unfolder, evaluate};
use crate::exec::live::for_each_read;
use crate::exec::set::{EventSet, members};
use crate::exec::sym::{Sym, Unknown};
use crate::program::{BinaryOp, Expr, Instr, LocId, Program, RmwOp, UnaryOp, Value, address_value};

impl Unfolder<'_> {
    /// Adds a guard (a condition under which the path is taken) to the path. Returns false if the
    /// guard makes the path impossible.
    pub(super) fn admit(&self, state: &mut State, guard: Sym) -> bool {
        if let Some(value) = guard.constant() {
            return value != 0;
        }
        state.trace.guards.push(guard);
        let guard = &state.trace.guards[state.trace.guards.len() - 1];
        let mut reads = members(guard.reads());
        let (Some(read), None) = (reads.next(), reads.next()) else { return true };
        let read = read as u16;
        let passes =
            |guard: &Sym, value: Value| !matches!(guard.eval(&|_| Some(value)), Ok(0) | Err(Unknown::Never));
        if let Some((_, left)) = state.left.iter_mut().find(|(of, _)| *of == read) {
            left.retain(|&value| passes(guard, value));
            return !left.is_empty();
        }
        let held = state.trace.events[usize::from(read)]
            .loc
            .and_then(|loc| self.held[usize::from(self.program.loc(loc).physical.0)].clone());
        let exact = guard.equations().into_iter().find_map(|(_, value)| Some(vec![value.constant()?]));
        let Some(mut left) = held.or(exact) else { return true };
        let own = |guard: &&Sym| guard.reads() == EventSet::only(usize::from(read));
        for guard in state.trace.guards.iter().filter(own) {
            left.retain(|&value| passes(guard, value));
        }
        let possible = !left.is_empty();
        state.left.push((read, left));
        possible
    }

    /// Handles operations of the instruction that may have no value, such as a division by zero. An
    /// operation without a value is undefined behaviour, which ends the path. If reads decide
    /// whether an operation has a value, the path is split. Returns true if the path goes on with
    /// all values defined.
    pub(super) fn is_defined(&mut self, state: &mut State, pc: usize, instr: &Instr) -> bool {
        let mut conditions: Vec<(Sym, &'static str)> = Vec::new();
        for_each_read(instr, &mut |expr| undefined(state, expr, &mut conditions));
        for (condition, what) in conditions {
            let line = self.thread.lines.get(pc).copied().unwrap_or(0);
            let mut fault = state.clone();
            if self.admit(&mut fault, condition.clone()) {
                fault.trace.fault = Some((what, line));
                self.leave(&mut fault);
            }
            if !self.admit(state, Sym::unary(UnaryOp::Not, condition)) {
                return false;
            }
        }
        true
    }
}

/// Collects the conditions under which an operation in the expression has no value. Each condition
/// comes with a description of the error.
fn undefined(state: &State, expr: &Expr, conditions: &mut Vec<(Sym, &'static str)>) {
    match expr {
        Expr::Const(_) | Expr::Reg(_) | Expr::Addr(_) => {}
        Expr::Unary(_, a) => undefined(state, a, conditions),
        Expr::Binary(op, a, b) => {
            undefined(state, a, conditions);
            undefined(state, b, conditions);
            let compared = |op, with| {
                let b = evaluate(state, b).value;
                Sym::binary(op, b, Sym::Const(with))
            };
            match op {
                BinaryOp::Div | BinaryOp::Rem => {
                    conditions.push((compared(BinaryOp::Eq, 0), "a division by zero"));
                }
                BinaryOp::Shl | BinaryOp::Shr => {
                    let outside = Sym::binary(
                        BinaryOp::Or,
                        compared(BinaryOp::Lt, 0),
                        compared(BinaryOp::Ge, Value::from(Value::BITS)),
                    );
                    conditions.push((outside, "a shift by less than 0 or more than 63 bits"));
                }
                _ => {}
            }
        }
    }
}

/// For each word, the values that the word may hold. `None` if some write to the word writes a
/// value that is not a constant.
pub(super) fn held_values(program: &Program) -> Vec<Option<Vec<Value>>> {
    let mut held: Vec<Option<Vec<Value>>> = program.locations.iter().map(|_| Some(Vec::new())).collect();
    let mut add = |loc: LocId, value: Option<Value>| {
        let of = &mut held[usize::from(program.loc(loc).physical.0)];
        match (of.as_mut(), value) {
            (Some(values), Some(value)) => values.push(value),
            _ => *of = None,
        }
    };
    for number in 0..program.locations.len() as u16 {
        add(LocId(number), Some(program.loc(LocId(number)).init));
    }
    let number = |expr: &Expr| match expr {
        Expr::Const(value) => Some(*value),
        Expr::Addr(loc) => Some(address_value(*loc)),
        _ => None,
    };
    for instr in program.threads.iter().flat_map(|thread| &thread.code) {
        let value = match instr {
            Instr::Store { value, .. } => number(value),
            Instr::Rmw { op: RmwOp::Exchange, operand, .. } => number(operand),
            Instr::Rmw { .. } => None,
            Instr::Cas(cas) => number(&cas.desired),
            _ => continue,
        };
        let Some(access) = instr.access() else { continue };
        match access.address.as_location() {
            Some(loc) => add(loc, value),
            None => return vec![None; program.locations.len()],
        }
    }
    held
}
