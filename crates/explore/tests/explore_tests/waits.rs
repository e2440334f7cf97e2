//! An input that must wait leaves the state of its controller unchanged.

use crate::toys;
use explore::verify::Test;
use explore::{Bounds, Explorer, Fault, Limits, Placement, Requirements, Subject};
use proto::parts::Host;
use proto::{
    Agent, Controller, Cx, Disposition, Info, Input, NodeId, PlanKey, Protocol, Sharing, WritePolicy,
    protocol_nodes,
};
use zoo::parts::{ToBank, ToL1};
use zoo::vi::{Bank, L1};

/// The cache of `vi`, with a record of requests that had to wait.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Remembers(L1, bool);

impl<P: Protocol<Msg: From<ToBank>>> Controller<P> for Remembers {
    type Msg = ToL1;

    fn step(&mut self, input: Input<'_, ToL1>, cx: &mut Cx<'_, P>) -> Disposition {
        let is_request = matches!(input, Input::Request(_));
        let done = Controller::<P>::step(&mut self.0, input, cx);
        self.1 |= is_request && matches!(done, Disposition::Stall(_));
        done
    }
    proto::delegate! { 0: victims, occupied, lines, is_quiet, canonicalize }
}

/// `vi` with the cache that records waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Memory;

protocol_nodes! { Memory: L1(Remembers, ToL1), Bank(Bank, ToBank), Host(Host) }

impl Protocol for Memory {
    const INFO: Info = Info {
        name: "remembers",
        summary: "vi, and a request that waits changes its cache",
        sharing: Sharing::Scoped,
        ..toys::INFO
    };
    toys::over_banks_of_vi! { |level| Remembers(L1::new(level, &()), false) }

    fn entry((): &(), agent: Agent, _: PlanKey) -> NodeId {
        agent.enters(0, 2)
    }
}

/// A program in which two threads of one compute unit miss, on a machine with one miss register.
const BOTH: &str = "OPENCL both
{ }

P0@wg 0, dev 0 (global int* x) {
  int r0 = *x;
}

P1@wg 0, dev 0 (global int* y) {
  int r0 = *y;
}

exists (0:r0=0)
";

#[test]
fn a_parked_input_that_changes_its_controller_is_reported() {
    let test = Test::read("both", BOTH).expect("it is a test");
    let program = &*test.program();
    let bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining).tight();
    let placement = Placement::spread(program);
    let mut explorer = Explorer::new(&Subject::of::<Memory>(), bounds, None);
    let found = explorer.explore(program, &placement, &Requirements::default(), &mut Limits::default());
    let violation = found.expect("it fits").violation.expect("the second load waits for the register");
    assert_eq!(violation.fault, Fault::Impossible);
    assert!(
        violation.why.contains("a step parks its input, but also changes the state of the controller"),
        "{}",
        violation.why
    );
    let mut vi = Explorer::new(&Subject::of::<zoo::vi::Vi>(), bounds, None);
    let found = vi.explore(program, &placement, &Requirements::default(), &mut Limits::default());
    assert_eq!(found.expect("it fits").violation, None);
}
