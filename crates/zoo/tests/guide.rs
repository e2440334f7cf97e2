//! The example of `docs/add-a-protocol.md`, compiled and run.
#![allow(missing_docs)]

use proto::symbols;

symbols! {
    /// The states of the buffer.
    pub enum State {
        /// Empty.
        I,
        /// A line is being read from memory.
        F,
        /// The same, and it must not be kept.
        X,
        /// Holds a line.
        V,
    }
}
symbols! {
    /// What happens to it.
    pub enum Event {
        /// A load of the line that is held or being read.
        Hit,
        /// A load of another line.
        Load,
        /// A write passes to the line that is held or being read.
        Write,
        /// Memory answers.
        Fill,
        /// An acquire.
        Acquire,
    }
}
symbols! {
    /// What is done.
    pub enum Action {
        /// Read the line from memory.
        Fetch,
        /// Answer with the bytes held.
        Reply,
        /// Take the bytes that came, and answer the loads that wait for them.
        Take,
        /// Present what was parked.
        Wake,
    }
}

use proto::{Row, Table, TableId, go, impossible, stall, stay};

pub struct LatchTable;

impl Table for LatchTable {
    type State = State;
    type Event = Event;
    type Action = Action;
    const ID: TableId = TableId(0);
    const NAME: &'static str = "The buffer";

    fn row(state: State, event: Event) -> Row<State, Action> {
        use Action::*;
        use Event::*;
        use State::*;
        match (state, event) {
            (I | V, Load) => go(F, &[Fetch]).wait(),
            (I, Hit) => impossible("nothing is held"),
            (V, Hit) => stay(&[Reply]),
            (F, Hit) => stay(&[]).wait(),
            // The coming bytes may be older than an acquire: ask again.
            (F, Load) | (X, Hit | Load) => stall(),
            (V, Write | Acquire) => go(I, &[]),
            (F, Write | Acquire) => go(X, &[]),
            (I | X, Write | Acquire) => stay(&[]),
            (F, Fill) => go(V, &[Take, Wake]),
            (X, Fill) => go(I, &[Take, Wake]),
            (I | V, Fill) => impossible("nothing was asked for"),
        }
    }
}

use proto::{OpClass, PlanKey, Plans};

symbols! {
    /// The steps of an operation.
    pub enum Step {
        /// Load through the buffer.
        Here,
        /// Forget the line if it is the one that is written.
        Forget,
        /// Perform the access in memory and wait for it.
        Memory,
        /// Empty the buffer.
        Empty,
        /// Answer.
        Answer,
    }
}

pub struct LatchPlans;

impl Plans for LatchPlans {
    type Step = Step;
    const ID: TableId = TableId(1);
    const NAME: &'static str = "Operations";

    fn plan(key: PlanKey) -> &'static [Step] {
        use Step::*;
        match key.op {
            OpClass::Load if !key.order.is_atomic() => &[Here],
            // Writes wait for memory, so a release has nothing left to do.
            OpClass::Load | OpClass::Rmw | OpClass::Update if key.order.acquires() => {
                &[Forget, Memory, Empty, Answer]
            }
            OpClass::Load | OpClass::Store | OpClass::Rmw | OpClass::Update => &[Forget, Memory, Answer],
            OpClass::Fence | OpClass::KernelBegin => &[Empty, Answer],
            OpClass::KernelEnd => &[Answer],
        }
    }
}

use proto::{
    After, Ask, Controller, Cx, Disposition, Input, Key, LineAddr, LineData, MemoryAccess, MemoryOp,
    MemoryTag, NoMessage, Op, Protocol, Slot,
};

/// The buffer of a compute unit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Latch {
    state: State,
    line: LineAddr,
    data: LineData,
}

const PARKED: Key = Key::Other(0);

