//! The write caches, S-FIFOs and markers of `quick-release`, step by step. Each test has a sentence of
//! section 4.3.1 of Hechtman's thesis.

mod alone;

use drive::{Machine, MinimalDriver, Nodes};
use proto::{
    Agent, ByteMask, Homes, Issuer, LineAddr, LineData, LineView, Node as _, NodeId, Op, Order, Protocol,
    Request, Rmw, RmwKind, Scope, Slot, Topology, Width, WritePolicy,
};
use zoo::quick_release::{
    BANK, Cover, DIRECTORY, Entry, FIRST, HOST, Marker, QuickRelease, QuickReleaseRepaired, Shape, WriteCache,
};

/// Lines of the first bank of the L2 and of the directory. They share a set of each write cache of a
/// small machine.
const LINE: LineAddr = LineAddr(2);
const OTHER: LineAddr = LineAddr(4);
const LINE_BYTES: usize = 8;
const FIRST_L1: NodeId = NodeId { kind: FIRST, index: 0 };
const SECOND_L1: NodeId = NodeId { kind: FIRST, index: 1 };
const L2_BANK: NodeId = NodeId { kind: BANK, index: 0 };
const DIRECTORY_BANK: NodeId = NodeId { kind: DIRECTORY, index: 0 };
const HOST_CACHE: NodeId = NodeId { kind: HOST, index: 0 };
const CU: Agent = Agent::Cu(0);
const OTHER_CU: Agent = Agent::Cu(1);
const CPU: Agent = Agent::Host(0);
/// The mask of the first word of a line.
const WORD: ByteMask = ByteMask(0xf);
const ADD: Rmw = Rmw { kind: RmwKind::Add, width: Width::W4, uses_value: true };

fn bytes(value: u8) -> LineData {
    LineData([value; proto::LINE_BYTES_MAX]).masked(ByteMask::full(LINE_BYTES))
}

/// A request at system scope that accesses the masked bytes of a line.
fn request(op: Op, order: Order, (line, mask): (LineAddr, ByteMask), value: u8) -> Request {
    Request {
        op,
        order,
        scope: Scope::SYSTEM,
        issuer: Issuer::default(),
        hints: proto::Hints::default(),
        array: proto::ArrayId(0),
        line,
        mask,
        data: bytes(value),
    }
}

fn nodes<P: Protocol>() -> Nodes<P> {
    let topology = Topology::bounded(WritePolicy::Combining, WritePolicy::Combining);
    Nodes::new(&topology, Homes::new(&topology, 1), None).expect("a bounded machine is sound")
}

/// A machine on which requests are made one after the other.
struct Driven<P: Protocol>(MinimalDriver<Machine<P>>);

impl<P: Protocol> Driven<P> {
    fn new() -> Self {
        Driven(Machine::new(nodes()).plain().expect("a machine without requests is quiet"))
    }

    fn ask(&mut self, agent: Agent, op: Op, order: Order, line: LineAddr, value: u8) -> Option<u8> {
        self.access(agent, op, order, (line, WORD), value)
    }

    /// Makes an access, and returns the first loaded byte of the mask.
    fn access(
        &mut self,
        agent: Agent,
        op: Op,
        order: Order,
        (line, mask): (LineAddr, ByteMask),
        value: u8,
    ) -> Option<u8> {
        let request = request(op, order, (line, mask), value);
        let found = self.0.ask(agent, &request).expect("no rule is violated");
        found.map(|data| data.0[mask.first().unwrap_or_default()])
    }

    fn load(&mut self, agent: Agent, line: LineAddr) -> Option<u8> {
        self.ask(agent, Op::Load, Order::Plain, line, 0)
    }

    fn store(&mut self, agent: Agent, line: LineAddr, value: u8) {
        self.ask(agent, Op::Store, Order::Plain, line, value);
        self.0.rest().expect("the machine comes to rest");
    }

    fn release(&mut self, agent: Agent) {
        self.ask(agent, Op::Fence, Order::Release, LINE, 0);
    }

    /// The state of a line in a controller.
    fn state(&self, node: NodeId, line: LineAddr) -> &'static str {
        let at = self.0.stage.nodes().position(node).expect("a node of the machine");
        let mut views: Vec<LineView> = Vec::new();
        self.0.stage.station(at).node.lines(&mut views);
        views.iter().find(|view| view.line == line).map_or("I", |view| view.state)
    }

    fn memory(&self, line: LineAddr) -> u8 {
        self.0.stage.line(line).0[0]
    }
}

/// "To complete a normal store operation, a CU inserts the write into the wL1, enqueues the address
/// [...], and, if the block is found in the rL1, sets a written bit." "Writes never receive an ack."
fn a_store_is_complete_in_the_write_cache<P: Protocol>() {
    let mut driven = Driven::<P>::new();
    driven.load(CU, LINE);
    assert_eq!(driven.state(FIRST_L1, LINE), "V");
    driven.store(CU, LINE, 7);
    assert_eq!((driven.state(FIRST_L1, LINE), driven.memory(LINE)), ("W", 0));
    // "When the written bit is set, the write cache is checked."
    assert_eq!(driven.load(CU, LINE), Some(7));
    assert_eq!((driven.state(FIRST_L1, LINE), driven.load(CPU, LINE)), ("W", Some(0)));
}

