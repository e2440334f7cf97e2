//! Errors in a text, with their positions in the text.

use core::fmt;

/// A position in a text. Lines and columns count from one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The number of the line, counted from one.
    pub line: u32,
    /// The column, counted in characters from one.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// The reason why a text could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextErrorKind {
    /// At the place of the error, the text differs from the text that the parser expected.
    Expected {
        /// The text that was found.
        found: String,
        /// The text that is expected.
        expected: String,
    },
    /// The text follows the grammar but has no meaning. The field says why.
    Meaning(String),
}

/// An error in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// The name of the file that contains the text, if the name is known.
    pub file: Option<String>,
    /// The place of the error.
    pub place: Place,
    /// The kind of the error.
    pub kind: TextErrorKind,
}

impl TextError {
    /// The error that the parser found the text `found` at `place` instead of `expected`.
    #[must_use]
    pub fn expected(place: Place, found: impl Into<String>, expected: impl Into<String>) -> TextError {
        let kind = TextErrorKind::Expected { found: found.into(), expected: expected.into() };
        TextError { file: None, place, kind }
    }

    /// The error that the text at `place` follows the grammar but has no meaning. `sentence` says
    /// why.
    #[must_use]
    pub fn meaning(place: Place, sentence: impl Into<String>) -> TextError {
        TextError { file: None, place, kind: TextErrorKind::Meaning(sentence.into()) }
    }

    /// Adds the name of the file to the error, unless the error already has one.
    #[must_use]
    pub fn in_file(mut self, file: &str) -> TextError {
        self.file.get_or_insert_with(|| file.to_owned());
        self
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:{}:{}: ", self.place.line, self.place.column)?;
        } else {
            write!(f, "{}: ", self.place)?;
        }
        match &self.kind {
            TextErrorKind::Expected { found, expected } => write!(f, "found {found}, expected {expected}"),
            TextErrorKind::Meaning(sentence) => f.write_str(sentence),
        }
    }
}

impl core::error::Error for TextError {}
