//! The text of a file, and errors that name a place in the file.

use core::ops::Range;
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use toml::Spanned;

use crate::error::Error;
use crate::place::Place;
use crate::systems::explain;

/// The path and the text of a file that a user wrote. Errors in the file use them to name the path,
/// the line and the column.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

impl Source {
    /// Creates an error with this message. It names the place in the file where `span` begins.
    pub(crate) fn error(&self, span: Range<usize>, message: impl Into<String>) -> Error {
        Error::File { place: Place::of_byte(&self.path, &self.text, span.start), message: message.into() }
    }

    /// Creates the error for a name in the file that is not in the list `known`.
    pub(crate) fn unknown<S: AsRef<str>>(
        &self,
        what: &'static str,
        name: &Spanned<String>,
        known: &[S],
    ) -> Error {
        self.error(name.span(), Error::unknown(what, name.get_ref(), known).to_string())
    }

    /// Converts an error of the TOML reader to an error with its place in this file.
    pub(crate) fn unreadable(&self, error: &toml::de::Error) -> Error {
        match error.span() {
            Some(span) => self.error(span, explain(error.message())),
            None => Error::File { place: Place::whole(&self.path), message: explain(error.message()) },
        }
    }

    pub(crate) fn parse<T: DeserializeOwned>(&self) -> Result<T, Error> {
        toml::from_str(&self.text).map_err(|error| self.unreadable(&error))
    }
}
