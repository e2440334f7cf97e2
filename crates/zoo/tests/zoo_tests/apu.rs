//! The stateless directory of `wt` and `apu-no-l1`, step by step, and the caches above it.

use drive::{Machine, MinimalDriver, Nodes, Record, StationInput};
use proto::{
    Agent, ByteMask, Homes, LineAddr, LineData, LineView, MemoryAccess, MemoryOp, MemoryReply, Node as _,
    NodeId, Op, Order, Protocol, Request, RmwKind, Scope, Topology, Width, WritePolicy,
};
use zoo::apu::{ToDirectory, ToL2};
use zoo::moesi::{self, ToCache};
use zoo::parts::{AccessSite, Answer, ToBank, ToL1};
use zoo::wt::protocol::Msg;
use zoo::wt::{ApuNoL1, BANK, DIRECTORY, FIRST, HOST, Wt};

/// A line of the first bank of the L2 and of the directory.
const LINE: LineAddr = LineAddr(2);
const LINE_BYTES: usize = 8;
const DIRECTORY_BANK: NodeId = NodeId { kind: DIRECTORY, index: 0 };
const L2_BANK: NodeId = NodeId { kind: BANK, index: 0 };
const HOST_CACHE: NodeId = NodeId { kind: HOST, index: 0 };

fn bytes(value: u8) -> LineData {
    LineData([value; proto::LINE_BYTES_MAX]).masked(ByteMask::full(LINE_BYTES))
}

fn nodes<P: Protocol>() -> Nodes<P> {
    let topology = Topology::bounded(WritePolicy::Through, WritePolicy::Through);
    Nodes::new(&topology, Homes::new(&topology, 1), None).expect("a bounded machine is sound")
}

/// One bank of the directory of `wt`. A test gives messages and replies of memory to it.
struct Bank(Machine<Wt>);

/// A step of the directory: the messages that it has sent, and its operations on memory.
type Step = (Vec<(NodeId, Msg)>, Vec<MemoryOp>);

impl Bank {
    fn new() -> Bank {
        Bank(Machine::new(nodes()))
    }

    fn deliver(&mut self, input: StationInput<&Request, &Msg, &MemoryReply>) -> Step {
        let at = self.0.nodes().position(DIRECTORY_BANK).expect("a node of the machine");
        let Record { sends, memory, .. } = self.0.record(at, &input).expect("a row for it");
        let receiver = |at: drive::At| self.0.nodes().ids()[at as usize];
        (sends.into_iter().map(|(to, msg)| (receiver(to), msg)).collect(), memory)
    }

    fn message(&mut self, from: NodeId, msg: impl Into<ToDirectory>) -> Step {
        let from = self.0.nodes().position(from).expect("a node of the machine");
        self.deliver(StationInput::Message { from, msg: &Msg::Directory(msg.into()) })
    }

    fn reply(&mut self, op: MemoryOp, data: LineData) -> Step {
        self.deliver(StationInput::Memory { reply: &MemoryReply { op, data } })
    }
}

fn to_host(msg: ToCache) -> (NodeId, Msg) {
    (HOST_CACHE, Msg::Host(msg))
}

fn to_l2(msg: impl Into<ToL2>) -> (NodeId, Msg) {
    (L2_BANK, Msg::L2(msg.into()))
}

#[test]
fn a_read_of_a_host_sends_nothing_to_the_gpu() {
    let mut bank = Bank::new();
    let (sends, memory) = bank.message(HOST_CACHE, moesi::ToDirectory::GetS { line: LINE });
    assert_eq!(sends, []);
    let [read] = memory[..] else { panic!("{memory:?}") };
    assert_eq!(read.access, MemoryAccess::Read);
    let answer = ToCache::DataS { line: LINE, data: bytes(3) };
    assert_eq!(bank.reply(read, bytes(3)), (vec![to_host(answer)], vec![]));
}

