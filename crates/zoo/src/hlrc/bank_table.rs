//! The state transition table of a line in an L2 bank of hLRC, as published.

use crate::registration::{BankAction, BankEvent, BankState};
use proto::{Row, Table, TableId, go, impossible, stall, stay};

/// The state transition table of a line in an L2 bank of hLRC, as published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BankTable;

const NO_LINE: &str = "there is no line";
const NO_FETCH: &str = "no fetch is under way";
const UNOWNED: &str = "no cache is registered";
const ACCESS_ONLY: &str = "the state is only for accesses that need missing bytes";
const PINNED: &str = "a line with a fetch or a recall under way is pinned";
const ENDED: &str = "acquires and releases at system scope wait until no fetch is under way";
const RECALLED: &str = "acquires and releases at system scope recall registered lines first";

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
    pub(super) const fn rule(state: BankState, event: BankEvent) -> Row<BankState, BankAction> {
        use BankAction as A;
        use BankEvent::*;
        use BankState::*;
        match (state, event) {
            (I | P, Get | Read | Register | Anywhere | Unregistered) => go(IV, &[A::Fetch]).retry(),
            // Partial writes need no fetch: the dirty mask records their bytes.
            (I, Write) => go(V, &[A::Merge, A::Ack]),
            (I, WriteThrough) => go(V, &[A::Merge, A::WriteOut, A::Ack]),
            (I, WriteDrop) => stay(&[A::WriteMemory, A::Ack]),
            (I, System) => stay(&[A::PassOn]),
            (I, Renew | Return) => impossible(UNOWNED),
            (I, Fill) => impossible(NO_FETCH),
            (I, Evict | Call | Inv | InvDirty | Flush) => impossible(NO_LINE),

            (P, Write | WriteThrough | WriteDrop | Renew | System | Return | Fill) => impossible(ACCESS_ONLY),
            (P, Evict | Call | Inv | InvDirty | Flush) => impossible(ACCESS_ONLY),

            (V, Get) => stay(&[A::SendData]),
            // The results of atomics stay here, because lines that may be registered
            // are not written through.
            (V, Read | Anywhere | Unregistered) => stay(&[A::Perform]),
            (V, Write) => stay(&[A::Merge, A::Ack]),
            (V, WriteThrough) => stay(&[A::Merge, A::WriteOut, A::Ack]),
            (V, WriteDrop) => go(I, &[A::Merge, A::WriteOut, A::Ack]),
            (V, Register) => go(R, &[A::Own, A::Grant]),
            (V, System) => go(I, &[A::WriteOut, A::PassOn]),
            (V, Renew | Return | Call) => impossible(UNOWNED),
            (V, Fill) => impossible(NO_FETCH),
            (V, Evict) => go(I, &[A::WriteOut]),
            (V, Inv) => go(I, &[]),
            (V, InvDirty) => stay(&[A::KeepDirty]),
            (V, Flush) => stay(&[A::WriteOut]),

            (IV, Get | Read | Register | Anywhere | Unregistered | System) => stall(),
            (IV | R | RC | RE, Write) => stay(&[A::Merge, A::Ack]),
            // The line has a way, so the bank merges a flushed write even if its policy keeps no
            // copy of written lines. The write never stalls, because a recall may wait for it.
            (IV | R | RC | RE, WriteThrough | WriteDrop) => stay(&[A::Merge, A::WriteOut, A::Ack]),
            (IV, Fill) => go(V, &[A::Fill, A::EndFetch, A::Wake]),
            (IV, Renew | Return | Call) => impossible(UNOWNED),
            (IV, Evict) => impossible(PINNED),
            (IV, Inv | InvDirty) => impossible(ENDED),
            (IV | R | RC | RE, Flush) => stay(&[A::WriteOut]),

            // The data of a registered line is in this bank.
            (R | RC | RE, Get) => stay(&[A::SendData]),
            (R | RC | RE, Read) => stay(&[A::Perform]),
            // The owner requested the bytes before it received the recall, and returns the
            // registration only after this grant.
            (R | RC | RE, Renew) => stay(&[A::Grant]),
            (R, Register | Unregistered | System) => go(RC, &[A::Recall]).retry(),
            (R, Anywhere) => stay(&[A::Forward]),
            (R, Evict) => go(RE, &[A::Recall]),
            (R, Call) => go(RC, &[A::Recall]),
            // No input waits for a registered line whose registration is not recalled.
            (R, Return) => go(V, &[A::TakeBack]),
            (RC, Return) => go(V, &[A::TakeBack, A::EndRecall, A::Wake]),
            (RE, Return) => go(I, &[A::TakeBack, A::WriteOut, A::EndRecall, A::Wake]),
            (RC | RE, Register | Anywhere | Unregistered | System) => stall(),
            (RC | RE, Evict) => impossible(PINNED),
            (RC | RE, Call) => impossible("a line under recall is not recalled again"),
            (R | RC | RE, Fill) => impossible(NO_FETCH),
            (R | RC | RE, Inv | InvDirty) => impossible(RECALLED),
        }
    }
}
