//! The results of a program, for comparison with a reference.

use core::fmt;

use proto::Width;

use crate::Word;

/// The results of a program: named vectors of values.
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
    /// The name of the Rust type of the elements, such as `u32`.
    pub word: &'static str,
    width: Width,
    /// The bytes of all elements, one element after the other, each in little-endian order.
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

    /// The bits of each element, extended to 64 bits with zeros.
    pub fn bits(&self) -> impl Iterator<Item = u64> {
        self.bytes.chunks_exact(self.width.bytes()).map(bits_of)
    }

    /// Changes the bits of one element.
    ///
    /// # Panics
    /// If the vector has no element `index`.
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

/// The number that up to eight bytes represent in little-endian order.
fn bits_of(bytes: &[u8]) -> u64 {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(wide)
}

/// A difference between an answer and its reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongAnswer {
    /// The name of the vector that differs.
    pub part: String,
    /// The index of the first element that differs.
    pub index: u64,
    /// The value that the reference has at this index, as text.
    pub expected: String,
    /// The value that the program computed at this index, as text.
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
    /// An empty answer. It suffices for a program whose only result is that it ends.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a vector of values with a name. Returns the extended answer.
    #[must_use]
    pub fn with<T: Word>(self, name: impl Into<String>, values: &[T]) -> Self {
        self.with_bytes::<T>(name.into(), T::to_bytes(values))
    }

    /// Adds a vector with a name. `bytes` are the bytes of its elements, which have the type `T`:
    /// one element after the other, each in little-endian order. Returns the extended answer.
    pub(crate) fn with_bytes<T: Word>(mut self, name: String, bytes: Vec<u8>) -> Self {
        self.parts.push(AnswerPart { name, word: T::NAME, width: T::WIDTH, bytes });
        self
    }

    /// Adds the number of certain events of the program, such as steals of tasks. No reference
    /// checks this number, because it may differ from run to run.
    #[must_use]
    pub fn counting(mut self, name: impl Into<String>, count: u64) -> Self {
        self.counts.push((name.into(), count));
        self
    }

    /// The numbers that [`Answer::counting`] added, each with its name.
    #[must_use]
    pub fn counts(&self) -> &[(String, u64)] {
        &self.counts
    }

    /// All vectors of the answer, in the order in which they were added.
    #[must_use]
    pub fn parts(&self) -> &[AnswerPart] {
        &self.parts
    }

    /// All vectors of the answer, in the order in which they were added, as mutable values.
    pub fn parts_mut(&mut self) -> &mut [AnswerPart] {
        &mut self.parts
    }

    /// The values of the vector with this name. `None` if no vector with elements of type `T` has
    /// the name.
    #[must_use]
    pub fn get<T: Word>(&self, name: &str) -> Option<Vec<T>> {
        Some(T::from_bytes(self.bytes_of::<T>(name)?))
    }

    fn bytes_of<T: Word>(&self, name: &str) -> Option<&[u8]> {
        let part = self.parts.iter().find(|p| p.name == name && p.word == T::NAME)?;
        Some(&part.bytes)
    }

    /// Compares the vector `name` with its reference, element by element. `same` decides whether
    /// two elements are equal.
    ///
    /// # Errors
    /// If an element differs or is missing. The error describes the first such element.
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

    /// Compares the vector `name` with its reference, bit by bit.
    ///
    /// # Errors
    /// If an element differs or is missing. The error describes the first such element.
    pub fn expect<T: Word>(&self, name: &str, reference: &[T]) -> Result<(), WrongAnswer> {
        self.compare(name, reference, |a, b| a.to_bits() == b.to_bits())
    }
}
