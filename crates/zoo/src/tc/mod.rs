//! `tc`: temporal coherence, with leases by a clock that all controllers share.
//!
//! An L1 gets a line with a lease, and removes the line when the lease ends. The bank of the line
//! knows when the last lease ends. So it knows when no L1 has a copy, without invalidations or a list
//! of sharers. In the strong variant, a write waits at the bank for the end of the leases. In the
//! weak variant, a write is performed at once, its answer carries the end of the leases, and a later
//! fence waits for this time.
//!
//! Source: Singh et al., Cache Coherence for GPU Architectures (HPCA 2013); STC paper (TACO 2023),
//! sections 5 and 7.5, Table 2. The public description leaves decisions open:
//!
//! * *Leases are relative to now.* The hardware holds timestamps of 32 bits, and compares them with
//!   a clock. Here, a lease is a number of ticks that runs down in caches and in messages. So no
//!   timestamp exists that could roll over. The bytes of messages are those of timestamps: a request
//!   for a line, its answer, and the answer of a write that does not wait carry 4 bytes each.
//! * *All leases have one length*, a setting of the machine. The weak variant of the paper predicts
//!   the length instead.
//! * *A load does not join a fill under way.* It is presented again when the fill comes. The fill may
//!   come after the end of its lease. Its bytes then answer only the load that asked for them,
//!   because a later load may have to see a write that the bank has performed since.
//! * *A write removes the copy of its own L1* when it leaves for the bank. If no other compute unit
//!   has a lease, the write does not wait (the paper's private state).
//! * *An access that waits for the end of leases keeps the bank from giving further leases* of the
//!   line. Later gets of the line wait, too.
//! * *The L2 is inclusive.* A line with a lease is not evicted. The access that needs its way waits
//!   until the lease ends. Meanwhile, no line of the set gets a further lease, so that the access does
//!   not wait for ever. The paper moves the lease of an evicted line to a miss register.
//! * *Scopes below the system make no difference.* An acquire invalidates nothing.
//! * *The host* writes memory without leases. An acquire at system scope, such as the beginning of a
//!   kernel after the host has written, invalidates the L2, and then waits for the end of all leases.
//!   An access at system scope waits for the end of the line's leases, and is performed in memory.
//! * *A fence of the weak variant* waits for the writes of its whole compute unit. The paper keeps
//!   the time for each wavefront.

mod bank;
mod l1;
mod tables;

pub use bank::Bank;
pub use l1::L1;
pub use tables::{
    Action, Deed, Event, L1Table, Lease, LeaseTable, RepairedPlans, State, Step, StrongPlans, Use, WeakPlans,
};

use crate::parts::{self, BANK, DRF, FIRST, HOST, OPENCL, PTX_WITHOUT_WIDENING, SC};
use crate::vi::{BANK_EQUIVALENT, BankTable, SCOPED_CLAIMS};
use proto::parts::Host;
use proto::{
    Agent, Channels, Claim, Hosts, Info, Kind, Levels, LineAddr, LineData, NodeId, Per, PlanKey, PlansView,
    Protocol, Setting, Settings, Sharing, Slot, TableView, Wrap, aged, messages,
};

/// The size of a timestamp in a message, in bytes.
const STAMP_BYTES: u32 = 4;

messages! {
    /// A message to a bank.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToBank = Shared(parts::ToBank) {
        /// A request for the whole line and a lease.
        Get {
            /// The requested line.
            line: LineAddr,
        } [name("GetLeased"), line(line), bytes(|_| STAMP_BYTES), access],
        /// A request to answer when all leases that run now have ended.
        AwaitLeases {
            /// The slot of the waiting request.
            slot: Slot,
        },
    }
}

