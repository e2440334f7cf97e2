//! Messages declared with what drivers and charts ask of them.

/// Declares an enumeration of messages and its [`Message`](crate::Message).
///
/// Behind a message stand its properties:
///
/// * `name("Text")`: its name, where it is not that of the variant;
/// * `line(field)`: the line it is about;
/// * `bytes(|line| expression)`: what it carries beside the header, on a machine with
///   lines of so many bytes; without it nothing;
/// * `access`: it asks the receiver for a line;
/// * `order(expression)`: does it keep its order? Without it accesses do;
/// * `writes(field)`: the mask of the written bytes that it carries;
/// * `ages(|elapsed| expression)`: what the passing of time does to it;
/// * `times(field, ..)`: its logical times.
///
/// An expression sees the fields as references. `enum ToBank = Shared(Other) { .. }` adds
/// a variant that carries a message of another enumeration, has its properties, and is
/// made from it; several stand in a list. With `[order(function)]` behind it, the
/// function says which of those messages keep their order.
///
/// ```
/// use proto::{LineAddr, LineData, Message as _, Slot};
///
/// proto::messages! {
///     /// To a cache.
///     #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
///     pub enum ToCache {
///         /// The line that was asked for.
///         Data {
///             /// The line.
///             line: LineAddr,
///             /// Its bytes.
///             data: LineData,
///         } [line(line), bytes(|line_bytes| line_bytes)],
///         /// What was asked for is done.
///         Done {
///             /// The request that waits.
///             slot: Slot,
///         },
///     }
/// }
///
/// let done = ToCache::Done { slot: Slot(3) };
/// assert_eq!((done.name(), done.payload_bytes(64), done.line()), ("Done", 0, None));
/// ```
///
/// A property that does not exist is an error:
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

    // Each picks one property from the list; the last rules pass over the others, and
    // nothing matches what is none.
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
