//! A macro that generates two enumerations: one of all controllers of a protocol, and one of all
//! its messages.

/// Generates the `Node` and `Msg` enumerations of a protocol from its kinds of controllers.
///
/// ```text
/// protocol_nodes! { Vi: L1(L1, ToL1), Bank(Bank, ToBank), Host(Host) }
/// ```
///
/// A kind without a message type receives no messages. If several kinds receive one
/// type of message, a list of all message types follows the kinds. For each type, the list
/// names the kinds that receive it, either directly or wrapped in the message type of the kind:
///
/// ```text
/// protocol_nodes! {
///     Split: Read(Read, ToL1), Write(Write, ToL1), Bank(Bank, ToBank);
///     ToL1 => Read | Write, ToBank => Bank
/// }
/// ```
#[macro_export]
macro_rules! protocol_nodes {
    (@msg) => { $crate::NoMessage };
    (@msg $msg:ty) => { $msg };
    ($protocol:ty : $( $kind:ident ( $controller:ty $(, $msg:ty)? ) ),+ $(,)?) => {
        $crate::protocol_nodes! { @nodes $protocol : $( $kind ( $controller $(, $msg)? ) ),+ }
        $($(
            impl From<$msg> for Msg {
                #[inline]
                fn from(msg: $msg) -> Self {
                    Msg::$kind(msg)
                }
            }
        )?)+
    };
    (
        $protocol:ty : $( $kind:ident ( $controller:ty $(, $msg:ty)? ) ),+ ;
        $( $carried:ty => $first:ident $(| $other:ident)* ),+ $(,)?
    ) => {
        $crate::protocol_nodes! { @nodes $protocol : $( $kind ( $controller $(, $msg)? ) ),+ }
        /// The position of each kind of controller in the list of kinds.
        enum Number { $( $kind ),+ }
        $(
            impl $crate::Wrap<$carried> for Msg {
                #[inline]
                fn wrap(kind: u8, msg: $carried) -> Self {
                    $( if kind == Number::$other as u8 { return Msg::$other(msg.into()); } )*
                    Msg::$first(msg.into())
                }
            }
        )+
        // This constant uses every kind, so that the compiler reports no unlisted kind as dead
        // code.
        const _: &[Number] = &[$( Number::$kind ),+];
    };
    (@nodes $protocol:ty : $( $kind:ident ( $controller:ty $(, $msg:ty)? ) ),+) => {
        /// All controllers of the protocol.
        #[derive(Debug, PartialEq, Eq, Hash)]
        #[allow(clippy::large_enum_variant)]
        pub enum Node {
            $(
                #[doc = concat!("A controller of kind ", stringify!($kind), ".")]
                $kind($controller)
            ),+
        }
        impl Clone for Node {
            fn clone(&self) -> Self {
                match self { $( Node::$kind(c) => Node::$kind(c.clone()) ),+ }
            }
            fn clone_from(&mut self, from: &Self) {
                match (self, from) {
                    $( (Node::$kind(c), Node::$kind(from)) => c.clone_from(from), )+
                    #[allow(unreachable_patterns)]
                    (node, from) => *node = from.clone(),
                }
            }
        }
        /// All messages of the protocol, with one variant for each kind of receiving controller.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[allow(clippy::large_enum_variant)]
        pub enum Msg {
            $(
                #[doc = concat!("To a controller of kind ", stringify!($kind), ".")]
                $kind($crate::protocol_nodes!(@msg $($msg)?))
            ),+
        }
        impl $crate::Message for Msg {
            fn name(&self) -> &'static str {
                match self { $( Msg::$kind(m) => $crate::Message::name(m) ),+ }
            }
            #[inline]
            fn payload_bytes(&self, line_bytes: u32) -> u32 {
                match self { $( Msg::$kind(m) => $crate::Message::payload_bytes(m, line_bytes) ),+ }
            }
            fn line(&self) -> Option<$crate::LineAddr> {
                match self { $( Msg::$kind(m) => $crate::Message::line(m) ),+ }
            }
            #[inline]
            fn is_access(&self) -> bool {
                match self { $( Msg::$kind(m) => $crate::Message::is_access(m) ),+ }
            }
            #[inline]
            fn keeps_order(&self) -> bool {
                match self { $( Msg::$kind(m) => $crate::Message::keeps_order(m) ),+ }
            }
            fn forget_byte(&mut self) -> bool {
                match self { $( Msg::$kind(m) => $crate::Message::forget_byte(m) ),+ }
            }
            fn age(&mut self, elapsed: i32) {
                match self { $( Msg::$kind(m) => $crate::Message::age(m, elapsed) ),+ }
            }
            fn times(&mut self, visit: &mut dyn FnMut(&mut $crate::Time)) {
                match self { $( Msg::$kind(m) => $crate::Message::times(m, visit) ),+ }
            }
        }
        impl $crate::Node<$protocol> for Node {
            fn start(&mut self, cx: &mut $crate::Cx<'_, $protocol>) {
                match self { $( Node::$kind(c) => $crate::Controller::<$protocol>::start(c, cx) ),+ }
            }
            // This function is not inlined. So controllers are compiled once, with their protocol,
            // and not again in each driver.
            fn step(
                &mut self,
                input: $crate::Input<'_, Msg>,
                cx: &mut $crate::Cx<'_, $protocol>,
            ) -> $crate::Disposition {
                match self {
                    $( Node::$kind(c) => {
                        let input = match input {
                            $crate::Input::Message { from, msg: Msg::$kind(msg) } => {
                                $crate::Input::Message { from, msg }
                            }
                            #[allow(unreachable_patterns)]
                            $crate::Input::Message { .. } => {
                                return $crate::Disposition::Impossible(
                                    "the message is for another kind of controller",
                                );
                            }
                            $crate::Input::Request(ask) => $crate::Input::Request(ask),
                            $crate::Input::Memory(reply) => $crate::Input::Memory(reply),
                            $crate::Input::Evict(way) => $crate::Input::Evict(way),
                            $crate::Input::Timer(class) => $crate::Input::Timer(class),
                            $crate::Input::Tick { elapsed } => $crate::Input::Tick { elapsed },
                        };
                        <$controller as $crate::Controller<$protocol>>::step(c, input, cx)
                    } )+
                }
            }
            #[inline]
            fn hit(&self, load: &$crate::Load, homes: &$crate::Homes) -> Option<$crate::Hit<'_>> {
                match self { $( Node::$kind(c) => $crate::Controller::<$protocol>::hit(c, load, homes) ),+ }
            }
            fn victims(&self, set: $crate::SetIndex, out: &mut Vec<($crate::Way, $crate::Rank)>) {
                match self { $( Node::$kind(c) => $crate::Controller::<$protocol>::victims(c, set, out) ),+ }
            }
            fn occupied(&self, set: $crate::SetIndex, out: &mut Vec<$crate::Way>) {
                match self { $( Node::$kind(c) => $crate::Controller::<$protocol>::occupied(c, set, out) ),+ }
            }
            fn limit_ways(&mut self, ways: u32) -> bool {
                match self { $( Node::$kind(c) => $crate::Controller::<$protocol>::limit_ways(c, ways) ),+ }
            }
            fn lines(&self, out: &mut Vec<$crate::LineView>) {
                match self { $( Node::$kind(c) => $crate::Controller::<$protocol>::lines(c, out) ),+ }
            }
            fn conditions(&self, out: &mut Vec<$crate::Condition>) {
                match self { $( Node::$kind(c) => $crate::Controller::<$protocol>::conditions(c, out) ),+ }
            }
            fn is_quiet(&self) -> bool {
                match self { $( Node::$kind(c) => $crate::Controller::<$protocol>::is_quiet(c) ),+ }
            }
            fn miscount(&self) -> Option<&'static str> {
                match self { $( Node::$kind(c) => $crate::Controller::<$protocol>::miscount(c) ),+ }
            }
            fn canonicalize(&mut self) {
                match self { $( Node::$kind(c) => $crate::Controller::<$protocol>::canonicalize(c) ),+ }
            }
            fn age_tag(&self, tag: &mut $crate::MemoryTag, elapsed: i32) {
                match self {
                    $( Node::$kind(c) => $crate::Controller::<$protocol>::age_tag(c, tag, elapsed) ),+
                }
            }
            fn times(&mut self, visit: &mut dyn FnMut(&mut $crate::Time)) {
                match self { $( Node::$kind(c) => $crate::Controller::<$protocol>::times(c, visit) ),+ }
            }
        }
    };
}
