//! Registration: one first-level cache at a time is registered for a line, and
//! the L2 knows which. What protocols that register lines share.
//!
//! * [`Bank`] keeps the owner beside the line, whose bytes stay: grants,
//!   recalls, forwards, and holds registered lines for as long as they are
//!   registered. What it does with each access is the table of the protocol.
//! * A first-level cache asks by [`register`], gives back by [`give_back`], and
//!   publishes its [`victims`].
//!
//! Sources: hLRC paper (MICRO 2016), sections II.E and III.A.

mod bank;
mod bank_rows;
mod first;
mod msg;
mod round;

pub use bank::{Bank, Rows};
pub use bank_rows::{BankAction, BankEvent, BankState};
pub use first::{Carried, Settled, give_back, register, victims};
pub use msg::{ToBank, ToL1};

use crate::parts::{Ascends, Descends};
use proto::{Protocol, Wrap};

/// What never changes during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Params {
    /// Are registered lines kept in preference to others?
    pub retains: bool,
}

/// A protocol that registers lines.
pub trait Registers: Descends + Ascends + Protocol<Params = Params, Msg: Wrap<ToBank> + Wrap<ToL1>> {}
impl<P> Registers for P where P: Descends + Ascends + Protocol<Params = Params, Msg: Wrap<ToBank> + Wrap<ToL1>>
{}