messages! {
    /// A message to an L1.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToL1 = Bank(parts::ToL1) {
        /// The line that the receiver requested, with a lease.
        Leased {
            /// The address of the line.
            line: LineAddr,
            /// The bytes of the line.
            data: LineData,
            /// The ticks that are left of the lease.
            lease: u32,
        } [
            line(line), bytes(|line_bytes| line_bytes + STAMP_BYTES),
            ages(|elapsed| *lease = aged(*lease, elapsed))
        ],
        /// The answer to a write or an atomic that did not wait for the end of leases.
        Performed {
            /// The slot of the waiting request.
            slot: Slot,
            /// The number of bytes that the access reads.
            bytes: u8,
            /// The bytes that the access reads, at their offsets in the line.
            data: LineData,
            /// The ticks until no L1 has a copy with older bytes.
            older_copies: u32,
        } [
            bytes(|_| u32::from(*bytes) + STAMP_BYTES),
            ages(|elapsed| *older_copies = aged(*older_copies, elapsed))
        ],
        /// All leases that ran at a bank have ended.
        LeasesEnded {
            /// The slot of the waiting request.
            slot: Slot,
        },
    }
}

impl ToL1 {
    /// Adds the end of a line's leases to an answer of the bank.
    fn stamp(&mut self, ticks: u32) {
        *self = match *self {
            ToL1::Bank(parts::ToL1::Data { line, data }) => ToL1::Leased { line, data, lease: ticks },
            ToL1::Bank(parts::ToL1::Done { slot, bytes, data }) => {
                ToL1::Performed { slot, bytes, data, older_copies: ticks }
            }
            other => other,
        };
    }
}

/// A protocol of temporal coherence: `tc-strong`, `tc-weak` or `tc-weak-repaired`.
pub trait Tc:
    Protocol<Params = Params, Msg: Wrap<parts::ToBank> + Wrap<ToBank> + Wrap<parts::ToL1> + Wrap<ToL1>>
{
    /// Adds the end of a line's leases to an answer of a bank.
    fn stamp(msg: &mut Self::Msg, ticks: u32);
}

/// The parameters of the protocol on a machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Params {
    /// The ticks for which an L1 may keep a line.
    lease_ticks: u32,
}

const SETTINGS: &[Setting] = &[Setting {
    name: "lease_ticks",
    unit: "ticks",
    least: 1,
    most: 1_000_000,
    default: 800,
    about: "ticks for which an L1 may keep a line that it gets from the L2",
}];

/// The settings with which the explorer checks the protocols. A lease has two ticks, so that it can
/// be renewed while it runs.
const EXPLORED: &[(&str, u64)] = &[("lease_ticks", 2)];

/// The settings of the machines of the random tester.
const TESTED: &[(&str, &[u64])] = &[("lease_ticks", &[2, 3, 7, 20, 1])];

/// The tests of a store of which a thread on the same compute unit learns from another compute unit.
/// The thread must not read an old copy.
const TESTS: &[&str] = &[
    "caches/passed-on-beside-reader-system.litmus",
    "caches/passed-on-beside-reader.litmus",
    "caches/seen-and-told-back-system.litmus",
    "caches/seen-and-told-back.litmus",
];

/// The claims (the promised memory models) of the strong variant, whose writes are atomic.
const STRONG: &[Claim] = &[DRF, SC, SCOPED_CLAIMS[0], OPENCL, PTX_WITHOUT_WIDENING];

/// The claims (the promised memory models) of the weak variants, published and repaired.
const WEAK: &[Claim] = &[DRF, SCOPED_CLAIMS[0], OPENCL, PTX_WITHOUT_WIDENING];

/// The names of the published protocols whose claims (the promised memory models) the explorer
/// refutes.
pub const REFUTED: [&str; 1] = ["tc-weak"];

