//! The steps from which `vi` composes the plans of operations. Other protocols use these steps and
//! add their own.

use crate::parts::{AccessSite, HasBankMessages, LowerLevel, answer};
use proto::{Cx, Disposition, Effects, Order, RequestInput, Slot, Spending, symbols};

symbols! {
    /// The steps from which the plans of operations are composed.
    pub enum Step {
        /// Perform the access on the line in this cache, and answer. The next steps of the plan run
        /// only if the access is not possible here.
        Here,
        /// Write the line's dirty bytes out and remove the line, because a level below performs the
        /// access.
        Pass,
        /// Perform the access at the L2 and wait for the answer.
        Below,
        /// Perform the access in memory and wait for the answer.
        BelowSystem,
        /// Send the access to the L2. Only a later flush waits for its ack.
        Post,
        /// Flush this cache to the L2 and wait for the acks.
        Flush,
        /// Flush the L2 to memory and wait for the acks.
        FlushBanks,
        /// Invalidate the clean bytes of this cache.
        Invalidate,
        /// Invalidate the clean bytes of the L2 and wait for the acks.
        InvalidateBanks,
        /// Answer the request.
        AnswerIt,
    }
}

impl Step {
    /// For statistics: attributes the time of the request from this step on to the access, the
    /// acquire or the release of the request.
    pub fn spends<M>(self, ask: RequestInput<'_>, fx: &mut Effects<M>) {
        if ask.req.order == Order::Plain {
            return;
        }
        match self {
            Step::Flush | Step::FlushBanks => fx.spend(ask.slot, Spending::Release),
            Step::Invalidate | Step::InvalidateBanks => fx.spend(ask.slot, Spending::Acquire),
            Step::Here | Step::Pass | Step::Below | Step::BelowSystem | Step::Post => {
                fx.spend(ask.slot, Spending::Access);
            }
            // The answer takes no time after the previous step.
            Step::AnswerIt => {}
        }
    }

    /// Performs a step at the banks, or answers the request. Returns how the request must wait, or
    /// `None` if it goes on with the next step of its plan.
    #[inline]
    pub fn descend<P: HasBankMessages, W: Copy + Eq + From<Slot>>(
        self,
        lower: &mut LowerLevel<W>,
        ask: RequestInput<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Option<Disposition> {
        match self {
            Step::Below => lower.below(ask, AccessSite::Here, cx),
            Step::BelowSystem => lower.below(ask, AccessSite::System, cx),
            Step::Post => lower.post(ask, cx),
            Step::Flush => lower.flush(ask, cx),
            Step::FlushBanks => lower.flush_banks(ask.slot, cx),
            Step::InvalidateBanks => lower.invalidate_banks(ask.slot, cx),
            Step::AnswerIt => answer(ask, cx),
            Step::Here | Step::Pass | Step::Invalidate => {
                Some(Disposition::Impossible("this step of a plan needs a cache with lines"))
            }
        }
    }
}
