//! A toy protocol with leases by physical time. A bank grants a cache a line for some ticks, and
//! performs no write to the line before these ticks have passed. Leases are numbers of remaining
//! ticks, in the lines of caches and banks and in messages under way. The bank is inclusive: it
//! does not evict a leased line.
//!
//! The lease of a line that the bank must fetch begins with the request to memory. The lease
//! travels in the tag of that operation and in the answer to the cache.

#![allow(unreachable_pub, missing_docs, reason = "the macro of the contract writes public items")]

use crate::toys;
use proto::{
    Agent, ByteMask, Controller, Cx, Disposition, Info, Input, Key, Kind, Levels, LineAddr, LineData,
    LineView, MemoryAccess, MemoryOp, MemoryReply, MemoryTag, NodeId, Op, Per, PlanKey, Protocol, Rank,
    RequestInput, SetIndex, Settings, Slot, TimerClass, Way, aged, protocol_nodes,
};
use zoo::parts::answer;

pub const L1: u8 = 0;
pub const BANK: u8 = 1;
pub const HOST: u8 = 2;
/// The only set of each cache.
const SET: SetIndex = SetIndex(0);

/// The fault of a variant of the toy protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    None,
    /// The lease in an answer does not age.
    AnswerKeeps,
    /// The lease in the tag of an operation on memory does not age.
    TagKeeps,
    /// The bank sets no deadline.
    NoDeadline,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Params {
    l1_lines: usize,
    bank_lines: usize,
    /// The ticks for which a cache may keep a line (`lease`), and the additional ticks for which
    /// the bank waits.
    lease: u32,
    guard: u32,
    fault: Fault,
}

proto::messages! {
    /// A message to a cache.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub enum ToL1 {
        /// A line that the cache may keep for `lease` ticks.
        Data { line: LineAddr, data: LineData, lease: u32, ages: bool } [
            line(line), bytes(|line_bytes| line_bytes + 4), ages(|elapsed| age_lease(lease, *ages, elapsed))
        ],
        /// A request has been performed; the message carries the bytes from before the request.
        Done { slot: Slot, data: LineData } [bytes(|_| 4)],
    }
}

/// Shortens the lease in a message by the elapsed ticks, unless a seeded fault (`ages` is false)
/// prevents it.
fn age_lease(lease: &mut u32, ages: bool, elapsed: i32) {
    if ages {
        *lease = aged(*lease, elapsed);
    }
}

proto::messages! {
    /// A message to a bank.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub enum ToBank {
        Get { line: LineAddr } [line(line), access],
        Put { line: LineAddr, put: Put } [line(line), bytes(|_| 4), access],
    }
}

/// A write or a read-modify-write that a cache requests.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Put {
    pub line: LineAddr,
    pub access: MemoryAccess,
    pub slot: Slot,
}

/// A line of a cache, with its lease.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Leased {
    line: LineAddr,
    lease: u32,
    data: LineData,
}

/// A cache of a compute unit or of the host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cache {
    /// The lines of the cache, sorted by address.
    lines: Vec<Leased>,
    /// The lines that the cache has requested from the bank.
    awaited: Vec<LineAddr>,
}

impl Cache {
    fn request<P: Protocol<Msg: From<ToBank>>>(
        &mut self,
        ask: RequestInput<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        let line = ask.req.line;
        let bank = cx.world.levels.server(BANK, cx.me, line, cx.world.homes);
        if ask.req.op == Op::Load {
            if let Some(held) = self.lines.iter().find(|held| held.line == line) {
                cx.fx.reply(ask.slot, held.data);
                return Disposition::Done;
            }
            if !self.awaited.contains(&line) {
                self.awaited.push(line);
                cx.fx.send(bank, ToBank::Get { line });
            }
            return Disposition::Wait(line);
        }
        // A request that is posted or needs nothing from below is answered here.
        let (0, Some(access)) = (cx.stage, toys::access(ask.req)) else {
            answer(ask, cx);
            return Disposition::Done;
        };
        cx.fx.uses.bypasses += 1;
        cx.fx.send(bank, ToBank::Put { line, put: Put { line, access, slot: ask.slot } });
        cx.stage = 1;
        Disposition::Stall(Key::Slot(ask.slot))
    }

