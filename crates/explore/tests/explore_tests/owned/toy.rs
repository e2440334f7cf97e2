//! Toy protocols in which hosts have coherent caches. A line is either in memory, or in the one
//! cache that owns it: the cache of a compute unit or of a host. Owned lines stay dirty in the caches
//! when a kernel ends.
//!
//! A cache asks the bank of a line for the line. The bank recalls the line from its owner, passes
//! the bytes on and writes them to memory. A cache writes a line that it evicts to the bank. The
//! order of the messages between a cache and a bank resolves the race of an eviction with a recall:
//! the bank gets the evicted bytes before the cache's answer to the recall.

#![allow(unreachable_pub, dead_code, missing_docs, unused_imports, reason = "each test has some of the toys")]

use proto::issue::IssueRule;
use proto::{
    Agent, ByteMask, Channels, Claim, Controller, Cx, Disposition, Hosts, Info, Input, Key, Kind, KindLevel,
    Levels, LineAddr, LineData, LineView, MemoryAccess, MemoryOp, MemoryTag, NodeId, Op, Per, PlanKey,
    PlansView, Protocol, Rank, RequestInput, SetIndex, Settings, Sharing, TableView, Way, Wrap,
    protocol_nodes,
};
use std::collections::BTreeMap;

const CACHE: u8 = 0;
const HOST: u8 = 2;
/// The caches of these protocols have a single set.
const SET: SetIndex = SetIndex(0);

/// A fault of a toy protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A cache of a compute unit answers a recall without the bytes of its line.
    BytesLost,
    /// The cache of a host answers a recall without the bytes of its line.
    HostBytesLost,
    /// A cache gives no answer to a recall of a line that it owns.
    RecallIgnored,
    /// A bank recalls no line: it gives a second cache the bytes of memory.
    SecondOwner,
}

/// A toy protocol with its fault, if it has one.
pub trait Toy: Protocol<Msg: Wrap<ToCache> + Wrap<ToBank>> {
    const FAULT: Option<Fault>;
}

proto::messages! {
    /// A message to a cache.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToCache {
        /// The bytes of a line, which the cache owns from now on.
        Data { line: LineAddr, data: LineData } [line(line), bytes(|line_bytes| line_bytes)],
        /// A request to give the line back.
        Recall { line: LineAddr } [line(line)],
    }
}

proto::messages! {
    /// A message to a bank.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToBank {
        /// A request for a line.
        Get { line: LineAddr } [line(line), access],
        /// An evicted line.
        Put { line: LineAddr, data: LineData } [line(line), bytes(|line_bytes| line_bytes)],
        /// An answer to a recall: the bytes of the line, which the cache no longer holds.
        Bytes { line: LineAddr, data: LineData } [line(line), bytes(|line_bytes| line_bytes)],
        /// An answer to a recall: the cache does not hold the line.
        Gone { line: LineAddr } [line(line)],
    }
}

/// A cache of a compute unit or of a host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cache {
    /// The ways. A line without bytes has been requested.
    ways: Vec<Option<(LineAddr, Option<LineData>)>>,
    line_bytes: u16,
}

impl Cache {
    fn new(level: &KindLevel) -> Cache {
        let ways = (level.array.sets * level.array.ways) as usize;
        Cache { ways: vec![None; ways], line_bytes: level.line_bytes }
    }

    fn find(&self, line: LineAddr) -> Option<usize> {
        self.ways.iter().position(|way| way.is_some_and(|(held, _)| held == line))
    }

    fn request<P: Toy>(&mut self, ask: RequestInput<'_>, cx: &mut Cx<'_, P>) -> Disposition {
        let (line, mask, data) = (ask.req.line, ask.req.mask, ask.req.data);
        let access = match ask.req.op {
            Op::Load => MemoryAccess::Read,
            Op::Store => MemoryAccess::Write { mask, data },
            Op::Rmw(rmw) => MemoryAccess::Rmw { rmw, mask, data },
            Op::Fence | Op::KernelBegin(_) | Op::KernelEnd(_) => {
                cx.fx.accept(ask.slot);
                return Disposition::Done;
            }
        };
        let Some(way) = self.find(line) else {
            let Some(free) = self.ways.iter().position(Option::is_none) else {
                return Disposition::NeedWay(SET);
            };
            self.ways[free] = Some((line, None));
            cx.fx.send(cx.below(line), ToBank::Get { line });
            return Disposition::Stall(Key::Line(line));
        };
        let Some((_, Some(bytes))) = &mut self.ways[way] else {
            return Disposition::Stall(Key::Line(line));
        };
        let read = access.perform(bytes);
        cx.fx.touches.push(Way(way as u32));
        match ask.req.reads() {
            true => cx.fx.reply(ask.slot, read),
            false => cx.fx.accept(ask.slot),
        }
        Disposition::Done
    }

