//! `stc`: turn-based spatiotemporal coherence for GPUs.
//!
//! Addresses form bands, and time forms epochs. A band is written only in its epoch, and no L1 keeps
//! lines of the band in that epoch. So every copy is up to date, without invalidations, sharers or
//! leases. The epoch management unit changes the epochs of all compute units by a four-way
//! handshake. An acquire invalidates nothing; a write is complete when it is performed at the L2.
//!
//! Source: STC paper (TACO 2023), sections 2 to 4, Tables 1 and 3. The four variants of its section
//! 6 are settings of one code. Decisions where the paper is silent:
//!
//! * *Accesses of one line are in order at the L1* (blank cells of Table 1). The coalescing unit
//!   blocks an address while an older request for it is outstanding (4.2), so an access of a line
//!   waits for a fill or a write of this line that is under way. A load that joined a fill under way
//!   could get bytes that are older than a write which its thread has seen.
//! * *The sweep of the remaining sets at the end of an epoch comes before the change of the register*
//!   that holds the current epoch, and takes no time. In the repaired protocols it comes before the
//!   `ReadyAck`, because the announced epochs take effect for loads at this time.
//! * *The blocked-store queue has no banks.* All writes of an epoch leave it at once, and then the
//!   link of the compute unit limits their rate.
//! * *A full queue or coalescing buffer* holds back the write, and not the pipeline.
//! * *A load of a band in its epoch takes a miss register, but no way*, and fetches the line.
//! * *The period runs from wakeup to wakeup.* If a change of epochs takes longer than a period, the
//!   next wakeup does nothing.
//! * *Every demanded epoch is granted in turn, the current one last*: an epoch is granted again at
//!   the next change if a write was blocked by the change itself.
//! * *Conflicts*: the address bits above the band decide in which direction the start bit moves.
//!   The printed rule compares the bits below the band. These bits include the offset within a
//!   page, which nearly always differs, so that the start bit would never leave its minimum. The
//!   first conflict since the last change counts. A conflict is ignored if its epoch was granted
//!   before the conflict arrived.
//! * *The ETV* of the cost table (one bit for each epoch) has no use that the paper describes, so
//!   this code does not keep it.
//! * *The host* writes memory outside all epochs. An acquire at system scope, such as the beginning
//!   of a kernel after the host has written, invalidates every L1.

mod emu;
mod l1;
mod tables;

pub use emu::Emu;
pub use l1::L1;
pub use tables::{Action, EmuTable, Event, L1Plans, L1Table, Phase, Signal, State, Step};

use crate::parts::{self, BANK, DRF, FIRST, HOST, OPENCL, PTX_WITHOUT_WIDENING, SC, ToBank};
use crate::vi::{BANK_EQUIVALENT, Bank, BankTable, SCOPED_CLAIMS};
use core::fmt;
use proto::parts::Host;
use proto::words::counted;
use proto::{
    Agent, Channels, Claim, Hosts, Info, Kind, Levels, LineAddr, NodeId, Per, PlanKey, PlansView, Protocol,
    Setting, Settings, Sharing, Slot, TableView, Wrap, messages,
};

/// The node of the epoch management unit. A machine has one such unit.
const EMU: NodeId = NodeId { kind: 3, index: 0 };

/// The granted epochs, and the rule that assigns lines to bands (groups of lines). In an epoch, the
/// lines of one band may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grant {
    /// The granted epochs, one bit for each epoch (the time in which one band of lines may be
    /// written).
    set: u32,
    /// The start bit: the lowest bit of a line's number that selects the band (group of lines) to
    /// which the line belongs.
    shift: u8,
    /// The number of epochs, which is also the number of bands (groups of lines that are written in
    /// the same epoch).
    epochs: u32,
    /// Whether bands (groups of lines) are adaptive: if a compute unit loads from a band in which it
    /// has a blocked write, the start bit moves. Some bits of a line's number select the band of the
    /// line, and the start bit is the lowest of them.
    adapts: bool,
}

impl Grant {
    /// The grant at the start: epoch 0, with the smallest start bit (the lowest bit of a line's
    /// number that selects its band).
    fn first(params: &Params) -> Grant {
        let Params { epochs, least_shift: shift, ref variant, .. } = *params;
        Grant { set: 1, shift, epochs, adapts: variant.adapts }
    }

