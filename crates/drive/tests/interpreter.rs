//! Tests of the order in which drivers receive effects, and of the violations that are reported.

#![allow(unreachable_pub, missing_docs, reason = "the macro of the contract writes public items")]

use drive::{At, Driver, Machine, Nodes, Record, StationInput};
use proto::issue::IssueRule;
use proto::{
    Agent, ArrayId, ByteMask, Channels, Claim, Controller, Cx, Disposition, Effects, Hints, Homes, Hosts,
    Info, Input, Issuer, Key, Kind, Levels, LineAddr, LineData, MemoryAccess, MemoryOp, MemoryTag, Message,
    NodeId, Op, Order, Per, PlanKey, PlansView, Protocol, Rank, Request, Scope, SetIndex, Settings, Sharing,
    Slot, Spending, TableView, TimerClass, Topology, Uses, Way, WritePolicy, protocol_nodes,
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

/// The controller of a test protocol. It reacts in a different way to each kind of operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Port {
    /// Whether the controller's only cache set has a free way.
    has_way: bool,
    /// Whether the controller has a seeded fault: an eviction does not free the way.
    keeps_way: bool,
}

const PORT: u8 = 0;
const SET: SetIndex = SetIndex(0);

impl<P: Protocol<Msg: From<Word>>> Controller<P> for Port {
    type Msg = Word;

