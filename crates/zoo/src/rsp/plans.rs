//! What each operation does at the L1: the rows of Table 3, as printed.

use crate::vi::{L1Plans, Step};
use proto::{Level, OpClass, Order, PlanKey, Plans, TableId};

/// What each operation does at the L1, as printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RspPlans;

impl Plans for RspPlans {
    type Step = Step;
    const ID: TableId = TableId(1);
    const NAME: &'static str = "Operations at the L1";

    fn plan(key: PlanKey) -> &'static [Step] {
        use OpClass::*;
        use Step::*;
        let is_narrow = matches!(key.level, Level::WorkItem | Level::SubGroup | Level::WorkGroup);
        let is_here = is_narrow || key.order == Order::Plain;
        let is_system = key.level == Level::System;
        match key.op {
            // a15
            Rmw | Update if is_here => &[Unlocked, Here, Pass, Below, AnswerIt],
            // a0 to a2, a6 to a8, a16 to a18. What is remote to a work-group is
            // not further than its compute unit.
            KernelBegin | KernelEnd => L1Plans::plan(key),
            _ if is_here || !key.remote => L1Plans::plan(key),
            // a3 to a5
            Load if is_system => &[Pass, BelowSystem, FlushOthers, InvalidateBanks, Invalidate, AnswerIt],
            Load => &[Pass, Below, FlushOthers, Invalidate, AnswerIt],
            // a9 to a14
            Store if is_system => &[
                LockAll,
                FlushOthers,
                Flush,
                FlushBanks,
                InvalidateOthers,
                Pass,
                BelowSystem,
                InvalidateOthers,
                UnlockAll,
                AnswerIt,
            ],
            Store => &[
                LockAll,
                FlushOthers,
                Flush,
                InvalidateOthers,
                Pass,
                Below,
                InvalidateOthers,
                UnlockAll,
                AnswerIt,
            ],
            // a19 to a25
            Rmw | Update if is_system => &[
                LockAll,
                FlushOthers,
                Flush,
                FlushBanks,
                InvalidateOthers,
                Pass,
                BelowSystem,
                FlushOthers,
                InvalidateBanks,
                InvalidateOthers,
                Invalidate,
                UnlockAll,
                AnswerIt,
            ],
            Rmw | Update => &[
                LockAll,
                FlushOthers,
                Flush,
                InvalidateOthers,
                Pass,
                Below,
                FlushOthers,
                InvalidateOthers,
                Invalidate,
                UnlockAll,
                AnswerIt,
            ],
            // Not in the table: what the rows do around their access.
            Fence => match (key.order.acquires(), key.order.releases(), is_system) {
                (true, true, true) => {
                    &[FlushOthers, Flush, FlushBanks, InvalidateBanks, InvalidateOthers, Invalidate, AnswerIt]
                }
                (true, false, true) => &[FlushOthers, InvalidateBanks, Invalidate, AnswerIt],
                (false, true, true) => &[Flush, FlushBanks, InvalidateOthers, AnswerIt],
                (true, true, false) => &[FlushOthers, Flush, InvalidateOthers, Invalidate, AnswerIt],
                (true, false, false) => &[FlushOthers, Invalidate, AnswerIt],
                (false, true, false) => &[Flush, InvalidateOthers, AnswerIt],
                (false, false, _) => &[AnswerIt],
            },
        }
    }
}

/// What each operation does at the L1, with remote loads repaired.
///
/// As printed, a remote load is performed before the other L1s flush. It then
/// misses a store that was performed in one of them before it, although what
/// that store released is flushed by it. Here they flush before it as well, as
/// they do for a read-modify-write (a20).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RepairedPlans;

impl Plans for RepairedPlans {
    type Step = Step;
    const ID: TableId = RspPlans::ID;
    const NAME: &'static str = RspPlans::NAME;

    fn plan(key: PlanKey) -> &'static [Step] {
        use Step::*;
        match RspPlans::plan(key) {
            [Pass, BelowSystem, FlushOthers, ..] => {
                &[FlushOthers, Pass, BelowSystem, FlushOthers, InvalidateBanks, Invalidate, AnswerIt]
            }
            [Pass, Below, FlushOthers, ..] => &[FlushOthers, Pass, Below, FlushOthers, Invalidate, AnswerIt],
            as_printed => as_printed,
        }
    }
}