/// "In either case, when evicted, the controller also will invalidate the block in the rL1." "When a wL2
/// evicts a block, it invalidates the local rL2 and broadcasts an invalidation message to all the
/// rL1s."
fn an_eviction_invalidates_the_read_caches<P: Protocol>() {
    let mut driven = Driven::<P>::new();
    driven.load(CU, LINE);
    driven.load(OTHER_CU, LINE);
    driven.store(CU, LINE, 7);
    // Another line of the set takes the way of the write cache of the L1.
    driven.store(CU, OTHER, 8);
    assert_eq!((driven.state(FIRST_L1, LINE), driven.state(SECOND_L1, LINE)), ("I", "V"));
    assert_eq!((driven.state(L2_BANK, LINE), driven.memory(LINE)), ("W", 0));
    driven.store(CU, LINE, 9);
    assert_eq!((driven.state(SECOND_L1, LINE), driven.state(L2_BANK, LINE)), ("I", "I"));
    assert_eq!(driven.memory(LINE), 0, "the write cache of the directory has the line");
}

/// "When the marker finally reaches the head of the wL3, the system can be sure that all prior writes
/// from the wavefront have reached an ordering point (i.e., main memory)."
fn a_release_brings_all_writes_to_memory<P: Protocol>() {
    let mut driven = Driven::<P>::new();
    let lines = [LINE, OTHER, LineAddr(3), LineAddr(6)];
    lines.into_iter().for_each(|line| driven.store(CU, line, 7));
    driven.store(OTHER_CU, LineAddr(8), 7);
    driven.release(CU);
    assert_eq!(lines.map(|line| driven.memory(line)), [7; 4]);
    assert_eq!(driven.memory(LineAddr(8)), 0, "the other compute unit has not released");
}

/// "If the read request at least partially misses in the write cache, the dirty bytes are written
/// through from the write-only cache and the read request is sent to the next level."
fn a_load_of_more_bytes_writes_the_dirty_ones_out<P: Protocol>() {
    let mut driven = Driven::<P>::new();
    driven.ask(CPU, Op::Store, Order::Plain, LINE, 3);
    driven.access(CPU, Op::Store, Order::Plain, (LINE, ByteMask::range(4, 4)), 4);
    driven.store(CU, LINE, 7);
    let second = driven.access(CU, Op::Load, Order::Plain, (LINE, ByteMask::range(4, 4)), 0);
    assert_eq!((second, driven.load(CU, LINE)), (Some(4), Some(7)));
    assert_eq!(driven.memory(LINE), 7);
}

/// "A CPU read never will be forwarded to the GPU memory hierarchy." "The acquire itself is a no-op."
fn a_host_and_the_gpu_read_what_is_released<P: Protocol>() {
    let mut driven = Driven::<P>::new();
    driven.store(CPU, LINE, 5);
    assert_eq!(driven.load(CU, LINE), Some(5));
    driven.store(CU, LINE, 6);
    assert_eq!(driven.load(CPU, LINE), Some(5));
    driven.release(CU);
    assert_eq!(driven.load(CPU, LINE), Some(6));
    assert_eq!(driven.load(OTHER_CU, OTHER), Some(0));
    driven.ask(OTHER_CU, Op::Load, Order::Acquire, OTHER, 0);
    assert_eq!(driven.state(SECOND_L1, OTHER), "V", "an acquire keeps the copies");
    driven.store(CPU, OTHER, 9);
    assert_eq!((driven.state(SECOND_L1, OTHER), driven.load(OTHER_CU, OTHER)), ("I", Some(9)));
}

/// "When the release operation has an associated store operation (i.e., a StRel), the store can proceed
/// [...] after the release completes." It "will also trigger S-FIFO flushes".
fn a_store_release_brings_its_store_to_memory<P: Protocol>() {
    let mut driven = Driven::<P>::new();
    driven.store(CU, OTHER, 7);
    driven.ask(CU, Op::Store, Order::Release, LINE, 8);
    assert_eq!(driven.memory(OTHER), 7);
    driven.0.rest().expect("the machine comes to rest");
    assert_eq!((driven.memory(LINE), driven.load(OTHER_CU, LINE)), (8, Some(8)));
}

/// A read-modify-write is "forwarded immediately to the point of system coherence, which is the
/// directory".
fn an_atomic_is_performed_in_memory<P: Protocol>() {
    let mut driven = Driven::<P>::new();
    driven.store(CPU, LINE, 1);
    driven.store(CU, OTHER, 9);
    assert_eq!(driven.ask(CU, Op::Rmw(ADD), Order::Relaxed, LINE, 1), Some(1));
    assert_eq!((driven.memory(LINE), driven.load(CPU, LINE)), (2, Some(2)));
    // The older store has not moved.
    driven.0.rest().expect("the machine comes to rest");
    assert_eq!((driven.memory(OTHER), driven.load(OTHER_CU, OTHER)), (0, Some(0)));
}

