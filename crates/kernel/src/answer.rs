//! What a program computed, to be held against a reference.

use core::fmt;

use crate::Word;

/// Named vectors of values that a program leaves as its answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    parts: Vec<Part>,
    counts: Vec<(String, u64)>,
}

/// One vector of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// The name of the element's type.
    pub word: &'static str,
    /// The bits of its elements.
    pub bits: Vec<u64>,
}

/// An answer that differs from its reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongAnswer {
    /// The part that differs.
    pub part: String,
    /// The first element that differs.
    pub index: u64,
    /// What the reference has.
    pub expected: String,
    /// What the program has.
    pub found: String,
}

impl fmt::Display for WrongAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WrongAnswer { part, index, expected, found } = self;
        write!(f, "wrong answer: element {index} of `{part}`: expected {expected}, found {found}")
    }
}

impl core::error::Error for WrongAnswer {}

impl Answer {
    /// An answer of nothing: for programs whose only result is that they end.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one more vector.
    #[must_use]
    pub fn with<T: Word>(mut self, name: impl Into<String>, values: &[T]) -> Self {
        let bits = values.iter().map(|v| v.to_bits()).collect();
        self.parts.push(Part { name: name.into(), word: T::NAME, bits });
        self
    }

    /// The same with a count of how the answer came about: nothing that is held
    /// against a reference, for it may differ from run to run.
    #[must_use]
    pub fn counting(mut self, name: impl Into<String>, count: u64) -> Self {
        self.counts.push((name.into(), count));
        self
    }

    /// All counts.
    #[must_use]
    pub fn counts(&self) -> &[(String, u64)] {
        &self.counts
    }

    /// All vectors.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// All vectors, to change them.
    pub fn parts_mut(&mut self) -> &mut [Part] {
        &mut self.parts
    }

    /// The values of one vector; none if there is no such vector of this type.
    #[must_use]
    pub fn get<T: Word>(&self, name: &str) -> Option<Vec<T>> {
        let part = self.parts.iter().find(|p| p.name == name && p.word == T::NAME)?;
        Some(part.bits.iter().map(|&bits| T::from_bits(bits)).collect())
    }

    /// Compares one vector with its reference, element by element.
    ///
    /// # Errors
    /// The first element that `same` does not hold for, or a missing one.
    pub fn compare<T: Word>(
        &self,
        name: &str,
        reference: &[T],
        mut same: impl FnMut(T, T) -> bool,
    ) -> Result<(), WrongAnswer> {
        let wrong = |index: usize, expected: Option<&T>, found: Option<&T>| {
            let show = |v: Option<&T>| v.map_or("nothing".to_owned(), |v| format!("{v:?}"));
            let (expected, found) = (show(expected), show(found));
            WrongAnswer { part: name.to_owned(), index: index as u64, expected, found }
        };
        let found = self.get::<T>(name).unwrap_or_default();
        for index in 0..reference.len().max(found.len()) {
            let (want, have) = (reference.get(index), found.get(index));
            match (want, have) {
                (Some(&w), Some(&h)) if same(w, h) => {}
                _ => return Err(wrong(index, want, have)),
            }
        }
        Ok(())
    }

    /// Compares one vector with its reference, bit by bit.
    ///
    /// # Errors
    /// The first element that differs, or is missing.
    pub fn expect<T: Word>(&self, name: &str, reference: &[T]) -> Result<(), WrongAnswer> {
        self.compare(name, reference, |a, b| a.to_bits() == b.to_bits())
    }
}
