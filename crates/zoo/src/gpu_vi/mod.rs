//! `gpu-vi`: write-through caches that a directory keeps coherent by invalidations.
//!
//! A line of an L1 is valid or invalid. The L1 writes through, and a write allocates no line. The L2
//! is inclusive, and records for each line which L1s may have a copy (the sharers, a full map). A
//! write or an atomic is performed at the L2 when all other sharers have acknowledged that their
//! copies are invalid. So a write is atomic, no copy is ever stale, and an acquire invalidates
//! nothing. A write is answered when it has been performed, and a release waits for the answers of
//! earlier writes.
//!
//! Sources: TC paper (HPCA 2013), which calls the protocol GPU-VI; STC paper (TACO 2023), Table 2,
//! which calls it `GPUIn`. Both papers only describe the protocol in words. Decisions:
//!
//! * *A write drops the copy of its own L1*, and does not update it. The copy leaves together with
//!   the write, so the bank does not invalidate this L1. A fill that is under way is not kept.
//! * *An L1 evicts silently.* It also acknowledges the invalidation of a copy that it has evicted.
//! * *While sharers are invalidated, all accesses of the line wait*, in the order of their arrival.
//! * *An eviction in the L2 invalidates the sharers first*, through a transient state.
//! * *A write that misses in the L2 fetches nothing*, as in [`crate::vi`].
//! * *The host* writes memory, and no directory sees it. An acquire at system scope, such as the
//!   beginning of a kernel after the host has written, removes all lines from the L2, with all copies.
//!
//! The protocol's page has all decisions.

mod bank;
mod l1;
mod tables;

pub use bank::Bank;
pub use l1::L1;
pub use tables::{BankTable, L1Plans, L1Table};

use crate::parts::{self, HasBankMessages, HasL1Messages, OPENCL, PTX_WITHOUT_WIDENING, SC, protocol};
use proto::issue::IssueRule;
use proto::{Claim, LineAddr, Protocol, Wrap, messages};

messages! {
    /// A message to a bank.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToBank = Shared(parts::ToBank) {
        /// The copy of the sender is invalid.
        InvAck {
            /// The line of the copy.
            line: LineAddr,
        } [line(line)],
    }
}

messages! {
    /// A message to an L1.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToL1 = Shared(parts::ToL1) {
        /// A request to invalidate the copy of the line.
        Inv {
            /// The line of the copy.
            line: LineAddr,
        } [line(line)],
    }
}

/// A property of the `gpu-vi` family that a test protocol lacks. Tests show that the explorer then
/// finds a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MissingProperty {
    /// The bank does not invalidate the first of the sharers.
    AnInvalidation,
    /// The bank counts each ack twice.
    ASingleCount,
    /// The bank does not record a sharer of a line if it already knows another one.
    ASecondSharer,
}

/// The parameters of the protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Params {
    /// The property that the protocol lacks. `None` for the protocol `gpu-vi` itself.
    missing: Option<MissingProperty>,
}

/// A protocol of the `gpu-vi` family: `gpu-vi` itself, or a test protocol that lacks one property.
pub trait Directory:
    HasBankMessages + HasL1Messages + Protocol<Params = Params, Msg: Wrap<ToBank> + Wrap<ToL1>>
{
}
impl<P> Directory for P where
    P: HasBankMessages + HasL1Messages + Protocol<Params = Params, Msg: Wrap<ToBank> + Wrap<ToL1>>
{
}

/// The claims (the promised memory models) of the protocol. Memory is atomic, so every program is
/// sequentially consistent on a core that performs one operation at a time.
const CLAIMS: &[Claim] = &[
    Claim {
        model: "hrf-indirect",
        cores: IssueRule::GPUS,
        widening: true,
        mapping: "each operation becomes a request with its memory order, at any scope, because scopes \
                  below system scope make no difference; programs without heterogeneous races are \
                  sequentially consistent",
    },
    OPENCL,
    PTX_WITHOUT_WIDENING,
    SC,
];

/// Generates `gpu-vi`, or a test protocol that lacks one property of `gpu-vi`.
macro_rules! gpu_vi {
    (
        $(#[doc = $doc:literal])+
        $module:ident::$protocol:ident, missing: $missing:expr, $name:literal, $summary:literal
    ) => {
        protocol! {
            $(#[doc = $doc])+
            $module::$protocol,
            L1: cache(L1, ToL1), Bank(Bank, ToBank),
            params: Params = Params { missing: $missing },
            name: $name, summary: $summary,
            source: "TC paper (HPCA 2013), where it is GPU-VI; STC paper (TACO 2023), Table 2, where it is GPUIn",
            claims: CLAIMS,
            sharing: Unscoped, equivalent: &[include_str!("equivalent.txt")],
            tables: [L1Table, BankTable], plans: L1Plans,
            keeps: [L1(parts::ToL1), Bank(parts::ToBank)]
        }
    };
}

gpu_vi! {
    /// Invalidations by a directory in an inclusive L2.
    protocol::GpuVi, missing: None, "gpu-vi",
    "write-through L1s, and a directory of sharers in the L2 that invalidates all copies before each write"
}

/// Protocols that lack one property, for the tests of this property. They are not in the list of
/// protocols.
pub mod lacking {
    use super::*;

    gpu_vi! {
        /// The protocol `gpu-vi`, but one sharer is not invalidated.
        an_invalidation::AnInvalidation, missing: Some(MissingProperty::AnInvalidation),
        "gpu-vi-lacks-an-invalidation", "gpu-vi with a sharer that is not invalidated"
    }
    gpu_vi! {
        /// The protocol `gpu-vi`, but each ack is counted twice.
        a_single_count::ASingleCount, missing: Some(MissingProperty::ASingleCount),
        "gpu-vi-lacks-a-single-count", "gpu-vi with acks that are counted twice"
    }
    gpu_vi! {
        /// The protocol `gpu-vi`, but only the first sharer of a line is recorded.
        a_second_sharer::ASecondSharer, missing: Some(MissingProperty::ASecondSharer),
        "gpu-vi-lacks-a-second-sharer", "gpu-vi with one recorded sharer of a line"
    }
}
