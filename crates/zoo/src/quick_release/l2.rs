//! A bank of the L2: a read cache and a write cache.

use super::departures::Departures;
use super::l2_table::{L2Action, L2Event, L2State};
use super::write_cache::{Cover, Entry, Marker, WriteCache};
use super::{Missing, Quick, ToDirectory, ToL2, Variant};
use crate::parts::{
    AccessSite, Answer, BankAccess, BankLines, NextLevel, ResourceNeeds, ToBank, ToL1, reply,
};
use core::marker::PhantomData;
use proto::parts::{CacheArray, Lines, Place};
use proto::{
    ByteMask, Controller, Cx, Disposition, Input, Issuer, Key, KindLevel, LineAddr, LineData, LineView,
    NodeId, Op, Rank, SetIndex, TimerClass, Way,
};

/// A bank of the L2.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct L2<V> {
    store: BankLines<L2State, NextLevel>,
    write: WriteCache,
    departures: Departures,
    variant: PhantomData<V>,
}

/// The data that comes with an event of a line. The actions in the table row of the event use it.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    /// The access that causes the event.
    Access(BankAccess<'a>),
    /// The bytes that the bank has fetched.
    Fill(&'a LineData),
    /// No data comes with the event.
    Nothing,
}

impl<V: Variant> L2<V> {
    /// An empty bank without outstanding operations.
    #[must_use]
    pub fn new(level: &KindLevel, params: &super::Params) -> Self {
        L2 {
            store: BankLines::new(level, L2State::I),
            write: WriteCache::new(params.shapes[1]),
            departures: Departures::new(params),
            variant: PhantomData,
        }
    }

    fn message<P: Quick>(&mut self, from: NodeId, msg: &ToL2, cx: &mut Cx<'_, P>) -> Disposition {
        let none = LineData::default();
        match *msg {
            ToL2::Above(ToBank::Get { line }) => {
                let mask = ByteMask::full(usize::from(cx.level().line_bytes));
                self.get(line, BankAccess { from, op: Op::Load, mask, data: &none, answer: Answer::Line }, cx)
            }
            ToL2::Above(ToBank::Write { line, mask, ref data, .. }) => {
                self.make_room(Some(line), cx);
                let answer = Answer::Posted { parity: false };
                let access = BankAccess { from, op: Op::Store, mask, data, answer };
                self.event(line, L2Event::Write, Operand::Access(access), cx)
            }
            ToL2::Above(ToBank::Access { line, mask, ref data, op, answer, requester, .. }) => {
                let access = BankAccess { from: requester, op, mask, data, answer };
                self.event(line, L2Event::Atomic, Operand::Access(access), cx)
            }
            ToL2::Above(ToBank::Flush { .. } | ToBank::Invalidate { .. }) => {
                Disposition::Impossible("releases send markers, and acquires do nothing")
            }
            ToL2::Below(ToL1::Data { line, ref data }) => {
                let is_written = self.write.get(line).is_some();
                let event = if is_written { L2Event::FillWritten } else { L2Event::Fill };
                self.event(line, event, Operand::Fill(data), cx)
            }
            ToL2::Below(_) => Disposition::Impossible("the answer is for a compute unit"),
            ToL2::Invalidate { line } => {
                let is_present = self.store.array.find(line, cx.world.homes).is_some();
                if !is_present && cx.world.params.lacks(Missing::PassedInvalidation) {
                    self.departures.send(ToDirectory::Invalidated { line }, cx);
                    return Disposition::Done;
                }
                cx.fx.uses.lines_invalidated += u32::from(is_present);
                self.event(line, L2Event::Inv, Operand::Nothing, cx)
            }
            ToL2::Acked if self.departures.acked(from, cx) => Disposition::Done,
            ToL2::Acked => Disposition::Impossible("no ack of this L1 is due"),
            ToL2::Marker { marker } => {
                if self.write.is_empty() {
                    self.pass(marker, cx);
                } else {
                    self.make_room(None, cx);
                    self.write.mark(marker);
                }
                Disposition::Done
            }
        }
    }

    /// Carries out a request of an L1 for a line. If it needs a miss register or a way, and none is
    /// free, it waits.
    fn get<P: Quick>(&mut self, line: LineAddr, access: BankAccess<'_>, cx: &mut Cx<'_, P>) -> Disposition {
        let is_repaired = cx.world.params.repaired;
        if is_repaired && self.departures.has(line) && self.write.get(line).is_none() {
            // The directory answers, after the messages that wait here.
            self.pass_on(line, access, cx);
            return Disposition::Done;
        }
        let array = &self.store.array;
        let place = array.place(line, cx.world.homes);
        let state = place.way.map_or(L2State::I, |way| array.state(way));
        let mut event = L2Event::Get;
        if state != L2State::V {
            cx.fx.uses.tag_lookups += 1;
            event = match self.write.cover(line, access.mask) {
                Cover::None => L2Event::Get,
                Cover::Whole if !is_repaired => L2Event::GetCovered,
                Cover::Part | Cover::Whole => L2Event::GetPart,
            };
        }
        let fetches = match (state, event) {
            (L2State::I, L2Event::Get) => true,
            (L2State::I | L2State::W, L2Event::GetPart) => !is_repaired,
            _ => false,
        };
        let needs = ResourceNeeds { entry: false, register: fetches, way: fetches };
        match needs.lacks(array, place, self.store.fetches, cx) {
            Some(wait) => wait,
            None => self.transition(place, state, event, Operand::Access(access), cx),
        }
    }

    /// Sends an access to the directory, which answers it.
    fn pass_on<P: Quick>(&mut self, line: LineAddr, access: BankAccess<'_>, cx: &mut Cx<'_, P>) {
        cx.fx.uses.bypasses += 1;
        self.departures.send(access_of(line, access), cx);
    }

    /// Frees an entry of a full S-FIFO, and a way for a line that will be written.
    fn make_room<P: Quick>(&mut self, line: Option<LineAddr>, cx: &mut Cx<'_, P>) {
        if self.write.is_full() {
            self.pop(cx);
        }
        if let Some(victim) = line.and_then(|line| self.write.victim(line)) {
            self.leave(victim, cx);
        }
    }

    /// Removes the oldest entry of the S-FIFO. Its line leaves the write cache.
    fn pop<P: Quick>(&mut self, cx: &mut Cx<'_, P>) {
        match self.write.pop() {
            Some(Entry::Line(line)) if self.write.get(line).is_some() => self.leave(line, cx),
            Some(Entry::Marker(marker)) => self.pass(marker, cx),
            Some(Entry::Line(_)) | None => {}
        }
    }

    fn leave<P: Quick>(&mut self, line: LineAddr, cx: &mut Cx<'_, P>) {
        if let Disposition::Impossible(why) = self.event(line, L2Event::Leave, Operand::Nothing, cx) {
            cx.impossible(why);
        }
    }

    /// Sends a marker to the directory.
    fn pass<P: Quick>(&mut self, marker: Marker, cx: &mut Cx<'_, P>) {
        self.departures.mark(ToDirectory::Marker { marker }, cx);
    }
}

/// The message for an access that the directory performs and answers.
fn access_of(line: LineAddr, access: BankAccess<'_>) -> ToBank {
    let BankAccess { from: requester, op, mask, data, answer } = access;
    ToBank::Access { line, mask, data: *data, op, site: AccessSite::System, answer, requester }
}

impl<V: Variant, P: Quick> Lines<P> for L2<V> {
    type Table = V::L2;
    type Operand<'a> = Operand<'a>;
    const ABSENT: L2State = L2State::I;

    fn array(&mut self) -> &mut CacheArray<L2State> {
        &mut self.store.array
    }

    fn classify(&self, place: Place, event: L2Event, _: Operand<'_>) -> (L2State, L2Event) {
        (place.way.map_or(L2State::I, |way| self.store.array.state(way)), event)
    }

    fn act(&mut self, action: L2Action, place: Place, operand: Operand<'_>, cx: &mut Cx<'_, P>) {
        let Place { line, way, set } = place;
        match (action, way, operand) {
            (L2Action::Fetch, Some(way), _) => {
                self.store.array.keep_dirty(way);
                self.store.fetch(line, cx);
            }
            (L2Action::SendData, Some(way), Operand::Access(access)) => {
                let data = self.store.read(way, cx);
                reply(line, access, &data, cx);
            }
            (L2Action::SendWritten, _, Operand::Access(access)) => {
                let Some(dirty) = self.write.get(line) else { return cx.lacks_operand(action) };
                cx.fx.uses.data_reads += 1;
                reply(line, access, &dirty.data, cx);
            }
            (L2Action::Merge, _, Operand::Access(access)) => {
                cx.fx.uses.data_writes += 1;
                self.write.write(line, access.mask, access.data, Issuer::default());
            }
            (L2Action::WriteOut, ..) => {
                let Some(dirty) = self.write.take(line) else { return };
                cx.fx.uses.data_reads += 1;
                cx.fx.uses.lines_written_out += 1;
                let (mask, data) = (dirty.mask, dirty.data);
                self.departures.send_after_inv(line, ToBank::Write { line, mask, data, parity: false }, cx);
            }
            (L2Action::PassOn, _, Operand::Access(access)) => self.pass_on(line, access, cx),
            (L2Action::PassWrite, _, Operand::Access(access)) => {
                cx.fx.uses.bypasses += 1;
                self.departures.send_after_inv(line, access_of(line, access), cx);
            }
            (L2Action::Tell, ..) => self.departures.tell(line, cx),
            (L2Action::Fill, Some(way), Operand::Fill(data)) => self.store.fill(way, data, cx),
            (L2Action::Wake, ..) => {
                self.store.end_fetch(cx);
                // Waiters for a way or a register have priority over requests that must fetch this line
                // again.
                cx.fx.wake(Key::Way(set));
                cx.fx.wake(Key::Miss);
                cx.fx.wake(Key::Line(line));
            }
            (L2Action::Divert, ..) => cx.fx.wake(Key::Line(line)),
            _ => cx.lacks_operand(action),
        }
    }
}

impl<V: Variant, P: Quick> Controller<P> for L2<V> {
    type Msg = ToL2;

    fn step(&mut self, input: Input<'_, ToL2>, cx: &mut Cx<'_, P>) -> Disposition {
        let disposition = match input {
            Input::Message { from, msg } => self.message(from, msg, cx),
            Input::Evict(way) => self.event_in(way, L2Event::Evict, Operand::Nothing, cx),
            Input::Timer(TimerClass::Drain) => {
                self.pop(cx);
                Disposition::Done
            }
            Input::Timer(_) => Disposition::Impossible("the controller has not armed this timer"),
            Input::Memory(_) => Disposition::Impossible("the directory is below an L2, not memory"),
            Input::Request(_) => Disposition::Impossible("cores send no requests to an L2"),
            Input::Tick { .. } => Disposition::Done,
        };
        if self.write.has_marker() {
            cx.fx.timer(TimerClass::Drain);
        }
        disposition
    }

    fn victims(&self, set: SetIndex, out: &mut Vec<(Way, Rank)>) {
        let is_settled = |state| matches!(state, L2State::V | L2State::W);
        out.extend(self.store.array.in_set_where(set, is_settled).map(|way| (way, Rank(0))));
    }

    fn occupied(&self, set: SetIndex, out: &mut Vec<Way>) {
        out.extend(self.store.array.in_set(set));
    }

    fn lines(&self, out: &mut Vec<LineView>) {
        self.store.array.views::<V::L2>(out);
    }

    fn is_quiet(&self) -> bool {
        self.store.fetches == 0 && !self.write.has_marker() && self.departures.is_empty()
    }

    fn miscount(&self) -> Option<&'static str> {
        let is_fetching = |state| matches!(state, L2State::IV | L2State::IX);
        self.store.miscount(is_fetching).or_else(|| self.write.miscount())
    }

    fn canonicalize(&mut self) {
        self.store.array.canonicalize();
    }
}
