//! The subject of a verification: a protocol behind function pointers. So the verification is
//! compiled once, not once for each protocol.

use proto::{ArrayUse, Homes, Info, Kind, Mutation, PlansView, Protocol, TableView, Topology};

use crate::machine::stations;
use crate::stress::stations as stressed;

/// Creates the stations of a machine with these homes of lines. The last argument gives the arrays
/// that each kernel of the program uses.
type Make =
    fn(&Topology, Homes, Option<Mutation>, &[Vec<ArrayUse>]) -> Result<Box<dyn stations::Stations>, String>;
/// Creates the stations of a machine for a stress test.
type MakeStressed = fn(&Topology, Homes, Option<Mutation>) -> Result<Box<dyn stressed::Stations>, String>;

/// The parts of a protocol that verification needs.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// The description of the protocol.
    pub info: Info,
    /// The tables of the protocol.
    pub tables: fn() -> Vec<TableView>,
    /// The plans of the protocol.
    pub plans: fn() -> Vec<PlansView>,
    /// The kinds of controller of the protocol.
    pub(crate) kinds: &'static [Kind],
    /// Whether the protocol reads the clock.
    pub(crate) is_clocked: bool,
    /// The largest gap between the protocol's logical times; see [`Protocol::REBASED`].
    pub(crate) rebased: Option<u32>,
    /// The settings that explorations change; see [`Protocol::EXPLORED`].
    pub(crate) settings: &'static [(&'static str, u64)],
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
            kinds: P::KINDS,
            is_clocked: P::CLOCKED,
            rebased: P::REBASED,
            settings: P::EXPLORED,
            stations: stations::of::<P>,
            stressed: stressed::of::<P>,
        }
    }

    /// The subject of the protocol with this name, or `None` if no protocol has the name.
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
