//! What each operation does at the L1.

use proto::{Ask, Effects, Level, OpClass, Order, PlanKey, Reach, Spending, Steps, TableId, symbols};

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

proto::plans! {
    /// What each operation does at the L1.
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
    // What was stored here below system scope comes before an access there,
    // whatever the order.
    let registers: &[Step] =
        if key.releases() || is_system && key.is_access() { &[Step::RegisterStores] } else { &[] };
    let release: &[Step] = if is_system && key.releases() { &[FlushBanks] } else { &[] };
    let (access, answer): (&[Step], &[Step]) = match key.is_access() {
        false => (&[], &[AnswerIt]),
        true if is_system => (&[Pass, BelowSystem], &[AnswerIt]),
        // Table 3, in its order: b0-b7, b8-b15, b16-b26.
        true => (&[Register, Perform], &[]),
    };
    let acquire: &[Step] = match key.acquired() {
        None => &[],
        Some(Reach::Group | Reach::Device) => &[Invalidate],
        Some(Reach::System) => &[InvalidateBanks, Invalidate],
    };
    Steps::of(&[registers, release, access, acquire, answer])
}
