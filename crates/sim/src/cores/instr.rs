//! Instructions: operations under way.

use kernel::{Action, LANES_MAX, Mask, OpId, Packed, Posted};
use proto::issue::IssueId;
use proto::{
    ArrayId, Boundary, Hints, Issuer, KernelId, Level, LineData, Op, Order, PlanKey, Request, Scope, Width,
};

use crate::cores::coalesce::LinePart;
use crate::queue::Cycle;
use crate::reports::attribution::Cause;
use crate::reports::counters::Counts;
use crate::reports::probe::WaveAt;
use crate::reports::spent::Beside;

/// Who an instruction belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Wave(u32),
    Host(OpId),
    /// The beginning or end of a kernel on a compute unit or for the machine.
    Kernel(KernelId),
    /// The release of all kernels so far to the host.
    Release,
    /// A work-group that changes its compute unit.
    Group(u32),
}

/// What an instruction is, beyond the access of its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// An access, a fence or a kernel boundary: complete when it is answered.
    Simple,
    /// The release in front of a barrier.
    BarrierRelease,
    /// At the barrier.
    BarrierWait,
    /// The acquire behind a barrier.
    BarrierAcquire,
    /// An access to local memory.
    Lds,
}

/// An operation under way.
#[derive(Debug)]
pub(crate) struct Instr {
    pub(crate) owner: Owner,
    /// The posted operation, unless the issue rule let its issuer go on.
    pub(crate) op: Option<OpId>,
    pub(crate) issue: IssueId,
    pub(crate) phase: Phase,
    /// Line requests not yet answered.
    pub(crate) left: u32,
    /// When the latest answer is there.
    pub(crate) done_at: Cycle,
    pub(crate) issued_at: Cycle,
    pub(crate) ask: AskHead,
    /// What it spent beside its access in earlier phases, and in this one.
    pub(crate) spent: Beside,
    pub(crate) spent_now: Beside,
    /// Does it take its bytes from a store of its wavefront, and ask no station?
    pub(crate) is_forwarded: bool,
    /// The operands of a store whose issuer has gone on.
    pub(crate) kept: Option<Box<Kept>>,
}

impl Instr {
    /// An operation that begins now, with so many requests to be answered.
    pub(crate) fn new(now: Cycle, owner: Owner, ask: AskHead, left: u32) -> Instr {
        Instr {
            owner,
            op: None,
            issue: IssueId(0),
            phase: Phase::Simple,
            left,
            done_at: now,
            issued_at: now,
            ask,
            spent: Beside::default(),
            spent_now: Beside::default(),
            is_forwarded: false,
            kept: None,
        }
    }

    /// The request for one line is answered at that time. What the operation spends is
    /// what its slowest line spends.
    #[inline]
    pub(crate) fn answered(&mut self, at: Cycle, spent: impl FnOnce() -> Beside) {
        self.left -= 1;
        if at >= self.done_at {
            self.spent_now = spent();
            self.done_at = at;
        }
    }

    /// The requests of this phase are answered; others may follow.
    pub(crate) fn close_phase(&mut self) {
        self.spent.add(&self.spent_now);
        self.spent_now = Beside::default();
    }

    /// Counts the time of the operation, which is complete.
    pub(crate) fn count_wait(&self, now: Cycle, counts: &mut Counts) {
        if self.phase == Phase::Lds {
            return;
        }
        let all = now - self.issued_at;
        let (acquire, release) = (u64::from(self.spent.acquire), u64::from(self.spent.release));
        let access = all - acquire - release;
        counts.op_wait_cycles += all;
        counts.acquire_wait_cycles += acquire;
        counts.release_wait_cycles += release;
        let ask = &self.ask;
        *match (self.phase, ask.op) {
            (Phase::Simple, Op::Load) if ask.order.is_atomic() => &mut counts.atomic_load_wait_cycles,
            (Phase::Simple, Op::Load) => &mut counts.load_wait_cycles,
            (Phase::Simple, Op::Store) if ask.order.is_atomic() => &mut counts.atomic_store_wait_cycles,
            (Phase::Simple, Op::Store) => &mut counts.store_wait_cycles,
            (Phase::Simple, Op::Rmw(_)) => &mut counts.atomic_rmw_wait_cycles,
            // The way of an order to its station belongs to the order.
            (Phase::Simple, Op::KernelEnd(_)) => &mut counts.release_wait_cycles,
            (Phase::Simple, Op::Fence) if ask.order.releases() => &mut counts.release_wait_cycles,
            (Phase::Simple, Op::KernelBegin(_) | Op::Fence) => &mut counts.acquire_wait_cycles,
            _ => &mut counts.barrier_wait_cycles,
        } += access;
    }

