//! Interning: equal values get one number.

use core::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// Gives each value a number. Equal values have the same number. The numbers count from zero, in
/// the order of first use.
#[derive(Clone, Debug)]
pub(crate) struct Interner<T> {
    numbers: HashTable<u32>,
    things: Vec<(u64, T)>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner { numbers: HashTable::new(), things: Vec::new() }
    }
}

impl<T: Eq + Hash> Interner<T> {
    /// The number of a value. A new value gets the next number.
    pub(crate) fn number(&mut self, thing: T) -> u32 {
        let hash = FxBuildHasher.hash_one(&thing);
        let things = &self.things;
        let is_it = |&number: &u32| {
            let (other, known) = &things[number as usize];
            *other == hash && *known == thing
        };
        if let Some(&number) = self.numbers.find(hash, is_it) {
            return number;
        }
        let number = u32::try_from(self.things.len()).expect("fewer than 2^32 values");
        self.things.push((hash, thing));
        let things = &self.things;
        self.numbers.insert_unique(hash, number, |&number| things[number as usize].0);
        number
    }

    /// The value with this number.
    #[inline]
    pub(crate) fn thing(&self, number: u32) -> &T {
        &self.things[number as usize].1
    }

    /// The count of different values.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.things.len()
    }

    /// The approximate size in bytes, without heap data of the values.
    pub(crate) fn bytes(&self) -> usize {
        self.things.capacity() * size_of::<(u64, T)>() + self.numbers.capacity() * 5
    }
}
