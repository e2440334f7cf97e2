//! The lines of a bank, and the actions of the bank's table. Below the bank is memory or a further
//! level of caches.

use super::first::perform;
use super::{AccessSite, Answer, HasBankMessages, HasL1Messages, ToBank, ToL1};
use core::fmt::Debug;
use core::hash::Hash;
use core::marker::PhantomData;
use proto::parts::{AckParity, CacheArray};
use proto::{
    ByteMask, Cx, KindLevel, LineAddr, LineData, MemoryAccess, MemoryOp, MemoryReply, MemoryTag, NodeId, Op,
    Protocol, Slot, Way,
};

/// The store below a bank: memory, or another level of caches. The bank fetches lines from the
/// store and writes lines to it.
pub trait BackingStore<P: Protocol>: Clone + Eq + Hash + Debug + 'static {
    /// Requests a line from the store below the bank.
    fn fetch(line: LineAddr, cx: &mut Cx<'_, P>);
    /// Writes bytes to the store below the bank. The ack of the write carries the bit `parity`
    /// back, which distinguishes writes before a flush from later writes.
    fn write(line: LineAddr, mask: ByteMask, data: &LineData, parity: bool, cx: &mut Cx<'_, P>);
    /// Passes an access that another controller requested on to the store. The answer goes to that
    /// controller.
    fn pass_on(line: LineAddr, access: BankAccess<'_>, cx: &mut Cx<'_, P>);
}

/// Memory as the store below a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Memory;

impl<P: Protocol> BackingStore<P> for Memory {
    fn fetch(line: LineAddr, cx: &mut Cx<'_, P>) {
        let tag = MemoryTag { node: cx.me, slot: Slot(0), note: 0 };
        cx.fx.memory.push(MemoryOp { line, access: MemoryAccess::Read, tag });
    }

    fn write(line: LineAddr, mask: ByteMask, data: &LineData, parity: bool, cx: &mut Cx<'_, P>) {
        let access = MemoryAccess::Write { mask, data: *data };
        let tag = MemoryTag { node: cx.me, slot: Slot(u32::from(parity)), note: 0 };
        cx.fx.memory.push(MemoryOp { line, access, tag });
    }

    fn pass_on(line: LineAddr, access: BankAccess<'_>, cx: &mut Cx<'_, P>) {
        let (mask, data) = (access.mask, *access.data);
        let memory_access = match access.op {
            Op::Store => MemoryAccess::Write { mask, data },
            Op::Rmw(rmw) => MemoryAccess::Rmw { rmw, mask, data },
            _ => MemoryAccess::Read,
        };
        let (slot, note) = match access.answer {
            Answer::Request(slot) => (slot, answer_bytes(access.op, mask)),
            Answer::Posted { parity } => (Slot(u32::from(parity)), NOTE_POSTED),
            Answer::Line => (Slot(0), NOTE_LINE),
        };
        cx.fx.memory.push(MemoryOp {
            line,
            access: memory_access,
            tag: MemoryTag { node: access.from, slot, note },
        });
    }
}

/// Another level of caches as the store below a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NextLevel;

impl<P: HasBankMessages> BackingStore<P> for NextLevel {
    fn fetch(line: LineAddr, cx: &mut Cx<'_, P>) {
        cx.fx.send(cx.below(line), ToBank::Get { line });
    }

    fn write(line: LineAddr, mask: ByteMask, data: &LineData, parity: bool, cx: &mut Cx<'_, P>) {
        cx.fx.send(cx.below(line), ToBank::Write { line, mask, data: *data, parity });
    }

    fn pass_on(line: LineAddr, access: BankAccess<'_>, cx: &mut Cx<'_, P>) {
        let BankAccess { from: requester, op, mask, data, answer } = access;
        let msg = ToBank::Access { line, mask, data: *data, op, site: AccessSite::System, answer, requester };
        cx.fx.send(cx.below(line), msg);
    }
}

/// The lines of a bank, and its outstanding operations at the level below. `S` is the type of a
/// line's state, and `B` is the store below the bank.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct BankLines<S, B = Memory> {
    /// The lines of the bank.
    pub array: CacheArray<S>,
    /// The writes to the level below that are not yet acknowledged.
    pub writes: AckParity,
    /// The number of outstanding reads from the level below.
    pub fetches: u32,
    base: PhantomData<B>,
}

