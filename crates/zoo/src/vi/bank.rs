//! A bank of the L2.

use super::bank_table::{BankAction, BankEvent, BankState, BankTable};
use crate::parts::{
    AccessSite, Answer, BackingStore, BankAccess, BankLines, HasL1Messages, Memory, ResourceNeeds, ToBank,
    ToL1, forward, reply,
};
use proto::parts::{CacheArray, Lines, Place};
use proto::{
    ByteMask, Cause, Controller, Cx, Disposition, Input, Key, KindLevel, LineAddr, LineData, LineView,
    MemoryAccess, MemoryReply, NodeId, Op, Protocol, Rank, SetIndex, Slot, TimerClass, Way, WritePolicy,
};

/// A bank of a shared cache. `B` is the store below the bank: memory, or another level of caches.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Bank<B = Memory> {
    store: BankLines<BankState, B>,
    flush: Flush,
}

proto::clone_in_place! { [B] Bank<B> { store, flush } }

/// The flushes of the bank. The bank performs all waiting requests in one walk over its lines (a
/// round). A request that arrives during a round joins the next round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Flush {
    now: Vec<(NodeId, Slot)>,
    next: Vec<(NodeId, Slot)>,
    /// The way at which the search for dirty bytes continues. `None` if no search is under way.
    cursor: Option<Way>,
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

impl<B> Bank<B> {
    /// An empty bank without outstanding operations.
    #[must_use]
    pub fn new(level: &KindLevel, (): &()) -> Self {
        Bank { store: BankLines::new(level, BankState::I), flush: Flush::default() }
    }

    /// The line in a way, or `None` if the way is empty.
    pub(crate) fn line(&self, way: Way) -> Option<LineAddr> {
        self.store.array.line(way)
    }

    /// The state of a line for an access that needs the whole line.
    pub(crate) fn state<P: Protocol>(&self, line: LineAddr, cx: &Cx<'_, P>) -> BankState {
        let array = &self.store.array;
        let whole = ByteMask::full(usize::from(cx.level().line_bytes));
        match array.find(line, cx.world.homes) {
            None => BankState::I,
            Some(way) if array.state(way) == BankState::V && !array.valid(way).contains(whole) => {
                BankState::P
            }
            Some(way) => array.state(way),
        }
    }

    /// The set that a line belongs to.
    pub(crate) fn set<P: Protocol>(&self, line: LineAddr, cx: &Cx<'_, P>) -> SetIndex {
        self.store.array.set(line, cx.world.homes)
    }

