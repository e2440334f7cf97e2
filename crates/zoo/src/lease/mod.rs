//! `rcc` and `g-tsc`: copies with leases in logical time.
//!
//! Operations have logical times, which do not advance with physical time. A line of the L2 has the
//! time of its last write (its version) and the end of its lease, and a copy in an L1 may be read
//! until the end of its own lease. A write is performed at once, at a time after the lease of its
//! line. So it invalidates nothing and waits for nothing: the loads that hit older copies are at
//! earlier times. A compute unit that learns of the write, or of something after it, advances
//! beyond its own lease.
//!
//! Sources: the public descriptions of Relativistic Cache Coherence (HPCA 2017) and of G-TSC (HPCA
//! 2018). Both build on Tardis (PACT 2015). The protocols are settings of one code. Decisions:
//!
//! * *Clocks.* In `rcc`, a compute unit has a clock; in `g-tsc`, each wavefront has one. A release or
//!   an acquire then joins the clock of its wavefront with that of the compute unit, because the
//!   wavefronts of a work-group also synchronize without an access, at a barrier.
//! * *Atomics are performed at the L2*, atomic loads included. A thread that polls a word by loads
//!   that hit would never advance, and the papers then advance clocks from time to time.
//! * *A write leaves no copy in the L1*, and takes no lease of its own.
//! * *Accesses of one line*: a load waits while a fill of its line is under way, and looks the line up
//!   again. The time of the load may be after the lease that comes with the fill.
//! * *Lines that are not in the L2* share one lease, and the end of this lease is their version. An
//!   evicted line extends this lease. A line that is fetched again begins with this lease.
//! * *The lease is constant* (setting `lease`); `rcc` of the paper predicts leases.
//! * *Kernels.* At the beginning of a kernel, a compute unit asks each bank for the latest end of its
//!   leases, and advances to it. Copies of lines that were not written since stay valid, and others
//!   are renewed without data if their versions are unchanged.
//! * *The host* writes memory without times. An acquire at system scope, such as the beginning of a
//!   kernel after the host has written, empties the L2 and advances to a time after all leases. So
//!   no copy of any L1 can be read by a thread that synchronizes with the acquire. No L1 is
//!   invalidated. An access at system scope is performed in memory, at a time that its bank gives.
//! * *Rollover.* The next write of a line whose lease ends at the largest timestamp starts a rollover:
//!   the rollover unit stops all banks, each bank tells all L1s, an L1 that has heard all banks
//!   drops its lines, and when all have, all times are zero. As published, a lease ends at the largest
//!   timestamp at the latest, so no load starts a rollover, and a bank of `g-tsc` starts again by
//!   itself. In the repaired protocols, a request that is under way during a rollover, or has caused
//!   one, loses its old time, and only a write reaches the largest timestamp: a load at this time
//!   starts a rollover. Also, an access at system scope does not pass an access that waits for a
//!   fetch of its line.
//! * *The weak form* (RCC-WO) is the setting `weak`: loads and writes have separate times, so a write
//!   does not end the leases of the unit's own copies. An acquire or a release joins both times.
//! * *A bank writes its dirty lines in one step* at a release at system scope, and a bank that writes
//!   through keeps its copy.

mod bank;
mod clock;
mod l1;
mod rollover;
mod tables;

pub use bank::Bank;
pub use l1::L1;
pub use rollover::Rollover;
pub use tables::{
    Action, BankAction, BankEvent, BankState, BankTable, Command, Event, L1Plans, L1Table, Phase,
    RolloverTable, Signal, State, Step,
};

use crate::parts::{self, BANK, DRF, FIRST, HOST, OPENCL, PTX_WITHOUT_WIDENING, SC, operand_bytes};
use crate::vi::SCOPED_CLAIMS;
use proto::parts::Host;
use proto::{
    Agent, ByteMask, Channels, Claim, Hosts, Info, Kind, Levels, LineAddr, LineData, NodeId, Op, Per,
    PlanKey, PlansView, Protocol, Setting, Settings, Sharing, Slot, TableView, Wrap, messages,
};

/// The rollover unit of the machine. It restarts all timestamps at zero when a bank has none left for
/// an access.
const ROLLOVER: NodeId = NodeId { kind: 3, index: 0 };