proto::clone_in_place! { [S: Clone, B] BankLines<S, B> { array, writes, fetches, base } }

/// An access that a bank receives.
#[derive(Clone, Copy, Debug)]
pub struct BankAccess<'a> {
    /// The node that receives the answer.
    pub from: NodeId,
    /// The operation: load, store or read-modify-write.
    pub op: Op,
    /// The mask of the accessed bytes.
    pub mask: ByteMask,
    /// The bytes to store, or the operands of a read-modify-write.
    pub data: &'a LineData,
    /// The form of the answer to the access.
    pub answer: Answer,
}

impl<S: Copy + Eq + Hash + Debug, B> BankLines<S, B> {
    /// An empty bank without outstanding operations.
    #[must_use]
    pub fn new(level: &KindLevel, absent: S) -> Self {
        let array = CacheArray::new(level, absent);
        BankLines { array, writes: AckParity::default(), fetches: 0, base: PhantomData }
    }

    /// Requests a line from the level below, and counts the read as outstanding.
    pub fn fetch<P: Protocol>(&mut self, line: LineAddr, cx: &mut Cx<'_, P>)
    where
        B: BackingStore<P>,
    {
        self.fetches += 1;
        B::fetch(line, cx);
    }

    /// Counts the end of a read from the level below.
    pub fn end_fetch<P: Protocol>(&mut self, cx: &mut Cx<'_, P>) {
        cx.count_down(&mut self.fetches, "a fetch ends, but no fetch was under way");
    }

    /// Compares the counts of this bank with the things that they count. Returns a sentence about
    /// the first wrong count, or `None` if all counts are right. `is_fetching` accepts the states
    /// of lines with a fetch under way.
    #[must_use]
    pub fn miscount(&self, is_fetching: impl Fn(S) -> bool) -> Option<&'static str> {
        if !self.array.counts_ways() {
            Some("the number of occupied ways is wrong")
        } else if self.fetches != self.array.count_where(is_fetching) {
            Some("the number of outstanding fetches is wrong")
        } else {
            None
        }
    }

    /// Writes fetched bytes into a way. Bytes of the way that are already valid stay as they are.
    pub fn fill<P: Protocol>(&mut self, way: Way, data: &LineData, cx: &mut Cx<'_, P>) {
        cx.fx.uses.data_writes += 1;
        self.array.fill(way, data);
    }

    /// Merges the written bytes into a way, where they become dirty.
    pub fn merge<P: Protocol>(&mut self, way: Way, access: BankAccess<'_>, cx: &mut Cx<'_, P>) {
        cx.fx.uses.data_writes += 1;
        self.array.write(way, access.data, access.mask);
    }

    /// Writes bytes to the level below.
    pub fn write_below<P: Protocol>(
        &mut self,
        line: LineAddr,
        mask: ByteMask,
        data: &LineData,
        cx: &mut Cx<'_, P>,
    ) where
        B: BackingStore<P>,
    {
        B::write(line, mask, data, self.writes.sent(), cx);
    }

    /// Counts the ack of memory for a write. The slot in the reply's tag holds the parity (the bit
    /// that distinguishes writes before a flush from later writes). Returns false if no write with
    /// this parity was outstanding.
    #[must_use]
    pub fn written(&mut self, reply: &MemoryReply) -> bool {
        self.writes.acked(reply.op.tag.slot.0 == 1)
    }

