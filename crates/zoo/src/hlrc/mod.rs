//! `hlrc`: lazy release consistency for GPUs.
//!
//! Atomics, and only they, are registered: one L1 at a time performs them, and
//! the L2 knows which. As long as registration stays, neither an acquire nor a
//! release costs anything. When it moves, the L1 that loses it flushes, and the
//! one that gains it invalidates. Data is kept as in [`crate::vi`].
//!
//! Source: hLRC paper (MICRO 2016), sections II.E, III and V.B to V.C, Table 3
//! (rows c0 to c23). What it leaves open is stated on the protocol's page.

mod bank_table;
mod l1;
mod l1_table;
mod plans;
mod repaired_table;

pub use bank_table::BankTable;
pub use l1::L1;
pub use l1_table::{L1Table, LineAction, LineEvent, LineState};
pub use plans::{L1Plans, Step};
pub use repaired_table::RepairedTable;

use proto::Claim;

/// No operation of a program needs a scope, and none makes it wrong.
pub const CLAIMS: &[Claim] = &[Claim {
    model: "drf",
    mapping: "each operation as a request of the same order, at work-group or device scope as one likes: \
              scopes are hints; sequential consistency for programs without data races",
}];

macro_rules! variant {
    ($(#[doc = $doc:literal])+ $module:ident, $protocol:ident, $table:ty, $name:literal, $summary:literal, $source:literal, $retains:literal) => {
        $(#[doc = $doc])+
        pub mod $module {
            use super::{BankTable, CLAIMS, L1, L1Plans};
            use crate::registration::{Bank, Params, ToBank, ToL1};
            use crate::vi;
            use proto::parts::Host;
            use proto::{
                Agent, Channels, Info, Kind, NodeId, PlansView, Protocol, Role, Shape, TableView,
                protocol_nodes,
            };

            $(#[doc = $doc])+
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub struct $protocol;

            protocol_nodes! {
                $protocol: L1(L1<$table>, ToL1), Bank(Bank<BankTable>, ToBank), Host(Host)
            }

            impl Protocol for $protocol {
                type Node = Node;
                type Msg = Msg;
                type Params = Params;

                const INFO: Info = Info {
                    name: $name,
                    summary: $summary,
                    source: $source,
                    claims: CLAIMS,
                    channels: Channels::Fifo,
                };
                const KINDS: &'static [Kind] = &[
                    Kind { name: "L1", role: Role::L1 },
                    Kind { name: "L2", role: Role::L2 },
                    Kind { name: "Host", role: Role::Host },
                ];

                fn params(shape: &Shape) -> Result<Params, String> {
                    shape.check().map(|()| Params { shape: *shape, retains: $retains })
                }

                fn count(kind: u8, shape: &Shape) -> u16 {
                    vi::count(kind, shape)
                }

                fn node(id: NodeId, params: &Params) -> Node {
                    match id.kind {
                        vi::FIRST => Node::L1(L1::new(params)),
                        vi::BANK => Node::Bank(Bank::new(params)),
                        _ => Node::Host(Host),
                    }
                }

                fn entry(agent: Agent) -> NodeId {
                    vi::entry(agent)
                }

                fn tables() -> Vec<TableView> {
                    vec![TableView::of::<$table>(), TableView::of::<BankTable>()]
                }

                fn plans() -> Vec<PlansView> {
                    vec![PlansView::of::<L1Plans>()]
                }
            }
        }
    };
}

variant! {
    /// hLRC as published.
    published, Hlrc, super::L1Table, "hlrc",
    "lazy release consistency: atomics are registered, flushes and invalidations happen when registration moves",
    "hLRC paper (MICRO 2016), section III, Table 3 (c0-c23), section V.C",
    true
}
variant! {
    /// hLRC with plain LRU replacement.
    noprio, HlrcNoprio, super::L1Table, "hlrc-noprio",
    "hlrc with plain LRU replacement: registered lines are given up like others",
    "hLRC paper (MICRO 2016), section V.B",
    false
}
variant! {
    /// hLRC with registration as a permission only.
    repaired, HlrcRepaired, super::RepairedTable, "hlrc-repaired",
    "hlrc with registration as a permission only: words may be atomics and data",
    "hLRC paper (MICRO 2016), section III; the rows that differ are ours",
    true
}

pub use noprio::HlrcNoprio;
pub use published::Hlrc;
pub use repaired::HlrcRepaired;
