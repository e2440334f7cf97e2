//! `hlrc`: lazy release consistency for GPUs.
//!
//! Only lines that atomics access are registered. At any time at most one L1 is registered for a
//! line. This L1 performs the atomics on the line, and the L2 records which L1 it is. While the
//! registration of a line stays at an L1, acquires and releases through this line cost nothing
//! there. When the registration moves to another L1, the L1 that loses it flushes, and the L1 that
//! gains it invalidates. Data is cached as in [`crate::vi`].
//!
//! Source: hLRC paper (MICRO 2016), sections II.E, III and V.B to V.C, Table 3 (rows c0 to c23).
//! The protocol's page states how it completes the paper.

mod bank_table;
mod l1;
mod l1_table;
mod plans;
mod repaired_bank_table;
mod repaired_table;

pub use bank_table::BankTable;
pub use l1::{L1, Waiter};
pub use l1_table::{L1Table, LineAction, LineEvent, LineState};
pub use plans::{L1Plans, Step};
pub use repaired_bank_table::RepairedBankTable;
pub use repaired_table::RepairedTable;

use crate::parts::{OPENCL, PTX_WITHOUT_WIDENING, protocol};
use crate::registration::{Bank, Params, ToBank, ToL1};
use proto::Claim;
use proto::issue::IssueRule;

/// The claims (the promised memory models) of the two hLRC protocols that use the published tables.
/// A program need not choose scopes: any scope below system scope is correct.
pub const CLAIMS: &[Claim] = &[
    Claim {
        model: "drf",
        cores: IssueRule::GPUS,
        widening: true,
        mapping: "each operation becomes a request with its memory order, at work-group or device scope, \
                  because both scopes are correct; programs without data races are sequentially consistent",
    },
    OPENCL,
];

/// Generates one of the three hLRC protocols. The three differ in their tables, and in the ranks of
/// eviction victims (which lines are evicted first).
macro_rules! hlrc {
    (
        $(#[doc = $doc:literal])+
        $module:ident::$protocol:ident, $table:ty, $bank_table:ty, retains: $retains:literal,
        $name:literal, $summary:literal, $source:literal, $claims:expr,
        $equivalent:expr
    ) => {
        protocol! {
            $(#[doc = $doc])+
            $module::$protocol,
            L1: cache(L1<$table>, ToL1), Bank(Bank<$bank_table>, ToBank),
            params: Params = Params { retains: $retains },
            name: $name, summary: $summary, source: $source, claims: $claims,
            sharing: Unscoped, equivalent: $equivalent,
            tables: [$table, $bank_table], plans: L1Plans,
            keeps: [L1(parts::ToL1), Bank(parts::ToBank)]
        }
    };
}

hlrc! {
    /// hLRC as published.
    published::Hlrc, L1Table, BankTable, retains: true,
    "hlrc",
    "lazy release consistency: lines with atomics are registered; flushes and invalidations happen when a registration moves",
    "hLRC paper (MICRO 2016), section III, Table 3 (c0-c23), section V.C",
    CLAIMS,
    &[]
}
hlrc! {
    /// hLRC as published, but with plain LRU replacement.
    noprio::HlrcNoprio, L1Table, BankTable, retains: false,
    "hlrc-noprio",
    "hlrc with plain LRU replacement: registered lines are evicted like others",
    "hLRC paper (MICRO 2016), section V.B",
    CLAIMS,
    &[]
}
hlrc! {
    /// hLRC repaired: registration is only a permission to perform atomics.
    repaired::HlrcRepaired, RepairedTable, RepairedBankTable, retains: true,
    "hlrc-repaired",
    "hlrc with registration as a permission only: atomics and ordinary accesses may use the same words",
    "hLRC paper (MICRO 2016), section III; the changed rows are not from the paper",
    &[CLAIMS[0], OPENCL, PTX_WITHOUT_WIDENING],
    &[include_str!("equivalent-repaired.txt")]
}