impl Latch {
    fn event<P: Protocol>(
        &mut self,
        event: Event,
        ask: Option<Ask<'_>>,
        fill: Option<&LineData>,
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        let looked = cx.row::<LatchTable>(self.state, event);
        let Row::Do { actions, next, after } = looked.row else {
            return match looked.row {
                Row::Impossible(why) => Disposition::Impossible(why),
                _ => Disposition::Stall(PARKED),
            };
        };
        for (i, &action) in actions.iter().enumerate() {
            if looked.skip == Some(i as u8) {
                continue; // a seeded fault: the checker is being checked
            }
            match (action, ask, fill) {
                (Action::Fetch, Some(ask), _) => {
                    self.line = ask.req.line;
                    let tag = MemoryTag { node: cx.me, slot: Slot(0), note: 0 };
                    cx.fx.memory.push(MemoryOp { line: self.line, access: MemoryAccess::Read, tag });
                }
                (Action::Reply, Some(ask), _) => cx.fx.reply(ask.slot, self.data),
                (Action::Take, _, Some(data)) => {
                    self.data = *data;
                    cx.fx.reply_waiters(self.line, self.data);
                }
                (Action::Wake, ..) => cx.fx.wake(PARKED),
                _ => {}
            }
        }
        self.state = next.unwrap_or(self.state);
        match after {
            After::Done | After::Next => Disposition::Done,
            After::Wait => Disposition::Wait(self.line),
            After::Retry => Disposition::Stall(PARKED),
        }
    }

    fn request<P: Protocol>(&mut self, ask: Ask<'_>, cx: &mut Cx<'_, P>) -> Disposition {
        let is_mine = self.state != State::I && self.line == ask.req.line;
        while let Some(step) = cx.step_of::<LatchPlans>(ask.req, cx.stage) {
            match step {
                Step::Here => {
                    let event = if is_mine { Event::Hit } else { Event::Load };
                    return self.event(event, Some(ask), None, cx);
                }
                Step::Forget if is_mine => {
                    self.event(Event::Write, None, None, cx);
                }
                Step::Forget => {}
                Step::Memory => {
                    let (mask, data) = (ask.req.mask, ask.req.data);
                    let access = match ask.req.op {
                        Op::Store => MemoryAccess::Write { mask, data },
                        Op::Rmw(rmw) => MemoryAccess::Rmw { rmw, mask, data },
                        _ => MemoryAccess::Read,
                    };
                    // Slot 0 is the buffer's own fetch; requests are named from 1.
                    let tag = MemoryTag { node: cx.me, slot: Slot(ask.slot.0 + 1), note: 0 };
                    cx.fx.uses.bypasses += 1;
                    cx.fx.memory.push(MemoryOp { line: ask.req.line, access, tag });
                    cx.stage += 1;
                    return Disposition::Stall(Key::Slot(ask.slot));
                }
                Step::Empty => {
                    self.event(Event::Acquire, None, None, cx);
                }
                Step::Answer if ask.req.reads() => cx.fx.reply(ask.slot, *ask.data),
                Step::Answer => cx.fx.accept(ask.slot),
            }
            cx.stage += 1;
        }
        Disposition::Done
    }
}

impl<P: Protocol> Controller<P> for Latch {
    type Msg = NoMessage;

    fn step(&mut self, input: Input<'_, NoMessage>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Request(ask) => self.request(ask, cx),
            Input::Memory(reply) if reply.op.tag.slot == Slot(0) => {
                self.event(Event::Fill, None, Some(&reply.data), cx)
            }
            Input::Memory(reply) => {
                cx.fx.resume_with(Slot(reply.op.tag.slot.0 - 1), reply.data);
                Disposition::Done
            }
            Input::Message { msg, .. } => match *msg {},
            Input::Evict(_) | Input::Timer(_) => Disposition::Impossible("nobody asked for it"),
            Input::Tick { .. } => Disposition::Done,
        }
    }

    fn is_quiet(&self) -> bool {
        matches!(self.state, State::I | State::V)
    }
}

