//! A toy protocol with three levels. A compute unit has a read cache for loads and a write cache
//! for stores and atomics. A chiplet has an L2. All chiplets share an L3 over memory, and the host
//! has its own cache.
//!
//! The write cache claims a line before it holds bytes of the line: the read cache drops the line,
//! and then forwards its loads of that line to the write cache. A release writes out the first two
//! levels, an acquire invalidates them, and atomics of a scope wider than a work-group are
//! performed in memory.

#![allow(unreachable_pub, missing_docs, reason = "the macro of the contract writes public items")]

use proto::issue::IssueRule;
use proto::parts::AckCounts;
use proto::{
    Agent, ByteMask, Channels, Claim, Controller, Cx, Disposition, Hints, Hosts, Info, Input, Issuer, Key,
    Kind, Levels, LineAddr, LineData, NodeId, Op, OpClass, Order, Per, PlanKey, PlansView, Protocol, Reach,
    Request, RequestInput, Scope, Setting, Settings, Sharing, Slot, Steps, TableId, TableView, Wrap,
    protocol_nodes,
};
use std::collections::BTreeSet;
use zoo::parts::{AccessSite, Answer, NextLevel, ToBank, ToL1, answer};
use zoo::vi::{Bank, BankTable, L1, L1Table, Step as Vi};

pub const READ: u8 = 0;
pub const WRITE: u8 = 1;
pub const L3: u8 = 3;
pub const HOST: u8 = 4;

proto::messages! {
    /// A message to a cache of a compute unit.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToFirst = Below(ToL1) {
        /// A request to drop the line. From now on, loads of the line go to the write cache.
        Claim { line: LineAddr, slot: Slot } [line(line)],
        /// An answer: the line has been dropped.
        Claimed { line: LineAddr, slot: Slot } [line(line)],
        /// A load of a line that the write cache has claimed.
        Load { line: LineAddr, mask: ByteMask, slot: Slot } [line(line)],
        /// A request to drop all lines. If `forget` is true, the read cache also forgets which
        /// lines the write cache has claimed.
        Drop { slot: Slot, forget: bool },
        /// An answer: all lines have been dropped.
        Dropped { slot: Slot },
    }
}

proto::messages! {
    /// A message to the L2 of a chiplet.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToMid = Above(ToBank), Below(ToL1) {}
}

proto::symbols! {
    /// The steps of operations at the write cache.
    pub enum Step {
        /// Make the read cache drop the line.
        Claim,
        /// Perform the access in the write cache, and answer.
        Here,
        /// Write out the dirty bytes of the line, and drop the line from the write cache.
        Pass,
        /// Perform the access at the L2, and wait until the access is complete.
        Below,
        /// Perform the access in memory, and wait until the access is complete.
        BelowNext,
        /// Wait until all writes from the write cache have reached the L2.
        Flush,
        /// Wait until all writes to the L2 have reached the L3.
        FlushL2,
        /// Wait until all writes to the L3 have reached memory.
        FlushL3,
        /// Drop all clean lines of the write cache.
        Invalidate,
        /// Drop all clean lines of the L2.
        InvalidateL2,
        /// Make the read cache drop all lines.
        DropRead,
        /// Answer the request.
        AnswerIt,
    }
}

proto::plans! {
    /// The plans of operations at the write cache.
    pub struct WritePlans: Step = plan, TableId(1), "Operations at the write cache"
}

const fn plan(key: PlanKey) -> Steps<Step> {
    use Step::{AnswerIt, Below, BelowNext, Claim, DropRead, Flush, FlushL2, FlushL3, Here, Pass};
    let release: &[Step] = match key.released() {
        None | Some(Reach::Group) => &[],
        Some(Reach::Device) => &[Flush, FlushL2],
        Some(Reach::System) => &[Flush, FlushL2, FlushL3],
    };
    let near = key.is_plain() || matches!(key.reach(), Reach::Group);
    let access: &[Step] = match key.op {
        OpClass::Fence | OpClass::KernelBegin | OpClass::KernelEnd => &[AnswerIt],
        OpClass::Load if near => &[Claim, Here],
        OpClass::Store | OpClass::Rmw | OpClass::Update if near => &[Claim, Here, Pass, Below, AnswerIt],
        _ => &[Claim, Pass, BelowNext, AnswerIt],
    };
    let acquire: &[Step] = match key.acquired() {
        None | Some(Reach::Group) => &[],
        Some(Reach::Device | Reach::System) => &[Step::InvalidateL2, Step::Invalidate, DropRead],
    };
    // An operation performed here has been answered; the others are answered at the end.
    match access {
        [before @ .., AnswerIt] => Steps::of(&[release, before, acquire, &[AnswerIt]]),
        _ => Steps::of(&[release, access, acquire]),
    }
}