    fn fill<P: Protocol<Params = Params>>(
        &mut self,
        (line, data, lease): (LineAddr, LineData, u32),
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        // A lease that expires under way leaves bytes that may be used once.
        if lease > 0 {
            if self.lines.len() == cx.world.params.l1_lines {
                return Disposition::NeedWay(SET);
            }
            self.lines.push(Leased { line, lease, data });
            self.lines.sort_by_key(|held| held.line);
        }
        self.awaited.retain(|&awaited| awaited != line);
        cx.fx.reply_waiters(line, data);
        Disposition::Done
    }
}

impl<P: Protocol<Params = Params, Msg: From<ToBank>>> Controller<P> for Cache {
    type Msg = ToL1;

    fn step(&mut self, input: Input<'_, ToL1>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Request(ask) => return self.request(ask, cx),
            Input::Message { msg: ToL1::Data { line, data, lease, .. }, .. } => {
                return self.fill((*line, *data, *lease), cx);
            }
            Input::Message { msg: ToL1::Done { slot, data }, .. } => cx.fx.resume_with(*slot, *data),
            Input::Evict(way) => {
                self.lines.remove(way.0 as usize);
                cx.fx.wake(Key::Way(SET));
            }
            Input::Tick { elapsed } => {
                self.lines.iter_mut().for_each(|held| held.lease = held.lease.saturating_sub(elapsed));
                self.lines.retain(|held| held.lease > 0);
                cx.fx.wake(Key::Way(SET));
            }
            Input::Memory(_) | Input::Timer(_) => return Disposition::Impossible("nobody asked for it"),
        }
        Disposition::Done
    }

    fn victims(&self, set: SetIndex, out: &mut Vec<(Way, Rank)>) {
        if set == SET {
            out.extend((0..self.lines.len() as u32).map(|way| (Way(way), Rank(0))));
        }
    }

    fn occupied(&self, set: SetIndex, out: &mut Vec<Way>) {
        if set == SET {
            out.extend((0..self.lines.len() as u32).map(Way));
        }
    }

    fn lines(&self, out: &mut Vec<LineView>) {
        out.extend(self.lines.iter().map(|held| view(held.line, "Leased", held.data)));
    }

    fn is_quiet(&self) -> bool {
        self.awaited.is_empty()
    }
}

fn view(line: LineAddr, state: &'static str, data: LineData) -> LineView {
    LineView { line, state, owns: false, valid: ByteMask::full(64), dirty: ByteMask::default(), data }
}

/// A line of a bank, with the lease that caches have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Entry {
    line: LineAddr,
    /// The ticks for which a cache may hold the line.
    lease: u32,
    /// The bytes of the line; `None` while the bank waits for memory's reply.
    data: Option<LineData>,
    /// The requests that wait for the end of the lease.
    puts: Vec<(NodeId, Put)>,
}

/// A bank: the lines that caches may hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bank {
    /// The entries of the bank, sorted by address.
    entries: Vec<Entry>,
    tags_age: bool,
}

