//! Registration: one first-level cache at a time is registered for a line, and
//! the L2 knows which. What protocols that register lines share.
//!
//! * [`Bank`] keeps the owner beside the line, whose bytes stay: grants,
//!   recalls, forwards, and holds registered lines for as long as they are
//!   registered. What it does with each access is the table of the protocol.
//! * [`Reach`] is the way from a first-level cache to the banks, with flushes
//!   that a registration waits for before it is given back.
//!
//! Sources: hLRC paper (MICRO 2016), sections II.E and III.A.

mod bank;
mod bank_rows;
mod msg;
mod reach;
mod round;
mod variant;

pub use bank::{Bank, Rows, perform};
pub use bank_rows::{BankAction, BankEvent, BankState};
pub use msg::{How, ToBank, ToL1};
pub use reach::{Reach, Waiter, answer_bytes, bank, go_on_later};
pub(crate) use variant::variant;

use proto::Shape;

/// What never changes during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Params {
    /// The machine.
    pub shape: Shape,
    /// Are registered lines kept in preference to others?
    pub retains: bool,
}
