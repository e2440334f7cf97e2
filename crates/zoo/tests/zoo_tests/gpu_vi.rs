//! The copies of lines that L1s have in `gpu-vi`. They outlive kernels. Writes, evictions
//! and the host invalidate them.

use drive::{Machine, MinimalDriver, Nodes};
use proto::{
    Agent, Boundary, ByteMask, Homes, KernelId, LineAddr, LineData, LineView, Node as _, NodeId, Op, Request,
    Scope, Topology, WritePolicy,
};
use zoo::gpu_vi::GpuVi;
use zoo::parts::{BANK, FIRST};

const LINE: LineAddr = LineAddr(1);

struct Driven(MinimalDriver<Machine<GpuVi>>);

impl Driven {
    fn new() -> Driven {
        let topology = Topology::bounded(WritePolicy::Through, WritePolicy::Combining);
        let nodes =
            Nodes::new(&topology, Homes::new(&topology, 1), None).expect("a bounded machine is sound");
        Driven(Machine::new(nodes).plain().expect("a machine without requests is quiet"))
    }

    fn ask(&mut self, cu: u16, op: Op, line: LineAddr) {
        let request = Request {
            op,
            order: proto::Order::Plain,
            scope: Scope::DEVICE,
            issuer: proto::Issuer::default(),
            hints: proto::Hints::default(),
            array: proto::ArrayId(0),
            line,
            mask: ByteMask::range(0, 4),
            data: LineData::default(),
        };
        self.0.ask(Agent::Cu(cu), &request).expect("no rule is violated");
    }

    /// A kernel ends, and the next one begins.
    fn next_kernel(&mut self, host_has_written: bool) {
        self.0.boundary(Boundary::END, KernelId(0), false).expect("no rule is violated");
        self.0.boundary(Boundary::BEGIN, KernelId(1), host_has_written).expect("no rule is violated");
        self.0.rest().expect("the machine comes to rest");
    }

    /// The state of `LINE` in a controller, or `None` if the line is absent.
    fn state(&self, kind: u8, index: u16) -> Option<&'static str> {
        let at = self.0.stage.nodes().position(NodeId { kind, index }).expect("a node of the machine");
        let mut views: Vec<LineView> = Vec::new();
        self.0.stage.station(at).node.lines(&mut views);
        views.iter().find(|view| view.line == LINE).map(|view| view.state)
    }

    fn copies(&self) -> [Option<&'static str>; 2] {
        [0, 1].map(|cu| self.state(FIRST, cu))
    }

    /// The state of `LINE` in its bank.
    fn at_l2(&self) -> Option<&'static str> {
        [0, 1].into_iter().find_map(|bank| self.state(BANK, bank))
    }
}

#[test]
fn copies_outlive_kernels_unless_the_host_writes() {
    let mut driven = Driven::new();
    driven.ask(0, Op::Load, LINE);
    driven.ask(1, Op::Load, LINE);
    driven.next_kernel(false);
    assert_eq!((driven.copies(), driven.at_l2()), ([Some("V"), Some("V")], Some("S")));
    driven.next_kernel(true);
    assert_eq!((driven.copies(), driven.at_l2()), ([None, None], None));
}

#[test]
fn a_write_invalidates_all_copies_and_a_load_brings_one_back() {
    let mut driven = Driven::new();
    driven.ask(0, Op::Load, LINE);
    driven.ask(1, Op::Load, LINE);
    driven.ask(0, Op::Store, LINE);
    assert_eq!((driven.copies(), driven.at_l2()), ([None, None], Some("V")));
    driven.ask(1, Op::Load, LINE);
    assert_eq!((driven.copies(), driven.at_l2()), ([None, Some("V")], Some("S")));
}

#[test]
fn a_line_that_leaves_the_l2_leaves_no_copy() {
    let mut driven = Driven::new();
    driven.ask(0, Op::Load, LINE);
    // Each bank of the bounded machine has one set, which these lines fill.
    for other in (3..9).step_by(2) {
        driven.ask(1, Op::Load, LineAddr(other));
    }
    assert_eq!((driven.copies(), driven.at_l2()), ([None, None], None));
}
