//! `vi-targeted`: a release flushes only the lines that its own wavefront has written.
//!
//! It is [`crate::vi`] with a record of the writers of each dirty line in the L1. A release does
//! not flush the writes of other wavefronts, even if the releasing work-item has synchronized with
//! them. This suffices for HRF-direct, in which the writer itself synchronizes with the reader in
//! one scope. It does not suffice for HRF-indirect, in which synchronization is transitive across
//! scopes.
//!
//! Source: HRF paper (ASPLOS 2014), section 6. The protocol's page states how it
//! completes the paper.

use crate::parts::{LowerLevel, ToBank, ToL1, protocol};
use crate::vi::{
    BANK_EQUIVALENT, Bank, BankTable, L1, L1_EQUIVALENT, L1_PLANS_EQUIVALENT, L1Plans, L1Table,
    PLANS_EQUIVALENT, Writers,
};
use proto::issue::IssueRule;
use proto::{Claim, Cx, Disposition, Issuer, LineAddr, Op, Protocol, RequestInput, Slot};
use std::collections::BTreeMap;

/// A record of the wavefronts that have written each dirty line, in 64 bits for each line. Bit `i`
/// stands for all wavefronts of the compute unit whose numbers are equal to `i` modulo 64.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ByWavefront {
    writers: BTreeMap<LineAddr, u64>,
}

fn bit(issuer: Issuer) -> u64 {
    1_u64.rotate_left(issuer.wavefront)
}

impl Writers for ByWavefront {
    fn wrote(&mut self, line: LineAddr, issuer: Issuer) {
        *self.writers.entry(line).or_default() |= bit(issuer);
    }

    fn left(&mut self, line: LineAddr) {
        self.writers.remove(&line);
    }

    fn flush<P: Protocol, W: Copy + Eq + From<Slot>>(
        &self,
        lower: &mut LowerLevel<W>,
        ask: RequestInput<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Option<Disposition> {
        // The end of a kernel is the release of all its work-items.
        if matches!(ask.req.op, Op::KernelEnd(_)) {
            return lower.flush(ask, cx);
        }
        let own = bit(ask.req.issuer);
        lower.flush_of(ask, |line| self.writers.get(&line).is_some_and(|writers| writers & own != 0), cx)
    }
}

/// The claim of this protocol: a program is sequentially consistent if it orders every two
/// conflicting accesses within one scope.
pub const CLAIMS: &[Claim] = &[Claim {
    model: "hrf-direct",
    cores: IssueRule::GPUS,
    widening: true,
    mapping: "each operation becomes a request with its memory order and scope; programs without \
              heterogeneous races are sequentially consistent",
}];

protocol! {
    /// The GPU baseline with releases that flush only the writes of their own wavefront.
    protocol::ViTargeted,
    L1: cache(L1<Slot, ByWavefront>, ToL1), Bank(Bank, ToBank),
    name: "vi-targeted",
    summary: "vi with releases that flush only what their own wavefront has written",
    source: "HRF paper (ASPLOS 2014), section 6",
    claims: CLAIMS,
    sharing: Scoped,
    equivalent: &[
        BANK_EQUIVALENT, L1_EQUIVALENT, L1_PLANS_EQUIVALENT, PLANS_EQUIVALENT, include_str!("equivalent.txt")
    ],
    tables: [L1Table, BankTable], plans: L1Plans
}
