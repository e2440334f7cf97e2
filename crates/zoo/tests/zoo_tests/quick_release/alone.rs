//! Single controllers of `quick-release`, to which a test gives requests, messages, timers and replies of
//! memory. Each test has a rule of section 4.3.1 of Hechtman's thesis.

use super::{
    ADD, DIRECTORY_BANK, FIRST_L1, HOST_CACHE, L2_BANK, LINE, LINE_BYTES, OTHER, SECOND_L1, WORD, bytes,
    nodes, request,
};
use drive::{Machine, Record, StationInput};
use proto::{
    LineAddr, MemoryAccess, MemoryOp, MemoryReply, Message as _, NodeId, Op, Order, Protocol, Request, Slot,
    TimerClass, Wrap,
};
use std::collections::VecDeque;
use zoo::moesi;
use zoo::parts::{AccessSite, Answer, ToBank, ToL1 as BankToL1};
use zoo::quick_release::{
    Marker, Quick, QuickRelease, QuickReleaseRepaired, ToDirectory, ToL1, ToL2, protocol,
};

/// One controller of a protocol, to which a test gives inputs.
struct Alone<P: Protocol> {
    machine: Machine<P>,
    id: NodeId,
    /// The operations that memory has not performed.
    requested: VecDeque<MemoryOp>,
}

