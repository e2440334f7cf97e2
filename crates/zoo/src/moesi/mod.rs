//! `moesi`: caches that own the lines they write, and a directory of all copies.
//!
//! The L1s and the caches of hosts are coherent. A cache writes a line only while no other cache has a
//! copy. A written line stays in its cache, which owns it: the cache gives the bytes to the directory
//! when another cache reads or writes the line. So a write is atomic, no copy is ever stale, and no
//! release, acquire, or beginning or end of a kernel has anything to do. A directory records all caches
//! that have a copy of a line.
//!
//! Source: Hechtman, PhD thesis (Duke University, 2014), section 3.3 and Table 3.1. The thesis says
//! that its memory models assume a coherence protocol whose caches keep written lines, and that a banked L2
//! has the state of the directory. It names no protocol. Decisions:
//!
//! * *The states are M, O, E, S and I*, and the directory is a full map, inclusive of its caches.
//! * *All answers return through the directory.* With ordered channels, no message between caches, no
//!   message that ends a transaction and no state for a line that leaves are necessary.
//! * *The directory keeps no bytes*, except during a transaction or a recall.
//! * *A cache evicts clean lines silently.* The owner of dirty bytes sends them with its eviction.
//! * *A host has a cache*, which is one more participant.
//!
//! The protocol's page has all decisions.
//!
//! `rfo` is the same protocol by the name that it has in chapter 4 of the thesis (section 4.2.3 and Table
//! 4.1), for another machine.

mod cache;
mod cache_table;
mod directory;
mod directory_table;

pub use cache::{Cache, CacheRows};
pub use cache_table::{
    Action as CacheAction, CachePlans, CacheTable, Event as CacheEvent, State as CacheState,
};
pub use directory::Directory;
pub use directory_table::DirectoryTable;

use crate::parts::{OPENCL, PTX};
use proto::issue::IssueRule;
use proto::{
    Agent, ByteMask, Channels, Claim, Hosts, Info, Kind, Levels, LineAddr, LineData, LineView, NodeId, Per,
    PlanKey, PlansView, Protocol, Settings, Sharing, TableView, Wrap, messages,
};

/// The index of the L1s in the [`Protocol::KINDS`] of the protocol.
pub const L1: u8 = 0;
/// The index of the banks of the directory in the [`Protocol::KINDS`] of the protocol.
pub const DIRECTORY: u8 = 1;
/// The index of the caches of hosts in the [`Protocol::KINDS`] of the protocol.
pub const HOST: u8 = 2;

messages! {
    /// A message to the directory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToDirectory {
        /// A request for a copy of the line.
        GetS {
            /// The requested line.
            line: LineAddr,
        } [line(line), access],
        /// A request to write the line. The sender has no copy.
        GetM {
            /// The requested line.
            line: LineAddr,
        } [line(line), access],
        /// A request to write the line. The sender has a copy.
        Upgrade {
            /// The requested line.
            line: LineAddr,
        } [line(line), access],
        /// The dirty bytes of a line that its owner has evicted.
        Put {
            /// The evicted line.
            line: LineAddr,
            /// The mask of the dirty bytes.
            mask: ByteMask,
            /// The bytes of the line.
            data: LineData,
        } [line(line), bytes(|line_bytes| line_bytes), writes(mask)],
        /// The answer of an owner that has the line and keeps owning it.
        Dirty {
            /// The line.
            line: LineAddr,
            /// The mask of the bytes.
            mask: ByteMask,
            /// The bytes of the line.
            data: LineData,
        } [line(line), bytes(|line_bytes| line_bytes), writes(mask)],
        /// The answer of a recorded owner that has the line with the bytes of memory.
        Clean {
            /// The line.
            line: LineAddr,
            /// The bytes of the line.
            data: LineData,
        } [line(line), bytes(|line_bytes| line_bytes)],
        /// The answer of a recorded owner that has evicted the line.
        Gone {
            /// The line.
            line: LineAddr,
        } [line(line)],
        /// The sender has no copy any more. It did not own dirty bytes of the line.
        Ack {
            /// The line of the copy.
            line: LineAddr,
        } [line(line)],
        /// The sender has no copy any more. It owned the line.
        AckBytes {
            /// The line of the copy.
            line: LineAddr,
            /// The mask of the bytes.
            mask: ByteMask,
            /// The bytes of the line.
            data: LineData,
        } [line(line), bytes(|line_bytes| line_bytes), writes(mask)],
    }
}

