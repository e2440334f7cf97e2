//! A hash map for entries that change with almost every input of a controller. Maps with equal
//! contents are equal and hash alike.

use core::hash::{BuildHasher, Hash, Hasher};

use rustc_hash::{FxBuildHasher, FxHashMap};

/// A hash map with keys that are small and cheap to copy. The order in which the map stores its
/// entries is not visible, because [`Lookup::iter`] sorts the entries.
#[derive(Clone, Debug)]
pub(crate) struct Lookup<K, V> {
    entries: FxHashMap<K, V>,
}

impl<K, V> Default for Lookup<K, V> {
    fn default() -> Self {
        Lookup { entries: FxHashMap::default() }
    }
}

impl<K: Eq + Hash, V: PartialEq> PartialEq for Lookup<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

impl<K: Eq + Hash, V: Eq> Eq for Lookup<K, V> {}

impl<K: Hash, V: Hash> Hash for Lookup<K, V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // A sum does not depend on the order of the entries.
        let sum =
            self.entries.iter().fold(0u64, |sum, entry| sum.wrapping_add(FxBuildHasher.hash_one(entry)));
        state.write_usize(self.entries.len());
        state.write_u64(sum);
    }
}

impl<K: Copy + Ord + Hash, V> Lookup<K, V> {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    #[inline]
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        if self.entries.is_empty() { None } else { self.entries.get(key) }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        if self.entries.is_empty() { None } else { self.entries.get_mut(key) }
    }

    /// Inserts a value. Drops a previous value of the key.
    #[inline]
    pub(crate) fn insert(&mut self, key: K, value: V) {
        self.entries.insert(key, value);
    }

    #[inline]
    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        if self.entries.is_empty() { None } else { self.entries.remove(key) }
    }

    pub(crate) fn clear(&mut self) {
        if !self.entries.is_empty() {
            self.entries.clear();
        }
    }

    /// Drops the entries for which `keep` returns false.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        self.entries.retain(|key, value| keep(key, value));
    }

    /// References to all values, in an unspecified order.
    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.entries.values()
    }

    /// The number of entries.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Mutable references to all values, in an unspecified order.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.entries.values_mut()
    }

    /// The entries in the order of their keys.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        // Only keys are sorted: code that sorts is long, and values have other types in each protocol.
        let mut keys: Vec<K> = Vec::with_capacity(self.entries.len());
        self.entries.keys().for_each(|&key| keys.push(key));
        keys.sort_unstable();
        keys.into_iter().filter_map(|key| self.entries.get_key_value(&key))
    }
}

impl<K: Copy + Ord + Hash, V: Default> Lookup<K, V> {
    /// The value of a key. Inserts the default value if the key is missing.
    #[inline]
    pub(crate) fn or_default(&mut self, key: K) -> &mut V {
        self.entries.entry(key).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn hash(map: &Lookup<u32, Vec<u32>>) -> u64 {
        FxBuildHasher.hash_one(map)
    }

    #[test]
    fn a_lookup_behaves_as_an_ordered_map() {
        let mut map: Lookup<u32, Vec<u32>> = Lookup::default();
        let mut oracle: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for i in 0..2000u32 {
            let key = i.wrapping_mul(0x9e37_79b9) >> 27;
            match i % 5 {
                0 | 1 => {
                    map.or_default(key).push(i);
                    oracle.entry(key).or_default().push(i);
                }
                2 => {
                    map.insert(key, vec![i]);
                    oracle.insert(key, vec![i]);
                }
                3 => assert_eq!(map.remove(&key), oracle.remove(&key)),
                _ => assert_eq!(map.get_mut(&key).map(Vec::pop), oracle.get_mut(&key).map(Vec::pop)),
            }
            assert_eq!(map.get(&key), oracle.get(&key));
            assert!(map.iter().eq(oracle.iter()));
            assert_eq!(map.is_empty(), oracle.is_empty());
        }
    }

    #[test]
    fn maps_with_equal_contents_are_equal_and_hash_alike_after_any_history() {
        let (mut a, mut b) = (Lookup::default(), Lookup::default());
        for key in 0..100u32 {
            a.insert(key, vec![key]);
            b.insert(99 - key, vec![99 - key]);
        }
        for key in 100..500 {
            b.insert(key, vec![]);
        }
        for key in 100..500 {
            b.remove(&key);
        }
        assert_eq!(a, b);
        assert_eq!(hash(&a), hash(&b));
        b.insert(3, vec![4]);
        assert_ne!(a, b);
        assert_ne!(hash(&a), hash(&b));
    }
}
