//! The state transition table of a line in an L2 bank of repaired hLRC. The L1s of this protocol
//! use [`super::RepairedTable`].
//!
//! As published, a relaxed atomic is performed in the cache that is registered for the line. A data
//! load or a release of another thread does not see the atomic's result there. In this table, the
//! bank recalls the registration first and then performs the atomic itself, like any other atomic
//! that the L2 performs.

use super::BankTable;
use crate::registration::{BankAction, BankEvent, BankState};
use proto::{Row, Table, TableId, go};

/// The state transition table of a line in a bank of repaired hLRC: one row differs from the
/// published table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RepairedBankTable;

impl Table for RepairedBankTable {
    type State = BankState;
    type Event = BankEvent;
    type Action = BankAction;
    const ID: TableId = BankTable::ID;
    const NAME: &'static str = BankTable::NAME;
    const OWNERS: &'static [BankState] = BankTable::OWNERS;
    const NEVER_STORED: &'static [BankState] = BankTable::NEVER_STORED;

    proto::listed_rows! { RepairedBankTable::rule: (BankState, BankEvent) -> BankAction }
}

impl RepairedBankTable {
    const fn rule(state: BankState, event: BankEvent) -> Row<BankState, BankAction> {
        match (state, event) {
            (BankState::R, BankEvent::Anywhere) => go(BankState::RC, &[BankAction::Recall]).retry(),
            (state, event) => BankTable::rule(state, event),
        }
    }
}