    /// Removes the line in a way, and returns its bytes. `None` if the way holds no bytes.
    fn take<P: Toy>(&mut self, way: usize, cx: &mut Cx<'_, P>) -> Option<(LineAddr, LineData)> {
        let (line, data) = (*self.ways.get(way)?)?;
        let data = data?;
        self.ways[way] = None;
        cx.fx.wake(Key::Way(SET));
        Some((line, data))
    }
}

impl<P: Toy> Controller<P> for Cache {
    type Msg = ToCache;

    fn step(&mut self, input: Input<'_, ToCache>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Request(ask) => return self.request(ask, cx),
            Input::Message { msg: &ToCache::Data { line, data }, .. } => {
                let Some(way) = self.find(line) else {
                    return Disposition::Impossible("the line was not requested");
                };
                self.ways[way] = Some((line, Some(data)));
                cx.fx.wake(Key::Line(line));
                // From now on, the line can be evicted.
                cx.fx.wake(Key::Way(SET));
            }
            Input::Message { from, msg: &ToCache::Recall { line } } => {
                let loses = match cx.me.kind {
                    HOST => Fault::HostBytesLost,
                    _ => Fault::BytesLost,
                };
                match self.find(line).and_then(|way| self.take(way, cx)) {
                    Some(_) if P::FAULT == Some(Fault::RecallIgnored) => {}
                    Some((_, data)) if P::FAULT != Some(loses) => {
                        cx.fx.send(from, ToBank::Bytes { line, data });
                    }
                    Some(_) | None => cx.fx.send(from, ToBank::Gone { line }),
                }
            }
            Input::Evict(way) => {
                let Some((line, data)) = self.take(way.0 as usize, cx) else {
                    return Disposition::Impossible("the way holds no bytes");
                };
                cx.fx.send(cx.below(line), ToBank::Put { line, data });
            }
            Input::Memory(_) => return Disposition::Impossible("memory is not below"),
            Input::Timer(_) => return Disposition::Impossible("no timer runs"),
            Input::Tick { .. } => {}
        }
        Disposition::Done
    }

    fn victims(&self, set: SetIndex, out: &mut Vec<(Way, Rank)>) {
        let ways = self.ways.iter().enumerate();
        let held = ways.filter(|(_, way)| set == SET && way.is_some_and(|(_, data)| data.is_some()));
        out.extend(held.map(|(way, _)| (Way(way as u32), Rank(0))));
    }

    fn occupied(&self, set: SetIndex, out: &mut Vec<Way>) {
        let ways = (0..).zip(&self.ways).filter(|(_, way)| set == SET && way.is_some());
        out.extend(ways.map(|(way, _)| Way(way)));
    }

    fn lines(&self, out: &mut Vec<LineView>) {
        let all = ByteMask::full(self.line_bytes.into());
        let held = self.ways.iter().flatten().filter_map(|&(line, data)| Some((line, data?)));
        let view = |(line, data)| LineView { line, state: "M", owns: true, valid: all, dirty: all, data };
        out.extend(held.map(view));
    }

    fn is_quiet(&self) -> bool {
        self.ways.iter().flatten().all(|(_, data)| data.is_some())
    }

    fn canonicalize(&mut self) {
        self.ways.sort_unstable_by_key(|way| way.map_or(LineAddr(u64::MAX), |(line, _)| line));
    }
}

/// A bank: the owner of each line, and the cache that waits for the line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bank {
    owners: BTreeMap<LineAddr, NodeId>,
    waiting: BTreeMap<LineAddr, NodeId>,
}

impl Bank {
    fn access<P: Toy>(line: LineAddr, access: MemoryAccess, cx: &mut Cx<'_, P>) {
        let tag = MemoryTag { node: cx.me, slot: proto::Slot(0), note: 0 };
        cx.fx.memory.push(MemoryOp { line, access, tag });
    }

    fn write<P: Toy>(line: LineAddr, data: LineData, cx: &mut Cx<'_, P>) {
        let mask = ByteMask::full(cx.world.levels.line_bytes.into());
        Bank::access(line, MemoryAccess::Write { mask, data }, cx);
    }

    /// Gives the line to the cache that waits for it.
    fn give<P: Toy>(&mut self, line: LineAddr, data: LineData, cx: &mut Cx<'_, P>) -> Disposition {
        let Some(to) = self.waiting.remove(&line) else {
            return Disposition::Impossible("no cache waits for the line");
        };
        self.owners.insert(line, to);
        cx.fx.send(to, ToCache::Data { line, data });
        cx.fx.wake(Key::Line(line));
        Disposition::Done
    }

