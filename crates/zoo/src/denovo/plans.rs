//! What each operation does at the L1.

use proto::{Ask, Effects, Level, OpClass, Order, PlanKey, Plans, Spending, TableId, symbols};

symbols! {
    /// The steps of operations.
    pub enum Step {
        /// Perform the access of data on the line in this cache, and answer.
        Here,
        /// Wait until all that was stored here is registered: the store registration of Table 3.
        RegisterStores,
        /// See that the line is registered here, and wait for that.
        Register,
        /// Perform the atomic on the registered line, and answer.
        Perform,
        /// Drop what is neither registered nor stored here.
        Invalidate,
        /// Drop what was not stored here of the line: the access below comes first.
        Pass,
        /// Perform the access at memory, which takes registration back first, and wait for it.
        BelowSystem,
        /// Recall registered lines and wait until all that was written has reached memory.
        FlushBanks,
        /// Recall registered lines and drop what is clean in the L2.
        InvalidateBanks,
        /// Answer the request.
        AnswerIt,
    }
}

impl Step {
    /// Says on what a request spends its time from this step on.
    pub fn spends<M>(self, ask: Ask<'_>, fx: &mut Effects<M>) {
        if ask.req.order == Order::Plain {
            return;
        }
        match self {
            // An atomic that was performed here has been answered.
            Step::Invalidate if ask.req.is_atomic_access() && ask.req.scope.level != Level::System => {}
            Step::RegisterStores | Step::FlushBanks => fx.spend(ask.slot, Spending::Release),
            Step::Invalidate | Step::InvalidateBanks => fx.spend(ask.slot, Spending::Acquire),
            Step::Register | Step::Pass | Step::BelowSystem => fx.spend(ask.slot, Spending::Access),
            // The first is all of its request, the others go on with the one before.
            Step::Here | Step::Perform | Step::AnswerIt => {}
        }
    }
}

/// What each operation does at the L1.
#[derive(Clone, Copy, Debug)]
pub struct L1Plans;

impl Plans for L1Plans {
    type Step = Step;
    const ID: TableId = TableId(1);
    const NAME: &'static str = "Operations at the L1";

    fn plan(key: PlanKey) -> &'static [Step] {
        use OpClass::*;
        use Step::*;
        let acquires = key.order.acquires() && key.op != Store;
        let releases = key.order.releases() && key.op != Load;
        match (key.op, key.level) {
            (KernelBegin, Level::System) => &[InvalidateBanks, Invalidate, AnswerIt],
            (KernelBegin, _) => &[Invalidate, AnswerIt],
            (KernelEnd, Level::System) => &[RegisterStores, FlushBanks, AnswerIt],
            (KernelEnd, _) => &[RegisterStores, AnswerIt],

            (Load | Store, _) if key.order == Order::Plain => &[Here],

            // What was stored here below system scope comes before, whatever the order.
            (Load | Store | Rmw | Update, Level::System) => match (acquires, releases) {
                (true, true) => {
                    &[RegisterStores, FlushBanks, Pass, BelowSystem, InvalidateBanks, Invalidate, AnswerIt]
                }
                (true, false) => &[RegisterStores, Pass, BelowSystem, InvalidateBanks, Invalidate, AnswerIt],
                (false, true) => &[RegisterStores, FlushBanks, Pass, BelowSystem, AnswerIt],
                (false, false) => &[RegisterStores, Pass, BelowSystem, AnswerIt],
            },
            (Fence, Level::System) => match (acquires, releases) {
                (true, true) => &[RegisterStores, FlushBanks, InvalidateBanks, Invalidate, AnswerIt],
                (true, false) => &[InvalidateBanks, Invalidate, AnswerIt],
                (false, true) => &[RegisterStores, FlushBanks, AnswerIt],
                (false, false) => &[AnswerIt],
            },
            (Fence, _) => match (acquires, releases) {
                (true, true) => &[RegisterStores, Invalidate, AnswerIt],
                (true, false) => &[Invalidate, AnswerIt],
                (false, true) => &[RegisterStores, AnswerIt],
                (false, false) => &[AnswerIt],
            },
            // Table 3, in its order: b0-b7, b8-b15, b16-b26.
            (Load | Store | Rmw | Update, _) => match (acquires, releases) {
                (true, true) => &[RegisterStores, Register, Perform, Invalidate],
                (true, false) => &[Register, Perform, Invalidate],
                (false, true) => &[RegisterStores, Register, Perform],
                (false, false) => &[Register, Perform],
            },
        }
    }
}