    fn message<P: HasL1Messages>(&mut self, from: NodeId, msg: &ToBank, cx: &mut Cx<'_, P>) -> Disposition
    where
        B: BackingStore<P>,
    {
        let none = LineData::default();
        let (line_bytes, policy) = (cx.level().line_bytes, cx.level().array.policy);
        match *msg {
            ToBank::Get { line } => {
                let mask = ByteMask::full(usize::from(line_bytes));
                let access = BankAccess { from, op: Op::Load, mask, data: &none, answer: Answer::Line };
                self.access(line, BankEvent::Get, access, cx)
            }
            ToBank::Write { line, mask, ref data, parity } => {
                let write = BankAccess { from, op: Op::Store, mask, data, answer: Answer::Posted { parity } };
                self.access(line, write_event(policy), write, cx)
            }
            ToBank::Access { line, mask, ref data, op, site, answer, requester } => {
                let event = match (site, op) {
                    (AccessSite::System, _) => BankEvent::Remote,
                    (_, Op::Load) => BankEvent::Read,
                    (_, Op::Store) => write_event(policy),
                    _ => update_event(policy),
                };
                self.access(line, event, BankAccess { from: requester, op, mask, data, answer }, cx)
            }
            ToBank::Flush { slot } => {
                if self.flush.now.is_empty() {
                    self.flush.now.push((from, slot));
                    self.begin_flush(cx);
                } else {
                    self.flush.next.push((from, slot));
                }
                Disposition::Done
            }
            ToBank::Invalidate { slot } => {
                let disposition = self.invalidate_all(Cause::Remote, BankEvent::Inv, Operand::Nothing, cx);
                if disposition == Disposition::Done {
                    cx.fx.send(from, ToL1::BankDone { slot });
                }
                disposition
            }
        }
    }

    /// Carries out an access. If it needs a miss register or a way, and none is free, it waits.
    fn access<P: HasL1Messages>(
        &mut self,
        line: LineAddr,
        event: BankEvent,
        access: BankAccess<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Disposition
    where
        B: BackingStore<P>,
    {
        let array = &self.store.array;
        let place = array.place(line, cx.world.homes);
        let (state, event) = Lines::<P>::classify(self, place, event, Operand::Access(access));
        let fetches = event.needs_bytes() && matches!(state, BankState::I | BankState::P);
        let way = fetches || matches!(event, BankEvent::Write | BankEvent::WriteThrough);
        let needs = ResourceNeeds { entry: false, register: fetches, way };
        match needs.lacks(array, place, self.store.fetches, cx) {
            Some(wait) => wait,
            None => self.transition(place, state, event, Operand::Access(access), cx),
        }
    }

    /// Fills a line with the bytes that arrive from the level below.
    pub fn filled<P: HasL1Messages>(
        &mut self,
        line: LineAddr,
        data: &LineData,
        cx: &mut Cx<'_, P>,
    ) -> Disposition
    where
        B: BackingStore<P>,
    {
        self.event(line, BankEvent::Fill, Operand::Fill(data), cx)
    }

    /// Counts an ack of a write. `parity` distinguishes writes before a flush from later writes.
    pub fn written<P: HasL1Messages>(&mut self, parity: bool, cx: &mut Cx<'_, P>) -> Disposition
    where
        B: BackingStore<P>,
    {
        if !self.store.writes.acked(parity) {
            return Disposition::Impossible("no write was outstanding");
        }
        self.end_flush(cx);
        Disposition::Done
    }

    /// Invalidates the clean bytes of a line that another processor is about to write. The bytes of a
    /// fetch under way are not used.
    pub fn invalidate_line<P: HasL1Messages>(&mut self, line: LineAddr, cx: &mut Cx<'_, P>) -> Disposition
    where
        B: BackingStore<P>,
    {
        match self.store.array.find(line, cx.world.homes) {
            Some(way) => {
                cx.fx.uses.lines_invalidated += 1;
                self.event_in(way, BankEvent::Inv, Operand::Nothing, cx)
            }
            None => Disposition::Done,
        }
    }

    fn memory<P: HasL1Messages>(&mut self, answer: &MemoryReply, cx: &mut Cx<'_, P>) -> Disposition
    where
        B: BackingStore<P>,
    {
        match answer.op.access {
            _ if forward(answer, cx) => Disposition::Done,
            MemoryAccess::Read => self.filled(answer.op.line, &answer.data, cx),
            _ => self.written(answer.op.tag.slot.0 == 1, cx),
        }
    }

    fn begin_flush<P: HasL1Messages>(&mut self, cx: &mut Cx<'_, P>)
    where
        B: BackingStore<P>,
    {
        cx.fx.uses.flushes.count(Cause::Remote);
        self.flush.cursor = self.store.array.next_dirty(Way(0));
        match self.flush.cursor {
            Some(_) => cx.fx.timer(TimerClass::Drain),
            None => self.close_flush(cx),
        }
    }

    /// Writes out the next dirty line of a flush. The bank calls this method on each expiry of the
    /// timer, so accesses can proceed between two lines.
    fn walk<P: HasL1Messages>(&mut self, cx: &mut Cx<'_, P>) -> Disposition
    where
        B: BackingStore<P>,
    {
        let array = &self.store.array;
        let dirty = self.flush.cursor.and_then(|start| array.next_dirty(start));
        let Some(way) = dirty else {
            self.close_flush(cx);
            return Disposition::Done;
        };
        self.flush.cursor = Some(Way(way.0 + 1));
        cx.fx.timer(TimerClass::Drain);
        self.event_in(way, BankEvent::Flush, Operand::Nothing, cx)
    }

    /// Begins to wait for the acks of memory, after all dirty lines have been written out.
    fn close_flush<P: HasL1Messages>(&mut self, cx: &mut Cx<'_, P>)
    where
        B: BackingStore<P>,
    {
        self.flush.cursor = None;
        self.store.writes.turn();
        self.end_flush(cx);
    }

    fn end_flush<P: HasL1Messages>(&mut self, cx: &mut Cx<'_, P>)
    where
        B: BackingStore<P>,
    {
        if self.flush.now.is_empty() || self.flush.cursor.is_some() || self.store.writes.is_closing() {
            return;
        }
        for (node, slot) in self.flush.now.drain(..) {
            cx.fx.send(node, ToL1::BankDone { slot });
        }
        core::mem::swap(&mut self.flush.now, &mut self.flush.next);
        if !self.flush.now.is_empty() {
            self.begin_flush(cx);
        }
    }
}

impl<P: HasL1Messages, B: BackingStore<P>> Lines<P> for Bank<B> {
    type Table = BankTable;
    type Operand<'a> = Operand<'a>;
    const ABSENT: BankState = BankState::I;

    fn array(&mut self) -> &mut CacheArray<BankState> {
        &mut self.store.array
    }

    fn classify(&self, place: Place, event: BankEvent, operand: Operand<'_>) -> (BankState, BankEvent) {
        let Some(way) = place.way else { return (BankState::I, event) };
        let array = &self.store.array;
        let misses = match operand {
            Operand::Access(access) => event.needs_bytes() && !array.valid(way).contains(access.mask),
            Operand::Fill(_) | Operand::Nothing => false,
        };
        let state = match array.state(way) {
            BankState::V if misses => BankState::P,
            state => state,
        };
        (state, if array.dirty(way).is_empty() { event } else { event.of_dirty() })
    }

    fn act(&mut self, action: BankAction, place: Place, operand: Operand<'_>, cx: &mut Cx<'_, P>) {
        let Place { line, way, .. } = place;
        let store = &mut self.store;
        match (action, way, operand) {
            (BankAction::Fetch, ..) => store.fetch(line, cx),
            (BankAction::SendData, Some(way), Operand::Access(access)) => {
                let data = store.read(way, cx);
                reply(line, access, &data, cx);
            }
            (BankAction::Merge, Some(way), Operand::Access(access)) => store.merge(way, access, cx),
            (BankAction::WriteMemory, _, Operand::Access(access)) => {
                store.write_below(line, access.mask, access.data, cx);
            }
            (BankAction::WriteOut, Some(way), _) => store.write_out(line, way, cx),
            (BankAction::Ack, _, Operand::Access(access)) => reply(line, access, &LineData::default(), cx),
            (BankAction::Perform, Some(way), Operand::Access(access)) => store.perform(line, way, access, cx),
            (BankAction::PassOn, _, Operand::Access(access)) => store.pass_on(line, access, cx),
            (BankAction::Fill, Some(way), Operand::Fill(data)) => store.fill(way, data, cx),
            (BankAction::KeepDirty, Some(way), _) => store.array.keep_dirty(way),
            (BankAction::Wake, ..) => {
                store.end_fetch(cx);
                // Waiters for a way or a register have priority over accesses that
                // must fetch this line again.
                cx.fx.wake(Key::Way(place.set));
                cx.fx.wake(Key::Miss);
                cx.fx.wake(Key::Line(line));
            }
            (BankAction::Divert, ..) => cx.fx.wake(Key::Line(line)),
            (
                BankAction::SendData
                | BankAction::Merge
                | BankAction::WriteMemory
                | BankAction::WriteOut
                | BankAction::Ack
                | BankAction::Perform
                | BankAction::PassOn
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

fn update_event(policy: WritePolicy) -> BankEvent {
    policy.pick(BankEvent::Update, BankEvent::UpdateThrough, BankEvent::UpdateDrop)
}

impl<P: HasL1Messages, B: BackingStore<P>> Controller<P> for Bank<B> {
    type Msg = ToBank;

    fn step(&mut self, input: Input<'_, ToBank>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Message { from, msg } => self.message(from, msg, cx),
            Input::Memory(reply) => self.memory(reply, cx),
            Input::Evict(way) => self.event_in(way, BankEvent::Evict, Operand::Nothing, cx),
            Input::Timer(TimerClass::Drain) => self.walk(cx),
            Input::Timer(_) => Disposition::Impossible("the controller has not armed this timer"),
            Input::Request(_) => Disposition::Impossible("cores send no requests to a bank"),
            Input::Tick { .. } => Disposition::Done,
        }
    }

    fn victims(&self, set: SetIndex, out: &mut Vec<(Way, Rank)>) {
        self.store.array.victims(set, BankState::V, out);
    }

    fn occupied(&self, set: SetIndex, out: &mut Vec<Way>) {
        out.extend(self.store.array.in_set(set));
    }

    fn lines(&self, out: &mut Vec<LineView>) {
        self.store.array.views::<BankTable>(out);
    }

    fn is_quiet(&self) -> bool {
        self.store.fetches == 0 && self.store.writes.is_idle() && self.flush.now.is_empty()
    }

    fn miscount(&self) -> Option<&'static str> {
        self.store.miscount(|state| matches!(state, BankState::IV | BankState::IX))
    }

    fn canonicalize(&mut self) {
        self.store.writes.canonicalize();
        // The ways keep their positions while a flush walks over them.
        if self.flush.cursor.is_none() {
            self.store.array.canonicalize();
        }
    }
}
