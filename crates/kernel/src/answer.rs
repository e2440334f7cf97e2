//! The results of a program, for comparison with a reference.

use core::fmt;

use proto::Width;

use crate::Word;

/// Named vectors of values: the results of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    parts: Vec<AnswerPart>,
    counts: Vec<(String, u64)>,
}

/// One named vector of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerPart {
    /// The name of the vector.
    pub name: String,
    /// The name of the element's type.
    pub word: &'static str,
    width: Width,
    /// The little-endian bytes of its elements.
    bytes: Vec<u8>,
}

impl AnswerPart {
    /// The number of elements in the vector.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() / self.width.bytes()
    }

    /// Whether the vector has no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bits of each element, zero-extended.
    pub fn bits(&self) -> impl Iterator<Item = u64> {
        self.bytes.chunks_exact(self.width.bytes()).map(bits_of)
    }

    /// Changes the bits of one element.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn change(&mut self, index: usize, change: impl FnOnce(u64) -> u64) {
        let width = self.width.bytes();
        let bytes = &mut self.bytes[index * width..][..width];
        bytes.copy_from_slice(&change(bits_of(bytes)).to_le_bytes()[..width]);
    }

    /// Drops the last element of the vector.
    pub fn pop(&mut self) {
        self.bytes.truncate(self.bytes.len().saturating_sub(self.width.bytes()));
    }
}

/// The number in up to eight little-endian bytes.
fn bits_of(bytes: &[u8]) -> u64 {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(wide)
}

/// An answer that differs from its reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongAnswer {
    /// The name of the vector that differs.
    pub part: String,
    /// The first element that differs.
    pub index: u64,
    /// The element of the reference.
    pub expected: String,
    /// The element of the program.
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
    /// An empty answer, for programs whose only result is that they end.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a named vector of values.
    #[must_use]
    pub fn with<T: Word>(mut self, name: impl Into<String>, values: &[T]) -> Self {
        let (width, bytes) = (T::WIDTH, T::to_bytes(values));
        self.parts.push(AnswerPart { name: name.into(), word: T::NAME, width, bytes });
        self
    }

    /// Adds a count of the program's own events. No reference checks it, because
    /// it may differ from run to run.
    #[must_use]
    pub fn counting(mut self, name: impl Into<String>, count: u64) -> Self {
        self.counts.push((name.into(), count));
        self
    }

    /// The counts of the program's own events, by name.
    #[must_use]
    pub fn counts(&self) -> &[(String, u64)] {
        &self.counts
    }

    /// All vectors of the answer, in order.
    #[must_use]
    pub fn parts(&self) -> &[AnswerPart] {
        &self.parts
    }

    /// All vectors of the answer, in order, for changes.
    pub fn parts_mut(&mut self) -> &mut [AnswerPart] {
        &mut self.parts
    }

    /// The values of one vector, or `None` if no vector of this type has the name.
    #[must_use]
    pub fn get<T: Word>(&self, name: &str) -> Option<Vec<T>> {
        Some(T::from_bytes(self.bytes_of::<T>(name)?))
    }

    fn bytes_of<T: Word>(&self, name: &str) -> Option<&[u8]> {
        let part = self.parts.iter().find(|p| p.name == name && p.word == T::NAME)?;
        Some(&part.bytes)
    }

    /// Compares one vector with its reference, element by element.
    ///
    /// # Errors
    /// The first element for which `same` is false, or the first missing one.
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
        let bytes = self.bytes_of::<T>(name).unwrap_or_default();
        let mut found = bytes.chunks_exact(T::WIDTH.bytes()).map(|bytes| T::from_bits(bits_of(bytes)));
        let mut reference = reference.iter();
        for index in 0.. {
            match (reference.next(), found.next()) {
                (None, None) => break,
                (Some(&want), Some(have)) if same(want, have) => {}
                (want, have) => return Err(wrong(index, want, have.as_ref())),
            }
        }
        Ok(())
    }

    /// Compares one vector with its reference, bit by bit.
    ///
    /// # Errors
    /// The first element that differs or is missing.
    pub fn expect<T: Word>(&self, name: &str, reference: &[T]) -> Result<(), WrongAnswer> {
        self.compare(name, reference, |a, b| a.to_bits() == b.to_bits())
    }
}
