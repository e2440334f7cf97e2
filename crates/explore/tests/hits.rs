//! The verifier compares the hits of a controller with its steps.

mod toys;

use explore::verify::Test;
use explore::{Asked, Bounds, Explorer, Explores as _, Fault, Limits, Placement, Violation};
use proto::parts::Host;
use proto::{
    Agent, ByteMask, Controller, Cx, Disposition, Hit, Homes, Info, Input, Kind, Levels, LineAddr, Load,
    NodeId, Op, Per, PlanKey, Protocol, Settings, Sharing, TimerClass, WritePolicy, protocol_nodes,
};
use zoo::parts::{ToBank, ToL1};
use zoo::vi::{Bank, L1};

/// The cache of `vi` with two lies. Each line but [`TIMED`] is said to have whatever bytes
/// a load asks for. The step of a load of `TIMED` starts a timer, and the hit does not say so.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Liar(L1);

const TIMED: LineAddr = LineAddr(1);

impl<P: Protocol<Msg: From<ToBank>>> Controller<P> for Liar {
    type Msg = ToL1;

    fn step(&mut self, input: Input<'_, ToL1>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Timer(TimerClass::Epoch) => return Disposition::Done,
            Input::Request(ask) if ask.req.op == Op::Load && ask.req.line == TIMED => {
                cx.fx.timer(TimerClass::Epoch);
            }
            _ => {}
        }
        Controller::<P>::step(&mut self.0, input, cx)
    }
    fn hit(&self, load: &Load, homes: &Homes) -> Option<Hit<'_>> {
        let mask = if load.line == TIMED { load.mask } else { ByteMask::NONE };
        Controller::<P>::hit(&self.0, &Load { mask, ..*load }, homes)
    }
    proto::passes_on! { 0: victims, lines, is_quiet, canonicalize }
}

/// `vi` with that cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lies;

protocol_nodes! { Lies: L1(Liar, ToL1), Bank(Bank, ToBank), Host(Host) }

impl Protocol for Lies {
    type Node = Node;
    type Msg = Msg;
    type Params = ();
    const INFO: Info = Info {
        name: "lies",
        summary: "vi with a cache whose hits are not what its steps do",
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

/// What is held against a protocol that runs the program with both words in this line.
fn explored<P: Protocol>(line: u8) -> Option<Violation> {
    let test = Test::read("HALVES", HALVES).expect("it is a test");
    let program = &*test.program();
    let bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);
    let placement = Placement { lines: vec![line, line], ..Placement::spread(program) };
    let mut explorer = Explorer::<P>::new(bounds, None);
    let found = explorer.explore(program, &placement, &Asked::default(), &mut Limits::default());
    found.expect("it fits").violation
}

#[test]
fn a_hit_that_its_step_does_not_answer_is_reported() {
    let violation = explored::<Lies>(0).expect("the load of the other half must ask for it");
    assert_eq!(violation.fault, Fault::Impossible);
    assert!(violation.why.contains("its step does something else"), "{}", violation.why);
}

#[test]
fn a_hit_whose_step_starts_a_timer_that_does_not_run_is_reported() {
    let violation = explored::<Lies>(TIMED.0 as u8).expect("no hit starts a timer");
    assert_eq!(violation.fault, Fault::Impossible);
    assert!(violation.why.contains("its step starts a timer"), "{}", violation.why);
}

/// Where a line is dirty, the step of a hit asks for the drain timer, which runs already.
#[test]
fn the_hits_of_vi_are_what_its_steps_do() {
    for line in [0, TIMED.0 as u8] {
        assert_eq!(explored::<zoo::vi::Vi>(line), None);
    }
}
