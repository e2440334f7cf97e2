//! The table of a line in the L1, with registration as a permission only.
//!
//! As published, the bytes of a registered line are neither flushed nor
//! invalidated, and data of the line is at the L2. A word that is data as well
//! as an atomic is then in two places at once. Here a registered line is a line
//! like any other, which this cache may perform atomics on; others take it back.

use super::l1_table::{L1Table, LineAction, LineEvent, LineState};
use proto::{Row, Table, TableId, go, impossible, stall, stay};

/// The table of a line in the L1, repaired: the rows that differ.
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

    fn row(state: LineState, event: LineEvent) -> Row<LineState, LineAction> {
        use LineAction::*;
        use LineEvent::*;
        use LineState::*;
        match (state, event) {
            // Data is read and written in place.
            (R, Load) => stay(&[Reply]),
            (R, Store) => stay(&[Merge, Accept]),
            // The L2 has the bytes that were dropped, and those written here
            // come before the load on its way.
            (RP, Load) => stay(&[Unqueue, WriteOut]).next(),
            (RP, Store | Pass | PassDirty | Grant | Recall | Flushed) => impossible(ACCESS_ONLY),
            (RP, Drain | DrainDrop | Data | DataDirty | Evict | EvictDirty | Inv | InvDirty) => {
                impossible(ACCESS_ONLY)
            }
            // The coming bytes may be older than what is stored now.
            (IR | XR | RF, Load | Store) => stall(),

            // What atomics write is flushed with all the rest.
            (R, Sync | Relaxed) => stay(&[PerformQueued]),
            (RP, Sync | Relaxed) => go(IR, &[Unqueue, WriteOut, KeepDirty, SendRegister]).retry(),
            (XR, Sync | Relaxed) => stall(),
            (_, Forward) => impossible("the bank takes registration back instead"),
            (R | RF, Drain) | (RF, DrainDrop) => stay(&[WriteOut]),
            (R, DrainDrop) => stay(&[WriteOut, KeepDirty]),

            // Its bytes are invalidated with all the rest.
            (R, Inv | InvDirty) => stay(&[KeepDirty]),
            (IR, Inv) => go(XR, &[]),
            (XR, Inv) => stay(&[]),
            (XR, InvDirty) => impossible("nothing is dirty while registration is asked for"),
            (XR, Grant) => go(R, &[FillAsked, EndFill, Resume, Wake]),
            // Who is registered already waits for bytes, and gives it back then.
            (IR | XR, Recall) => stall(),
            (XR, Pass) => stay(&[]),
            (XR, PassDirty) => impossible("nothing is dirty while registration is asked for"),
            (XR, Flushed) => impossible("no flush was begun for the line"),
            (XR, Drain | DrainDrop) => impossible("nothing is dirty while registration is asked for"),
            (XR, Data | DataDirty) => impossible("no fill is under way"),
            (XR, Evict | EvictDirty) => impossible("a line with a fill or a flush under way is pinned"),

            (state, event) => L1Table::row(state, event),
        }
    }
}

const ACCESS_ONLY: &str = "only an access asks for bytes";
