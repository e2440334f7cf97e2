//! A bank of the directory, with a write cache above memory.

use super::write_cache::{Cover, Dirty, Entry, Marker, WriteCache};
use super::{Params, Quick, ToDirectory};
use crate::apu;
use crate::parts::{Answer, BankAccess, ToBank, ToL1, passed_on, reply};
use proto::{
    ByteMask, Controller, Cx, Disposition, Input, Issuer, Key, KindLevel, LineAddr, LineData, LineView,
    MemoryReply, NodeId, Op, SetIndex, TimerClass, Way,
};
use std::collections::VecDeque;

/// A bank of the stateless directory, with a write cache. An eviction of the write cache is a write of
/// the GPU, which the directory performs after it has collected the bytes of hosts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Directory {
    base: apu::Directory,
    write: WriteCache,
    /// The evicted lines, oldest first, that wait for an entry of the directory or for a transaction of
    /// their line. After every step, all possible ones begin.
    evicted: VecDeque<(LineAddr, Dirty)>,
    /// The evictions that memory has not acknowledged, and the markers that wait for them, in order.
    pending: VecDeque<Entry>,
}

impl Directory {
    /// An empty bank without transactions.
    #[must_use]
    pub fn new(level: &KindLevel, params: &Params) -> Self {
        Directory {
            base: apu::Directory::new(level),
            write: WriteCache::new(params.shapes[2]),
            evicted: VecDeque::new(),
            pending: VecDeque::new(),
        }
    }

