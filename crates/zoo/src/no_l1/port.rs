//! The port of a compute unit that has no L1: the unit's entry to the network.

use crate::parts::{HasBankMessages, LowerLevel, ToL1};
use crate::vi::{self, Step};
use core::fmt::Debug;
use core::hash::Hash;
use core::marker::PhantomData;
use proto::{
    Controller, Cx, Disposition, Input, KindLevel, OpClass, PlanKey, Plans, Reach, RequestInput, Steps,
    TableId,
};

proto::plans! {
    /// The plan of each operation at the port: the list of its steps.
    pub struct PortPlans: Step = plan, TableId(1), "Operations at the port"
}

const fn plan(key: PlanKey) -> Steps<Step> {
    let acquire: &[Step] = match key.acquired() {
        None | Some(Reach::Group | Reach::Device) => &[],
        Some(Reach::System) => &[Step::InvalidateBanks],
    };
    Steps::of(&[vi::release(key), access(key), acquire, &[Step::AnswerIt]])
}

/// The steps that perform the access of an operation. Operations of one work-group need no further
/// steps to stay in order, because they all use the channels of the same port, and a channel keeps
/// the order of its messages.
const fn access(key: PlanKey) -> &'static [Step] {
    use Step::{Below, BelowSystem, Post};
    match (key.op, key.reach()) {
        (OpClass::Fence | OpClass::KernelBegin | OpClass::KernelEnd, _) => &[],
        (OpClass::Load, Reach::System) if key.is_plain() => &[Below],
        (OpClass::Store, Reach::System) if key.is_plain() => &[Post],
        (_, Reach::System) => &[BelowSystem],
        (OpClass::Store, _) if !key.releases() => &[Post],
        (OpClass::Update, _) if !key.releases() && !key.acquires() => &[Post],
        (_, Reach::Group | Reach::Device) => &[Below],
    }
}

/// The port of a compute unit, with its outstanding operations. `T` is the type of the plans of these
/// operations.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Port<T = PortPlans> {
    lower: LowerLevel,
    plans: PhantomData<T>,
}

proto::clone_in_place! { [T] Port<T> { lower, plans } }

impl<T> Port<T> {
    /// A port without outstanding operations.
    #[must_use]
    pub fn new(_: &KindLevel, (): &()) -> Self {
        Port { lower: LowerLevel::default(), plans: PhantomData }
    }

    fn perform<P: HasBankMessages>(
        &mut self,
        step: Step,
        ask: RequestInput<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Option<Disposition> {
        step.spends(ask, cx.fx);
        step.descend(&mut self.lower, ask, cx)
    }
}

impl<P: HasBankMessages, T: Plans<Step = Step> + Eq + Hash + Debug> Controller<P> for Port<T> {
    type Msg = ToL1;

    fn step(&mut self, input: Input<'_, ToL1>, cx: &mut Cx<'_, P>) -> Disposition {
        let disposition = match input {
            Input::Request(ask) => cx.follow::<T>(ask, |step, cx| self.perform(step, ask, cx)),
            Input::Message { msg, .. } => self.lower.message(msg, cx),
            Input::Evict(_) => Disposition::Impossible("a port holds no lines"),
            Input::Timer(_) => Disposition::Impossible("a port arms no timer"),
            Input::Memory(_) => Disposition::Impossible("a port does not access memory"),
            Input::Tick { .. } => Disposition::Done,
        };
        // No lines are queued, so the marker of a flush leaves the buffer at once.
        self.lower.pop(|_| true, cx);
        disposition
    }

    fn is_quiet(&self) -> bool {
        self.lower.is_quiet()
    }

    fn canonicalize(&mut self) {
        self.lower.canonicalize();
    }
}
