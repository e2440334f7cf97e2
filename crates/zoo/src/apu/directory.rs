//! A bank of the stateless directory.

use super::directory_table::{DirectoryAction, DirectoryEvent, DirectoryState, DirectoryTable};
use super::{Stateless, ToDirectory};
use crate::moesi::{self, ToCache};
use crate::parts::{Answer, BackingStore, BankAccess, Memory, ResourceNeeds, ToBank, forward, reply};
use proto::parts::{CacheArray, Lines, Place};
use proto::{
    ByteMask, Controller, Cx, Disposition, Input, Key, KindLevel, LineAddr, LineData, LineView, MemoryAccess,
    MemoryOp, MemoryReply, MemoryTag, NodeId, Op, SetIndex, Slot, Way,
};
use std::collections::{BTreeMap, BTreeSet};

/// A bank of the stateless directory. Each line of the array is the entry of a transaction, with the
/// bytes at hand. The bytes that a host has sent are dirty.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Directory {
    array: CacheArray<DirectoryState>,
    /// The transaction of each line that has an entry.
    transactions: BTreeMap<LineAddr, Transaction>,
    /// The number of writes of hosts' bytes to memory that are not yet acknowledged.
    writes: u32,
}

/// A transaction of a line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Transaction {
    asks: Asks,
    /// The nodes whose answers are due.
    due: BTreeSet<NodeId>,
}

/// A request to the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Asks {
    /// A host asks for a copy.
    Copy(NodeId),
    /// A host asks to write the line.
    Permission(NodeId),
    /// The GPU accesses the line. The fields are those of [`BankAccess`].
    Access { from: NodeId, op: Op, mask: ByteMask, data: LineData, answer: Answer },
}

impl Asks {
    /// The host that makes the request. `None` for the GPU.
    fn host(self) -> Option<NodeId> {
        match self {
            Asks::Copy(host) | Asks::Permission(host) => Some(host),
            Asks::Access { .. } => None,
        }
    }

    /// Whether the GPU writes.
    fn is_write(self) -> bool {
        matches!(self, Asks::Access { op, .. } if op != Op::Load)
    }
}

