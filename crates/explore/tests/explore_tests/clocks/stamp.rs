//! A toy protocol with leases by logical time. A line of a cache may be read at the times from its
//! write to the end of its lease, and a write takes place at a time after all leases of its line.
//! Times advance only with events. Synchronizing loads go to the bank, so a waiting loop sees the
//! write.
//!
//! If clocks have few bits, a bank that needs a time beyond the last one restarts all caches at
//! time zero: they drop their lines and report this, and then the bank forgets its times and
//! continues.

#![allow(unreachable_pub, missing_docs, reason = "the macro of the contract writes public items")]

use crate::toys;
use proto::{
    Agent, ByteMask, Controller, Cx, Disposition, Info, Input, Key, Kind, Levels, LineAddr, LineData,
    LineView, MemoryAccess, MemoryOp, MemoryReply, MemoryTag, Message, NodeId, Op, Per, PlanKey, Protocol,
    Rank, RequestInput, SetIndex, Settings, Slot, Time, Way, protocol_nodes,
};
use zoo::parts::answer;

pub const L1: u8 = 0;
pub const BANK: u8 = 1;
pub const HOST: u8 = 2;
const SET: SetIndex = SetIndex(0);

/// The fault of a variant of the toy protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    None,
    /// A write takes place when the last lease ends, not after it.
    NoAdvance,
    /// Caches restart, but keep their lines.
    KeepsLines,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Params {
    cus: u16,
    l1_lines: usize,
    lease: u32,
    /// The last time that the clocks can represent.
    last: u32,
    fault: Fault,
}

proto::messages! {
    /// A message to a cache.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub enum ToL1 {
        /// A line that may be read from the time `from` to the time `to`.
        Data { line: LineAddr, data: LineData, from: Time, to: Time } [line(line), bytes(|line_bytes| line_bytes + 8), times(from, to)],
        /// A write took place at the time `at`; the message carries the bytes from before the
        /// write.
        Done { slot: Slot, data: LineData, at: Time } [bytes(|_| 8), times(at)],
        /// A request to the cache to restart at time zero.
        Reset,
    }
}

proto::messages! {
    /// A message to the bank.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub enum ToBank {
        /// A request to read a line at the time `at`.
        Get { line: LineAddr, at: Time } [line(line), bytes(|_| 4), access, times(at)],
        /// A request to write, at the time `at` or later.
        Put { line: LineAddr, access: MemoryAccess, slot: Slot, at: Time } [line(line), bytes(|_| 8), access, times(at)],
        /// A report that the cache has restarted.
        Ready,
    }
}

/// A line of a cache, with its times.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Stamped {
    line: LineAddr,
    from: Time,
    to: Time,
    data: LineData,
}

/// A cache of a compute unit or of the host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cache {
    /// The logical time of the cache's last access.
    now: Time,
    /// The lines of the cache, sorted by address.
    lines: Vec<Stamped>,
    /// The lines that the cache has requested from the bank.
    awaited: Vec<LineAddr>,
}

const THE_BANK: NodeId = NodeId { kind: BANK, index: 0 };

impl Cache {
    fn load<P: Protocol<Msg: From<ToBank>>>(
        &mut self,
        ask: RequestInput<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        let line = ask.req.line;
        let mut held = self.lines.iter().filter(|held| held.line == line && held.to >= self.now);
        if let (false, Some(held)) = (ask.req.order.is_atomic(), held.next()) {
            self.now = self.now.max(held.from);
            cx.fx.reply(ask.slot, held.data);
            return Disposition::Done;
        }
        self.lines.retain(|held| held.line != line);
        cx.fx.wake(Key::Way(SET));
        if !self.awaited.contains(&line) {
            self.awaited.push(line);
            cx.fx.send(THE_BANK, ToBank::Get { line, at: self.now });
        }
        Disposition::Wait(line)
    }

