//! The derivation of the acts of Table 3 of the hLRC paper (the effects of an access) from the
//! observed steps of nodes.

use super::bench::{Bench, CUS, ObservedStep, StepInput, access};
use super::table::{Act, Column, Instruction, Prior, Row};
use proto::{ByteMask, Level, LineAddr, LineData, Op, Order, Request, Rmw, RmwKind, Scope, Slot, Width};
use std::collections::BTreeSet;

/// The line that holds the variable whose accesses Table 3 of the hLRC paper describes.
pub(crate) const X: LineAddr = LineAddr(0);
/// A line with a clean copy in every L1.
const CLEAN: LineAddr = LineAddr(1);
/// The number of the first dirty line. Each L1 has its own dirty line.
const DIRTY: u64 = 2;

/// The number of the requesting compute unit (`HERE`), and of the compute unit whose L1 used the
/// variable last if that was another L1 (`THERE`).
pub(crate) const HERE: u16 = 0;
const THERE: u16 = 1;

/// An act of an L1 (an effect of the tested access) that concerns all its lines, or all
/// read-modify-writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Bulk {
    Flush,
    Invalidate,
    Lock,
    Unlock,
}

/// A recorded act (an effect of the tested access): a bulk act (on all lines or read-modify-writes)
/// of the L1 with this number, or another act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Note {
    Bulk(Bulk, u16),
    Act(Act),
}

/// A flush under way, with the dirty bytes that must arrive at their destination.
struct Flush {
    cu: u16,
    bytes: Vec<(LineAddr, ByteMask, LineData)>,
}

fn rmw() -> Op {
    Op::Rmw(Rmw { kind: RmwKind::Add, width: Width::W4, uses_value: true })
}

fn atomic(op: Op, order: Order, level: Level, remote: bool) -> Request {
    let mut request = access(X, op, 1);
    request.order = order;
    request.scope =
        if level == Level::WorkGroup { Scope::work_group(0) } else { Scope { level, instance: 0 } };
    request.hints.remote = remote;
    request
}

/// The acts (effects of the access of a row of Table 3) that are observed if messages are delivered
/// in the order that the seed selects.
pub(crate) fn observed<C: Column>(row: &Row, seed: u64) -> Vec<Act> {
    let mut bench = Bench::<C::Protocol>::new(seed);
    let last = match row.prior {
        Prior::LocalL1 => Some(HERE),
        Prior::RemoteL1 => Some(THERE),
        Prior::L2 => None,
    };
    if let Some(cu) = last {
        bench.prepare(cu, Slot(1), &atomic(rmw(), Order::AcqRel, Level::WorkGroup, false));
    }
    for cu in 0..CUS {
        let slot = Slot(2 + 2 * u32::from(cu));
        bench.prepare(cu, slot, &access(LineAddr(DIRTY + u64::from(cu)), Op::Store, 7));
        bench.prepare(cu, Slot(slot.0 + 1), &access(CLEAN, Op::Load, 0));
    }
    let op = match row.instruction {
        Instruction::Ld => Op::Load,
        Instruction::St => Op::Store,
        Instruction::Rmw => rmw(),
    };
    let mut observer = Observer {
        instruction: row.instruction,
        notes: Vec::new(),
        flushes: Vec::new(),
        held: BTreeSet::new(),
    };
    let step = bench.ask(HERE, Slot(0), &atomic(op, row.order, row.level, row.remote));
    observer.observe::<C>(&bench, &step);
    while let Some(step) = bench.next_step() {
        observer.observe::<C>(&bench, &step);
    }
    assert!(bench.is_answered(Slot(0)), "{}: the access is answered", C::NAME);
    assert!(observer.flushes.is_empty(), "{}: every flush that began has ended", C::NAME);
    acts(&observer.notes).into_iter().map(C::printed).collect()
}

struct Observer {
    instruction: Instruction,
    notes: Vec<Note>,
    flushes: Vec<Flush>,
    /// The numbers of the L1s that hold read-modify-writes back.
    held: BTreeSet<u16>,
}

impl Observer {
    fn observe<C: Column>(&mut self, bench: &Bench<C::Protocol>, step: &ObservedStep) {
        // A flush before the access may end in the step that performs the access.
        self.end_flushes::<C>(bench);
        self.notes.extend(C::own_acts(step).into_iter().map(Note::Act));
        self.note_access::<C>(step);
        if step.level == "l1" {
            self.begin_flush::<C>(step);
            self.note_invalidation::<C>(step);
        }
        self.end_flushes::<C>(bench);
        self.note_locks::<C>(bench);
    }

    /// If this step performs the access of the instruction whose row of Table 3 is tested, adds the
    /// access to the list of acts (what the protocol does for this row).
    fn note_access<C: Column>(&mut self, step: &ObservedStep) {
        let is_of_x = match &step.input {
            _ if C::ONLY_ATOMICS => true,
            StepInput::Request => true,
            StepInput::Message(_, line) => *line == Some(X),
            StepInput::Memory(line) => *line == X,
            StepInput::Timer => false,
        };
        // A message that writes dirty bytes out is not the access.
        let is_write_out = matches!(step.input, StepInput::Message("Write", _));
        if is_of_x && !is_write_out && step.rows.iter().any(|actions| C::access(self.instruction, actions)) {
            let act = match (self.instruction, step.level) {
                (Instruction::Ld, "l1") => Act::LdL1,
                (Instruction::St, "l1") => Act::StL1,
                (Instruction::Rmw, "l1") => Act::RmwL1,
                (Instruction::Ld, _) => Act::LdL2,
                (Instruction::St, _) => Act::StL2,
                (Instruction::Rmw, _) => Act::RmwL2,
            };
            let is_here = step.level != "l1" || step.index == HERE;
            self.notes.push(Note::Act(if is_here { act } else { Act::Odd("an access", step.index) }));
        }
    }

