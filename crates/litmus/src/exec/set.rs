//! Sets of events. A relation is a list of such sets, its rows.
//!
//! A set is a word with one bit for each event. Most executions have at most 64 events, and for
//! these executions the search uses words of 64 bits. For larger executions it uses words of 128
//! bits (wide words).

use core::fmt::Debug;
use core::hash::Hash;
use core::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, Not};

/// The maximum number of events in an execution.
pub const EVENTS_MAX: usize = 128;

/// A word of bits that holds a set.
pub trait Word:
    Copy
    + Debug
    + Default
    + Ord
    + Hash
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + Not<Output = Self>
    + BitAndAssign
    + BitOrAssign
{
    /// The number of bits of the word.
    const BITS: usize;
    /// The word in which no bit is set.
    const NONE: Self;

    /// The word in which only the bit `at` is set.
    fn bit(at: usize) -> Self;
    /// A word with all bits set if `condition` holds, otherwise with no bit set. Uses no branch.
    fn all(condition: bool) -> Self;
    /// The word in which the bits with numbers below `count` are set.
    fn below(count: usize) -> Self;
    /// Whether the bit `at` is set.
    fn has(self, at: usize) -> bool;
    /// The number of set bits.
    fn ones(self) -> u32;
    /// Clears the lowest set bit and returns its number. `None` if no bit is set.
    fn pop(&mut self) -> Option<usize>;
    /// The number of the lowest set bit. `None` if no bit is set.
    fn lowest(self) -> Option<usize>;
    /// Converts a wide word (128 bits) to this type: keeps the lowest bits, as many as this type
    /// has.
    fn narrow(wide: u128) -> Self;
    /// This word, extended with zeros to a wide word (128 bits).
    fn widen(self) -> u128;
}

/// Implements [`Word`] for a type. `$lowest` finds the lowest set bit.
macro_rules! word {
    ($word:ty, $lowest:expr) => {
        impl Word for $word {
            const BITS: usize = <$word>::BITS as usize;
            const NONE: $word = 0;

            #[inline]
            fn bit(at: usize) -> $word {
                1 << at
            }

            #[inline]
            fn all(condition: bool) -> $word {
                <$word>::from(condition).wrapping_neg()
            }

            #[inline]
            fn below(count: usize) -> $word {
                if count >= <Self as Word>::BITS { <$word>::MAX } else { (1 << count) - 1 }
            }

            #[inline]
            fn has(self, at: usize) -> bool {
                self >> at & 1 == 1
            }

            #[inline]
            fn ones(self) -> u32 {
                self.count_ones()
            }

            #[inline]
            fn pop(&mut self) -> Option<usize> {
                let at = self.lowest()?;
                *self &= *self - 1;
                Some(at)
            }

            #[inline]
            fn lowest(self) -> Option<usize> {
                $lowest(self)
            }

            #[inline]
            fn narrow(wide: u128) -> $word {
                wide as $word
            }

            #[inline]
            fn widen(self) -> u128 {
                u128::from(self)
            }
        }
    };
}

word!(u64, |word: u64| if word == 0 { None } else { Some(word.trailing_zeros() as usize) });
// The lower half is examined first, because most sets have members only there.
word!(u128, |word: u128| match (word as u64).lowest() {
    Some(at) => Some(at),
    None => ((word >> 64) as u64).lowest().map(|at| at + 64),
});

/// A set of events. Event numbers are below the number of bits of the word, by default
/// [`EVENTS_MAX`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventSet<W = u128>(W);

impl<W: Word> EventSet<W> {
    /// The empty set.
    pub const EMPTY: EventSet<W> = EventSet(W::NONE);

    /// The set of one event.
    #[inline]
    #[must_use]
    pub fn only(event: usize) -> EventSet<W> {
        EventSet(W::bit(event))
    }

    /// The events with a number below `count`.
    #[inline]
    #[must_use]
    pub fn below(count: usize) -> EventSet<W> {
        EventSet(W::below(count))
    }

    /// Whether the event is a member.
    #[inline]
    #[must_use]
    pub fn has(self, event: usize) -> bool {
        self.0.has(event)
    }

    /// Whether the set is empty.
    #[inline]
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == W::NONE
    }

    /// Whether all members of this set are members of `other`.
    #[inline]
    #[must_use]
    pub fn is_within(self, other: EventSet<W>) -> bool {
        self.0 & !other.0 == W::NONE
    }

    /// The number of members.
    #[inline]
    #[must_use]
    pub fn count(self) -> u32 {
        self.0.ones()
    }

    /// The member with the smallest number.
    #[inline]
    #[must_use]
    pub fn first(self) -> Option<usize> {
        self.0.lowest()
    }

    /// The member of a set that has exactly one member. `None` for every other set.
    #[inline]
    #[must_use]
    pub fn single(self) -> Option<usize> {
        if self.count() == 1 { self.first() } else { None }
    }

    /// The set with `event` added.
    #[inline]
    #[must_use]
    pub fn with(self, event: usize) -> EventSet<W> {
        EventSet(self.0 | W::bit(event))
    }

    /// The set with `event` removed.
    #[inline]
    #[must_use]
    pub fn without(self, event: usize) -> EventSet<W> {
        EventSet(self.0 & !W::bit(event))
    }

    /// Adds an event to the set.
    #[inline]
    pub fn insert(&mut self, event: usize) {
        *self = self.with(event);
    }

    /// Removes an event from the set.
    #[inline]
    pub fn remove(&mut self, event: usize) {
        *self = self.without(event);
    }

    /// This set if `condition` holds, otherwise the empty set. Uses no branch.
    #[inline]
    #[must_use]
    pub fn when(self, condition: bool) -> EventSet<W> {
        EventSet(self.0 & W::all(condition))
    }

    /// The same set in a wide word (128 bits).
    #[inline]
    #[must_use]
    pub fn wide(self) -> EventSet {
        EventSet(self.0.widen())
    }
}

