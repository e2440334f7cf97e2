//! Durations that run down while time passes.

use core::fmt::Debug;
use core::hash::Hash;
use std::collections::{BTreeMap, BTreeSet};

/// Durations by key, such as the leases of lines. Each ends after a number of ticks, unless it is
/// removed before. Only [`Countdowns::canonicalize`] makes equal durations compare as equal if
/// they were started at different times.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Countdowns<K> {
    /// The current time, in ticks. It starts at 0, and `canonicalize` sets it back to 0.
    now: u64,
    /// The time at which each duration ends.
    ends: BTreeMap<K, u64>,
    /// For each duration, the time at which it ends and its key, in the order of these times.
    order: BTreeSet<(u64, K)>,
}

impl<K> Default for Countdowns<K> {
    fn default() -> Self {
        Countdowns { now: 0, ends: BTreeMap::new(), order: BTreeSet::new() }
    }
}

impl<K: Copy + Ord> Countdowns<K> {
    /// Starts a duration of at least one tick. If a duration of the key runs, the later end
    /// remains.
    pub fn start(&mut self, key: K, ticks: u32) {
        let end = self.now + u64::from(ticks.max(1));
        let old = self.ends.get(&key).copied();
        if old.is_some_and(|old| old >= end) {
            return;
        }
        self.remove(key);
        self.ends.insert(key, end);
        self.order.insert((end, key));
    }

    /// Removes the duration of a key, if one runs.
    pub fn remove(&mut self, key: K) {
        if let Some(end) = self.ends.remove(&key) {
            self.order.remove(&(end, key));
        }
    }

    /// The ticks that are left of a key's duration. Zero if no duration of the key runs.
    #[must_use]
    pub fn left(&self, key: K) -> u32 {
        self.ends.get(&key).map_or(0, |&end| self.until(end))
    }

    /// Whether no duration runs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The ticks until the first of the running durations ends, or `None` if no duration runs.
    #[must_use]
    pub fn first(&self) -> Option<u32> {
        self.order.first().map(|&(end, _)| self.until(end))
    }

    /// The ticks until the last of the running durations ends, or `None` if no duration runs.
    #[must_use]
    pub fn last(&self) -> Option<u32> {
        self.order.last().map(|&(end, _)| self.until(end))
    }

    /// Lets time pass. A duration that has ended stays until [`Countdowns::take_ended`] removes it.
    pub fn pass(&mut self, elapsed: u32) {
        self.now += u64::from(elapsed);
    }

    /// Removes the durations that have ended, and returns their keys in the order of their ends.
    pub fn take_ended(&mut self) -> Vec<K> {
        let mut ended = Vec::new();
        while let Some(&(end, key)) = self.order.first().filter(|(end, _)| *end <= self.now) {
            self.order.remove(&(end, key));
            self.ends.remove(&key);
            ended.push(key);
        }
        ended
    }

    /// Changes the representation to one canonical form: the current time becomes 0, and the end of
    /// each duration is counted from it.
    pub fn canonicalize(&mut self) {
        let now = core::mem::take(&mut self.now);
        if now == 0 {
            return;
        }
        self.ends.values_mut().for_each(|end| *end = end.saturating_sub(now));
        self.order = self.ends.iter().map(|(&key, &end)| (end, key)).collect();
    }

    fn until(&self, end: u64) -> u32 {
        u32::try_from(end.saturating_sub(self.now)).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_end_in_the_order_of_their_ends() {
        let mut all = Countdowns::default();
        all.start('a', 5);
        all.start('b', 2);
        all.start('c', 2);
        assert_eq!((all.first(), all.last(), all.left('a'), all.left('z')), (Some(2), Some(5), 5, 0));
        let mut ended_after = |ticks| {
            all.pass(ticks);
            all.take_ended()
        };
        assert_eq!(ended_after(1), []);
        assert_eq!(ended_after(3), ['b', 'c']);
        assert_eq!(all.left('a'), 1);
        all.remove('a');
        assert!(all.is_empty());
        all.pass(7);
        assert_eq!((all.take_ended(), all.first()), (vec![], None));
    }

    #[test]
    fn a_duration_that_has_ended_stays_until_it_is_taken() {
        let mut all = Countdowns::default();
        all.start('a', 1);
        all.pass(2);
        all.canonicalize();
        assert_eq!((all.left('a'), all.first(), all.is_empty()), (0, Some(0), false));
        assert_eq!(all.take_ended(), ['a']);
    }

    #[test]
    fn the_later_of_two_ends_remains() {
        let mut all = Countdowns::default();
        all.start('a', 3);
        all.start('a', 2);
        assert_eq!(all.left('a'), 3);
        all.start('a', 4);
        all.pass(3);
        assert_eq!(all.take_ended(), []);
        all.pass(1);
        assert_eq!(all.take_ended(), ['a']);
    }

    #[test]
    fn equal_durations_are_equal_whenever_they_started() {
        let (mut early, mut late) = (Countdowns::default(), Countdowns::default());
        early.start('a', 5);
        early.pass(3);
        late.start('a', 2);
        assert_ne!(early, late);
        early.canonicalize();
        assert_eq!(early, late);
    }
}
