//! Compute units that share a controller. If a work-group moves from one of these compute units to
//! another, it stays in the same part (the state of one node).

use crate::toys;
use explore::verify::Test;
use explore::{Bounds, End, Explorer, Limits, Move, Placement, Requirements, Subject};
use proto::parts::Host;
use proto::{Agent, Info, NodeId, PlanKey, Protocol, Sharing, WritePolicy, protocol_nodes};
use zoo::parts::{ToBank, ToL1};
use zoo::vi::{Bank, L1};

/// A variant of `vi` in which all compute units use the first cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OneDoor;

protocol_nodes! { OneDoor: L1(L1, ToL1), Bank(Bank, ToBank), Host(Host) }

impl Protocol for OneDoor {
    const INFO: Info = Info {
        name: "one-door",
        summary: "vi with one cache for all compute units",
        sharing: Sharing::Scoped,
        ..toys::INFO
    };
    toys::over_banks_of_vi! { |level| L1::new(level, &()) }

    fn entry((): &(), agent: Agent, _: PlanKey) -> NodeId {
        match agent {
            Agent::Cu(_) | Agent::CommandProcessor => NodeId { kind: 0, index: 0 },
            Agent::Host(index) => NodeId { kind: 2, index },
        }
    }
}

const OWN: &str = "OPENCL own-word
{ }

P0@wg 0, dev 0 (global int* x) {
  *x = 1;
  int r0 = *x;
}

P1@wg 1, dev 0 (global int* y) {
  int r0 = *y;
}

exists (0:r0=1)
";

#[test]
fn a_work_group_is_resumed_on_a_unit_with_the_same_entry() {
    let test = Test::read("own", OWN).expect("a test");
    let program = &*test.program();
    let placement = Placement::spread(program);
    let bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining).preempting(1);
    let mut explorer = Explorer::new(&Subject::of::<OneDoor>(), bounds, None);
    let moves = [Move::Preempt { thread: 0 }, Move::Resume { thread: 0, cu: 1 }];
    let drawn = explorer.replay(program, &placement, &moves).expect("supported");
    assert_eq!(drawn.end, End::Goes);
    assert_eq!(drawn.steps[1].lanes, (0, 0), "both enter the first cache");
    assert_eq!(drawn.steps[1].notes, ["P0: acquire of its compute unit is done"]);
    let found = explorer.explore(program, &placement, &Requirements::default(), &mut Limits::default());
    let found = found.expect("supported");
    assert_eq!((found.violation, found.outcomes), (None, [vec![1]].into()));
}
