//! Parts that the toy protocols of the tests share.

#![allow(dead_code, reason = "each test has some of the toys")]

use proto::issue::IssueRule;
use proto::{Channels, Claim, Info, MemoryAccess, Op, Request, Sharing};

/// What a toy says of itself, but for its name and what it is.
pub(crate) const INFO: Info = Info {
    name: "toy",
    summary: "a toy",
    source: "this test",
    claims: &[Claim {
        model: "drf",
        cores: IssueRule::GPUS,
        mapping: "each operation as a request of the same order",
    }],
    channels: Channels::Fifo,
    sharing: Sharing::Unscoped,
    equivalent: &[],
};

/// The memory operation of a request. Fences and kernel boundaries have none.
pub(crate) fn access(req: &Request) -> Option<MemoryAccess> {
    let (mask, data) = (req.mask, req.data);
    match req.op {
        Op::Load => Some(MemoryAccess::Read),
        Op::Store => Some(MemoryAccess::Write { mask, data }),
        Op::Rmw(rmw) => Some(MemoryAccess::Rmw { rmw, mask, data }),
        Op::Fence | Op::KernelBegin(_) | Op::KernelEnd(_) => None,
    }
}

/// The methods of a [`proto::Protocol`] without tables and plans.
macro_rules! no_tables {
    () => {
        fn tables() -> Vec<proto::TableView> {
            Vec::new()
        }

        fn plans() -> Vec<proto::PlansView> {
            Vec::new()
        }
    };
}

pub(crate) use no_tables;
