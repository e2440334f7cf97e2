//! The steps of operations, which other protocols use and add to.

use crate::parts::{Descends, How, Lower, answer};
use proto::{Ask, Cx, Disposition, Effects, Order, Slot, Spending, symbols};

symbols! {
    /// The steps of operations.
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
            // The answer leaves when the step before it is done.
            Step::AnswerIt => {}
        }
    }

    /// Performs a step that leads to the banks, or answers.
    #[inline]
    pub fn descend<P: Descends, W: Copy + Eq + From<Slot>>(
        self,
        lower: &mut Lower<W>,
        ask: Ask<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Option<Disposition> {
        match self {
            Step::Below => lower.below(ask, How::Here, cx),
            Step::BelowSystem => lower.below(ask, How::System, cx),
            Step::Post => lower.post(ask, cx),
            Step::Flush => lower.flush(ask, cx),
            Step::FlushBanks => lower.flush_banks(ask.slot, cx),
            Step::InvalidateBanks => lower.invalidate_banks(ask.slot, cx),
            Step::AnswerIt => answer(ask, cx),
            Step::Here | Step::Pass | Step::Invalidate => {
                Some(Disposition::Impossible("this step needs the lines of a cache"))
            }
        }
    }
}
