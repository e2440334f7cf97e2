//! A bank of the L2 that records which first-level cache is registered for a line.
//!
//! The bank records the owner (the registered cache) separately from the line's bytes. So data of
//! the line can be read and written in the bank while the owner performs the atomics on the line.

use super::bank_rows::{BankAction, BankEvent, BankState};
use super::msg::{ToBank, ToL1};
use super::round::{Phase, Round, RoundRequest};
use super::{EvictableStates, Params, RegistrationProtocol, victims};
use crate::parts::{self, AccessSite, Answer, BankAccess, BankLines, ResourceNeeds, forward, reply};
use core::fmt::Debug;
use core::hash::Hash;
use core::marker::PhantomData;
use proto::parts::{CacheArray, Lines, Place};
use proto::{
    ByteMask, Cause, Controller, Cx, Disposition, Input, Key, KindLevel, LineAddr, LineData, LineView,
    MemoryAccess, MemoryReply, NodeId, Op, Rank, Row, SetIndex, Slot, Table, TimerClass, Way, WritePolicy,
};
use std::collections::BTreeMap;

/// A state transition table for the lines of a bank. The protocols that register lines use
/// different tables.
pub trait Rows:
    Table<State = BankState, Event = BankEvent, Action = BankAction> + Clone + Eq + Hash + Debug
{
}
impl<T: Table<State = BankState, Event = BankEvent, Action = BankAction> + Clone + Eq + Hash + Debug> Rows
    for T
{
}

/// A bank of the L2. `T` is the state transition table of its lines, which differs between
/// protocols.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Bank<T> {
    store: BankLines<BankState>,
    /// The owner (the registered cache) of each registered line. A recall may be under way: the
    /// states of these lines are R, RC and RE.
    owners: BTreeMap<LineAddr, NodeId>,
    recalls: u32,
    round: Round,
    /// Whether registered lines are evicted last (after all other lines).
    retains: bool,
    rows: PhantomData<T>,
}

proto::clone_in_place! { [T] Bank<T> { store, owners, recalls, round, retains, rows } }

/// A request of a first-level cache for registration.
#[derive(Clone, Copy, Debug)]
pub struct Registrant {
    from: NodeId,
    mask: ByteMask,
    slot: Option<Slot>,
}