messages! {
    /// A message to a cache.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToCache {
        /// A copy of the line. Other caches may have copies.
        DataS {
            /// The line.
            line: LineAddr,
            /// The bytes of the line.
            data: LineData,
        } [line(line), bytes(|line_bytes| line_bytes)],
        /// The only copy of the line.
        DataE {
            /// The line.
            line: LineAddr,
            /// The bytes of the line.
            data: LineData,
        } [line(line), bytes(|line_bytes| line_bytes)],
        /// The line, which the receiver owns and may write.
        DataM {
            /// The line.
            line: LineAddr,
            /// The bytes of the line.
            data: LineData,
        } [line(line), bytes(|line_bytes| line_bytes)],
        /// The copy of the receiver is the only one: the receiver owns the line and may write it.
        Grant {
            /// The line.
            line: LineAddr,
        } [line(line)],
        /// A request to invalidate the copy of the line.
        Inv {
            /// The line.
            line: LineAddr,
        } [line(line)],
        /// A request for the bytes of the line, which another cache reads.
        Share {
            /// The line.
            line: LineAddr,
        } [line(line)],
    }
}

/// A property of `moesi` that a test protocol lacks. Tests show that the explorer then finds a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MissingProperty {
    /// The directory does not invalidate the last of the sharers.
    AnInvalidation,
    /// The directory does not forget the owner of a line with sharers that the owner has evicted.
    AForgottenOwner,
    /// The directory does not write the bytes to memory that a recall brings.
    RecalledBytes,
}

/// The parameters of the protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Params {
    /// The property that the protocol lacks. `None` for the protocol `moesi` itself.
    missing: Option<MissingProperty>,
}

/// A protocol with the caches of `moesi`.
pub trait Coherent: Protocol<Msg: Wrap<ToCache> + Wrap<ToDirectory>> {}
impl<P: Protocol<Msg: Wrap<ToCache> + Wrap<ToDirectory>>> Coherent for P {}

/// A protocol with the caches and the directory of `moesi`: `moesi` itself, the same protocol on
/// another machine, or a test protocol that lacks one property.
pub trait Recorded: Coherent + Protocol<Params = Params> {}
impl<P: Coherent + Protocol<Params = Params>> Recorded for P {}

/// The claims (the promised memory models) of the protocol. Memory is atomic, so a program has the
/// outcomes that its cores allow.
const CLAIMS: &[Claim] = &[
    Claim {
        model: "sc",
        cores: &[IssueRule::InOrder, IssueRule::ScWriteBuffer],
        widening: true,
        mapping: "each operation becomes a request, at any scope; every program is sequentially \
                  consistent, with or without data races, and also on hosts",
    },
    Claim {
        model: "tso",
        cores: &[IssueRule::Tso],
        widening: true,
        mapping: "each operation becomes a request, at any scope; every program obeys total store order",
    },
    Claim {
        model: "rmo",
        cores: &[IssueRule::Rmo],
        widening: true,
        mapping: "each operation becomes a request, at any scope; every program obeys relaxed memory order",
    },
    OPENCL,
    PTX,
];

/// Finds two caches whose lines exclude one another, or a copy that the directory does not record:
/// a line has at most one owner, a line in E or M is the only copy, all copies have the same bytes,
/// and a line with a copy has an entry in the directory.
fn disagreement(lines: &[(NodeId, LineView)]) -> Option<String> {
    let is_copy = |(node, view): &&(NodeId, LineView)| node.kind != DIRECTORY && !view.valid.is_empty();
    let is_sole = |view: &LineView| matches!(view.state, "E" | "M");
    let of = |line: LineAddr| lines.iter().filter(move |(_, view)| view.line == line);
    for (node, view) in lines.iter().filter(is_copy) {
        let LineView { line, state, .. } = *view;
        if of(line).all(|(other, _)| other.kind != DIRECTORY) {
            return Some(format!(
                "line {} is in {state} in a cache, and the directory has no entry for it",
                line.0
            ));
        }
        let others = of(line).filter(is_copy).filter(|(other, _)| other > node);
        for (_, other) in others {
            let (one, two) = (state, other.state);
            if view.owns && other.owns || is_sole(view) || is_sole(other) {
                return Some(format!("line {} is in {one} in a cache and in {two} in another one", line.0));
            }
            if view.data != other.data {
                return Some(format!("two copies of line {} have different bytes", line.0));
            }
        }
    }
    None
}

