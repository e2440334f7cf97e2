//! Enumerations whose members can be listed, counted, named and described.
//!
//! States, events and actions of a table are such enumerations: pages, coverage
//! and mutants walk over all of their members.

/// An enumeration that knows its members.
pub trait Symbol: Copy + Eq + core::hash::Hash + core::fmt::Debug + 'static {
    /// Every member, in declaration order.
    const ALL: &'static [Self];
    /// The position of this member in [`Symbol::ALL`].
    fn index(self) -> usize;
    /// The member's name as written in the source.
    fn name(self) -> &'static str;
    /// The member's doc comment, trimmed.
    fn doc(self) -> &'static str;
}

/// Declares an enumeration that implements [`Symbol`].
///
/// ```
/// proto::symbols! {
///     /// The states of a line.
///     pub enum State {
///         /// Not present.
///         I,
///         /// Valid.
///         V,
///     }
/// }
/// use proto::Symbol;
/// assert_eq!(State::ALL.len(), 2);
/// assert_eq!(State::V.name(), "V");
/// assert_eq!(State::I.doc(), "Not present.");
/// ```
#[macro_export]
macro_rules! symbols {
    (
        $(#[$outer:meta])*
        $vis:vis enum $name:ident {
            $( $(#[doc = $doc:literal])+ $member:ident ),+ $(,)?
        }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        $vis enum $name {
            $( $(#[doc = $doc])+ $member ),+
        }
        impl $crate::Symbol for $name {
            const ALL: &'static [Self] = &[$( $name::$member ),+];
            #[inline]
            fn index(self) -> usize {
                self as usize
            }
            fn name(self) -> &'static str {
                match self {
                    $( $name::$member => stringify!($member) ),+
                }
            }
            fn doc(self) -> &'static str {
                match self {
                    $( $name::$member => concat!($($doc),+).trim_ascii() ),+
                }
            }
        }
    };
}
