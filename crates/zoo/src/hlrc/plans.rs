//! The plan of each operation at the L1: the list of its steps.

use proto::{Effects, OpClass, Order, PlanKey, Reach, RequestInput, Spending, Steps, TableId, symbols};

symbols! {
    /// The steps from which the plans of operations are composed.
    pub enum Step {
        /// Perform the access on the line in this cache, and answer. If the access is not possible
        /// here, an atomic that acquires or releases requests registration and waits for it. Any
        /// other access goes on with the next step of the plan.
        Here,
        /// Perform the atomic on the newly registered line, and answer.
        Perform,
        /// Invalidate the clean bytes of this cache, except for the newly registered line.
        InvalidateRest,
        /// Write the line's dirty bytes out and remove the line, because a level below performs the
        /// access.
        Pass,
        /// Load data at the L2 and wait for the answer.
        Below,
        /// Store data at the L2. Only a later flush waits for its ack.
        Post,
        /// Perform the atomic in the cache that is registered for the line, or at the L2 if there
        /// is none, and wait for the answer.
        Anywhere,
        /// Perform the atomic at the L2 after a recall of the registration, and wait for the answer.
        Unregistered,
        /// Perform the atomic in memory after a recall of the registration, and wait for the answer.
        BelowSystem,
        /// Flush the lines of the store buffer to the L2 and wait for the acks.
        Flush,
        /// Recall all registered lines, flush the L2 to memory, and wait for the acks.
        FlushBanks,
        /// Invalidate the clean bytes of this cache.
        Invalidate,
        /// Recall all registered lines, invalidate the clean bytes of the L2, and wait for the acks.
        InvalidateBanks,
        /// Answer the request.
        AnswerIt,
    }
}

impl Step {
    /// For statistics: attributes the time of the request from this step on to the access, the
    /// acquire or the release of the request. The flush and the invalidation that a registration
    /// causes count as time of the access.
    pub fn spends<M>(self, ask: RequestInput<'_>, fx: &mut Effects<M>) {
        if ask.req.order == Order::Plain {
            return;
        }
        match self {
            Step::Flush | Step::FlushBanks => fx.spend(ask.slot, Spending::Release),
            Step::Invalidate | Step::InvalidateBanks => fx.spend(ask.slot, Spending::Acquire),
            Step::Pass | Step::Anywhere | Step::Unregistered | Step::BelowSystem => {
                fx.spend(ask.slot, Spending::Access);
            }
            // By default, the time of these steps counts as access.
            Step::Here | Step::Perform | Step::InvalidateRest | Step::Below | Step::Post => {}
            // The answer takes no time after the previous step.
            Step::AnswerIt => {}
        }
    }
}

proto::plans! {
    /// The plan of each operation at the L1: the list of its steps.
    pub struct L1Plans: Step = plan, TableId(1), "Operations at the L1"
}

const fn plan(key: PlanKey) -> Steps<Step> {
    use Step::{AnswerIt, Flush, FlushBanks, Here, Invalidate, InvalidateBanks, InvalidateRest, Perform};
    // A read-modify-write continues a release sequence: a later acquire that reads its value must
    // see the writes of the earlier release. So a read-modify-write that acquires also flushes, as
    // a release does.
    let continues_release = matches!(key.op, OpClass::Rmw | OpClass::Update) && key.acquires();
    let releases = key.releases() || continues_release;
    if key.is_access() && (key.acquires() || releases) && matches!(key.reach(), Reach::Group) {
        // Table 3: the steps depend on whether the line is registered here.
        return Steps::of(&[&[Here, Perform, InvalidateRest]]);
    }
    let release: &[Step] = match key.reach() {
        _ if !releases => &[],
        Reach::Group | Reach::Device => &[Flush],
        Reach::System => &[Flush, FlushBanks],
    };
    let acquire: &[Step] = match key.reach() {
        _ if !key.acquires() => &[],
        Reach::Group | Reach::Device => &[Invalidate],
        Reach::System => &[InvalidateBanks, Invalidate],
    };
    Steps::of(&[release, access(key), acquire, &[AnswerIt]])
}

/// The steps that perform the access of an operation. The steps are fixed before the L1 knows
/// whether the line is registered to it, so they cover both cases.
const fn access(key: PlanKey) -> &'static [Step] {
    use Step::{Anywhere, Below, BelowSystem, Here, Pass, Post, Unregistered};
    match (key.op, key.reach()) {
        // An acquire or a release without an access (III.C.3). Registration has no
        // scope.
        (OpClass::Fence | OpClass::KernelBegin | OpClass::KernelEnd, _) => &[],
        (OpClass::Load, _) if key.is_plain() => &[Here, Below],
        (OpClass::Store, _) if key.is_plain() => &[Here, Post],
        (_, Reach::System) => &[Pass, BelowSystem],
        // Scopes serve as a hint (section V.C): the L2 performs an atomic of device scope.
        _ if key.acquires() || key.releases() => &[Pass, Unregistered],
        // Relaxed atomics need no coherence actions (section III.C.3).
        (_, Reach::Group | Reach::Device) => &[Here, Pass, Anywhere],
    }
}
