//! The plan (list of steps) of each operation at the L1 of `rsp`: the rows of Table 3 of the hLRC
//! paper, as printed. The repaired plans differ only for remote loads.

use self::Step::{Remote as R, Shared as S};
use crate::vi::{self, Step as Shared};
use proto::{OpClass, PlanKey, Reach, Steps, TableId, symbols};

symbols! {
    /// The steps of remote operations, in addition to those of `vi`.
    pub enum Remote {
        /// Wait until the remote operations that lock read-modify-writes in this L1 at this time
        /// have unlocked them.
        Unlocked,
        /// Lock read-modify-writes in this and every other L1.
        LockAll,
        /// Unlock read-modify-writes in this and every other L1.
        UnlockAll,
        /// Flush every other L1 to the L2 and wait for the answers.
        FlushOthers,
        /// Invalidate the clean bytes of every other L1 and wait for the answers.
        InvalidateOthers,
    }
}

symbols! {
    /// The steps from which the plans of operations are composed.
    pub enum Step = Shared + Remote;
}

proto::plans! {
    /// The plan of each operation at the L1: its steps, as Table 3 of the hLRC paper prints them.
    pub struct RspPlans: Step = printed, TableId(1), "Operations at the L1"
}
proto::plans! {
    /// The plan (list of steps) of each operation at the L1, with remote loads repaired.
    ///
    /// As the hLRC paper prints the steps, a remote load is performed before the other L1s flush.
    /// The load can then miss a release store in one of these L1s, although the flush writes out
    /// the writes before that store. Here the other L1s also flush before the load, as they do for
    /// a read-modify-write (row a20 of Table 3).
    pub struct RepairedPlans: Step = repaired, TableId(1), "Operations at the L1"
}

const fn printed(key: PlanKey) -> Steps<Step> {
    if !is_remote(key) {
        return local(key);
    }
    Steps::of(&[before(key).as_slice(), access(key), after(key).as_slice(), &[S(Shared::AnswerIt)]])
}

const fn repaired(key: PlanKey) -> Steps<Step> {
    let first: &[Step] = match key.op {
        OpClass::Load if is_remote(key) => &[R(Remote::FlushOthers)],
        _ => &[],
    };
    Steps::of(&[first, printed(key).as_slice()])
}

/// Whether the operation is a remote operation, which synchronizes with narrower scopes on other
/// compute units. An operation whose scope is within one compute unit is never remote.
const fn is_remote(key: PlanKey) -> bool {
    let is_kernel = matches!(key.op, OpClass::KernelBegin | OpClass::KernelEnd);
    let is_plain = matches!(key.order, proto::Order::Plain);
    key.remote && !is_kernel && !is_plain && !matches!(key.reach(), Reach::Group)
}

/// The plan (list of steps) of an operation that is not a remote operation: rows a0 to a2, a6 to
/// a8, a15, and a16 to a18 of Table 3 of the hLRC paper. The steps are those of `vi`. A
/// read-modify-write that is performed in the L1 has one more step before them: it waits for the
/// locks of remote operations.
const fn local(key: PlanKey) -> Steps<Step> {
    let is_here = key.is_plain() || matches!(key.reach(), Reach::Group);
    let first: &[Step] = match key.op {
        OpClass::Rmw | OpClass::Update if is_here => &[R(Remote::Unlocked)],
        _ => &[],
    };
    let (mut all, shared, mut at) = (Steps::of(&[first]), vi::plan(key), 0);
    while at < shared.as_slice().len() {
        all = all.then(&[S(shared.as_slice()[at])]);
        at += 1;
    }
    all
}

/// The steps before the access of a remote operation (which synchronizes with narrower scopes on
/// other compute units): in Table 3 of the hLRC paper, rows a9 to a11 of a store, and a19 to a21 of
/// a read-modify-write. This table has no row for a fence. So a fence takes the flushes and
/// invalidations that a store or a read-modify-write takes around its access.
const fn before(key: PlanKey) -> Steps<Step> {
    use Remote::{FlushOthers, InvalidateOthers, LockAll};
    let flush: &[Step] = match key.reach() {
        Reach::System => &[S(Shared::Flush), S(Shared::FlushBanks)],
        Reach::Group | Reach::Device => &[S(Shared::Flush)],
    };
    match (key.op, key.acquires(), key.releases()) {
        (OpClass::Store | OpClass::Rmw | OpClass::Update, _, _) => {
            Steps::of(&[&[R(LockAll), R(FlushOthers)], flush, &[R(InvalidateOthers)]])
        }
        (OpClass::Fence, true, true) => Steps::of(&[&[R(FlushOthers)], flush]),
        (OpClass::Fence, true, false) => Steps::of(&[&[R(FlushOthers)]]),
        (OpClass::Fence, false, true) => Steps::of(&[flush, &[R(InvalidateOthers)]]),
        (OpClass::Fence, false, false) => Steps::NONE,
        (OpClass::Load | OpClass::KernelBegin | OpClass::KernelEnd, _, _) => Steps::NONE,
    }
}

/// The steps that perform the access of a remote operation (which synchronizes with narrower scopes
/// on other compute units): rows a3, a12 and a22 of Table 3 of the hLRC paper.
const fn access(key: PlanKey) -> &'static [Step] {
    match (key.is_access(), key.reach()) {
        (false, _) => &[],
        (true, Reach::System) => &[S(Shared::Pass), S(Shared::BelowSystem)],
        (true, _) => &[S(Shared::Pass), S(Shared::Below)],
    }
}

/// The steps after the access of a remote operation (which synchronizes with narrower scopes on
/// other compute units): in Table 3 of the hLRC paper, rows a4 and a5 of a load, a13 and a14 of a
/// store, a23 to a25 of a read-modify-write.
const fn after(key: PlanKey) -> Steps<Step> {
    use Remote::{FlushOthers, InvalidateOthers, UnlockAll};
    let invalidate: &[Step] = &[S(Shared::Invalidate)];
    let banks: &[Step] = match key.reach() {
        Reach::System => &[S(Shared::InvalidateBanks)],
        Reach::Group | Reach::Device => &[],
    };
    match (key.op, key.acquires(), key.releases()) {
        (OpClass::Load, _, _) => Steps::of(&[&[R(FlushOthers)], banks, invalidate]),
        (OpClass::Store, _, _) => Steps::of(&[&[R(InvalidateOthers), R(UnlockAll)]]),
        (OpClass::Rmw | OpClass::Update, _, _) => {
            Steps::of(&[&[R(FlushOthers)], banks, &[R(InvalidateOthers)], invalidate, &[R(UnlockAll)]])
        }
        (OpClass::Fence, true, true) => Steps::of(&[banks, &[R(InvalidateOthers)], invalidate]),
        (OpClass::Fence, true, false) => Steps::of(&[banks, invalidate]),
        (OpClass::Fence, false, _) | (OpClass::KernelBegin | OpClass::KernelEnd, _, _) => Steps::NONE,
    }
}