    fn request<P: Protocol<Msg: From<ToBank>>>(
        &mut self,
        ask: RequestInput<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        let line = ask.req.line;
        match ask.req.op {
            Op::Load => return self.load(ask, cx),
            // The host may have written at a later time than the cache's current time.
            Op::KernelBegin(_) => {
                self.lines.clear();
                cx.fx.wake(Key::Way(SET));
            }
            Op::Store | Op::Rmw(_) | Op::Fence | Op::KernelEnd(_) => {}
        }
        // A request that is posted or needs nothing from below is answered here.
        let (0, Some(access)) = (cx.stage, toys::access(ask.req)) else {
            answer(ask, cx);
            return Disposition::Done;
        };
        cx.fx.uses.bypasses += 1;
        cx.fx.send(THE_BANK, ToBank::Put { line, access, slot: ask.slot, at: self.now });
        cx.stage = 1;
        Disposition::Stall(Key::Slot(ask.slot))
    }

    fn fill<P: Protocol<Params = Params, Msg: From<ToBank>>>(
        &mut self,
        filled: Stamped,
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        let line = filled.line;
        if filled.to < self.now {
            // Another access of this cache took place after the lease.
            cx.fx.send(THE_BANK, ToBank::Get { line, at: self.now });
            return Disposition::Done;
        }
        if self.lines.len() == cx.world.params.l1_lines {
            return Disposition::NeedWay(SET);
        }
        self.now = self.now.max(filled.from);
        self.awaited.retain(|&awaited| awaited != line);
        cx.fx.reply_waiters(line, filled.data);
        self.lines.push(filled);
        self.lines.sort_by_key(|held| held.line);
        Disposition::Done
    }
}

impl<P: Protocol<Params = Params, Msg: From<ToBank>>> Controller<P> for Cache {
    type Msg = ToL1;

    fn step(&mut self, input: Input<'_, ToL1>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Request(ask) => return self.request(ask, cx),
            Input::Message { msg: &ToL1::Data { line, data, from, to }, .. } => {
                return self.fill(Stamped { line, from, to, data }, cx);
            }
            Input::Message { msg: ToL1::Done { slot, data, at }, .. } => {
                self.now = self.now.max(*at);
                cx.fx.resume_with(*slot, *data);
            }
            Input::Message { msg: ToL1::Reset, .. } => {
                self.now = Time(0);
                if cx.world.params.fault != Fault::KeepsLines {
                    self.lines.clear();
                    cx.fx.wake(Key::Way(SET));
                }
                cx.fx.send(THE_BANK, ToBank::Ready);
            }
            Input::Evict(way) => {
                self.lines.remove(way.0 as usize);
                cx.fx.wake(Key::Way(SET));
            }
            Input::Tick { .. } | Input::Memory(_) | Input::Timer(_) => {
                return Disposition::Impossible("nobody asked for it");
            }
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
        out.extend(self.lines.iter().map(|held| LineView {
            line: held.line,
            state: "Stamped",
            owns: false,
            valid: ByteMask::full(64),
            dirty: ByteMask::default(),
            data: held.data,
        }));
    }

    fn is_quiet(&self) -> bool {
        self.awaited.is_empty()
    }

    fn times(&mut self, visit: &mut dyn FnMut(&mut Time)) {
        visit(&mut self.now);
        for held in &mut self.lines {
            visit(&mut held.from);
            visit(&mut held.to);
        }
    }
}

/// The logical times of a line: the time of its last write, and the end of its last lease.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Stamps {
    line: LineAddr,
    from: Time,
    to: Time,
}

/// The bank of the toy protocol.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bank {
    /// The times of the lines, sorted by address. A line that is missing has time zero.
    stamps: Vec<Stamps>,
    /// The operations under way to memory, in order: reads (`reads`) and writes (`writes`).
    reads: Vec<(NodeId, Stamps)>,
    writes: Vec<(NodeId, Slot, Time)>,
    /// Whether the caches must restart as soon as no operation is under way to memory. The bytes of
    /// an earlier read would be stale after the restart, but their times would not show it.
    restarts: bool,
    /// The number of caches that must still restart (`due`), and the requests that wait for the
    /// restart of these caches (`waiting`).
    due: u32,
    waiting: Vec<(NodeId, ToBank)>,
}

