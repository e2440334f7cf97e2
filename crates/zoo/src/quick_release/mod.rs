//! `quick-release`: write caches with FIFOs of addresses, so that a release drains a FIFO and an acquire
//! does nothing.
//!
//! Each L1, each bank of the L2 and each bank of the directory has a write cache and a FIFO
//! of written addresses (S-FIFO). A store is complete in the write cache of the L1. A release puts a
//! marker into the FIFO, which follows all earlier writes through the three levels to memory. A line
//! that leaves the write cache of the L2 is invalidated in all L1s. So copies stay valid through
//! acquires and through the beginnings of kernels.
//!
//! Hosts have the caches of [`crate::moesi`] over the stateless directory of [`crate::apu`].
//!
//! Source: Hechtman, PhD thesis (Duke University, 2014), section 4.3, Table 4.1. Decisions:
//!
//! * *The victim of a write cache* is the oldest line of the set, in the order of the FIFO.
//! * *Each bank has its own FIFO.* A marker goes to all banks of the L2, and each bank passes it to one
//!   bank of the directory. The release is complete when all banks have acknowledged it.
//! * *The L1s acknowledge invalidations*, and a marker leaves the L2 behind the acks.
//! * *All scopes have the same effect.* `quick-release-groups` differs: a release at work-group scope
//!   does nothing. `quick-release-split` also has a FIFO for each wavefront in the L1.
//! * *A line that the write cache of the directory evicts may wait* for an entry of the directory. So
//!   no write and no marker ever waits at its station, and a marker cannot pass a write there.
//!
//! `quick-release-repaired` performs every atomic that writes at the directory, in the order of its
//! path, and lets a write leave the L2 only when all L1s have dropped their older copies. The protocol's
//! page has all decisions, and the faults of the published protocol.

mod departures;
mod directory;
mod l1;
mod l1_table;
mod l2;
mod l2_table;
mod write_cache;

pub use directory::Directory;
pub use l1::L1;
pub use l1_table::{
    EarlyPlans, GroupPlans, L1Action, L1Event, L1Published, L1State, L1Table, PublishedPlans, RepairedPlans,
    Step,
};
pub use l2::L2;
pub use l2_table::{L2Action, L2Event, L2Published, L2State, L2Table};
pub use write_cache::{Cover, Dirty, Entry, Marker, Shape, WriteCache};

use crate::apu::{DirectoryTable, HOST_EQUIVALENT, HostTable, Stateless};
use crate::moesi::{self, Cache, CachePlans, ToCache};
use crate::parts::{HasBankMessages, OPENCL, PTX, ToBank, ToL1 as BankToL1};
use crate::vi::SCOPED_CLAIMS;
use core::fmt::Debug;
use core::hash::Hash;
use proto::issue::IssueRule;
use proto::{
    Agent, Channels, Claim, Cx, Hosts, Info, Kind, Levels, LineAddr, NodeId, Per, PlanKey, Plans, PlansView,
    Protocol, Setting, Settings, Sharing, Table, TableView, Wrap, messages,
};

/// The index of the L1s in the [`Protocol::KINDS`] of a protocol.
pub const FIRST: u8 = 0;
/// The index of the banks of the L2 in the [`Protocol::KINDS`] of a protocol.
pub const BANK: u8 = 1;
/// The index of the banks of the directory in the [`Protocol::KINDS`] of a protocol.
pub const DIRECTORY: u8 = 2;
/// The index of the caches of hosts in the [`Protocol::KINDS`] of a protocol.
pub const HOST: u8 = 3;

messages! {
    /// A message to an L1.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToL1 = Bank(BankToL1) {
        /// A request to invalidate the copy of the line in the read cache.
        Inv {
            /// The line.
            line: LineAddr,
        } [line(line)],
    }
}

messages! {
    /// A message to a bank of the L2. Only requests for lines wait there.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToL2 = Above(ToBank) [order(waits_at_l2)], Below(BankToL1) {
        /// A request to invalidate the copies of the GPU, because a host writes the line.
        Invalidate {
            /// The line.
            line: LineAddr,
        } [line(line)],
        /// The L1 has invalidated the line of the oldest invalidation that it had not acknowledged.
        Acked,
        /// The marker of a release, behind the writes before the release.
        Marker {
            /// The marker.
            marker: Marker,
        },
    }
}

