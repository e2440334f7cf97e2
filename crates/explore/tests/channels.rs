//! Messages overtake one another if the channels of a protocol are unordered.

mod toys;

use std::collections::BTreeSet;

use explore::verify::Test;
use explore::{Bounds, Explorer, Limits, Placement, Requirements, Subject};
use proto::parts::Host;
use proto::{Agent, Channels, Info, NodeId, PlanKey, Protocol, Sharing, WritePolicy, protocol_nodes};
use zoo::parts::{ToBank, ToL1};
use zoo::vi::{Bank, L1};

/// `vi` with unordered channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Loose;

protocol_nodes! { Loose: L1(L1, ToL1), Bank(Bank, ToBank), Host(Host) }

impl Protocol for Loose {
    const INFO: Info = Info {
        name: "loose",
        summary: "vi over channels that keep no order",
        channels: Channels::Unordered,
        sharing: Sharing::Scoped,
        ..toys::INFO
    };
    toys::over_banks_of_vi! { |level| L1::new(level, &()) }

    fn entry((): &(), agent: Agent, _: PlanKey) -> NodeId {
        agent.enters(0, 2)
    }
}

/// A program in which one thread makes two stores, each of which is written through.
const TWICE: &str = "OPENCL twice
{ }

P0@wg 0, dev 0 (global int* x) {
  *x = 1;
  *x = 2;
}

exists (x=1)
";

#[test]
fn an_older_store_may_arrive_last_on_unordered_channels() {
    let test = Test::read("twice", TWICE).expect("it is a test");
    let program = &*test.program();
    let placement = Placement::spread(program);
    let bounds = Bounds::new(WritePolicy::Through, WritePolicy::Combining);
    let mut vi = Explorer::new(&Subject::of::<zoo::vi::Vi>(), bounds, None);
    let found =
        vi.explore(program, &placement, &Requirements::default(), &mut Limits::default()).expect("it fits");
    assert_eq!((found.violation, found.outcomes), (None, BTreeSet::from([vec![2]])));
    let mut loose = Explorer::new(&Subject::of::<Loose>(), bounds, None);
    let found = loose
        .explore(program, &placement, &Requirements::default(), &mut Limits::default())
        .expect("it fits");
    assert_eq!((found.violation, found.outcomes), (None, BTreeSet::from([vec![1], vec![2]])));
}