    /// The number of the band (group of lines) to which a line belongs. The epoch in which the line
    /// may be written has the same number.
    fn band(&self, line: LineAddr) -> u32 {
        (line.0 >> self.shift) as u32 % self.epochs
    }

    fn bit(&self, line: LineAddr) -> u32 {
        1 << self.band(line)
    }

    /// Whether the line may be written: whether the epoch (period of time) of its band (group of
    /// lines) is granted.
    fn contains(&self, line: LineAddr) -> bool {
        self.set & self.bit(line) != 0
    }

    /// The first line of the band (group of lines) to which a line belongs.
    fn first_line(&self, line: LineAddr) -> LineAddr {
        LineAddr(u64::from(self.band(line)) << self.shift)
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let granted: Vec<String> =
            (0..self.epochs).filter(|epoch| self.set >> epoch & 1 == 1).map(|e| e.to_string()).collect();
        let word = if granted.len() == 1 { "epoch" } else { "epochs" };
        let lines = counted(1_u64 << self.shift, "line");
        write!(f, "{word} {}; bands of {lines}", granted.join(", "))
    }
}

/// A rule that a protocol of [`lacking`] breaks. The first three are the rules of the STC paper that
/// avoid deadlock (section 3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// DAR1: every band of lines has an epoch, in which these lines may be written.
    EveryBandHasAnEpoch,
    /// DAR2: every epoch (the time in which one band of lines may be written) ends.
    EpochsEnd,
    /// DAR3: every epoch (the time in which one band of lines may be written) is granted again and
    /// again.
    EpochsReturn,
    /// The sweep at the end of an epoch comes before the change of the register that holds the
    /// current epoch (section 4.2).
    SweepComesFirst,
    /// When the start bit moves, the epoch management unit moves the demands (ours).
    DemandsMove,
    /// After each change of epochs, compute units repeat the demands for their blocked writes (ours).
    DemandsAreRepeated,
    /// The start bit rests if it has moved as often as there are epochs, and no change of epochs has
    /// granted all demands since (ours).
    StartBitRests,
    /// An acquire at system scope invalidates the L1s of all compute units.
    AcquiresReachAll,
}

/// The settings in which the variants of the protocol differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// Whether only those epochs (times in which one band of lines each may be written) are granted
    /// that a blocked write has demanded.
    pub skips: bool,
    /// Whether bands (groups of lines) are adaptive: if a compute unit loads from a band in which it
    /// has a blocked write, the start bit moves. Some bits of a line's number select the band of the
    /// line, and the start bit is the lowest of them.
    pub adapts: bool,
    /// The maximum number of epochs that are granted at once. In each epoch, one band of lines may
    /// be written.
    pub bands: usize,
    /// Whether the epoch management unit is repaired: it announces the coming epochs when it asks
    /// the compute units to prepare for a change of epochs, and when the assignment of lines to
    /// epochs changes, it moves each demand for an epoch to the new epoch of the demand's line. It
    /// also limits how often the start bit moves while a demand waits. In an epoch, certain lines may
    /// be written.
    pub repaired: bool,
    /// The rule that the protocol breaks, in a test of this rule. `None` if it follows all rules.
    pub without: Option<Rule>,
}

impl Variant {
    /// The published protocol without optimizations.
    const NAIVE: Variant = Variant { skips: false, adapts: false, bands: 1, repaired: false, without: None };

    /// The settings for the optimizations of the STC paper. `SKIPPING` has epoch skipping: only
    /// demanded epochs are granted. In addition, `ADAPTIVE` has adaptive bands: a conflict changes
    /// which lines form a band (the lines with the same epoch). In addition to both, `MANIFOLD`
    /// grants several epochs at once.
    const SKIPPING: Variant = Variant { skips: true, ..Variant::NAIVE };
    const ADAPTIVE: Variant = Variant { adapts: true, ..Variant::SKIPPING };
    const MANIFOLD: Variant = Variant { bands: 4, ..Variant::ADAPTIVE };