#[test]
fn a_write_of_a_host_waits_until_the_l2_has_invalidated_the_line() {
    let mut bank = Bank::new();
    let (sends, memory) = bank.message(HOST_CACHE, moesi::ToDirectory::GetM { line: LINE });
    assert_eq!(sends, [to_l2(ToL2::Invalidate { line: LINE })]);
    // The bytes of memory are at hand, and the answer waits.
    assert_eq!(bank.reply(memory[0], bytes(3)), (vec![], vec![]));
    let answer = ToCache::DataM { line: LINE, data: bytes(3) };
    let found = bank.message(L2_BANK, ToDirectory::Invalidated { line: LINE });
    assert_eq!(found, (vec![to_host(answer)], vec![]));
}

#[test]
fn a_read_of_the_gpu_gets_the_bytes_that_a_host_writes_out_meanwhile() {
    let mut bank = Bank::new();
    let (sends, memory) = bank.message(L2_BANK, ToBank::Get { line: LINE });
    assert_eq!(sends, [to_host(ToCache::Share { line: LINE })]);
    let read = memory[0];
    let (mask, data) = (ByteMask::full(LINE_BYTES), bytes(9));
    let (sends, memory) = bank.message(HOST_CACHE, moesi::ToDirectory::Put { line: LINE, mask, data });
    assert_eq!(sends, []);
    assert_eq!(memory[0].access, MemoryAccess::Write { mask, data });
    // Memory has performed the read before the write.
    assert_eq!(bank.reply(read, bytes(3)), (vec![], vec![]));
    let (sends, _) = bank.message(HOST_CACHE, moesi::ToDirectory::Gone { line: LINE });
    assert_eq!(sends, [to_l2(ToL1::Data { line: LINE, data })]);
}

#[test]
fn a_write_of_the_gpu_follows_the_bytes_of_the_host_into_memory() {
    let mut bank = Bank::new();
    let mask = ByteMask::range(4, 4);
    let write = ToBank::Write { line: LINE, mask, data: bytes(5), parity: true };
    let (sends, memory) = bank.message(L2_BANK, write);
    assert_eq!((sends, memory), (vec![to_host(ToCache::Inv { line: LINE })], vec![]));
    // Requests for the line wait.
    assert_eq!(bank.message(HOST_CACHE, moesi::ToDirectory::GetS { line: LINE }), (vec![], vec![]));
    let whole = ByteMask::full(LINE_BYTES);
    let ack = moesi::ToDirectory::AckBytes { line: LINE, mask: whole, data: bytes(9) };
    let (sends, memory) = bank.message(HOST_CACHE, ack);
    assert_eq!(sends, []);
    let of_host = MemoryAccess::Write { mask: whole, data: bytes(9) };
    let of_gpu = MemoryAccess::Write { mask, data: bytes(5) };
    let [first, second, third] = memory[..] else { panic!("{memory:?}") };
    assert_eq!([first.access, second.access, third.access], [of_host, of_gpu, MemoryAccess::Read]);
    // The ack goes to the L2 when memory has the write.
    assert_eq!(bank.reply(first, LineData::default()), (vec![], vec![]));
    let acked = bank.reply(second, LineData::default());
    assert_eq!(acked, (vec![to_l2(ToL1::WriteAck { parity: true })], vec![]));
}

#[test]
fn a_read_modify_write_is_answered_with_the_old_bytes_of_memory() {
    let mut bank = Bank::new();
    let (requester, slot) = (NodeId { kind: FIRST, index: 1 }, proto::Slot(3));
    let mask = ByteMask::range(0, 4);
    let add = proto::Rmw { kind: RmwKind::Add, width: Width::W4, uses_value: true };
    let access = ToBank::Access {
        line: LINE,
        mask,
        data: bytes(1),
        op: Op::Rmw(add),
        site: AccessSite::System,
        answer: Answer::Request(slot),
        requester,
    };
    bank.message(L2_BANK, access);
    let (sends, memory) = bank.message(HOST_CACHE, moesi::ToDirectory::Ack { line: LINE });
    assert_eq!(sends, []);
    assert!(matches!(memory[..], [MemoryOp { access: MemoryAccess::Rmw { .. }, .. }]), "{memory:?}");
    let answer = Msg::L1(ToL1::Done { slot, bytes: 4, data: bytes(7) });
    assert_eq!(bank.reply(memory[0], bytes(7)), (vec![(requester, answer)], vec![]));
}

