//! The steps of operations: those of `vi`, and those that protocols on top of
//! it add.

use proto::{Ask, Effects, Order, Spending, symbols};

symbols! {
    /// The steps of operations. A protocol's plans use some of them.
    pub enum Step {
        /// Perform the access on the line in this cache, and answer: what follows is for an access that cannot be.
        Here,
        /// Write the line's dirty bytes out and drop it: the access below comes first.
        Pass,
        /// Perform the access at the L2 and wait for it.
        Below,
        /// Perform the access at memory and wait for it.
        BelowSystem,
        /// Send the access to the L2; only a later flush waits for it.
        Post,
        /// Wait until all that was written here has reached the L2.
        Flush,
        /// Wait until all that was written to the L2 has reached memory.
        FlushBanks,
        /// Drop what is clean in this cache.
        Invalidate,
        /// Drop what is clean in the L2.
        InvalidateBanks,
        /// Answer the request.
        AnswerIt,
        /// Wait for the remote operations under way that hold read-modify-writes back.
        Unlocked,
        /// Hold back all read-modify-writes in this and every other L1.
        LockAll,
        /// Let them go on.
        UnlockAll,
        /// Wait until all that was written in every other L1 has reached the L2.
        FlushOthers,
        /// Drop what is clean in every other L1.
        InvalidateOthers,
    }
}

impl Step {
    /// Says on what a request spends its time from this step on.
    pub fn spends<M>(self, ask: Ask<'_>, fx: &mut Effects<M>) {
        if ask.req.order == Order::Plain {
            return;
        }
        match self {
            Step::Flush | Step::FlushBanks => fx.spend(ask.slot, Spending::Release),
            Step::Invalidate | Step::InvalidateBanks => fx.spend(ask.slot, Spending::Acquire),
            Step::Here | Step::Pass | Step::Below | Step::BelowSystem | Step::Post => {
                fx.spend(ask.slot, Spending::Access);
            }
            // The answer leaves when the step before it is done. What is done
            // to other caches belongs to the acquire or to the release.
            Step::AnswerIt
            | Step::Unlocked
            | Step::LockAll
            | Step::UnlockAll
            | Step::FlushOthers
            | Step::InvalidateOthers => {}
        }
    }
}
