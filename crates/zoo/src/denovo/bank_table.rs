//! The state transition table of a line in an L2 bank of DeNovo.

use crate::registration::{BankAction, BankEvent, BankState};
use proto::{Row, Table, TableId, go, impossible, stall, stay};

/// The state transition table of a line in an L2 bank of DeNovo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BankTable;

const NO_LINE: &str = "there is no line";
const NO_FETCH: &str = "no fetch is under way";
const UNOWNED: &str = "no cache is registered";
const ACCESS_ONLY: &str = "the state is only for accesses that need missing bytes";
const PINNED: &str = "a line with a fetch or a recall under way is pinned";
const ENDED: &str = "acquires and releases at system scope wait until no fetch is under way";
const RECALLED: &str = "acquires and releases at system scope recall registered lines first";
const REGISTERED: &str =
    "no L1 sends this access: written bytes reach the bank only when a registration returns";

impl Table for BankTable {
    type State = BankState;
    type Event = BankEvent;
    type Action = BankAction;
    const ID: TableId = TableId(2);
    const NAME: &'static str = "A line in an L2 bank";
    // Bytes that return with a registration stay dirty in the bank under any write policy.
    const OWNERS: &'static [BankState] = &[BankState::V, BankState::R];
    const NEVER_STORED: &'static [BankState] = &[BankState::P];

    proto::listed_rows! { BankTable::rule: (BankState, BankEvent) -> BankAction }
}

impl BankTable {
    const fn rule(state: BankState, event: BankEvent) -> Row<BankState, BankAction> {
        use BankAction as A;
        use BankEvent::*;
        use BankState::*;
        match (state, event) {
            (_, Write | WriteThrough | WriteDrop | Read | Anywhere) => impossible(REGISTERED),
            (_, Renew) => impossible("all bytes of a registered line are valid"),

            (I | P, Get | Register | Unregistered) => go(IV, &[A::Fetch]).retry(),
            (I, System) => stay(&[A::PassOn]),
            (I, Return) => impossible(UNOWNED),
            (I, Fill) => impossible(NO_FETCH),
            (I, Evict | Call | Inv | InvDirty | Flush) => impossible(NO_LINE),
            (P, System | Return | Fill | Evict | Call | Inv | InvDirty | Flush) => impossible(ACCESS_ONLY),

            (V, Get | Unregistered) => stay(&[A::SendData]),
            (V, Register) => go(R, &[A::Own, A::Grant]),
            (V, System) => go(I, &[A::WriteOut, A::PassOn]),
            (V, Return | Call) => impossible(UNOWNED),
            (V, Fill) => impossible(NO_FETCH),
            // Bytes that returned with a registration are still dirty, and are written out now.
            (V, Evict) => go(I, &[A::WriteOut]),
            (V, Inv) => go(I, &[]),
            (V, InvDirty) => stay(&[A::KeepDirty]),
            (V, Flush) => stay(&[A::WriteOut]),

            (IV, Get | Register | Unregistered | System) => stall(),
            (IV, Fill) => go(V, &[A::Fill, A::EndFetch, A::Wake]),
            (IV, Return | Call) => impossible(UNOWNED),
            (IV, Evict) => impossible(PINNED),
            (IV, Inv | InvDirty) => impossible(ENDED),
            (IV | R | RC | RE, Flush) => stay(&[A::WriteOut]),

            // Only the owner has all current bytes of the line, so it serves the load.
            (R, Get) => stay(&[A::Forward]),
            (R, Register | Unregistered | System) => go(RC, &[A::Recall]).retry(),
            (R, Evict) => go(RE, &[A::Recall]),
            (R, Call) => go(RC, &[A::Recall]),
            (R, Return) => go(V, &[A::TakeBack, A::Wake]),
            (RC, Return) => go(V, &[A::TakeBack, A::EndRecall, A::Wake]),
            (RE, Return) => go(I, &[A::TakeBack, A::WriteOut, A::EndRecall, A::Wake]),
            (RC | RE, Get | Register | Unregistered | System) => stall(),
            (RC | RE, Evict) => impossible(PINNED),
            (RC | RE, Call) => impossible("a line under recall is not recalled again"),
            (R | RC | RE, Fill) => impossible(NO_FETCH),
            (R | RC | RE, Inv | InvDirty) => impossible(RECALLED),
        }
    }
}
