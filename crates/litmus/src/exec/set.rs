//! Sets of events, of which relations are made.

use core::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, Not};

/// The most events an execution may have.
pub const EVENTS_MAX: usize = 128;

/// A set of events, by their numbers below [`EVENTS_MAX`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventSet(u128);

impl EventSet {
    /// No event.
    pub const EMPTY: EventSet = EventSet(0);

    /// One event.
    #[inline]
    #[must_use]
    pub const fn only(event: usize) -> EventSet {
        EventSet(1 << event)
    }

    /// The events with a number below `count`.
    #[inline]
    #[must_use]
    pub const fn below(count: usize) -> EventSet {
        if count >= EVENTS_MAX { EventSet(u128::MAX) } else { EventSet((1 << count) - 1) }
    }

    /// Is the event a member?
    #[inline]
    #[must_use]
    pub const fn has(self, event: usize) -> bool {
        self.0 >> event & 1 == 1
    }

    /// Has it no member?
    #[inline]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Is each member one of `other`?
    #[inline]
    #[must_use]
    pub const fn is_within(self, other: EventSet) -> bool {
        self.0 & !other.0 == 0
    }

    /// How many members it has.
    #[inline]
    #[must_use]
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// The member with the smallest number.
    #[inline]
    #[must_use]
    pub const fn first(self) -> Option<usize> {
        if self.0 == 0 { None } else { Some(self.0.trailing_zeros() as usize) }
    }

    /// The only member, if it has one member.
    #[inline]
    #[must_use]
    pub const fn single(self) -> Option<usize> {
        if self.count() == 1 { self.first() } else { None }
    }

    /// The set with the event.
    #[inline]
    #[must_use]
    pub const fn with(self, event: usize) -> EventSet {
        EventSet(self.0 | 1 << event)
    }

    /// The set without the event.
    #[inline]
    #[must_use]
    pub const fn without(self, event: usize) -> EventSet {
        EventSet(self.0 & !(1 << event))
    }

    /// Adds an event.
    #[inline]
    pub const fn insert(&mut self, event: usize) {
        *self = self.with(event);
    }

    /// Takes an event out.
    #[inline]
    pub const fn remove(&mut self, event: usize) {
        *self = self.without(event);
    }

    /// The set if `condition` holds, else no event. It has no branch.
    #[inline]
    #[must_use]
    pub const fn when(self, condition: bool) -> EventSet {
        EventSet(self.0 & (condition as u128).wrapping_neg())
    }
}

/// The members of a set, the smallest number first.
#[derive(Clone, Debug)]
pub struct Members {
    low: u64,
    high: u64,
}

impl Iterator for Members {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.low != 0 {
            let event = self.low.trailing_zeros() as usize;
            self.low &= self.low - 1;
            Some(event)
        } else if self.high != 0 {
            let event = self.high.trailing_zeros() as usize;
            self.high &= self.high - 1;
            Some(event + 64)
        } else {
            None
        }
    }
}

/// The members of a set, the smallest number first.
#[inline]
pub fn members(set: EventSet) -> Members {
    Members { low: set.0 as u64, high: (set.0 >> 64) as u64 }
}

impl FromIterator<usize> for EventSet {
    fn from_iter<I: IntoIterator<Item = usize>>(events: I) -> EventSet {
        events.into_iter().fold(EventSet::EMPTY, EventSet::with)
    }
}

impl BitOr for EventSet {
    type Output = EventSet;

    #[inline]
    fn bitor(self, other: EventSet) -> EventSet {
        EventSet(self.0 | other.0)
    }
}

impl BitAnd for EventSet {
    type Output = EventSet;

    #[inline]
    fn bitand(self, other: EventSet) -> EventSet {
        EventSet(self.0 & other.0)
    }
}

impl Not for EventSet {
    type Output = EventSet;

    /// The events that are no members, up to the bound.
    #[inline]
    fn not(self) -> EventSet {
        EventSet(!self.0)
    }
}

impl BitOrAssign for EventSet {
    #[inline]
    fn bitor_assign(&mut self, other: EventSet) {
        self.0 |= other.0;
    }
}

impl BitAndAssign for EventSet {
    #[inline]
    fn bitand_assign(&mut self, other: EventSet) {
        self.0 &= other.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Sets with members on both sides of the middle and at both ends.
    fn some() -> Vec<BTreeSet<usize>> {
        let ends = [0, 1, 62, 63, 64, 65, 126, 127];
        (0..256)
            .map(|choice| (0..8).filter(|at| choice >> at & 1 == 1).map(|at| ends[at]).collect())
            .collect()
    }

    fn of(set: &BTreeSet<usize>) -> EventSet {
        set.iter().copied().collect()
    }

    #[test]
    fn a_set_has_the_members_that_were_added() {
        for set in some() {
            let events = of(&set);
            assert!(members(events).eq(set.iter().copied()));
            assert!((0..EVENTS_MAX).all(|event| events.has(event) == set.contains(&event)));
            assert_eq!(events.count() as usize, set.len());
            assert_eq!(events.first(), set.first().copied());
            assert_eq!(events.single(), if set.len() == 1 { set.first().copied() } else { None });
            assert_eq!((events.is_empty(), events.when(false)), (set.is_empty(), EventSet::EMPTY));
            assert_eq!(events.when(true), events);
            assert!(members(!events).eq((0..EVENTS_MAX).filter(|event| !set.contains(event))));
            for event in [0, 63, 64, 127] {
                assert_eq!((events.with(event).has(event), events.without(event).has(event)), (true, false));
                assert_eq!(events.with(event).without(event), events.without(event));
            }
        }
    }

    #[test]
    fn sets_are_joined_met_and_compared() {
        let sets = some();
        for a in &sets {
            for b in &sets {
                assert_eq!(of(a) | of(b), of(&(a | b)));
                assert_eq!(of(a) & of(b), of(&(a & b)));
                assert_eq!(of(a).is_within(of(b)), a.is_subset(b));
            }
        }
    }

    #[test]
    fn the_events_below_a_number_are_so_many() {
        for count in 0..=EVENTS_MAX {
            assert!(members(EventSet::below(count)).eq(0..count));
        }
    }
}
