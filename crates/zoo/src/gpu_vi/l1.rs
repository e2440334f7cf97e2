//! The L1 of a compute unit.

use super::tables::{Action, Event, L1Plans, L1Table, State};
use super::{Directory, Params, ToBank, ToL1};
use crate::parts::{self, FirstLevel, Operand, ResourceNeeds, first_lines, first_views};
use crate::vi::Step;
use proto::parts::{Lines, Place};
use proto::{Controller, Cx, Disposition, Hit, Homes, Input, KindLevel, Load, RequestInput};

/// The lines of the L1, and its operations under way at the banks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct L1 {
    cache: FirstLevel<State>,
}

impl L1 {
    /// An empty cache.
    #[must_use]
    pub fn new(level: &KindLevel, _: &Params) -> Self {
        L1 { cache: FirstLevel::new(level, State::I) }
    }

    /// Performs one step in the plan (list of steps) of a request. If the result is `None`, the
    /// request continues with the next step.
    fn perform<P: Directory>(
        &mut self,
        step: Step,
        ask: RequestInput<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Option<Disposition> {
        let line = ask.req.line;
        step.spends(ask, cx.fx);
        match step {
            Step::Here => {
                let place = self.cache.array.place(line, cx.world.homes);
                let needs = ResourceNeeds { entry: false, register: place.way.is_none(), way: true };
                let lacks = self.cache.lacks(place, needs, cx);
                Some(lacks.unwrap_or_else(|| self.event(line, Event::Load, Operand::Request(ask), cx)))
            }
            // The copy leaves in the same step.
            Step::Below | Step::BelowSystem => {
                let dropped = self.event(line, Event::Pass, Operand::Nothing, cx).unless_done();
                dropped.or_else(|| step.descend(&mut self.cache.lower, ask, cx))
            }
            _ => step.descend(&mut self.cache.lower, ask, cx),
        }
    }
}

impl<P: Directory> Lines<P> for L1 {
    type Operand<'a> = Operand<'a>;

    first_lines! { cache: L1Table, absent: State::I }

    fn classify(&self, place: Place, event: Event, _: Operand<'_>) -> (State, Event) {
        (place.way.map_or(State::I, |way| self.cache.array.state(way)), event)
    }

    fn act(&mut self, action: Action, place: Place, operand: Operand<'_>, cx: &mut Cx<'_, P>) {
        let Place { line, way, .. } = place;
        match (action, way, operand) {
            (Action::SendGet, ..) => self.cache.get(line, cx),
            (Action::Reply, Some(way), Operand::Request(ask)) => self.cache.reply(way, ask, cx),
            (Action::Fill, Some(way), Operand::Fill(data)) => self.cache.fill(way, data, cx),
            (Action::Answer, _, Operand::Fill(data)) => cx.fx.reply_waiters(line, *data),
            (Action::Wake, ..) => self.cache.end_get(place, cx),
            (Action::AckInv, ..) => cx.fx.send(cx.below(line), ToBank::InvAck { line }),
            (Action::Reply | Action::Fill | Action::Answer, ..) => cx.lacks_operand(action),
        }
    }
}

impl<P: Directory> Controller<P> for L1 {
    type Msg = ToL1;

    fn step(&mut self, input: Input<'_, ToL1>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Request(ask) => cx.follow::<L1Plans>(ask, |step, cx| self.perform(step, ask, cx)),
            Input::Message { msg: ToL1::Shared(parts::ToL1::Data { line, data }), .. } => {
                self.event(*line, Event::Data, Operand::Fill(data), cx)
            }
            Input::Message { msg: ToL1::Shared(msg), .. } => self.cache.lower.message(msg, cx),
            Input::Message { msg: ToL1::Inv { line }, .. } => {
                self.event(*line, Event::Inv, Operand::Nothing, cx)
            }
            Input::Evict(way) => self.event_in(way, Event::Evict, Operand::Nothing, cx),
            Input::Timer(_) | Input::Memory(_) => Disposition::Impossible("an L1 has no timer"),
            Input::Tick { .. } => Disposition::Done,
        }
    }

    fn hit(&self, load: &Load, homes: &Homes) -> Option<Hit<'_>> {
        self.cache.hit::<L1Table, L1Plans>(load, homes, Step::Here, (Event::Load, Action::Reply))
    }

    fn miscount(&self) -> Option<&'static str> {
        let fills = self.cache.array.count_where(|state| matches!(state, State::IV | State::IX));
        self.cache.miscount(fills..=fills, |_| true)
    }

    first_views! { cache: L1Table, settled: State::V }
}
