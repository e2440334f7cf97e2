//! Nobody starves: what was asked for is had, however often others acquire, pass
//! or take ways in the meantime.

use drive::{At, Machine, Nodes, Record, Told};
use proto::{
    Agent, ByteMask, Homes, Level, LineAddr, LineData, MemoryReply, NodeId, Op, Order, PlanKey, Request, Rmw,
    RmwKind, Scope, Slot, Topology, Width, WritePolicy,
};
use std::collections::VecDeque;
use zoo::parts::{Answer, BANK, FIRST, How, ToBank, ToL1};
use zoo::vi::Vi;
use zoo::vi::protocol::Msg;

const LINE: LineAddr = LineAddr(0);
const ROUNDS: usize = 8;

/// A machine of which one station is driven.
struct One {
    machine: Machine<Vi>,
    at: At,
}

impl One {
    fn new(at: impl FnOnce(&Nodes<Vi>) -> At) -> One {
        let topology = Topology::bounded(WritePolicy::Combining, WritePolicy::Combining);
        let nodes =
            Nodes::new(&topology, Homes::new(&topology, 1), None).expect("a bounded machine is sound");
        One { at: at(&nodes), machine: Machine::new(nodes) }
    }

    fn tell(&mut self, told: Told<&Request, &Msg, &MemoryReply>) -> Record<Vi> {
        self.machine.record(self.at, &told).expect("nothing is broken")
    }
}

/// The entry of a compute unit, and the first bank.
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

/// A peer does `disturb` whenever the bank is about to answer.
fn is_answered_in_spite_of(op: Op, disturb: &Request) -> bool {
    let mut l1 = One::new(|nodes| entry(nodes, 0));
    let from = bank(l1.machine.nodes());
    let mut sent: VecDeque<Msg> = VecDeque::new();
    let mut free = true;
    let asked = request(op, Order::Relaxed, Level::WorkGroup);
    let mut did = vec![l1.tell(Told::Ask { slot: Slot(0), request: &asked })];
    for _ in 0..ROUNDS {
        sent.extend(did.iter_mut().flat_map(|did| did.sends.drain(..)).map(|(_, msg)| msg));
        if free {
            did.push(l1.tell(Told::Ask { slot: Slot(1), request: disturb }));
            free = false;
        }
        sent.extend(did.iter_mut().flat_map(|did| did.sends.drain(..)).map(|(_, msg)| msg));
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
        did.extend(answer.map(|msg| l1.tell(Told::Message { from, msg: &msg })));
        let answered: Vec<Slot> =
            did.iter_mut().flat_map(|did| did.replies.drain(..)).map(|(slot, _)| slot).collect();
        if answered.contains(&Slot(0)) {
            return true;
        }
        free |= answered.contains(&Slot(1));
    }
    false
}

#[test]
fn an_access_in_the_work_group_is_had_while_peers_acquire_or_pass_its_line() {
    for op in [Op::Load, update()] {
        let fence = request(Op::Fence, Order::Acquire, Level::Device);
        assert!(is_answered_in_spite_of(op, &fence), "{op:?} while a peer acquires");
        let spin = request(Op::Load, Order::Acquire, Level::Device);
        assert!(is_answered_in_spite_of(op, &spin), "{op:?} while a peer spins on its line");
    }
}

/// Another compute unit sends `disturb` whenever memory is about to answer.
fn bank_answers_in_spite_of(ask: &ToBank, disturb: &ToBank) -> bool {
    let mut one = One::new(bank);
    let (asker, other) = (entry(one.machine.nodes(), 0), entry(one.machine.nodes(), 1));
    let mut memory = VecDeque::new();
    let mut did = one.tell(Told::Message { from: asker, msg: &(*ask).into() });
    for _ in 0..ROUNDS {
        memory.extend(did.memory.drain(..));
        let disturbed = one.tell(Told::Message { from: other, msg: &(*disturb).into() });
        memory.extend(disturbed.memory);
        let mut sent = [did.sends, disturbed.sends].concat();
        did = Record::default();
        if let Some(op) = memory.pop_front() {
            let reply = MemoryReply { op, data: LineData::default() };
            did = one.tell(Told::Memory { reply: &reply });
            sent.append(&mut did.sends);
        }
        if sent.iter().any(|(to, _)| *to == asker) {
            return true;
        }
    }
    false
}

#[test]
fn a_bank_answers_while_others_acquire_or_pass_the_line_at_system_scope() {
    let access = |cu, op, how, answer| {
        let (mask, asker) = (ByteMask::range(0, 4), l1_of(cu));
        ToBank::Access { line: LINE, mask, data: LineData::default(), op, how, answer, asker }
    };
    let request = Answer::Request(Slot(0));
    for ask in [
        ToBank::Get { line: LINE },
        access(0, Op::Load, How::Here, request),
        access(0, update(), How::Here, request),
        access(0, update(), How::Here, Answer::Posted { parity: true }),
    ] {
        for disturb in
            [ToBank::Invalidate { slot: Slot(1) }, access(1, Op::Load, How::System, Answer::Request(Slot(1)))]
        {
            assert!(bank_answers_in_spite_of(&ask, &disturb), "{ask:?} while others send {disturb:?}");
        }
    }
}

/// The first half of a line is written in each of two ways, and the third line waits for
/// one of them. Does an access to the second half of the first line send anything then?
fn pins_a_way_that_others_wait_for(
    mut one: One,
    wait: bool,
    access: impl Fn(LineAddr, Op) -> Access,
) -> bool {
    let from = entry(one.machine.nodes(), 1);
    // Every other line is of the first bank.
    let [first, second, third] = [0, 2, 4].map(LineAddr);
    let mut tell = |line, op| match access(line, op) {
        Access::Request(slot, request) => one.tell(Told::Ask { slot, request: &request }),
        Access::Message(msg) => one.tell(Told::Message { from, msg: &msg }),
    };
    tell(first, Op::Store);
    tell(second, Op::Store);
    if wait {
        assert_eq!(tell(third, Op::Load).needs.len(), 1);
    }
    let did = tell(first, Op::Load);
    !did.sends.is_empty() || !did.memory.is_empty()
}

enum Access {
    Request(Slot, Request),
    Message(Msg),
}

#[test]
fn an_access_that_would_pin_a_way_comes_behind_what_waits_for_one() {
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
        let l1 = One::new(|nodes| entry(nodes, 0));
        assert_eq!(pins_a_way_that_others_wait_for(l1, wait, to_l1), !wait, "L1");
        assert_eq!(pins_a_way_that_others_wait_for(One::new(bank), wait, to_bank), !wait, "bank");
    }
}
