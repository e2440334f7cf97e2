//! A bank of the L2 that knows which first-level cache is registered for a line.
//!
//! The owner stands beside the line, not in its bytes: data of the line is read
//! and written here while its atomics are elsewhere.

use super::Params;
use super::bank_rows::{BankAction, BankEvent, BankState};
use super::msg::{How, ToBank, ToL1};
use super::reach::answer_bytes;
use super::round::{Phase, Round, Wish};
use crate::vi::Answer;
use core::fmt::Debug;
use core::hash::Hash;
use core::marker::PhantomData;
use proto::parts::{AckParity, CacheArray, Lines, Place};
use proto::{
    ByteMask, Cause, Controller, Cx, Disposition, Input, Key, LineAddr, LineData, LineView, MemoryAccess,
    MemoryOp, MemoryReply, MemoryTag, NodeId, Op, Protocol, Rank, SetIndex, Slot, Symbol, Table, TimerClass,
    Way, WritePolicy,
};
use std::collections::BTreeMap;

/// The table of a bank.
pub trait Rows:
    Table<State = BankState, Event = BankEvent, Action = BankAction> + Clone + Eq + Hash + Debug
{
}
impl<T: Table<State = BankState, Event = BankEvent, Action = BankAction> + Clone + Eq + Hash + Debug> Rows
    for T
{
}

/// A bank of the L2 with the rows of a protocol.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bank<T> {
    array: CacheArray<BankState>,
    /// Who is registered, of the lines in R, RC and RE.
    owners: BTreeMap<LineAddr, NodeId>,
    writes: AckParity,
    fetches: u32,
    recalls: u32,
    round: Round,
    /// Are registered lines kept in preference to others?
    retains: bool,
    rows: PhantomData<T>,
}

/// Who asks, and for what.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    from: NodeId,
    op: Op,
    mask: ByteMask,
    data: &'a LineData,
    answer: Asker,
    atomic: bool,
}

/// How to answer.
#[derive(Clone, Copy, Debug)]
enum Asker {
    /// A request or a write.
    Access(Answer),
    /// A request for registration.
    Register(Option<Slot>),
}