messages! {
    /// A message to a bank of the directory. Only accesses that the directory answers wait there.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToDirectory = Host(moesi::ToDirectory), Gpu(ToBank) [order(waits_at_directory)] {
        /// All copies of the GPU that a host has asked to invalidate are invalid.
        Invalidated {
            /// The line.
            line: LineAddr,
        } [line(line)],
        /// The marker of a release, behind the writes before the release.
        Marker {
            /// The marker.
            marker: Marker,
        },
    }
}

/// Whether a message to the L2 may wait there, so that it must stay behind other such messages.
fn waits_at_l2(msg: &ToBank) -> bool {
    matches!(msg, ToBank::Get { .. })
}

/// Whether a message to the directory may wait there.
fn waits_at_directory(msg: &ToBank) -> bool {
    matches!(msg, ToBank::Get { .. } | ToBank::Access { .. })
}

/// A duty that a test protocol lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Missing {
    /// A marker stays behind the writes in the S-FIFO of the L1.
    MarkerOrder,
    /// The L2 invalidates the copy of the last L1.
    AnL1,
    /// A marker leaves the L2 behind the acks of invalidations, and behind the writes that wait for these
    /// acks.
    Acks,
    /// The L2 passes the invalidation of a host on if it does not have the line.
    PassedInvalidation,
    /// The bytes of a host reach memory before those of the GPU.
    HostOrder,
}

/// The parameters of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Params {
    /// The write caches of the L1, of a bank of the L2, and of a bank of the directory.
    shapes: [Shape; 3],
    /// The number of banks of the L2 and of the directory on each chiplet, or on the machine if both serve
    /// all chiplets.
    banks: (u16, u16),
    /// The number of L1s that a bank of the L2 invalidates: the first ones, which are all.
    invalidated: u16,
    repaired: bool,
    /// Whether each wavefront has an S-FIFO of its own in the L1.
    splits: bool,
    missing: Option<Missing>,
}

impl Params {
    fn new(
        levels: &Levels,
        settings: &Settings,
        repaired: bool,
        splits: bool,
        missing: Option<Missing>,
    ) -> Result<Params, String> {
        let (l2, directory) = (levels.of(BANK), levels.of(DIRECTORY));
        if l2.per != directory.per || !l2.count.is_multiple_of(directory.count) {
            return Err(format!(
                "level `l2` (per {}) has {} controllers on the machine and level `directory` (per {}) has {}, expected \
                 a divisor of {} and the same `per`, because each bank of the L2 passes markers to one bank of the \
                 directory",
                l2.per.name(),
                l2.count,
                directory.per.name(),
                directory.count,
                l2.count
            ));
        }
        let parts = if l2.per == Per::Chiplet { levels.chiplets } else { 1 };
        let banks = (l2.count / parts, directory.count / parts);
        let ways = settings.get("write_ways")?;
        let shape = |lines: &str, entries: &str, banks: u16| -> Result<Shape, String> {
            let (count, entries) = (settings.get(lines)?, settings.get(entries)?);
            if !count.is_multiple_of(ways) {
                return Err(format!(
                    "`{lines}` is {count}, expected a multiple of `write_ways`, which is {ways}"
                ));
            }
            Ok(Shape {
                sets: count / ways,
                ways: ways as usize,
                entries: entries as usize,
                banks: banks.into(),
            })
        };
        let shapes = [
            shape("wl1_lines", "sfifo1_entries", 1)?,
            shape("wl2_lines", "sfifo2_entries", banks.0)?,
            shape("wl3_lines", "sfifo3_entries", banks.1)?,
        ];
        let l1s = levels.of(FIRST).count;
        let invalidated = if missing == Some(Missing::AnL1) { l1s - 1 } else { l1s };
        Ok(Params { shapes, banks, invalidated, repaired, splits, missing })
    }

    /// Whether the protocol lacks a duty.
    fn lacks(&self, missing: Missing) -> bool {
        self.missing == Some(missing)
    }
}

