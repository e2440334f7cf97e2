//! `denovo-b`: DeNovo, with registration of whole lines.
//!
//! A line that a store or an atomic accesses is registered. At any time at most one L1 owns the
//! line, with up-to-date bytes, and the L2 records the owner. Stores collect in the L1, and the
//! next release registers the stored lines. Nothing is written through. An acquire invalidates
//! unregistered lines. Scopes below the system are ignored.
//!
//! Source: hLRC paper (MICRO 2016), sections II.E and IV, Table 3 (rows b0 to b26). The protocol's
//! page states how it completes the paper.

mod bank_table;
mod l1;
mod l1_table;
mod plans;

pub use bank_table::BankTable;
pub use l1::L1;
pub use l1_table::{L1Table, LineAction, LineEvent, LineState};
pub use plans::{L1Plans, Step};

use crate::parts::{DRF, OPENCL, PTX_WITHOUT_WIDENING, protocol};
use crate::registration::{Bank, Params, ToBank, ToL1};
use proto::Claim;

/// The claims (the promised memory models) of both DeNovo protocols. A program need not choose
/// scopes: any scope below system scope is correct.
pub const CLAIMS: &[Claim] = &[DRF, OPENCL, PTX_WITHOUT_WIDENING];

/// Generates one of the two DeNovo protocols. The two differ only in the ranks of eviction victims
/// (which lines are evicted first).
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
    /// DeNovo-B with plain LRU replacement.
    plain::DenovoB, retains: false,
    "denovo-b",
    "DeNovo: written lines are registered, and stay in the cache that wrote them",
    "hLRC paper (MICRO 2016), sections II.E, IV and V.A, Table 3 (b0-b26)"
}
denovo! {
    /// DeNovo-B that evicts registered lines last.
    rprio::DenovoRprio, retains: true,
    "denovo-rprio",
    "denovo-b with registered lines evicted last, in the L1 and in the L2",
    "hLRC paper (MICRO 2016), section V.B"
}
