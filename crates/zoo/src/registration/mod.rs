//! Shared parts of protocols that register lines. At any time at most one first-level cache is
//! registered for a line, and the L2 records which cache.
//!
//! * [`Bank`] records the owner of a line (the registered cache), and keeps the line while the line
//!   is registered. It grants and recalls registrations, and forwards accesses to the owner. The
//!   table of the protocol decides the bank's reaction to each access.
//! * A first-level cache calls [`register`] to request a registration, [`give_back`] to return it,
//!   and [`victims`] to rank the lines that may be evicted.
//!
//! Sources: hLRC paper (MICRO 2016), sections II.E and III.A.

mod bank;
mod bank_rows;
mod first;
mod msg;
mod round;

pub use bank::{Bank, Rows};
pub use bank_rows::{BankAction, BankEvent, BankState};
pub use first::{EvictableStates, Operand, give_back, register, victims};
pub use msg::{ToBank, ToL1};
pub(crate) use round::{Phase, Round, RoundRequest};

use crate::parts::{HasBankMessages, HasL1Messages};
use proto::{Protocol, Wrap};

/// The parameters of a protocol that registers lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Params {
    /// Whether registered lines are evicted last (after all other lines).
    pub retains: bool,
}

/// A protocol that registers lines.
pub trait RegistrationProtocol:
    HasBankMessages + HasL1Messages + Protocol<Params = Params, Msg: Wrap<ToBank> + Wrap<ToL1>>
{
}
impl<P> RegistrationProtocol for P where
    P: HasBankMessages + HasL1Messages + Protocol<Params = Params, Msg: Wrap<ToBank> + Wrap<ToL1>>
{
}