/// The operand of an event of a line: the data that the actions of the event's row use.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    /// A request of a host, or an access of the GPU.
    Request(Asks),
    /// Dirty bytes that a host writes out.
    Bytes(ByteMask, &'a LineData),
    /// The node that answers, with the bytes of the line or without bytes.
    Answer(NodeId, Option<(ByteMask, &'a LineData)>),
    /// The bytes that come from memory.
    Fill(&'a LineData),
}

impl Directory {
    /// An empty directory without transactions.
    #[must_use]
    pub fn new(level: &KindLevel) -> Self {
        Directory {
            array: CacheArray::new(level, DirectoryState::I),
            transactions: BTreeMap::new(),
            writes: 0,
        }
    }

    /// Whether a transaction of the line is under way. If so, a request for the line must wait.
    #[must_use]
    pub fn is_busy(&self, line: LineAddr) -> bool {
        self.transactions.contains_key(&line)
    }

    /// Carries out the event of a request, unless the request must wait for an entry.
    fn request<P: Stateless>(
        &mut self,
        line: LineAddr,
        event: DirectoryEvent,
        asks: Asks,
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        match self.lacks_entry(line, cx) {
            Some(wait) => wait,
            None => self.event(line, event, Operand::Request(asks), cx),
        }
    }

    /// How a request for a line must wait for an entry. `None` if it gets one, or if the line has one.
    #[must_use]
    pub fn lacks_entry<P: Stateless>(&self, line: LineAddr, cx: &Cx<'_, P>) -> Option<Disposition> {
        let place = self.array.place(line, cx.world.homes);
        let needs = ResourceNeeds { entry: false, register: false, way: true };
        needs.lacks(&self.array, place, 0, cx)
    }

    /// Carries out an access of the GPU. The directory performs writes and read-modify-writes in
    /// memory, and sends the line, or the old bytes, to `access.from`.
    pub fn access<P: Stateless>(
        &mut self,
        line: LineAddr,
        access: BankAccess<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        let BankAccess { from, op, mask, data, answer } = access;
        let event = if op == Op::Load { DirectoryEvent::Read } else { DirectoryEvent::Write };
        self.request(line, event, Asks::Access { from, op, mask, data: *data, answer }, cx)
    }

    /// Begins the write of a line that the GPU has evicted from a write cache of this bank. Memory's
    /// reply has a tag of this bank, with [`Answer::Posted`]. Returns false if the write must wait: for
    /// the end of a transaction of the line, or for an entry.
    pub fn write_evicted<P: Stateless>(
        &mut self,
        line: LineAddr,
        mask: ByteMask,
        data: &LineData,
        cx: &mut Cx<'_, P>,
    ) -> bool {
        let place = self.array.place(line, cx.world.homes);
        if place.way.is_some() || self.array.free_way(place).is_none() {
            return false;
        }
        let answer = Answer::Posted { parity: false };
        let asks = Asks::Access { from: cx.me, op: Op::Store, mask, data: *data, answer };
        self.event(line, DirectoryEvent::Write, Operand::Request(asks), cx) == Disposition::Done
    }

    /// Carries out a message of a host.
    pub fn host<P: Stateless>(
        &mut self,
        from: NodeId,
        msg: &moesi::ToDirectory,
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        use moesi::ToDirectory as M;
        match *msg {
            M::GetS { line } => {
                let event =
                    if cx.world.levels.hosts > 1 { DirectoryEvent::GetS } else { DirectoryEvent::GetSAlone };
                self.request(line, event, Asks::Copy(from), cx)
            }
            // The directory does not know whether the host has kept its copy, so it sends the bytes.
            M::GetM { line } | M::Upgrade { line } => {
                let waits = cx.world.levels.hosts > 1 || P::WAITS_FOR_GPU;
                let event = if waits { DirectoryEvent::GetM } else { DirectoryEvent::GetMAlone };
                self.request(line, event, Asks::Permission(from), cx)
            }
            M::Put { line, mask, ref data } => {
                self.event(line, DirectoryEvent::Put, Operand::Bytes(mask, data), cx)
            }
            M::Dirty { line, mask, ref data } | M::AckBytes { line, mask, ref data } => {
                self.answered(line, from, Some((mask, data)), cx)
            }
            M::Gone { line } | M::Ack { line } => self.answered(line, from, None, cx),
            M::Clean { .. } => Disposition::Impossible("no host gets a line as the only copy for reading"),
        }
    }

    /// Takes the answer of a host or of an L2.
    pub fn answered<P: Stateless>(
        &mut self,
        line: LineAddr,
        from: NodeId,
        bytes: Option<(ByteMask, &LineData)>,
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        let Some(transaction) = self.transactions.get(&line) else {
            return Disposition::Impossible("no transaction of the line is under way");
        };
        let is_last = transaction.due.iter().all(|&node| node == from);
        let held = self.array.find(line, cx.world.homes).map_or(ByteMask::NONE, |way| self.array.valid(way));
        let at_hand = held.union(bytes.map_or(ByteMask::NONE, |(mask, _)| mask));
        let is_whole = at_hand.contains(ByteMask::full(usize::from(cx.level().line_bytes)));
        let event = match (is_last, transaction.asks.is_write(), is_whole) {
            (false, ..) => DirectoryEvent::Answer,
            (true, true, _) => DirectoryEvent::LastWrite,
            (true, false, true) => DirectoryEvent::LastBytes,
            (true, false, false) => DirectoryEvent::LastBare,
        };
        self.event(line, event, Operand::Answer(from, bytes), cx)
    }

    /// Takes a reply of memory. The reply to an operation of the GPU goes to the node that waits for
    /// it.
    pub fn memory<P: Stateless>(&mut self, reply: &MemoryReply, cx: &mut Cx<'_, P>) -> Disposition {
        match reply.op.access {
            _ if forward(reply, cx) => Disposition::Done,
            MemoryAccess::Read => {
                self.event(reply.op.line, DirectoryEvent::Fill, Operand::Fill(&reply.data), cx)
            }
            _ => {
                cx.count_down(&mut self.writes, "a write to memory ends, but none was under way");
                Disposition::Done
            }
        }
    }

    /// Sends an operation on a line to memory, on behalf of the directory itself.
    fn send_to_memory<P: Stateless>(line: LineAddr, access: MemoryAccess, cx: &mut Cx<'_, P>) {
        let tag = MemoryTag { node: cx.me, slot: Slot(0), note: 0 };
        cx.fx.memory.push(MemoryOp { line, access, tag });
    }

    /// Writes bytes of a host to memory.
    fn write<P: Stateless>(&mut self, line: LineAddr, mask: ByteMask, data: &LineData, cx: &mut Cx<'_, P>) {
        if mask.is_empty() {
            return;
        }
        self.writes += 1;
        cx.fx.uses.lines_written_out += 1;
        Directory::send_to_memory(line, MemoryAccess::Write { mask, data: data.masked(mask) }, cx);
    }

    /// Sends a message about a line to all hosts but the requester. Their answers are due.
    fn ask<P: Stateless>(&mut self, line: LineAddr, msg: ToCache, cx: &mut Cx<'_, P>) {
        let Some(transaction) = self.transactions.get_mut(&line) else { return };
        let hosts = (0..cx.world.levels.hosts).map(|index| NodeId { kind: P::HOST, index });
        for host in hosts.filter(|&host| Some(host) != transaction.asks.host()) {
            cx.fx.send(host, msg);
            transaction.due.insert(host);
        }
    }

    /// Answers the requester of a transaction with the bytes at hand.
    fn respond<P: Stateless>(&self, line: LineAddr, way: Way, cx: &mut Cx<'_, P>) {
        let Some(transaction) = self.transactions.get(&line) else { return };
        let data = self.array.read(way).masked(self.array.valid(way));
        match transaction.asks {
            Asks::Copy(host) => cx.fx.send(host, ToCache::DataS { line, data }),
            Asks::Permission(host) => cx.fx.send(host, ToCache::DataM { line, data }),
            Asks::Access { from, op, mask, data: ref operands, answer } => {
                reply(line, BankAccess { from, op, mask, data: operands, answer }, &data, cx);
            }
        }
    }

    /// Performs the write or the read-modify-write of a transaction in memory.
    fn perform<P: Stateless>(&self, line: LineAddr, cx: &mut Cx<'_, P>) {
        if let Some(Transaction { asks: Asks::Access { from, op, mask, data, answer }, .. }) =
            self.transactions.get(&line)
        {
            let access = BankAccess { from: *from, op: *op, mask: *mask, data, answer: *answer };
            <Memory as BackingStore<P>>::pass_on(line, access, cx);
        }
    }
}

impl<P: Stateless> Lines<P> for Directory {
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
        let line = place.line;
        match (action, place.way, operand) {
            (A::Begin, Some(_), Operand::Request(asks)) => {
                self.transactions.insert(line, Transaction { asks, due: BTreeSet::new() });
            }
            (A::AskShare, ..) => self.ask(line, ToCache::Share { line }, cx),
            (A::AskInv, ..) => self.ask(line, ToCache::Inv { line }, cx),
            (A::TellGpu, ..) => {
                let l2 = P::invalidate(line, cx);
                if P::WAITS_FOR_GPU
                    && let Some(transaction) = self.transactions.get_mut(&line)
                {
                    transaction.due.insert(l2);
                }
            }
            (A::Fetch, ..) => Directory::send_to_memory(line, MemoryAccess::Read, cx),
            (A::Collect, Some(way), Operand::Answer(from, bytes)) => {
                let transaction = self.transactions.get_mut(&line);
                if !transaction.is_some_and(|transaction| transaction.due.remove(&from)) {
                    cx.impossible("no answer of this node is due");
                }
                if let Some((mask, data)) = bytes {
                    self.array.write(way, data, mask);
                }
            }
            (A::Hold, Some(way), Operand::Fill(data)) => self.array.fill(way, data),
            (A::Hold, Some(way), Operand::Bytes(mask, data)) => {
                if !P::lacks_hold(cx.world.params) {
                    self.array.write_clean(way, data, mask);
                }
            }
            (A::Respond, Some(way), _) => self.respond(line, way, cx),
            (A::WriteOut, _, Operand::Bytes(mask, data)) => self.write(line, mask, data, cx),
            (A::WriteHost, Some(way), _) => {
                if P::lacks_order(cx.world.params) {
                    self.perform(line, cx);
                }
                let (mask, data) = (self.array.dirty(way), self.array.read(way));
                self.write(line, mask, &data, cx);
            }
            (A::Perform, ..) => {
                if !P::lacks_order(cx.world.params) {
                    self.perform(line, cx);
                }
            }
            (A::End, ..) => {
                self.transactions.remove(&line);
                cx.fx.wake(Key::Line(line));
            }
            _ => cx.lacks_operand(action),
        }
    }
}

impl<P: Stateless> Controller<P> for Directory {
    type Msg = ToDirectory;

    fn step(&mut self, input: Input<'_, ToDirectory>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Message { from, msg: ToDirectory::Host(msg) } => self.host(from, msg, cx),
            Input::Message { from, msg: &ToDirectory::Gpu(ToBank::Get { line }) } => {
                let mask = ByteMask::full(usize::from(cx.level().line_bytes));
                let none = LineData::default();
                let get = BankAccess { from, op: Op::Load, mask, data: &none, answer: Answer::Line };
                self.access(line, get, cx)
            }
            Input::Message {
                from,
                msg: &ToDirectory::Gpu(ToBank::Write { line, mask, ref data, parity }),
            } => {
                let answer = Answer::Posted { parity };
                self.access(line, BankAccess { from, op: Op::Store, mask, data, answer }, cx)
            }
            Input::Message {
                msg: &ToDirectory::Gpu(ToBank::Access { line, mask, ref data, op, answer, requester, .. }),
                ..
            } => self.access(line, BankAccess { from: requester, op, mask, data, answer }, cx),
            Input::Message {
                msg: ToDirectory::Gpu(ToBank::Flush { .. } | ToBank::Invalidate { .. }),
                ..
            } => Disposition::Impossible("the directory has no bytes to flush or to invalidate"),
            Input::Message { from, msg: &ToDirectory::Invalidated { line } } => {
                self.answered(line, from, None, cx)
            }
            Input::Memory(reply) => self.memory(reply, cx),
            Input::Evict(_) => Disposition::Impossible("an entry stays until its transaction ends"),
            Input::Timer(_) => Disposition::Impossible("the directory has no timer"),
            Input::Request(_) => Disposition::Impossible("no requests of cores enter the directory"),
            Input::Tick { .. } => Disposition::Done,
        }
    }

    fn occupied(&self, set: SetIndex, out: &mut Vec<Way>) {
        out.extend(self.array.in_set(set));
    }

    fn lines(&self, out: &mut Vec<LineView>) {
        self.array.views::<DirectoryTable>(out);
    }

    fn is_quiet(&self) -> bool {
        self.writes == 0 && self.transactions.is_empty()
    }

    fn miscount(&self) -> Option<&'static str> {
        use DirectoryState::{P, PF};
        let fits = |way: Way| {
            let transaction = self.array.line(way).and_then(|line| self.transactions.get(&line));
            transaction.is_some_and(|t| t.due.is_empty() != matches!(self.array.state(way), P | PF))
        };
        if !self.array.counts_ways() {
            Some("the number of occupied ways is wrong")
        } else if self.transactions.len() != self.array.occupied(Way(0)).count() {
            Some("the number of transactions differs from the number of entries")
        } else if !self.array.occupied(Way(0)).all(fits) {
            Some("the answers that are due do not fit the state of the entry")
        } else {
            None
        }
    }

    fn canonicalize(&mut self) {
        self.array.canonicalize();
    }
}
