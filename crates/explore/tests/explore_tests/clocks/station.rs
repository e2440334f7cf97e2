//! The behaviour of a station (controller with its parked inputs) when time passes, tick by tick or
//! at once.

use proto::{
    ByteMask, Effects, LineAddr, LineData, MemoryAccess, MemoryReply, Node as _, NodeId, SetIndex, Setup,
    Slot, Station, Topology, Way, World, WritePolicy,
};

use crate::clocks::lease::right::{Lease, Msg};
use crate::clocks::lease::{BANK, L1, Put, ToBank, ToL1};

const CACHE: NodeId = NodeId { kind: L1, index: 0 };
const THE_BANK: NodeId = NodeId { kind: BANK, index: 0 };
const X: LineAddr = LineAddr(0);
const Y: LineAddr = LineAddr(2);

fn narrow() -> Topology {
    let bounded = Topology::bounded(WritePolicy::Combining, WritePolicy::Combining);
    bounded.with_array("l1", |l1| l1.ways = 1).with_array("l2", |l2| l2.ways = 1)
}

/// A station (controller with its parked inputs) of the toy protocol, with the effects of its last
/// step.
struct Bench {
    setup: Setup<Lease>,
    station: Station<Lease>,
    fx: Effects<Msg>,
}

impl Bench {
    fn new(id: NodeId) -> Bench {
        Bench::of(&narrow(), id)
    }

    fn of(topology: &Topology, id: NodeId) -> Bench {
        let setup = Setup::new(topology).expect("a sound machine");
        let station = Station::new(id, &setup);
        Bench { setup, station, fx: Effects::default() }
    }

    fn deliver(&mut self, input: impl FnOnce(&mut Station<Lease>, World<'_, Lease>, &mut Effects<Msg>)) {
        self.fx.clear();
        input(&mut self.station, self.setup.world(), &mut self.fx);
        assert_eq!(self.fx.violation, None);
    }

    fn message(&mut self, from: NodeId, msg: impl Into<Msg>) {
        let msg = msg.into();
        self.deliver(|station, world, fx| station.message(from, &msg, world, fx));
    }

    fn tick(&mut self, elapsed: u32) {
        self.deliver(|station, world, fx| station.tick(elapsed, world, fx));
    }
}

fn data(line: LineAddr, lease: u32) -> ToL1 {
    ToL1::Data { line, data: LineData::default(), lease, ages: true }
}

#[test]
fn a_parked_message_ages() {
    let mut cache = Bench::new(CACHE);
    cache.message(THE_BANK, data(X, 9));
    cache.message(THE_BANK, data(Y, 3));
    assert_eq!(cache.fx.needs.len(), 1, "there is one way");
    cache.tick(2);
    cache.deliver(|station, world, fx| station.evict(Way(0), world, fx));
    let mut lines = Vec::new();
    cache.station.node.lines(&mut lines);
    assert!(matches!(&*lines, [view] if view.line == Y));
    cache.tick(1);
    lines.clear();
    cache.station.node.lines(&mut lines);
    assert!(lines.is_empty(), "of three ticks two had passed before");
}

#[test]
fn a_deadline_is_exact_even_if_ticks_come_late() {
    let write = MemoryAccess::Write { mask: ByteMask::range(0, 4), data: LineData::default() };
    let waiting = || {
        let mut bank = Bench::new(THE_BANK);
        bank.message(CACHE, ToBank::Get { line: X });
        let reply = MemoryReply { op: bank.fx.memory[0], data: LineData::default() };
        bank.deliver(|station, world, fx| station.memory(&reply, world, fx));
        bank.message(CACHE, ToBank::Put { line: X, put: Put { line: X, access: write, slot: Slot(0) } });
        assert!(bank.fx.memory.is_empty(), "the line is leased");
        assert_eq!(bank.station.next_deadline(), Some(2));
        bank
    };
    let mut bank = waiting();
    bank.tick(1);
    assert!(bank.fx.memory.is_empty(), "a tick is left");
    assert_eq!(bank.station.next_deadline(), Some(1));
    bank.tick(1);
    assert_eq!(bank.fx.memory.len(), 1);
    assert_eq!(bank.station.next_deadline(), None);
    let mut late = waiting();
    late.tick(1000);
    assert_eq!(late.fx.memory, bank.fx.memory);
    assert!(late.station == bank.station, "the later ticks count as well");
}

#[test]
fn deadlines_expire_in_order_within_one_step() {
    let wide = Topology::bounded(WritePolicy::Combining, WritePolicy::Combining);
    let mut bank = Bench::of(&wide, THE_BANK);
    let access = MemoryAccess::Write { mask: ByteMask::range(0, 4), data: LineData::default() };
    for line in [Y, X] {
        bank.message(CACHE, ToBank::Get { line });
        let reply = MemoryReply { op: bank.fx.memory[0], data: LineData::default() };
        bank.deliver(|station, world, fx| station.memory(&reply, world, fx));
        bank.message(CACHE, ToBank::Put { line, put: Put { line, access, slot: Slot(0) } });
        if line == Y {
            bank.tick(1);
        }
    }
    bank.tick(1000);
    let written: Vec<LineAddr> = bank.fx.memory.iter().map(|op| op.line).collect();
    assert_eq!(written, [Y, X], "the lease of the second line ends a tick later");
}

#[test]
fn the_earlier_of_two_deadlines_is_kept() {
    let mut bank = Bench::new(THE_BANK);
    bank.message(CACHE, ToBank::Get { line: X });
    let reply = MemoryReply { op: bank.fx.memory[0], data: LineData::default() };
    bank.tick(1);
    bank.deliver(|station, world, fx| station.memory(&reply, world, fx));
    bank.message(CACHE, ToBank::Get { line: X });
    assert_eq!(bank.station.next_deadline(), Some(1));
    bank.tick(1);
    // The deadline was for the first lease, and the second has one more tick.
    assert_eq!(bank.station.next_deadline(), Some(1));
}

#[test]
fn a_set_refuses_its_victims_until_their_leases_have_run_out() {
    let mut bank = Bench::new(THE_BANK);
    bank.message(CACHE, ToBank::Get { line: X });
    let reply = MemoryReply { op: bank.fx.memory[0], data: LineData::default() };
    bank.deliver(|station, world, fx| station.memory(&reply, world, fx));
    assert_eq!(bank.station.check_at_rest(1, true), None, "a leased line may stay at the end");
    let victims = |bank: &Bench| {
        let mut victims = Vec::new();
        bank.station.node.victims(SetIndex(0), &mut victims);
        victims.len()
    };
    bank.message(CACHE, ToBank::Get { line: Y });
    assert_eq!((bank.fx.needs.len(), victims(&bank)), (1, 0));
    bank.tick(2);
    assert_eq!((bank.fx.needs.len(), victims(&bank)), (1, 1), "it asks again when there is one");
}
