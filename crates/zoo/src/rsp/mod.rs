//! `rsp`: scopes, and remote operations that reach across them.
//!
//! As [`crate::vi`], and an operation may be *remote*: it synchronizes with
//! accesses of work-group scope on other compute units, whose releases are
//! still in their L1 and whose acquires look no further. Nobody knows which
//! L1 that is, so all of them are told to flush, to invalidate, and to hold
//! back read-modify-writes of work-group scope while a word is replaced below.
//!
//! Source: hLRC paper (MICRO 2016), section II.D, Tables 2 and 3 (rows a0 to
//! a25), after Orr et al. (ASPLOS 2015) and Wickerson et al. (OOPSLA 2015).
//! The order of the rows is as printed; what they leave open, and what follows
//! from the order of a3 to a5, stands on the protocol's page.

mod l1;
mod locks;
mod msg;
mod plans;

pub use l1::{L1, RemotePlans, Waiter};
pub use locks::Locks;
pub use msg::ToL1;
pub use plans::{RepairedPlans, RspPlans};

use crate::parts::{ToBank, protocol};
use crate::vi::{Bank, BankTable, L1Table};
use proto::{Claim, Shape};

/// OpenCL with remote operations.
pub const CLAIMS: &[Claim] = &[Claim {
    model: "opencl-rsp",
    mapping: "each OpenCL operation as a request of the same order and scope: \
              memory_scope_work_group, memory_scope_device, memory_scope_all_svm_devices as system, \
              the remote hint for the remote operations; a seq_cst access is issued when all before \
              it are complete",
}];

protocol! {
    /// Remote-scope promotion, in the order of Table 3.
    protocol::Rsp,
    L1(L1<RspPlans>, ToL1), Bank(Bank, ToBank),
    params: Shape = |shape| *shape,
    name: "rsp",
    summary: "scopes with remote-scope promotion: all other L1s flush, invalidate and hold atomics back",
    source: "hLRC paper (MICRO 2016), section II.D, Tables 2 and 3, rows a0 to a25",
    claims: CLAIMS,
    tables: [L1Table, BankTable], plans: RspPlans,
    keeps: [L1(parts::ToL1)]
}
protocol! {
    /// Remote-scope promotion with remote loads that flush before the access too.
    repaired::RspRepaired,
    L1(L1<RepairedPlans>, ToL1), Bank(Bank, ToBank),
    params: Shape = |shape| *shape,
    name: "rsp-repaired",
    summary: "rsp whose remote loads have the other L1s flush before the access as well as after it",
    source: "hLRC paper (MICRO 2016), section II.D, Tables 2 and 3; the order of remote loads is ours",
    claims: CLAIMS,
    tables: [L1Table, BankTable], plans: RepairedPlans,
    keeps: [L1(parts::ToL1)]
}
