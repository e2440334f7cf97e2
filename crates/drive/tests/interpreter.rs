//! The order in which effects are handed out, and what is refused.

#![allow(unreachable_pub, missing_docs, reason = "the macro of the contract writes public items")]

use drive::{At, Driver, Machine, Nodes, Record, Told};
use proto::issue::IssueRule;
use proto::{
    Agent, ArrayId, ByteMask, Channels, Claim, Controller, Cx, Disposition, Effects, Hints, Homes, Info,
    Input, Issuer, Key, Kind, Levels, LineAddr, LineData, MemoryAccess, MemoryOp, MemoryTag, Message, NodeId,
    Op, Order, Per, PlanKey, PlansView, Protocol, Rank, Request, Scope, SetIndex, Settings, Sharing, Slot,
    Spending, TableView, TimerClass, Topology, Uses, Way, WritePolicy, protocol_nodes,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Word;

impl Message for Word {
    fn name(&self) -> &'static str {
        "Word"
    }
    fn payload_bytes(&self, _line_bytes: u32) -> u32 {
        0
    }
    fn line(&self) -> Option<LineAddr> {
        None
    }
    fn is_access(&self) -> bool {
        false
    }
}

/// Does one thing for each operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Port {
    /// Is no way of the set in use?
    has_way: bool,
    /// Do evictions give no way up?
    holds: bool,
}

const PORT: u8 = 0;
const SET: SetIndex = SetIndex(0);

impl<P: Protocol<Msg: From<Word>>> Controller<P> for Port {
    type Msg = Word;

    fn step(&mut self, input: Input<'_, Word>, cx: &mut Cx<'_, P>) -> Disposition {
        let ask = match input {
            Input::Request(ask) => ask,
            Input::Evict(_) => {
                self.has_way = !self.holds;
                cx.fx.wake(Key::Way(SET));
                return Disposition::Done;
            }
            Input::Memory(_) => return Disposition::Impossible("nobody asked"),
            _ => return Disposition::Done,
        };
        let to = |index| NodeId { kind: PORT, index };
        match ask.req.op {
            // Everything at once.
            Op::Fence => {
                cx.fx.accept(ask.slot);
                cx.fx.spend(ask.slot, Spending::Release);
                cx.fx.timer(TimerClass::Drain);
                let tag = MemoryTag { node: cx.me, slot: ask.slot, note: 0 };
                cx.fx.memory.push(MemoryOp { line: ask.req.line, access: MemoryAccess::Read, tag });
                cx.fx.send(to(1), Word);
                cx.fx.touches.push(Way(0));
            }
            // To nobody.
            Op::Load => cx.fx.send(to(9), Word),
            // An access that is neither a hit nor a miss.
            Op::Store => cx.fx.uses.accesses += 1,
            Op::Rmw(_) if !self.has_way => return Disposition::NeedWay(SET),
            Op::Rmw(_) => {
                self.has_way = false;
                cx.fx.accept(ask.slot);
            }
            _ => cx.fx.accept(ask.slot),
        }
        Disposition::Done
    }

    fn victims(&self, _set: SetIndex, out: &mut Vec<(Way, Rank)>) {
        out.push((Way(0), Rank(0)));
    }

    fn is_quiet(&self) -> bool {
        true
    }
}

macro_rules! toy {
    ($module:ident::$toy:ident, holds: $holds:literal) => {
        mod $module {
            use super::*;

            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub struct $toy;

            protocol_nodes! { $toy: Port(Port, Word) }

            impl Protocol for $toy {
                type Node = Node;
                type Msg = Msg;
                type Params = ();
                const INFO: Info = Info {
                    name: "ports",
                    summary: "each operation does one thing",
                    source: "this test",
                    claims: &[Claim { model: "drf", cores: IssueRule::GPUS, mapping: "none" }],
                    channels: Channels::Fifo,
                    sharing: Sharing::Unscoped,
                    equivalent: &[],
                };
                const KINDS: &'static [Kind] = &[Kind::port("Port", "l1", Per::Cu)];

                fn params(_: &Levels, _: &Settings) -> Result<(), String> {
                    Ok(())
                }
                fn node(_: NodeId, _: &Levels, (): &()) -> Node {
                    Node::Port(Port { holds: $holds, ..Port::default() })
                }
                fn entry((): &(), agent: Agent, _: PlanKey) -> NodeId {
                    let index = if let Agent::Cu(index) = agent { index } else { 0 };
                    NodeId { kind: PORT, index }
                }
                fn tables() -> Vec<TableView> {
                    Vec::new()
                }
                fn plans() -> Vec<PlansView> {
                    Vec::new()
                }
            }
        }
    };
}

toy! { sound::Ports, holds: false }
toy! { stubborn::Stubborn, holds: true }
use sound::Ports;
use stubborn::Stubborn;

fn nodes<P: Protocol>() -> Nodes<P> {
    let topology = Topology::bounded(WritePolicy::Combining, WritePolicy::Combining);
    Nodes::new(&topology, Homes::new(&topology, 1), None).expect("a bounded machine is sound")
}

fn request(op: Op) -> Request {
    Request {
        op,
        order: Order::Plain,
        scope: Scope::DEVICE,
        issuer: Issuer::default(),
        hints: Hints::default(),
        array: ArrayId(0),
        line: LineAddr(0),
        mask: ByteMask::range(0, 4),
        data: LineData::default(),
    }
}