/// A setting for the size of a write cache or of an S-FIFO.
const fn size(name: &'static str, unit: &'static str, default: u64, about: &'static str) -> Setting {
    Setting { name, unit, least: 1, most: 1 << 20, default, about }
}

/// The equivalent mutants (undetectable seeded faults) of the protocols in which a release drains the
/// whole S-FIFO of the L1.
const EQUIVALENT: &[&str] =
    &[HOST_EQUIVALENT, include_str!("equivalent.txt"), include_str!("equivalent-whole.txt")];
/// The equivalent mutants of the protocol in which each wavefront has an S-FIFO.
const SPLIT_EQUIVALENT: &[&str] = &[HOST_EQUIVALENT, include_str!("equivalent.txt")];

/// The settings of the protocols: Table 4.1, whose sizes are for 16 banks of the L2 and of the directory.
const SETTINGS: &[Setting] = &[
    size("wl1_lines", "lines", 64, "size of the write cache of an L1"),
    size("sfifo1_entries", "entries", 64, "size of the S-FIFO of an L1"),
    size("wl2_lines", "lines", 16, "size of the write cache of a bank of the L2"),
    size("sfifo2_entries", "entries", 8, "size of the S-FIFO of a bank of the L2"),
    size("wl3_lines", "lines", 32, "size of the write cache of a bank of the directory"),
    size("sfifo3_entries", "entries", 16, "size of the S-FIFO of a bank of the directory"),
    size("write_ways", "ways", 4, "associativity of the write caches"),
];

/// The settings of the small machines of the explorer.
const EXPLORED: &[(&str, u64)] = &[
    ("wl1_lines", 2),
    ("sfifo1_entries", 4),
    ("wl2_lines", 1),
    ("sfifo2_entries", 2),
    ("wl3_lines", 1),
    ("sfifo3_entries", 2),
    ("write_ways", 1),
];

/// The settings of the machines of the random tester, which are larger than those of the explorer.
const TESTED: &[(&str, &[u64])] = &[
    ("write_ways", &[1, 2, 4, 1]),
    ("wl1_lines", &[2, 4, 8, 4]),
    ("wl2_lines", &[1, 2, 4, 3]),
    ("wl3_lines", &[1, 4, 4, 2]),
    ("sfifo1_entries", &[4, 3, 16, 5, 2]),
    ("sfifo2_entries", &[2, 6, 3]),
    ("sfifo3_entries", &[2, 5, 4]),
];

/// The tests of fetches that an invalidation makes useless, of hosts that ask to write, and of fences
/// that release what the thread itself has written.
const TESTS: &[&str] = &[
    "caches/device-reads-beside-upgrade.litmus",
    "caches/fenced-and-passed-on-acq-rel-system.litmus",
    "caches/fenced-and-passed-on-acq-rel.litmus",
    "caches/fenced-and-passed-on-system.litmus",
    "caches/fenced-and-passed-on.litmus",
    "caches/host-reads-beside-upgrade.litmus",
    "caches/host-stores-beside-upgrade.litmus",
    "caches/host-stores-beside-useless-fetch.litmus",
    "caches/released-beside-useless-fetch.litmus",
    "caches/updated-beside-useless-fetch.litmus",
];

/// A protocol of this module.
pub trait Quick:
    Stateless + HasBankMessages + Protocol<Params = Params, Msg: Wrap<ToL1> + Wrap<ToL2> + Wrap<ToDirectory>>
{
}
impl<P> Quick for P where
    P: Stateless
        + HasBankMessages
        + Protocol<Params = Params, Msg: Wrap<ToL1> + Wrap<ToL2> + Wrap<ToDirectory>>
{
}

/// The tables and the plans in which the protocols differ.
pub trait Variant: Clone + Eq + Hash + Debug + 'static {
    /// The table of a line in the L1.
    type L1: Table<State = L1State, Event = L1Event, Action = L1Action>;
    /// The table of a line in a bank of the L2.
    type L2: Table<State = L2State, Event = L2Event, Action = L2Action>;
    /// The plans of operations at the L1.
    type Plans: Plans<Step = Step>;
}

