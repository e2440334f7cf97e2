//! `no-l1`: every access is performed at the L2 or below.
//!
//! The simplest way to keep first-level caches coherent is not to use them.
//! The port of a compute unit keeps only what is under way; plain stores and
//! updates without a result are posted, and a release waits for them. Work-group
//! scope needs no wait: messages from one port to one bank stay in order, and
//! all work-items of a group use the same port.
//!
//! Source: HRF paper (ASPLOS 2014), section 2.3 (potentially shared data made
//! uncachable). The banks are those of [`crate::vi`].

mod port;

pub use port::{Port, PortPlans};

use crate::vi::{self, Bank, BankTable, SCOPED_CLAIMS, ToBank, ToL1};
use proto::parts::Host;
use proto::{
    Agent, Channels, Info, Kind, NodeId, PlansView, Protocol, Role, Shape, TableView, protocol_nodes,
};

/// The protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NoL1;

protocol_nodes! { NoL1: Port(Port, ToL1), Bank(Bank, ToBank), Host(Host) }

impl Protocol for NoL1 {
    type Node = Node;
    type Msg = Msg;
    type Params = Shape;

    const INFO: Info = Info {
        name: "no-l1",
        summary: "L1 bypassed: every access is performed at the L2 or below",
        source: "HRF paper (ASPLOS 2014), section 2.3",
        claims: SCOPED_CLAIMS,
        channels: Channels::Fifo,
    };
    const KINDS: &'static [Kind] = &[
        Kind { name: "Port", role: Role::L1 },
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
            vi::FIRST => Node::Port(Port::default()),
            vi::BANK => Node::Bank(Bank::new(shape)),
            _ => Node::Host(Host),
        }
    }

    fn entry(agent: Agent) -> NodeId {
        vi::entry(agent)
    }

    fn tables() -> Vec<TableView> {
        vec![TableView::of::<BankTable>()]
    }

    fn plans() -> Vec<PlansView> {
        vec![PlansView::of::<PortPlans>()]
    }
}