/// The data that comes with an event of a line. The actions in the table row of the event use it.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    /// An access to the line. The flag is true for an atomic that comes from the requester itself,
    /// and not from a cache that has passed it on.
    Access(BankAccess<'a>, bool),
    /// A first-level cache's request for registration.
    Register(Registrant),
    /// Bytes with their mask: from memory's reply, or from a returned registration.
    Bytes(ByteMask, &'a LineData),
    /// No data comes with the event.
    Nothing,
}

const UNOWNED: &str = "no first-level cache is registered for the line";

/// The key that stands for the end of the recalls of a round (a joint execution of acquires and
/// releases at system scope). Inputs wait for this event.
const ROUND: Key = Key::Other(0);

fn full<P: RegistrationProtocol>(cx: &Cx<'_, P>) -> ByteMask {
    ByteMask::full(usize::from(cx.level().line_bytes))
}

impl<T: Rows> Bank<T> {
    /// An empty bank, without registrations and without outstanding operations.
    #[must_use]
    pub fn new(level: &KindLevel, params: &Params) -> Self {
        Bank {
            store: BankLines::new(level, BankState::I),
            owners: BTreeMap::new(),
            recalls: 0,
            round: Round::default(),
            retains: params.retains,
            rows: PhantomData,
        }
    }

    fn message<P: RegistrationProtocol>(
        &mut self,
        from: NodeId,
        msg: &ToBank,
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        use parts::ToBank::{Access, Flush, Get, Invalidate, Write};
        let none = LineData::default();
        let policy = cx.level().array.policy;
        match *msg {
            ToBank::Shared(Get { line }) => {
                let access =
                    BankAccess { from, op: Op::Load, mask: full(cx), data: &none, answer: Answer::Line };
                self.access(line, BankEvent::Get, Operand::Access(access, false), cx)
            }
            ToBank::Shared(Write { line, mask, ref data, parity }) => {
                let write = BankAccess { from, op: Op::Store, mask, data, answer: Answer::Posted { parity } };
                self.access(line, write_event(policy), Operand::Access(write, false), cx)
            }
            ToBank::Shared(Access { line, mask, ref data, op, site, answer, requester }) => {
                let event = match site {
                    AccessSite::Here if op == Op::Store => write_event(policy),
                    AccessSite::Here => BankEvent::Read,
                    AccessSite::Anywhere => BankEvent::Anywhere,
                    AccessSite::Unregistered => BankEvent::Unregistered,
                    AccessSite::System => BankEvent::System,
                };
                // An access that a cache has passed on to the bank has already been counted.
                let atomic = site != AccessSite::Here && requester == from;
                let access = BankAccess { from: requester, op, mask, data, answer };
                self.access(line, event, Operand::Access(access, atomic), cx)
            }
            ToBank::Shared(Flush { slot }) => self.join_round(from, slot, true, cx),
            ToBank::Shared(Invalidate { slot }) => self.join_round(from, slot, false, cx),
            ToBank::Register { line, mask, slot } => {
                let renews = self.owners.get(&line) == Some(&from);
                let event = if renews { BankEvent::Renew } else { BankEvent::Register };
                self.access(line, event, Operand::Register(Registrant { from, mask, slot }), cx)
            }
            ToBank::Return { line, mask, ref data, .. } => {
                self.line_event(line, BankEvent::Return, Operand::Bytes(mask, data), cx)
            }
        }
    }

    /// Carries out an event of a line that an access causes. If the access must wait for a miss
    /// register, for a way or for a round (a joint execution of acquires and releases at system
    /// scope), the result says how it waits.
    fn access<P: RegistrationProtocol>(
        &mut self,
        line: LineAddr,
        event: BankEvent,
        operand: Operand<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        let array = &self.store.array;
        let place = array.place(line, cx.world.homes);
        // A grant carries the whole line, so a registration needs all bytes of the line.
        let needed = match operand {
            Operand::Access(access, _) => access.mask,
            Operand::Register(_) | Operand::Bytes(..) | Operand::Nothing => full(cx),
        };
        let misses = |way| event.needs_bytes() && !array.valid(way).contains(needed);
        let (state, mut event) = match Lines::<P>::classify(self, place, event, operand) {
            (BankState::V, event) if place.way.is_some_and(misses) => (BankState::P, event),
            unchanged => unchanged,
        };
        let fetches = event.needs_bytes() && matches!(state, BankState::I | BankState::P);
        let is_write = matches!(event, BankEvent::Write | BankEvent::WriteThrough);
        if is_write && place.way.is_none() && array.free_way(place).is_none() {
            // A way may become free only after a recall, and the recall may wait
            // for this write. So the write bypasses the bank.
            event = BankEvent::WriteDrop;
        }
        let recalls =
            matches!(T::row(state, event), Row::Do { actions, .. } if actions.contains(&BankAction::Recall));
        let grants = event == BankEvent::Register && state == BankState::V;
        let waits_for_recalls = grants && self.round.holds_grants();
        if (recalls || waits_for_recalls) && cx.has_way_waiter(place.set) {
            return Disposition::Stall(Key::Way(place.set));
        }
        let needs = ResourceNeeds { entry: false, register: fetches, way: fetches };
        if let Some(wait) = needs.lacks(array, place, self.store.fetches, cx) {
            return wait;
        }
        // This check comes last, so that no access that begins to wait for a round passes an older one
        // that waits for a register or a way.
        if waits_for_recalls || fetches && self.round.holds_fetches() {
            return Disposition::Stall(ROUND);
        }
        self.transition(place, state, event, operand, cx)
    }

    /// Carries out an event of a line that no access causes, such as a fill. Then arms the timer of
    /// the round (the joint execution of acquires and releases at system scope), if the round can
    /// continue.
    fn line_event<P: RegistrationProtocol>(
        &mut self,
        line: LineAddr,
        event: BankEvent,
        operand: Operand<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        let disposition = self.event(line, event, operand, cx);
        self.arm_round(cx);
        disposition
    }

    fn memory<P: RegistrationProtocol>(&mut self, answer: &MemoryReply, cx: &mut Cx<'_, P>) -> Disposition {
        match answer.op.access {
            _ if forward(answer, cx) => {}
            MemoryAccess::Read => {
                let bytes = Operand::Bytes(full(cx), &answer.data);
                return self.line_event(answer.op.line, BankEvent::Fill, bytes, cx);
            }
            _ if self.store.written(answer) => self.arm_round(cx),
            _ => return Disposition::Impossible("no write was outstanding"),
        }
        Disposition::Done
    }
}

/// The rounds of a bank. In one round the bank executes all waiting acquires and releases at system
/// scope together, after it has recalled all registered lines.
impl<T: Rows> Bank<T> {
    fn join_round<P: RegistrationProtocol>(
        &mut self,
        node: NodeId,
        slot: Slot,
        flush: bool,
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        self.round.next.push(RoundRequest { node, slot, flush });
        self.arm_round(cx);
        Disposition::Done
    }

    /// Arms the timer for the next step of the round (the joint execution of acquires and releases
    /// at system scope), if the bank is ready for that step. Because of the timer, inputs that the
    /// current step wakes come before the next step.
    fn arm_round<P: RegistrationProtocol>(&self, cx: &mut Cx<'_, P>) {
        let due = match self.round.phase {
            Phase::Idle => !self.round.next.is_empty(),
            Phase::Fetches => self.store.fetches == 0,
            Phase::Recalls => self.recalls == 0,
            Phase::Walk(_) => true,
            Phase::Writes => !self.store.writes.is_closing(),
        };
        if due {
            cx.fx.timer(TimerClass::Drain);
        }
    }

    /// Takes the next step of a round (a joint execution of acquires and releases at system scope),
    /// if the bank is ready for that step.
    fn advance_round<P: RegistrationProtocol>(&mut self, cx: &mut Cx<'_, P>) -> Disposition {
        let mut disposition = Disposition::Done;
        match self.round.phase {
            Phase::Idle if !self.round.next.is_empty() => {
                self.round.now.append(&mut self.round.next);
                self.round.phase = Phase::Fetches;
            }
            Phase::Fetches if self.store.fetches == 0 => {
                self.round.phase = Phase::Recalls;
                let is_registered = |_, state| state == BankState::R;
                disposition = self.event_of_all(is_registered, BankEvent::Call, Operand::Nothing, cx);
            }
            Phase::Recalls if self.recalls == 0 => disposition = self.recalled(cx),
            Phase::Walk(from) => disposition = self.walk(from, cx),
            Phase::Writes if !self.store.writes.is_closing() => {
                self.round.answer(true, cx);
                self.round.phase = Phase::Idle;
            }
            Phase::Idle | Phase::Fetches | Phase::Recalls | Phase::Writes => {}
        }
        self.arm_round(cx);
        disposition
    }

    /// Continues a round (a joint execution of acquires and releases at system scope) after its
    /// recalls, when no line is registered and no fetch is outstanding.
    fn recalled<P: RegistrationProtocol>(&mut self, cx: &mut Cx<'_, P>) -> Disposition {
        let mut disposition = Disposition::Done;
        if self.round.has(false) {
            disposition = self.invalidate_all(Cause::Remote, BankEvent::Inv, Operand::Nothing, cx);
            self.round.answer(false, cx);
        }
        self.round.phase = Phase::Idle;
        if !self.round.now.is_empty() {
            cx.fx.uses.flushes.count(Cause::Remote);
            self.round.phase = Phase::Walk(Way(0));
        }
        cx.fx.wake(ROUND);
        disposition
    }

    /// Writes out the first dirty line in the ways from `from` on. The bank calls this method on
    /// each expiry of the timer, so accesses can proceed between two lines. If no dirty line is
    /// left, the bank begins to wait for the acks of memory.
    fn walk<P: RegistrationProtocol>(&mut self, from: Way, cx: &mut Cx<'_, P>) -> Disposition {
        let Some(way) = self.store.array.next_dirty(from) else {
            self.round.phase = Phase::Writes;
            self.store.writes.turn();
            return Disposition::Done;
        };
        self.round.phase = Phase::Walk(Way(way.0 + 1));
        self.event_in(way, BankEvent::Flush, Operand::Nothing, cx)
    }
}

impl<P: RegistrationProtocol, T: Rows> Lines<P> for Bank<T> {
    type Table = T;
    type Operand<'a> = Operand<'a>;
    const ABSENT: BankState = BankState::I;

    fn array(&mut self) -> &mut CacheArray<BankState> {
        &mut self.store.array
    }

    fn classify(&self, place: Place, event: BankEvent, _: Operand<'_>) -> (BankState, BankEvent) {
        let Some(way) = place.way else { return (BankState::I, event) };
        let array = &self.store.array;
        let is_dirty = !array.dirty(way).is_empty();
        let event = if event == BankEvent::Inv && is_dirty { BankEvent::InvDirty } else { event };
        (array.state(way), event)
    }

    fn act(&mut self, action: BankAction, place: Place, operand: Operand<'_>, cx: &mut Cx<'_, P>) {
        let Place { line, way, .. } = place;
        let store = &mut self.store;
        match (action, way, operand) {
            (BankAction::Fetch, ..) => store.fetch(line, cx),
            (BankAction::SendData, Some(way), Operand::Access(access, _)) => {
                let data = store.read(way, cx);
                reply(line, access, &data, cx);
            }
            (BankAction::Merge, Some(way), Operand::Access(access, _)) => store.merge(way, access, cx),
            (BankAction::WriteMemory, _, Operand::Access(access, _)) => {
                store.write_below(line, access.mask, access.data, cx);
            }
            (BankAction::WriteOut, Some(way), _) => store.write_out(line, way, cx),
            (BankAction::Ack, _, Operand::Access(access, _)) => reply(line, access, &LineData::default(), cx),
            (BankAction::Perform, Some(way), Operand::Access(access, _)) => {
                store.perform(line, way, access, cx);
            }
            (BankAction::PassOn, _, Operand::Access(access, _)) => store.pass_on(line, access, cx),
            (BankAction::Own, _, Operand::Register(Registrant { from, .. })) => {
                cx.fx.uses.lines_registered += 1;
                self.owners.insert(line, from);
            }
            (BankAction::Grant, Some(way), Operand::Register(Registrant { from, mask, slot })) => {
                let data = store.read(way, cx);
                cx.fx.send(from, ToL1::Grant { line, mask, slot, data });
            }
            (BankAction::Recall, ..) => {
                self.recalls += 1;
                cx.fx.uses.sync_remote += u32::from(match operand {
                    Operand::Access(_, atomic) => atomic,
                    Operand::Register(Registrant { mask, .. }) => !mask.is_empty(),
                    Operand::Bytes(..) | Operand::Nothing => false,
                });
                match self.owners.get(&line) {
                    Some(&owner) => cx.fx.send(owner, ToL1::Recall { line }),
                    None => cx.impossible(UNOWNED),
                }
            }
            (BankAction::Forward, _, Operand::Access(access, _)) => {
                let Some(&owner) = self.owners.get(&line) else { return cx.impossible(UNOWNED) };
                let BankAccess { from: requester, op, mask, data, answer } = access;
                cx.fx.uses.bypasses += 1;
                match answer {
                    Answer::Request(slot) => {
                        cx.fx.uses.sync_remote += 1;
                        cx.fx.send(owner, ToL1::Forward { line, mask, data: *data, op, slot, requester });
                    }
                    Answer::Line => cx.fx.send(owner, ToL1::Serve { line, requester }),
                    Answer::Posted { .. } => cx.impossible("a posted write is not forwarded"),
                }
            }
            (BankAction::TakeBack, Some(way), Operand::Bytes(mask, data)) => {
                cx.fx.uses.lines_unregistered += 1;
                cx.fx.uses.data_writes += u32::from(!mask.is_empty());
                if self.owners.remove(&line).is_none() {
                    cx.impossible(UNOWNED);
                }
                store.array.write(way, data, mask);
            }
            (BankAction::EndRecall, ..) => {
                cx.count_down(&mut self.recalls, "a recall ends, but no recall was under way");
            }
            (BankAction::Fill, Some(way), Operand::Bytes(_, data)) => store.fill(way, data, cx),
            (BankAction::EndFetch, ..) => store.end_fetch(cx),
            (BankAction::KeepDirty, Some(way), _) => store.array.keep_dirty(way),
            (BankAction::Wake, ..) => {
                // Inputs that wait for the line have priority over inputs that wait for a way,
                // because the former caused the recall.
                cx.fx.wake(Key::Line(line));
                cx.fx.wake(Key::Way(place.set));
                cx.fx.wake(Key::Miss);
            }
            (
                BankAction::SendData
                | BankAction::Merge
                | BankAction::WriteMemory
                | BankAction::WriteOut
                | BankAction::Ack
                | BankAction::Perform
                | BankAction::PassOn
                | BankAction::Own
                | BankAction::Grant
                | BankAction::Forward
                | BankAction::TakeBack
                | BankAction::Fill
                | BankAction::KeepDirty,
                ..,
            ) => cx.lacks_operand(action),
        }
    }
}

fn write_event(policy: WritePolicy) -> BankEvent {
    policy.pick(BankEvent::Write, BankEvent::WriteThrough, BankEvent::WriteDrop)
}

impl<P: RegistrationProtocol, T: Rows> Controller<P> for Bank<T> {
    type Msg = ToBank;

    fn step(&mut self, input: Input<'_, ToBank>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Message { from, msg } => self.message(from, msg, cx),
            Input::Memory(reply) => self.memory(reply, cx),
            // The eviction of a registered line begins with a recall.
            Input::Evict(way) => {
                cx.fx.uses.sync_evictions += u32::from(self.store.array.state(way) == BankState::R);
                let disposition = self.event_in(way, BankEvent::Evict, Operand::Nothing, cx);
                self.arm_round(cx);
                disposition
            }
            Input::Timer(TimerClass::Drain) => self.advance_round(cx),
            Input::Timer(_) => Disposition::Impossible("the controller has not armed this timer"),
            Input::Request(_) => Disposition::Impossible("cores send no requests to a bank"),
            Input::Tick { .. } => Disposition::Done,
        }
    }

    fn victims(&self, set: SetIndex, out: &mut Vec<(Way, Rank)>) {
        let (plain, registered, leaving) = (BankState::V, BankState::R, BankState::RE);
        victims(&self.store.array, set, EvictableStates { plain, registered, leaving }, self.retains, out);
    }

    fn occupied(&self, set: SetIndex, out: &mut Vec<Way>) {
        out.extend(self.store.array.in_set(set));
    }

    fn lines(&self, out: &mut Vec<LineView>) {
        self.store.array.views::<T>(out);
    }

    fn is_quiet(&self) -> bool {
        self.store.fetches == 0
            && self.recalls == 0
            && self.store.writes.is_idle()
            && self.round.phase == Phase::Idle
            && self.round.next.is_empty()
    }

    fn miscount(&self) -> Option<&'static str> {
        use BankState::{IV, R, RC, RE};
        let array = &self.store.array;
        let is_registered = |way: &Way| matches!(array.state(*way), R | RC | RE);
        let has_owner = |way| array.line(way).is_some_and(|line| self.owners.contains_key(&line));
        let registered = array.count_where(|state| matches!(state, R | RC | RE)) as usize;
        if let Some(wrong) = self.store.miscount(|state| state == IV) {
            Some(wrong)
        } else if self.recalls != array.count_where(|state| matches!(state, RC | RE)) {
            Some("the number of recalls under way is wrong")
        } else if registered != self.owners.len()
            || !array.occupied(Way(0)).filter(is_registered).all(has_owner)
        {
            Some("the recorded owners differ from the owners of the registered lines")
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