fn update() -> Op {
    let width = proto::Width::W4;
    Op::Rmw(proto::Rmw { kind: proto::RmwKind::Add, width, uses_value: false })
}

/// Writes down what it is handed, and gives up the first way if it gives any.
#[derive(Default)]
struct Heard {
    gives: bool,
    heard: Vec<&'static str>,
    answered: Vec<Slot>,
}

impl<P: Protocol> Driver<P> for Heard {
    fn victim(&mut self, _: At, _: &P::Node, _: SetIndex, _: &[Way]) -> Option<Way> {
        self.heard.push("victim");
        self.gives.then_some(Way(0))
    }
    fn touched(&mut self, _: At, _: &[Way]) {
        self.heard.push("touched");
    }
    fn used(&mut self, _: At, _: &Uses) {
        self.heard.push("used");
    }
    fn sent(&mut self, _: At, to: At, _: P::Msg) {
        assert_eq!(to, 1, "the second port");
        self.heard.push("sent");
    }
    fn asked(&mut self, _: At, _: &mut Vec<MemoryOp>) {
        self.heard.push("asked");
    }
    fn armed(&mut self, _: At, _: TimerClass) {
        self.heard.push("armed");
    }
    fn blocked(&mut self, _: At, _: SetIndex) {
        self.heard.push("blocked");
    }
    fn spent(&mut self, _: At, _: &[(Slot, Spending)]) {
        self.heard.push("spent");
    }
    fn answered(&mut self, _: At, answers: &mut Vec<(Slot, Option<LineData>)>) {
        self.answered.extend(answers.iter().map(|(slot, _)| *slot));
        self.heard.push("answered");
    }
}

fn tell<P: Protocol>(op: Op, gives: bool) -> (Result<(), String>, Vec<&'static str>) {
    let nodes = nodes::<P>();
    let mut heard = Heard { gives, ..Heard::default() };
    let mut station = nodes.fresh(0);
    let told = Told::Ask { slot: Slot(0), request: &request(op) };
    let done = nodes.tell(&mut station, 0, &told, &mut Effects::default(), &mut heard);
    (done, heard.heard)
}

#[test]
fn effects_are_handed_out_in_one_order() {
    let all = ["touched", "used", "sent", "asked", "armed", "spent", "answered"];
    assert_eq!(tell::<Ports>(Op::Fence, false), (Ok(()), all.to_vec()));
}

#[test]
fn an_input_waits_for_a_way_unless_the_driver_gives_one_up() {
    let (done, heard) = tell::<Ports>(update(), true);
    assert_eq!((done, heard), (Ok(()), vec!["victim", "used", "answered"]));
    let (done, heard) = tell::<Ports>(update(), false);
    assert_eq!((done, heard), (Ok(()), vec!["victim", "victim", "used", "blocked"]));
}

#[test]
fn a_way_goes_to_the_input_that_waits_for_it_longest() {
    let nodes = nodes::<Ports>();
    let (mut station, mut fx, request) = (nodes.fresh(0), Effects::default(), request(update()));
    let mut heard = Heard::default();
    for slot in (0..3).map(Slot) {
        heard.gives = slot == Slot(2);
        let told = Told::Ask { slot, request: &request };
        assert_eq!(nodes.tell(&mut station, 0, &told, &mut fx, &mut heard), Ok(()));
    }
    assert_eq!(heard.answered, [Slot(0), Slot(1), Slot(2)]);
}

#[test]
fn a_step_that_is_broken_hands_nothing_out() {
    let (done, heard) = tell::<Ports>(Op::Store, false);
    assert_eq!(done, Err("Port[0]: 2 accesses, but 1 hits, misses and bypasses".to_owned()));
    assert!(heard.is_empty(), "{heard:?}");
    let (done, heard) = tell::<Ports>(Op::Load, false);
    let why = done.expect_err("there are two ports");
    assert!(why.starts_with("Port[0] sends to NodeId") && why.ends_with("which is not there"), "{why}");
    assert_eq!(heard, ["used"]);
}

#[test]
fn an_input_that_is_never_answered_ends_the_smallest_driver() {
    let mut plain = Machine::new(nodes::<Stubborn>()).plain().expect("nothing is broken");
    let why = plain.ask(Agent::Cu(1), &request(update())).expect_err("no way comes free");
    assert!(why.contains("never answered"), "{why}");
    let mut plain = Machine::new(nodes::<Ports>()).plain().expect("nothing is broken");
    let answer = plain.ask(Agent::Cu(1), &request(update()));
    assert_eq!(answer, Ok(None), "the way is given up when nothing else is left");
}

#[test]
fn a_record_has_what_a_step_did_with_positions() {
    let mut machine = Machine::new(nodes::<Ports>());
    let told = Told::Ask { slot: Slot(7), request: &request(Op::Fence) };
    let did: Record<Ports> = machine.record(0, &told).expect("nothing is broken");
    assert_eq!(did.sends.iter().map(|(to, _)| *to).collect::<Vec<_>>(), [1]);
    assert_eq!((did.memory.len(), &did.timers[..]), (1, &[TimerClass::Drain][..]));
    assert_eq!(did.replies, [(Slot(7), None)]);
    assert!(!did.is_silent());
}
