//! A bank of the directory.

use super::directory_table::{DirectoryAction, DirectoryEvent, DirectoryState, DirectoryTable};
use super::{MissingProperty, Recorded, ToCache, ToDirectory};
use crate::parts::ResourceNeeds;
use proto::parts::{CacheArray, Lines, Place};
use proto::{
    ByteMask, Controller, Cx, Disposition, Input, Key, KindLevel, LineAddr, LineData, LineView, MemoryAccess,
    MemoryOp, MemoryReply, MemoryTag, NodeId, Rank, Row, SetIndex, Slot, Table as _, Way,
};
use std::collections::{BTreeMap, BTreeSet};

/// A bank of the directory. The entries are the lines of the array. An entry has bytes only during a
/// transaction or a recall.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Directory {
    array: CacheArray<DirectoryState>,
    /// The record of each line that has an entry.
    records: BTreeMap<LineAddr, Record>,
    /// The number of miss registers in use.
    transactions: u32,
    /// The number of writes to memory that are not yet acknowledged.
    writes: u32,
}

/// The caches that may have a copy of a line, and the transaction of the line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Record {
    owner: Option<NodeId>,
    /// The other caches that may have a copy. While copies are invalidated, only those whose acks
    /// are due, and the requester if it keeps its copy.
    sharers: BTreeSet<NodeId>,
    /// The requester of the transaction under way.
    requester: Option<NodeId>,
    /// Whether the requester keeps its copy, and waits for an upgrade.
    keeps: bool,
}

impl Record {
    /// All recorded caches but `except`: the owner and the sharers.
    fn others(&self, except: Option<NodeId>) -> impl Iterator<Item = NodeId> {
        let all = self.owner.iter().chain(&self.sharers).copied();
        all.filter(move |&node| Some(node) != except)
    }

    fn has(&self, node: NodeId) -> bool {
        self.owner == Some(node) || self.sharers.contains(&node)
    }
}