fn caches(params: &Params) -> impl Iterator<Item = NodeId> + use<> {
    let cus = (0..params.cus).map(|index| NodeId { kind: L1, index });
    cus.chain([NodeId { kind: HOST, index: 0 }])
}

impl Bank {
    /// Serves a request. Returns false if the request needs a time beyond the last one.
    fn serve<P: Protocol<Params = Params>>(
        &mut self,
        from: NodeId,
        msg: &ToBank,
        cx: &mut Cx<'_, P>,
    ) -> bool {
        let &Params { lease, last, fault, .. } = cx.world.params;
        let line = msg.line().unwrap_or(LineAddr(0));
        let known = self.stamps.iter().find(|stamps| stamps.line == line).cloned();
        let old = known.unwrap_or(Stamps { line, from: Time(0), to: Time(0) });
        let (stamps, access, slot) = match *msg {
            ToBank::Get { at, .. } => {
                let to = Time(at.max(old.from).0 + lease).max(old.to);
                (Stamps { to, ..old }, MemoryAccess::Read, Slot(0))
            }
            ToBank::Put { access, slot, at, .. } => {
                let behind = u32::from(fault != Fault::NoAdvance);
                let at = at.max(Time(old.to.0 + behind));
                (Stamps { line, from: at, to: at }, access, slot)
            }
            ToBank::Ready => return true,
        };
        if stamps.to.0 > last {
            return false;
        }
        match access {
            MemoryAccess::Read => self.reads.push((from, stamps.clone())),
            _ => self.writes.push((from, slot, stamps.from)),
        }
        self.stamps.retain(|stamps| stamps.line != line);
        self.stamps.push(stamps);
        self.stamps.sort_by_key(|stamps| stamps.line);
        cx.fx.memory.push(MemoryOp { line, access, tag: MemoryTag { node: from, slot, note: 0 } });
        true
    }

    fn ask<P: Protocol<Params = Params, Msg: From<ToL1>>>(
        &mut self,
        from: NodeId,
        msg: &ToBank,
        cx: &mut Cx<'_, P>,
    ) {
        if self.due == 0 && !self.restarts && self.serve(from, msg, cx) {
            return;
        }
        self.waiting.push((from, msg.clone()));
        self.restarts |= self.due == 0;
        self.restart(cx);
    }

    /// Tells all caches to restart, if a restart is due and no operation is under way to memory.
    fn restart<P: Protocol<Params = Params, Msg: From<ToL1>>>(&mut self, cx: &mut Cx<'_, P>) {
        if !self.restarts || !self.reads.is_empty() || !self.writes.is_empty() {
            return;
        }
        self.restarts = false;
        for cache in caches(cx.world.params) {
            self.due += 1;
            cx.fx.send(cache, ToL1::Reset);
        }
    }

    /// Processes the report that a cache has restarted. After the last report, the requests that
    /// waited are repeated at time zero.
    fn ready<P: Protocol<Params = Params, Msg: From<ToL1>>>(&mut self, from: NodeId, cx: &mut Cx<'_, P>) {
        for (_, msg) in self.waiting.iter_mut().filter(|(cache, _)| *cache == from) {
            msg.times(&mut |time| *time = Time(0));
        }
        cx.count_down(&mut self.due, "nobody was to begin anew");
        if self.due > 0 {
            return;
        }
        self.stamps.clear();
        for (from, msg) in core::mem::take(&mut self.waiting) {
            self.ask(from, &msg, cx);
        }
    }

