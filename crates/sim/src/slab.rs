//! A slab: a store that gives each of its values a small number. The number of a removed value is
//! used again.

/// A store of values, each identified by a small number. A number is valid from `insert` to
/// `remove`.
#[derive(Clone, Debug)]
pub(crate) struct Slab<T> {
    places: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { places: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// The number of values in the slab.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    #[inline]
    pub(crate) fn insert(&mut self, value: T) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.places[number as usize] = Some(value);
                number
            }
            None => {
                self.places.push(Some(value));
                (self.places.len() - 1) as u32
            }
        }
    }

    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<&T> {
        self.places.get(number as usize).and_then(Option::as_ref)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.places.get_mut(number as usize).and_then(Option::as_mut)
    }

    #[inline]
    pub(crate) fn remove(&mut self, number: u32) -> Option<T> {
        let value = self.places.get_mut(number as usize).and_then(Option::take);
        if value.is_some() {
            self.free.push(number);
        }
        value
    }

    /// Removes the value with this number without returning it. Does nothing if the number is not
    /// in use.
    #[inline]
    pub(crate) fn free(&mut self, number: u32) {
        if let Some(place) = self.places.get_mut(number as usize).filter(|place| place.is_some()) {
            *place = None;
            self.free.push(number);
        }
    }

    /// All values with their numbers, in the order of the numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.places.iter().enumerate().filter_map(|(i, v)| v.as_ref().map(|v| (i as u32, v)))
    }

    /// All values in the order of their numbers, as mutable references.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.places.iter_mut().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_reused_only_after_its_value_was_removed() {
        let mut slab = Slab::default();
        let (a, b) = (slab.insert('a'), slab.insert('b'));
        assert_ne!(a, b);
        assert_eq!(slab.remove(a), Some('a'));
        assert_eq!(slab.remove(a), None);
        assert_eq!(slab.len(), 1);
        assert_eq!(slab.insert('c'), a);
        assert_eq!(slab.iter().collect::<Vec<_>>(), [(a, &'c'), (b, &'b')]);
    }
}