    const fn repaired(self) -> Variant {
        Variant { repaired: true, ..self }
    }

    const fn without(self, rule: Rule) -> Variant {
        Variant { without: Some(rule), ..self }
    }

    /// The number of bytes that the granted epochs take in a message. The message holds the number
    /// of one epoch (one byte) or a set of epochs (two bytes). If the start bit adapts to
    /// conflicts, the message also holds the start bit (one byte).
    fn grant_bytes(&self) -> u8 {
        (if self.bands > 1 { 2 } else { 1 }) + u8::from(self.adapts)
    }
}

/// The parameters of an STC protocol on one machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Params {
    epochs: u32,
    /// The smallest start bit (`least_shift`) and the largest (`most_shift`). The start bit is the
    /// lowest bit of a line's number that selects the band of the line.
    least_shift: u8,
    most_shift: u8,
    /// The number of writes that the blocked-store queue (the writes that wait for their epoch) can
    /// hold.
    queue: usize,
    variant: Variant,
}

impl Params {
    fn new(levels: &Levels, settings: &Settings, variant: Variant) -> Result<Params, String> {
        let line_bits = levels.line_bytes.ilog2();
        let (first, last) = (settings.get("start_bit")? as u32, settings.get("start_bit_max")? as u32);
        if last < first {
            return Err(format!(
                "`start_bit_max` is {last}, expected at least `start_bit`, which is {first}"
            ));
        }
        let least_shift = first.saturating_sub(line_bits) as u8;
        Ok(Params {
            epochs: 1 << settings.get("epoch_bits")?,
            least_shift,
            most_shift: least_shift + (last - first) as u8,
            queue: settings.get("blocked_stores")? as usize,
            variant,
        })
    }
}

/// The settings that a machine file can give. The smallest blocked-store queue (of stores that wait
/// for their epoch) holds 64 stores: a wavefront has 64 lanes, so a shorter queue could not take
/// all stores of one instruction.
const SETTINGS: &[Setting] = &[
    Setting {
        name: "epoch_bits",
        unit: "bits",
        least: 1,
        most: 5,
        default: 4,
        about: "bits of an epoch's number",
    },
    Setting {
        name: "start_bit",
        unit: "bits",
        least: 12,
        most: 32,
        default: 12,
        about: "initial and smallest position of the start bit, the lowest address bit of a band's number",
    },
    Setting {
        name: "start_bit_max",
        unit: "bits",
        least: 12,
        most: 32,
        default: 32,
        about: "largest position of the start bit",
    },
    Setting {
        name: "blocked_stores",
        unit: "stores",
        least: 64,
        most: 65536,
        default: 256,
        about: "maximum number of stores of a compute unit that wait for their epoch",
    },
];

/// The settings with which the explorer checks the protocol. There are two epochs, so that two
/// neighbouring lines are in different bands (may be written in different epochs), and two possible
/// start bits.
const EXPLORED: &[(&str, u64)] =
    &[("epoch_bits", 1), ("start_bit", 0), ("start_bit_max", 1), ("blocked_stores", 2)];

/// The settings of the random tester. On some of its machines, a band has several lines.
const TESTED: &[(&str, &[u64])] = &[("start_bit", &[0, 0, 7]), ("start_bit_max", &[1, 1, 8])];

/// The tests of fills and copies that an epoch or an acquire must end, and of writes that wait for
/// their epochs while the bands change.
const TESTS: &[&str] = &[
    "caches/filled-while-invalidated.litmus",
    "caches/two-written-beside-loaded-of-band.litmus",
    "caches/two-written-on-one-beside-loaded-of-band.litmus",
    "caches/written-beside-loaded-of-band.litmus",
    "caches/written-beside-polled-of-bands.litmus",
    "caches/written-in-three-bands.litmus",
];

