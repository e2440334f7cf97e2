//! `vi-targeted`: a release flushes only what its own wavefront has written.
//!
//! As [`crate::vi`], and the L1 remembers who wrote each line that is dirty.
//! What others have written stays where it is, even if the releasing work-item
//! has synchronized with them: a release speaks for nobody else. That is enough
//! where the writer itself must synchronize with the reader in one scope, and
//! not where scopes are transitive.
//!
//! Source: HRF paper (ASPLOS 2014), section 6. What it leaves open is stated on
//! the protocol's page.

use crate::parts::{Lower, ToBank, ToL1, protocol};
use crate::vi::{
    BANK_EQUIVALENT, Bank, BankTable, L1, L1_EQUIVALENT, L1Plans, L1Table, PLANS_EQUIVALENT, Writers,
};
use proto::issue::IssueRule;
use proto::{Ask, Claim, Cx, Disposition, Issuer, LineAddr, Op, Protocol, Slot};
use std::collections::BTreeMap;

/// The wavefronts that have written each dirty line: bit `i` stands for all
/// wavefronts of a compute unit whose number is `i` modulo 64.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ByWavefront {
    writers: BTreeMap<LineAddr, u64>,
}

fn bit(issuer: Issuer) -> u64 {
    1 << (issuer.wavefront % u64::BITS)
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
        lower: &mut Lower<W>,
        ask: Ask<'_>,
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

/// Sequential consistency where every two conflicting accesses are ordered
/// within one scope.
pub const CLAIMS: &[Claim] = &[Claim {
    model: "hrf-direct",
    cores: IssueRule::GPUS,
    mapping: "each operation as a request of the same order and scope; sequential consistency for \
              programs without heterogeneous races",
}];

protocol! {
    /// The GPU baseline with releases that flush their own writes only.
    protocol::ViTargeted,
    L1: cache(L1<Slot, ByWavefront>, ToL1), Bank(Bank, ToBank),
    name: "vi-targeted",
    summary: "vi with releases that flush only what their own wavefront has written",
    source: "HRF paper (ASPLOS 2014), section 6",
    claims: CLAIMS,
    sharing: Scoped,
    equivalent: &[BANK_EQUIVALENT, L1_EQUIVALENT, PLANS_EQUIVALENT, include_str!("equivalent.txt")],
    tables: [L1Table, BankTable], plans: L1Plans
}
