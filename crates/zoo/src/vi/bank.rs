//! A bank of the L2.

use super::bank_table::{BankAction, BankEvent, BankState, BankTable};
use super::msg::{Answer, ToBank, ToL1};
use proto::parts::{AckParity, CacheArray, Lines, Place};
use proto::{
    ByteMask, Cause, Controller, Cx, Disposition, Input, Key, LineAddr, LineData, LineView, MemoryAccess,
    MemoryOp, MemoryReply, MemoryTag, NodeId, Op, Protocol, Rank, SetIndex, Shape, Slot, Symbol, TimerClass,
    Way, WritePolicy,
};

/// A bank of the L2.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bank {
    array: CacheArray<BankState>,
    writes: AckParity,
    fetches: u32,
    flush: Flush,
}

/// Flushes of the bank, in rounds: those that come during one join the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Flush {
    now: Vec<(NodeId, Slot)>,
    next: Vec<(NodeId, Slot)>,
    /// The way from which to go on looking for dirty bytes.
    cursor: Option<Way>,
}

/// Who asks, and for what.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    from: NodeId,
    op: Op,
    mask: ByteMask,
    data: &'a LineData,
    answer: Answer,
}

/// What an event brings with it.
#[derive(Clone, Copy, Debug)]
pub enum Carried<'a> {
    /// An access.
    Access(Asked<'a>),
    /// What memory answered.
    Fill(&'a LineData),
    /// Nothing.
    Nothing,
}

impl Bank {
    /// An empty bank.
    #[must_use]
    pub fn new(shape: &Shape) -> Self {
        let array = CacheArray::new(&shape.l2, shape.line_bytes, shape.banks, BankState::I);
        Bank { array, writes: AckParity::default(), fetches: 0, flush: Flush::default() }
    }

    fn message<P>(&mut self, from: NodeId, msg: &ToBank, cx: &mut Cx<'_, P>) -> Disposition
    where
        P: Protocol<Params = Shape, Msg: From<ToL1>>,
    {
        let none = LineData::default();
        match *msg {
            ToBank::Get { line } => {
                let mask = ByteMask::full(usize::from(cx.world.params.line_bytes));
                let asked = Asked { from, op: Op::Load, mask, data: &none, answer: Answer::Line };
                self.access(line, BankEvent::Get, asked, cx)
            }
            ToBank::Write { line, mask, ref data, parity } => {
                let asked = Asked { from, op: Op::Store, mask, data, answer: Answer::Posted { parity } };
                self.access(line, write_event(cx.world.params.l2.policy), asked, cx)
            }
            ToBank::Access { line, mask, ref data, op, system, answer } => {
                let policy = cx.world.params.l2.policy;
                let event = match op {
                    _ if system => BankEvent::Remote,
                    Op::Load => BankEvent::Read,
                    Op::Store => write_event(policy),
                    _ => update_event(policy),
                };
                self.access(line, event, Asked { from, op, mask, data, answer }, cx)
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
                cx.fx.uses.invalidations.count(Cause::Remote);
                for way in 0..self.array.way_count() {
                    let Some(line) = self.array.line(Way(way)) else { continue };
                    cx.fx.uses.lines_invalidated += 1;
                    let done = self.line_event(line, BankEvent::Inv, Carried::Nothing, cx);
                    if done != Disposition::Done {
                        return done;
                    }
                }
                cx.fx.send(from, ToL1::BankDone { slot });
                Disposition::Done
            }
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
        P: Protocol<Params = Shape, Msg: From<ToL1>>,
    {
        let way = self.array.find(line);
        let state = self.classify(way, event, asked.mask);
        let fetches = matches!((BankTable::needs_bytes(event), state), (true, BankState::I | BankState::P));
        if fetches && self.fetches >= cx.world.params.l2.miss_registers {
            return Disposition::Stall(Key::Miss);
        }
        let allocates = fetches || matches!(event, BankEvent::Write | BankEvent::WriteThrough);
        if way.is_none() && allocates && self.array.free_way(line).is_none() {
            return Disposition::NeedWay(self.array.set(line));
        }
        self.event_at(Place { line, way }, event, Carried::Access(asked), cx)
    }

    fn classify(&self, way: Option<Way>, event: BankEvent, mask: ByteMask) -> BankState {
        let Some(way) = way else { return BankState::I };
        match self.array.state(way) {
            BankState::V if BankTable::needs_bytes(event) && !self.array.valid(way).contains(mask) => {
                BankState::P
            }
            state => state,
        }
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
        P: Protocol<Params = Shape, Msg: From<ToL1>>,
    {
        let way = self.array.find(line);
        self.event_at(Place { line, way }, event, carried, cx)
    }

    fn event_at<P>(
        &mut self,
        place: Place,
        event: BankEvent,
        carried: Carried<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Disposition
    where
        P: Protocol<Params = Shape, Msg: From<ToL1>>,
    {
        let is_dirty = place.way.is_some_and(|w| !self.array.dirty(w).is_empty());
        let event = match event {
            BankEvent::Remote if is_dirty => BankEvent::RemoteDirty,
            BankEvent::Fill if is_dirty => BankEvent::FillDirty,
            BankEvent::Evict if is_dirty => BankEvent::EvictDirty,
            BankEvent::Inv if is_dirty => BankEvent::InvDirty,
            event => event,
        };
        let mask = match carried {
            Carried::Access(asked) => asked.mask,
            Carried::Fill(_) | Carried::Nothing => ByteMask::NONE,
        };
        let state = self.classify(place.way, event, mask);
        self.transition(place, state, event, carried, cx)
    }

    fn perform<P>(&mut self, line: LineAddr, way: Way, asked: Asked<'_>, cx: &mut Cx<'_, P>)
    where
        P: Protocol<Params = Shape, Msg: From<ToL1>>,
    {
        cx.fx.uses.data_reads += 1;
        let mut bytes = self.array.read(way);
        let old = match asked.op {
            Op::Rmw(rmw) => {
                cx.fx.uses.atomics += 1;
                cx.fx.uses.data_writes += 1;
                let old = rmw.perform(&mut bytes, asked.data, asked.mask);
                self.array.write(way, &bytes, asked.mask);
                old
            }
            _ => bytes.masked(asked.mask),
        };
        answer(line, asked, &old, cx);
    }

    fn write_memory<P>(&mut self, line: LineAddr, mask: ByteMask, data: &LineData, cx: &mut Cx<'_, P>)
    where
        P: Protocol,
    {
        let slot = Slot(u32::from(self.writes.sent()));
        let access = MemoryAccess::Write { mask, data: *data };
        cx.fx.memory.push(MemoryOp { line, access, tag: MemoryTag { node: cx.me, slot, note: 0 } });
    }

    fn memory<P>(&mut self, reply: &MemoryReply, cx: &mut Cx<'_, P>) -> Disposition
    where
        P: Protocol<Params = Shape, Msg: From<ToL1>>,
    {
        let tag = reply.op.tag;
        if tag.node != cx.me {
            forward(reply, cx);
            return Disposition::Done;
        }
        match reply.op.access {
            MemoryAccess::Read => {
                self.line_event(reply.op.line, BankEvent::Fill, Carried::Fill(&reply.data), cx)
            }
            _ if !self.writes.acked(tag.slot.0 == 1) => Disposition::Impossible("no write was outstanding"),
            _ => {
                self.end_flush(cx);
                Disposition::Done
            }
        }
    }

    fn begin_flush<P>(&mut self, cx: &mut Cx<'_, P>)
    where
        P: Protocol<Params = Shape, Msg: From<ToL1>>,
    {
        cx.fx.uses.flushes.count(Cause::Remote);
        self.flush.cursor = self.array.next_dirty(Way(0));
        match self.flush.cursor {
            Some(_) => cx.fx.timer(TimerClass::Drain),
            None => self.close_flush(cx),
        }
    }

    /// One dirty line a timer; other accesses go on in between.
    fn walk<P>(&mut self, cx: &mut Cx<'_, P>) -> Disposition
    where
        P: Protocol<Params = Shape, Msg: From<ToL1>>,
    {
        let found = self.flush.cursor.and_then(|start| self.array.next_dirty(start));
        let Some((way, line)) = found.and_then(|way| self.array.line(way).map(|line| (way, line))) else {
            self.close_flush(cx);
            return Disposition::Done;
        };
        self.flush.cursor = Some(Way(way.0 + 1));
        cx.fx.timer(TimerClass::Drain);
        self.line_event(line, BankEvent::Flush, Carried::Nothing, cx)
    }

    /// All that was dirty has left: wait for memory's word.
    fn close_flush<P>(&mut self, cx: &mut Cx<'_, P>)
    where
        P: Protocol<Params = Shape, Msg: From<ToL1>>,
    {
        self.flush.cursor = None;
        self.writes.turn();
        self.end_flush(cx);
    }

    fn end_flush<P>(&mut self, cx: &mut Cx<'_, P>)
    where
        P: Protocol<Params = Shape, Msg: From<ToL1>>,
    {
        while !self.flush.now.is_empty() && self.flush.cursor.is_none() && !self.writes.is_closing() {
            for (node, slot) in self.flush.now.drain(..) {
                cx.fx.send(node, ToL1::BankDone { slot });
            }
            std::mem::swap(&mut self.flush.now, &mut self.flush.next);
            if !self.flush.now.is_empty() {
                cx.fx.uses.flushes.count(Cause::Remote);
                self.flush.cursor = self.array.next_dirty(Way(0));
                match self.flush.cursor {
                    Some(_) => cx.fx.timer(TimerClass::Drain),
                    None => self.writes.turn(),
                }
            }
        }
    }
}

impl<P> Lines<P> for Bank
where
    P: Protocol<Params = Shape, Msg: From<ToL1>>,
{
    type Table = BankTable;
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
                answer(line, asked, &self.array.read(way), cx);
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
            (BankAction::Ack, _, Carried::Access(asked)) => answer(line, asked, &LineData::default(), cx),
            (BankAction::Perform, Some(way), Carried::Access(asked)) => self.perform(line, way, asked, cx),
            (BankAction::PassOn, _, Carried::Access(asked)) => pass_on(line, asked, cx),
            (BankAction::Fill, Some(way), Carried::Fill(data)) => {
                cx.fx.uses.data_writes += 1;
                self.array.fill(way, data);
            }
            (BankAction::KeepDirty, Some(way), _) => self.array.keep_dirty(way),
            (BankAction::Wake, ..) => {
                self.fetches = self.fetches.saturating_sub(1);
                // What has waited for a way or a register comes before what
                // must ask for this line again.
                cx.fx.wake(Key::Way(self.array.set(line)));
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
            ) => {}
        }
    }
}

impl BankTable {
    fn needs_bytes(event: BankEvent) -> bool {
        matches!(
            event,
            BankEvent::Get
                | BankEvent::Read
                | BankEvent::Update
                | BankEvent::UpdateThrough
                | BankEvent::UpdateDrop
        )
    }
}

fn write_event(policy: WritePolicy) -> BankEvent {
    match policy {
        WritePolicy::Combining => BankEvent::Write,
        WritePolicy::Through => BankEvent::WriteThrough,
        WritePolicy::ThroughInvalidate => BankEvent::WriteDrop,
    }
}

fn update_event(policy: WritePolicy) -> BankEvent {
    match policy {
        WritePolicy::Combining => BankEvent::Update,
        WritePolicy::Through => BankEvent::UpdateThrough,
        WritePolicy::ThroughInvalidate => BankEvent::UpdateDrop,
    }
}

/// How many bytes the answer to a request carries.
fn answer_bytes(asked: Asked<'_>) -> u8 {
    match asked.op {
        Op::Load => asked.mask.count() as u8,
        Op::Rmw(rmw) if rmw.uses_value => asked.mask.count() as u8,
        _ => 0,
    }
}

fn answer<P>(line: LineAddr, asked: Asked<'_>, data: &LineData, cx: &mut Cx<'_, P>)
where
    P: Protocol<Msg: From<ToL1>>,
{
    let msg = match asked.answer {
        Answer::Line => ToL1::Data { line, data: *data },
        Answer::Posted { parity } => ToL1::WriteAck { parity },
        Answer::Request(slot) => ToL1::Done { slot, bytes: answer_bytes(asked), data: *data },
    };
    cx.fx.send(asked.from, msg);
}

/// Notes on an access that memory performs for an L1: how it is answered. A
/// smaller note says how many bytes the answer to a request carries.
const NOTE_POSTED: u8 = u8::MAX - 1;
const NOTE_LINE: u8 = u8::MAX;

/// Memory performs the access, and its answer goes to who asked.
fn pass_on<P: Protocol>(line: LineAddr, asked: Asked<'_>, cx: &mut Cx<'_, P>) {
    let (mask, data) = (asked.mask, *asked.data);
    let access = match asked.op {
        Op::Store => MemoryAccess::Write { mask, data },
        Op::Rmw(rmw) => MemoryAccess::Rmw { rmw, mask, data },
        _ => MemoryAccess::Read,
    };
    let (slot, note) = match asked.answer {
        Answer::Request(slot) => (slot, answer_bytes(asked)),
        Answer::Posted { parity } => (Slot(u32::from(parity)), NOTE_POSTED),
        Answer::Line => (Slot(0), NOTE_LINE),
    };
    cx.fx.uses.bypasses += 1;
    cx.fx.memory.push(MemoryOp { line, access, tag: MemoryTag { node: asked.from, slot, note } });
}

/// Memory's answer to an access that was passed on.
fn forward<P>(reply: &MemoryReply, cx: &mut Cx<'_, P>)
where
    P: Protocol<Msg: From<ToL1>>,
{
    let tag = reply.op.tag;
    let data = match reply.op.access {
        MemoryAccess::Write { .. } => LineData::default(),
        MemoryAccess::Read | MemoryAccess::Rmw { .. } => reply.data,
    };
    let msg = match tag.note {
        NOTE_LINE => ToL1::Data { line: reply.op.line, data },
        NOTE_POSTED => ToL1::WriteAck { parity: tag.slot.0 == 1 },
        bytes => ToL1::Done { slot: tag.slot, bytes, data },
    };
    cx.fx.send(tag.node, msg);
}

impl<P> Controller<P> for Bank
where
    P: Protocol<Params = Shape, Msg: From<ToL1>>,
{
    type Msg = ToBank;

    fn step(&mut self, input: Input<'_, ToBank>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Message { from, msg } => self.message(from, msg, cx),
            Input::Memory(reply) => self.memory(reply, cx),
            Input::Evict(way) => match self.array.line(way) {
                Some(line) => self.line_event(line, BankEvent::Evict, Carried::Nothing, cx),
                None => Disposition::Impossible("an empty way cannot be given up"),
            },
            Input::Timer(TimerClass::Drain) => self.walk(cx),
            Input::Timer(_) => Disposition::Impossible("no such timer was asked for"),
            Input::Request(_) => Disposition::Impossible("no core speaks to a bank"),
            Input::Tick { .. } => Disposition::Done,
        }
    }

    fn victims(&self, set: SetIndex, out: &mut Vec<(Way, Rank)>) {
        let settled = self.array.in_set_where(set, |state| state == BankState::V);
        out.extend(settled.map(|way| (way, Rank(0))));
    }

    fn lines(&self, out: &mut Vec<LineView>) {
        self.array.views(|state| state.name(), out);
    }

    fn is_quiet(&self) -> bool {
        self.fetches == 0 && self.writes.is_idle() && self.flush.now.is_empty()
    }

    fn canonicalize(&mut self) {
        self.writes.canonicalize();
        // The ways keep their places while a flush walks over them.
        if self.flush.cursor.is_none() {
            self.array.canonicalize();
        }
    }
}