proto::plans! {
    /// The plans of operations at the host's cache.
    pub struct HostPlans: Vi = host_plan, TableId(3), "Operations of the host"
}

const fn host_plan(key: PlanKey) -> Steps<Vi> {
    let release: &[Vi] = if key.releases() { &[Vi::Flush] } else { &[] };
    let access: &[Vi] = match key.op {
        OpClass::Fence | OpClass::KernelBegin | OpClass::KernelEnd => &[],
        OpClass::Load if key.is_plain() => return Steps::of(&[&[Vi::Here]]),
        _ => &[Vi::Pass, Vi::Below],
    };
    let acquire: &[Vi] = if key.acquires() { &[Vi::Invalidate] } else { &[] };
    Steps::of(&[release, access, acquire, &[Vi::AnswerIt]])
}

/// A request that a controller makes on its own behalf about a line.
fn about(line: LineAddr) -> Request {
    Request {
        op: Op::Load,
        order: Order::Plain,
        scope: Scope::DEVICE,
        issuer: Issuer::default(),
        hints: Hints::default(),
        array: proto::ArrayId(0),
        line,
        mask: ByteMask::NONE,
        data: LineData::default(),
    }
}

/// Writes a line of a cache out and drops it.
fn pass<P: ToyProtocol>(cache: &mut L1, line: LineAddr, cx: &mut Cx<'_, P>) {
    let (req, data) = (about(line), LineData::default());
    cache.perform(Vi::Pass, RequestInput { slot: Slot(0), req: &req, data: &data }, cx);
}

/// A protocol with the parameters of this toy protocol, and with the messages that the toy's
/// controllers send.
pub trait ToyProtocol: Protocol<Params = Params, Msg: Wrap<ToFirst> + Wrap<ToL1> + Wrap<ToBank>> {}
impl<P: Protocol<Params = Params, Msg: Wrap<ToFirst> + Wrap<ToL1> + Wrap<ToBank>>> ToyProtocol for P {}

/// The parameters of the toy protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Params {
    write_lines: u64,
}

/// The cache of a compute unit for ordinary loads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Read {
    cache: L1,
    claimed: BTreeSet<LineAddr>,
}

impl<P: ToyProtocol> Controller<P> for Read {
    type Msg = ToFirst;

    fn step(&mut self, input: Input<'_, ToFirst>, cx: &mut Cx<'_, P>) -> Disposition {
        let beside = NodeId { kind: WRITE, index: cx.me.index };
        match input {
            Input::Request(ask) if cx.stage > 0 => {
                answer(ask, cx);
                Disposition::Done
            }
            Input::Request(ask) if self.claimed.contains(&ask.req.line) => {
                let (line, mask, slot) = (ask.req.line, ask.req.mask, ask.slot);
                cx.fx.uses.bypasses += 1;
                cx.fx.send(beside, ToFirst::Load { line, mask, slot });
                cx.stage += 1;
                Disposition::Stall(Key::Slot(slot))
            }
            Input::Request(ask) => self.cache.perform(Vi::Here, ask, cx).unwrap_or(Disposition::Done),
            Input::Message { from, msg: ToFirst::Below(msg) } => {
                self.cache.step(Input::Message { from, msg }, cx)
            }
            Input::Message { from, msg: &ToFirst::Claim { line, slot } } => {
                self.claimed.insert(line);
                pass(&mut self.cache, line, cx);
                cx.fx.send(from, ToFirst::Claimed { line, slot });
                Disposition::Done
            }
            Input::Message { from, msg: &ToFirst::Drop { slot, forget } } => {
                if forget {
                    self.claimed.clear();
                }
                let done = self.cache.invalidate(proto::Cause::Order, cx);
                cx.fx.send(from, ToFirst::Dropped { slot });
                done
            }
            Input::Message { .. } => Disposition::Impossible("that is for a write cache"),
            Input::Evict(way) => self.cache.step(Input::Evict(way), cx),
            Input::Timer(class) => self.cache.step(Input::Timer(class), cx),
            Input::Memory(_) => Disposition::Impossible("memory is not below"),
            Input::Tick { .. } => Disposition::Done,
        }
    }
    proto::delegate! { cache: victims, occupied, lines, is_quiet, canonicalize }
}

/// The cache of a compute unit for stores and atomics.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Write {
    cache: L1,
    claimed: BTreeSet<LineAddr>,
    claiming: u32,
    dropping: AckCounts,
    flushing: AckCounts,
}