messages! {
    /// A message to an L1.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToL1 = Bank(parts::ToL1) {
        /// The epochs will change: complete all pending writes, and issue no others.
        PrepareEpochChange {
            /// The coming epochs. Only the repaired protocol announces them.
            next: Option<Grant>,
            /// The bytes that the coming epochs take in the message.
            bytes: u8,
        } [bytes(|_| u32::from(*bytes))],
        /// All compute units are ready: change to these epochs.
        ChangeEpoch {
            /// The new epochs.
            next: Grant,
            /// The bytes that the new epochs take in the message.
            bytes: u8,
        } [bytes(|_| u32::from(*bytes))],
        /// The demand for an epoch has arrived at the epoch management unit.
        EpochDemandAck,
        /// A request of another L1 to invalidate all lines, because the host has written.
        Invalidate {
            /// The slot of the sender's request.
            slot: Slot,
        } [name("InvalidateL1")],
        /// The answer to a request to invalidate.
        Invalidated {
            /// The slot of the waiting request.
            slot: Slot,
        } [name("L1Invalidated")],
    }
}

messages! {
    /// A message to the epoch management unit.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToEmu {
        /// The sender has no pending write, and issues no write before the epochs change.
        ReadyAck,
        /// The sender has changed to the new epochs.
        DoneAck,
        /// A write to this line's band (group of lines) is blocked.
        EpochDemand {
            /// The line of the write. If bands are not adaptive, the first line of its band.
            line: LineAddr,
            /// Whether bands are adaptive, so that the message carries the whole address.
            adapts: bool,
        } [bytes(|_| if *adapts { 4 } else { 1 })],
        /// The sender loads this line while a write of the sender to the same band (group of
        /// lines) is blocked.
        EpochConflict {
            /// The line of the load.
            line: LineAddr,
        } [bytes(|_| 4)],
    }
}

/// A protocol of spatiotemporal coherence (STC), in which a line may be written only in certain
/// epochs.
pub trait Stc:
    Protocol<Params = Params, Msg: Wrap<ToBank> + Wrap<parts::ToL1> + Wrap<ToL1> + Wrap<ToEmu>>
{
}
impl<P> Stc for P where
    P: Protocol<Params = Params, Msg: Wrap<ToBank> + Wrap<parts::ToL1> + Wrap<ToL1> + Wrap<ToEmu>>
{
}

/// The claims (the promised memory models) of all STC protocols. Memory is atomic, so every program
/// is sequentially consistent on a core that performs one operation at a time. With the cores of a
/// GPU, the protocols also keep the models of scopes, because no scope below system scope makes a
/// difference. A release at system scope flushes the L2 before the access, so the claim of PTX leaves
/// out atomics that widen.
const CLAIMS: &[Claim] = &[DRF, SC, SCOPED_CLAIMS[0], OPENCL, PTX_WITHOUT_WIDENING];

/// The names of the STC protocols as published. The explorer refutes their claims (the promised
/// memory models).
pub const REFUTED: [&str; 4] = ["stc-nv", "stc-es", "stc-ab", "stc-mb"];

/// The names of the STC protocols as published in which a write can wait for ever, because its
/// demand for an epoch (the time in which its line may be written) is lost when the start bit
/// changes.
pub const STARVING: [&str; 2] = ["stc-ab", "stc-mb"];