/// Declares variants.
macro_rules! variants {
    ($($(#[doc = $doc:literal])+ $name:ident: $l1:ty, $l2:ty, $plans:ty;)+) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name;
        impl Variant for $name {
            type L1 = $l1;
            type L2 = $l2;
            type Plans = $plans;
        }
    )+};
}

variants! {
    /// The tables and plans of `quick-release`.
    Published: L1Published, L2Published, PublishedPlans;
    /// The tables and plans of `quick-release-repaired`.
    Repaired: L1Table, L2Table, RepairedPlans;
    /// The tables and plans of `quick-release-groups`.
    Grouped: L1Table, L2Table, GroupPlans;
    /// The tables and plans of a test protocol whose store-releases do not wait.
    Early: L1Published, L2Published, EarlyPlans;
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

/// The claims of `quick-release-split`. A release does not write out what other wavefronts have
/// written, so synchronization is not transitive.
const SPLIT_CLAIMS: &[Claim] = &[Claim {
    model: "hrf-direct",
    cores: IssueRule::GPUS,
    widening: true,
    mapping: "each operation becomes a request with its memory order and scope; programs without \
              heterogeneous races are sequentially consistent, and also on hosts",
}];

/// Generates a protocol.
macro_rules! quick_release {
    (
        $(#[doc = $doc:literal])+
        $module:ident::$protocol:ident,
        variant: $variant:ty, repaired: $repaired:literal, splits: $splits:literal, missing: $missing:expr,
        name: $name:literal, summary: $summary:literal, claims: $claims:expr, sharing: $sharing:ident,
        equivalent: $equivalent:expr
    ) => {
        $(#[doc = $doc])+
        pub mod $module {
            use super::*;

            $(#[doc = $doc])+
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub struct $protocol;

            proto::protocol_nodes! {
                $protocol: L1(L1<$variant>, ToL1), L2(L2<$variant>, ToL2), Directory(Directory, ToDirectory),
                    Host(Cache<HostTable>, ToCache);
                BankToL1 => L1 | L2,
                ToL1 => L1,
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
                    source: "Hechtman, PhD thesis (Duke University, 2014), section 4.3, Table 4.1",
                    claims: $claims,
                    channels: Channels::Fifo,
                    sharing: Sharing::$sharing,
                    hosts: Hosts::Cached,
                    equivalent: $equivalent,
                };
                const KINDS: &'static [Kind] = &[
                    Kind::cache("L1", "l1", Per::Cu).over("l2"),
                    Kind::cache("L2", "l2", Per::Chiplet).over("directory"),
                    Kind::cache("Directory", "directory", Per::Chiplet).like("l2"),
                    Kind::cache("Host", "host", Per::Host).over("directory").like("l1"),
                ];
                const SETTINGS: &'static [Setting] = SETTINGS;
                const EXPLORED: &'static [(&'static str, u64)] = EXPLORED;
                const TESTED: &'static [(&'static str, &'static [u64])] = TESTED;
                const OWN_TESTS: &'static [&'static str] = TESTS;

                fn params(levels: &Levels, settings: &Settings) -> Result<Params, String> {
                    Params::new(levels, settings, $repaired, $splits, $missing)
                }

                fn node(id: NodeId, levels: &Levels, params: &Params) -> Node {
                    let level = levels.of(id.kind);
                    match id.kind {
                        FIRST => Node::L1(L1::new(level, params)),
                        BANK => Node::L2(L2::new(level, params)),
                        DIRECTORY => Node::Directory(Directory::new(level, params)),
                        _ => Node::Host(Cache::new(level)),
                    }
                }

                #[inline]
                fn entry(_: &Params, agent: Agent, _: PlanKey) -> NodeId {
                    agent.enters(FIRST, HOST)
                }

                fn tables() -> Vec<TableView> {
                    vec![
                        TableView::of::<<$variant as Variant>::L1>(),
                        TableView::of::<<$variant as Variant>::L2>(),
                        TableView::of::<DirectoryTable>(),
                        TableView::of::<HostTable>(),
                    ]
                }

                fn plans() -> Vec<PlansView> {
                    vec![PlansView::of::<<$variant as Variant>::Plans>(), PlansView::of::<CachePlans>()]
                }
            }

            impl Stateless for $protocol {
                const HOST: u8 = HOST;
                const WAITS_FOR_GPU: bool = $repaired;

                fn invalidate(line: LineAddr, cx: &mut Cx<'_, Self>) -> NodeId {
                    let l2 = cx.world.levels.server(BANK, cx.me, line, cx.world.homes);
                    cx.fx.send(l2, ToL2::Invalidate { line });
                    l2
                }

                fn lacks_order(params: &Params) -> bool {
                    params.lacks(Missing::HostOrder)
                }
            }
        }
        pub use $module::$protocol;
    };
}