/// The version of a line or a copy, and the end of its lease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Lease {
    /// The time of the last write (`ver`, `wts`).
    pub version: u32,
    /// The last time at which a copy may be read (`exp`, `rts`).
    pub end: u32,
}

/// The rules in which the protocols of this module differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// Whether each wavefront has a clock, and not only each compute unit.
    pub per_wavefront: bool,
    /// Whether all banks stop before all timestamps start again at zero. If not, each bank starts
    /// again at zero by itself.
    pub stops: bool,
    /// Whether a request carries the epoch of its sender, which changes with each rollover. A bank
    /// takes the time of a request from another epoch as zero.
    pub carries_epochs: bool,
    /// Whether a request for which a bank has requested a rollover loses its time, whatever its epoch
    /// is.
    pub voids_old_times: bool,
    /// Whether only a write reaches the largest timestamp. A load extends a lease at most to the
    /// timestamp before it.
    pub spares_largest: bool,
    /// Whether an access at system scope waits for a fetch of its line, behind the accesses that wait
    /// for it. If it does not wait, it can take the last timestamp from them.
    pub keeps_turns: bool,
}

impl Variant {
    const RCC: Variant = Variant {
        per_wavefront: false,
        stops: true,
        carries_epochs: false,
        voids_old_times: false,
        spares_largest: false,
        keeps_turns: false,
    };
    const G_TSC: Variant = Variant { per_wavefront: true, stops: false, ..Variant::RCC };
    const RCC_REPAIRED: Variant = Variant {
        carries_epochs: true,
        voids_old_times: true,
        spares_largest: true,
        keeps_turns: true,
        ..Variant::RCC
    };
    const G_TSC_REPAIRED: Variant = Variant { per_wavefront: true, ..Variant::RCC_REPAIRED };
}

/// The parameters of the protocol on a machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Params {
    /// The largest timestamp.
    last: u32,
    /// The largest timestamp to which a load extends a lease.
    lease_last: u32,
    /// The length of a lease.
    lease: u32,
    /// The size of a timestamp in a message, in bytes.
    stamp_bytes: u8,
    /// Whether loads and writes have separate times, which an acquire or a release joins (sets to
    /// the later of the two).
    weak: bool,
    variant: Variant,
}

impl Params {
    fn new(settings: &Settings, variant: Variant) -> Result<Params, String> {
        let bits = settings.get("timestamp_bits")? as u32;
        let last = u32::MAX >> (32 - bits);
        Ok(Params {
            last,
            lease_last: last - u32::from(variant.spares_largest),
            lease: settings.get("lease")? as u32,
            stamp_bytes: bits.div_ceil(8) as u8,
            weak: !variant.per_wavefront && settings.get("weak")? == 1,
            variant,
        })
    }
}

messages! {
    /// A message to an L1.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToL1 = Shared(parts::ToL1) {
        /// The requested line, with a lease.
        Data {
            /// The address of the line.
            line: LineAddr,
            /// The bytes of the line.
            data: LineData,
            /// The version and the lease of the line.
            lease: Lease,
            /// The size of the two timestamps in the message, in bytes.
            bytes: u8,
        } [line(line), bytes(|line_bytes| line_bytes + u32::from(*bytes))],
        /// The requested line as memory has it, without a lease.
        Bare {
            /// The address of the line.
            line: LineAddr,
            /// The bytes of the line.
            data: LineData,
            /// The time of the access.
            time: u32,
            /// The epoch of the sender.
            epoch: bool,
            /// The size of the timestamp in the message, in bytes.
            bytes: u8,
        } [name("BareData"), line(line), bytes(|line_bytes| line_bytes + u32::from(*bytes))],
        /// A longer lease for the bytes that the receiver has.
        Renewed {
            /// The address of the line.
            line: LineAddr,
            /// The version, which the receiver knows, and the lease of the line.
            lease: Lease,
            /// The size of the timestamp in the message, in bytes.
            bytes: u8,
        } [name("Renew"), line(line), bytes(|_| u32::from(*bytes))],
        /// The answer to an access that has been performed.
        Done {
            /// The slot of the waiting request.
            slot: Slot,
            /// The number of bytes that the access reads, plus the size of the timestamp in bytes.
            bytes: u8,
            /// The bytes that the access reads, at their offsets in the line.
            data: LineData,
            /// The time of the access.
            time: u32,
            /// The epoch of the sender.
            epoch: bool,
            /// Whether the access has written.
            is_write: bool,
        } [name("DoneAt"), bytes(|_| u32::from(*bytes))],
        /// The answer of a bank that was asked for its time.
        Time {
            /// The slot of the waiting request.
            slot: Slot,
            /// The latest end of the bank's leases, or a time after it.
            time: u32,
            /// The size of the timestamp in the message, in bytes.
            bytes: u8,
        } [bytes(|_| u32::from(*bytes))],
        /// The bank has stopped for a rollover.
        Stopped [name("BankStopped")],
        /// The bank has started again at time zero by itself, without a stop of all banks.
        Reset,
    }
}