    fn message<P: Quick>(&mut self, from: NodeId, msg: &ToDirectory, cx: &mut Cx<'_, P>) -> Disposition {
        let none = LineData::default();
        match *msg {
            ToDirectory::Host(ref msg) => self.base.host(from, msg, cx),
            ToDirectory::Gpu(ToBank::Get { line }) => {
                let mask = ByteMask::full(usize::from(cx.level().line_bytes));
                let get = BankAccess { from, op: Op::Load, mask, data: &none, answer: Answer::Line };
                self.access(line, get, cx)
            }
            ToDirectory::Gpu(ToBank::Access { line, mask, ref data, op, answer, requester, .. }) => {
                self.access(line, BankAccess { from: requester, op, mask, data, answer }, cx)
            }
            ToDirectory::Gpu(ToBank::Write { line, mask, ref data, .. }) => {
                self.make_room(Some(line), cx);
                cx.fx.uses.data_writes += 1;
                self.write.write(line, mask, data, Issuer::default());
                Disposition::Done
            }
            ToDirectory::Gpu(ToBank::Flush { .. } | ToBank::Invalidate { .. }) => {
                Disposition::Impossible("releases send markers, and acquires do nothing")
            }
            ToDirectory::Invalidated { line } => self.base.answered(line, from, None, cx),
            ToDirectory::Marker { marker } => {
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

    /// Carries out a read or an atomic of the GPU. The bytes that the write cache has are written out
    /// first. As published, a read of bytes that are all in the write cache is answered from there, and
    /// an atomic passes the write cache.
    fn access<P: Quick>(
        &mut self,
        line: LineAddr,
        access: BankAccess<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        let is_repaired = cx.world.params.repaired;
        if is_repaired || access.op == Op::Load {
            cx.fx.uses.tag_lookups += 1;
            if self.evicted.iter().any(|(other, _)| *other == line) {
                return Disposition::Stall(Key::Line(line));
            }
            match self.write.cover(line, access.mask) {
                Cover::None => {}
                Cover::Whole if !is_repaired => {
                    if let Some(dirty) = self.write.get(line) {
                        cx.fx.uses.data_reads += 1;
                        reply(line, access, &dirty.data, cx);
                    }
                    return Disposition::Done;
                }
                Cover::Part | Cover::Whole if self.base.is_busy(line) => {
                    return Disposition::Stall(Key::Line(line));
                }
                Cover::Part | Cover::Whole => {
                    if let Some(wait) = self.base.lacks_entry(line, cx) {
                        return wait;
                    }
                    // The access waits for the end of this write.
                    self.evict(line, cx);
                }
            }
        }
        self.base.access(line, access, cx)
    }

    /// Frees an entry of a full S-FIFO, and a way for a line that will be written.
    fn make_room<P: Quick>(&mut self, line: Option<LineAddr>, cx: &mut Cx<'_, P>) {
        if self.write.is_full() {
            self.pop(cx);
        }
        if let Some(victim) = line.and_then(|line| self.write.victim(line)) {
            self.evict(victim, cx);
        }
    }

    /// Removes the oldest entry of the S-FIFO. Its line leaves the write cache.
    fn pop<P: Quick>(&mut self, cx: &mut Cx<'_, P>) {
        match self.write.pop() {
            Some(Entry::Line(line)) => self.evict(line, cx),
            Some(Entry::Marker(marker)) => self.pass(marker, cx),
            None => {}
        }
    }

    /// Evicts a line from the write cache, if it is there.
    fn evict<P: Quick>(&mut self, line: LineAddr, cx: &mut Cx<'_, P>) {
        let Some(dirty) = self.write.take(line) else { return };
        cx.fx.uses.data_reads += 1;
        cx.fx.uses.lines_written_out += 1;
        self.pending.push_back(Entry::Line(line));
        self.evicted.push_back((line, dirty));
        self.begin_writes(cx);
    }

    /// Begins the writes of evicted lines for which there is an entry, and whose line has no
    /// transaction.
    fn begin_writes<P: Quick>(&mut self, cx: &mut Cx<'_, P>) {
        let mut at = 0;
        while let Some((line, Dirty { mask, data, .. })) = self.evicted.get(at) {
            if self.base.write_evicted(*line, *mask, data, cx) {
                self.evicted.remove(at);
            } else {
                at += 1;
            }
        }
    }

    /// Puts a marker behind the evictions before it.
    fn pass<P: Quick>(&mut self, marker: Marker, cx: &mut Cx<'_, P>) {
        self.pending.push_back(Entry::Marker(marker));
        self.acknowledge(cx);
    }

    /// Acknowledges the markers before which memory has all evicted lines.
    fn acknowledge<P: Quick>(&mut self, cx: &mut Cx<'_, P>) {
        while let Some(&Entry::Marker(Marker { requester, slot })) = self.pending.front() {
            self.pending.pop_front();
            if let Some(slot) = slot {
                cx.fx.send(requester, ToL1::BankDone { slot });
            }
        }
    }

    /// Takes a reply of memory.
    fn memory<P: Quick>(&mut self, reply: &MemoryReply, cx: &mut Cx<'_, P>) -> Disposition {
        let tag = reply.op.tag;
        if tag.node != cx.me || !matches!(passed_on(tag), Answer::Posted { .. }) {
            return self.base.memory(reply, cx);
        }
        // Memory performs the writes of a line in order, so the oldest one is complete.
        let Some(at) = self.pending.iter().position(|entry| *entry == Entry::Line(reply.op.line)) else {
            return Disposition::Impossible("no write of an evicted line was outstanding");
        };
        self.pending.remove(at);
        self.acknowledge(cx);
        Disposition::Done
    }
}

impl<P: Quick> Controller<P> for Directory {
    type Msg = ToDirectory;

    fn step(&mut self, input: Input<'_, ToDirectory>, cx: &mut Cx<'_, P>) -> Disposition {
        let disposition = match input {
            Input::Message { from, msg } => self.message(from, msg, cx),
            Input::Memory(reply) => self.memory(reply, cx),
            Input::Timer(TimerClass::Drain) => {
                self.pop(cx);
                Disposition::Done
            }
            Input::Timer(_) => Disposition::Impossible("the controller has not armed this timer"),
            Input::Evict(_) => Disposition::Impossible("an entry stays until its transaction ends"),
            Input::Request(_) => Disposition::Impossible("no requests of cores enter the directory"),
            Input::Tick { .. } => Disposition::Done,
        };
        self.begin_writes(cx);
        if self.write.has_marker() {
            cx.fx.timer(TimerClass::Drain);
        }
        disposition
    }

    fn occupied(&self, set: SetIndex, out: &mut Vec<Way>) {
        Controller::<P>::occupied(&self.base, set, out);
    }

    fn lines(&self, out: &mut Vec<LineView>) {
        Controller::<P>::lines(&self.base, out);
    }

    fn is_quiet(&self) -> bool {
        Controller::<P>::is_quiet(&self.base) && !self.write.has_marker() && self.pending.is_empty()
    }

    fn miscount(&self) -> Option<&'static str> {
        let is_pending = |line| self.pending.contains(&Entry::Line(line));
        if !self.evicted.iter().all(|&(line, _)| is_pending(line)) {
            return Some("an evicted line is not among the writes that memory must acknowledge");
        }
        Controller::<P>::miscount(&self.base).or_else(|| self.write.miscount())
    }

    fn canonicalize(&mut self) {
        Controller::<P>::canonicalize(&mut self.base);
    }
}
