//! Single controllers of `quick-release`, to which a test gives requests, messages, timers and replies of
//! memory. Each test has a rule of section 4.3.1 of Hechtman's thesis.

use super::{
    DIRECTORY_BANK, FIRST_L1, HOST_CACHE, L2_BANK, LINE, OTHER, SECOND_L1, WORD, bytes, nodes, request,
};
use drive::{Machine, Record, StationInput};
use proto::{
    LineAddr, MemoryAccess, MemoryOp, MemoryReply, Message as _, NodeId, Op, Order, Protocol, Request, Slot,
    TimerClass, Wrap,
};
use std::collections::VecDeque;
use zoo::moesi;
use zoo::parts::{ToBank, ToL1 as BankToL1};
use zoo::quick_release::{Marker, Quick, QuickRelease, ToDirectory, ToL1, ToL2};

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