impl Bank {
    fn entry(&mut self, line: LineAddr) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.line == line)
    }

    fn get<P: Protocol<Params = Params, Msg: From<ToL1>>>(
        &mut self,
        (from, line): (NodeId, LineAddr),
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        let &Params { bank_lines, lease, guard, fault, .. } = cx.world.params;
        let is_full = self.entries.len() == bank_lines;
        match self.entry(line) {
            Some(Entry { data: None, .. }) => return Disposition::Stall(Key::Line(line)),
            Some(Entry { data: Some(data), puts, lease: until, .. }) => {
                // No lease is granted while a write waits: the write would starve.
                let lease = if puts.is_empty() { lease } else { 0 };
                if lease > 0 {
                    *until = (*until).max(lease + guard);
                }
                let ages = fault != Fault::AnswerKeeps;
                cx.fx.send(from, ToL1::Data { line, data: *data, lease, ages });
            }
            None if is_full => return Disposition::NeedWay(SET),
            None => {
                self.entries.push(Entry { line, lease: lease + guard, data: None, puts: Vec::new() });
                self.entries.sort_by_key(|entry| entry.line);
                let tag = MemoryTag { node: from, slot: Slot(0), note: lease as u8 };
                cx.fx.memory.push(MemoryOp { line, access: MemoryAccess::Read, tag });
            }
        }
        if fault != Fault::NoDeadline {
            cx.fx.timer_in(TimerClass::Lease, lease + guard);
        }
        Disposition::Done
    }

    fn put<P: Protocol>(&mut self, from: NodeId, put: &Put, cx: &mut Cx<'_, P>) -> Disposition {
        if let Some(entry) = self.entry(put.line) {
            let Some(data) = &mut entry.data else { return Disposition::Stall(Key::Line(put.line)) };
            if entry.lease > 0 || !entry.puts.is_empty() {
                entry.puts.push((from, put.clone()));
                return Disposition::Done;
            }
            put.access.perform(data);
        }
        let tag = MemoryTag { node: from, slot: put.slot, note: 0 };
        cx.fx.memory.push(MemoryOp { line: put.line, access: put.access, tag });
        Disposition::Done
    }

    fn memory<P: Protocol<Params = Params, Msg: From<ToL1>>>(
        &mut self,
        reply: &MemoryReply,
        cx: &mut Cx<'_, P>,
    ) {
        let MemoryTag { node, slot, note } = reply.op.tag;
        if reply.op.access != MemoryAccess::Read {
            return cx.fx.send(node, ToL1::Done { slot, data: reply.data });
        }
        let line = reply.op.line;
        match self.entry(line) {
            Some(entry) => entry.data = Some(reply.data),
            None => return cx.impossible("memory was not asked"),
        }
        let ages = cx.world.params.fault != Fault::AnswerKeeps;
        cx.fx.send(node, ToL1::Data { line, data: reply.data, lease: note.into(), ages });
        cx.fx.wake(Key::Line(line));
    }

    /// Performs the writes that have waited for leases which have now expired.
    fn ran_out<P: Protocol>(&mut self, cx: &mut Cx<'_, P>) {
        for entry in self.entries.iter_mut().filter(|entry| entry.lease == 0) {
            let Some(data) = &mut entry.data else { continue };
            for (from, put) in entry.puts.drain(..) {
                put.access.perform(data);
                let tag = MemoryTag { node: from, slot: put.slot, note: 0 };
                cx.fx.memory.push(MemoryOp { line: put.line, access: put.access, tag });
            }
        }
        cx.fx.wake(Key::Way(SET));
        if let Some(lease) = self.entries.iter().map(|entry| entry.lease).filter(|&lease| lease > 0).min() {
            cx.fx.timer_in(TimerClass::Lease, lease);
        }
    }
}

impl<P: Protocol<Params = Params, Msg: From<ToL1>>> Controller<P> for Bank {
    type Msg = ToBank;

