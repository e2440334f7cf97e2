//! Nobody starves: what was asked for is had, however often others acquire or
//! pass in the meantime.

use proto::{
    ByteMask, Effects, Level, LineAddr, LineData, MemoryReply, NodeId, Op, Order, Request, Rmw, RmwKind,
    Scope, Setup, Slot, Station, Topology, Width, WritePolicy,
};
use std::collections::VecDeque;
use zoo::parts::{Answer, BANK, FIRST, How, ToBank, ToL1};
use zoo::vi::Vi;
use zoo::vi::protocol::Msg;

const LINE: LineAddr = LineAddr(0);
const ROUNDS: usize = 8;

fn setup() -> Setup<Vi> {
    let topology = Topology::bounded(WritePolicy::Combining, WritePolicy::Combining);
    Setup::new(&topology).expect("a machine for vi")
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
    let setup = setup();
    let world = setup.world();
    let mut l1 = Station::<Vi>::new(l1_of(0), &setup);
    let bank = NodeId { kind: BANK, index: 0 };
    let mut fx = Effects::default();
    let mut sent: VecDeque<Msg> = VecDeque::new();
    let mut free = true;
    l1.request(Slot(0), &request(op, Order::Relaxed, Level::WorkGroup), world, &mut fx);
    for _ in 0..ROUNDS {
        sent.extend(fx.sends.drain(..).map(|(_, msg)| msg));
        if free {
            l1.request(Slot(1), disturb, world, &mut fx);
            free = false;
        }
        sent.extend(fx.sends.drain(..).map(|(_, msg)| msg));
        match sent.pop_front() {
            Some(Msg::Bank(ToBank::Get { line })) => {
                let data = LineData::default();
                l1.message(bank, &ToL1::Data { line, data }.into(), world, &mut fx);
            }
            Some(Msg::Bank(ToBank::Access { answer: Answer::Request(slot), .. })) => {
                let data = LineData::default();
                l1.message(bank, &ToL1::Done { slot, bytes: 4, data }.into(), world, &mut fx);
            }
            other => assert!(other.is_none(), "{other:?}"),
        }
        assert_eq!(fx.violation, None);
        if fx.replies.iter().any(|(slot, _)| *slot == Slot(0)) {
            return true;
        }
        free |= fx.replies.drain(..).any(|(slot, _)| slot == Slot(1));
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
    let setup = setup();
    let world = setup.world();
    let mut bank = Station::<Vi>::new(NodeId { kind: BANK, index: 0 }, &setup);
    let (asker, other) = (l1_of(0), l1_of(1));
    let mut fx = Effects::default();
    let mut memory = VecDeque::new();
    bank.message(asker, &(*ask).into(), world, &mut fx);
    for _ in 0..ROUNDS {
        memory.extend(fx.memory.drain(..));
        bank.message(other, &(*disturb).into(), world, &mut fx);
        memory.extend(fx.memory.drain(..));
        if let Some(op) = memory.pop_front() {
            bank.memory(&MemoryReply { op, data: LineData::default() }, world, &mut fx);
        }
        assert_eq!(fx.violation, None);
        if fx.sends.drain(..).any(|(to, _)| to == asker) {
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
