//! A protocol, whichever it is: so that all that verifies is compiled once.

use proto::{Info, Mutation, PlansView, Protocol, TableView};

use crate::machine::bounds::Bounds;
use crate::search::{Explorer, Explores};

/// What verification needs of a protocol.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// What it says of itself.
    pub info: Info,
    /// Its tables.
    pub tables: fn() -> Vec<TableView>,
    /// Its plans.
    pub plans: fn() -> Vec<PlansView>,
    explorer: fn(Bounds, Option<Mutation>) -> Box<dyn Explores>,
}

impl Subject {
    /// A protocol.
    #[must_use]
    pub fn of<P: Protocol>() -> Subject {
        Subject {
            info: P::INFO,
            tables: P::tables,
            plans: P::plans,
            explorer: |bounds, mutation| Box::new(Explorer::<P>::new(bounds, mutation)),
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

    /// A machine within these bounds, with a seeded fault if one is given.
    #[must_use]
    pub fn explorer(&self, bounds: Bounds, mutation: Option<Mutation>) -> Box<dyn Explores> {
        (self.explorer)(bounds, mutation)
    }
}