    fn step(&mut self, input: Input<'_, ToBank>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Message { from, msg: &ToBank::Get { line } } => return self.get((from, line), cx),
            Input::Message { from, msg: ToBank::Put { put, .. } } => return self.put(from, put, cx),
            Input::Memory(reply) => self.memory(reply, cx),
            Input::Evict(way) => {
                self.entries.remove(way.0 as usize);
                cx.fx.wake(Key::Way(SET));
            }
            Input::Timer(TimerClass::Lease) => self.ran_out(cx),
            Input::Tick { elapsed } => {
                self.entries.iter_mut().for_each(|entry| entry.lease = entry.lease.saturating_sub(elapsed));
            }
            Input::Request(_) | Input::Timer(_) => return Disposition::Impossible("nobody asked for it"),
        }
        Disposition::Done
    }

    fn victims(&self, set: SetIndex, out: &mut Vec<(Way, Rank)>) {
        let may_go = |entry: &Entry| entry.lease == 0 && entry.data.is_some();
        let ways = self.entries.iter().enumerate().filter(|(_, entry)| set == SET && may_go(entry));
        out.extend(ways.map(|(way, _)| (Way(way as u32), Rank(0))));
    }

    fn occupied(&self, set: SetIndex, out: &mut Vec<Way>) {
        if set == SET {
            out.extend((0..self.entries.len() as u32).map(Way));
        }
    }

    fn lines(&self, out: &mut Vec<LineView>) {
        let held = |entry: &Entry| {
            let state = if entry.lease > 0 { "Leased" } else { "Free" };
            entry.data.map(|data| view(entry.line, state, data))
        };
        out.extend(self.entries.iter().filter_map(held));
    }

    fn is_quiet(&self) -> bool {
        self.entries.iter().all(|entry| entry.data.is_some() && entry.puts.is_empty())
    }

    fn age_tag(&self, tag: &mut MemoryTag, elapsed: i32) {
        if self.tags_age {
            tag.note = aged(tag.note.into(), elapsed) as u8;
        }
    }
}

macro_rules! toys {
    ($($module:ident::$toy:ident, $clocked:literal, $lease:literal, $guard:literal, $fault:ident;)+) => {
        $(pub mod $module {
            use super::*;

            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub struct $toy;

            protocol_nodes! { $toy: Cache(Cache, ToL1), Bank(Bank, ToBank) }

            impl Protocol for $toy {
                type Node = Node;
                type Msg = Msg;
                type Params = Params;
                const CLOCKED: bool = $clocked;
                const INFO: Info =
                    Info { name: "lease", summary: "leases by physical time", ..toys::INFO };
                const KINDS: &'static [Kind] = &[
                    Kind::cache("L1", "l1", Per::Cu).over("l2"),
                    Kind::cache("Bank", "l2", Per::Chiplet),
                    Kind::port("Host", "host", Per::Host),
                ];

                fn params(levels: &Levels, _: &Settings) -> Result<Params, String> {
                    let lines = |kind: u8| {
                        let array = levels.of(kind).array;
                        (array.sets * array.ways) as usize
                    };
                    Ok(Params {
                        l1_lines: lines(L1),
                        bank_lines: lines(BANK),
                        lease: $lease,
                        guard: $guard,
                        fault: Fault::$fault,
                    })
                }

                fn node(id: NodeId, _: &Levels, params: &Params) -> Node {
                    match id.kind {
                        BANK => {
                            let tags_age = params.fault != Fault::TagKeeps;
                            Node::Bank(Bank { entries: Vec::new(), tags_age })
                        }
                        _ => Node::Cache(Cache::default()),
                    }
                }

                fn entry(_: &Params, agent: Agent, _: PlanKey) -> NodeId {
                    agent.enters(L1, HOST)
                }

                toys::no_tables! {}
            }
        })+
    };
}

toys! {
    right::Lease, true, 2, 0, None;
    guarded::GuardedLease, true, 2, 1, None;
    keeping::AnswerKeeps, true, 2, 0, AnswerKeeps;
    tagging::TagKeeps, true, 2, 0, TagKeeps;
    sleeping::NoDeadline, true, 2, 0, NoDeadline;
    long::LongLease, true, 200, 0, None;
    keeping_long::LongKeeps, true, 200, 0, AnswerKeeps;
    tagging_long::LongTags, true, 200, 0, TagKeeps;
    timeless::NoClock, false, 2, 0, None;
}
