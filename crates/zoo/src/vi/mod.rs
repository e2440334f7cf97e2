//! `vi`: the GPU baseline with scopes.
//!
//! Lines are valid or not; a cache writes without permission and keeps dirty
//! bytes by mask. Work-group scope is satisfied at the L1, device scope at the
//! L2, system scope at memory: an atomic is performed at the level of its
//! scope, a release flushes the levels above it, an acquire invalidates them.
//!
//! Sources: HRF paper (ASPLOS 2014), section 3.2 and Figure 4; hLRC paper
//! (MICRO 2016), sections II and IV, Table 3 (rows a0-a2, a6-a8, a15-a18). The
//! papers differ in what caches do with writes, so that is a parameter of the
//! machine. What they leave open is stated on the protocol's page.

mod bank;
mod bank_table;
mod l1;
mod l1_table;
mod lower;
mod msg;

pub use bank::Bank;
pub use bank_table::BankTable;
pub use l1::L1;
pub use l1_table::{L1Plans, L1Table};
pub use lower::{Lower, Step, answer};
pub use msg::{Answer, ToBank, ToL1};

use proto::parts::Host;
use proto::{
    Agent, Channels, Claim, Info, Kind, NodeId, PlansView, Protocol, Role, Shape, TableView, protocol_nodes,
};

/// The protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Vi;

protocol_nodes! { Vi: L1(L1, ToL1), Bank(Bank, ToBank), Host(Host) }

/// Claims that hold for every protocol whose atomics are performed at the
/// level of their scope.
pub const SCOPED_CLAIMS: &[Claim] = &[
    Claim {
        model: "hrf-indirect",
        mapping: "each operation as a request of the same order and scope; sequential consistency for \
                  programs without heterogeneous races",
    },
    Claim {
        model: "opencl",
        mapping: "each OpenCL operation as a request of the same order and scope: \
                  memory_scope_work_group, memory_scope_device, memory_scope_all_svm_devices as system; \
                  a seq_cst access is issued when all before it are complete",
    },
];

/// The index of the first-level kind in [`Protocol::KINDS`].
pub const FIRST: u8 = 0;
/// The index of the banks in [`Protocol::KINDS`].
pub const BANK: u8 = 1;
/// The index of the host's port in [`Protocol::KINDS`].
pub const HOST: u8 = 2;

/// How many controllers of a kind a machine has, for a private port a CU,
/// banks, and a host.
pub(crate) fn count(kind: u8, shape: &Shape) -> u16 {
    match kind {
        FIRST => shape.cus,
        BANK => shape.banks,
        _ => 1,
    }
}

pub(crate) fn entry(agent: Agent) -> NodeId {
    match agent {
        Agent::Cu(index) => NodeId { kind: FIRST, index },
        Agent::CommandProcessor => NodeId { kind: FIRST, index: 0 },
        Agent::Host => NodeId { kind: HOST, index: 0 },
    }
}

impl Protocol for Vi {
    type Node = Node;
    type Msg = Msg;
    type Params = Shape;

    const INFO: Info = Info {
        name: "vi",
        summary: "GPU baseline with scopes: write without permission, flush at releases, invalidate at acquires",
        source: "HRF paper (ASPLOS 2014), section 3.2; hLRC paper (MICRO 2016), sections II and IV, Table 3 \
                 without the remote operations",
        claims: SCOPED_CLAIMS,
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
        count(kind, shape)
    }

    fn node(id: NodeId, shape: &Shape) -> Node {
        match id.kind {
            FIRST => Node::L1(L1::new(shape)),
            BANK => Node::Bank(Bank::new(shape)),
            _ => Node::Host(Host),
        }
    }

    fn entry(agent: Agent) -> NodeId {
        entry(agent)
    }

    fn tables() -> Vec<TableView> {
        vec![TableView::of::<L1Table>(), TableView::of::<BankTable>()]
    }

    fn plans() -> Vec<PlansView> {
        vec![PlansView::of::<L1Plans>()]
    }
}
