//! The verifier compares the hits of a controller with its steps.

mod toys;

use explore::verify::Test;
use explore::{Asked, Bounds, Explorer, Explores as _, Fault, Limits, Placement};
use proto::parts::Host;
use proto::{
    Agent, ByteMask, Controller, Cx, Disposition, Hit, Homes, Info, Input, Kind, Levels, Load, NodeId, Per,
    PlanKey, Protocol, Settings, Sharing, WritePolicy, protocol_nodes,
};
use zoo::parts::{ToBank, ToL1};
use zoo::vi::{Bank, L1};

/// The cache of `vi`. Whatever bytes a load asks for, each line that is there is said to
/// have them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Liar(L1);

impl<P: Protocol<Msg: From<ToBank>>> Controller<P> for Liar {
    type Msg = ToL1;

    fn step(&mut self, input: Input<'_, ToL1>, cx: &mut Cx<'_, P>) -> Disposition {
        Controller::<P>::step(&mut self.0, input, cx)
    }
    fn hit(&self, load: &Load, homes: &Homes) -> Option<Hit<'_>> {
        Controller::<P>::hit(&self.0, &Load { mask: ByteMask::NONE, ..*load }, homes)
    }
    proto::passes_on! { 0: victims, lines, is_quiet, canonicalize }
}

/// `vi` with the cache that lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lies;

protocol_nodes! { Lies: L1(Liar, ToL1), Bank(Bank, ToBank), Host(Host) }

impl Protocol for Lies {
    type Node = Node;
    type Msg = Msg;
    type Params = ();
    const INFO: Info = Info {
        name: "lies",
        summary: "vi, and every line that is there is said to answer every load",
        sharing: Sharing::Scoped,
        ..toys::INFO
    };
    const KINDS: &'static [Kind] = &[
        Kind::cache("L1", "l1", Per::Cu).over("l2"),
        Kind::cache("L2", "l2", Per::Chiplet),
        Kind::port("Host", "host", Per::Host),
    ];

    fn params(_: &Levels, _: &Settings) -> Result<(), String> {
        Ok(())
    }

    fn node(id: NodeId, levels: &Levels, (): &()) -> Node {
        match id.kind {
            0 => Node::L1(Liar(L1::new(levels.of(id.kind), &()))),
            1 => Node::Bank(Bank::new(levels.of(id.kind), &())),
            _ => Node::Host(Host),
        }
    }

    fn entry((): &(), agent: Agent, _: PlanKey) -> NodeId {
        agent.enters(0, 2)
    }

    toys::no_tables! {}
}

/// A store makes a line of which half is there; the load asks for the other half.
const HALVES: &str = "OPENCL HALVES
{ }

P0@wg 0, dev 0 (global int* x, global int* y) {
  *x = 1;
  int r0 = *y;
  int r1 = *y;
}

exists (0:r0=0 /\\ 0:r1=0 /\\ x=1)
";

#[test]
fn a_hit_that_its_step_does_not_answer_is_reported() {
    let test = Test::read("HALVES", HALVES).expect("it is a test");
    let program = &*test.program();
    let bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);
    // Both words in one line.
    let placement = Placement { lines: vec![0, 0], ..Placement::spread(program) };
    let mut lies = Explorer::<Lies>::new(bounds, None);
    let found =
        lies.explore(program, &placement, &Asked::default(), &mut Limits::default()).expect("it fits");
    let violation = found.violation.expect("the load of the other half must ask for it");
    assert_eq!(violation.fault, Fault::Impossible);
    assert!(violation.why.contains("is answered as a hit"), "{}", violation.why);
    let mut vi = Explorer::<zoo::vi::Vi>::new(bounds, None);
    let found = vi.explore(program, &placement, &Asked::default(), &mut Limits::default()).expect("it fits");
    assert_eq!(found.violation, None);
}
