//! The errors that can occur when an input file is read.

use core::fmt;
use std::path::{Path, PathBuf};

use proto::words::counted;

/// A line and column of a file, both counted from 1. Columns count characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePosition {
    /// The path of the file.
    pub path: PathBuf,
    /// The number of the line, counted from one.
    pub line: u64,
    /// The number of the column, counted from one.
    pub column: u64,
}

impl FilePosition {
    /// A position in a file.
    #[must_use]
    pub fn new(path: &Path, line: u64, column: u64) -> FilePosition {
        FilePosition { path: path.to_owned(), line, column }
    }
}

impl fmt::Display for FilePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", printable_path(&self.path), self.line, self.column)
    }
}

/// An error of an input file. It contains the position, the value found and the value expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file has an invalid value.
    #[error("{place}: found {found}, expected {expected}")]
    Unexpected {
        /// The position of the invalid value in the file.
        place: FilePosition,
        /// The text at this position of the file.
        found: String,
        /// A description of the text that is expected at this position.
        expected: String,
    },
    /// The file of binary numbers has an invalid value or an invalid size.
    #[error("{}, byte {byte}: found {found}, expected {expected}", printable_path(path))]
    UnexpectedBytes {
        /// The path of the file.
        path: PathBuf,
        /// The number of bytes before the invalid value.
        byte: u64,
        /// The value or the size that the file has.
        found: String,
        /// The value or the size that is expected.
        expected: String,
    },
    /// The file has a self loop or a duplicate arc, which the options of the reader refuse.
    #[error("{place}: {what}, which the options of the reader refuse")]
    Refused {
        /// The position of the self loop or the duplicate arc in the file.
        place: FilePosition,
        /// The self loop or the duplicate arc, in words.
        what: String,
    },
    /// The file ends before its content is complete.
    #[error("{place}: the file ends here, expected {expected}")]
    Truncated {
        /// The end of the file.
        place: FilePosition,
        /// The content that is expected at this position.
        expected: String,
    },
    /// A compressed file of binary numbers ends early or is damaged.
    #[error(
        "{}, byte {byte}: the rest of the compressed file, from here on, cannot be read: {reason}",
        printable_path(path)
    )]
    BadGzipBytes {
        /// The path of the file.
        path: PathBuf,
        /// The number of decompressed bytes before the defect.
        byte: u64,
        /// The cause of the error.
        reason: String,
    },
    /// A compressed text file ends early or is damaged.
    #[error("{place}: the rest of the compressed file, from here on, cannot be read: {reason}")]
    BadGzip {
        /// The position at which the readable part of the file ends.
        place: FilePosition,
        /// The cause of the error.
        reason: String,
    },
    /// The file cannot be read.
    #[error("cannot read {}: {reason}", printable_path(path))]
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        /// The cause, in the words of the operating system.
        reason: String,
    },
    /// The name is neither that of a file nor that of a stand-in (a generated graph).
    #[error("cannot read {}: there is no such file, and {hint}", printable_path(path))]
    Missing {
        /// The name that was given.
        path: PathBuf,
        /// A list of the known stand-ins (generated graphs).
        hint: String,
    },
    /// A scale other than 1 was requested for a file.
    #[error(
        "{} is a file and has no scale {scale}, expected scale 1 or the name of a stand-in",
        printable_path(path)
    )]
    Scaled {
        /// The path of the file.
        path: PathBuf,
        /// The scale that was given.
        scale: String,
    },
    /// The content of the file would need more memory than the reader may use.
    #[error(
        "{place}: {size} needs at least {} of memory to read, but the reader may use at most {}",
        bytes(*needed_bytes), bytes(*budget_bytes)
    )]
    TooLarge {
        /// The position in the file at which the reader found this out.
        place: FilePosition,
        /// The content that is too large, such as `a graph of 2 vertices`.
        size: String,
        /// The memory that the reader needs for this content.
        needed_bytes: u64,
        /// The memory that the reader may use.
        budget_bytes: u64,
    },
    /// Neither the name nor the content of the file shows its format.
    #[error(
        "cannot tell the format of {}: expected a name that ends in .mtx, .gr, .graph, .metis, .txt, .el, \
         .edges or .snap (and perhaps .gz), or a first line `%%MatrixMarket ...`, `c ...`, `p sp ...` or \
         `# ...`",
        printable_path(path)
    )]
    UnknownFormat {
        /// The path of the file.
        path: PathBuf,
    },
}

/// A word of a file in a form for messages: without control characters, and shortened.
pub(crate) fn printable(word: &[u8]) -> String {
    const CHARACTERS_MAX: usize = 40;
    let word = String::from_utf8_lossy(word);
    let plain = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    let mut text: String = word.chars().take(CHARACTERS_MAX).map(plain).collect();
    if word.chars().nth(CHARACTERS_MAX).is_some() {
        text.push('…');
    }
    text
}

/// A path in a form for messages: without control characters.
pub(crate) fn printable_path(path: &Path) -> String {
    let plain = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    path.display().to_string().chars().map(plain).collect()
}

/// A number of bytes as text, in the largest unit (such as MiB) that does not exceed the number.
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
    fn a_word_is_printed_shortened_and_without_control_characters() {
        assert_eq!(printable(b"a\x1b[31m\xff"), "a\u{fffd}[31m\u{fffd}");
        assert_eq!(printable(&[b'x'; 50]), format!("{}…", "x".repeat(40)));
        assert_eq!(FilePosition::new(Path::new("a\nb"), 1, 2).to_string(), "a\u{fffd}b:1:2");
    }

    #[test]
    fn bytes_are_printed_in_the_largest_fitting_unit() {
        let said = [0, 1, 1023, 1024, 1536, 1 << 20, 5 << 30, u64::MAX].map(bytes);
        assert_eq!(
            said,
            ["0 bytes", "1 byte", "1023 bytes", "1.0 KiB", "1.5 KiB", "1.0 MiB", "5.0 GiB", "16.0 EiB"]
        );
    }
}
