//! `rsp`: scopes, and remote operations across them.
//!
//! It is [`crate::vi`] with *remote* operations. A remote operation synchronizes with operations of
//! work-group scope on other compute units. A release of work-group scope leaves its writes in the
//! L1 of its own compute unit, and an acquire of work-group scope reads only the L1 of its own
//! compute unit. The requester of a remote operation does not know which L1s hold such writes or
//! serve such acquires. So all L1s flush, invalidate, and hold back read-modify-writes of
//! work-group scope while the L2 or memory updates the word.
//!
//! Source: hLRC paper (MICRO 2016), section II.D, Tables 2 and 3 (rows a0 to a25), after Orr et al.
//! (ASPLOS 2015) and Wickerson et al. (OOPSLA 2015). The order of the rows is as printed. The
//! protocol's page states how it completes the rows, and the consequences of the order of a3 to a5.

mod l1;
mod locks;
mod plans;

pub use l1::{L1, RspPlansOf, Waiter};
pub use locks::Locks;
pub use plans::{Remote, RepairedPlans, RspPlans, Step};

use crate::parts::{self, PTX_WITHOUT_WIDENING, ToBank, protocol};
use crate::vi::{BANK_EQUIVALENT, Bank, BankTable, L1_EQUIVALENT, L1_PLANS_EQUIVALENT, L1Table};
use proto::issue::IssueRule;
use proto::{Claim, Slot, messages};

messages! {
    /// A message to an L1: from a bank, or from another L1 for a remote operation.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToL1 = Bank(parts::ToL1) {
        /// A request of another L1 to flush this L1, and then answer.
        Flush {
            /// The slot of the sender's request.
            slot: Slot,
        } [name("FlushL1")],
        /// A request of another L1 to invalidate all clean bytes of this L1, and then answer.
        Invalidate {
            /// The slot of the sender's request.
            slot: Slot,
        } [name("InvalidateL1")],
        /// A request of another L1 to answer, and to perform no read-modify-writes until the
        /// unlock.
        Lock {
            /// The slot of the sender's request.
            slot: Slot,
        } [name("LockL1")],
        /// The unlock of read-modify-writes: the sender's remote operation has ended.
        Unlock {
            /// The slot of the sender's request.
            slot: Slot,
        } [name("UnlockL1")],
        /// The answer of another L1 to a request of this L1.
        Done {
            /// The slot of the waiting request.
            slot: Slot,
        } [name("L1Done")],
    }
}

/// The claims (the promised memory models) of both `rsp` protocols: OpenCL with remote operations,
/// and PTX.
pub const CLAIMS: &[Claim] = &[
    Claim {
        model: "opencl-rsp",
        cores: IssueRule::GPUS,
        widening: true,
        mapping: "each OpenCL operation becomes a request with its memory order and scope, where \
                  memory_scope_all_svm_devices is system scope; a remote operation becomes a request with \
                  the remote hint; a seq_cst access is issued when all earlier accesses are complete",
    },
    PTX_WITHOUT_WIDENING,
];

/// The equivalent mutants (undetectable seeded faults) of both `rsp` protocols.
const EQUIVALENT: &str = include_str!("equivalent.txt");

/// Generates one of the two `rsp` protocols. The two differ in their plans (the steps of
/// operations).
macro_rules! rsp {
    (
        $(#[doc = $doc:literal])+
        $module:ident::$protocol:ident, $plans:ty, $name:literal, $summary:literal, $source:literal,
        $equivalent:expr
    ) => {
        protocol! {
            $(#[doc = $doc])+
            $module::$protocol,
            L1: cache(L1<$plans>, ToL1), Bank(Bank, ToBank),
            name: $name, summary: $summary, source: $source, claims: CLAIMS,
            sharing: Remote, equivalent: $equivalent,
            tables: [L1Table, BankTable], plans: $plans,
            keeps: [L1(parts::ToL1)]
        }
    };
}

rsp! {
    /// Remote-scope promotion, with the steps in the order of Table 3 of the hLRC paper.
    published::Rsp, RspPlans, "rsp",
    "scopes with remote-scope promotion: a remote operation makes all other L1s flush, invalidate or delay their atomics",
    "hLRC paper (MICRO 2016), section II.D, Tables 2 and 3, rows a0 to a25",
    &[BANK_EQUIVALENT, L1_EQUIVALENT, L1_PLANS_EQUIVALENT, EQUIVALENT]
}
rsp! {
    /// Remote-scope promotion, with a flush before a remote load.
    repaired::RspRepaired, RepairedPlans, "rsp-repaired",
    "rsp with a flush of all other L1s before a remote load, too",
    "hLRC paper (MICRO 2016), section II.D, Tables 2 and 3; the flush before a3 is not from the paper",
    &[
        BANK_EQUIVALENT, L1_EQUIVALENT, L1_PLANS_EQUIVALENT, EQUIVALENT,
        include_str!("equivalent-repaired.txt")
    ]
}
