//! What can be wrong with a graph file.

use core::fmt;
use std::path::{Path, PathBuf};

use proto::words::counted;

/// A line and column of a file, both counted from one; columns count letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub path: PathBuf,
    /// The line.
    pub line: u64,
    /// The column.
    pub column: u64,
}

impl Place {
    /// A place of a file.
    #[must_use]
    pub fn new(path: &Path, line: u64, column: u64) -> Place {
        Place { path: path.to_owned(), line, column }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", printable_path(&self.path), self.line, self.column)
    }
}

/// One sentence about what is wrong, where, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// The file says something that cannot be.
    #[error("{place}: found {found}, expected {expected}")]
    Unexpected {
        /// Where.
        place: Place,
        /// What stands there.
        found: String,
        /// What should.
        expected: String,
    },
    /// The file has what the options refuse: a self loop, an arc twice.
    #[error("{place}: {what}, which the options refuse")]
    Refused {
        /// Where.
        place: Place,
        /// What it is.
        what: String,
    },
    /// The file ends before it should.
    #[error("{place}: the file ends here, expected {expected}")]
    Truncated {
        /// Where it ends.
        place: Place,
        /// What should follow.
        expected: String,
    },
    /// The compressed stream ends early or is damaged.
    #[error("{place}: the compressed file cannot be read on from here: {reason}")]
    BadGzip {
        /// Up to where it could be read.
        place: Place,
        /// Why not further.
        reason: String,
    },
    /// The file cannot be read.
    #[error("cannot read {}: {reason}", printable_path(path))]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why, in the words of the operating system.
        reason: String,
    },
    /// There is nothing of that name.
    #[error("cannot read {}: there is no such file, and {hint}", printable_path(path))]
    Missing {
        /// The name.
        path: PathBuf,
        /// Which stand-ins there are.
        hint: String,
    },
    /// A part of a file was asked for.
    #[error(
        "{} is a file and has no scale {scale}, expected scale 1 or the name of a stand-in",
        printable_path(path)
    )]
    Scaled {
        /// The file.
        path: PathBuf,
        /// The part.
        scale: String,
    },
    /// The graph needs more memory than it may use.
    #[error(
        "{place}: a graph of {size} takes at least {} to read, but at most {} may be used",
        bytes(*needed_bytes), bytes(*budget_bytes)
    )]
    TooLarge {
        /// Where that is known.
        place: Place,
        /// How large the graph is.
        size: String,
        /// How much memory it needs.
        needed_bytes: u64,
        /// How much it may use.
        budget_bytes: u64,
    },
    /// Neither name nor content tells the format.
    #[error(
        "cannot tell the format of {}: expected a name that ends in .mtx, .gr, .graph, .metis, .txt, .el, \
         .edges or .snap (and perhaps .gz), or a first line `%%MatrixMarket ...`, `c ...`, `p sp ...` or \
         `# ...`",
        printable_path(path)
    )]
    UnknownFormat {
        /// Which file.
        path: PathBuf,
    },
}

/// A word of a file as it may be printed: no control characters, not endless.
pub(crate) fn printable(word: &[u8]) -> String {
    const LETTERS_MAX: usize = 40;
    let word = String::from_utf8_lossy(word);
    let plain = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    let mut text: String = word.chars().take(LETTERS_MAX).map(plain).collect();
    if word.chars().nth(LETTERS_MAX).is_some() {
        text.push('…');
    }
    text
}

/// A path as it may be printed.
pub(crate) fn printable_path(path: &Path) -> String {
    let plain = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    path.display().to_string().chars().map(plain).collect()
}

/// A number of bytes in the largest unit that leaves at least one of it.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let exponent = (count.max(1).ilog2() / 10) as usize;
    match exponent.checked_sub(1) {
        None => counted(count, "byte"),
        Some(unit) => {
            format!("{:.1} {}", count as f64 / (1u64 << (10 * exponent)) as f64, UNITS[unit])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_printed_without_control_characters_and_not_endlessly() {
        assert_eq!(printable(b"a\x1b[31m\xff"), "a\u{fffd}[31m\u{fffd}");
        assert_eq!(printable(&[b'x'; 50]), format!("{}…", "x".repeat(40)));
        assert_eq!(Place::new(Path::new("a\nb"), 1, 2).to_string(), "a\u{fffd}b:1:2");
    }

    #[test]
    fn bytes_are_said_in_a_unit_that_fits() {
        let said = [0, 1, 1023, 1024, 1536, 1 << 20, 5 << 30, u64::MAX].map(bytes);
        assert_eq!(
            said,
            ["0 bytes", "1 byte", "1023 bytes", "1.0 KiB", "1.5 KiB", "1.0 MiB", "5.0 GiB", "16.0 EiB"]
        );
    }
}
