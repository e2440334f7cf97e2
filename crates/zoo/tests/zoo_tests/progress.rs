//! Tests that no request starves, however often other threads acquire, access the line at a lower
//! level, or take ways while the request waits.

use drive::{At, Machine, Nodes, Record, StationInput};
use proto::{
    Agent, ByteMask, Homes, Level, LineAddr, LineData, MemoryReply, NodeId, Op, Order, PlanKey, Request, Rmw,
    RmwKind, Scope, Slot, Topology, Width, WritePolicy,
};
use std::collections::VecDeque;
use zoo::parts::{AccessSite, Answer, BANK, FIRST, ToBank, ToL1};
use zoo::vi::Vi;
use zoo::vi::protocol::Msg;

const LINE: LineAddr = LineAddr(0);
const ROUNDS: usize = 8;

/// One station (a controller with its parked inputs) of a machine. A test gives inputs to the
/// station.
struct SingleStation {
    machine: Machine<Vi>,
    at: At,
}

impl SingleStation {
    fn new(at: impl FnOnce(&Nodes<Vi>) -> At) -> SingleStation {
        let topology = Topology::bounded(WritePolicy::Combining, WritePolicy::Combining);
        let nodes =
            Nodes::new(&topology, Homes::new(&topology, 1), None).expect("a bounded machine is sound");
        SingleStation { at: at(&nodes), machine: Machine::new(nodes) }
    }

    fn deliver(&mut self, input: StationInput<&Request, &Msg, &MemoryReply>) -> Record<Vi> {
        self.machine.record(self.at, &input).expect("no rule is violated")
    }
}

/// The position of the node that receives the requests of a compute unit (`entry`), and the
/// position of the first bank (`bank`).
fn entry(nodes: &Nodes<Vi>, cu: u16) -> At {
    nodes.entry(Agent::Cu(cu), PlanKey::PLAIN_LOAD).expect("every agent has an entry")
}

fn bank(nodes: &Nodes<Vi>) -> At {
    nodes.position(NodeId { kind: BANK, index: 0 }).expect("there is a bank")
}

fn update() -> Op {
    Op::Rmw(Rmw { kind: RmwKind::Add, width: Width::W4, uses_value: false })
}

fn request(op: Op, order: Order, level: Level) -> Request {
    Request {
        op,
        order,
        scope: Scope { level, instance: 0 },
        issuer: proto::Issuer::default(),
        hints: proto::Hints::default(),
        array: proto::ArrayId(0),
        line: LINE,
        mask: ByteMask::range(0, 4),
        data: LineData::default(),
    }
}

fn l1_of(cu: u16) -> NodeId {
    NodeId { kind: FIRST, index: cu }
}

/// Whether an L1 answers an access, although another work-item of the same compute unit makes the
/// request `disturb` before each answer of the bank, as soon as its previous request is answered.
fn l1_answers_despite(op: Op, disturb: &Request) -> bool {
    let mut l1 = SingleStation::new(|nodes| entry(nodes, 0));
    let from = bank(l1.machine.nodes());
    let mut sent: VecDeque<Msg> = VecDeque::new();
    let mut free = true;
    let access = request(op, Order::Relaxed, Level::WorkGroup);
    let mut records = vec![l1.deliver(StationInput::Request { slot: Slot(0), request: &access })];
    for _ in 0..ROUNDS {
        sent.extend(records.iter_mut().flat_map(|record| record.sends.drain(..)).map(|(_, msg)| msg));
        if free {
            records.push(l1.deliver(StationInput::Request { slot: Slot(1), request: disturb }));
            free = false;
        }
        sent.extend(records.iter_mut().flat_map(|record| record.sends.drain(..)).map(|(_, msg)| msg));
        let data = LineData::default();
        let answer: Option<Msg> = match sent.pop_front() {
            Some(Msg::Bank(ToBank::Get { line })) => Some(ToL1::Data { line, data }.into()),
            Some(Msg::Bank(ToBank::Access { answer: Answer::Request(slot), .. })) => {
                Some(ToL1::Done { slot, bytes: 4, data }.into())
            }
            other => {
                assert!(other.is_none(), "{other:?}");
                None
            }
        };
        records.extend(answer.map(|msg| l1.deliver(StationInput::Message { from, msg: &msg })));
        let replies = records.iter_mut().flat_map(|record| record.replies.drain(..));
        let answered: Vec<Slot> = replies.map(|(slot, _)| slot).collect();
        if answered.contains(&Slot(0)) {
            return true;
        }
        free |= answered.contains(&Slot(1));
    }
    false
}