    fn memory<P: Protocol<Msg: From<ToL1>>>(&mut self, reply: &MemoryReply, cx: &mut Cx<'_, P>) {
        let MemoryTag { node, slot, .. } = reply.op.tag;
        let (line, data) = (reply.op.line, reply.data);
        if reply.op.access == MemoryAccess::Read {
            let of_line = |(_, stamps): &(NodeId, Stamps)| stamps.line == line;
            let Some(at) = self.reads.iter().position(of_line) else {
                return cx.impossible("memory was not asked");
            };
            let (node, Stamps { from, to, .. }) = self.reads.remove(at);
            return cx.fx.send(node, ToL1::Data { line, data, from, to });
        }
        let Some(at) = self.writes.iter().position(|write| (write.0, write.1) == (node, slot)) else {
            return cx.impossible("memory was not asked");
        };
        let (_, _, at) = self.writes.remove(at);
        cx.fx.send(node, ToL1::Done { slot, data, at });
    }
}

impl<P: Protocol<Params = Params, Msg: From<ToL1>>> Controller<P> for Bank {
    type Msg = ToBank;

    fn step(&mut self, input: Input<'_, ToBank>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Message { from, msg: ToBank::Ready } => self.ready(from, cx),
            Input::Message { from, msg } => self.ask(from, msg, cx),
            Input::Memory(reply) => {
                self.memory(reply, cx);
                self.restart(cx);
            }
            Input::Request(_) | Input::Evict(_) | Input::Tick { .. } | Input::Timer(_) => {
                return Disposition::Impossible("nobody asked for it");
            }
        }
        Disposition::Done
    }

    fn is_quiet(&self) -> bool {
        self.reads.is_empty() && self.writes.is_empty() && self.waiting.is_empty() && self.due == 0
    }

    fn times(&mut self, visit: &mut dyn FnMut(&mut Time)) {
        for stamps in self.stamps.iter_mut().chain(self.reads.iter_mut().map(|(_, stamps)| stamps)) {
            visit(&mut stamps.from);
            visit(&mut stamps.to);
        }
        self.writes.iter_mut().for_each(|(_, _, at)| visit(at));
        self.waiting.iter_mut().for_each(|(_, msg)| msg.times(visit));
    }
}

macro_rules! toys {
    ($($module:ident::$toy:ident, $lease:literal, $last:expr, $rebased:expr, $fault:ident;)+) => {
        $(pub mod $module {
            use super::*;

            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub struct $toy;

            protocol_nodes! { $toy: Cache(Cache, ToL1), Bank(Bank, ToBank) }

            impl Protocol for $toy {
                type Node = Node;
                type Msg = Msg;
                type Params = Params;
                const REBASED: Option<u32> = $rebased;
                const INFO: Info =
                    Info { name: "stamp", summary: "leases by logical time", ..toys::INFO };
                const KINDS: &'static [Kind] = &[
                    Kind::cache("L1", "l1", Per::Cu),
                    Kind::port("Bank", "bank", Per::Machine),
                    Kind::port("Host", "host", Per::Host),
                ];

                fn params(levels: &Levels, _: &Settings) -> Result<Params, String> {
                    let l1 = levels.of(L1).array;
                    Ok(Params {
                        cus: levels.cus,
                        l1_lines: (l1.sets * l1.ways) as usize,
                        lease: $lease,
                        last: $last,
                        fault: Fault::$fault,
                    })
                }

                fn node(id: NodeId, _: &Levels, _: &Params) -> Node {
                    match id.kind {
                        BANK => Node::Bank(Bank::default()),
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
    rebased::Rebased, 2, u32::MAX, Some(8), None;
    further::FurtherApart, 2, u32::MAX, Some(12), None;
    absolute::Absolute, 2, u32::MAX, None, None;
    stuck::NoAdvance, 2, u32::MAX, Some(8), NoAdvance;
    four_bits::FourBits, 9, 15, None, None;
    forgetful::KeepsLines, 9, 15, None, KeepsLines;
}