    /// What its wavefront waits for beside queues and synchronization.
    pub(crate) fn access_cause(&self) -> Cause {
        match (self.phase, self.ask.op) {
            (Phase::Lds, _) => Cause::LocalMemory,
            (Phase::Simple, Op::Rmw(_)) => Cause::Atomic,
            (Phase::Simple, Op::Load | Op::Store) if self.ask.order.is_atomic() => Cause::Atomic,
            (Phase::Simple, Op::Load) => Cause::Load,
            (Phase::Simple, Op::Store) => Cause::Store,
            // The way of an order to its station belongs to the order.
            (Phase::Simple, _) if self.ask.order.releases() => Cause::Release,
            (Phase::Simple, _) => Cause::Acquire,
            _ => Cause::Barrier,
        }
    }
}

/// What all line requests of an instruction have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AskHead {
    pub(crate) op: Op,
    pub(crate) order: Order,
    pub(crate) scope: Scope,
    pub(crate) hints: Hints,
    pub(crate) array: ArrayId,
    pub(crate) width: Width,
    pub(crate) wavefront: u32,
    pub(crate) work_group: u32,
}

/// The operands of a store that outlive its operation.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(super) exec: Mask,
    pub(super) data: Packed,
    pub(super) addresses: [u64; LANES_MAX],
    pub(super) parts: Vec<LinePart>,
}

impl AskHead {
    pub(crate) fn of(op: &Posted, at: WaveAt, slots: u32, lanes: u32, cus_per_chiplet: u32) -> AskHead {
        let first = op.exec.first().unwrap_or(0) as u32;
        let wave = at.cu * slots + at.slot;
        let instance = match op.semantics.level {
            Level::WorkItem => wave * lanes + first,
            Level::SubGroup => wave,
            Level::WorkGroup => at.work_group,
            Level::Chiplet => at.cu / cus_per_chiplet.max(1),
            Level::Device | Level::System => 0,
            Level::Named => op.semantics.named,
        };
        let action = match op.action {
            Action::Load => Op::Load,
            Action::Store => Op::Store,
            Action::Rmw { .. } => op.rmw(first as usize).map_or(Op::Fence, Op::Rmw),
            _ => Op::Fence,
        };
        AskHead {
            op: action,
            order: op.semantics.order,
            scope: Scope { level: op.semantics.level, instance },
            hints: op.semantics.hints,
            array: op.array,
            width: op.width,
            wavefront: at.slot,
            work_group: at.work_group,
        }
    }

    /// A request as at the boundary of a kernel.
    pub(crate) fn of_boundary(op: Op, scope: Scope) -> AskHead {
        AskHead {
            op,
            order: Boundary::ORDER,
            scope,
            hints: Hints::default(),
            array: ArrayId(0),
            width: Width::W4,
            wavefront: 0,
            work_group: 0,
        }
    }

    /// What decides where it enters.
    pub(crate) fn key(&self) -> PlanKey {
        PlanKey::new(self.op, self.order, self.scope.level, self.hints)
    }

    /// The request for one line, without operands.
    #[inline]
    pub(crate) fn request(&self, part: &LinePart) -> Request {
        Request {
            op: self.op,
            order: self.order,
            scope: self.scope,
            issuer: Issuer {
                work_item: part.lanes.trailing_zeros() & 63,
                wavefront: self.wavefront,
                work_group: self.work_group,
            },
            hints: self.hints,
            array: self.array,
            line: part.line,
            mask: part.mask,
            data: LineData::default(),
        }
    }
}
