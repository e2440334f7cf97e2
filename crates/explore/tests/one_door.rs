//! Compute units that share a controller: a work-group that is resumed on the other one
//! stays with the same part.

use explore::verify::Test;
use explore::{Asked, Bounds, End, Explorer, Explores as _, Limits, Move, Placement};
use proto::issue::IssueRule;
use proto::parts::Host;
use proto::{
    Agent, Channels, Claim, Info, Kind, Levels, NodeId, Per, PlanKey, PlansView, Protocol, Settings, Sharing,
    TableView, WritePolicy, protocol_nodes,
};
use zoo::parts::{ToBank, ToL1};
use zoo::vi::{Bank, L1};

/// `vi` whose compute units all enter the first cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OneDoor;

protocol_nodes! { OneDoor: L1(L1, ToL1), Bank(Bank, ToBank), Host(Host) }

impl Protocol for OneDoor {
    type Node = Node;
    type Msg = Msg;
    type Params = ();
    const INFO: Info = Info {
        name: "one-door",
        summary: "vi with one cache for all compute units",
        source: "this test",
        claims: &[Claim { model: "drf", cores: IssueRule::GPUS, mapping: "as vi" }],
        channels: Channels::Fifo,
        sharing: Sharing::Scoped,
        equivalent: &[],
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
            0 => Node::L1(L1::new(levels.of(id.kind), &())),
            1 => Node::Bank(Bank::new(levels.of(id.kind), &())),
            _ => Node::Host(Host),
        }
    }

    fn entry((): &(), agent: Agent, _: PlanKey) -> NodeId {
        match agent {
            Agent::Cu(_) | Agent::CommandProcessor => NodeId { kind: 0, index: 0 },
            Agent::Host(index) => NodeId { kind: 2, index },
        }
    }

    fn tables() -> Vec<TableView> {
        Vec::new()
    }

    fn plans() -> Vec<PlansView> {
        Vec::new()
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
fn a_work_group_is_resumed_beside_the_compute_unit_that_it_left() {
    let test = Test::read("own", OWN).expect("a test");
    let program = &*test.program();
    let placement = Placement::spread(program);
    let bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining).preempting(1);
    let mut explorer = Explorer::<OneDoor>::new(bounds, None);
    let moves = [Move::Preempt { thread: 0 }, Move::Resume { thread: 0, cu: 1 }];
    let drawn = explorer.replay(program, &placement, &moves).expect("supported");
    assert_eq!(drawn.end, End::Goes);
    assert_eq!(drawn.steps[1].lanes, (0, 0), "both enter the first cache");
    assert_eq!(drawn.steps[1].notes, ["P0: acquire of its compute unit is done"]);
    let found = explorer.explore(program, &placement, &Asked::default(), &mut Limits::default());
    let found = found.expect("supported");
    assert_eq!((found.violation, found.outcomes), (None, [vec![1]].into()));
}