impl Write {
    fn dirty_lines<P: ToyProtocol>(&self) -> u64 {
        let mut views = Vec::new();
        Controller::<P>::lines(&self.cache, &mut views);
        views.iter().filter(|view| !view.dirty.is_empty()).count() as u64
    }

    fn perform<P: ToyProtocol>(
        &mut self,
        step: Step,
        ask: RequestInput<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Option<Disposition> {
        let (line, slot) = (ask.req.line, ask.slot);
        let beside = [NodeId { kind: READ, index: cx.me.index }].into_iter();
        let shared = match step {
            Step::Claim if self.claimed.contains(&line) => return None,
            Step::Claim => {
                self.claiming += 1;
                beside.for_each(|read| cx.fx.send(read, ToFirst::Claim { line, slot }));
                cx.stage += 1;
                return Some(Disposition::Stall(Key::Slot(slot)));
            }
            // The claim was dropped while the request waited for room.
            Step::Here if cx.stage > 0 && !self.claimed.contains(&line) => {
                cx.stage -= 1;
                return Some(Disposition::Done);
            }
            Step::Here
                if ask.req.op == Op::Store && self.dirty_lines::<P>() >= cx.world.params.write_lines =>
            {
                return None;
            }
            Step::FlushL3 => {
                let banks = (0..cx.world.levels.of(L3).count).map(|index| NodeId { kind: L3, index });
                return self.flushing.tell(slot, banks, |slot| ToBank::Flush { slot }, cx);
            }
            Step::DropRead => {
                let is_idle = Controller::<P>::is_quiet(&self.cache) && self.claiming == 0;
                let forget = is_idle && self.dirty_lines::<P>() == 0;
                if forget {
                    self.claimed.clear();
                }
                return self.dropping.tell(slot, beside, |slot| ToFirst::Drop { slot, forget }, cx);
            }
            Step::Here => Vi::Here,
            Step::Pass => Vi::Pass,
            Step::Below => Vi::Below,
            Step::BelowNext => Vi::BelowSystem,
            Step::Flush => Vi::Flush,
            Step::FlushL2 => Vi::FlushBanks,
            Step::Invalidate => Vi::Invalidate,
            Step::InvalidateL2 => Vi::InvalidateBanks,
            Step::AnswerIt => Vi::AnswerIt,
        };
        self.cache.perform(shared, ask, cx)
    }

    fn message<P: ToyProtocol>(&mut self, from: NodeId, msg: &ToFirst, cx: &mut Cx<'_, P>) -> Disposition {
        match *msg {
            ToFirst::Below(ToL1::BankDone { slot }) if from.kind == L3 => {
                match self.flushing.answered(slot, cx) {
                    true => Disposition::Done,
                    false => Disposition::Impossible("no flush of the L3 was due"),
                }
            }
            ToFirst::Below(ref msg) => self.cache.step(Input::Message { from, msg }, cx),
            ToFirst::Claimed { line, slot } => {
                cx.count_down(&mut self.claiming, "nothing was claimed");
                self.claimed.insert(line);
                cx.fx.resume(slot);
                Disposition::Done
            }
            ToFirst::Load { line, mask, slot } => {
                pass(&mut self.cache, line, cx);
                let (data, op, site) = (LineData::default(), Op::Load, AccessSite::Here);
                let answer = Answer::Request(slot);
                let access = ToBank::Access { line, mask, data, op, site, answer, requester: from };
                cx.fx.send(cx.below(line), access);
                Disposition::Done
            }
            ToFirst::Dropped { slot } if self.dropping.answered(slot, cx) => Disposition::Done,
            ToFirst::Dropped { .. } | ToFirst::Claim { .. } | ToFirst::Drop { .. } => {
                Disposition::Impossible("that is for a read cache")
            }
        }
    }
}

impl<P: ToyProtocol> Controller<P> for Write {
    type Msg = ToFirst;

    fn step(&mut self, input: Input<'_, ToFirst>, cx: &mut Cx<'_, P>) -> Disposition {
        let done = match input {
            Input::Request(ask) => cx.follow::<WritePlans>(ask, |step, cx| self.perform(step, ask, cx)),
            Input::Message { from, msg } => self.message(from, msg, cx),
            Input::Evict(way) => self.cache.step(Input::Evict(way), cx),
            Input::Timer(class) => self.cache.step(Input::Timer(class), cx),
            Input::Memory(_) => Disposition::Impossible("memory is not below"),
            Input::Tick { .. } => Disposition::Done,
        };
        self.cache.drain_if_due(cx);
        done
    }
    fn is_quiet(&self) -> bool {
        Controller::<P>::is_quiet(&self.cache) && self.claiming == 0 && self.dropping.is_idle()
    }
    proto::delegate! { cache: victims, occupied, lines, canonicalize }
}

/// The L2 of a chiplet: a bank above the L3.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mid(Bank<NextLevel>);

impl<P: ToyProtocol> Controller<P> for Mid {
    type Msg = ToMid;

