//! A map of a few entries.

use core::fmt::Debug;
use core::hash::Hash;
use smallvec::SmallVec;

/// A map that seldom has more than a few entries. Up to two entries need no allocation. Maps with
/// equal contents are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SmallMap<K, V = ()> {
    /// The entries, in the order of their keys.
    entries: SmallVec<[(K, V); 2]>,
}

impl<K, V> Default for SmallMap<K, V> {
    fn default() -> Self {
        SmallMap { entries: SmallVec::new() }
    }
}

impl<K: Copy + Ord, V> SmallMap<K, V> {
    /// Whether the map has no entry.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn place(&self, key: K) -> Result<usize, usize> {
        let at = self.entries.iter().take_while(|(other, _)| *other < key).count();
        match self.entries.get(at) {
            Some((other, _)) if *other == key => Ok(at),
            _ => Err(at),
        }
    }

    /// A mutable reference to the value of a key.
    #[must_use]
    pub fn get_mut(&mut self, key: K) -> Option<&mut V> {
        let at = self.place(key).ok()?;
        Some(&mut self.entries[at].1)
    }

    /// Inserts a value. Drops a previous value of the key.
    pub fn insert(&mut self, key: K, value: V) {
        match self.place(key) {
            Ok(at) => self.entries[at].1 = value,
            Err(at) => self.entries.insert(at, (key, value)),
        }
    }

    /// Removes a key. Returns its value, if there was one.
    pub fn remove(&mut self, key: K) -> Option<V> {
        self.place(key).ok().map(|at| self.entries.remove(at).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_small_map_behaves_as_an_ordered_map() {
        let (mut few, mut oracle) = (SmallMap::default(), BTreeMap::new());
        for i in 0..2000u32 {
            let key = i.wrapping_mul(0x9e37_79b9) >> 28;
            match i % 4 {
                0 | 1 => {
                    few.insert(key, i);
                    oracle.insert(key, i);
                }
                2 => assert_eq!(few.remove(key), oracle.remove(&key)),
                _ => assert_eq!(few.get_mut(key), oracle.get_mut(&key)),
            }
            assert!(few.entries.iter().map(|(key, value)| (key, value)).eq(oracle.iter()));
            assert_eq!(few.is_empty(), oracle.is_empty());
        }
    }
}
