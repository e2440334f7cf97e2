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

pub use l1::{L1, Waiter};
pub use locks::Locks;
pub use msg::ToL1;
pub use plans::RspPlans;

use crate::vi::{self, Bank, BankTable, L1Table, ToBank};
use proto::parts::Host;
use proto::{
    Agent, Channels, Claim, Info, Kind, NodeId, PlansView, Protocol, Role, Shape, TableView, protocol_nodes,
};

/// The protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rsp;

protocol_nodes! { Rsp: L1(L1, ToL1), Bank(Bank, ToBank), Host(Host) }

impl From<vi::ToL1> for Msg {
    #[inline]
    fn from(msg: vi::ToL1) -> Self {
        Msg::L1(ToL1::Bank(msg))
    }
}

impl Protocol for Rsp {
    type Node = Node;
    type Msg = Msg;
    type Params = Shape;

    const INFO: Info = Info {
        name: "rsp",
        summary: "scopes with remote-scope promotion: all other L1s flush, invalidate and hold atomics back",
        source: "hLRC paper (MICRO 2016), section II.D, Tables 2 and 3, rows a0 to a25",
        claims: &[Claim {
            model: "opencl-rsp",
            mapping: "each OpenCL operation as a request of the same order and scope: \
                      memory_scope_work_group, memory_scope_device, memory_scope_all_svm_devices as system, \
                      the remote hint for the remote operations; a seq_cst access is issued when all before \
                      it are complete",
        }],
        channels: Channels::Fifo,
    };
    const KINDS: &'static [Kind] = &[
        Kind { name: "L1", role: Role::L1 },
        Kind { name: "L2", role: Role::L2 },
        Kind { name: "Host", role: Role::Host },
    ];

    fn params(shape: &Shape) -> Result<Shape, String> {
        shape.check().map(|()| *shape)
    }

    fn count(kind: u8, shape: &Shape) -> u16 {
        vi::count(kind, shape)
    }

    fn node(id: NodeId, shape: &Shape) -> Node {
        match id.kind {
            vi::FIRST => Node::L1(L1::new(shape)),
            vi::BANK => Node::Bank(Bank::new(shape)),
            _ => Node::Host(Host),
        }
    }

    fn entry(agent: Agent) -> NodeId {
        vi::entry(agent)
    }

    fn tables() -> Vec<TableView> {
        vec![TableView::of::<L1Table>(), TableView::of::<BankTable>()]
    }

    fn plans() -> Vec<PlansView> {
        vec![PlansView::of::<RspPlans>()]
    }
}
