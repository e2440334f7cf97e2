//! What each operation does at the L1.

use proto::{Ask, Effects, Level, OpClass, Order, PlanKey, Plans, Spending, TableId, symbols};

symbols! {
    /// The steps of operations.
    pub enum Step {
        /// Perform the access on the line in this cache, and answer; what follows is for what cannot be. An atomic that orders asks for registration and waits for it.
        Here,
        /// Perform the atomic on the line that has been registered, and answer.
        Perform,
        /// Drop what is clean in this cache, but for the line that has been registered.
        InvalidateRest,
        /// Write the line's dirty bytes out and drop it: the access below comes first.
        Pass,
        /// Load data at the L2 and wait for it.
        Below,
        /// Store data at the L2; only a later flush waits for it.
        Post,
        /// Perform the atomic where the bank says: at the L2, or in the cache that is registered; and wait for it.
        Anywhere,
        /// Perform the atomic at the L2, which takes registration back first, and wait for it.
        Unregistered,
        /// The same, at memory.
        BelowSystem,
        /// Wait until all that was written here, registered lines apart, has reached the L2.
        Flush,
        /// Recall registered lines and wait until all that was written to the L2 has reached memory.
        FlushBanks,
        /// Drop what is clean in this cache.
        Invalidate,
        /// Recall registered lines and drop what is clean in the L2.
        InvalidateBanks,
        /// Answer the request.
        AnswerIt,
    }
}

impl Step {
    /// Says on what a request spends its time from this step on. All that a
    /// registration entails belongs to the access.
    pub fn spends<M>(self, ask: Ask<'_>, fx: &mut Effects<M>) {
        if ask.req.order == Order::Plain {
            return;
        }
        match self {
            Step::Flush | Step::FlushBanks => fx.spend(ask.slot, Spending::Release),
            Step::Invalidate | Step::InvalidateBanks => fx.spend(ask.slot, Spending::Acquire),
            Step::Pass | Step::Anywhere | Step::Unregistered | Step::BelowSystem => {
                fx.spend(ask.slot, Spending::Access);
            }
            // Nothing else has been spent on before.
            Step::Here | Step::Perform | Step::InvalidateRest | Step::Below | Step::Post => {}
            // The answer leaves when the step before it is done.
            Step::AnswerIt => {}
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
        let is_write = !matches!(key.op, Load);
        let acquires = key.order.acquires() && !matches!(key.op, Store);
        // Who acquires from a word that was acquired and written here must find what
        // has been released before: in words that are registered it waits here.
        let passes_on = acquires && matches!(key.op, Rmw | Update);
        let releases = key.order.releases() && is_write || passes_on;
        match (key.op, key.level) {
            (KernelBegin, Level::System) => &[InvalidateBanks, Invalidate, AnswerIt],
            (KernelBegin, _) => &[Invalidate, AnswerIt],
            (KernelEnd, Level::System) => &[Flush, FlushBanks, AnswerIt],
            (KernelEnd, _) => &[Flush, AnswerIt],

            (Load, _) if key.order == Order::Plain => &[Here, Below, AnswerIt],
            (Store, _) if key.order == Order::Plain => &[Here, Post, AnswerIt],

            (Load | Store | Rmw | Update, Level::System) => match (acquires, releases) {
                (true, true) => {
                    &[Flush, FlushBanks, Pass, BelowSystem, InvalidateBanks, Invalidate, AnswerIt]
                }
                (true, false) => &[Pass, BelowSystem, InvalidateBanks, Invalidate, AnswerIt],
                (false, true) => &[Flush, FlushBanks, Pass, BelowSystem, AnswerIt],
                (false, false) => &[Pass, BelowSystem, AnswerIt],
            },
            (Fence, Level::System) => match (acquires, releases) {
                (true, true) => &[Flush, FlushBanks, InvalidateBanks, Invalidate, AnswerIt],
                (true, false) => &[InvalidateBanks, Invalidate, AnswerIt],
                (false, true) => &[Flush, FlushBanks, AnswerIt],
                (false, false) => &[AnswerIt],
            },

            // An acquire and a release without an access (III.C.3), whatever
            // the scope: registration has none.
            (Fence, _) => match (acquires, releases) {
                (true, true) => &[Flush, Invalidate, AnswerIt],
                (true, false) => &[Invalidate, AnswerIt],
                (false, true) => &[Flush, AnswerIt],
                (false, false) => &[AnswerIt],
            },
            // Relaxed atomics do without coherence actions (III.C.3).
            (Load | Store | Rmw | Update, _) if !acquires && !releases => &[Here, Pass, Anywhere, AnswerIt],
            // Table 3: where it is registered decides.
            (Load | Store | Rmw | Update, Level::WorkItem | Level::SubGroup | Level::WorkGroup) => {
                &[Here, Perform, InvalidateRest]
            }
            // Scopes as a hint (V.C): performed at the L2.
            (Load | Store | Rmw | Update, Level::Chiplet | Level::Device | Level::Named) => {
                match (acquires, releases) {
                    (true, true) => &[Flush, Pass, Unregistered, Invalidate, AnswerIt],
                    (true, false) => &[Pass, Unregistered, Invalidate, AnswerIt],
                    (false, _) => &[Flush, Pass, Unregistered, AnswerIt],
                }
            }
        }
    }
}
