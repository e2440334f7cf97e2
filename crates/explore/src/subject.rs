//! A protocol, whichever it is: so that all that verifies is compiled once.

use proto::{ArrayUse, Homes, Info, Kind, Mutation, PlansView, Protocol, TableView, Topology};

use crate::machine::stations;
use crate::stress::stations as stressed;

/// Makes the stations of a machine whose lines live there. The arrays are those of
/// the program's kernels.
type Make =
    fn(&Topology, Homes, Option<Mutation>, &[Vec<ArrayUse>]) -> Result<Box<dyn stations::Stations>, String>;
/// Makes stations that are put under stress.
type MakeStressed = fn(&Topology, Homes, Option<Mutation>) -> Result<Box<dyn stressed::Stations>, String>;

/// What verification needs of a protocol.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// What it says of itself.
    pub info: Info,
    /// Its tables.
    pub tables: fn() -> Vec<TableView>,
    /// Its plans.
    pub plans: fn() -> Vec<PlansView>,
    /// Its kinds of controller.
    pub(crate) kinds: &'static [Kind],
    /// Does it look at the clock?
    pub(crate) is_clocked: bool,
    /// How its logical times are rebased; see [`Protocol::REBASED`].
    pub(crate) rebased: Option<u32>,
    pub(crate) stations: Make,
    pub(crate) stressed: MakeStressed,
}

impl Subject {
    /// A protocol.
    #[must_use]
    pub fn of<P: Protocol>() -> Subject {
        Subject {
            info: P::INFO,
            tables: P::tables,
            plans: P::plans,
            kinds: P::KINDS,
            is_clocked: P::CLOCKED,
            rebased: P::REBASED,
            stations: stations::of::<P>,
            stressed: stressed::of::<P>,
        }
    }

    /// The protocol of that name, if there is one.
    #[must_use]
    pub fn named(name: &str) -> Option<Subject> {
        struct Of;
        impl zoo::Visit for Of {
            type Output = Subject;
            fn visit<P: Protocol>(self) -> Subject {
                Subject::of::<P>()
            }
        }
        zoo::with(name, Of)
    }
}
