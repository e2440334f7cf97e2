//! The column of remote-scope promotion in Table 3 of the hLRC paper.
//!
//! A broadcast reaches only the other L1s (Table 2: "remote"). The paper does not print the acts
//! (effects of an access) with the label `ours`. They are acts of the requesting L1: it flushes if
//! a remote operation releases, and invalidates if the operation acquires.

use super::table::{Column, Row};
use crate::row;

pub(crate) struct RspColumn;

impl Column for RspColumn {
    type Protocol = zoo::rsp::Rsp;
    const NAME: &'static str = "rsp";
    const LABELS: (char, u32) = ('a', 25);

    fn rows() -> Vec<Row> {
        vec![
            row!(Ld Acquire WorkGroup from LocalL1 => a0: LdL1),
            row!(Ld Acquire Device from L2 => a1: LdL2, a2: InvLocal),
            row!(Ld remote Acquire Device from RemoteL1 => a3: LdL2, a4: FlushAll, a5: InvLocal),
            row!(St Release WorkGroup from LocalL1 => a6: StL1),
            row!(St Release Device from L2 => a7: FlushLocal, a8: StL2),
            row!(St remote Release Device from RemoteL1 =>
                a9: Lock, a10: FlushAll, ours: FlushLocal, a11: InvAll, a12: StL2, a13: InvAll, a14: Unlock),
            row!(Rmw AcqRel WorkGroup from LocalL1 => a15: RmwL1),
            row!(Rmw AcqRel Device from L2 => a16: FlushLocal, a17: RmwL2, a18: InvLocal),
            row!(Rmw remote AcqRel Device from RemoteL1 =>
                a19: Lock, a20: FlushAll, ours: FlushLocal, a21: InvAll, a22: RmwL2, a23: FlushAll,
                a24: InvAll, ours: InvLocal, a25: Unlock),
        ]
    }
}