messages! {
    /// A message to a bank.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToBank = Shared(parts::ToBank) {
        /// A request for a line, or for a longer lease of the copy that the sender has.
        Get {
            /// The requested line.
            line: LineAddr,
            /// The time of the reader.
            now: u32,
            /// The version of the sender's copy, if it has one.
            version: Option<u32>,
            /// The epoch of the sender.
            epoch: bool,
            /// The size of the two timestamps in the message, in bytes.
            bytes: u8,
        } [name("Gets"), line(line), bytes(|_| u32::from(*bytes)), access],
        /// A load, store or read-modify-write that is performed at the L2 or in memory.
        Access {
            /// The accessed line.
            line: LineAddr,
            /// The mask of the accessed bytes.
            mask: ByteMask,
            /// The bytes to store, or the operands of a read-modify-write.
            data: LineData,
            /// The operation: load, store or read-modify-write.
            op: Op,
            /// Whether memory performs the access.
            is_remote: bool,
            /// The slot of the waiting request.
            slot: Slot,
            /// The time of the issuer.
            now: u32,
            /// The epoch of the sender.
            epoch: bool,
            /// The size of the timestamp in the message, in bytes.
            bytes: u8,
        } [
            name("AccessAt"), line(line), bytes(|_| operand_bytes(*op, *mask) + u32::from(*bytes)), access
        ],
        /// A question for the latest end of the bank's leases.
        Ask {
            /// The slot of the waiting request.
            slot: Slot,
            /// Whether the bank first writes its lines to memory and drops them.
            invalidates: bool,
        } [name("AskTime")],
        /// Stop, because all timestamps start again at zero.
        Stop,
        /// Go on at time zero.
        Start,
    }
}

messages! {
    /// A message to the rollover unit.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToRollover {
        /// The sender has no timestamp left for an access.
        Overflow,
        /// The sender, a bank, has stopped.
        Stopped,
        /// The sender, an L1, has dropped its lines and is at time zero.
        Emptied,
    }
}

/// A protocol whose copies have leases in logical time.
pub trait Leased:
    Protocol<
        Params = Params,
        Msg: Wrap<parts::ToBank> + Wrap<parts::ToL1> + Wrap<ToBank> + Wrap<ToL1> + Wrap<ToRollover>,
    >
{
}
impl<P> Leased for P where
    P: Protocol<
            Params = Params,
            Msg: Wrap<parts::ToBank> + Wrap<parts::ToL1> + Wrap<ToBank> + Wrap<ToL1> + Wrap<ToRollover>,
        >
{
}

/// The claims (the promised memory models) of `g-tsc` and `g-tsc-repaired`.
const G_TSC_CLAIMS: &[Claim] = &[DRF, SC, SCOPED_CLAIMS[0], OPENCL, PTX_WITHOUT_WIDENING];

/// The claims (the promised memory models) of `rcc` and `rcc-repaired`.
const RCC_CLAIMS: &[Claim] = &[
    DRF,
    Claim {
        mapping: "with the setting `weak = 0`, each operation becomes a request, at any scope; every program \
                  that does not run on the host is sequentially consistent, with or without data races",
        ..SC
    },
    SCOPED_CLAIMS[0],
    OPENCL,
    PTX_WITHOUT_WIDENING,
];

/// The names of the published protocols whose claims (the promised memory models) the explorer
/// refutes by an outcome. It refutes `rcc` by a livelock.
pub const REFUTED: [&str; 1] = ["g-tsc"];