#[test]
fn an_l1_answers_while_peers_acquire_or_access_the_line_below() {
    for op in [Op::Load, update()] {
        let fence = request(Op::Fence, Order::Acquire, Level::Device);
        assert!(l1_answers_despite(op, &fence), "{op:?} while a peer acquires");
        let spin = request(Op::Load, Order::Acquire, Level::Device);
        assert!(l1_answers_despite(op, &spin), "{op:?} while a peer spins on its line");
    }
}

/// Whether a bank answers the message `msg`, although another compute unit sends the message
/// `disturb` before each reply of memory.
fn bank_answers_despite(msg: &ToBank, disturb: &ToBank) -> bool {
    let mut station = SingleStation::new(bank);
    let (requester, other) = (entry(station.machine.nodes(), 0), entry(station.machine.nodes(), 1));
    let mut memory = VecDeque::new();
    let mut record = station.deliver(StationInput::Message { from: requester, msg: &(*msg).into() });
    for _ in 0..ROUNDS {
        memory.extend(record.memory.drain(..));
        let disturbed = station.deliver(StationInput::Message { from: other, msg: &(*disturb).into() });
        memory.extend(disturbed.memory);
        let mut sent = [record.sends, disturbed.sends].concat();
        record = Record::default();
        if let Some(op) = memory.pop_front() {
            let reply = MemoryReply { op, data: LineData::default() };
            record = station.deliver(StationInput::Memory { reply: &reply });
            sent.append(&mut record.sends);
        }
        if sent.iter().any(|(to, _)| *to == requester) {
            return true;
        }
    }
    false
}

#[test]
fn a_bank_answers_while_others_acquire_or_access_the_line_at_system_scope() {
    let access = |cu, op, site, answer| {
        let (mask, requester) = (ByteMask::range(0, 4), l1_of(cu));
        ToBank::Access { line: LINE, mask, data: LineData::default(), op, site, answer, requester }
    };
    let request = Answer::Request(Slot(0));
    for msg in [
        ToBank::Get { line: LINE },
        access(0, Op::Load, AccessSite::Here, request),
        access(0, update(), AccessSite::Here, request),
        access(0, update(), AccessSite::Here, Answer::Posted { parity: true }),
    ] {
        for disturb in [
            ToBank::Invalidate { slot: Slot(1) },
            access(1, Op::Load, AccessSite::System, Answer::Request(Slot(1))),
        ] {
            assert!(bank_answers_despite(&msg, &disturb), "{msg:?} while others send {disturb:?}");
        }
    }
}

/// Writes the first halves of two lines, which occupy both ways of the set. If `wait` is set, an
/// access to a third line then waits for a way. Returns whether a load of further bytes of the
/// first line sends a message or a memory operation. Such a load would pin the way of the first
/// line: no eviction could free this way until the answer.
fn pins_a_way_with_waiters(
    mut station: SingleStation,
    wait: bool,
    access: impl Fn(LineAddr, Op) -> Access,
) -> bool {
    let from = entry(station.machine.nodes(), 1);
    // Lines with even numbers belong to the first bank.
    let [first, second, third] = [0, 2, 4].map(LineAddr);
    let mut deliver = |line, op| match access(line, op) {
        Access::Request(slot, request) => station.deliver(StationInput::Request { slot, request: &request }),
        Access::Message(msg) => station.deliver(StationInput::Message { from, msg: &msg }),
    };
    deliver(first, Op::Store);
    deliver(second, Op::Store);
    if wait {
        assert_eq!(deliver(third, Op::Load).needs.len(), 1);
    }
    let record = deliver(first, Op::Load);
    !record.sends.is_empty() || !record.memory.is_empty()
}

enum Access {
    Request(Slot, Request),
    Message(Msg),
}

#[test]
fn waiters_for_a_way_have_priority_over_an_access_that_would_pin_one() {
    let to_l1 = |line: LineAddr, op| {
        let half = if op == Op::Store { 0 } else { 4 };
        let mask = ByteMask::range(half, 4);
        let slot = Slot(line.0 as u32 * 2 + u32::from(op == Op::Store));
        Access::Request(slot, Request { line, mask, ..request(op, Order::Plain, Level::WorkGroup) })
    };
    let to_bank = |line, op| {
        let (mask, data) = (ByteMask::range(0, 4), LineData::default());
        Access::Message(match op {
            Op::Store => ToBank::Write { line, mask, data, parity: false }.into(),
            _ => ToBank::Get { line }.into(),
        })
    };
    for wait in [false, true] {
        let l1 = SingleStation::new(|nodes| entry(nodes, 0));
        assert_eq!(pins_a_way_with_waiters(l1, wait, to_l1), !wait, "L1");
        assert_eq!(pins_a_way_with_waiters(SingleStation::new(bank), wait, to_bank), !wait, "bank");
    }
}