    fn message<P: Toy>(&mut self, from: NodeId, msg: &ToBank, cx: &mut Cx<'_, P>) -> Disposition {
        match *msg {
            ToBank::Get { line } if self.waiting.contains_key(&line) => {
                return Disposition::Stall(Key::Line(line));
            }
            ToBank::Get { line } => {
                self.waiting.insert(line, from);
                match self.owners.get(&line) {
                    Some(&owner) if P::FAULT != Some(Fault::SecondOwner) => {
                        cx.fx.send(owner, ToCache::Recall { line });
                    }
                    _ => Bank::access(line, MemoryAccess::Read, cx),
                }
            }
            ToBank::Put { line, .. } if self.owners.get(&line) != Some(&from) => {
                return Disposition::Impossible("the cache does not own the line");
            }
            ToBank::Put { line, data } => {
                self.owners.remove(&line);
                Bank::write(line, data, cx);
            }
            ToBank::Bytes { line, data } => {
                Bank::write(line, data, cx);
                return self.give(line, data, cx);
            }
            ToBank::Gone { line } => {
                self.owners.remove(&line);
                Bank::access(line, MemoryAccess::Read, cx);
            }
        }
        Disposition::Done
    }
}

impl<P: Toy> Controller<P> for Bank {
    type Msg = ToBank;

    fn step(&mut self, input: Input<'_, ToBank>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Message { from, msg } => self.message(from, msg, cx),
            Input::Memory(reply) if reply.op.access == MemoryAccess::Read => {
                self.give(reply.op.line, reply.data, cx)
            }
            Input::Memory(_) | Input::Tick { .. } => Disposition::Done,
            Input::Request(_) => Disposition::Impossible("no core is near"),
            Input::Evict(_) => Disposition::Impossible("a bank holds no line"),
            Input::Timer(_) => Disposition::Impossible("no timer runs"),
        }
    }

    fn is_quiet(&self) -> bool {
        self.waiting.is_empty()
    }
}

/// The first line that two caches own.
fn two_owners(lines: &[(NodeId, LineView)]) -> Option<String> {
    let mut owners = BTreeMap::new();
    lines.iter().filter(|(_, view)| view.owns).find_map(|(node, view)| {
        let other = owners.insert(view.line, *node)?;
        Some(format!("{other:?} and {node:?} own {:?}", view.line))
    })
}

macro_rules! owned {
    ($module:ident::$protocol:ident, $fault:expr) => {
        owned!($module::$protocol, $fault, Hosts::Cached, false);
    };
    ($module:ident::$protocol:ident, $fault:expr, $hosts:expr, $is_clocked:expr) => {
        pub mod $module {
            use super::*;

            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub struct $protocol;

            protocol_nodes! {
                $protocol: Cache(Cache, ToCache), Bank(Bank, ToBank), Host(Cache, ToCache);
                ToCache => Cache | Host,
                ToBank => Bank,
            }

            impl Toy for $protocol {
                const FAULT: Option<Fault> = $fault;
            }

            impl Protocol for $protocol {
                type Node = Node;
                type Msg = Msg;
                type Params = ();
                const INFO: Info = Info {
                    name: stringify!($module),
                    summary: "each line is in memory or in the one cache that owns it",
                    source: "this test",
                    claims: &[Claim {
                        model: "sc",
                        cores: &[IssueRule::InOrder],
                        widening: true,
                        mapping: "each operation as a request of the same order",
                    }],
                    channels: Channels::Fifo,
                    sharing: Sharing::Unscoped,
                    hosts: $hosts,
                    equivalent: &[],
                };
                const KINDS: &'static [Kind] = &[
                    Kind::cache("L1", "l1", Per::Cu).over("l2"),
                    Kind::cache("L2", "l2", Per::Chiplet),
                    Kind::cache("Host", "host", Per::Host).over("l2"),
                ];
                const CLOCKED: bool = $is_clocked;
                const AGREES: bool = true;

                fn params(_: &Levels, _: &Settings) -> Result<(), String> {
                    Ok(())
                }

                fn node(id: NodeId, levels: &Levels, (): &()) -> Node {
                    match id.kind {
                        CACHE => Node::Cache(Cache::new(levels.of(id.kind))),
                        HOST => Node::Host(Cache::new(levels.of(id.kind))),
                        _ => Node::Bank(Bank::default()),
                    }
                }

                fn entry((): &(), agent: Agent, _: PlanKey) -> NodeId {
                    agent.enters(CACHE, HOST)
                }

                fn tables() -> Vec<TableView> {
                    Vec::new()
                }

                fn plans() -> Vec<PlansView> {
                    Vec::new()
                }

                fn disagreement(lines: &[(NodeId, LineView)]) -> Option<String> {
                    two_owners(lines)
                }
            }
        }
        pub use $module::$protocol;
    };
}

owned!(owned::Owned, None);
owned!(bytes_lost::BytesLost, Some(Fault::BytesLost));
owned!(host_bytes_lost::HostBytesLost, Some(Fault::HostBytesLost));
owned!(recall_ignored::RecallIgnored, Some(Fault::RecallIgnored));
owned!(second_owner::SecondOwner, Some(Fault::SecondOwner));
// The declaration of its hosts is wrong.
owned!(direct::Direct, None, Hosts::Direct, false);
owned!(clocked::Clocked, None, Hosts::Cached, true);
