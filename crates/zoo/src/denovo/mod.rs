//! `denovo-b`: DeNovo, with registration of whole lines.
//!
//! A line that is written, or that an atomic touches, is registered: one L1 at
//! a time has it, up to date, and the L2 knows which. Stores gather in the L1
//! and are registered by the next release; nothing is written through. An
//! acquire invalidates what is not registered. Scopes below the system are
//! ignored.
//!
//! Source: hLRC paper (MICRO 2016), sections II.E and IV, Table 3 (rows b0 to
//! b26). What it leaves open is stated on the protocol's page.

mod bank_table;
mod l1;
mod l1_table;
mod plans;

pub use bank_table::BankTable;
pub use l1::L1;
pub use l1_table::{L1Table, LineAction, LineEvent, LineState};
pub use plans::{L1Plans, Step};

use crate::parts::{DRF, OPENCL, PTX, protocol};
use crate::registration::{Bank, Params, ToBank, ToL1};
use proto::Claim;

/// No operation of a program needs a scope, and none makes it wrong.
pub const CLAIMS: &[Claim] = &[DRF, OPENCL, PTX];

/// The two differ in what is given up first.
macro_rules! denovo {
    (
        $(#[doc = $doc:literal])+
        $module:ident::$protocol:ident, retains: $retains:literal,
        $name:literal, $summary:literal, $source:literal
    ) => {
        protocol! {
            $(#[doc = $doc])+
            $module::$protocol,
            L1: cache(L1, ToL1), Bank(Bank<BankTable>, ToBank),
            params: Params = Params { retains: $retains },
            name: $name, summary: $summary, source: $source, claims: CLAIMS,
            sharing: Unscoped, equivalent: &[include_str!("equivalent.txt")],
            tables: [L1Table, BankTable], plans: L1Plans,
            keeps: [L1(parts::ToL1), Bank(parts::ToBank)]
        }
    };
}

denovo! {
    /// DeNovo-B, with plain LRU replacement.
    plain::DenovoB, retains: false,
    "denovo-b",
    "DeNovo: what is written is registered, and stays where it was written",
    "hLRC paper (MICRO 2016), sections II.E, IV and V.A, Table 3 (b0-b26)"
}
denovo! {
    /// DeNovo-B that keeps registered lines in preference to others.
    rprio::DenovoRprio, retains: true,
    "denovo-rprio",
    "denovo-b with registered lines kept in preference to others, in the L1 and in the L2",
    "hLRC paper (MICRO 2016), section V.B"
}