/// The tests of leases, of timestamps that restart twice within one request, and of fetches that an
/// acquire makes useless. Most are larger than other tests of these protocols.
const TESTS: &[&str] = &[
    "caches/renewed-across-two-rollovers.litmus",
    "caches/written-across-two-rollovers.litmus",
    "caches/useless-fetch-updated.litmus",
    "caches/useless-fetch-stored.litmus",
    "caches/useless-fetch-loaded.litmus",
    "caches/useless-fetch-read.litmus",
    "caches/leased-to-earlier-reader.litmus",
    "caches/hit-of-other-wavefront.litmus",
    "caches/renewed-then-written-later.litmus",
    "caches/displaced-across-rollovers.litmus",
];

/// The mutants that are equivalent in every protocol of this module.
const EQUIVALENT: &str = include_str!("equivalent.txt");
/// The mutants that are equivalent if a compute unit has one clock.
const ONE_CLOCK: &str = include_str!("equivalent-rcc.txt");
/// The mutants that are equivalent if each wavefront has a clock.
const CLOCKS: &str = include_str!("equivalent-g-tsc.txt");

/// Generates a protocol of this module. The argument `$variant` gives the rules in which this protocol
/// differs from the others.
macro_rules! leased {
    (
        $(#[doc = $doc:literal])+
        $module:ident::$protocol:ident, $variant:expr, bits: $bits:literal, lease: $lease:literal,
        explored: $explored:literal, $name:literal, $summary:literal, $source:expr $(, $more:expr)?
    ) => {
        $(#[doc = $doc])+
        pub mod $module {
            use super::*;

            $(#[doc = $doc])+
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub struct $protocol;

            proto::protocol_nodes! {
                $protocol: L1(L1, ToL1), Bank(Bank, ToBank), Host(Host), Rollover(Rollover, ToRollover)
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

            impl Protocol for $protocol {
                type Node = Node;
                type Msg = Msg;
                type Params = Params;

                const INFO: Info = Info {
                    name: $name,
                    summary: $summary,
                    source: $source,
                    claims: if $variant.per_wavefront { G_TSC_CLAIMS } else { RCC_CLAIMS },
                    channels: Channels::Fifo,
                    sharing: Sharing::Unscoped,
                    hosts: Hosts::Direct,
                    equivalent: if $variant.per_wavefront {
                        &[EQUIVALENT, CLOCKS]
                    } else {
                        &[EQUIVALENT, ONE_CLOCK]
                    },
                };
                const KINDS: &'static [Kind] = &[
                    Kind::cache("L1", "l1", Per::Cu).over("l2"),
                    Kind::cache("L2", "l2", Per::Chiplet),
                    Kind::port("Host", "host", Per::Host),
                    Kind::port("Rollover", "rollover", Per::Machine),
                ];
                const SETTINGS: &'static [Setting] = &[
                    Setting {
                        name: "timestamp_bits",
                        unit: "bits",
                        least: 8,
                        most: 32,
                        default: $bits,
                        about: "bits of a timestamp",
                    },
                    Setting {
                        name: "lease",
                        unit: "logical ticks",
                        least: 1,
                        most: 65536,
                        default: $lease,
                        about: "length of a lease",
                    },
                    $($more)?
                ];
                const EXPLORED: &'static [(&'static str, u64)] =
                    &[("timestamp_bits", $explored), ("lease", 1)];

                const OWN_TESTS: &'static [&'static str] = TESTS;

                const TESTED: &'static [(&'static str, &'static [u64])] =
                    &[("timestamp_bits", &[$explored, 3, 8]), ("lease", &[1, 1, 4, 10])];

                fn params(_: &Levels, settings: &Settings) -> Result<Params, String> {
                    Params::new(settings, $variant)
                }

                fn node(id: NodeId, levels: &Levels, params: &Params) -> Node {
                    match id.kind {
                        FIRST => Node::L1(L1::new(levels.of(id.kind), params)),
                        BANK => Node::Bank(Bank::new(levels.of(id.kind), params)),
                        HOST => Node::Host(Host),
                        _ => Node::Rollover(Rollover::default()),
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
                        TableView::of::<RolloverTable>(),
                    ]
                }

                fn plans() -> Vec<PlansView> {
                    vec![PlansView::of::<L1Plans>()]
                }
            }
        }
        pub use $module::$protocol;
    };
}

/// The setting that selects the weak form.
const WEAK: Setting = Setting {
    name: "weak",
    unit: "0 or 1",
    least: 0,
    most: 1,
    default: 0,
    about: "1 gives loads and writes separate times, and gives up the claim of `sc`",
};