    /// Writes the dirty bytes of a line to the level below, if there are any. The line becomes
    /// clean.
    pub fn write_out<P: Protocol>(&mut self, line: LineAddr, way: Way, cx: &mut Cx<'_, P>)
    where
        B: BackingStore<P>,
    {
        let mask = self.array.dirty(way);
        if mask.is_empty() {
            return;
        }
        let data = self.array.read(way).masked(mask);
        self.array.clean(way);
        cx.fx.uses.data_reads += 1;
        cx.fx.uses.lines_written_out += 1;
        self.write_below(line, mask, &data, cx);
    }

    /// Reads the bytes of the line in a way, and counts the read in the statistics.
    pub fn read<P: Protocol>(&self, way: Way, cx: &mut Cx<'_, P>) -> LineData {
        cx.fx.uses.data_reads += 1;
        self.array.read(way)
    }

    /// Performs an access on a line that is present in the bank, and answers with the accessed
    /// bytes as they were before.
    pub fn perform<P: HasL1Messages>(
        &mut self,
        line: LineAddr,
        way: Way,
        access: BankAccess<'_>,
        cx: &mut Cx<'_, P>,
    ) {
        let mut bytes = self.read(way, cx);
        let old = perform(&mut bytes, access.op, access.data, access.mask);
        if access.op != Op::Load {
            cx.fx.uses.atomics += 1;
            cx.fx.uses.atomic_words += access.mask.count().div_ceil(4);
            cx.fx.uses.data_writes += 1;
            self.array.write(way, &bytes, access.mask);
        }
        reply(line, access, &old, cx);
    }

    /// Passes an access on to the level below. The answer goes to the controller that requested the
    /// access.
    pub fn pass_on<P: Protocol>(&self, line: LineAddr, access: BankAccess<'_>, cx: &mut Cx<'_, P>)
    where
        B: BackingStore<P>,
    {
        cx.fx.uses.bypasses += 1;
        B::pass_on(line, access, cx);
    }
}

/// The number of bytes in the answer to an access of the bytes in `mask`. Only the answer to a
/// load, or to a read-modify-write whose result is used, carries bytes.
#[must_use]
pub fn answer_bytes(op: Op, mask: ByteMask) -> u8 {
    match op {
        Op::Load => mask.count() as u8,
        Op::Rmw(rmw) if rmw.uses_value => mask.count() as u8,
        _ => 0,
    }
}

/// Answers an access in the form that `access.answer` names. `data` holds the bytes of the answer:
/// those that a load reads, or the old bytes of a read-modify-write.
pub fn reply<P: HasL1Messages>(line: LineAddr, access: BankAccess<'_>, data: &LineData, cx: &mut Cx<'_, P>) {
    let msg = match access.answer {
        Answer::Line => ToL1::Data { line, data: *data },
        Answer::Posted { parity } => ToL1::WriteAck { parity },
        Answer::Request(slot) => {
            ToL1::Done { slot, bytes: answer_bytes(access.op, access.mask), data: *data }
        }
    };
    cx.fx.send(access.from, msg);
}

/// The note of a posted write. The note is a part of the tag of a memory operation. For an access
/// that memory performs for an L1, the note selects the form of the answer. `NOTE_POSTED` selects
/// the ack of a posted write, and `NOTE_LINE` selects the line. Any smaller note is the number of
/// bytes in the answer to a request.
const NOTE_POSTED: u8 = u8::MAX - 1;
const NOTE_LINE: u8 = u8::MAX;

/// Forwards memory's reply to the controller whose access the bank has passed on to memory. Returns
/// false if the reply belongs to an operation of the bank itself.
pub fn forward<P: HasL1Messages>(reply: &MemoryReply, cx: &mut Cx<'_, P>) -> bool {
    let tag = reply.op.tag;
    if tag.node == cx.me {
        return false;
    }
    let data = match reply.op.access {
        MemoryAccess::Write { .. } => LineData::default(),
        MemoryAccess::Read | MemoryAccess::Rmw { .. } => reply.data,
    };
    let msg = match passed_on(tag) {
        Answer::Line => ToL1::Data { line: reply.op.line, data },
        Answer::Posted { parity } => ToL1::WriteAck { parity },
        Answer::Request(slot) => ToL1::Done { slot, bytes: tag.note, data },
    };
    cx.fx.send(tag.node, msg);
    true
}

/// The form of the answer to an access that memory has performed for an L1. The note in the tag of an
/// access with [`Answer::Request`] is the number of bytes in the answer.
#[must_use]
pub fn passed_on(tag: MemoryTag) -> Answer {
    match tag.note {
        NOTE_LINE => Answer::Line,
        NOTE_POSTED => Answer::Posted { parity: tag.slot.0 == 1 },
        _ => Answer::Request(tag.slot),
    }
}