quick_release! {
    /// QuickRelease as section 4.3 of the thesis describes it.
    protocol::QuickRelease,
    variant: Published, repaired: false, splits: false, missing: None,
    name: "quick-release",
    summary: "write caches with FIFOs: a release drains them, an acquire does nothing, evicted writes invalidate all L1s",
    claims: CLAIMS, sharing: Unscoped, equivalent: &[]
}

quick_release! {
    /// QuickRelease with ordered atomics and with invalidations before writes.
    repaired::QuickReleaseRepaired,
    variant: Repaired, repaired: true, splits: false, missing: None,
    name: "quick-release-repaired",
    summary: "quick-release with ordered atomics, and with writes that wait for their invalidations",
    claims: CLAIMS, sharing: Unscoped, equivalent: EQUIVALENT
}

quick_release! {
    /// `quick-release-groups` with an S-FIFO for each wavefront in the L1.
    split::QuickReleaseSplit,
    variant: Grouped, repaired: true, splits: true, missing: None,
    name: "quick-release-split",
    summary: "quick-release-groups with a FIFO for each wavefront: a release drains only its own writes",
    claims: SPLIT_CLAIMS, sharing: Scoped, equivalent: SPLIT_EQUIVALENT
}

quick_release! {
    /// `quick-release-repaired` with releases at work-group scope that do nothing.
    groups::QuickReleaseGroups,
    variant: Grouped, repaired: true, splits: false, missing: None,
    name: "quick-release-groups",
    summary: "quick-release-repaired with scopes: a release at work-group scope does nothing",
    claims: SCOPED_CLAIMS, sharing: Scoped, equivalent: EQUIVALENT
}

/// The names of the published protocols that read stale copies in many programs.
pub const REFUTED: [&str; 1] = ["quick-release"];

/// Protocols that lack one duty, for the tests of this duty. They are not in the list of protocols.
pub mod lacking {
    use super::*;

    /// Generates test protocols, each of which lacks one duty of `quick-release-repaired`.
    macro_rules! lacking {
        ($($(#[doc = $doc:literal])+ $module:ident::$missing:ident, $name:literal;)+) => {$(
            quick_release! {
                $(#[doc = $doc])+
                $module::$missing,
                variant: Repaired, repaired: true, splits: false, missing: Some(Missing::$missing),
                name: $name, summary: "a test protocol", claims: CLAIMS, sharing: Unscoped, equivalent: &[]
            }
        )+};
    }

    lacking! {
        /// A marker passes the writes in the S-FIFO of the L1.
        marker_order::MarkerOrder, "quick-release-lacks-marker-order";
        /// The L2 does not invalidate the copy of the last L1.
        an_l1::AnL1, "quick-release-lacks-an-l1";
        /// A marker leaves the L2 before the L1s have acknowledged the invalidations.
        acks::Acks, "quick-release-lacks-acks";
        /// The L2 passes the invalidation of a host on only if it has the line.
        passed_invalidation::PassedInvalidation, "quick-release-lacks-passed-invalidation";
        /// The bytes of a host reach memory after those of the GPU.
        host_order::HostOrder, "quick-release-lacks-host-order";
    }

    quick_release! {
        /// As published, but a store-release stores at once, behind its marker.
        early::EarlyStore,
        variant: Early, repaired: false, splits: false, missing: None,
        name: "quick-release-early", summary: "a test protocol", claims: CLAIMS, sharing: Unscoped,
        equivalent: &[]
    }
}