/// A machine on which requests are made one after the other.
struct Driven<P: Protocol>(MinimalDriver<Machine<P>>);

impl<P: Protocol> Driven<P> {
    fn new() -> Self {
        Driven(Machine::new(nodes()).plain().expect("a machine without requests is quiet"))
    }

    /// Makes an access to the first word of `LINE`, and returns the loaded value.
    fn ask(&mut self, agent: Agent, op: Op, order: Order, value: u8) -> Option<u8> {
        let request = Request {
            op,
            order,
            scope: Scope::SYSTEM,
            issuer: proto::Issuer::default(),
            hints: proto::Hints::default(),
            array: proto::ArrayId(0),
            line: LINE,
            mask: ByteMask::range(0, 4),
            data: bytes(value),
        };
        let found = self.0.ask(agent, &request).expect("no rule is violated");
        found.map(|data| data.0[0])
    }

    fn load(&mut self, agent: Agent) -> Option<u8> {
        self.ask(agent, Op::Load, Order::Plain, 0)
    }

    fn store(&mut self, agent: Agent, value: u8) {
        self.ask(agent, Op::Store, Order::Plain, value);
        self.0.rest().expect("the machine comes to rest");
    }

    /// The state of `LINE` in a controller.
    fn state(&self, node: NodeId) -> &'static str {
        let at = self.0.stage.nodes().position(node).expect("a node of the machine");
        let mut views: Vec<LineView> = Vec::new();
        self.0.stage.station(at).node.lines(&mut views);
        views.iter().find(|view| view.line == LINE).map_or("I", |view| view.state)
    }

    /// The states of `LINE` in the host's cache, in the L2 and in the first L1.
    fn states(&self) -> [&'static str; 3] {
        [HOST_CACHE, L2_BANK, NodeId { kind: FIRST, index: 0 }].map(|node| self.state(node))
    }

    fn memory(&self) -> u8 {
        self.0.stage.line(LINE).0[0]
    }
}

const CU: Agent = Agent::Cu(0);
const CPU: Agent = Agent::Host(0);

#[test]
fn the_gpu_and_a_host_read_the_writes_of_one_another() {
    let mut driven = Driven::<Wt>::new();
    driven.store(CPU, 5);
    assert_eq!((driven.states(), driven.memory()), (["M", "I", "I"], 0));
    // The host keeps the line and its dirty bytes.
    assert_eq!(driven.load(CU), Some(5));
    assert_eq!((driven.states(), driven.memory()), (["O", "V", "V"], 0));
    // The line leaves the L2, and the L1 keeps its old copy until it acquires.
    driven.store(CPU, 6);
    assert_eq!((driven.states(), driven.load(CU)), (["M", "I", "V"], Some(5)));
    assert_eq!(driven.ask(CU, Op::Load, Order::Acquire, 0), Some(6));
    assert_eq!(driven.load(CU), Some(6));
    driven.store(CU, 7);
    assert_eq!((driven.states(), driven.memory()), (["I", "V", "V"], 7));
    assert_eq!(driven.load(CPU), Some(7));
    assert_eq!(driven.states(), ["S", "V", "V"]);
    // An atomic drops the copies of its own path.
    driven.ask(CU, Op::Store, Order::Relaxed, 8);
    assert_eq!((driven.states(), driven.memory()), (["I", "I", "I"], 8));
    assert_eq!(driven.load(CPU), Some(8));
}

#[test]
fn a_compute_unit_without_an_l1_reads_the_l2() {
    let mut driven = Driven::<ApuNoL1>::new();
    driven.store(CPU, 5);
    assert_eq!(driven.load(CU), Some(5));
    assert_eq!(driven.states(), ["O", "V", "I"]);
    driven.store(CPU, 6);
    assert_eq!(driven.load(CU), Some(6));
    driven.store(CU, 7);
    assert_eq!((driven.load(CPU), driven.memory()), (Some(7), 7));
}
