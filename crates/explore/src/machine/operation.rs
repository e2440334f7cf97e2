//! The request that an instruction of a program makes.

use litmus::program::{Expr, Instr, Level, RmwOp, ScopeId};
use proto::issue::IssueKind;
use proto::{
    ArrayId, ByteMask, Hints, Issuer, LineAddr, LineData, Op, Order, Request, Rmw, RmwKind, Scope, Width,
};

use crate::machine::kernels::array_of;
use crate::machine::placement::WORD;
use crate::machine::thread::{Code, ThreadError, ThreadState, bits};

impl Code {
    /// The request of the instruction, or `None` if the instruction makes none in this state of the
    /// thread.
    pub(crate) fn operation(
        &self,
        thread: usize,
        state: &ThreadState,
        instr: &Instr,
    ) -> Result<Option<(Request, IssueKind)>, ThreadError> {
        let eval = |expr: &Expr| {
            expr.eval(&state.registers).map_err(|error| ThreadError::BadValue(format!("P{thread}: {error}")))
        };
        let bits = |value| bits(value).map_err(ThreadError::BadValue);
        let rmw = |kind, uses_value| Op::Rmw(Rmw { kind, width: Width::W4, uses_value });
        let (op, kind, data) = match instr {
            Instr::Load { .. } | Instr::Await { .. } => (Op::Load, IssueKind::Load, 0),
            Instr::Store { value, .. } => (Op::Store, IssueKind::Store, bits(eval(value)?)?),
            Instr::Rmw { dst, op, operand, .. } => {
                let operand = bits(eval(operand)?)?;
                let kind = rmw_kind(*op).ok_or_else(|| {
                    ThreadError::Unsupported(format!("P{thread}: no cache performs {op:?}"))
                })?;
                (rmw(kind, dst.is_some()), IssueKind::Rmw, operand)
            }
            Instr::Cas(cas) => {
                let expected = bits(eval(&cas.expected)?)?;
                let is_used = cas.dst.is_some() || cas.success.is_some();
                let kind = rmw(RmwKind::CompareExchange { expected }, is_used);
                (kind, IssueKind::Rmw, bits(eval(&cas.desired)?)?)
            }
            Instr::Fence(fence) => {
                let scope = fence.scope.map_or(Scope::SYSTEM, |scope| self.scope(scope));
                let request = self.fence((thread, state), fence.order, scope, fence.remote);
                return Ok(Some((request, IssueKind::Fence)));
            }
            Instr::Barrier(barrier) => {
                let order = match state.phase {
                    0 if barrier.order.releases() => Order::Release,
                    2 if barrier.order.acquires() => Order::Acquire,
                    _ => return Ok(None),
                };
                let request = self.fence((thread, state), order, self.scope(barrier.scope), false);
                return Ok(Some((request, IssueKind::Fence)));
            }
            Instr::Assign { .. } | Instr::Branch { .. } | Instr::Jump { .. } => return Ok(None),
        };
        let Some(access) = instr.access() else { return Ok(None) };
        let address = eval(&access.address)?;
        let loc = litmus::program::value_address(address);
        let loc = loc.filter(|loc| usize::from(loc.0) < self.words.len());
        let loc = loc.ok_or_else(|| {
            ThreadError::BadValue(format!("P{thread} accesses {address}, outside the program's memory"))
        })?;
        let word = self.word(loc);
        let mut bytes = LineData::default();
        bytes.write(word.offset, Width::W4, data);
        let request = Request {
            op,
            order: access.order,
            scope: access.scope.map_or(Scope::DEVICE, |scope| self.scope(scope)),
            issuer: self.issuer(thread, state),
            hints: Hints { remote: access.remote, commutative: access.commutative },
            array: if self.placement.stages.is_empty() { ArrayId(0) } else { array_of(word.line) },
            line: word.line,
            mask: ByteMask::range(word.offset, WORD),
            data: bytes,
        };
        Ok(Some((request, kind)))
    }

    fn issuer(&self, thread: usize, state: &ThreadState) -> Issuer {
        Issuer { wavefront: state.seat.wavefront, ..self.issuers[thread] }
    }

    fn fence(
        &self,
        (thread, state): (usize, &ThreadState),
        order: Order,
        scope: Scope,
        remote: bool,
    ) -> Request {
        Request {
            op: Op::Fence,
            order,
            scope,
            issuer: self.issuer(thread, state),
            hints: Hints { remote, commutative: false },
            array: ArrayId(0),
            line: LineAddr(0),
            mask: ByteMask::NONE,
            data: LineData::default(),
        }
    }

    fn scope(&self, scope: ScopeId) -> Scope {
        let scope = self.program.scopes.get(scope);
        match scope.level {
            level @ (Level::Device | Level::System) => Scope { level, instance: 0 },
            level => Scope { level, instance: scope.instance },
        }
    }
}

/// The read-modify-write that a cache performs for this operation of a program; `None` if no cache
/// performs it.
pub fn rmw_kind(op: RmwOp) -> Option<RmwKind> {
    Some(match op {
        RmwOp::Add => RmwKind::Add,
        RmwOp::Sub => RmwKind::Sub,
        RmwOp::And => RmwKind::And,
        RmwOp::Or => RmwKind::Or,
        RmwOp::Xor => RmwKind::Xor,
        RmwOp::Min => RmwKind::MinS,
        RmwOp::Max => RmwKind::MaxS,
        RmwOp::Exchange => RmwKind::Exchange,
        RmwOp::Mul | RmwOp::Div | RmwOp::Inc | RmwOp::Dec | RmwOp::AddUnless(_) => return None,
    })
}