    fn step(&mut self, input: Input<'_, Word>, cx: &mut Cx<'_, P>) -> Disposition {
        let ask = match input {
            Input::Request(ask) => ask,
            Input::Evict(_) => {
                self.has_way = !self.keeps_way;
                cx.fx.wake(Key::Way(SET));
                return Disposition::Done;
            }
            Input::Memory(_) => return Disposition::Impossible("no operation is outstanding"),
            _ => return Disposition::Done,
        };
        let to = |index| NodeId { kind: PORT, index };
        match ask.req.op {
            // A fence produces one effect of each kind.
            Op::Fence => {
                cx.fx.accept(ask.slot);
                cx.fx.spend(ask.slot, Spending::Release);
                cx.fx.timer(TimerClass::Drain);
                let tag = MemoryTag { node: cx.me, slot: ask.slot, note: 0 };
                cx.fx.memory.push(MemoryOp { line: ask.req.line, access: MemoryAccess::Read, tag });
                cx.fx.send(to(1), Word);
                cx.fx.touches.push(Way(0));
            }
            // A load sends a message to a node that does not exist.
            Op::Load => cx.fx.send(to(9), Word),
            // A store counts an access that is neither a hit nor a miss.
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
    ($module:ident::$toy:ident, keeps_way: $keeps_way:literal) => {
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
                    summary: "one reaction for each operation",
                    source: "this test",
                    claims: &[Claim {
                        model: "drf",
                        cores: IssueRule::GPUS,
                        widening: true,
                        mapping: "none",
                    }],
                    channels: Channels::Fifo,
                    sharing: Sharing::Unscoped,
                    hosts: Hosts::Direct,
                    equivalent: &[],
                };
                const KINDS: &'static [Kind] = &[Kind::port("Port", "l1", Per::Cu)];

                fn params(_: &Levels, _: &Settings) -> Result<(), String> {
                    Ok(())
                }
                fn node(_: NodeId, _: &Levels, (): &()) -> Node {
                    Node::Port(Port { keeps_way: $keeps_way, ..Port::default() })
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

toy! { evicting::Ports, keeps_way: false }
toy! { keeping::KeepingPorts, keeps_way: true }
use evicting::Ports;
use keeping::KeepingPorts;

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

/// A driver that records which of its methods are called. If `evicts` is true, the driver evicts
/// the first way when it must choose a victim. Otherwise it chooses no victim.
#[derive(Default)]
struct Calls {
    evicts: bool,
    calls: Vec<&'static str>,
    answered: Vec<Slot>,
}

impl<P: Protocol> Driver<P> for Calls {
    fn victim(&mut self, _: At, _: &P::Node, _: SetIndex, _: &[Way]) -> Option<Way> {
        self.calls.push("victim");
        self.evicts.then_some(Way(0))
    }
    fn touched(&mut self, _: At, _: &[Way]) {
        self.calls.push("touched");
    }
    fn used(&mut self, _: At, _: &Uses) {
        self.calls.push("used");
    }
    fn sent(&mut self, _: At, to: At, _: P::Msg) {
        assert_eq!(to, 1, "the second port");
        self.calls.push("sent");
    }
    fn requested(&mut self, _: At, _: &mut Vec<MemoryOp>) {
        self.calls.push("requested");
    }
    fn armed(&mut self, _: At, _: TimerClass) {
        self.calls.push("armed");
    }
    fn blocked(&mut self, _: At, _: SetIndex) {
        self.calls.push("blocked");
    }
    fn spent(&mut self, _: At, _: &[(Slot, Spending)]) {
        self.calls.push("spent");
    }
    fn answered(&mut self, _: At, answers: &mut Vec<(Slot, Option<LineData>)>) {
        self.answered.extend(answers.iter().map(|(slot, _)| *slot));
        self.calls.push("answered");
    }
}

fn deliver<P: Protocol>(op: Op, evicts: bool) -> (Result<(), String>, Vec<&'static str>) {
    let nodes = nodes::<P>();
    let mut driver = Calls { evicts, ..Calls::default() };
    let mut station = nodes.fresh(0);
    let input = StationInput::Request { slot: Slot(0), request: &request(op) };
    let done = nodes.deliver(&mut station, 0, &input, &mut Effects::default(), &mut driver);
    (done, driver.calls)
}

#[test]
fn a_driver_receives_effects_in_a_fixed_order() {
    let all = ["touched", "used", "sent", "requested", "armed", "spent", "answered"];
    assert_eq!(deliver::<Ports>(Op::Fence, false), (Ok(()), all.to_vec()));
}

#[test]
fn an_input_waits_for_a_way_unless_the_driver_evicts_one() {
    let (done, calls) = deliver::<Ports>(update(), true);
    assert_eq!((done, calls), (Ok(()), vec!["victim", "used", "answered"]));
    let (done, calls) = deliver::<Ports>(update(), false);
    assert_eq!((done, calls), (Ok(()), vec!["victim", "victim", "used", "blocked"]));
}

#[test]
fn a_way_goes_to_the_input_that_waits_for_it_longest() {
    let nodes = nodes::<Ports>();
    let (mut station, mut fx, request) = (nodes.fresh(0), Effects::default(), request(update()));
    let mut driver = Calls::default();
    for slot in (0..3).map(Slot) {
        driver.evicts = slot == Slot(2);
        let input = StationInput::Request { slot, request: &request };
        assert_eq!(nodes.deliver(&mut station, 0, &input, &mut fx, &mut driver), Ok(()));
    }
    assert_eq!(driver.answered, [Slot(0), Slot(1), Slot(2)]);
}

#[test]
fn a_driver_receives_no_effects_after_a_violation() {
    let (done, calls) = deliver::<Ports>(Op::Store, false);
    assert_eq!(
        done,
        Err("Port[0]: a step counts 2 accesses, but 1 hits, misses and bypasses together".to_owned())
    );
    assert!(calls.is_empty(), "{calls:?}");
    let (done, calls) = deliver::<Ports>(Op::Load, false);
    let why = done.expect_err("there are two ports");
    assert!(why.starts_with("Port[0] sends to NodeId") && why.ends_with("which does not exist"), "{why}");
    assert_eq!(calls, ["used"]);
}

#[test]
fn the_smallest_driver_reports_a_request_that_is_never_answered() {
    let mut plain = Machine::new(nodes::<KeepingPorts>()).plain().expect("no rule is violated");
    let why = plain.ask(Agent::Cu(1), &request(update())).expect_err("no way is ever free");
    assert!(why.contains("never answered"), "{why}");
    let mut plain = Machine::new(nodes::<Ports>()).plain().expect("no rule is violated");
    let answer = plain.ask(Agent::Cu(1), &request(update()));
    assert_eq!(answer, Ok(None), "the way is evicted when no other input is left");
}

#[test]
fn a_record_holds_the_effects_of_a_step_with_positions() {
    let mut machine = Machine::new(nodes::<Ports>());
    let input = StationInput::Request { slot: Slot(7), request: &request(Op::Fence) };
    let record: Record<Ports> = machine.record(0, &input).expect("no rule is violated");
    assert_eq!(record.sends.iter().map(|(to, _)| *to).collect::<Vec<_>>(), [1]);
    assert_eq!((record.memory.len(), &record.timers[..]), (1, &[TimerClass::Drain][..]));
    assert_eq!(record.replies, [(Slot(7), None)]);
    assert!(!record.is_silent());
}
