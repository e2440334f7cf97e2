//! The L1 table of repaired hLRC: registration is only the permission to perform atomics.
//!
//! As published, atomics on a registered line are performed on the copy in the L1, which is neither
//! flushed nor invalidated. Ordinary loads and stores of the line are performed at the L2. So a word
//! that is used both as an atomic and as data can have one value in the L1 and another value in the
//! L2. In this table, a registered line is flushed and invalidated like any other line.
//! Registration is only the permission to perform atomics on the line.

use super::l1_table::{L1Table, LineAction, LineEvent, LineState};
use proto::{Row, Table, TableId, go, impossible, stall, stay};

/// The state transition table of a line in the L1 of repaired hLRC: some rows differ from the
/// published table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RepairedTable;

impl Table for RepairedTable {
    type State = LineState;
    type Event = LineEvent;
    type Action = LineAction;
    const ID: TableId = L1Table::ID;
    const NAME: &'static str = L1Table::NAME;
    const OWNERS: &'static [LineState] = L1Table::OWNERS;
    const NEVER_STORED: &'static [LineState] = L1Table::NEVER_STORED;

    proto::listed_rows! { RepairedTable::rule: (LineState, LineEvent) -> LineAction }
}

impl RepairedTable {
    const fn rule(state: LineState, event: LineEvent) -> Row<LineState, LineAction> {
        use LineAction::*;
        use LineEvent::*;
        use LineState::*;
        match (state, event) {
            // Data of a registered line is read and written in this cache.
            (R, Load) => stay(&[Reply]),
            (R, Store) => stay(&[Merge, Accept]),
            // The L2 has the invalidated bytes. The bytes written here are sent before
            // the load.
            (RP, Load) => stay(&[Unqueue, WriteOut]).next(),
            (RP, Store | Pass | PassDirty | Grant | Recall | Flushed) => impossible(ACCESS_ONLY),
            (RP, Drain | DrainDrop | Data | DataDirty | Evict | EvictDirty | Inv | InvDirty) => {
                impossible(ACCESS_ONLY)
            }
            // The fill may be older than a store at this point.
            (IR | XR | RF, Load | Store) => stall(),

            // Bytes that atomics have made dirty are flushed like all other dirty bytes.
            (R, Sync | Relaxed) => stay(&[PerformQueued]),
            (RP, Sync | Relaxed) => go(IR, &[Unqueue, WriteOut, KeepDirty, SendRegister]).retry(),
            (XR, Sync | Relaxed) => stall(),
            (_, Forward) => impossible("the bank recalls the registration and does not forward the atomic"),
            (R | RF, Drain) | (RF, DrainDrop) => stay(&[WriteOut]),
            (R, DrainDrop) => stay(&[WriteOut, KeepDirty]),

            // The clean bytes of a registered line are invalidated like those of any other line.
            (R, Inv | InvDirty) => stay(&[KeepDirty]),
            (IR, Inv) => go(XR, &[]),
            (XR, Inv) => stay(&[]),
            (XR, InvDirty) => impossible("no byte is dirty while registration is requested"),
            (XR, Grant) => go(R, &[FillAsked, EndFill, Resume, Wake]),
            // A registered cache that waits for bytes returns the registration after the bytes have
            // arrived.
            (IR | XR, Recall) => stall(),
            (XR, Pass) => stay(&[]),
            (XR, PassDirty) => impossible("no byte is dirty while registration is requested"),
            (XR, Flushed) => impossible("no flush for the line is under way"),
            (XR, Drain | DrainDrop) => impossible("no byte is dirty while registration is requested"),
            (XR, Data | DataDirty) => impossible("no fill is under way"),
            (XR, Evict | EvictDirty) => impossible("a line with a fill or a flush under way is pinned"),

            (state, event) => L1Table::rule(state, event),
        }
    }
}

const ACCESS_ONLY: &str = "the state is only for accesses that need missing bytes";
