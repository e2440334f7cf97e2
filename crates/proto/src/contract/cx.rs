//! The context of one step of a controller: the constants of the run, and the lists to which the
//! step adds its effects.

use super::{Disposition, Protocol, RequestInput};
use crate::effects::Effects;
use crate::homes::Homes;
use crate::levels::{KindLevel, Levels};
use crate::line::LineAddr;
use crate::node::{Key, NodeId, SetIndex};
use crate::parked::{ParkedInputs, has_waiters};
use crate::plan::{PlanKey, Plans};
use crate::request::{ArrayUse, Request};
use crate::seeded_fault::{RowLookup, SeededFault};
use crate::symbols::Symbol;
use crate::table::Table;

/// The constants of a run, which all steps share.
#[derive(Debug)]
pub struct World<'a, P: Protocol> {
    /// Parameters of the protocol, which do not change in a run.
    pub params: &'a P::Params,
    /// The levels of the machine: one level for each kind of controller of the protocol.
    pub levels: &'a Levels,
    /// The map from each line to its home: the chiplet and the bank that serve the line.
    pub homes: &'a Homes,
    /// The arrays that each kernel of the program uses.
    pub kernels: &'a [Vec<ArrayUse>],
    /// A seeded fault, which a test of the verifier sets: a change of one row of a table or of one
    /// plan (sequence of steps). `None` runs the protocol as written.
    pub seeded_fault: Option<SeededFault>,
}

impl<P: Protocol> Clone for World<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Protocol> Copy for World<'_, P> {}

/// The context of one step of a controller: the constants of the run, and the lists to which the
/// step adds its effects.
#[derive(Debug)]
pub struct Cx<'a, P: Protocol> {
    /// The constants of the run, which all steps share.
    pub world: World<'a, P>,
    /// The identity of the controller that takes this step.
    pub me: NodeId,
    /// The index of the current step in the plan of the request (the sequence of steps that
    /// performs it). While the request is parked (waits), the station (the controller with its
    /// parked inputs) keeps the index with the request.
    pub stage: u8,
    /// The effects of this step outside the controller: messages, answers, timers.
    pub fx: &'a mut Effects<P::Msg>,
    pub(crate) parked: &'a ParkedInputs<P::Msg>,
}

impl<'a, P: Protocol> Cx<'a, P> {
    /// The level of the machine at which this controller is.
    #[inline]
    #[must_use]
    pub fn level(&self) -> &'a KindLevel {
        self.world.levels.of(self.me.kind)
    }

    /// The controller of the level below that serves a line, or this controller itself if only
    /// memory is below.
    #[inline]
    #[must_use]
    pub fn below(&self, line: LineAddr) -> NodeId {
        match self.level().below {
            Some(kind) => self.world.levels.server(kind, self.me, line, self.world.homes),
            None => self.me,
        }
    }

    /// Whether a parked input waits for a way of the set. Such an input has priority over accesses
    /// that are presented later: none of them may take a way of the set, or start an operation during
    /// which a line of the set cannot be evicted.
    #[inline]
    #[must_use]
    pub fn has_way_waiter(&self, set: SetIndex) -> bool {
        has_waiters(self.parked, Key::Way(set))
    }

    /// Whether a parked input waits for this line. When the line changes, a wake presents its
    /// parked inputs again, one after the other. During the wake, the inputs that are still to be
    /// presented do not count.
    #[inline]
    #[must_use]
    pub fn has_line_waiter(&self, line: LineAddr) -> bool {
        has_waiters(self.parked, Key::Line(line))
    }

    /// Reports that an action lacks the request, message or bytes that it needs, because its row
    /// belongs to an event that does not carry them. The input counts as impossible.
    #[cold]
    pub fn lacks_operand<A: Symbol>(&mut self, action: A) {
        self.impossible(&format!(
            "action {} needs a request, a message or bytes, but its event carries none of them",
            action.name()
        ));
    }

    /// Subtracts one from a count. If the count is zero, reports the input as
    /// impossible, for the reason `why`.
    #[inline]
    pub fn count_down(&mut self, count: &mut u32, why: &str) {
        match count.checked_sub(1) {
            Some(rest) => *count = rest,
            None => self.impossible(why),
        }
    }

    /// Reports the current input as impossible for the reason `why`, in the middle of a step.
    #[cold]
    pub fn impossible(&mut self, why: &str) {
        self.fx.violate::<P>(self.me, why);
    }

    /// Looks up the row of a state and an event, counts the use of the row, and applies a seeded
    /// fault of that row.
    #[inline]
    pub fn row<T: Table>(&mut self, state: T::State, event: T::Event) -> RowLookup<T::State, T::Action> {
        let index = state.index() * T::Event::ALL.len() + event.index();
        self.fx.coverage.fire(T::ID, index);
        let looked = RowLookup { row: T::row(state, event), skip: None, forgets: false };
        match self.world.seeded_fault {
            Some(seeded_fault) if seeded_fault.table == T::ID => seeded_fault.change.row::<T>(looked, index),
            _ => looked,
        }
    }

    /// The step at index `stage` of a request's plan (the sequence of steps that performs the
    /// request). If the plan has a seeded fault, the step is that of the changed plan. `None` if
    /// the plan has no step at this index.
    #[inline]
    pub fn step_of<T: Plans>(&self, req: &Request, stage: u8) -> Option<T::Step> {
        match self.world.seeded_fault {
            Some(SeededFault { table, change }) if table == T::ID => {
                change.step::<T>(PlanKey::of(req), usize::from(stage))
            }
            _ => T::plan(PlanKey::of(req)).get(usize::from(stage)).copied(),
        }
    }
}

impl<P: Protocol> Cx<'_, P> {
    /// Performs the steps of a request's plan in order, from the step at index `stage` on. `take`
    /// performs one step. If `take` returns `None`, the next step follows. If `take` returns a
    /// [`Disposition`], the plan stops with this result. Exception: a row of the table with
    /// `After::Next` advances `stage` during the step. After such a row, the plan goes on even if
    /// `take` returns `Done`.
    #[inline]
    pub fn follow<T: Plans>(
        &mut self,
        ask: RequestInput<'_>,
        mut take: impl FnMut(T::Step, &mut Self) -> Option<Disposition>,
    ) -> Disposition {
        let plan = match self.world.seeded_fault {
            Some(SeededFault { table, .. }) if table == T::ID => None,
            _ => Some(T::plan(PlanKey::of(ask.req))),
        };
        let step_at = |cx: &Self| match plan {
            Some(plan) => plan.get(usize::from(cx.stage)).copied(),
            None => cx.step_of::<T>(ask.req, cx.stage),
        };
        while let Some(step) = step_at(self) {
            let stage = self.stage;
            match take(step, self) {
                None => self.stage += 1,
                Some(Disposition::Done) if self.stage != stage => {}
                Some(disposition) => return disposition,
            }
        }
        Disposition::Done
    }
}
