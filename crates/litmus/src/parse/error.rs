//! What is wrong with a text, and where.

use core::fmt;

/// A place in a text; both count from one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Why a text could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Something else stood there.
    Expected {
        /// What stood there.
        found: String,
        /// What could have stood there.
        expected: String,
    },
    /// The text is well formed and yet means nothing.
    Meaning(String),
}

/// An error in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// The file, where it is known.
    pub file: Option<String>,
    /// Where.
    pub place: Place,
    /// What.
    pub fault: Fault,
}

impl TextError {
    /// Something else stood at `place`.
    #[must_use]
    pub fn expected(place: Place, found: impl Into<String>, expected: impl Into<String>) -> TextError {
        let fault = Fault::Expected { found: found.into(), expected: expected.into() };
        TextError { file: None, place, fault }
    }

    /// What stands at `place` means nothing.
    #[must_use]
    pub fn meaning(place: Place, sentence: impl Into<String>) -> TextError {
        TextError { file: None, place, fault: Fault::Meaning(sentence.into()) }
    }

    /// The same, in `file` if no file is named yet.
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
        match &self.fault {
            Fault::Expected { found, expected } => write!(f, "found {found}, expected {expected}"),
            Fault::Meaning(sentence) => f.write_str(sentence),
        }
    }
}

impl core::error::Error for TextError {}
