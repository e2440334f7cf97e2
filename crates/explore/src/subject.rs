//! The subject of a verification: a protocol, represented by data and function pointers. So the
//! code of the verification is compiled once, not once for each protocol.

use proto::{
    ArrayUse, Homes, Hosts, Info, Kind, LineView, NodeId, Per, PlansView, Protocol, SeededFault, TableView,
    Topology,
};

use crate::machine::stations;
use crate::programs::test::TestSize;
use crate::stress::stations as stressed;

/// Creates the stations (controllers with their parked inputs) of a machine. The arguments are the
/// shape of the machine, the homes of its lines, the seeded fault if there is one, and the arrays
/// that each kernel of the program uses.
type Make = fn(
    &Topology,
    Homes,
    Option<SeededFault>,
    &[Vec<ArrayUse>],
) -> Result<Box<dyn stations::Stations>, String>;
/// Creates the stations (controllers with their parked inputs) of a machine for a stress test. The
/// arguments are the shape and the number of the machine, the homes of its lines, and the seeded
/// fault if there is one.
type MakeStressed =
    fn((&Topology, usize), Homes, Option<SeededFault>) -> Result<Box<dyn stressed::Stations>, String>;

/// Checks a rule about the lines of several controllers; see [`Protocol::disagreement`].
type Disagreement = fn(&[(NodeId, LineView)]) -> Option<String>;

/// The data and functions of a protocol that a verification needs.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// The description of the protocol.
    pub info: Info,
    /// The tables of the protocol, which give the reaction of each controller to each event in each
    /// state.
    pub tables: fn() -> Vec<TableView>,
    /// The plans of the protocol, which give the steps of each kind of operation.
    pub plans: fn() -> Vec<PlansView>,
    /// The check of the lines of all controllers together; see [`Protocol::disagreement`]. `None`
    /// if the protocol has no such check.
    pub disagreement: Option<Disagreement>,
    /// The kinds of controller of the protocol.
    pub(crate) kinds: &'static [Kind],
    /// Whether the controllers of the protocol read the clock, so that time passes in an
    /// exploration.
    pub(crate) is_clocked: bool,
    /// The largest gap that an exploration keeps between two successive logical times of the
    /// protocol; see [`Protocol::REBASED`].
    pub(crate) rebased: Option<u32>,
    /// The settings of the protocol whose values in an exploration differ from the defaults; see
    /// [`Protocol::EXPLORED`].
    pub(crate) settings: &'static [(&'static str, u64)],
    /// The settings that differ between the machines of the random tester; see
    /// [`Protocol::TESTED`].
    pub(crate) tested: &'static [(&'static str, &'static [u64])],
    /// The shipped tests that were written for the protocol; see [`Protocol::OWN_TESTS`].
    pub own_tests: &'static [&'static str],
    pub(crate) stations: Make,
    pub(crate) stressed: MakeStressed,
}

impl Subject {
    /// The subject for a verification of the protocol `P`.
    #[must_use]
    pub fn of<P: Protocol>() -> Subject {
        Subject {
            info: P::INFO,
            tables: P::tables,
            plans: P::plans,
            disagreement: P::AGREES.then_some(P::disagreement),
            kinds: P::KINDS,
            is_clocked: P::CLOCKED,
            rebased: P::REBASED,
            settings: P::EXPLORED,
            tested: P::TESTED,
            own_tests: P::OWN_TESTS,
            stations: stations::of::<P>,
            stressed: stressed::of::<P>,
        }
    }

    /// Whether a program has many more states with this protocol than with a protocol like `vi`. This
    /// is so if its controllers read clocks, count logical times or count epochs, or if its hosts have
    /// coherent caches. A verification of such a protocol explores fewer programs by default.
    #[must_use]
    pub fn has_many_states(&self) -> bool {
        let counts_times = self.is_clocked || self.rebased.is_some() || !self.settings.is_empty();
        counts_times || self.info.hosts == Hosts::Cached
    }

    /// The size of the tests that a verification of this protocol explores by default. If one
    /// controller serves the whole machine, its messages to all other controllers come in between all
    /// steps of a program, so a program has many more states. With coherent caches of hosts, single
    /// long programs need more memory than all others.
    #[must_use]
    pub fn test_size(&self) -> TestSize {
        let has_central_controller =
            self.kinds.iter().any(|kind| kind.per == Per::Machine && !kind.has_lines);
        if has_central_controller {
            TestSize::Small
        } else if self.info.hosts == Hosts::Cached {
            TestSize::Short
        } else {
            TestSize::All
        }
    }
}