/// A release flushes no read cache. Lines that nobody has written stay, and the next load hits.
fn a_release_keeps_the_lines_of_the_read_caches<P: Protocol>() {
    let mut driven = Driven::<P>::new();
    driven.load(CU, OTHER);
    driven.load(OTHER_CU, OTHER);
    driven.store(CU, LINE, 7);
    driven.release(CU);
    driven.ask(CU, Op::Store, Order::Release, LINE, 8);
    driven.0.rest().expect("the machine comes to rest");
    assert_eq!(driven.memory(LINE), 8);
    assert_eq!([FIRST_L1, SECOND_L1, L2_BANK].map(|node| driven.state(node, OTHER)), ["V"; 3]);
}

macro_rules! for_both {
    ($($test:ident: $($check:ident),+;)+) => {$(
        #[test]
        fn $test() {
            $(
                $check::<QuickRelease>();
                $check::<QuickReleaseRepaired>();
            )+
        }
    )+};
}

for_both! {
    stores_and_evictions_are_as_in_the_thesis: a_store_is_complete_in_the_write_cache,
        an_eviction_invalidates_the_read_caches;
    loads_are_as_in_the_thesis: a_load_of_more_bytes_writes_the_dirty_ones_out,
        a_host_and_the_gpu_read_what_is_released;
    releases_are_as_in_the_thesis: a_release_brings_all_writes_to_memory,
        a_store_release_brings_its_store_to_memory, a_release_keeps_the_lines_of_the_read_caches;
    atomics_are_as_in_the_thesis: an_atomic_is_performed_in_memory;
}

/// "[The S-FIFO] may contain more addresses that already have been evicted from the write cache."
#[test]
fn all_entries_of_an_s_fifo_count() {
    let mut cache = WriteCache::new(Shape { sets: 1, ways: 2, entries: 3, banks: 1 });
    cache.write(LINE, WORD, &bytes(1), Issuer::default());
    assert!(cache.take(LINE).is_some());
    cache.write(LINE, WORD, &bytes(2), Issuer::default());
    let marker = Marker { requester: FIRST_L1, slot: None };
    cache.mark(marker);
    assert!(cache.is_full(), "an old address, a line and a marker");
    assert_eq!(
        [cache.pop(), cache.pop(), cache.pop()],
        [Some(Entry::Line(LINE)), Some(Entry::Line(LINE)), Some(Entry::Marker(marker))]
    );
    assert_eq!((cache.cover(LINE, WORD), cache.cover(LINE, ByteMask::full(8))), (Cover::Whole, Cover::Part));
}

#[test]
fn the_victim_is_the_oldest_line_of_the_set() {
    let mut cache = WriteCache::new(Shape { sets: 2, ways: 2, entries: 9, banks: 1 });
    for line in [5, 2, 4, 2] {
        assert_eq!(cache.victim(LineAddr(line)), None);
        cache.write(LineAddr(line), ByteMask::range(0, 1), &bytes(1), Issuer::default());
    }
    assert_eq!(cache.victim(LineAddr(6)), Some(LineAddr(2)));
    assert_eq!(cache.victim(LineAddr(4)), None, "the line is there");
    assert_eq!(cache.victim(LineAddr(7)), None, "the other set has a free way");
    cache.take(LineAddr(2));
    cache.write(LineAddr(2), ByteMask::range(0, 1), &bytes(1), Issuer::default());
    // The first address of line 2 is still in the S-FIFO, and the line is back.
    assert_eq!(cache.victim(LineAddr(6)), Some(LineAddr(2)));
}

#[test]
fn the_sets_of_a_bank_share_the_lines_of_the_bank() {
    let mut cache = WriteCache::new(Shape { sets: 2, ways: 1, entries: 9, banks: 2 });
    cache.write(LineAddr(0), ByteMask::range(0, 1), &bytes(1), Issuer::default());
    assert_eq!(cache.victim(LineAddr(2)), None, "line 2 is the second line of the bank");
    assert_eq!(cache.victim(LineAddr(4)), Some(LineAddr(0)), "line 4 is the third line of the bank");
}

/// "The S-FIFO can be split into multiple FIFOs for each wavefront."
#[test]
fn a_marker_of_a_wavefront_passes_the_lines_of_others() {
    let mut cache = WriteCache::new(Shape { sets: 1, ways: 4, entries: 9, banks: 1 });
    let by = |wavefront| Issuer { wavefront, ..Issuer::default() };
    cache.write(LINE, WORD, &bytes(1), by(1));
    cache.write(OTHER, WORD, &bytes(1), by(2));
    let marker = Marker { requester: FIRST_L1, slot: Some(Slot(0)) };
    cache.mark_of(marker, by(2));
    assert_eq!(
        [cache.pop(), cache.pop(), cache.pop()],
        [Some(Entry::Line(OTHER)), Some(Entry::Marker(marker)), Some(Entry::Line(LINE))]
    );
}
