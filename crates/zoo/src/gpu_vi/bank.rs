//! A bank of the L2, with the directory of its lines.

use super::tables::{BankAction, BankEvent, BankState, BankTable};
use super::{Directory, MissingProperty, Params, ToBank, ToL1};
use crate::parts::{self, AccessSite, Answer, BankAccess, BankLines, FIRST, ResourceNeeds, forward, reply};
use crate::registration::{Phase, Round, RoundRequest};
use proto::parts::{CacheArray, Lines, Place};
use proto::{
    ByteMask, Cause, Controller, Cx, Disposition, Input, Key, KindLevel, LineAddr, LineData, LineView,
    MemoryAccess, MemoryReply, NodeId, Op, Rank, SetIndex, Slot, TimerClass, Way, WritePolicy,
};
use std::collections::BTreeSet;

/// A bank of the L2, with the directory of its lines.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bank {
    store: BankLines<BankState>,
    /// The sharers of each line, which are the L1s that may have a copy. While the sharers of a
    /// line are invalidated, only those whose acks are due.
    sharers: BTreeSet<(LineAddr, NodeId)>,
    /// The number of acks that are due, for all lines.
    due: u32,
    round: Round,
}

/// The operand of an event of a line: the data that the actions of the event's row use.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    /// The access that causes the event.
    Access(BankAccess<'a>),
    /// The bytes that the bank has fetched.
    Fill(&'a LineData),
    /// The L1 that acknowledges its invalidation.
    Sharer(NodeId),
    /// The event has no operand.
    Nothing,
}

/// The key under which new fetches wait while a round (a joint execution of acquires and releases
/// at system scope) carries out its acquires.
const ROUND: Key = Key::Other(0);

/// Whether the protocol is a test protocol that lacks this property.
fn is_missing<P: Directory>(cx: &Cx<'_, P>, property: MissingProperty) -> bool {
    cx.world.params.missing == Some(property)
}

impl Bank {
    /// An empty bank without sharers and outstanding operations.
    #[must_use]
    pub fn new(level: &KindLevel, _: &Params) -> Self {
        Bank {
            store: BankLines::new(level, BankState::I),
            sharers: BTreeSet::new(),
            due: 0,
            round: Round::default(),
        }
    }

    /// The sharers of a line (L1s that may have a copy). While they are invalidated, only those
    /// whose acks are due.
    fn sharers_of(&self, line: LineAddr) -> impl Iterator<Item = NodeId> {
        let first_level = |index| NodeId { kind: FIRST, index };
        let range = (line, first_level(0))..=(line, first_level(u16::MAX));
        self.sharers.range(range).map(|&(_, sharer)| sharer)
    }

    /// Removes the first sharer of a line. Returns whether there was one.
    fn forget_one(&mut self, line: LineAddr) -> bool {
        let first = self.sharers_of(line).next();
        first.is_some_and(|sharer| self.sharers.remove(&(line, sharer)))
    }

    fn message<P: Directory>(&mut self, from: NodeId, msg: &ToBank, cx: &mut Cx<'_, P>) -> Disposition {
        use parts::ToBank::{Access, Flush, Get, Invalidate, Write};
        match *msg {
            ToBank::Shared(Get { line }) => {
                let mask = ByteMask::full(usize::from(cx.level().line_bytes));
                let (op, answer, data) = (Op::Load, Answer::Line, &LineData::default());
                self.access(line, BankEvent::Get, BankAccess { from, op, mask, data, answer }, cx)
            }
            ToBank::Shared(Access { line, mask, ref data, op, site, answer, requester: from }) => {
                let event = match (site, op) {
                    (AccessSite::System, _) => BankEvent::Remote,
                    (_, Op::Store) => BankEvent::Write,
                    _ => BankEvent::Update,
                };
                self.access(line, event, BankAccess { from, op, mask, data, answer }, cx)
            }
            ToBank::Shared(Write { .. }) => Disposition::Impossible("an L1 has no dirty bytes"),
            ToBank::Shared(Flush { slot }) => self.join_round(from, slot, true),
            ToBank::Shared(Invalidate { slot }) => self.join_round(from, slot, false),
            ToBank::InvAck { line } => {
                let counts = if is_missing(cx, MissingProperty::ASingleCount) { 2 } else { 1 };
                let is_last = self.sharers_of(line).count() <= counts;
                let event = if is_last { BankEvent::LastAck } else { BankEvent::Ack };
                self.event(line, event, Operand::Sharer(from), cx)
            }
        }
    }

    /// Carries out the event of an access, unless the access must wait.
    fn access<P: Directory>(
        &mut self,
        line: LineAddr,
        event: BankEvent,
        access: BankAccess<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        let array = &self.store.array;
        let place = array.place(line, cx.world.homes);
        let (state, event) = Lines::<P>::classify(self, place, event, Operand::Access(access));
        let fetches = event.needs_bytes() && matches!(state, BankState::I | BankState::P);
        // An access that must wait stays behind older ones that wait for a way of its set, also if it
        // waits for a register, which the older ones need next.
        let pins = state == BankState::S && event.needs_no_copies();
        if (fetches || pins) && cx.has_way_waiter(place.set) {
            return Disposition::Stall(Key::Way(place.set));
        }
        let way = fetches || event == BankEvent::Write;
        let needs = ResourceNeeds { entry: false, register: fetches, way };
        if let Some(wait) = needs.lacks(array, place, self.store.fetches, cx) {
            return wait;
        }
        // This check comes last, so that no access that begins to wait for a round passes an older one
        // that waits for a register or a way.
        if fetches && self.round.holds_fetches() {
            return Disposition::Stall(ROUND);
        }
        self.transition(place, state, event, Operand::Access(access), cx)
    }

    fn memory<P: Directory>(&mut self, answer: &MemoryReply, cx: &mut Cx<'_, P>) -> Disposition {
        match answer.op.access {
            _ if forward(answer, cx) => Disposition::Done,
            MemoryAccess::Read => {
                self.event(answer.op.line, BankEvent::Fill, Operand::Fill(&answer.data), cx)
            }
            _ if self.store.written(answer) => Disposition::Done,
            _ => Disposition::Impossible("no write was outstanding"),
        }
    }
}

/// The rounds of a bank, each of which executes all waiting acquires and releases at system scope.
/// An acquire waits until no fetch is under way, and then invalidates all lines and their copies.
impl Bank {
    fn join_round(&mut self, node: NodeId, slot: Slot, flush: bool) -> Disposition {
        self.round.next.push(RoundRequest { node, slot, flush });
        Disposition::Done
    }

    /// Arms the timer for the next step of the round (the joint execution of acquires and releases
    /// at system scope), if the bank is ready for that step. Because of the timer, inputs that the
    /// current step wakes come before the next step.
    fn arm_round<P: Directory>(&self, cx: &mut Cx<'_, P>) {
        let is_due = match self.round.phase {
            Phase::Idle => !self.round.next.is_empty(),
            Phase::Fetches => self.store.fetches == 0,
            Phase::Recalls => self.due == 0,
            Phase::Walk(_) => true,
            Phase::Writes => !self.store.writes.is_closing(),
        };
        if is_due {
            cx.fx.timer(TimerClass::Drain);
        }
    }

    /// Takes the next step of a round (a joint execution of acquires and releases at system scope),
    /// if the bank is ready for that step.
    fn advance_round<P: Directory>(&mut self, cx: &mut Cx<'_, P>) -> Disposition {
        let round = &mut self.round;
        match round.phase {
            Phase::Idle if !round.next.is_empty() => {
                round.now.append(&mut round.next);
                round.phase = if round.has(false) { Phase::Fetches } else { begin_walk(cx) };
            }
            Phase::Fetches if self.store.fetches == 0 => {
                round.phase = Phase::Recalls;
                return self.invalidate_all(Cause::Remote, BankEvent::Inv, Operand::Nothing, cx);
            }
            Phase::Recalls if self.due == 0 => {
                round.answer(false, cx);
                round.phase = if round.now.is_empty() { Phase::Idle } else { begin_walk(cx) };
                cx.fx.wake(ROUND);
            }
            Phase::Walk(from) => {
                let Some(way) = self.store.array.next_dirty(from) else {
                    round.phase = Phase::Writes;
                    self.store.writes.turn();
                    return Disposition::Done;
                };
                round.phase = Phase::Walk(Way(way.0 + 1));
                return self.event_in(way, BankEvent::Flush, Operand::Nothing, cx);
            }
            Phase::Writes if !self.store.writes.is_closing() => {
                round.answer(true, cx);
                round.phase = Phase::Idle;
            }
            Phase::Idle | Phase::Fetches | Phase::Recalls | Phase::Writes => {}
        }
        Disposition::Done
    }
}

/// Counts a flush, and returns the phase in which a round (a joint execution of acquires and
/// releases at system scope) writes dirty lines out.
fn begin_walk<P: Directory>(cx: &mut Cx<'_, P>) -> Phase {
    cx.fx.uses.flushes.count(Cause::Remote);
    Phase::Walk(Way(0))
}

impl<P: Directory> Lines<P> for Bank {
    type Table = BankTable;
    type Operand<'a> = Operand<'a>;
    const ABSENT: BankState = BankState::I;

    fn array(&mut self) -> &mut CacheArray<BankState> {
        &mut self.store.array
    }

    fn classify(&self, place: Place, event: BankEvent, operand: Operand<'_>) -> (BankState, BankEvent) {
        let Some(way) = place.way else { return (BankState::I, event) };
        let array = &self.store.array;
        let state = match (array.state(way), operand) {
            (BankState::V, Operand::Access(access))
                if event.needs_bytes() && !array.valid(way).contains(access.mask) =>
            {
                BankState::P
            }
            // The L1 of the access has dropped its copy.
            (BankState::S, Operand::Access(access))
                if event.needs_no_copies() && self.sharers_of(place.line).all(|l1| l1 == access.from) =>
            {
                BankState::V
            }
            (state, _) => state,
        };
        (state, event)
    }

    fn act(&mut self, action: BankAction, place: Place, operand: Operand<'_>, cx: &mut Cx<'_, P>) {
        let Place { line, way, .. } = place;
        let store = &mut self.store;
        match (action, way, operand) {
            (BankAction::Fetch, ..) => store.fetch(line, cx),
            (BankAction::Fill, Some(way), Operand::Fill(data)) => store.fill(way, data, cx),
            (BankAction::EndFetch, ..) => store.end_fetch(cx),
            (BankAction::Join, _, Operand::Access(access)) => {
                let is_shared = self.sharers_of(line).next().is_some();
                if !(is_shared && is_missing(cx, MissingProperty::ASecondSharer)) {
                    self.sharers.insert((line, access.from));
                }
            }
            (BankAction::SendData, Some(way), Operand::Access(access)) => {
                let data = store.read(way, cx);
                reply(line, access, &data, cx);
            }
            (BankAction::Leave, _, Operand::Access(access)) => {
                self.sharers.remove(&(line, access.from));
            }
            (BankAction::Invalidate, ..) => {
                if is_missing(cx, MissingProperty::AnInvalidation) && self.sharers_of(line).count() > 1 {
                    self.forget_one(line);
                }
                self.sharers_of(line).for_each(|sharer| cx.fx.send(sharer, ToL1::Inv { line }));
                self.due += self.sharers_of(line).count() as u32;
            }
            (BankAction::CountAck, _, Operand::Sharer(from)) => {
                if !self.sharers.remove(&(line, from)) {
                    cx.impossible("no ack of this L1 is due");
                }
                cx.count_down(&mut self.due, "an ack comes, but none was due");
                if is_missing(cx, MissingProperty::ASingleCount) && self.forget_one(line) {
                    self.due -= 1;
                }
            }
            (BankAction::Merge, Some(way), Operand::Access(access)) => store.merge(way, access, cx),
            (BankAction::Perform, Some(way), Operand::Access(access)) => store.perform(line, way, access, cx),
            (BankAction::Settle, Some(way), _) => {
                if cx.level().array.policy != WritePolicy::Combining {
                    store.write_out(line, way, cx);
                }
            }
            (BankAction::Ack, _, Operand::Access(access)) => reply(line, access, &LineData::default(), cx),
            (BankAction::WriteOut, Some(way), _) => store.write_out(line, way, cx),
            (BankAction::PassOn, _, Operand::Access(access)) => store.pass_on(line, access, cx),
            (BankAction::Wake, ..) => {
                // Inputs that wait for the line caused the fetch or the invalidations.
                cx.fx.wake(Key::Line(line));
                cx.fx.wake(Key::Way(place.set));
                cx.fx.wake(Key::Miss);
            }
            _ => cx.lacks_operand(action),
        }
    }
}

impl<P: Directory> Controller<P> for Bank {
    type Msg = ToBank;

    fn step(&mut self, input: Input<'_, ToBank>, cx: &mut Cx<'_, P>) -> Disposition {
        let disposition = match input {
            Input::Message { from, msg } => self.message(from, msg, cx),
            Input::Memory(reply) => self.memory(reply, cx),
            Input::Evict(way) => self.event_in(way, BankEvent::Evict, Operand::Nothing, cx),
            Input::Timer(TimerClass::Drain) => self.advance_round(cx),
            Input::Timer(_) => Disposition::Impossible("no such timer was armed"),
            Input::Request(_) => Disposition::Impossible("no requests of cores enter a bank"),
            Input::Tick { .. } => Disposition::Done,
        };
        self.arm_round(cx);
        disposition
    }

    fn victims(&self, set: SetIndex, out: &mut Vec<(Way, Rank)>) {
        let array = &self.store.array;
        if array.in_set_where(set, |state| state == BankState::SI).next().is_none() {
            let is_settled = |state| matches!(state, BankState::V | BankState::S);
            out.extend(array.in_set_where(set, is_settled).map(|way| (way, Rank(0))));
        }
    }

    fn occupied(&self, set: SetIndex, out: &mut Vec<Way>) {
        out.extend(self.store.array.in_set(set));
    }

    fn lines(&self, out: &mut Vec<LineView>) {
        self.store.array.views::<BankTable>(out);
    }

    fn is_quiet(&self) -> bool {
        self.store.fetches == 0
            && self.due == 0
            && self.store.writes.is_idle()
            && self.round.phase == Phase::Idle
            && self.round.next.is_empty()
    }

    fn miscount(&self) -> Option<&'static str> {
        use BankState::{IV, S, SI, SV};
        let array = &self.store.array;
        let in_states = |among: fn(BankState) -> bool| {
            let lines = array.occupied(Way(0)).filter(move |&way| among(array.state(way)));
            lines.filter_map(|way| array.line(way)).map(|line| self.sharers_of(line).count())
        };
        let shared: usize = in_states(|state| matches!(state, S | SV | SI)).sum();
        let due: usize = in_states(|state| matches!(state, SV | SI)).sum();
        if let Some(wrong) = self.store.miscount(|state| state == IV) {
            Some(wrong)
        } else if shared != self.sharers.len() || in_states(|state| state == S).any(|sharers| sharers == 0) {
            Some("the lines with recorded sharers are not the lines in a shared state")
        } else if self.due as usize != due {
            Some("the number of acks that are due is wrong")
        } else {
            None
        }
    }

    fn canonicalize(&mut self) {
        self.store.writes.canonicalize();
        // The ways keep their positions while a round walks over them.
        if !matches!(self.round.phase, Phase::Walk(_)) {
            self.store.array.canonicalize();
        }
    }
}