    fn begin_flush<C: Column>(&mut self, step: &ObservedStep) {
        if step.uses.flushes.total() == 0 {
            return;
        }
        let dirty = step.before.iter().filter(|view| !view.dirty.is_empty() && !C::is_registered(view));
        let bytes = dirty.map(|view| (view.line, view.dirty, view.data.masked(view.dirty))).collect();
        self.flushes.push(Flush { cu: step.index, bytes });
    }

    /// Ends each flush whose dirty bytes have all arrived at their destination.
    fn end_flushes<C: Column>(&mut self, bench: &Bench<C::Protocol>) {
        let arrived = |flush: &Flush| {
            flush.bytes.iter().all(|(line, mask, data)| C::has_arrived(bench, flush.cu, *line, *mask, data))
        };
        let (done, open) = std::mem::take(&mut self.flushes).into_iter().partition::<Vec<_>, _>(arrived);
        self.flushes = open;
        self.notes.extend(done.iter().map(|flush| Note::Bulk(Bulk::Flush, flush.cu)));
    }

    fn note_invalidation<C: Column>(&mut self, step: &ObservedStep) {
        let is_clean =
            |view: &&proto::LineView| !view.valid.minus(view.dirty).is_empty() && !C::is_registered(view);
        let kept = step.after.iter().filter(is_clean).count();
        if step.uses.invalidations.total() > 0 {
            let note = match kept {
                0 => Note::Bulk(Bulk::Invalidate, step.index),
                _ => Note::Act(Act::Odd("an invalidation that leaves clean bytes", step.index)),
            };
            self.notes.push(note);
        }
    }

    fn note_locks<C: Column>(&mut self, bench: &Bench<C::Protocol>) {
        let mut probe = access(CLEAN, rmw(), 1);
        (probe.order, probe.scope) = (Order::AcqRel, Scope::work_group(0));
        for cu in 0..CUS {
            let (is_held, was_held) = (bench.holds_back(cu, &probe), self.held.contains(&cu));
            if is_held && !was_held {
                self.held.insert(cu);
                self.notes.push(Note::Bulk(Bulk::Lock, cu));
            } else if was_held && !is_held {
                self.held.remove(&cu);
                self.notes.push(Note::Bulk(Bulk::Unlock, cu));
            }
        }
    }
}

/// Turns the recorded acts into the acts of Table 3. Consecutive bulk acts (on all lines or all
/// read-modify-writes) of one kind at different L1s become one act: an act of the requesting L1, of
/// the L1 with the variable, of all L1s except for the requesting one, or of all L1s.
fn acts(notes: &[Note]) -> Vec<Act> {
    let mut acts = Vec::new();
    let mut rest = notes;
    while let Some((first, _)) = rest.split_first() {
        let Note::Bulk(bulk, cu) = *first else {
            let Note::Act(act) = *first else { unreachable!("a note is either") };
            acts.push(act);
            rest = &rest[1..];
            continue;
        };
        // A lock is an act of all L1s. In other acts the requesting L1 is separate.
        let is_one =
            |other: u16| matches!(bulk, Bulk::Lock | Bulk::Unlock) || (cu == HERE) == (other == HERE);
        let mut at = BTreeSet::new();
        while let Some(&Note::Bulk(b, other)) = rest.first() {
            if b != bulk || !is_one(other) || !at.insert(other) {
                break;
            }
            rest = &rest[1..];
        }
        acts.push(named(bulk, &at));
    }
    acts
}

fn named(bulk: Bulk, at: &BTreeSet<u16>) -> Act {
    let all: BTreeSet<u16> = (0..CUS).collect();
    let others: BTreeSet<u16> = all.iter().copied().filter(|&cu| cu != HERE).collect();
    let first = at.first().copied().unwrap_or(u16::MAX);
    match bulk {
        Bulk::Flush if *at == others => Act::FlushAll,
        Bulk::Flush if at.len() == 1 && first == HERE => Act::FlushLocal,
        Bulk::Flush if at.len() == 1 && first == THERE => Act::FlushRemote,
        Bulk::Flush => Act::Odd("a flush", first),
        Bulk::Invalidate if *at == others => Act::InvAll,
        Bulk::Invalidate if at.len() == 1 && first == HERE => Act::InvLocal,
        Bulk::Invalidate if at.len() == 1 && first == THERE => Act::InvRemote,
        Bulk::Invalidate => Act::Odd("an invalidation", first),
        Bulk::Lock if *at == all => Act::Lock,
        Bulk::Lock => Act::Odd("a lock", first),
        Bulk::Unlock if *at == all => Act::Unlock,
        Bulk::Unlock => Act::Odd("an unlock", first),
    }
}