/// The part of the thesis that describes the machine of `moesi`.
const CHAPTER_3: &str = "Hechtman, PhD thesis (Duke University, 2014), section 3.3 and Table 3.1";

/// Generates `moesi`, `rfo`, or a test protocol that lacks one property of `moesi`.
macro_rules! moesi {
    (
        $(#[doc = $doc:literal])+
        $module:ident::$protocol:ident, missing: $missing:expr, $name:literal, $summary:literal, $source:expr
    ) => {
        $(#[doc = $doc])+
        pub mod $module {
            use super::*;

            $(#[doc = $doc])+
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub struct $protocol;

            proto::protocol_nodes! {
                $protocol: L1(Cache, ToCache), Directory(Directory, ToDirectory), Host(Cache, ToCache);
                ToCache => L1 | Host,
                ToDirectory => Directory,
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
                    hosts: Hosts::Cached,
                    equivalent: &[include_str!("equivalent.txt")],
                };
                const KINDS: &'static [Kind] = &[
                    Kind::cache("L1", "l1", Per::Cu).over("directory"),
                    Kind::cache("Directory", "directory", Per::Chiplet).like("l2"),
                    Kind::cache("Host", "host", Per::Host).over("directory").like("l1"),
                ];

                const AGREES: bool = true;

                fn params(_: &Levels, _: &Settings) -> Result<Params, String> {
                    Ok(Params { missing: $missing })
                }

                fn node(id: NodeId, levels: &Levels, _: &Params) -> Node {
                    let level = levels.of(id.kind);
                    match id.kind {
                        L1 => Node::L1(Cache::new(level)),
                        DIRECTORY => Node::Directory(Directory::new(level)),
                        _ => Node::Host(Cache::new(level)),
                    }
                }

                #[inline]
                fn entry(_: &Params, agent: Agent, _: PlanKey) -> NodeId {
                    agent.enters(L1, HOST)
                }

                fn tables() -> Vec<TableView> {
                    vec![TableView::of::<CacheTable>(), TableView::of::<DirectoryTable>()]
                }

                fn plans() -> Vec<PlansView> {
                    vec![PlansView::of::<CachePlans>()]
                }

                fn disagreement(lines: &[(NodeId, LineView)]) -> Option<String> {
                    disagreement(lines)
                }
            }
        }
    };
}

moesi! {
    /// Caches that own the lines they write, and a directory of all copies.
    protocol::Moesi, missing: None, "moesi",
    "MOESI: L1s and hosts own the lines that they write, and a directory keeps all copies coherent",
    CHAPTER_3
}
pub use protocol::Moesi;

moesi! {
    /// The protocol `moesi` on the machine of an APU.
    apu::Rfo, missing: None, "rfo",
    "read for ownership: moesi, as an idealized GPU memory system beside hosts",
    "Hechtman, PhD thesis (Duke University, 2014), section 4.2.3 and Table 4.1"
}
pub use apu::Rfo;

/// Protocols that lack one property, for the tests of this property. They are not in the list of
/// protocols.
pub mod lacking {
    use super::*;

    moesi! {
        /// The protocol `moesi`, but one sharer is not invalidated.
        an_invalidation::AnInvalidation, missing: Some(MissingProperty::AnInvalidation),
        "moesi-lacks-an-invalidation", "moesi with a sharer that is not invalidated",
        CHAPTER_3
    }
    pub use an_invalidation::AnInvalidation;

    moesi! {
        /// The protocol `moesi`, but an owner stays recorded after it has evicted its line.
        a_forgotten_owner::AForgottenOwner, missing: Some(MissingProperty::AForgottenOwner),
        "moesi-lacks-a-forgotten-owner", "moesi with an owner that stays recorded after its eviction",
        CHAPTER_3
    }
    pub use a_forgotten_owner::AForgottenOwner;

    moesi! {
        /// The protocol `moesi`, but the bytes that a recall brings are lost.
        recalled_bytes::RecalledBytes, missing: Some(MissingProperty::RecalledBytes),
        "moesi-lacks-recalled-bytes", "moesi with recalls that lose the bytes of the owner",
        CHAPTER_3
    }
    pub use recalled_bytes::RecalledBytes;
}
