//! Declaration of messages with the properties that drivers (such as the simulator) and charts use.

/// Declares an enumeration of messages, and implements [`Message`](crate::Message) for it.
///
/// The properties of a message follow it in brackets:
///
/// * `name("Text")`: the name of the message. The default is the name of the variant.
/// * `line(field)`: the line that the message concerns.
/// * `bytes(|line| expression)`: the number of bytes after the header, on a machine with
///   lines of `line` bytes. The default is 0.
/// * `access`: the message requests a line from the receiver.
/// * `order(expression)`: whether the message must stay behind parked (waiting) messages of the
///   same sender for the same line. The default is true for a message marked `access`, and false
///   for any other message.
/// * `writes(field)`: the mask of the written bytes that the message carries.
/// * `ages(|elapsed| expression)`: the effect of elapsed time on the message.
/// * `times(field, ..)`: the logical times in the message.
///
/// An expression sees the fields as references. `enum ToBank = Shared(Other) { .. }` adds
/// the variant `Shared`, which carries a message of the enumeration `Other`. The variant has
/// the properties of that message and a `From` implementation. A declaration can add several
/// such variants. If `[order(function)]` follows, the function decides which of the carried
/// messages keep their order.
///
/// ```
/// use proto::{LineAddr, LineData, Message as _, Slot};
///
/// proto::messages! {
///     /// To a cache.
///     #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
///     pub enum ToCache {
///         /// The requested line.
///         Data {
///             /// The line.
///             line: LineAddr,
///             /// Its bytes.
///             data: LineData,
///         } [line(line), bytes(|line_bytes| line_bytes)],
///         /// The operation is complete.
///         Done {
///             /// The waiting request.
///             slot: Slot,
///         },
///     }
/// }
///
/// let done = ToCache::Done { slot: Slot(3) };
/// assert_eq!((done.name(), done.payload_bytes(64), done.line()), ("Done", 0, None));
/// ```
///
/// An unknown property is an error:
///
/// ```compile_fail
/// proto::messages! {
///     #[derive(Clone, Debug, PartialEq, Eq, Hash)]
///     pub enum ToCache {
///         Get { line: proto::LineAddr } [lines(line)],
///     }
/// }
/// ```
#[macro_export]
macro_rules! messages {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident
        $( = $( $shared:ident ( $inner:ty ) $( [ order($shared_order:expr) ] )? ),+ )?
        {
            $(
                $(#[$variant_meta:meta])*
                $variant:ident
                $( { $( $(#[$field_meta:meta])* $field:ident : $type:ty ),* $(,)? } )?
                $( [ $( $property:ident $( ( $($value:tt)* ) )? ),* ] )?
            ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        $vis enum $name {
            $($(
                #[doc = concat!("A message of `", stringify!($inner), "`.")]
                $shared($inner),
            )+)?
            $( $(#[$variant_meta])* $variant $( { $( $(#[$field_meta])* $field : $type ),* } )? ),*
        }

        $($(
            impl From<$inner> for $name {
                #[inline]
                fn from(msg: $inner) -> Self {
                    $name::$shared(msg)
                }
            }
        )+)?

        #[allow(unused_variables)]
        impl $crate::Message for $name {
            #[inline]
            fn name(&self) -> &'static str {
                match self {
                    $($( $name::$shared(msg) => $crate::Message::name(msg), )+)?
                    $( $name::$variant { .. } => {
                        $crate::messages!(@name [$variant] $($( $property $( ($($value)*) )? ),*)?)
                    } )*
                }
            }
            #[inline]
            fn payload_bytes(&self, line_bytes: u32) -> u32 {
                match self {
                    $($( $name::$shared(msg) => $crate::Message::payload_bytes(msg, line_bytes), )+)?
                    $( $name::$variant { $($($field),*)? } => {
                        $crate::messages!(@bytes [line_bytes] $($( $property $( ($($value)*) )? ),*)?)
                    } )*
                }
            }
            #[inline]
            fn line(&self) -> Option<$crate::LineAddr> {
                match self {
                    $($( $name::$shared(msg) => $crate::Message::line(msg), )+)?
                    $( $name::$variant { $($($field),*)? } => {
                        $crate::messages!(@line [] $($( $property $( ($($value)*) )? ),*)?)
                    } )*
                }
            }
            #[inline]
            fn is_access(&self) -> bool {
                match self {
                    $($( $name::$shared(msg) => $crate::Message::is_access(msg), )+)?
                    $( $name::$variant { .. } => {
                        $crate::messages!(@access [] $($( $property $( ($($value)*) )? ),*)?)
                    } )*
                }
            }
            #[inline]
            fn keeps_order(&self) -> bool {
                match self {
                    $($( $name::$shared(msg) => $crate::messages!(@shared_order [msg] $($shared_order)?), )+)?
                    $( $name::$variant { $($($field),*)? } => {
                        $crate::messages!(@order [self] $($( $property $( ($($value)*) )? ),*)?)
                    } )*
                }
            }
            fn forget_byte(&mut self) -> bool {
                match self {
                    $($( $name::$shared(msg) => $crate::Message::forget_byte(msg), )+)?
                    $( $name::$variant { $($($field),*)? } => {
                        $crate::messages!(@writes [] $($( $property $( ($($value)*) )? ),*)?)
                    } )*
                }
            }
            fn age(&mut self, elapsed: i32) {
                match self {
                    $($( $name::$shared(msg) => $crate::Message::age(msg, elapsed), )+)?
                    $( $name::$variant { $($($field),*)? } => {
                        $crate::messages!(@ages [elapsed] $($( $property $( ($($value)*) )? ),*)?)
                    } )*
                }
            }
            fn times(&mut self, visit: &mut dyn FnMut(&mut $crate::Time)) {
                match self {
                    $($( $name::$shared(msg) => $crate::Message::times(msg, visit), )+)?
                    $( $name::$variant { $($($field),*)? } => {
                        $crate::messages!(@times [visit] $($( $property $( ($($value)*) )? ),*)?)
                    } )*
                }
            }
        }
    };

    // Each of these rules extracts one property from the list of a message's properties. The rules
    // at the end skip a property that is not the wanted one. An unknown property matches no rule.
    (@name [$variant:ident]) => { stringify!($variant) };
    (@name [$variant:ident] name($name:literal) $($rest:tt)*) => { $name };
    (@bytes [$line:ident]) => { 0 };
    (@bytes [$line:ident] bytes($bytes:expr) $($rest:tt)*) => { ($bytes)($line) };
    (@line []) => { None };
    (@line [] line($line:ident) $($rest:tt)*) => { Some(*$line) };
    (@access []) => { false };
    (@access [] access $($rest:tt)*) => { true };
    (@order [$msg:ident]) => { $crate::Message::is_access($msg) };
    (@order [$msg:ident] order($order:expr) $($rest:tt)*) => { $order };
    (@shared_order [$msg:ident]) => { $crate::Message::keeps_order($msg) };
    (@shared_order [$msg:ident] $order:expr) => { $order($msg) };
    (@writes []) => { false };
    (@writes [] writes($mask:ident) $($rest:tt)*) => { $mask.forget_first() };
    (@ages [$elapsed:ident]) => { {} };
    (@ages [$elapsed:ident] ages($age:expr) $($rest:tt)*) => { ($age)($elapsed) };
    (@times [$visit:ident]) => { {} };
    (@times [$visit:ident] times($($time:ident),+) $($rest:tt)*) => {{ $( $visit($time); )+ }};
    (@$what:ident $subject:tt access $(, $($rest:tt)*)?) => {
        $crate::messages!(@$what $subject $($($rest)*)?)
    };
    (@$what:ident $subject:tt name($name:literal) $(, $($rest:tt)*)?) => {
        $crate::messages!(@$what $subject $($($rest)*)?)
    };
    (@$what:ident $subject:tt line($line:ident) $(, $($rest:tt)*)?) => {
        $crate::messages!(@$what $subject $($($rest)*)?)
    };
    (@$what:ident $subject:tt writes($mask:ident) $(, $($rest:tt)*)?) => {
        $crate::messages!(@$what $subject $($($rest)*)?)
    };
    (@$what:ident $subject:tt times($($time:ident),+) $(, $($rest:tt)*)?) => {
        $crate::messages!(@$what $subject $($($rest)*)?)
    };
    (@$what:ident $subject:tt bytes($value:expr) $(, $($rest:tt)*)?) => {
        $crate::messages!(@$what $subject $($($rest)*)?)
    };
    (@$what:ident $subject:tt order($value:expr) $(, $($rest:tt)*)?) => {
        $crate::messages!(@$what $subject $($($rest)*)?)
    };
    (@$what:ident $subject:tt ages($value:expr) $(, $($rest:tt)*)?) => {
        $crate::messages!(@$what $subject $($($rest)*)?)
    };
}