const RCC: &str = "Relativistic Cache Coherence (Ren and Lis, HPCA 2017), from its public description";
const G_TSC: &str = "G-TSC (Tabbakh, Qian and Annavaram, HPCA 2018), from its public description";

leased! {
    /// Relativistic cache coherence.
    rcc::Rcc, Variant::RCC, bits: 32, lease: 64, explored: 2, "rcc",
    "leases in logical time: a write is performed at once, at a time after the lease of its line",
    RCC, WEAK
}
leased! {
    /// Coherence by timestamps of wavefronts, as publicly described.
    g_tsc::GTsc, Variant::G_TSC, bits: 16, lease: 10, explored: 2, "g-tsc",
    "leases in logical time, with a clock for each wavefront", G_TSC
}
leased! {
    /// Coherence by timestamps of wavefronts, repaired.
    g_tsc_repaired::GTscRepaired, Variant::G_TSC_REPAIRED, bits: 16, lease: 10, explored: 2, "g-tsc-repaired",
    "g-tsc in which all banks stop before timestamps start again",
    "G-TSC (Tabbakh, Qian and Annavaram, HPCA 2018), from its public description; the repair is not from \
     the paper"
}
leased! {
    /// Relativistic cache coherence, repaired.
    rcc_repaired::RccRepaired, Variant::RCC_REPAIRED, bits: 32, lease: 64, explored: 2, "rcc-repaired",
    "rcc in which no request keeps an old time over a rollover of timestamps",
    "Relativistic Cache Coherence (Ren and Lis, HPCA 2017), from its public description; the repair is \
     not from the paper", WEAK
}

/// Protocols for tests of the rollover, which are not in the list of protocols. Timestamps have one
/// bit in explorations, so that each write but the first waits for a rollover.
pub mod short {
    use super::*;

    leased! {
        /// The protocol `rcc`.
        published::Rcc, Variant::RCC, bits: 32, lease: 64, explored: 1, "rcc-short", "rcc", RCC, WEAK
    }
    leased! {
        /// The protocol `rcc-repaired`.
        repaired::RccRepaired, Variant::RCC_REPAIRED, bits: 32, lease: 64, explored: 1,
        "rcc-repaired-short", "rcc-repaired", RCC, WEAK
    }
    leased! {
        /// The protocol `g-tsc-repaired`.
        per_wavefront::GTscRepaired, Variant::G_TSC_REPAIRED, bits: 16, lease: 10, explored: 1,
        "g-tsc-repaired-short", "g-tsc-repaired", G_TSC
    }
    leased! {
        /// The protocol `rcc-repaired`, but a request that has waited for two rollovers has its old time
        /// again.
        voids::LacksVoids, Variant { voids_old_times: false, ..Variant::RCC_REPAIRED }, bits: 32,
        lease: 64, explored: 1, "rcc-lacks-voids", "rcc-repaired with old times", RCC, WEAK
    }
    leased! {
        /// The protocol `rcc-repaired`, but requests carry no epoch and keep their times.
        epochs::LacksEpochs,
        Variant { carries_epochs: false, voids_old_times: false, ..Variant::RCC_REPAIRED }, bits: 32,
        lease: 64, explored: 1, "rcc-lacks-epochs", "rcc-repaired without epochs", RCC, WEAK
    }
    leased! {
        /// The protocol `rcc-repaired`, but a load may extend a lease to the largest timestamp.
        spares::LacksSpare, Variant { spares_largest: false, ..Variant::RCC_REPAIRED }, bits: 32,
        lease: 64, explored: 1, "rcc-lacks-spare", "rcc-repaired without a spare timestamp", RCC, WEAK
    }
    leased! {
        /// The protocol `rcc-repaired`, but an access at system scope waits for no fetch.
        turns::LacksTurns, Variant { keeps_turns: false, ..Variant::RCC_REPAIRED }, bits: 32,
        lease: 64, explored: 1, "rcc-lacks-turns", "rcc-repaired without turns", RCC, WEAK
    }
}

/// A protocol for tests of late times, which is not in the list of protocols.
pub mod long {
    use super::*;

    leased! {
        /// The protocol `rcc-repaired`. Timestamps have three bits in explorations.
        repaired::RccRepaired, Variant::RCC_REPAIRED, bits: 32, lease: 64, explored: 3,
        "rcc-repaired-long", "rcc-repaired", RCC, WEAK
    }
}