    fn step(&mut self, input: Input<'_, ToMid>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Message { from, msg: ToMid::Above(msg) } => self.0.step(Input::Message { from, msg }, cx),
            Input::Message { msg: ToMid::Below(ToL1::Data { line, data }), .. } => {
                self.0.filled(*line, data, cx)
            }
            Input::Message { msg: ToMid::Below(ToL1::WriteAck { parity }), .. } => {
                self.0.written(*parity, cx)
            }
            Input::Message { .. } => Disposition::Impossible("that is for a compute unit"),
            Input::Evict(way) => self.0.step(Input::Evict(way), cx),
            Input::Timer(class) => self.0.step(Input::Timer(class), cx),
            Input::Request(_) | Input::Memory(_) => {
                Disposition::Impossible("neither core nor memory is near")
            }
            Input::Tick { .. } => Disposition::Done,
        }
    }
    proto::delegate! { 0: victims, occupied, lines, is_quiet, canonicalize }
}

/// The host's cache. Stores and atomics are performed in the L3.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostCache(L1);

impl<P: ToyProtocol> Controller<P> for HostCache {
    type Msg = ToL1;

    fn step(&mut self, input: Input<'_, ToL1>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Request(ask) => cx.follow::<HostPlans>(ask, |step, cx| self.0.perform(step, ask, cx)),
            other => self.0.step(other, cx),
        }
    }
    proto::delegate! { 0: victims, occupied, lines, is_quiet, canonicalize }
}

/// The toy protocol with three levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Split;

protocol_nodes! {
    Split: Read(Read, ToFirst), Write(Write, ToFirst), L2(Mid, ToMid), L3(Bank, ToBank), Host(HostCache, ToL1);
    ToFirst => Read | Write,
    ToL1 => Read | Write | L2 | Host,
    ToBank => L2 | L3,
}

impl Protocol for Split {
    type Node = Node;
    type Msg = Msg;
    type Params = Params;
    const INFO: Info = Info {
        name: "split",
        summary: "split read and write caches over an L2 a chiplet and a shared L3",
        source: "this test",
        claims: &[Claim {
            model: "hrf-indirect",
            cores: IssueRule::GPUS,
            widening: true,
            mapping: "each operation as a request of the same order and scope",
        }],
        channels: Channels::Fifo,
        sharing: Sharing::Scoped,
        hosts: Hosts::Direct,
        equivalent: &[],
    };
    const KINDS: &'static [Kind] = &[
        Kind::cache("Read", "read", Per::Cu).over("l2"),
        Kind::cache("Write", "write", Per::Cu).over("l2"),
        Kind::cache("L2", "l2", Per::Chiplet).over("l3").serving_own(),
        Kind::cache("L3", "l3", Per::Machine),
        Kind::cache("Host", "host", Per::Host).over("l3"),
    ];
    const SETTINGS: &'static [Setting] = &[Setting {
        name: "write_lines",
        unit: "lines",
        least: 0,
        most: 65_536,
        default: 65_536,
        about: "the most dirty lines that a write cache keeps; further stores are performed in the L2",
    }];

    fn params(_: &Levels, settings: &Settings) -> Result<Params, String> {
        Ok(Params { write_lines: settings.get("write_lines")? })
    }

    fn node(id: NodeId, levels: &Levels, _: &Params) -> Node {
        let level = levels.of(id.kind);
        match id.kind {
            READ => Node::Read(Read { cache: L1::new(level, &()), claimed: BTreeSet::new() }),
            WRITE => Node::Write(Write {
                cache: L1::new(level, &()),
                claimed: BTreeSet::new(),
                claiming: 0,
                dropping: AckCounts::default(),
                flushing: AckCounts::default(),
            }),
            L3 => Node::L3(Bank::new(level, &())),
            HOST => Node::Host(HostCache(L1::new(level, &()))),
            _ => Node::L2(Mid(Bank::new(level, &()))),
        }
    }

    fn entry(_: &Params, agent: Agent, key: PlanKey) -> NodeId {
        let kind = if key.op == OpClass::Load && key.is_plain() { READ } else { WRITE };
        agent.enters(kind, HOST)
    }

    fn tables() -> Vec<TableView> {
        vec![TableView::of::<L1Table>(), TableView::of::<BankTable>()]
    }

    fn plans() -> Vec<PlansView> {
        vec![PlansView::of::<WritePlans>(), PlansView::of::<HostPlans>()]
    }
}