/// Generates one STC protocol. The argument `$variant` gives the settings in which this protocol
/// differs from the others. The argument `$explored` replaces [`EXPLORED`].
macro_rules! stc {
    (
        $(#[doc = $doc:literal])+
        $module:ident::$protocol:ident, L1: $repaired:literal, $variant:expr,
        $name:literal, $summary:literal, $source:expr $(, explored: $explored:expr)?
    ) => {
        $(#[doc = $doc])+
        pub mod $module {
            use super::*;

            $(#[doc = $doc])+
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub struct $protocol;

            proto::protocol_nodes! {
                $protocol: L1(L1<$repaired>, ToL1), Bank(Bank, ToBank), Host(Host), Emu(Emu, ToEmu)
            }

            impl From<parts::ToL1> for Msg {
                #[inline]
                fn from(msg: parts::ToL1) -> Self {
                    Msg::L1(msg.into())
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
                    claims: CLAIMS,
                    channels: Channels::Fifo,
                    sharing: Sharing::Unscoped,
                    hosts: Hosts::Direct,
                    equivalent: &[BANK_EQUIVALENT, include_str!("equivalent.txt")],
                };
                const KINDS: &'static [Kind] = &[
                    Kind::cache("L1", "l1", Per::Cu).over("l2"),
                    Kind::cache("L2", "l2", Per::Chiplet),
                    Kind::port("Host", "host", Per::Host),
                    Kind::port("EMU", "emu", Per::Machine),
                ];
                const SETTINGS: &'static [Setting] = SETTINGS;
                const EXPLORED: &'static [(&'static str, u64)] = {
                    let all = [EXPLORED $(, $explored)?];
                    all[all.len() - 1]
                };

                const TESTED: &'static [(&'static str, &'static [u64])] = TESTED;
                const OWN_TESTS: &'static [&'static str] = TESTS;

                fn params(levels: &Levels, settings: &Settings) -> Result<Params, String> {
                    Params::new(levels, settings, $variant)
                }

                fn node(id: NodeId, levels: &Levels, params: &Params) -> Node {
                    match id.kind {
                        FIRST => Node::L1(L1::new(levels.of(id.kind), params)),
                        BANK => Node::Bank(Bank::new(levels.of(id.kind), &())),
                        HOST => Node::Host(Host),
                        _ => Node::Emu(Emu::new(params)),
                    }
                }

                #[inline]
                fn entry(_: &Params, agent: Agent, _: PlanKey) -> NodeId {
                    agent.enters(FIRST, HOST)
                }

                fn tables() -> Vec<TableView> {
                    vec![
                        TableView::of::<L1Table<$repaired>>(),
                        TableView::of::<BankTable>(),
                        TableView::of::<EmuTable>(),
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

/// The text that names the source of the repaired protocols.
const REPAIRS: &str = "STC paper (TACO 2023), sections 2 to 4, Table 1; the repairs are not from the paper";

stc! {
    /// STC without optimizations, as published.
    naive::StcNv, L1: false, Variant::NAIVE, "stc-nv",
    "time is divided into epochs: a band of addresses is written only in its epoch, and not cached then",
    "STC paper (TACO 2023), sections 2 to 4.2 and 4.5, Table 1"
}
stc! {
    /// STC without optimizations, repaired.
    naive_repaired::StcNvRepaired, L1: true, Variant::NAIVE.repaired(), "stc-nv-repaired",
    "stc-nv in which L1s give up their copies before each change of epochs, without stale fills",
    REPAIRS
}
stc! {
    /// STC with epoch skipping (only demanded epochs are granted), as published.
    skipping::StcEs, L1: false, Variant::SKIPPING, "stc-es",
    "stc-nv with epoch skipping: blocked writes demand their epochs, and no other epoch is granted",
    "STC paper (TACO 2023), sections 2 to 4.3 and 4.5, Table 1"
}
stc! {
    /// STC with epoch skipping (only demanded epochs are granted), repaired.
    skipping_repaired::StcEsRepaired, L1: true, Variant::SKIPPING.repaired(), "stc-es-repaired",
    "stc-es without stale copies and without stale fills", REPAIRS
}
stc! {
    /// STC with epoch skipping (only demanded epochs are granted) and adaptive bands (conflicts
    /// change which lines have the same epoch), as published.
    adaptive::StcAb, L1: false, Variant::ADAPTIVE, "stc-ab",
    "stc-es with adaptive bands: the start bit of bands moves away from conflicts of loads and writes",
    "STC paper (TACO 2023), sections 2 to 4.5, Table 1"
}
stc! {
    /// STC with epoch skipping (only demanded epochs are granted) and adaptive bands (conflicts
    /// change which lines have the same epoch), repaired.
    adaptive_repaired::StcAbRepaired, L1: true, Variant::ADAPTIVE.repaired(), "stc-ab-repaired",
    "stc-ab without stale copies, without stale fills, and without lost demands for epochs", REPAIRS
}
stc! {
    /// STC with all optimizations, as published.
    manifold::StcMb, L1: false, Variant::MANIFOLD, "stc-mb",
    "stc-ab with several bands: up to four demanded epochs are granted at once",
    "STC paper (TACO 2023), sections 2 to 4.5, Table 1"
}
stc! {
    /// STC with all optimizations, repaired.
    manifold_repaired::StcMbRepaired, L1: true, Variant::MANIFOLD.repaired(), "stc-mb-repaired",
    "stc-mb without stale copies, without stale fills, and without lost demands for epochs", REPAIRS
}

/// Protocols that each lack one property, for a test of this property. They are not in the list of
/// protocols of this crate.
pub mod lacking {
    use super::*;

    stc! {
        /// The repaired protocol, but the epoch management unit does not announce the coming epochs
        /// (which lines may be written next).
        announcement::Announcement, L1: true, Variant::NAIVE, "stc-lacks-announcement",
        "stc-nv-repaired in which the epoch management unit does not announce the coming epochs", REPAIRS
    }
    stc! {
        /// The repaired protocol with all optimizations, with two bands at once and four epochs. So
        /// more epochs can be demanded than one change grants. This protocol lacks nothing.
        room::Room, L1: true, Variant { bands: 2, ..Variant::MANIFOLD.repaired() }, "stc-lacks-room",
        "stc-mb-repaired with up to two bands at once and with four epochs", REPAIRS,
        explored: &[("epoch_bits", 2), ("start_bit", 0), ("start_bit_max", 1), ("blocked_stores", 2)]
    }
    stc! {
        /// The repaired protocol, but one band (group of lines) has no epoch, in which it may be
        /// written.
        an_epoch::AnEpoch, L1: true, Variant::NAIVE.repaired().without(Rule::EveryBandHasAnEpoch),
        "stc-lacks-an-epoch",
        "stc-nv-repaired in which one band (group of lines) has no epoch, so its lines can never be written",
        REPAIRS
    }
    stc! {
        /// The repaired protocol, but no epoch (the time in which one band of lines may be written)
        /// ends.
        an_end::AnEnd, L1: true, Variant::NAIVE.repaired().without(Rule::EpochsEnd),
        "stc-lacks-an-end",
        "stc-nv-repaired in which no epoch ends (the time in which one group of lines may be written)", REPAIRS
    }
    stc! {
        /// The repaired protocol, but each epoch (the time in which one band of lines may be
        /// written) is granted only once.
        a_return::AReturn, L1: true, Variant::NAIVE.repaired().without(Rule::EpochsReturn),
        "stc-lacks-a-return",
        "stc-nv-repaired in which each epoch (time in which one group of lines may be written) is granted only once",
        REPAIRS
    }
    stc! {
        /// The repaired protocol, but the sweep at the end of an epoch comes after the change of the
        /// register that holds the current epoch.
        sweep::Sweep, L1: true, Variant::NAIVE.repaired().without(Rule::SweepComesFirst), "stc-lacks-sweep",
        "stc-nv-repaired in which copies of the ended epoch remain in cache sets without accesses", REPAIRS
    }
    stc! {
        /// The repaired protocol, but an acquire at system scope invalidates only the L1 of its own
        /// compute unit.
        reach::Reach, L1: true, Variant::SKIPPING.repaired().without(Rule::AcquiresReachAll), "stc-lacks-reach",
        "stc-es-repaired in which an acquire at system scope leaves the copies of other compute units", REPAIRS
    }
    stc! {
        /// The repaired protocol with adaptive bands, but the epoch management unit does not move the
        /// demands when the start bit moves.
        moved_demands::MovedDemands, L1: true, Variant::ADAPTIVE.repaired().without(Rule::DemandsMove),
        "stc-lacks-moved-demands",
        "stc-ab-repaired in which demands keep their epochs when the start bit moves", REPAIRS
    }
    stc! {
        /// The repaired protocol with adaptive bands, but compute units do not repeat the demands for
        /// their blocked writes.
        repeated_demands::RepeatedDemands, L1: true,
        Variant::ADAPTIVE.repaired().without(Rule::DemandsAreRepeated), "stc-lacks-repeated-demands",
        "stc-ab-repaired in which compute units do not demand again after a change of epochs", REPAIRS
    }
    stc! {
        /// The repaired protocol with adaptive bands, but the start bit may move at each change of
        /// epochs.
        rest::Rest, L1: true, Variant::ADAPTIVE.repaired().without(Rule::StartBitRests), "stc-lacks-rest",
        "stc-ab-repaired in which the start bit moves although a write has waited for many changes", REPAIRS
    }
}
