//! `wt` and `apu-no-l1`: a GPU that writes through, and hosts with coherent caches.
//!
//! The GPU has the caches of [`crate::vi`], and writes through them to memory. A release waits until
//! memory has all earlier writes, and an acquire invalidates the L1. A stateless directory
//! ([`crate::apu`]) is between the L2, the hosts and memory. It asks the hosts about each access of the
//! GPU, and invalidates the line in the L2 before a host writes it. A host has a write-back cache, that
//! of [`crate::moesi`].
//!
//! In `apu-no-l1`, a compute unit has no L1.
//!
//! Source: Hechtman, PhD thesis (Duke University, 2014), sections 4.2.2 and 4.2.3, Table 4.1. Decisions:
//!
//! * *Atomics that write are performed at the directory*, one point for the GPU and the hosts.
//! * *A write of a host waits until the L2 has invalidated the line*.
//! * *All scopes have the same effect*: a release at any scope waits for memory.
//!
//! The protocol's page has all decisions.

mod l1;
mod plans;

pub use l1::L1;
pub use plans::{L1Plans, PortPlans};

use crate::apu::{
    Directory, DirectoryTable, HOST_EQUIVALENT, HostTable, L2, L2_EQUIVALENT, Stateless, ToDirectory, ToL2,
};
use crate::moesi::{self, Cache, CachePlans, ToCache};
use crate::no_l1::Port;
use crate::parts::{OPENCL, PTX, ToBank, ToL1};
use crate::vi::{BANK_EQUIVALENT, BankTable, L1_EQUIVALENT, L1Table};
use proto::issue::IssueRule;
use proto::{
    Agent, Channels, Claim, Cx, Hosts, Info, Kind, Levels, LineAddr, NodeId, Per, PlanKey, PlansView,
    Protocol, Settings, Sharing, TableView,
};

/// The index of the L1s, or of the ports, in the [`Protocol::KINDS`] of a protocol.
pub const FIRST: u8 = 0;
/// The index of the banks of the L2 in the [`Protocol::KINDS`] of a protocol.
pub const BANK: u8 = 1;
/// The index of the banks of the directory in the [`Protocol::KINDS`] of a protocol.
pub const DIRECTORY: u8 = 2;
/// The index of the caches of hosts in the [`Protocol::KINDS`] of a protocol.
pub const HOST: u8 = 3;

/// The parameters of a protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Params {
    /// Whether the directory drops the bytes that a host writes out while memory is being read. True
    /// for a test protocol only.
    lacks_hold: bool,
}

/// The claims (the promised memory models) of the protocols.
const CLAIMS: &[Claim] = &[
    Claim {
        model: "hrf-indirect",
        cores: IssueRule::GPUS,
        widening: true,
        mapping: "each operation becomes a request with its memory order, at any scope, because all scopes \
                  have the same effect; programs without heterogeneous races are sequentially consistent, \
                  and also on hosts",
    },
    OPENCL,
    PTX,
];

/// The tests of hosts that ask to write, and of a bank that keeps some bytes while it fetches others.
const TESTS: &[&str] = &[
    "caches/device-reads-beside-upgrade.litmus",
    "caches/host-reads-beside-upgrade.litmus",
    "caches/host-stores-beside-upgrade.litmus",
    "caches/host-wrote-kept-word-of-dirty-line.litmus",
];

