//! The port of a compute unit that has no L1.

use crate::parts::{Descends, How, Lower, ToL1, answer};
use crate::vi::Step;
use proto::{Ask, Controller, Cx, Disposition, Input, Level, OpClass, PlanKey, Plans, Shape, TableId};

/// What each operation does at the port.
#[derive(Clone, Copy, Debug)]
pub struct PortPlans;

impl Plans for PortPlans {
    type Step = Step;
    const ID: TableId = TableId(1);
    const NAME: &'static str = "Operations at the port";

    fn plan(key: PlanKey) -> &'static [Step] {
        use OpClass::*;
        use Step::*;
        let (acquires, releases) = (key.order.acquires(), key.order.releases());
        match (key.op, key.level) {
            (KernelBegin, Level::System) => &[InvalidateBanks, AnswerIt],
            (KernelEnd, Level::System) => &[Flush, FlushBanks, AnswerIt],
            (KernelBegin, _) => &[AnswerIt],
            (KernelEnd, _) => &[Flush, AnswerIt],

            (Load, Level::System) if acquires => &[BelowSystem, InvalidateBanks, AnswerIt],
            (Load, Level::System) if key.order.is_atomic() => &[BelowSystem, AnswerIt],
            (Load, _) => &[Below, AnswerIt],
            (Store, Level::System) if releases => &[Flush, FlushBanks, BelowSystem, AnswerIt],
            (Store, Level::System) if key.order.is_atomic() => &[BelowSystem, AnswerIt],
            (Rmw | Update, Level::System) => match (acquires, releases) {
                (true, true) => &[Flush, FlushBanks, BelowSystem, InvalidateBanks, AnswerIt],
                (true, false) => &[BelowSystem, InvalidateBanks, AnswerIt],
                (false, true) => &[Flush, FlushBanks, BelowSystem, AnswerIt],
                (false, false) => &[BelowSystem, AnswerIt],
            },
            (Fence, Level::System) => match (acquires, releases) {
                (true, true) => &[Flush, FlushBanks, InvalidateBanks, AnswerIt],
                (true, false) => &[InvalidateBanks, AnswerIt],
                (false, true) => &[Flush, FlushBanks, AnswerIt],
                (false, false) => &[AnswerIt],
            },

            // The port's channels keep what one work-group does in order.
            (Store | Rmw | Update, Level::WorkItem | Level::SubGroup | Level::WorkGroup) if releases => {
                &[Below, AnswerIt]
            }
            (Fence, Level::WorkItem | Level::SubGroup | Level::WorkGroup) => &[AnswerIt],
            (Store | Rmw | Update, _) if releases => &[Flush, Below, AnswerIt],
            (Fence, _) if releases => &[Flush, AnswerIt],
            (Fence, _) => &[AnswerIt],
            (Store, _) => &[Post, AnswerIt],
            (Update, _) if !acquires => &[Post, AnswerIt],
            (Rmw | Update, _) => &[Below, AnswerIt],
        }
    }
}

/// The port: nothing but what is under way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Port {
    lower: Lower,
}

impl Port {
    /// A port without anything under way.
    #[must_use]
    pub fn new(_: &Shape) -> Self {
        Port::default()
    }

    fn perform<P: Descends>(&mut self, step: Step, ask: Ask<'_>, cx: &mut Cx<'_, P>) -> Option<Disposition> {
        step.spends(ask, cx.fx);
        match step {
            Step::Below => self.lower.below(ask, How::Here, cx),
            Step::BelowSystem => self.lower.below(ask, How::System, cx),
            Step::Post => self.lower.post(ask, cx),
            Step::Flush => self.lower.flush(ask, cx),
            Step::FlushBanks => self.lower.flush_banks(ask.slot, cx),
            Step::InvalidateBanks => self.lower.invalidate_banks(ask.slot, cx),
            Step::AnswerIt => answer(ask, cx),
            Step::Here
            | Step::Pass
            | Step::Invalidate
            | Step::Unlocked
            | Step::LockAll
            | Step::UnlockAll
            | Step::FlushOthers
            | Step::InvalidateOthers => {
                Some(Disposition::Impossible("a port holds no lines, and speaks to no other port"))
            }
        }
    }
}

impl<P: Descends> Controller<P> for Port {
    type Msg = ToL1;

    fn step(&mut self, input: Input<'_, ToL1>, cx: &mut Cx<'_, P>) -> Disposition {
        let done = match input {
            Input::Request(ask) => cx.follow::<PortPlans>(ask, |step, cx| self.perform(step, ask, cx)),
            Input::Message { msg, .. } => self.lower.message(msg, cx),
            Input::Evict(_) => Disposition::Impossible("a port holds no lines"),
            Input::Timer(_) => Disposition::Impossible("a port asks for no timer"),
            Input::Memory(_) => Disposition::Impossible("a port does not speak to memory"),
            Input::Tick { .. } => Disposition::Done,
        };
        // No lines are queued: the marker of a flush is dealt with at once.
        self.lower.pop(|_| true, cx);
        done
    }

    fn is_quiet(&self) -> bool {
        self.lower.is_quiet()
    }

    fn canonicalize(&mut self) {
        self.lower.canonicalize();
    }
}
