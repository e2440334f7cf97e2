//! The states of a line in the caches and in the directory of `moesi`, and its rule about several
//! caches.

use drive::{Machine, MinimalDriver, Nodes};
use proto::{
    Agent, Boundary, ByteMask, Homes, KernelId, LineAddr, LineData, LineView, Node as _, NodeId, Op,
    Protocol, Request, Scope, Topology, WritePolicy,
};
use zoo::moesi::{DIRECTORY, HOST, L1, Moesi};

const LINE: LineAddr = LineAddr(1);

struct Driven(MinimalDriver<Machine<Moesi>>);

impl Driven {
    fn new() -> Driven {
        let topology = Topology::bounded(WritePolicy::Through, WritePolicy::Combining);
        let nodes =
            Nodes::new(&topology, Homes::new(&topology, 1), None).expect("a bounded machine is sound");
        Driven(Machine::new(nodes).plain().expect("a machine without requests is quiet"))
    }

    /// Makes an access to the first word of a line, and returns the loaded value.
    fn ask(&mut self, agent: Agent, op: Op, line: LineAddr, value: u8) -> Option<u8> {
        let request = Request {
            op,
            order: proto::Order::Plain,
            scope: Scope::DEVICE,
            issuer: proto::Issuer::default(),
            hints: proto::Hints::default(),
            array: proto::ArrayId(0),
            line,
            mask: ByteMask::range(0, 4),
            data: LineData([value; proto::LINE_BYTES_MAX]),
        };
        let found = self.0.ask(agent, &request).expect("no rule is violated");
        found.map(|data| data.0[0])
    }

    fn load(&mut self, agent: Agent) -> Option<u8> {
        self.ask(agent, Op::Load, LINE, 0)
    }

    fn store(&mut self, agent: Agent, value: u8) {
        assert_eq!(self.ask(agent, Op::Store, LINE, value), None);
    }

    /// The lines of all controllers.
    fn lines(&self) -> Vec<(NodeId, LineView)> {
        let kinds = [(L1, 2), (DIRECTORY, 2), (HOST, 1)];
        let nodes = kinds.into_iter().flat_map(|(kind, n)| (0..n).map(move |index| NodeId { kind, index }));
        let of = |node: NodeId| {
            let at = self.0.stage.nodes().position(node).expect("a node of the machine");
            let mut views: Vec<LineView> = Vec::new();
            self.0.stage.station(at).node.lines(&mut views);
            views.into_iter().map(move |view| (node, view))
        };
        nodes.flat_map(of).collect()
    }

    /// The states of `LINE` in the two L1s, in the host's cache and in the directory.
    fn states(&self) -> [&'static str; 4] {
        let lines = self.lines();
        assert_eq!(Moesi::disagreement(&lines), None);
        let state = |kind: u8, index: Option<u16>| {
            let is_here = |node: &NodeId| node.kind == kind && index.is_none_or(|index| index == node.index);
            let found = lines.iter().find(|(node, view)| is_here(node) && view.line == LINE);
            found.map_or("I", |(_, view)| view.state)
        };
        [state(L1, Some(0)), state(L1, Some(1)), state(HOST, None), state(DIRECTORY, None)]
    }
}

const CUS: [Agent; 2] = [Agent::Cu(0), Agent::Cu(1)];

#[test]
fn a_line_is_exclusive_then_modified_then_owned_and_shared() {
    let mut driven = Driven::new();
    assert_eq!(driven.load(CUS[0]), Some(0));
    assert_eq!(driven.states(), ["E", "I", "I", "X"]);
    driven.store(CUS[0], 7);
    assert_eq!(driven.states(), ["M", "I", "I", "X"]);
    assert_eq!(driven.load(CUS[1]), Some(7));
    assert_eq!(driven.states(), ["O", "S", "I", "O"]);
    // The bytes of memory are old, and stay so.
    assert_eq!(driven.0.stage.line(LINE).0[0], 0);
    driven.store(CUS[1], 8);
    assert_eq!(driven.states(), ["I", "M", "I", "X"]);
    assert_eq!(driven.load(CUS[0]), Some(8));
}