/// Generates one protocol of temporal coherence. These protocols differ in their plans (the steps
/// of operations), in their claims, and in the list of their equivalent mutants (undetectable seeded
/// faults).
macro_rules! tc {
    (
        $(#[doc = $doc:literal])+
        $module:ident::$protocol:ident, $plans:ty, $claims:expr, $name:literal, $summary:literal, $source:expr,
        $equivalent:expr
    ) => {
        $(#[doc = $doc])+
        pub mod $module {
            use super::*;

            $(#[doc = $doc])+
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub struct $protocol;

            proto::protocol_nodes! {
                $protocol: L1(L1<$plans>, ToL1), Bank(Bank, ToBank), Host(Host)
            }

            impl From<parts::ToL1> for Msg {
                #[inline]
                fn from(msg: parts::ToL1) -> Self {
                    Msg::L1(msg.into())
                }
            }

            impl From<parts::ToBank> for Msg {
                #[inline]
                fn from(msg: parts::ToBank) -> Self {
                    Msg::Bank(msg.into())
                }
            }

            impl Tc for $protocol {
                fn stamp(msg: &mut Msg, ticks: u32) {
                    if let Msg::L1(msg) = msg {
                        msg.stamp(ticks);
                    }
                }
            }

            impl Protocol for $protocol {
                type Node = Node;
                type Msg = Msg;
                type Params = Params;
                const INFO: Info = Info {
                    name: $name,
                    summary: $summary,
                    source: $source,
                    claims: $claims,
                    channels: Channels::Fifo,
                    sharing: Sharing::Unscoped,
                    hosts: Hosts::Direct,
                    equivalent: $equivalent,
                };
                const KINDS: &'static [Kind] = &[
                    Kind::cache("L1", "l1", Per::Cu).over("l2"),
                    Kind::cache("L2", "l2", Per::Chiplet),
                    Kind::port("Host", "host", Per::Host),
                ];
                const CLOCKED: bool = true;
                const SETTINGS: &'static [Setting] = SETTINGS;
                const EXPLORED: &'static [(&'static str, u64)] = EXPLORED;
                const TESTED: &'static [(&'static str, &'static [u64])] = TESTED;
                const OWN_TESTS: &'static [&'static str] = TESTS;

                fn params(_: &Levels, settings: &Settings) -> Result<Params, String> {
                    Ok(Params { lease_ticks: settings.get("lease_ticks")? as u32 })
                }

                fn node(id: NodeId, levels: &Levels, _: &Params) -> Node {
                    match id.kind {
                        FIRST => Node::L1(L1::new(levels.of(id.kind))),
                        BANK => Node::Bank(Bank::new(levels.of(id.kind))),
                        _ => Node::Host(Host),
                    }
                }

                #[inline]
                fn entry(_: &Params, agent: Agent, _: PlanKey) -> NodeId {
                    agent.enters(FIRST, HOST)
                }

                fn tables() -> Vec<TableView> {
                    vec![
                        TableView::of::<L1Table>(),
                        TableView::of::<BankTable>(),
                        TableView::of::<LeaseTable>(),
                    ]
                }

                fn plans() -> Vec<PlansView> {
                    vec![PlansView::of::<$plans>()]
                }
            }
        }
        pub use $module::$protocol;
    };
}

/// The mutants that are equivalent in every variant.
const EQUIVALENT: &str = include_str!("equivalent.txt");

/// The source of the published protocols.
const SOURCE: &str = "Singh et al., Cache Coherence for GPU Architectures (HPCA 2013)";

tc! {
    /// Temporal coherence with writes that wait for the end of leases.
    strong::TcStrong, StrongPlans, STRONG, "tc-strong",
    "leases by a global clock: a write waits at the L2 until no other L1 has a copy", SOURCE,
    &[BANK_EQUIVALENT, EQUIVALENT]
}
tc! {
    /// Temporal coherence with fences that wait for the end of leases.
    weak::TcWeak, WeakPlans, WEAK, "tc-weak",
    "leases by a global clock: a write is performed at once, and fences wait for older copies", SOURCE,
    &[BANK_EQUIVALENT, EQUIVALENT]
}
tc! {
    /// Temporal coherence with fences that wait for the end of leases. Atomic writes also wait, at
    /// the L2, for the end of the leases of their line.
    repaired::TcWeakRepaired, RepairedPlans, WEAK, "tc-weak-repaired",
    "tc-weak with atomic writes that wait at the L2 until no other L1 has a copy",
    "Singh et al., Cache Coherence for GPU Architectures (HPCA 2013); the repair is not from the paper",
    &[BANK_EQUIVALENT, EQUIVALENT, include_str!("equivalent-repaired.txt")]
}