/// What an event brings with it.
#[derive(Clone, Copy, Debug)]
pub enum Carried<'a> {
    /// An access.
    Access(Asked<'a>),
    /// Bytes: what memory answered, or what comes back with a registration.
    Bytes(ByteMask, &'a LineData),
    /// Nothing.
    Nothing,
}

/// The key of what a round holds back.
const ROUND: Key = Key::Other(0);

impl<T: Rows> Bank<T> {
    /// An empty bank.
    #[must_use]
    pub fn new(params: &Params) -> Self {
        let shape = &params.shape;
        Bank {
            array: CacheArray::new(&shape.l2, shape.line_bytes, shape.banks, BankState::I),
            owners: BTreeMap::new(),
            writes: AckParity::default(),
            fetches: 0,
            recalls: 0,
            round: Round::default(),
            retains: params.retains,
            rows: PhantomData,
        }
    }

    fn message<P>(&mut self, from: NodeId, msg: &ToBank, cx: &mut Cx<'_, P>) -> Disposition
    where
        P: Protocol<Params = Params, Msg: From<ToL1>>,
    {
        let none = LineData::default();
        let shape = &cx.world.params.shape;
        let full = ByteMask::full(usize::from(shape.line_bytes));
        let load = |answer| Asked { from, op: Op::Load, mask: full, data: &none, answer, atomic: false };
        match *msg {
            ToBank::Get { line } => self.access(line, BankEvent::Get, load(Asker::Access(Answer::Line)), cx),
            ToBank::Write { line, mask, ref data, parity } => {
                let answer = Asker::Access(Answer::Posted { parity });
                let asked = Asked { from, op: Op::Store, mask, data, answer, atomic: false };
                self.access(line, write_event(shape.l2.policy), asked, cx)
            }
            ToBank::Access { line, mask, ref data, op, how, answer, asker } => {
                let event = match how {
                    How::Data if op == Op::Store => write_event(shape.l2.policy),
                    How::Data => BankEvent::Read,
                    How::Anywhere => BankEvent::Anywhere,
                    How::Unregistered => BankEvent::Unregistered,
                    How::System => BankEvent::System,
                };
                // What was passed on is known to have found the line elsewhere.
                let atomic = how != How::Data && asker == from;
                let asked = Asked { from: asker, op, mask, data, answer: Asker::Access(answer), atomic };
                self.access(line, event, asked, cx)
            }
            ToBank::Register { line, mask, slot } => {
                let renews = self.owners.get(&line) == Some(&from);
                let event = if renews { BankEvent::Renew } else { BankEvent::Register };
                let answer = Asker::Register(slot);
                let atomic = !mask.is_empty();
                self.access(line, event, Asked { mask, atomic, ..load(answer) }, cx)
            }
            ToBank::Return { line, mask, ref data, .. } => {
                self.line_event(line, BankEvent::Return, Carried::Bytes(mask, data), cx)
            }
            ToBank::Flush { slot } => self.wish(Wish { node: from, slot, flush: true }, cx),
            ToBank::Invalidate { slot } => self.wish(Wish { node: from, slot, flush: false }, cx),
        }
    }

    /// An access, once the guards let it.
    fn access<P>(
        &mut self,
        line: LineAddr,
        event: BankEvent,
        asked: Asked<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Disposition
    where
        P: Protocol<Params = Params, Msg: From<ToL1>>,
    {
        let way = self.array.find(line);
        // Whoever is registered gets all of the line.
        let needed = match asked.answer {
            Asker::Register(_) => ByteMask::full(usize::from(cx.world.params.shape.line_bytes)),
            Asker::Access(_) => asked.mask,
        };
        let state = match way.map(|way| (way, self.array.state(way))) {
            None => BankState::I,
            Some((way, BankState::V)) if event.needs_bytes() && !self.array.valid(way).contains(needed) => {
                BankState::P
            }
            Some((_, state)) => state,
        };
        let fetches = event.needs_bytes() && matches!(state, BankState::I | BankState::P);
        let grants = event == BankEvent::Register && state == BankState::V;
        if fetches && self.round.holds_fetches() || grants && self.round.holds_grants() {
            return Disposition::Stall(ROUND);
        }
        if fetches && self.fetches >= cx.world.params.shape.l2.miss_registers {
            return Disposition::Stall(Key::Miss);
        }
        let mut event = event;
        if way.is_none() && self.array.free_way(line).is_none() {
            match event {
                // A way may be had only when a recall is over, which may wait
                // for this very write: it goes round the bank.
                BankEvent::Write | BankEvent::WriteThrough => event = BankEvent::WriteDrop,
                _ if fetches => return Disposition::NeedWay(self.array.set(line)),
                _ => {}
            }
        }
        self.transition(Place { line, way }, state, event, Carried::Access(asked), cx)
    }

    /// An event of a line, wherever it is.
    fn line_event<P>(
        &mut self,
        line: LineAddr,
        event: BankEvent,
        carried: Carried<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Disposition
    where
        P: Protocol<Params = Params, Msg: From<ToL1>>,
    {
        let way = self.array.find(line);
        let state = way.map_or(BankState::I, |way| self.array.state(way));
        let done = self.transition(Place { line, way }, state, event, carried, cx);
        self.go_on(cx);
        done
    }

    fn memory<P>(&mut self, reply: &MemoryReply, cx: &mut Cx<'_, P>) -> Disposition
    where
        P: Protocol<Params = Params, Msg: From<ToL1>>,
    {
        let tag = reply.op.tag;
        if tag.node != cx.me {
            let data = match reply.op.access {
                MemoryAccess::Write { .. } => LineData::default(),
                MemoryAccess::Read | MemoryAccess::Rmw { .. } => reply.data,
            };
            cx.fx.send(tag.node, ToL1::Done { slot: tag.slot, bytes: tag.note, data });
            return Disposition::Done;
        }
        match reply.op.access {
            MemoryAccess::Read => {
                let full = ByteMask::full(usize::from(cx.world.params.shape.line_bytes));
                self.line_event(reply.op.line, BankEvent::Fill, Carried::Bytes(full, &reply.data), cx)
            }
            _ if !self.writes.acked(tag.slot.0 == 1) => Disposition::Impossible("no write was outstanding"),
            _ => {
                self.go_on(cx);
                Disposition::Done
            }
        }
    }

    /// Evicts a line. Where it is registered, that begins with a recall.
    fn evict<P>(&mut self, way: Way, cx: &mut Cx<'_, P>) -> Disposition
    where
        P: Protocol<Params = Params, Msg: From<ToL1>>,
    {
        let Some(line) = self.array.line(way) else {
            return Disposition::Impossible("an empty way cannot be given up");
        };
        cx.fx.uses.sync_evictions += u32::from(self.array.state(way) == BankState::R);
        self.line_event(line, BankEvent::Evict, Carried::Nothing, cx)
    }

    fn write_memory<P>(&mut self, line: LineAddr, mask: ByteMask, data: &LineData, cx: &mut Cx<'_, P>)
    where
        P: Protocol,
    {
        let slot = Slot(u32::from(self.writes.sent()));
        let access = MemoryAccess::Write { mask, data: *data };
        cx.fx.memory.push(MemoryOp { line, access, tag: MemoryTag { node: cx.me, slot, note: 0 } });
    }
}

/// Rounds.
impl<T: Rows> Bank<T> {
    fn wish<P>(&mut self, wish: Wish, cx: &mut Cx<'_, P>) -> Disposition
    where
        P: Protocol<Params = Params, Msg: From<ToL1>>,
    {
        self.round.next.push(wish);
        self.go_on(cx);
        Disposition::Done
    }

    /// What comes next in a round is a step of its own: whatever this one wakes
    /// comes first.
    fn go_on<P: Protocol>(&mut self, cx: &mut Cx<'_, P>) {
        let due = match self.round.phase {
            Phase::Idle => !self.round.next.is_empty(),
            Phase::Fetches => self.fetches == 0,
            Phase::Recalls => self.recalls == 0,
            Phase::Walk(_) => true,
            Phase::Writes => !self.writes.is_closing(),
        };
        if due {
            cx.fx.timer(TimerClass::Drain);
        }
    }

    fn tick<P>(&mut self, cx: &mut Cx<'_, P>) -> Disposition
    where
        P: Protocol<Params = Params, Msg: From<ToL1>>,
    {
        let mut done = Disposition::Done;
        match self.round.phase {
            Phase::Idle if !self.round.next.is_empty() => {
                self.round.now = core::mem::take(&mut self.round.next);
                self.round.phase = Phase::Fetches;
            }
            Phase::Fetches if self.fetches == 0 => {
                self.round.phase = Phase::Recalls;
                done = self.all(|state| state == BankState::R, BankEvent::Call, cx);
            }
            Phase::Recalls if self.recalls == 0 => done = self.recalled(cx),
            Phase::Walk(from) => done = self.walk(from, cx),
            Phase::Writes if !self.writes.is_closing() => {
                let flushed = self.round.take(true);
                self.answer(&flushed, cx);
                self.round.phase = Phase::Idle;
            }
            Phase::Idle | Phase::Fetches | Phase::Recalls | Phase::Writes => {}
        }
        self.go_on(cx);
        done
    }

    /// Nothing is registered and nothing is fetched.
    fn recalled<P>(&mut self, cx: &mut Cx<'_, P>) -> Disposition
    where
        P: Protocol<Params = Params, Msg: From<ToL1>>,
    {
        let acquired = self.round.take(false);
        let mut done = Disposition::Done;
        if !acquired.is_empty() {
            cx.fx.uses.invalidations.count(Cause::Remote);
            done = self.all(|_| true, BankEvent::Inv, cx);
            self.answer(&acquired, cx);
        }
        self.round.phase = Phase::Idle;
        if !self.round.now.is_empty() {
            cx.fx.uses.flushes.count(Cause::Remote);
            self.round.phase = Phase::Walk(Way(0));
        }
        cx.fx.wake(ROUND);
        done
    }

    /// One dirty line a timer; other accesses go on in between.
    fn walk<P>(&mut self, from: Way, cx: &mut Cx<'_, P>) -> Disposition
    where
        P: Protocol<Params = Params, Msg: From<ToL1>>,
    {
        let found = self.array.next_dirty(from).and_then(|way| self.array.line(way).map(|line| (way, line)));
        let Some((way, line)) = found else {
            self.round.phase = Phase::Writes;
            self.writes.turn();
            return Disposition::Done;
        };
        self.round.phase = Phase::Walk(Way(way.0 + 1));
        self.line_event(line, BankEvent::Flush, Carried::Nothing, cx)
    }

    /// An event of all lines in such a state.
    fn all<P>(
        &mut self,
        affected: impl Fn(BankState) -> bool,
        event: BankEvent,
        cx: &mut Cx<'_, P>,
    ) -> Disposition
    where
        P: Protocol<Params = Params, Msg: From<ToL1>>,
    {
        for way in (0..self.array.way_count()).map(Way) {
            let Some(line) = self.array.line(way) else { continue };
            if !affected(self.array.state(way)) {
                continue;
            }
            let event = match event {
                BankEvent::Inv => {
                    cx.fx.uses.lines_invalidated += 1;
                    if self.array.dirty(way).is_empty() { event } else { BankEvent::InvDirty }
                }
                event => event,
            };
            let done = self.line_event(line, event, Carried::Nothing, cx);
            if done != Disposition::Done {
                return done;
            }
        }
        Disposition::Done
    }

    fn answer<P>(&mut self, wishes: &[Wish], cx: &mut Cx<'_, P>)
    where
        P: Protocol<Params = Params, Msg: From<ToL1>>,
    {
        for &Wish { node, slot, .. } in wishes {
            cx.fx.send(node, ToL1::BankDone { slot });
        }
    }
}

impl<P, T: Rows> Lines<P> for Bank<T>
where
    P: Protocol<Params = Params, Msg: From<ToL1>>,
{
    type Table = T;
    type Carried<'a> = Carried<'a>;
    const ABSENT: BankState = BankState::I;

    fn array(&mut self) -> &mut CacheArray<BankState> {
        &mut self.array
    }

    fn act(&mut self, action: BankAction, place: Place, carried: Carried<'_>, cx: &mut Cx<'_, P>) {
        let Place { line, way } = place;
        match (action, way, carried) {
            (BankAction::Fetch, ..) => {
                self.fetches += 1;
                let tag = MemoryTag { node: cx.me, slot: Slot(0), note: 0 };
                cx.fx.memory.push(MemoryOp { line, access: MemoryAccess::Read, tag });
            }
            (BankAction::SendData, Some(way), Carried::Access(asked)) => {
                cx.fx.uses.data_reads += 1;
                reply(line, asked, &self.array.read(way), cx);
            }
            (BankAction::Merge, Some(way), Carried::Access(asked)) => {
                cx.fx.uses.data_writes += 1;
                self.array.write(way, asked.data, asked.mask);
            }
            (BankAction::WriteMemory, _, Carried::Access(asked)) => {
                self.write_memory(line, asked.mask, asked.data, cx);
            }
            (BankAction::WriteOut, Some(way), _) => {
                let mask = self.array.dirty(way);
                if mask.is_empty() {
                    return;
                }
                let data = self.array.read(way).masked(mask);
                self.array.clean(way);
                cx.fx.uses.data_reads += 1;
                cx.fx.uses.lines_written_out += 1;
                self.write_memory(line, mask, &data, cx);
            }
            (BankAction::Ack, _, Carried::Access(asked)) => reply(line, asked, &LineData::default(), cx),
            (BankAction::Perform, Some(way), Carried::Access(asked)) => {
                cx.fx.uses.data_reads += 1;
                let mut bytes = self.array.read(way);
                let old = perform(&mut bytes, asked.op, asked.data, asked.mask);
                if asked.op != Op::Load {
                    cx.fx.uses.atomics += 1;
                    cx.fx.uses.data_writes += 1;
                    self.array.write(way, &bytes, asked.mask);
                }
                reply(line, asked, &old, cx);
            }
            (BankAction::PassOn, _, Carried::Access(asked)) => pass_on(line, asked, cx),
            (BankAction::Own, _, Carried::Access(asked)) => {
                cx.fx.uses.lines_registered += 1;
                self.owners.insert(line, asked.from);
            }
            (BankAction::Grant, Some(way), Carried::Access(asked)) => {
                cx.fx.uses.data_reads += 1;
                reply(line, asked, &self.array.read(way), cx);
            }
            (BankAction::Recall, ..) => {
                self.recalls += 1;
                if let Carried::Access(Asked { atomic: true, .. }) = carried {
                    cx.fx.uses.sync_remote += 1;
                }
                if let Some(&owner) = self.owners.get(&line) {
                    cx.fx.send(owner, ToL1::Recall { line });
                }
            }
            (BankAction::Forward, _, Carried::Access(asked)) => {
                let Some(&owner) = self.owners.get(&line) else { return };
                let Asked { from: asker, op, mask, data, .. } = asked;
                cx.fx.uses.bypasses += 1;
                match asked.answer {
                    Asker::Access(Answer::Request(slot)) => {
                        cx.fx.uses.sync_remote += 1;
                        cx.fx.send(owner, ToL1::Forward { line, mask, data: *data, op, slot, asker });
                    }
                    Asker::Access(Answer::Line) => cx.fx.send(owner, ToL1::Serve { line, asker }),
                    Asker::Access(Answer::Posted { .. }) | Asker::Register(_) => {}
                }
            }
            (BankAction::TakeBack, Some(way), Carried::Bytes(mask, data)) => {
                cx.fx.uses.lines_unregistered += 1;
                cx.fx.uses.data_writes += u32::from(!mask.is_empty());
                self.owners.remove(&line);
                self.array.write(way, data, mask);
            }
            (BankAction::EndRecall, ..) => self.recalls = self.recalls.saturating_sub(1),
            (BankAction::Fill, Some(way), Carried::Bytes(_, data)) => {
                cx.fx.uses.data_writes += 1;
                self.array.fill(way, data);
            }
            (BankAction::EndFetch, ..) => self.fetches = self.fetches.saturating_sub(1),
            (BankAction::KeepDirty, Some(way), _) => self.array.keep_dirty(way),
            (BankAction::Wake, ..) => {
                // Who had the line recalled comes before who only finds it.
                cx.fx.wake(Key::Line(line));
                cx.fx.wake(Key::Way(self.array.set(line)));
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
            ) => {}
        }
    }
}

/// Performs an access on the bytes of a line; the old bytes.
pub fn perform(bytes: &mut LineData, op: Op, operands: &LineData, mask: ByteMask) -> LineData {
    let old = bytes.masked(mask);
    match op {
        Op::Rmw(rmw) => {
            rmw.perform(bytes, operands, mask);
        }
        Op::Store => bytes.merge(operands, mask),
        Op::Load | Op::Fence | Op::KernelBegin(_) | Op::KernelEnd(_) => {}
    }
    old
}

fn write_event(policy: WritePolicy) -> BankEvent {
    match policy {
        WritePolicy::Combining => BankEvent::Write,
        WritePolicy::Through => BankEvent::WriteThrough,
        WritePolicy::ThroughInvalidate => BankEvent::WriteDrop,
    }
}

fn reply<P>(line: LineAddr, asked: Asked<'_>, data: &LineData, cx: &mut Cx<'_, P>)
where
    P: Protocol<Msg: From<ToL1>>,
{
    let Asked { mask, op, .. } = asked;
    let msg = match asked.answer {
        Asker::Register(slot) => ToL1::Grant { line, mask, slot, data: *data },
        Asker::Access(Answer::Line) => ToL1::Data { line, data: *data },
        Asker::Access(Answer::Posted { parity }) => ToL1::WriteAck { parity },
        Asker::Access(Answer::Request(slot)) => {
            ToL1::Done { slot, bytes: answer_bytes(op, mask), data: *data }
        }
    };
    cx.fx.send(asked.from, msg);
}

/// Memory performs the access, and its answer goes to who asked.
fn pass_on<P: Protocol>(line: LineAddr, asked: Asked<'_>, cx: &mut Cx<'_, P>) {
    let (mask, data) = (asked.mask, *asked.data);
    let access = match asked.op {
        Op::Store => MemoryAccess::Write { mask, data },
        Op::Rmw(rmw) => MemoryAccess::Rmw { rmw, mask, data },
        _ => MemoryAccess::Read,
    };
    let Asker::Access(Answer::Request(slot)) = asked.answer else { return };
    cx.fx.uses.bypasses += 1;
    let tag = MemoryTag { node: asked.from, slot, note: answer_bytes(asked.op, mask) };
    cx.fx.memory.push(MemoryOp { line, access, tag });
}

impl<P, T: Rows> Controller<P> for Bank<T>
where
    P: Protocol<Params = Params, Msg: From<ToL1>>,
{
    type Msg = ToBank;

    fn step(&mut self, input: Input<'_, ToBank>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Message { from, msg } => self.message(from, msg, cx),
            Input::Memory(reply) => self.memory(reply, cx),
            Input::Evict(way) => self.evict(way, cx),
            Input::Timer(TimerClass::Drain) => self.tick(cx),
            Input::Timer(_) => Disposition::Impossible("no such timer was asked for"),
            Input::Request(_) => Disposition::Impossible("no core speaks to a bank"),
            Input::Tick { .. } => Disposition::Done,
        }
    }

    fn victims(&self, set: SetIndex, out: &mut Vec<(Way, Rank)>) {
        if self.array.in_set_where(set, |state| state == BankState::RE).next().is_some() {
            return;
        }
        let rank = u8::from(self.retains);
        for way in self.array.in_set_where(set, |state| matches!(state, BankState::V | BankState::R)) {
            let is_registered = self.array.state(way) == BankState::R;
            out.push((way, Rank(if is_registered { rank } else { 0 })));
        }
    }

    fn lines(&self, out: &mut Vec<LineView>) {
        self.array.views(|state| state.name(), out);
    }

    fn is_quiet(&self) -> bool {
        self.fetches == 0
            && self.recalls == 0
            && self.writes.is_idle()
            && self.round.phase == Phase::Idle
            && self.round.next.is_empty()
    }

    fn canonicalize(&mut self) {
        self.writes.canonicalize();
        // The ways keep their places while a round walks over them.
        if !matches!(self.round.phase, Phase::Walk(_)) {
            self.array.canonicalize();
        }
    }
}