/// The operand of an event of a line: the data that the actions of the event's row use.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    /// The cache that makes a request, and the thing that it asks for.
    Request(NodeId, Wants),
    /// Dirty bytes that the owner writes out.
    Bytes(ByteMask, &'a LineData),
    /// The cache that answers the directory, with the bytes of the line or without bytes.
    Answer(NodeId, Option<(ByteMask, &'a LineData)>),
    /// The bytes that come from memory.
    Fill(&'a LineData),
    /// The event has no operand.
    Nothing,
}

/// The thing that a cache asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// A copy, to read the line.
    Copy,
    /// The bytes of the line, to write it. The cache has no copy.
    Bytes,
    /// The permission to write its copy.
    Permission,
}

/// Whether the protocol is a test protocol that lacks this property.
fn is_missing<P: Recorded>(cx: &Cx<'_, P>, property: MissingProperty) -> bool {
    cx.world.params.missing == Some(property)
}

impl Directory {
    /// An empty directory without transactions.
    #[must_use]
    pub fn new(level: &KindLevel) -> Self {
        Directory {
            array: CacheArray::new(level, DirectoryState::I),
            records: BTreeMap::new(),
            transactions: 0,
            writes: 0,
        }
    }

    /// Carries out the event of a request, unless the request must wait for a miss register or a way.
    fn request<P: Recorded>(
        &mut self,
        line: LineAddr,
        event: DirectoryEvent,
        operand: Operand<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        let place = self.array.place(line, cx.world.homes);
        let state = place.way.map_or(DirectoryState::I, |way| self.array.state(way));
        let row = DirectoryTable::row(state, event);
        let begins = matches!(row, Row::Do { actions, .. } if actions.contains(&DirectoryAction::Begin));
        let needs = ResourceNeeds { entry: false, register: begins, way: begins };
        match needs.lacks(&self.array, place, self.transactions, cx) {
            Some(wait) => wait,
            None => self.transition(place, state, event, operand, cx),
        }
    }

    /// Carries out a request for a copy.
    fn read<P: Recorded>(&mut self, line: LineAddr, from: NodeId, cx: &mut Cx<'_, P>) -> Disposition {
        let is_owner = self.records.get(&line).is_some_and(|record| record.owner == Some(from));
        let event = if is_owner { DirectoryEvent::GetSOwn } else { DirectoryEvent::GetS };
        self.request(line, event, Operand::Request(from, Wants::Copy), cx)
    }

    /// Carries out a request to write the line. An upgrade of a cache that is not recorded any more
    /// is a request for the line.
    fn write<P: Recorded>(
        &mut self,
        line: LineAddr,
        from: NodeId,
        is_upgrade: bool,
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        let record = self.records.get(&line);
        let keeps = is_upgrade && record.is_some_and(|record| record.has(from));
        let is_alone = record.is_none_or(|record| record.others(Some(from)).next().is_none());
        let event = match (keeps, is_alone) {
            (true, false) => DirectoryEvent::Up,
            (true, true) => DirectoryEvent::UpAlone,
            (false, false) => DirectoryEvent::GetM,
            (false, true) => DirectoryEvent::GetMAlone,
        };
        let wants = if keeps { Wants::Permission } else { Wants::Bytes };
        self.request(line, event, Operand::Request(from, wants), cx)
    }

    /// Takes dirty bytes that the owner of a line writes out.
    fn put<P: Recorded>(
        &mut self,
        line: LineAddr,
        from: NodeId,
        operand: Operand<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        match self.records.get(&line) {
            Some(record) if record.owner == Some(from) => {
                let is_alone = record.sharers.is_empty();
                let event = if is_alone { DirectoryEvent::PutAlone } else { DirectoryEvent::Put };
                self.event(line, event, operand, cx)
            }
            _ => Disposition::Impossible("a cache that does not own the line writes dirty bytes out"),
        }
    }

    /// Takes the ack of an invalidation.
    fn acked<P: Recorded>(
        &mut self,
        line: LineAddr,
        from: NodeId,
        bytes: Option<(ByteMask, &LineData)>,
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        let record = self.records.get(&line);
        let is_last = record.is_none_or(|record| record.others(record.requester).all(|node| node == from));
        let keeps = record.is_some_and(|record| record.keeps);
        let way = self.array.find(line, cx.world.homes);
        let has_bytes = bytes.is_some() || way.is_some_and(|way| !self.array.valid(way).is_empty());
        let event = match (is_last, keeps, has_bytes) {
            (false, ..) => DirectoryEvent::Ack,
            (true, true, _) => DirectoryEvent::LastGrant,
            (true, false, true) => DirectoryEvent::LastBytes,
            (true, false, false) => DirectoryEvent::LastBare,
        };
        self.event(line, event, Operand::Answer(from, bytes), cx)
    }

    fn message<P: Recorded>(&mut self, from: NodeId, msg: &ToDirectory, cx: &mut Cx<'_, P>) -> Disposition {
        match *msg {
            ToDirectory::GetS { line } => self.read(line, from, cx),
            ToDirectory::GetM { line } => self.write(line, from, false, cx),
            ToDirectory::Upgrade { line } => self.write(line, from, true, cx),
            ToDirectory::Put { line, mask, ref data } => self.put(line, from, Operand::Bytes(mask, data), cx),
            ToDirectory::Dirty { line, mask, ref data } => {
                self.event(line, DirectoryEvent::Dirty, Operand::Answer(from, Some((mask, data))), cx)
            }
            ToDirectory::Clean { line, ref data } => {
                let mask = ByteMask::full(usize::from(cx.level().line_bytes));
                self.event(line, DirectoryEvent::Clean, Operand::Answer(from, Some((mask, data))), cx)
            }
            ToDirectory::Gone { line } => {
                self.event(line, DirectoryEvent::Gone, Operand::Answer(from, None), cx)
            }
            ToDirectory::Ack { line } => self.acked(line, from, None, cx),
            ToDirectory::AckBytes { line, mask, ref data } => self.acked(line, from, Some((mask, data)), cx),
        }
    }

    fn memory<P: Recorded>(&mut self, answer: &MemoryReply, cx: &mut Cx<'_, P>) -> Disposition {
        let line = answer.op.line;
        if !matches!(answer.op.access, MemoryAccess::Read) {
            cx.count_down(&mut self.writes, "a write to memory ends, but none was under way");
            return Disposition::Done;
        }
        let record = self.records.get(&line);
        let is_alone = record.is_none_or(|record| record.others(record.requester).next().is_none());
        let event = if is_alone { DirectoryEvent::FillAlone } else { DirectoryEvent::Fill };
        self.event(line, event, Operand::Fill(&answer.data), cx)
    }

    /// Sends an operation on a line to memory.
    fn send_to_memory<P: Recorded>(line: LineAddr, access: MemoryAccess, cx: &mut Cx<'_, P>) {
        let tag = MemoryTag { node: cx.me, slot: Slot(0), note: 0 };
        cx.fx.memory.push(MemoryOp { line, access, tag });
    }

    /// Writes bytes to memory: those that an owner writes out, or those that a recall has collected.
    fn write_out<P: Recorded>(&mut self, place: Place, operand: Operand<'_>, cx: &mut Cx<'_, P>) {
        let (mask, data) = match (operand, place.way) {
            (Operand::Bytes(mask, data), _) => (mask, *data),
            (_, Some(way)) => (self.array.valid(way), self.array.read(way)),
            _ => return cx.impossible("there are no bytes to write out"),
        };
        if matches!(operand, Operand::Answer(..)) && is_missing(cx, MissingProperty::RecalledBytes) {
            return;
        }
        self.writes += 1;
        cx.fx.uses.lines_written_out += 1;
        let data = data.masked(mask);
        Directory::send_to_memory(place.line, MemoryAccess::Write { mask, data }, cx);
    }

    /// The bytes for the requester: those that have just come, or those that have been collected.
    fn bytes(&self, way: Way, operand: Operand<'_>) -> LineData {
        match operand {
            Operand::Fill(data) => *data,
            Operand::Answer(_, Some((mask, data))) => data.masked(mask),
            _ => self.array.read(way).masked(self.array.valid(way)),
        }
    }

    /// Removes a cache that has answered from the record of a line, and keeps its bytes.
    fn collect<P: Recorded>(
        &mut self,
        line: LineAddr,
        way: Way,
        (from, bytes): (NodeId, Option<(ByteMask, &LineData)>),
        cx: &mut Cx<'_, P>,
    ) {
        let record = self.records.entry(line).or_default();
        if record.owner == Some(from) {
            record.owner = None;
        } else if !record.sharers.remove(&from) {
            cx.impossible("no ack of this cache is due");
        }
        if let Some((mask, data)) = bytes {
            self.array.write_clean(way, data, mask);
        }
    }

    /// Invalidates the copies of all recorded caches but `except`.
    fn invalidate<P: Recorded>(&mut self, line: LineAddr, except: Option<NodeId>, cx: &mut Cx<'_, P>) {
        let record = self.records.entry(line).or_default();
        let mut targets: Vec<NodeId> = record.others(except).collect();
        if is_missing(cx, MissingProperty::AnInvalidation)
            && targets.len() > 1
            && let Some(forgotten) = targets.pop()
        {
            record.sharers.remove(&forgotten);
        }
        targets.iter().for_each(|&to| cx.fx.send(to, ToCache::Inv { line }));
    }

    /// Whether the record of a line fits its state.
    fn is_right(&self, line: Option<LineAddr>, state: DirectoryState) -> bool {
        use DirectoryState::{A, D, FM, FS, I, O, R, S, X};
        let Some(record) = line.and_then(|line| self.records.get(&line)) else { return false };
        let Record { owner, sharers, requester, keeps } = record;
        let is_under_way = requester.is_some();
        let is_split = owner.is_none_or(|owner| !sharers.contains(&owner));
        let fits = match state {
            I => false,
            S => owner.is_none() && !sharers.is_empty() && !is_under_way,
            X => owner.is_some() && sharers.is_empty() && !is_under_way,
            O => owner.is_some() && !sharers.is_empty() && !is_under_way,
            FS => owner.is_none() && is_under_way,
            FM => owner.is_none() && sharers.is_empty() && is_under_way,
            D => owner.is_some() && is_under_way,
            A => is_under_way && record.others(*requester).next().is_some(),
            R => !is_under_way && record.others(None).next().is_some(),
        };
        fits && is_split && (!keeps || state == A)
    }
}

impl<P: Recorded> Lines<P> for Directory {
    type Table = DirectoryTable;
    type Operand<'a> = Operand<'a>;
    const ABSENT: DirectoryState = DirectoryState::I;

    fn array(&mut self) -> &mut CacheArray<DirectoryState> {
        &mut self.array
    }

    fn classify(
        &self,
        place: Place,
        event: DirectoryEvent,
        _: Operand<'_>,
    ) -> (DirectoryState, DirectoryEvent) {
        (place.way.map_or(DirectoryState::I, |way| self.array.state(way)), event)
    }

    fn act(&mut self, action: DirectoryAction, place: Place, operand: Operand<'_>, cx: &mut Cx<'_, P>) {
        use DirectoryAction as A;
        let Place { line, way: Some(way), .. } = place else { return cx.lacks_operand(action) };
        let record = self.records.entry(line).or_default();
        let requester = match operand {
            Operand::Request(from, _) => Some(from),
            _ => record.requester,
        };
        match (action, requester, operand) {
            (A::Begin, _, Operand::Request(from, wants)) => {
                record.requester = Some(from);
                record.keeps = wants == Wants::Permission;
                if wants == Wants::Bytes {
                    record.sharers.remove(&from);
                }
                self.transactions += 1;
            }
            (A::Fetch, ..) => Directory::send_to_memory(line, MemoryAccess::Read, cx),
            (A::AskOwner, ..) => match record.owner {
                Some(owner) => cx.fx.send(owner, ToCache::Share { line }),
                None => cx.lacks_operand(action),
            },
            (A::InvalidateOthers, ..) => self.invalidate(line, requester, cx),
            (A::InvalidateAll, ..) => self.invalidate(line, None, cx),
            (A::Collect, _, Operand::Answer(from, bytes)) => self.collect(line, way, (from, bytes), cx),
            (A::Join, Some(requester), _) => drop(record.sharers.insert(requester)),
            (A::Demote, ..) => {
                let owner = record.owner.take();
                record.sharers.extend(owner);
            }
            (A::Own, Some(requester), _) => {
                record.owner = Some(requester);
                record.sharers.clear();
            }
            (A::Forget, ..) => {
                let is_put = matches!(operand, Operand::Bytes(..));
                if !(is_put && is_missing(cx, MissingProperty::AForgottenOwner)) {
                    record.owner = None;
                }
            }
            (A::WriteOut, ..) => self.write_out(place, operand, cx),
            (A::SendS | A::SendE | A::SendM, Some(requester), _) => {
                let data = self.bytes(way, operand);
                let msg = match action {
                    A::SendS => ToCache::DataS { line, data },
                    A::SendE => ToCache::DataE { line, data },
                    _ => ToCache::DataM { line, data },
                };
                cx.fx.send(requester, msg);
            }
            (A::SendGrant, Some(requester), _) => cx.fx.send(requester, ToCache::Grant { line }),
            (A::End, ..) => {
                (record.requester, record.keeps) = (None, false);
                self.array.keep_dirty(way);
                cx.count_down(&mut self.transactions, "a transaction ends, but none was under way");
                // Waiters for a way or a register have priority over requests that begin another
                // transaction of this line.
                cx.fx.wake(Key::Way(place.set));
                cx.fx.wake(Key::Miss);
                cx.fx.wake(Key::Line(line));
            }
            (A::Release, ..) => {
                self.records.remove(&line);
                cx.fx.wake(Key::Line(line));
            }
            _ => cx.lacks_operand(action),
        }
    }
}

impl<P: Recorded> Controller<P> for Directory {
    type Msg = ToDirectory;

    fn step(&mut self, input: Input<'_, ToDirectory>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Message { from, msg } => self.message(from, msg, cx),
            Input::Memory(reply) => self.memory(reply, cx),
            Input::Evict(way) => self.event_in(way, DirectoryEvent::Evict, Operand::Nothing, cx),
            Input::Timer(_) => Disposition::Impossible("the directory has no timer"),
            Input::Request(_) => Disposition::Impossible("no requests of cores enter the directory"),
            Input::Tick { .. } => Disposition::Done,
        }
    }

    fn victims(&self, set: SetIndex, out: &mut Vec<(Way, Rank)>) {
        use DirectoryState::{O, R, S, X};
        if self.array.in_set_where(set, |state| state == R).next().is_none() {
            let is_settled = |state| matches!(state, S | X | O);
            out.extend(self.array.in_set_where(set, is_settled).map(|way| (way, Rank(0))));
        }
    }

    fn occupied(&self, set: SetIndex, out: &mut Vec<Way>) {
        out.extend(self.array.in_set(set));
    }

    fn lines(&self, out: &mut Vec<LineView>) {
        self.array.views::<DirectoryTable>(out);
    }

    fn is_quiet(&self) -> bool {
        use DirectoryState::{O, S, X};
        self.writes == 0 && self.array.count_where(|state| !matches!(state, S | X | O)) == 0
    }

    fn miscount(&self) -> Option<&'static str> {
        use DirectoryState::{A, D, FM, FS};
        let mut entries = self.array.occupied(Way(0));
        if !self.array.counts_ways() {
            Some("the number of occupied ways is wrong")
        } else if self.transactions != self.array.count_where(|state| matches!(state, FS | FM | D | A)) {
            Some("the number of miss registers in use differs from the number of transactions")
        } else if self.records.len() != self.array.occupied(Way(0)).count() {
            Some("the number of records differs from the number of entries")
        } else if entries.any(|way| !self.is_right(self.array.line(way), self.array.state(way))) {
            Some("the record of an entry does not fit its state")
        } else {
            None
        }
    }

    fn canonicalize(&mut self) {
        self.array.canonicalize();
    }
}
