//! Instructions: operations of wavefronts, the host or kernel boundaries, from issue to completion.

use kernel::{Action, OpId, Posted};
use proto::issue::IssueId;
use proto::{
    ArrayId, Boundary, Hints, Issuer, KernelId, Level, LineData, Op, Order, PlanKey, Request, Scope, Width,
};

use crate::cores::coalesce::LinePart;
use crate::queue::Cycle;
use crate::reports::attribution::Cause;
use crate::reports::counters::Counts;
use crate::reports::probe::WaveAt;
use crate::reports::spent::Waits;

/// The issuer of an instruction, which waits until the instruction is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Wave(u32),
    Host(OpId),
    /// The beginning or end of this kernel: an acquire or release, by one compute unit or for the
    /// whole machine.
    Kernel(KernelId),
    /// The release that makes the writes of all completed kernels visible to the host.
    Release,
    /// A work-group that moves to another compute unit. The field is the number by which the
    /// machine knows the work-group.
    Group(u32),
}

/// The phase of an instruction. A barrier has up to three phases; every other operation has one
/// phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// An access, a fence, or a request at the beginning or end of a kernel. The instruction is
    /// complete when all of its requests are answered.
    Simple,
    /// The release that precedes a barrier.
    BarrierRelease,
    /// The wait for the other wavefronts at a barrier.
    BarrierWait,
    /// The acquire that follows a barrier.
    BarrierAcquire,
    /// An access to local memory.
    Lds,
}

/// An instruction: an operation that was issued and is not complete.
#[derive(Debug)]
pub(crate) struct Instr {
    pub(crate) owner: Owner,
    /// The operation of the program. `None` if the instruction is an acquire or release at the
    /// beginning or end of a kernel, or for a work-group that moves.
    pub(crate) op: Option<OpId>,
    pub(crate) issue: IssueId,
    pub(crate) phase: Phase,
    /// The number of line requests of the current phase that are not answered yet.
    pub(crate) left: u32,
    /// The latest cycle at which an answer to a line request has arrived so far.
    pub(crate) done_at: Cycle,
    pub(crate) issued_at: Cycle,
    pub(crate) head: RequestHead,
    /// The cycles that the instruction has waited in the phases that have ended, by cause. The time
    /// of the accesses themselves is not included. The field `spent_now` has the waits of the
    /// current phase.
    pub(crate) spent: Waits,
    pub(crate) spent_now: Waits,
    /// Whether the bytes of a load come from a buffered store of the same wavefront. Such a load
    /// sends no request to a station (a controller of the protocol).
    pub(crate) is_forwarded: bool,
    /// Whether the instruction is a store or update after which its wavefront has continued without
    /// waiting for the answer: a store in a write buffer, or a posted access (`cu.posted_stores`).
    pub(crate) is_posted: bool,
    /// The line requests of an instruction that the issue rule keeps until earlier instructions are
    /// complete. `None` for all other instructions.
    pub(crate) kept: Option<Box<[LinePart]>>,
}

impl Instr {
    /// An instruction that begins at cycle `now` and needs `left` answers.
    pub(crate) fn new(now: Cycle, owner: Owner, head: RequestHead, left: u32) -> Instr {
        Instr {
            owner,
            op: None,
            issue: IssueId(0),
            phase: Phase::Simple,
            left,
            done_at: now,
            issued_at: now,
            head,
            spent: Waits::default(),
            spent_now: Waits::default(),
            is_forwarded: false,
            is_posted: false,
            kept: None,
        }
    }

    /// Records the answer to one line request, which arrives at cycle `at`. `spent` computes the
    /// waits of this request. The waits of the request that is answered last become the waits of
    /// the instruction in this phase.
    #[inline]
    pub(crate) fn answered(&mut self, at: Cycle, spent: impl FnOnce() -> Waits) {
        self.left -= 1;
        if at >= self.done_at {
            self.spent_now = spent();
            self.done_at = at;
        }
    }

    /// Ends the current phase, whose requests are all answered. Another phase may follow.
    pub(crate) fn close_phase(&mut self) {
        self.spent.add(&self.spent_now);
        self.spent_now = Waits::default();
    }

    /// Adds the waiting time of a complete instruction, in cycles, to the counters for its kind of
    /// operation.
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
        let head = &self.head;
        *match (self.phase, head.op) {
            (Phase::Simple, Op::Load) if head.order.is_atomic() => &mut counts.atomic_load_wait_cycles,
            (Phase::Simple, Op::Load) => &mut counts.load_wait_cycles,
            (Phase::Simple, Op::Store) if head.order.is_atomic() => &mut counts.atomic_store_wait_cycles,
            (Phase::Simple, Op::Store) => &mut counts.store_wait_cycles,
            (Phase::Simple, Op::Rmw(_)) => &mut counts.atomic_rmw_wait_cycles,
            // All time of a fence or a kernel boundary, its access time included, counts as release
            // or acquire time.
            (Phase::Simple, Op::KernelEnd(_)) => &mut counts.release_wait_cycles,
            (Phase::Simple, Op::Fence) if head.order.releases() => &mut counts.release_wait_cycles,
            (Phase::Simple, Op::KernelBegin(_) | Op::Fence) => &mut counts.acquire_wait_cycles,
            _ => &mut counts.barrier_wait_cycles,
        } += access;
    }

    /// The cause to which the access time of this instruction is attributed. The instruction's
    /// waits in queues, for acquires and for releases have causes of their own.
    pub(crate) fn access_cause(&self) -> Cause {
        match (self.phase, self.head.op) {
            (Phase::Lds, _) => Cause::LocalMemory,
            (Phase::Simple, Op::Rmw(_)) => Cause::Atomic,
            (Phase::Simple, Op::Load | Op::Store) if self.head.order.is_atomic() => Cause::Atomic,
            (Phase::Simple, Op::Load) => Cause::Load,
            (Phase::Simple, Op::Store) => Cause::Store,
            // All time of a fence or a kernel boundary, its access time included, counts as release
            // or acquire time.
            (Phase::Simple, _) if self.head.order.releases() => Cause::Release,
            (Phase::Simple, _) => Cause::Acquire,
            _ => Cause::Barrier,
        }
    }
}

/// The properties that all line requests of an instruction have in common, such as operation, order
/// and scope.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestHead {
    pub(crate) op: Op,
    pub(crate) order: Order,
    pub(crate) scope: Scope,
    pub(crate) hints: Hints,
    pub(crate) array: ArrayId,
    pub(crate) width: Width,
    pub(crate) wavefront: u32,
    pub(crate) work_group: u32,
}

impl RequestHead {
    pub(crate) fn of(op: &Posted, at: WaveAt, slots: u32, lanes: u32, cus_per_chiplet: u32) -> RequestHead {
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
        RequestHead {
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

    /// The common properties of the requests at a kernel boundary (the beginning or end of a
    /// kernel).
    pub(crate) fn of_boundary(op: Op, scope: Scope) -> RequestHead {
        RequestHead {
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

    /// The key (kind, order, scope level and hints) from which the protocol decides which station
    /// (controller) receives the requests.
    pub(crate) fn key(&self) -> PlanKey {
        PlanKey::new(self.op, self.order, self.scope.level, self.hints)
    }

    /// The request for one line of the instruction, without the values to store.
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
