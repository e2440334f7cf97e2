//! `vi`: the GPU baseline with scopes.
//!
//! A line is valid or absent. A cache writes without permission and records dirty bytes in a mask.
//! The level of work-group scope is the L1, the level of device scope is the L2, and the level of
//! system scope is memory. An atomic is performed at the level of its scope. A release flushes the
//! caches above the level of its scope, and an acquire invalidates these caches.
//!
//! Sources: HRF paper (ASPLOS 2014), section 3.2 and Figure 4; hLRC paper (MICRO 2016), sections II
//! and IV, Table 3 (rows a0-a2, a6-a8, a15-a18). The papers differ in the write policy of caches,
//! so the policy is a parameter of the machine. The protocol's page states how it completes the
//! papers.

mod bank;
mod bank_table;
mod l1;
mod l1_table;
mod step;

pub use bank::Bank;
pub(crate) use bank_table::BankState;
pub use bank_table::BankTable;
pub use l1::{L1, Writers};
pub use l1_table::{L1Plans, L1Table};
pub(crate) use l1_table::{plan, release};
pub use step::Step;

use crate::parts::{OPENCL, PTX_WITHOUT_WIDENING, ToBank, ToL1, protocol};
use proto::issue::IssueRule;
use proto::{Claim, Slot};

/// The claims (the promised memory models) of every protocol that performs atomics at the level of
/// their scope.
pub const SCOPED_CLAIMS: &[Claim] = &[
    Claim {
        model: "hrf-indirect",
        cores: IssueRule::GPUS,
        widening: true,
        mapping: "each operation becomes a request with its memory order and scope; programs without \
                  heterogeneous races are sequentially consistent",
    },
    OPENCL,
    PTX_WITHOUT_WIDENING,
];

/// The equivalent mutants (undetectable seeded faults) of the bank. `L1_EQUIVALENT` lists those of
/// the L1, and the other two those of the plans. Other protocols also use the lists of the bank and the
/// L1, and protocols with more steps use `L1_PLANS_EQUIVALENT`.
pub(crate) const BANK_EQUIVALENT: &str = include_str!("equivalent-bank.txt");
pub(crate) const L1_EQUIVALENT: &str = include_str!("equivalent-l1.txt");
pub(crate) const L1_PLANS_EQUIVALENT: &str = include_str!("equivalent-l1-plans.txt");
pub(crate) const PLANS_EQUIVALENT: &str = include_str!("equivalent-plans.txt");

protocol! {
    /// The GPU baseline with scopes.
    protocol::Vi,
    L1: cache(L1<Slot>, ToL1), Bank(Bank, ToBank),
    name: "vi",
    summary: "GPU baseline with scopes: write without permission, flush at releases, invalidate at acquires",
    source: "HRF paper (ASPLOS 2014), section 3.2; hLRC paper (MICRO 2016), sections II and IV, Table 3 \
             without the remote operations",
    claims: SCOPED_CLAIMS,
    sharing: Scoped,
    equivalent: &[BANK_EQUIVALENT, L1_EQUIVALENT, L1_PLANS_EQUIVALENT, PLANS_EQUIVALENT],
    tables: [L1Table, BankTable], plans: L1Plans
}
