//! Enumerations with lists, names and descriptions of their members.
//!
//! The states, events and actions of a table are such enumerations. Protocol pages, coverage and
//! mutants (protocols with a seeded fault) iterate over their members.

/// An enumeration with a list of its members.
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

/// Declares enumerations that implement [`Symbol`]. An enumeration can also be declared as the
/// union of two earlier ones.
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
///     /// The events of a line.
///     pub enum Event {
///         /// A load.
///         Load,
///     }
/// }
/// use proto::Symbol;
/// assert_eq!(State::ALL.len(), 2);
/// assert_eq!(State::V.name(), "V");
/// assert_eq!(State::I.doc(), "Not present.");
/// assert_eq!(Event::ALL, [Event::Load]);
///
/// proto::symbols! {
///     /// The states of written lines.
///     pub enum Written {
///         /// Dirty.
///         M,
///     }
/// }
/// proto::symbols! {
///     /// The members of `State`, then those of `Written`.
///     pub enum All = State + Written;
/// }
/// let names: Vec<_> = All::ALL.iter().map(|state| state.name()).collect();
/// assert_eq!(names, ["I", "V", "M"]);
/// ```
#[macro_export]
macro_rules! symbols {
    ($(
        $(#[$outer:meta])*
        $vis:vis enum $name:ident {
            $( $(#[doc = $doc:literal])+ $member:ident ),+ $(,)?
        }
    )+) => {$(
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
    )+};
    ($(#[$outer:meta])* $vis:vis enum $name:ident = $base:ident + $own:ident;) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $name {
            #[doc = concat!("A member of [`", stringify!($base), "`].")]
            $base($base),
            #[doc = concat!("A member of [`", stringify!($own), "`].")]
            $own($own),
        }
        impl $crate::Symbol for $name {
            const ALL: &'static [Self] = &{
                const BASE: &[$base] = <$base as $crate::Symbol>::ALL;
                const OWN: &[$own] = <$own as $crate::Symbol>::ALL;
                let mut all = [$name::$own(OWN[0]); BASE.len() + OWN.len()];
                let mut at = 0;
                while at < all.len() {
                    all[at] = match at < BASE.len() {
                        true => $name::$base(BASE[at]),
                        false => $name::$own(OWN[at - BASE.len()]),
                    };
                    at += 1;
                }
                all
            };
            #[inline]
            fn index(self) -> usize {
                match self {
                    $name::$base(member) => member.index(),
                    $name::$own(member) => <$base as $crate::Symbol>::ALL.len() + member.index(),
                }
            }
            fn name(self) -> &'static str {
                match self {
                    $name::$base(member) => member.name(),
                    $name::$own(member) => member.name(),
                }
            }
            fn doc(self) -> &'static str {
                match self {
                    $name::$base(member) => member.doc(),
                    $name::$own(member) => member.doc(),
                }
            }
        }
    };
}
