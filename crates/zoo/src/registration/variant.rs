//! A protocol that registers lines, written out: its L1, the shared bank, and
//! the host's port.
/// `variant! { #[doc] module, Type, l1: L1<Table>, tables: [Table, BankTable], bank: BankTable, plans: Plans, info: {..}, retains: true }`
/// The protocol of an L1 with its table and its plans, and of the rows of the banks.
macro_rules! variant {
    (
        $(#[doc = $doc:literal])+
        $module:ident, $protocol:ident,
        l1: $l1:ty, table: $table:ty, bank: $bank:ty, plans: $plans:ty,
        name: $name:literal, summary: $summary:literal, source: $source:literal, claims: $claims:expr,
        retains: $retains:literal
    ) => {
        $(#[doc = $doc])+
        pub mod $module {
            use $crate::registration::{Bank, Params, ToBank, ToL1};
            use $crate::vi;
            use proto::parts::Host;
            use proto::{
                Agent, Channels, Info, Kind, NodeId, PlansView, Protocol, Role, Shape, TableView,
                protocol_nodes,
            };

            $(#[doc = $doc])+
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub struct $protocol;

            protocol_nodes! {
                $protocol: L1($l1, ToL1), Bank(Bank<$bank>, ToBank), Host(Host)
            }

            impl Protocol for $protocol {
                type Node = Node;
                type Msg = Msg;
                type Params = Params;

                const INFO: Info = Info {
                    name: $name,
                    summary: $summary,
                    source: $source,
                    claims: $claims,
                    channels: Channels::Fifo,
                };
                const KINDS: &'static [Kind] = &[
                    Kind { name: "L1", role: Role::L1 },
                    Kind { name: "L2", role: Role::L2 },
                    Kind { name: "Host", role: Role::Host },
                ];

                fn params(shape: &Shape) -> Result<Params, String> {
                    shape.check().map(|()| Params { shape: *shape, retains: $retains })
                }

                fn count(kind: u8, shape: &Shape) -> u16 {
                    vi::count(kind, shape)
                }

                fn node(id: NodeId, params: &Params) -> Node {
                    match id.kind {
                        vi::FIRST => Node::L1(<$l1>::new(params)),
                        vi::BANK => Node::Bank(Bank::new(params)),
                        _ => Node::Host(Host),
                    }
                }

                fn entry(agent: Agent) -> NodeId {
                    vi::entry(agent)
                }

                fn tables() -> Vec<TableView> {
                    vec![TableView::of::<$table>(), TableView::of::<$bank>()]
                }

                fn plans() -> Vec<PlansView> {
                    vec![PlansView::of::<$plans>()]
                }
            }
        }
    };
}

pub(crate) use variant;
