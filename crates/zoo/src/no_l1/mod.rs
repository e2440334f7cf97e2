//! `no-l1`: every access is performed at the L2 or below.
//!
//! If the first-level caches are not used, they cannot be incoherent. The port of a compute unit,
//! its entry to the network, holds only outstanding operations. Plain stores and updates without a
//! result are posted: they do not wait for their acks, but a later release does. An acquire or a
//! release at work-group scope need not wait, because messages from one port to one bank stay in
//! order, and all work-items of a work-group use the same port.
//!
//! Source: HRF paper (ASPLOS 2014), section 2.3 (potentially shared data made uncachable). The
//! banks are those of [`crate::vi`].

mod port;

pub use port::{Port, PortPlans};

use crate::parts::{ToBank, ToL1, protocol};
use crate::vi::{BANK_EQUIVALENT, Bank, BankTable, SCOPED_CLAIMS};

protocol! {
    /// The protocol without first-level caches.
    protocol::NoL1,
    Port: port(Port, ToL1), Bank(Bank, ToBank),
    name: "no-l1",
    summary: "L1 bypassed: every access is performed at the L2 or below",
    source: "HRF paper (ASPLOS 2014), section 2.3",
    claims: SCOPED_CLAIMS,
    sharing: Scoped,
    equivalent: &[BANK_EQUIVALENT, include_str!("equivalent.txt")],
    tables: [BankTable], plans: PortPlans
}
