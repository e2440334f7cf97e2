//! Shared parts of the tests' toy protocols.

#![allow(dead_code, unused_macros, reason = "each test has some of the toys")]

use proto::issue::IssueRule;
use proto::{Channels, Claim, Hosts, Info, MemoryAccess, Op, Request, Sharing};

/// The description of a toy protocol. Each toy replaces the name and the summary.
pub(crate) const INFO: Info = Info {
    name: "toy",
    summary: "a toy",
    source: "this test",
    claims: &[Claim {
        model: "drf",
        cores: IssueRule::GPUS,
        widening: true,
        mapping: "each operation as a request of the same order",
    }],
    channels: Channels::Fifo,
    sharing: Sharing::Unscoped,
    hosts: Hosts::Direct,
    equivalent: &[],
};

/// The memory operation of a request. Fences, and requests at the beginning or end of a kernel,
/// have none.
pub(crate) fn access(req: &Request) -> Option<MemoryAccess> {
    let (mask, data) = (req.mask, req.data);
    match req.op {
        Op::Load => Some(MemoryAccess::Read),
        Op::Store => Some(MemoryAccess::Write { mask, data }),
        Op::Rmw(rmw) => Some(MemoryAccess::Rmw { rmw, mask, data }),
        Op::Fence | Op::KernelBegin(_) | Op::KernelEnd(_) => None,
    }
}

/// The methods `tables` and `plans` of [`proto::Protocol`], for a toy protocol that has neither.
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

/// The items of [`proto::Protocol`] for a toy protocol with an L1 of its own above the banks of
/// `vi`. The toy adds its name and its entries (the nodes that requests enter).
macro_rules! over_banks_of_vi {
    (|$level:ident| $l1:expr) => {
        type Node = Node;
        type Msg = Msg;
        type Params = ();
        const KINDS: &'static [proto::Kind] = &[
            proto::Kind::cache("L1", "l1", proto::Per::Cu).over("l2"),
            proto::Kind::cache("L2", "l2", proto::Per::Chiplet),
            proto::Kind::port("Host", "host", proto::Per::Host),
        ];

        fn params(_: &proto::Levels, _: &proto::Settings) -> Result<(), String> {
            Ok(())
        }

        fn node(id: proto::NodeId, levels: &proto::Levels, (): &()) -> Node {
            let $level = levels.of(id.kind);
            match id.kind {
                0 => Node::L1($l1),
                1 => Node::Bank(zoo::vi::Bank::new($level, &())),
                _ => Node::Host(proto::parts::Host),
            }
        }

        $crate::toys::no_tables! {}
    };
}

#[allow(unused_imports, reason = "each test has some of the toys")]
pub(crate) use {no_tables, over_banks_of_vi};