/// Generates `wt`, `apu-no-l1`, or a test protocol that lacks one property.
macro_rules! apu {
    (
        $(#[doc = $doc:literal])+
        $module:ident::$protocol:ident,
        $kind:ident $first:ident($controller:ty) = $new:expr,
        lacks_hold: $lacks_hold:literal, name: $name:literal, summary: $summary:literal,
        equivalent: $equivalent:expr, tables: [$($table:ty),*], plans: $plans:ty
    ) => {
        $(#[doc = $doc])+
        pub mod $module {
            use super::*;

            $(#[doc = $doc])+
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub struct $protocol;

            proto::protocol_nodes! {
                $protocol: $first($controller, ToL1), L2(L2, ToL2), Directory(Directory, ToDirectory),
                    Host(Cache<HostTable>, ToCache);
                ToL1 => $first | L2,
                ToBank => L2 | Directory,
                ToL2 => L2,
                ToDirectory => Directory,
                moesi::ToDirectory => Directory,
                ToCache => Host,
            }

            impl Protocol for $protocol {
                type Node = Node;
                type Msg = Msg;
                type Params = Params;

                const INFO: Info = Info {
                    name: $name,
                    summary: $summary,
                    source: "Hechtman, PhD thesis (Duke University, 2014), sections 4.2.2 and 4.2.3, Table 4.1",
                    claims: CLAIMS,
                    channels: Channels::Fifo,
                    sharing: Sharing::Unscoped,
                    hosts: Hosts::Cached,
                    equivalent: $equivalent,
                };
                const KINDS: &'static [Kind] = &[
                    Kind::$kind(stringify!($first), "l1", Per::Cu).over("l2"),
                    Kind::cache("L2", "l2", Per::Chiplet).over("directory"),
                    Kind::cache("Directory", "directory", Per::Chiplet).like("l2"),
                    Kind::cache("Host", "host", Per::Host).over("directory").like("l1"),
                ];

                const OWN_TESTS: &'static [&'static str] = TESTS;

                fn params(_: &Levels, _: &Settings) -> Result<Params, String> {
                    Ok(Params { lacks_hold: $lacks_hold })
                }

                fn node(id: NodeId, levels: &Levels, _: &Params) -> Node {
                    let level = levels.of(id.kind);
                    match id.kind {
                        FIRST => Node::$first($new(level)),
                        BANK => Node::L2(L2::new(level)),
                        DIRECTORY => Node::Directory(Directory::new(level)),
                        _ => Node::Host(Cache::new(level)),
                    }
                }

                #[inline]
                fn entry(_: &Params, agent: Agent, _: PlanKey) -> NodeId {
                    agent.enters(FIRST, HOST)
                }

                fn tables() -> Vec<TableView> {
                    vec![
                        $(TableView::of::<$table>(),)*
                        TableView::of::<BankTable>(),
                        TableView::of::<DirectoryTable>(),
                        TableView::of::<HostTable>(),
                    ]
                }

                fn plans() -> Vec<PlansView> {
                    vec![PlansView::of::<$plans>(), PlansView::of::<CachePlans>()]
                }
            }

            impl Stateless for $protocol {
                const HOST: u8 = HOST;
                const WAITS_FOR_GPU: bool = true;

                fn invalidate(line: LineAddr, cx: &mut Cx<'_, Self>) -> NodeId {
                    let l2 = cx.world.levels.server(BANK, cx.me, line, cx.world.homes);
                    cx.fx.send(l2, ToL2::Invalidate { line });
                    l2
                }

                fn lacks_hold(params: &Params) -> bool {
                    params.lacks_hold
                }
            }
        }
    };
}

apu! {
    /// A GPU that writes through to memory, and hosts with coherent caches.
    protocol::Wt,
    cache L1(L1) = L1::new,
    lacks_hold: false, name: "wt",
    summary: "write-through GPU caches and coherent caches of hosts: releases wait for memory, and acquires invalidate the L1",
    equivalent: &[
        BANK_EQUIVALENT, L2_EQUIVALENT, HOST_EQUIVALENT, L1_EQUIVALENT, include_str!("equivalent.txt")
    ],
    tables: [L1Table], plans: L1Plans
}
pub use protocol::Wt;

apu! {
    /// A GPU without L1s over a write-through L2, and hosts with coherent caches.
    without_l1::ApuNoL1,
    port Port(Port<PortPlans>) = |level| Port::new(level, &()),
    lacks_hold: false, name: "apu-no-l1",
    summary: "wt without L1s: every access of the GPU is performed at the L2 or below",
    equivalent: &[BANK_EQUIVALENT, L2_EQUIVALENT, HOST_EQUIVALENT, include_str!("equivalent-no-l1.txt")],
    tables: [], plans: PortPlans
}
pub use without_l1::ApuNoL1;

/// Protocols that lack one property, for the tests of this property. They are not in the list of
/// protocols.
pub mod lacking {
    use super::*;

    apu! {
        /// The protocol `wt`, but the directory drops the bytes that a host writes out while memory is
        /// being read.
        hold::Hold,
        cache L1(L1) = L1::new,
        lacks_hold: true, name: "wt-lacks-hold",
        summary: "wt with a directory that does not hold the bytes that a host writes out",
        equivalent: &[], tables: [L1Table], plans: L1Plans
    }
    pub use hold::Hold;
}
