//! The plans (lists of steps) of operations at an L1 of `wt` and at a port of `apu-no-l1`. All scopes
//! have the same plans.

use crate::vi::Step;
use proto::{OpClass, PlanKey, Steps, TableId};

proto::plans! {
    /// The plan of each operation at the L1 of `wt`: the list of its steps.
    pub struct L1Plans: Step = l1_plan, TableId(5), "Operations at the L1"
}

proto::plans! {
    /// The plan of each operation at the port of `apu-no-l1`: the list of its steps.
    pub struct PortPlans: Step = port_plan, TableId(5), "Operations at the port"
}

/// Before a release is complete, all earlier writes have reached memory.
const fn release(key: PlanKey) -> &'static [Step] {
    if key.releases() { &[Step::Flush, Step::FlushBanks] } else { &[] }
}

/// Hosts invalidate the L2 before they write, so an acquire leaves it as it is. The directory performs
/// all atomics that write. An atomic load is performed at the L2, whose copies are never older than a
/// write of a host or an atomic.
const fn l1_plan(key: PlanKey) -> Steps<Step> {
    use Step::{AnswerIt, Below, BelowSystem, Here, Invalidate, Pass};
    let access: &[Step] = match key.op {
        OpClass::Fence | OpClass::KernelBegin | OpClass::KernelEnd => &[],
        OpClass::Load | OpClass::Store if key.is_plain() => return Steps::of(&[&[Here]]),
        OpClass::Load => &[Pass, Below],
        OpClass::Store | OpClass::Rmw | OpClass::Update => &[Pass, BelowSystem],
    };
    let acquire: &[Step] = if key.acquires() { &[Invalidate] } else { &[] };
    Steps::of(&[release(key), access, acquire, &[AnswerIt]])
}

/// A port has no lines, so an acquire has nothing to do.
const fn port_plan(key: PlanKey) -> Steps<Step> {
    use Step::{AnswerIt, Below, BelowSystem, Post};
    let access: &[Step] = match key.op {
        OpClass::Fence | OpClass::KernelBegin | OpClass::KernelEnd => &[],
        OpClass::Load => &[Below],
        // Only a later flush waits for a posted store.
        OpClass::Store if key.is_plain() => &[Post],
        OpClass::Store | OpClass::Rmw | OpClass::Update => &[BelowSystem],
    };
    Steps::of(&[release(key), access, &[AnswerIt]])
}
