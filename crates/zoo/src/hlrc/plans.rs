//! What each operation does at the L1.

use proto::{Ask, Effects, OpClass, Order, PlanKey, Reach, Spending, Steps, TableId, symbols};

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

proto::plans! {
    /// What each operation does at the L1.
    pub struct L1Plans: Step = plan, TableId(1), "Operations at the L1"
}

const fn plan(key: PlanKey) -> Steps<Step> {
    use Step::{AnswerIt, Flush, FlushBanks, Here, Invalidate, InvalidateBanks, InvalidateRest, Perform};
    // Another acquire of a word that was acquired and written here must find
    // what was released before: the release stays with registered words.
    let passes_on = matches!(key.op, OpClass::Rmw | OpClass::Update) && key.acquires();
    let releases = key.releases() || passes_on;
    if key.is_access() && (key.acquires() || releases) && matches!(key.reach(), Reach::Group) {
        // Table 3: where it is registered decides.
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

/// The access, where its word is not known to be registered.
const fn access(key: PlanKey) -> &'static [Step] {
    use Step::{Anywhere, Below, BelowSystem, Here, Pass, Post, Unregistered};
    match (key.op, key.reach()) {
        // An acquire and a release without an access (III.C.3): registration
        // has no scope.
        (OpClass::Fence | OpClass::KernelBegin | OpClass::KernelEnd, _) => &[],
        (OpClass::Load, _) if key.is_plain() => &[Here, Below],
        (OpClass::Store, _) if key.is_plain() => &[Here, Post],
        (_, Reach::System) => &[Pass, BelowSystem],
        // Scopes as a hint (V.C): performed at the L2.
        _ if key.acquires() || key.releases() => &[Pass, Unregistered],
        // Relaxed atomics do without coherence actions (III.C.3).
        (_, Reach::Group | Reach::Device) => &[Here, Pass, Anywhere],
    }
}