impl EventSet {
    /// The same set in another word type, which must have a bit for each member.
    #[inline]
    #[must_use]
    pub fn narrow<W: Word>(self) -> EventSet<W> {
        debug_assert!(self.is_within(EventSet::below(W::BITS)), "the word is too narrow");
        EventSet(W::narrow(self.0))
    }
}

/// Converts the rows of a relation to another word type.
pub(crate) fn narrow<W: Word>(rows: &[EventSet]) -> Vec<EventSet<W>> {
    rows.iter().map(|row| row.narrow()).collect()
}

/// Converts the rows of a relation to wide words (128 bits).
pub(crate) fn wide<W: Word>(rows: &[EventSet<W>]) -> Vec<EventSet> {
    rows.iter().map(|row| row.wide()).collect()
}

/// An iterator over the members of a set in ascending order.
#[derive(Clone, Debug)]
pub struct Members<W = u128>(W);

impl<W: Word> Iterator for Members<W> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        self.0.pop()
    }
}

/// The members of a set in ascending order.
#[inline]
pub fn members<W: Word>(set: EventSet<W>) -> Members<W> {
    Members(set.0)
}

impl<W: Word> FromIterator<usize> for EventSet<W> {
    fn from_iter<I: IntoIterator<Item = usize>>(events: I) -> EventSet<W> {
        events.into_iter().fold(EventSet::EMPTY, EventSet::with)
    }
}

impl<W: Word> BitOr for EventSet<W> {
    type Output = EventSet<W>;

    #[inline]
    fn bitor(self, other: EventSet<W>) -> EventSet<W> {
        EventSet(self.0 | other.0)
    }
}

impl<W: Word> BitAnd for EventSet<W> {
    type Output = EventSet<W>;

    #[inline]
    fn bitand(self, other: EventSet<W>) -> EventSet<W> {
        EventSet(self.0 & other.0)
    }
}

impl<W: Word> Not for EventSet<W> {
    type Output = EventSet<W>;

    /// The events that are not in the set, up to the number of bits of the word.
    #[inline]
    fn not(self) -> EventSet<W> {
        EventSet(!self.0)
    }
}

impl<W: Word> BitOrAssign for EventSet<W> {
    #[inline]
    fn bitor_assign(&mut self, other: EventSet<W>) {
        self.0 |= other.0;
    }
}

impl<W: Word> BitAndAssign for EventSet<W> {
    #[inline]
    fn bitand_assign(&mut self, other: EventSet<W>) {
        self.0 &= other.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Test sets. Their members are events whose bits are near the ends of the two halves of the
    /// word. Every combination of these events is one set.
    fn some<W: Word>() -> Vec<BTreeSet<usize>> {
        let half = W::BITS / 2;
        let ends = [0, 1, half - 2, half - 1, half, half + 1, W::BITS - 2, W::BITS - 1];
        (0..256)
            .map(|choice| (0..8).filter(|at| choice >> at & 1 == 1).map(|at| ends[at]).collect())
            .collect()
    }

    fn of<W: Word>(set: &BTreeSet<usize>) -> EventSet<W> {
        set.iter().copied().collect()
    }

    fn has_the_members_that_were_added<W: Word>() {
        for set in some::<W>() {
            let events = of::<W>(&set);
            assert!(members(events).eq(set.iter().copied()));
            assert!((0..W::BITS).all(|event| events.has(event) == set.contains(&event)));
            assert_eq!(events.count() as usize, set.len());
            assert_eq!(events.first(), set.first().copied());
            assert_eq!(events.single(), if set.len() == 1 { set.first().copied() } else { None });
            assert_eq!((events.is_empty(), events.when(false)), (set.is_empty(), EventSet::EMPTY));
            assert_eq!(events.when(true), events);
            assert!(members(!events).eq((0..W::BITS).filter(|event| !set.contains(event))));
            for event in [0, W::BITS / 2 - 1, W::BITS / 2, W::BITS - 1] {
                assert_eq!((events.with(event).has(event), events.without(event).has(event)), (true, false));
                assert_eq!(events.with(event).without(event), events.without(event));
            }
            assert_eq!(events.wide().narrow::<W>(), events);
            assert!(members(events.wide()).eq(set.iter().copied()));
        }
    }

    #[test]
    fn a_set_has_the_members_that_were_added() {
        has_the_members_that_were_added::<u64>();
        has_the_members_that_were_added::<u128>();
    }

    fn are_joined_met_and_compared<W: Word>() {
        let sets = some::<W>();
        for a in &sets {
            for b in &sets {
                assert_eq!(of::<W>(a) | of(b), of(&(a | b)));
                assert_eq!(of::<W>(a) & of(b), of(&(a & b)));
                assert_eq!(of::<W>(a).is_within(of(b)), a.is_subset(b));
            }
        }
    }

    #[test]
    fn sets_are_joined_met_and_compared() {
        are_joined_met_and_compared::<u64>();
        are_joined_met_and_compared::<u128>();
    }

    #[test]
    fn below_holds_the_first_events() {
        for count in 0..=EVENTS_MAX {
            assert!(members(EventSet::<u128>::below(count)).eq(0..count));
        }
        for count in 0..=64 {
            assert!(members(EventSet::<u64>::below(count)).eq(0..count));
        }
    }
}