use proto::parts::Host;
use proto::{
    Agent, Channels, Claim, Info, Kind, NodeId, PlansView, Role, Shape, Sharing, TableView, protocol_nodes,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LatchProtocol;

// A kind without a message type is never told anything.
protocol_nodes! { LatchProtocol: Latch(Latch), Host(Host) }

impl Protocol for LatchProtocol {
    type Node = Node;
    type Msg = Msg;
    type Params = Shape;
    const INFO: Info = Info {
        name: "latch",
        summary: "one line read ahead a compute unit, everything else in memory",
        source: "this guide",
        claims: &[Claim { model: "drf", mapping: "each operation as a request of the same order" }],
        channels: Channels::Fifo,
        sharing: Sharing::Unscoped,
        equivalent: &[],
    };
    const KINDS: &'static [Kind] =
        &[Kind { name: "Latch", role: Role::L1 }, Kind { name: "Host", role: Role::Host }];

    fn params(shape: &Shape) -> Result<Shape, String> {
        shape.check().map(|()| *shape)
    }
    fn count(kind: u8, shape: &Shape) -> u16 {
        if kind == 0 { shape.cus } else { 1 }
    }
    fn node(id: NodeId, _: &Shape) -> Node {
        match id.kind {
            0 => Node::Latch(Latch { state: State::I, line: LineAddr(0), data: LineData::default() }),
            _ => Node::Host(Host),
        }
    }
    fn entry(agent: Agent) -> NodeId {
        match agent {
            Agent::Cu(index) => NodeId { kind: 0, index },
            Agent::CommandProcessor => NodeId { kind: 0, index: 0 },
            Agent::Host => NodeId { kind: 1, index: 0 },
        }
    }
    fn tables() -> Vec<TableView> {
        vec![TableView::of::<LatchTable>()]
    }
    fn plans() -> Vec<PlansView> {
        vec![PlansView::of::<LatchPlans>()]
    }
}

use proto::{ByteMask, Effects, Hints, Homes, Issuer, MemoryReply, Order, Request, Scope, Station, World};

#[test]
fn a_second_load_of_the_line_hits() {
    let shape = Shape::bounded(proto::WritePolicy::Combining, proto::WritePolicy::Combining);
    let homes = Homes::new(&shape, 1);
    let world = World::<LatchProtocol> { params: &shape, homes: &homes, kernels: &[], mutation: None };
    let id = LatchProtocol::entry(Agent::Cu(0));
    let mut latch = Station::new(id, &shape);
    let load = Request {
        op: Op::Load,
        order: Order::Plain,
        scope: Scope::DEVICE,
        issuer: Issuer::default(),
        hints: Hints::default(),
        array: proto::ArrayId(0),
        line: LineAddr(5),
        mask: ByteMask::range(0, 4),
        data: LineData::default(),
    };

    let mut fx = Effects::default();
    latch.request(Slot(0), &load, world, &mut fx);
    assert!(fx.replies.is_empty(), "the first load waits for memory");
    let reply = MemoryReply { op: fx.memory[0], data: LineData([7; proto::LINE_BYTES_MAX]) };
    latch.memory(&reply, world, &mut fx);
    assert_eq!(fx.replies.len(), 1);

    fx.clear();
    latch.request(Slot(1), &load, world, &mut fx);
    assert_eq!(fx.replies[0].0, Slot(1));
    assert!(fx.memory.is_empty(), "the second one does not ask memory");
}

#[test]
fn every_block_of_the_guide_stands_here() {
    let guide = include_str!("../../../docs/add-a-protocol.md");
    let here = include_str!("guide.rs");
    let blocks: Vec<_> = guide.split("```rust\n").skip(1).filter_map(|b| b.split("```").next()).collect();
    assert!(blocks.len() >= 6);
    for block in blocks {
        assert!(here.contains(block), "the guide shows code that is not compiled:\n{block}");
    }
}
