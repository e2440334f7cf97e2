//! From what the nodes do to the acts of the table.

use crate::bench::{Bench, CUS, Heard, Seen, access};
use crate::table::{Act, Column, Instruction, Prior, Row};
use proto::{ByteMask, Level, LineAddr, LineData, Op, Order, Request, Rmw, RmwKind, Scope, Slot, Width};
use std::collections::BTreeSet;

/// The variable.
pub(crate) const X: LineAddr = LineAddr(0);
/// A line that every L1 has a clean copy of.
const CLEAN: LineAddr = LineAddr(1);
/// The first of the lines that are dirty, each in one L1.
const DIRTY: u64 = 2;

/// Who asks, and where the variable is if it is remote.
pub(crate) const HERE: u16 = 0;
const THERE: u16 = 1;

/// What an L1 does with all of its lines, or with all read-modify-writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Bulk {
    Flush,
    Invalidate,
    Lock,
    Unlock,
}

/// What is written down: bulk acts by L1, and the others as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Note {
    Bulk(Bulk, u16),
    Act(Act),
}

/// A flush that has begun, and the bytes that must arrive below.
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

/// The acts of a row, in the order of delivery that the seed decides.
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
    let mut watch =
        Watch { instruction: row.instruction, notes: Vec::new(), flushes: Vec::new(), held: BTreeSet::new() };
    let seen = bench.ask(HERE, Slot(0), &atomic(op, row.order, row.level, row.remote));
    watch.look::<C>(&bench, &seen);
    while let Some(seen) = bench.go_on() {
        watch.look::<C>(&bench, &seen);
    }
    assert!(bench.is_answered(Slot(0)), "{}: the access is answered", C::NAME);
    assert!(watch.flushes.is_empty(), "{}: every flush that began has ended", C::NAME);
    acts(&watch.notes).into_iter().map(C::word).collect()
}

struct Watch {
    instruction: Instruction,
    notes: Vec<Note>,
    flushes: Vec<Flush>,
    /// L1s that hold read-modify-writes back.
    held: BTreeSet<u16>,
}

impl Watch {
    fn look<C: Column>(&mut self, bench: &Bench<C::Protocol>, seen: &Seen) {
        // What an access waits for may end in the step that performs it.
        self.flushes_end::<C>(bench);
        self.notes.extend(C::more(seen).into_iter().map(Note::Act));
        self.accesses::<C>(seen);
        if seen.level == "l1" {
            self.flush_begins::<C>(seen);
            self.invalidates::<C>(seen);
        }
        self.flushes_end::<C>(bench);
        self.locks::<C>(bench);
    }

    /// Is the access performed in this step?
    fn accesses<C: Column>(&mut self, seen: &Seen) {
        let is_of_x = match &seen.told {
            _ if C::ONLY_ATOMICS => true,
            Heard::Request => true,
            Heard::Message(_, line) => *line == Some(X),
            Heard::Memory(line) => *line == X,
            Heard::Timer => false,
        };
        // Dirty bytes that leave an L1 are not the access.
        let is_write_out = matches!(seen.told, Heard::Message("Write", _));
        if is_of_x && !is_write_out && seen.rows.iter().any(|actions| C::access(self.instruction, actions)) {
            let act = match (self.instruction, seen.level) {
                (Instruction::Ld, "l1") => Act::LdL1,
                (Instruction::St, "l1") => Act::StL1,
                (Instruction::Rmw, "l1") => Act::RmwL1,
                (Instruction::Ld, _) => Act::LdL2,
                (Instruction::St, _) => Act::StL2,
                (Instruction::Rmw, _) => Act::RmwL2,
            };
            let is_here = seen.level != "l1" || seen.index == HERE;
            self.notes.push(Note::Act(if is_here { act } else { Act::Odd("an access", seen.index) }));
        }
    }

    fn flush_begins<C: Column>(&mut self, seen: &Seen) {
        if seen.uses.flushes.total() == 0 {
            return;
        }
        let dirty = seen.before.iter().filter(|view| !view.dirty.is_empty() && !C::is_registered(view));
        let bytes = dirty.map(|view| (view.line, view.dirty, view.data.masked(view.dirty))).collect();
        self.flushes.push(Flush { cu: seen.index, bytes });
    }

    /// A flush is done when all that was dirty has arrived below.
    fn flushes_end<C: Column>(&mut self, bench: &Bench<C::Protocol>) {
        let arrived = |flush: &Flush| {
            flush.bytes.iter().all(|(line, mask, data)| C::has_arrived(bench, flush.cu, *line, *mask, data))
        };
        let (done, open) = std::mem::take(&mut self.flushes).into_iter().partition::<Vec<_>, _>(arrived);
        self.flushes = open;
        self.notes.extend(done.iter().map(|flush| Note::Bulk(Bulk::Flush, flush.cu)));
    }

    fn invalidates<C: Column>(&mut self, seen: &Seen) {
        let is_clean =
            |view: &&proto::LineView| !view.valid.minus(view.dirty).is_empty() && !C::is_registered(view);
        let kept = seen.after.iter().filter(is_clean).count();
        if seen.uses.invalidations.total() > 0 {
            let note = match kept {
                0 => Note::Bulk(Bulk::Invalidate, seen.index),
                _ => Note::Act(Act::Odd("an invalidation that leaves clean bytes", seen.index)),
            };
            self.notes.push(note);
        }
    }

    fn locks<C: Column>(&mut self, bench: &Bench<C::Protocol>) {
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

/// Bulk acts of one kind that follow each other, at different L1s, are one
/// act of the table: of the requesting L1, of the one that had the variable,
/// of all the others, or of all.
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
        // Locks are of all L1s; elsewhere the requesting one stands alone.
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