#[test]
fn a_clean_line_that_a_second_cache_reads_has_no_owner() {
    let mut driven = Driven::new();
    driven.load(CUS[0]);
    driven.load(CUS[1]);
    assert_eq!(driven.states(), ["S", "S", "I", "S"]);
    driven.store(CUS[0], 3);
    assert_eq!(driven.states(), ["M", "I", "I", "X"]);
}

#[test]
fn the_cache_of_a_host_takes_part_and_kernels_change_nothing() {
    let mut driven = Driven::new();
    driven.store(CUS[0], 5);
    for step in [Boundary::END, Boundary::BEGIN] {
        driven.0.boundary(step, KernelId(0), true).expect("no rule is violated");
    }
    driven.0.rest().expect("the machine comes to rest");
    assert_eq!(driven.states(), ["M", "I", "I", "X"]);
    assert_eq!(driven.load(Agent::Host(0)), Some(5));
    assert_eq!(driven.states(), ["O", "I", "S", "O"]);
    driven.store(Agent::Host(0), 6);
    assert_eq!(driven.states(), ["I", "I", "M", "X"]);
    assert_eq!(driven.load(CUS[1]), Some(6));
}

#[test]
fn an_entry_that_leaves_the_directory_takes_all_copies_and_no_bytes_are_lost() {
    let mut driven = Driven::new();
    driven.store(CUS[0], 9);
    // Each bank of the bounded machine has one set of two ways, which these lines fill.
    for other in (3..9).step_by(2) {
        driven.ask(CUS[1], Op::Load, LineAddr(other), 0);
    }
    assert_eq!(driven.states(), ["I", "I", "I", "I"]);
    assert_eq!(driven.0.stage.line(LINE).0[0], 9);
    assert_eq!(driven.load(CUS[1]), Some(9));
}

#[test]
fn an_owner_that_evicts_its_line_leaves_the_sharers() {
    let mut driven = Driven::new();
    driven.store(CUS[0], 4);
    driven.load(CUS[1]);
    // The lines of the other bank take both ways of the first cache.
    for other in [2, 4] {
        driven.ask(CUS[0], Op::Load, LineAddr(other), 0);
    }
    assert_eq!(driven.states(), ["I", "S", "I", "S"]);
    assert_eq!(driven.0.stage.line(LINE).0[0], 4);
}

#[test]
fn two_caches_that_exclude_one_another_disagree() {
    let view = |state, owns, byte| LineView {
        line: LINE,
        state,
        owns,
        valid: ByteMask::full(8),
        dirty: ByteMask::NONE,
        data: LineData([byte; proto::LINE_BYTES_MAX]),
    };
    let entry = LineView { valid: ByteMask::NONE, ..view("O", false, 0) };
    let node = |kind, index| NodeId { kind, index };
    let of = |one: LineView, two: LineView| {
        let lines = [(node(L1, 0), one), (node(DIRECTORY, 0), entry), (node(HOST, 0), two)];
        Moesi::disagreement(&lines)
    };
    let (shared, owned, modified) = (view("S", false, 1), view("O", true, 1), view("M", true, 1));
    assert_eq!(of(shared, owned), None);
    assert_eq!(of(shared, LineView { valid: ByteMask::NONE, ..view("IM", false, 2) }), None);
    let two = of(owned, view("OU", true, 1));
    assert_eq!(two.as_deref(), Some("line 1 is in O in a cache and in OU in another one"));
    let sole = of(shared, modified);
    assert_eq!(sole.as_deref(), Some("line 1 is in S in a cache and in M in another one"));
    assert_eq!(of(modified, shared).as_deref(), Some("line 1 is in M in a cache and in S in another one"));
    let bytes = of(shared, view("O", true, 2));
    assert_eq!(bytes.as_deref(), Some("two copies of line 1 have different bytes"));
    let alone = Moesi::disagreement(&[(node(L1, 0), shared)]);
    assert_eq!(alone.as_deref(), Some("line 1 is in S in a cache, and the directory has no entry for it"));
}
