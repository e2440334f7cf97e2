//! The plan of each operation at the L1: the list of its steps.

use proto::{
    Effects, Level, OpClass, Order, PlanKey, Reach, RequestInput, Spending, Steps, TableId, symbols,
};

symbols! {
    /// The steps from which the plans of operations are composed.
    pub enum Step {
        /// Perform the data access on the line in this cache, and answer.
        Here,
        /// Request registration of all lines with stored data in this cache, and wait for the
        /// grants: the store registration of Table 3.
        RegisterStores,
        /// Request registration of the line, if it is not registered here, and wait for the grant.
        Register,
        /// Perform the atomic on the registered line, and answer.
        Perform,
        /// Invalidate the clean bytes of unregistered lines in this cache.
        Invalidate,
        /// Invalidate the clean bytes of the line, because a level below performs the access.
        Pass,
        /// Perform the access in memory after a recall of the registration, and wait for the answer.
        BelowSystem,
        /// Recall all registered lines, flush the L2 to memory, and wait for the acks.
        FlushBanks,
        /// Recall all registered lines, invalidate the clean bytes of the L2, and wait for the acks.
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
            // An atomic that this cache performed is already answered, so its invalidation takes no
            // time of the request.
            Step::Invalidate if ask.req.is_atomic_access() && ask.req.scope.level != Level::System => {}
            Step::RegisterStores | Step::FlushBanks => fx.spend(ask.slot, Spending::Release),
            Step::Invalidate | Step::InvalidateBanks => fx.spend(ask.slot, Spending::Acquire),
            Step::Register | Step::Pass | Step::BelowSystem => fx.spend(ask.slot, Spending::Access),
            // A plan with the step `Here` has no other step. The time of `Perform` and `AnswerIt`
            // counts like the time of the previous step.
            Step::Here | Step::Perform | Step::AnswerIt => {}
        }
    }
}

proto::plans! {
    /// The plan of each operation at the L1: the list of its steps.
    pub struct L1Plans: Step = plan, TableId(1), "Operations at the L1"
}

const fn plan(key: PlanKey) -> Steps<Step> {
    use Step::{
        AnswerIt, BelowSystem, FlushBanks, Here, Invalidate, InvalidateBanks, Pass, Perform, Register,
    };
    let is_system = matches!(key.reach(), Reach::System);
    if matches!(key.op, OpClass::Load | OpClass::Store) && key.is_plain() {
        return Steps::of(&[&[Here]]);
    }
    // An access at system scope, of any order, comes after the earlier stores of this cache.
    let registers: &[Step] =
        if key.releases() || is_system && key.is_access() { &[Step::RegisterStores] } else { &[] };
    let release: &[Step] = if is_system && key.releases() { &[FlushBanks] } else { &[] };
    let (access, answer): (&[Step], &[Step]) = match key.is_access() {
        false => (&[], &[AnswerIt]),
        true if is_system => (&[Pass, BelowSystem], &[AnswerIt]),
        // The plan takes its steps in the order of Table 3: rows b0-b7, b8-b15, b16-b26.
        true => (&[Register, Perform], &[]),
    };
    let acquire: &[Step] = match key.acquired() {
        None => &[],
        Some(Reach::Group | Reach::Device) => &[Invalidate],
        Some(Reach::System) => &[InvalidateBanks, Invalidate],
    };
    Steps::of(&[registers, release, access, acquire, answer])
}
