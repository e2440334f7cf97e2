//! A scanner over the characters of a text. The lexers of tests and of models use it.

use super::error::{Place, TextError};

/// Reads characters and counts lines and columns.
pub(crate) struct Scanner<'t> {
    rest: core::str::Chars<'t>,
    pub(crate) place: Place,
}

impl<'t> Scanner<'t> {
    /// A scanner at the beginning of `text`. A byte order mark is skipped.
    pub(crate) fn new(text: &'t str) -> Scanner<'t> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Scanner { rest: text.chars(), place: Place { line: 1, column: 1 } }
    }

    /// The part of the text that the scanner has not yet read.
    pub(crate) fn rest(&self) -> &'t str {
        self.rest.as_str()
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest.clone().next()
    }

    pub(crate) fn starts_with(&self, prefix: &str) -> bool {
        self.rest().starts_with(prefix)
    }

    pub(crate) fn bump(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        if c == '\n' {
            self.place.line += 1;
            self.place.column = 1;
        } else {
            self.place.column += 1;
        }
        Some(c)
    }

    pub(crate) fn skip(&mut self, count: usize) {
        for _ in 0..count {
            self.bump();
        }
    }

    pub(crate) fn take_while(&mut self, accept: impl Fn(char) -> bool) -> String {
        let mut word = String::new();
        while let Some(c) = self.peek().filter(|&c| accept(c)) {
            word.push(c);
            self.bump();
        }
        word
    }

    /// Skips the first of `marks` with which the remaining text begins, and returns it. `None` if
    /// the text begins with none of them.
    pub(crate) fn mark(&mut self, marks: &[&'static str]) -> Option<&'static str> {
        let mark = marks.iter().find(|mark| self.starts_with(mark))?;
        self.skip(mark.len());
        Some(mark)
    }

    /// Reads a quoted text. The scanner must be at the opening quote of this text.
    pub(crate) fn quoted(&mut self) -> Result<String, TextError> {
        let place = self.place;
        self.bump();
        let text = self.take_while(|c| c != '"');
        match self.bump() {
            Some(_) => Ok(text),
            None => Err(TextError::expected(place, "the end of the file", "`\"` to close this text")),
        }
    }
}

/// The character in backquotes, for error messages. A control character is escaped.
pub(crate) fn shown(c: char) -> String {
    if c.is_control() { format!("`{}`", c.escape_debug()) } else { format!("`{c}`") }
}
