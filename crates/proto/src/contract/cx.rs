//! What a step can see and do.

use super::{Ask, Disposition, Protocol};
use crate::effects::Effects;
use crate::homes::Homes;
use crate::levels::{Fitted, Levels};
use crate::line::LineAddr;
use crate::node::{Key, NodeId, SetIndex};
use crate::plan::{PlanKey, Plans};
use crate::request::{ArrayUse, Request};
use crate::station::ParkedInputs;
use crate::symbols::Symbol;
use crate::table::{Change, Looked, Mutation, Row, Table};

/// What every step of a run shares and none may change.
#[derive(Debug)]
pub struct World<'a, P: Protocol> {
    /// Immutable parameters of the protocol.
    pub params: &'a P::Params,
    /// The levels of the machine.
    pub levels: &'a Levels,
    /// Where lines live.
    pub homes: &'a Homes,
    /// The arrays that each kernel of the program uses.
    pub kernels: &'a [Vec<ArrayUse>],
    /// A seeded fault, when the checker is being checked.
    pub mutation: Option<Mutation>,
}

impl<P: Protocol> Clone for World<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Protocol> Copy for World<'_, P> {}

/// What a step can see and do.
#[derive(Debug)]
pub struct Cx<'a, P: Protocol> {
    /// What all steps share.
    pub world: World<'a, P>,
    /// This controller.
    pub me: NodeId,
    /// The step of its plan at which a request stands. Kept with the request
    /// while it is parked.
    pub stage: u8,
    /// What is done.
    pub fx: &'a mut Effects<P::Msg>,
    pub(crate) parked: &'a ParkedInputs<P::Msg>,
}

impl<'a, P: Protocol> Cx<'a, P> {
    /// The level of this controller.
    #[inline]
    #[must_use]
    pub fn level(&self) -> &'a Fitted {
        self.world.levels.of(self.me.kind)
    }

    /// The controller below that serves a line; this one, if memory is below.
    #[inline]
    #[must_use]
    pub fn below(&self, line: LineAddr) -> NodeId {
        match self.level().below {
            Some(kind) => self.world.levels.server(kind, self.me, line, self.world.homes),
            None => self.me,
        }
    }

    /// Does something wait for a way of the set? Whatever takes a way there, or
    /// pins a line that could be given up, comes behind it.
    #[inline]
    #[must_use]
    pub fn is_wanted(&self, set: SetIndex) -> bool {
        self.parked.contains_key(&Key::Way(set))
    }

    /// An action of a row has no request, message or bytes to work on: the row
    /// stands where such an input cannot be. The input is reported as one that
    /// cannot happen.
    #[cold]
    pub fn lacks_operand<A: Symbol>(&mut self, action: A) {
        self.impossible(&format!("{} has nothing to work on", action.name()));
    }

    /// Counts one down. Where there is none to count, the input is reported as
    /// one that cannot happen, for that reason.
    #[inline]
    pub fn count_down(&mut self, count: &mut u32, why: &str) {
        match count.checked_sub(1) {
            Some(rest) => *count = rest,
            None => self.impossible(why),
        }
    }

    /// Reports the input as one that cannot happen, in the middle of a step.
    #[cold]
    pub fn impossible(&mut self, why: &str) {
        self.fx.violate::<P>(self.me, why);
    }

    /// Looks a row up, counts it, and applies the seeded fault if it is there.
    #[inline]
    pub fn row<T: Table>(&mut self, state: T::State, event: T::Event) -> Looked<T::State, T::Action> {
        let index = state.index() * T::Event::ALL.len() + event.index();
        self.fx.coverage.fire(T::ID, index);
        let looked = Looked { row: T::row(state, event), skip: None, forgets: false };
        match self.world.mutation {
            Some(mutation) if mutation.table == T::ID => mutated::<T>(looked, index, mutation.change),
            _ => looked,
        }
    }

    /// The plan of a request, shortened by the seeded fault if it is there.
    #[inline]
    pub fn step_of<T: Plans>(&self, req: &Request, stage: u8) -> Option<T::Step> {
        match self.world.mutation {
            Some(Mutation { table, change }) if table == T::ID => {
                change.step::<T>(PlanKey::of(req), usize::from(stage))
            }
            _ => T::plan(PlanKey::of(req)).get(usize::from(stage)).copied(),
        }
    }
}

impl<P: Protocol> Cx<'_, P> {
    /// Takes the steps of a request's plan, from the one at which it stands,
    /// for as long as `take` says `None`. A row that sends the request on to
    /// its next step has moved the stage already.
    #[inline]
    pub fn follow<T: Plans>(
        &mut self,
        ask: Ask<'_>,
        mut take: impl FnMut(T::Step, &mut Self) -> Option<Disposition>,
    ) -> Disposition {
        let plan = match self.world.mutation {
            Some(Mutation { table, .. }) if table == T::ID => None,
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

fn mutated<T: Table>(
    looked: Looked<T::State, T::Action>,
    index: usize,
    change: Change,
) -> Looked<T::State, T::Action> {
    match (change, looked.row) {
        (Change::DropAction { row, action }, _) if usize::from(row) == index => {
            Looked { skip: Some(action), ..looked }
        }
        (Change::NextState { row, state }, Row::Do { actions, after, .. }) if usize::from(row) == index => {
            let next = T::State::ALL.get(usize::from(state)).copied();
            Looked { row: Row::Do { actions, next, after }, ..looked }
        }
        (Change::NoStall { row, state }, Row::Stall) if usize::from(row) == index => {
            let event = T::Event::ALL[index % T::Event::ALL.len()];
            Looked { row: T::row(T::State::ALL[usize::from(state)], event), ..looked }
        }
        (Change::ForgetByte { row }, _) if usize::from(row) == index => Looked { forgets: true, ..looked },
        _ => looked,
    }
}
