//! A macro that generates a protocol. The protocol has a first-level controller in each compute
//! unit, banks, and the port of the host.

/// Generates a module that contains a protocol. The arguments are the names of the module and of
/// the protocol, the types of its controllers with their messages, and its description. The
/// generated code creates each controller with the function `new(&level, &params)` of its type. If
/// the argument `params:` is absent, the parameters are `()`. The names in the arguments are
/// resolved at the place where the macro is used.
macro_rules! protocol {
    (
        $(#[doc = $doc:literal])+
        $module:ident::$protocol:ident,
        $first:ident: $kind:ident($l1:ty, $to_l1:ty), Bank($bank:ty, $to_bank:ty),
        name: $($rest:tt)+
    ) => {
        $crate::parts::protocol! {
            $(#[doc = $doc])+
            $module::$protocol,
            $first: $kind($l1, $to_l1), Bank($bank, $to_bank),
            params: () = (),
            name: $($rest)+
        }
    };
    (
        $(#[doc = $doc:literal])+
        $module:ident::$protocol:ident,
        $first:ident: $kind:ident($l1:ty, $to_l1:ty), Bank($bank:ty, $to_bank:ty),
        params: $params:ty = $make:expr,
        name: $name:literal, summary: $summary:expr, source: $source:expr, claims: $claims:expr,
        sharing: $sharing:ident, equivalent: $equivalent:expr,
        tables: [$($table:ty),+], plans: $plans:ty
        $(, keeps: [$($outer:ident($inner:ty)),+])?
    ) => {
        $(#[doc = $doc])+
        pub mod $module {
            use super::*;
            use $crate::parts;

            $(#[doc = $doc])+
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub struct $protocol;

            proto::protocol_nodes! {
                $protocol: $first($l1, $to_l1), Bank($bank, $to_bank), Host(proto::parts::Host)
            }

            // A kind that receives further messages wraps the messages of `parts` in its own
            // enumeration.
            $($(
                impl From<$inner> for Msg {
                    #[inline]
                    fn from(msg: $inner) -> Self {
                        Msg::$outer(msg.into())
                    }
                }
            )+)?

            impl proto::Protocol for $protocol {
                type Node = Node;
                type Msg = Msg;
                type Params = $params;

                const INFO: proto::Info = proto::Info {
                    name: $name,
                    summary: $summary,
                    source: $source,
                    claims: $claims,
                    channels: proto::Channels::Fifo,
                    sharing: proto::Sharing::$sharing,
                    hosts: proto::Hosts::Direct,
                    equivalent: $equivalent,
                };
                const KINDS: &'static [proto::Kind] = &[
                    proto::Kind::$kind(stringify!($first), "l1", proto::Per::Cu).over("l2"),
                    proto::Kind::cache("L2", "l2", proto::Per::Chiplet),
                    proto::Kind::port("Host", "host", proto::Per::Host),
                ];

                fn params(_: &proto::Levels, _: &proto::Settings) -> Result<$params, String> {
                    Ok($make)
                }

                fn node(id: proto::NodeId, levels: &proto::Levels, params: &$params) -> Node {
                    match id.kind {
                        parts::FIRST => Node::$first(<$l1>::new(levels.of(id.kind), params)),
                        parts::BANK => Node::Bank(<$bank>::new(levels.of(id.kind), params)),
                        _ => Node::Host(proto::parts::Host),
                    }
                }

                #[inline]
                fn entry(_: &$params, agent: proto::Agent, _: proto::PlanKey) -> proto::NodeId {
                    agent.enters(parts::FIRST, parts::HOST)
                }

                fn tables() -> Vec<proto::TableView> {
                    vec![$(proto::TableView::of::<$table>()),+]
                }

                fn plans() -> Vec<proto::PlansView> {
                    vec![proto::PlansView::of::<$plans>()]
                }
            }
        }
        pub use $module::$protocol;
    };
}

pub(crate) use protocol;