/// The effects of a step: the messages and the operations on memory by name, and the first byte of each
/// answer to a request.
#[derive(Debug, Default, PartialEq, Eq)]
struct Effects {
    sends: Vec<(NodeId, &'static str)>,
    memory: Vec<(LineAddr, &'static str)>,
    answers: Vec<Option<u8>>,
}

/// The effects of a step that only sends these messages.
fn sends<const N: usize>(sends: [(NodeId, &'static str); N]) -> Effects {
    Effects { sends: sends.to_vec(), ..Effects::default() }
}

/// The effects of a step that only requests an operation on memory.
fn memory(line: LineAddr, name: &'static str) -> Effects {
    Effects { memory: vec![(line, name)], ..Effects::default() }
}

/// The effects of a step that only answers a request.
fn answers(byte: Option<u8>) -> Effects {
    Effects { answers: vec![byte], ..Effects::default() }
}

/// The invalidation of the copies of all L1s.
const INVALIDATION: [(NodeId, &str); 2] = [(FIRST_L1, "Inv"), (SECOND_L1, "Inv")];

impl<P: Quick> Alone<P> {
    fn new(id: NodeId) -> Self {
        Alone { machine: Machine::new(nodes()), id, requested: VecDeque::new() }
    }

    fn record(&mut self, input: &StationInput<&Request, &P::Msg, &MemoryReply>) -> Record<P> {
        let at = self.machine.nodes().position(self.id).expect("a node");
        let record = self.machine.record(at, input).expect("a row for it");
        self.requested.extend(&record.memory);
        record
    }

    fn input(&mut self, input: &StationInput<&Request, &P::Msg, &MemoryReply>) -> Effects {
        let Record { sends, memory, replies, .. } = self.record(input);
        let ids = self.machine.nodes().ids();
        let operation = |op: &MemoryOp| match op.access {
            MemoryAccess::Read => (op.line, "Read"),
            MemoryAccess::Write { .. } => (op.line, "Write"),
            MemoryAccess::Rmw { .. } => (op.line, "Rmw"),
        };
        Effects {
            sends: sends.iter().map(|(to, msg)| (ids[*to as usize], msg.name())).collect(),
            memory: memory.iter().map(operation).collect(),
            answers: replies.iter().map(|(_, data)| data.map(|data| data.0[0])).collect(),
        }
    }

    fn message<M>(&mut self, from: NodeId, msg: M) -> Effects
    where
        P::Msg: Wrap<M>,
    {
        let from = self.machine.nodes().position(from).expect("a node");
        self.input(&StationInput::Message { from, msg: &P::Msg::wrap(self.id.kind, msg) })
    }

    /// Makes a request with the value 7 in a slot of its own.
    fn request(&mut self, slot: u32, op: Op, order: Order, line: LineAddr) -> Effects {
        let request = request(op, order, (line, WORD), 7);
        self.input(&StationInput::Request { slot: Slot(slot), request: &request })
    }

    fn drain(&mut self) -> Effects {
        self.input(&StationInput::Timer(TimerClass::Drain))
    }

    /// Memory performs the oldest operation.
    fn perform(&mut self) -> Effects {
        let op = self.requested.pop_front().expect("an operation of memory is due");
        let reply = self.machine.serve(&op);
        self.input(&StationInput::Memory { reply: &reply })
    }
}

/// The write of the first word of a line.
fn write(line: LineAddr) -> ToBank {
    ToBank::Write { line, mask: WORD, data: bytes(7), parity: false }
}

/// The atomic of the first L1 on the first word of a line.
fn atomic(line: LineAddr) -> ToBank {
    let (op, site, answer) = (Op::Rmw(ADD), AccessSite::System, Answer::Request(Slot(0)));
    ToBank::Access { line, mask: WORD, data: bytes(1), op, site, answer, requester: FIRST_L1 }
}

/// The answer of a host that has dropped its copy of a line, which was clean.
fn host_ack(line: LineAddr) -> ToDirectory {
    moesi::ToDirectory::Ack { line }.into()
}

/// A release completes only when the invalidations of its writes are applied.
#[test]
fn a_marker_leaves_the_l2_behind_the_acks_of_all_l1s() {
    let mut bank = Alone::<QuickRelease>::new(L2_BANK);
    assert_eq!(bank.message(FIRST_L1, ToL2::from(write(LINE))), sends([]));
    // The write cache of the bank has one line.
    let [first, second] = INVALIDATION;
    let all = [first, second, (DIRECTORY_BANK, "Write")];
    assert_eq!(bank.message(FIRST_L1, ToL2::from(write(OTHER))), sends(all));
    let marker = Marker { requester: FIRST_L1, slot: Some(Slot(0)) };
    // The S-FIFO has two entries, so the marker takes the place of the address that has left.
    assert_eq!(bank.message(FIRST_L1, ToL2::Marker { marker }), sends([]));
    assert_eq!(bank.drain(), sends(all));
    assert_eq!(bank.drain(), sends([]));
    for from in [FIRST_L1, FIRST_L1, SECOND_L1] {
        assert_eq!(bank.message(from, ToL2::Acked), sends([]));
    }
    assert_eq!(bank.message(SECOND_L1, ToL2::Acked), sends([(DIRECTORY_BANK, "Marker")]));
}

/// "The APU directory will invalidate the rL2, which in turn will invalidate the rL1 caches."
#[test]
fn a_bank_without_the_line_passes_an_invalidation_on() {
    let mut bank = Alone::<QuickRelease>::new(L2_BANK);
    assert_eq!(bank.message(DIRECTORY_BANK, ToL2::Invalidate { line: LINE }), sends(INVALIDATION));
}

/// "When a line is evicted from the wL3, the controller sends invalidations to the CPU cluster [...]
/// before the line is written to the L3 cache or main memory."
#[test]
fn an_eviction_of_the_directory_first_invalidates_the_copies_of_hosts() {
    let mut bank = Alone::<QuickRelease>::new(DIRECTORY_BANK);
    let invalidation = || sends([(HOST_CACHE, "Inv")]);
    assert_eq!(bank.message(L2_BANK, ToDirectory::from(write(LINE))), sends([]));
    assert_eq!(bank.message(L2_BANK, ToDirectory::from(write(OTHER))), invalidation());
    let marker = Marker { requester: FIRST_L1, slot: Some(Slot(5)) };
    assert_eq!(bank.message(L2_BANK, ToDirectory::Marker { marker }), sends([]));
    assert_eq!(bank.drain(), invalidation());
    // The marker is at the head. It waits until memory has both lines.
    assert_eq!(bank.drain(), sends([]));
    for line in [LINE, OTHER] {
        assert_eq!(bank.message(HOST_CACHE, host_ack(line)), memory(line, "Write"));
    }
    assert_eq!(bank.perform(), sends([]));
    assert_eq!(bank.perform(), sends([(FIRST_L1, "BankDone")]));
}

/// A marker is acknowledged once by each bank.
#[test]
fn a_release_waits_for_the_acks_of_all_banks() {
    let mut l1 = Alone::<QuickRelease>::new(FIRST_L1);
    let markers = [(L2_BANK, "Marker"), (NodeId { index: 1, ..L2_BANK }, "Marker")];
    assert_eq!(l1.request(0, Op::Fence, Order::Release, LINE), sends(markers));
    let ack = || ToL1::from(BankToL1::BankDone { slot: Slot(0) });
    assert_eq!(l1.message(DIRECTORY_BANK, ack()), sends([]));
    assert_eq!(l1.message(DIRECTORY_BANK, ack()), answers(None));
}

/// The names of the messages that a bank of the L2 sends to the directory for these messages of the first
/// L1, until all L1s have acknowledged all invalidations. No message goes to an L1 but invalidations.
fn passed_below<P: Quick>(bank: &mut Alone<P>, msgs: &[ToBank]) -> Vec<&'static str> {
    let mut sent: Vec<_> =
        msgs.iter().flat_map(|msg| bank.message(FIRST_L1, ToL2::from(*msg)).sends).collect();
    let due = sent.iter().filter(|(to, _)| *to == FIRST_L1).count();
    for l1 in (0..due).flat_map(|_| [FIRST_L1, SECOND_L1]) {
        sent.extend(bank.message(l1, ToL2::Acked).sends);
    }
    let to_directory = |&(to, name): &(NodeId, &'static str)| match (to, name) {
        (DIRECTORY_BANK, name) => Some(name),
        message => {
            assert!(INVALIDATION.contains(&message), "{message:?}");
            None
        }
    };
    sent.iter().filter_map(to_directory).collect()
}

/// The names of the operations that a bank of the directory requests from memory for these messages of
/// the L2, until the host has answered all invalidations. The directory sends only invalidations.
fn performed<P: Quick>(bank: &mut Alone<P>, msgs: &[ToBank]) -> Vec<&'static str> {
    let mut operations = Vec::new();
    let mut due: VecDeque<_> =
        msgs.iter().map(|msg| bank.message(L2_BANK, ToDirectory::from(*msg))).collect();
    while let Some(Effects { sends, memory, .. }) = due.pop_front() {
        operations.extend(memory.iter().map(|(_, name)| *name));
        for message in sends {
            assert_eq!(message, (HOST_CACHE, "Inv"));
            due.push_back(bank.message(HOST_CACHE, host_ack(LINE)));
        }
    }
    operations
}

/// A store is complete at once. No controller ever acknowledges its write.
fn writes_get_no_acks<P: Quick>() {
    let mut l1 = Alone::<P>::new(FIRST_L1);
    assert_eq!(l1.request(0, Op::Store, Order::Plain, LINE), answers(None));
    // Another line takes the way of the write cache.
    let written_out = Effects { answers: vec![None], ..sends([(L2_BANK, "Write")]) };
    assert_eq!(l1.request(1, Op::Store, Order::Plain, OTHER), written_out);
    let mut l2 = Alone::<P>::new(L2_BANK);
    assert_eq!(passed_below(&mut l2, &[write(LINE), write(OTHER)]), ["Write"]);
    let mut directory = Alone::<P>::new(DIRECTORY_BANK);
    assert_eq!(performed(&mut directory, &[write(LINE), write(OTHER)]), ["Write"]);
    assert_eq!(directory.perform(), sends([]));
}

/// The S-FIFO of the L1 gets an entry for an atomic. The marker of a later release stays behind it.
fn an_atomic_puts_a_mark_into_the_s_fifo<P: Quick>() {
    let mut l1 = Alone::<P>::new(FIRST_L1);
    assert_eq!(l1.request(0, Op::Rmw(ADD), Order::Relaxed, LINE), sends([(L2_BANK, "Access")]));
    assert_eq!(l1.request(1, Op::Fence, Order::Release, LINE), sends([]));
    assert_eq!(l1.drain(), sends([]));
    assert_eq!(l1.drain(), sends([(L2_BANK, "Marker"), (NodeId { index: 1, ..L2_BANK }, "Marker")]));
}

/// An atomic goes down at once. Older stores to other lines stay in the write caches.
fn an_atomic_does_not_wait_for_older_stores<P: Quick>() {
    let mut l1 = Alone::<P>::new(FIRST_L1);
    l1.request(0, Op::Store, Order::Plain, OTHER);
    assert_eq!(l1.request(1, Op::Rmw(ADD), Order::Relaxed, LINE), sends([(L2_BANK, "Access")]));
    let mut l2 = Alone::<P>::new(L2_BANK);
    assert_eq!(passed_below(&mut l2, &[write(OTHER), atomic(LINE)]), ["Access"]);
    let mut directory = Alone::<P>::new(DIRECTORY_BANK);
    assert_eq!(performed(&mut directory, &[write(OTHER), atomic(LINE)]), ["Rmw"]);
}

/// Read caches have no dirty bytes, so they answer an invalidation without bytes. The bytes of the line
/// stay in the write cache.
fn an_invalidation_takes_no_bytes_out_of_a_write_cache<P: Quick>() {
    let mut l1 = Alone::<P>::new(FIRST_L1);
    l1.request(0, Op::Store, Order::Plain, LINE);
    assert_eq!(l1.message(L2_BANK, ToL1::Inv { line: LINE }), sends([(L2_BANK, "Acked")]));
    assert_eq!(l1.request(1, Op::Load, Order::Plain, LINE), answers(Some(7)));
    let written_out = Effects { answers: vec![None], ..sends([(L2_BANK, "Write")]) };
    assert_eq!(l1.request(2, Op::Store, Order::Plain, OTHER), written_out);

    let mut l2 = Alone::<P>::new(L2_BANK);
    assert_eq!(l2.message(FIRST_L1, ToL2::from(write(LINE))), sends([]));
    assert_eq!(l2.message(DIRECTORY_BANK, ToL2::Invalidate { line: LINE }), sends(INVALIDATION));
    let at = l2.machine.nodes().position(SECOND_L1).expect("a node");
    l2.message(FIRST_L1, ToL2::Acked);
    let last = P::Msg::wrap(L2_BANK.kind, ToL2::Acked);
    let acknowledged = l2.record(&StationInput::Message { from: at, msg: &last });
    assert!(acknowledged.sends.iter().all(|(_, msg)| msg.payload_bytes(LINE_BYTES as u32) == 0));
    assert_eq!(passed_below(&mut l2, &[write(OTHER)]), ["Write"]);
}

/// A load that hits, with a clear written bit, looks up only the tags of the read cache. If the written
/// bit is set, the load also looks up those of the write cache.
fn a_load_that_hits_does_not_look_into_the_write_cache<P: Quick>() {
    let mut l1 = Alone::<P>::new(FIRST_L1);
    let lookups = |l1: &mut Alone<P>| {
        let load = request(Op::Load, Order::Plain, (LINE, WORD), 0);
        let found = l1.record(&StationInput::Request { slot: Slot(0), request: &load });
        (found.replies.first().and_then(|(_, data)| *data).map(|data| data.0[0]), found.uses.tag_lookups)
    };
    let (none, missed) = lookups(&mut l1);
    l1.message(L2_BANK, ToL1::from(BankToL1::Data { line: LINE, data: bytes(3) }));
    let (clean, hit) = lookups(&mut l1);
    l1.request(1, Op::Store, Order::Plain, LINE);
    let (dirty, written) = lookups(&mut l1);
    assert_eq!((none, clean, dirty), (None, Some(3), Some(7)));
    assert_eq!((missed, written), (hit + 1, hit + 1));
}

macro_rules! for_both {
    ($($check:ident),+ $(,)?) => {
        mod of_both {
            use super::{QuickRelease, QuickReleaseRepaired};
            $(
                #[test]
                fn $check() {
                    super::$check::<QuickRelease>();
                    super::$check::<QuickReleaseRepaired>();
                }
            )+
        }
    };
}

for_both! {
    writes_get_no_acks,
    an_atomic_puts_a_mark_into_the_s_fifo,
    an_atomic_does_not_wait_for_older_stores,
    an_invalidation_takes_no_bytes_out_of_a_write_cache,
    a_load_that_hits_does_not_look_into_the_write_cache,
}

/// The messages that an L1 sends for a store and for an atomic on the same word.
fn stored_then_added<P: Quick>() -> Vec<&'static str> {
    let mut l1 = Alone::<P>::new(FIRST_L1);
    assert_eq!(l1.request(0, Op::Store, Order::Plain, LINE), answers(None));
    l1.request(1, Op::Rmw(ADD), Order::Relaxed, LINE).sends.iter().map(|(_, name)| *name).collect()
}

#[test]
fn a_published_atomic_passes_an_older_store_in_the_write_cache_of_the_l1() {
    assert_eq!(stored_then_added::<QuickRelease>(), ["Access"]);
    assert_eq!(stored_then_added::<QuickReleaseRepaired>(), ["Write", "Access"]);
}

#[test]
fn a_published_atomic_passes_an_older_write_in_the_write_cache_of_the_l2() {
    let msgs = [write(LINE), atomic(LINE)];
    assert_eq!(passed_below(&mut Alone::<QuickRelease>::new(L2_BANK), &msgs), ["Access"]);
    assert_eq!(passed_below(&mut Alone::<QuickReleaseRepaired>::new(L2_BANK), &msgs), ["Write", "Access"]);
}

#[test]
fn a_published_atomic_passes_an_older_write_in_the_write_cache_of_the_directory() {
    let msgs = [write(LINE), atomic(LINE)];
    assert_eq!(performed(&mut Alone::<QuickRelease>::new(DIRECTORY_BANK), &msgs), ["Rmw"]);
    assert_eq!(performed(&mut Alone::<QuickReleaseRepaired>::new(DIRECTORY_BANK), &msgs), ["Write", "Rmw"]);
}

/// The marker behind the store of a store-release names no request. So the directory acknowledges only
/// the marker before the store.
#[test]
fn the_store_of_a_store_release_gets_no_ack() {
    let mut l1 = Alone::<QuickRelease>::new(FIRST_L1);
    let markers = [(L2_BANK, "Marker"), (NodeId { index: 1, ..L2_BANK }, "Marker")];
    assert_eq!(l1.request(0, Op::Store, Order::Release, LINE), sends(markers));
    let ack = || ToL1::from(BankToL1::BankDone { slot: Slot(0) });
    assert_eq!(l1.message(DIRECTORY_BANK, ack()), sends([]));
    // The store is in the write cache, and complete.
    assert_eq!(l1.message(DIRECTORY_BANK, ack()), answers(None));
    assert_eq!(l1.drain(), sends([(L2_BANK, "Write")]));
    let trail = l1.record(&StationInput::Timer(TimerClass::Drain));
    let slot = |(_, msg): &(_, protocol::Msg)| match msg {
        protocol::Msg::L2(ToL2::Marker { marker }) => Some(marker.slot),
        _ => None,
    };
    assert_eq!(trail.sends.iter().map(slot).collect::<Vec<_>>(), [Some(None), Some(None)]);
    for (slot, acks) in [(None, vec![]), (Some(Slot(0)), vec![(FIRST_L1, "BankDone")])] {
        let mut directory = Alone::<QuickRelease>::new(DIRECTORY_BANK);
        directory.message(L2_BANK, ToDirectory::from(write(LINE)));
        let marker = Marker { requester: FIRST_L1, slot };
        assert_eq!(directory.message(L2_BANK, ToDirectory::Marker { marker }), sends([]));
        assert_eq!(directory.drain(), sends([(HOST_CACHE, "Inv")]));
        assert_eq!(directory.drain(), sends([]));
        assert_eq!(directory.message(HOST_CACHE, host_ack(LINE)), memory(LINE, "Write"));
        assert_eq!(directory.perform(), Effects { sends: acks, ..Effects::default() });
    }
}
