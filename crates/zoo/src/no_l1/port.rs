//! The port of a compute unit that has no L1.

use crate::vi::{Lower, Step, ToBank, ToL1, answer};
use proto::{
    Ask, Controller, Cx, Disposition, Input, Level, OpClass, PlanKey, Plans, Protocol, Shape, TableId,
};

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
    fn request<P>(&mut self, ask: Ask<'_>, cx: &mut Cx<'_, P>) -> Disposition
    where
        P: Protocol<Params = Shape, Msg: From<ToBank>>,
    {
        while let Some(step) = cx.step_of::<PortPlans>(ask.req, cx.stage) {
            let shape = cx.world.params;
            step.spends(ask, cx.fx);
            let parked = match step {
                Step::Below => Some(self.lower.below(ask, false, cx)),
                Step::BelowSystem => Some(self.lower.below(ask, true, cx)),
                Step::Post => {
                    self.lower.post(ask, cx);
                    None
                }
                Step::Flush => {
                    let parked = self.lower.flush(ask, cx);
                    // No lines are queued: the marker is dealt with at once.
                    self.lower.pop(cx);
                    parked
                }
                Step::FlushBanks => self.lower.tell_banks(ask.slot, shape, |slot| ToBank::Flush { slot }, cx),
                Step::InvalidateBanks => {
                    self.lower.tell_banks(ask.slot, shape, |slot| ToBank::Invalidate { slot }, cx)
                }
                Step::AnswerIt => {
                    answer(ask, cx);
                    None
                }
                Step::Here
                | Step::Pass
                | Step::Invalidate
                | Step::Unlocked
                | Step::LockAll
                | Step::UnlockAll
                | Step::FlushOthers
                | Step::InvalidateOthers => {
                    return Disposition::Impossible("a port holds no lines, and speaks to no other port");
                }
            };
            if let Some(disposition) = parked {
                return disposition;
            }
            cx.stage += 1;
        }
        Disposition::Done
    }
}

impl<P> Controller<P> for Port
where
    P: Protocol<Params = Shape, Msg: From<ToBank>>,
{
    type Msg = ToL1;

    fn step(&mut self, input: Input<'_, ToL1>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Request(ask) => self.request(ask, cx),
            Input::Message { msg, .. } => {
                let due = self.lower.message(msg, cx);
                self.lower.pop(cx);
                if due { Disposition::Done } else { Disposition::Impossible("nothing was due") }
            }
            Input::Evict(_) => Disposition::Impossible("a port holds no lines"),
            Input::Timer(_) => Disposition::Impossible("a port asks for no timer"),
            Input::Memory(_) => Disposition::Impossible("a port does not speak to memory"),
            Input::Tick { .. } => Disposition::Done,
        }
    }

    fn is_quiet(&self) -> bool {
        self.lower.is_quiet()
    }

    fn canonicalize(&mut self) {
        self.lower.canonicalize();
    }
}
