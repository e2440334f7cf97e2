//! The request that an instruction of a program makes.

use litmus::program::{Expr, Instr, Level, Reg, RmwOp, ScopeId, Value};
use proto::issue::IssueKind;
use proto::{
    ArrayId, ByteMask, Hints, Issuer, LineAddr, LineData, Op, Order, Request, Rmw, RmwKind, Scope, Width,
};

use crate::machine::kernels::array_of;
use crate::machine::live;
use crate::machine::placement::Word;
use crate::machine::thread::{Code, ThreadError, ThreadState, stays, targets};

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
        let word = match instr.access() {
            Some(access) => Some(self.accessed(thread, eval(&access.address)?)?),
            None => None,
        };
        let width = word.map_or(Width::W4, |word| word.width);
        let bits = |value| word.map_or(Ok(0), |word| word.bits(value)).map_err(ThreadError::BadValue);
        let rmw = |kind, uses_value| Op::Rmw(Rmw { kind, width, uses_value });
        let (op, kind, data) = match instr {
            Instr::Load { .. } | Instr::Await { .. } => (Op::Load, IssueKind::Load, 0),
            Instr::Store { value, .. } => (Op::Store, IssueKind::Store, bits(eval(value)?)?),
            Instr::Rmw { dst, op, operand, .. } => {
                let operand = bits(eval(operand)?)?;
                let kind = rmw_kind(*op).ok_or_else(|| {
                    ThreadError::Unsupported(format!(
                        "P{thread} has the read-modify-write {op:?}, which no cache performs"
                    ))
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
        let (Some(access), Some(word)) = (instr.access(), word) else { return Ok(None) };
        let mut bytes = LineData::default();
        word.write(&mut bytes, data);
        let request = Request {
            op,
            order: access.order,
            scope: access.scope.map_or(Scope::DEVICE, |scope| self.scope(scope)),
            issuer: self.issuer(thread, state),
            hints: Hints { remote: access.remote, commutative: access.commutative },
            array: if self.placement.stages.is_empty() { ArrayId(0) } else { array_of(word.line) },
            line: word.line,
            mask: word.mask(),
            data: bytes,
        };
        Ok(Some((request, kind)))
    }

    /// The word at an address that a thread accesses.
    fn accessed(&self, thread: usize, address: Value) -> Result<Word, ThreadError> {
        let loc = litmus::program::value_address(address);
        let loc = loc.filter(|loc| usize::from(loc.0) < self.words.len());
        let loc = loc.ok_or_else(|| {
            ThreadError::BadValue(format!("P{thread} accesses {address}, outside the program's memory"))
        })?;
        Ok(self.word(loc))
    }

    /// Adds accesses of the following instructions to the request of a thread's next instruction.
    /// Stops at the first access that the same request cannot make. Adds nothing if the placement
    /// does not combine accesses. Returns the number of instructions in the request.
    pub(crate) fn combine(
        &self,
        thread: usize,
        state: &ThreadState,
        (request, kind): (&mut Request, IssueKind),
    ) -> u8 {
        let mut count = 1u8;
        let is_combined = self.placement.lanes && !matches!(kind, IssueKind::Fence);
        while is_combined
            && let Some(lane) = self.lane(thread, state, count)
            && combines(request, &lane)
        {
            if let (Op::Rmw(rmw), Op::Rmw(other)) = (&mut request.op, lane.op) {
                rmw.uses_value |= other.uses_value;
            }
            request.mask = request.mask.union(lane.mask);
            request.data.merge(&lane.data, lane.mask);
            count += 1;
        }
        count
    }

    /// The request of the instruction that is `distance` instructions after the thread's next one.
    /// `None` if the two instructions differ in kind, or if the later instruction depends on a
    /// register that an earlier operation writes.
    fn lane(&self, thread: usize, state: &ThreadState, distance: u8) -> Option<Request> {
        let first = self.instr(thread, state.pc)?;
        let instr = self.instr(thread, state.pc + u16::from(distance))?;
        let is_same = core::mem::discriminant(first) == core::mem::discriminant(instr);
        let earlier = (0..distance).filter_map(|before| self.instr(thread, state.pc + u16::from(before)));
        let written: Vec<Reg> = earlier.flat_map(targets).flatten().collect();
        let is_free = |reg: Reg| !written.contains(&reg) && !self.is_pending(thread, state, reg);
        let mut free = !stays(instr) && targets(instr).into_iter().flatten().all(is_free);
        live::reads(instr, &mut |reg| free &= is_free(reg));
        if !is_same || !free {
            return None;
        }
        // If the request cannot be made, the error is reported later, when the instruction is the
        // thread's next one.
        self.operation(thread, state, instr).ok().flatten().map(|(request, _)| request)
    }

    fn issuer(&self, thread: usize, state: &ThreadState) -> Issuer {
        Issuer { wavefront: state.residency.wavefront, ..self.issuers[thread] }
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

/// Whether `request` can also make the access of `lane`, the request of a following instruction.
/// Synchronizing accesses are not combined.
fn combines(request: &Request, lane: &Request) -> bool {
    let synchronizes = request.order.acquires() || request.order.releases();
    let op = |op: Op| match op {
        Op::Rmw(rmw) => Op::Rmw(Rmw { uses_value: true, ..rmw }),
        op => op,
    };
    let of = |request: &Request| (request.line, request.order, request.scope, request.hints, op(request.op));
    !synchronizes && of(request) == of(lane) && !request.mask.overlaps(lane.mask)
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
