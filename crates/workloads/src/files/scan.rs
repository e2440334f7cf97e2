//! A scanner of words and numbers in a streamed text, with their positions.
//!
//! The scanner holds one word at a time, and the length of a word is limited. Its memory is
//! therefore small for a file of any size, even if the file is one endless line.

use core::ops::RangeInclusive;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::error::{FileError, FilePosition, printable};

const BUFFER_BYTES: usize = 1 << 16;
const WORD_BYTES_MAX: usize = 128;

/// A text that is read as a stream, and the current position in it.
pub(crate) struct Scanner<'a> {
    input: Box<dyn Read + 'a>,
    compressed: bool,
    path: PathBuf,
    buffer: Box<[u8]>,
    next: usize,
    end: usize,
    line: u64,
    column: u64,
    word: Vec<u8>,
    word_column: u64,
    /// Whether a comma is a word of its own.
    splits_at_commas: bool,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(path: &Path, input: Box<dyn Read + 'a>, compressed: bool) -> Self {
        Scanner {
            input,
            compressed,
            path: path.to_owned(),
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            next: 0,
            end: 0,
            line: 1,
            column: 1,
            word: Vec::with_capacity(WORD_BYTES_MAX),
            word_column: 1,
            splits_at_commas: false,
        }
    }

    /// Makes a scanner that reads a comma as a word of its own.
    pub(crate) fn with_commas(path: &Path, input: Box<dyn Read + 'a>, compressed: bool) -> Self {
        Scanner { splits_at_commas: true, ..Scanner::new(path, input, compressed) }
    }

    /// The position of the next character that the scanner reads.
    pub(crate) fn here(&self) -> FilePosition {
        FilePosition::new(&self.path, self.line, self.column)
    }

    /// The position of the word that was read last.
    pub(crate) fn word_place(&self) -> FilePosition {
        FilePosition::new(&self.path, self.line, self.word_column)
    }

    /// The number of the line of the next character.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// The number of the column at which the word that was read last begins.
    pub(crate) fn word_column(&self) -> u64 {
        self.word_column
    }

    /// The position in this file with the given line and column.
    pub(crate) fn place(&self, line: u64, column: u64) -> FilePosition {
        FilePosition::new(&self.path, line, column)
    }

    /// The first bytes of the text, from which a format can be detected. The scanner does not take
    /// these bytes.
    pub(crate) fn head(&mut self) -> Result<&[u8], FileError> {
        const HEAD_BYTES: usize = 64;
        while self.end < HEAD_BYTES {
            let count = self.read_after(self.end)?;
            if count == 0 {
                break;
            }
            self.end += count;
        }
        Ok(&self.buffer[..self.end])
    }

    /// The next byte, which the scanner does not take. `None` at the end of the text.
    #[inline]
    pub(crate) fn peek(&mut self) -> Result<Option<u8>, FileError> {
        if self.next == self.end {
            self.refill()?;
        }
        Ok(if self.next < self.end { Some(self.buffer[self.next]) } else { None })
    }

    fn refill(&mut self) -> Result<(), FileError> {
        self.next = 0;
        self.end = self.read_after(0)?;
        Ok(())
    }

    /// Reads the next bytes of the file into the buffer. The first `from` bytes of the buffer stay
    /// as they are. Returns the number of bytes read, which is 0 at the end of the file.
    fn read_after(&mut self, from: usize) -> Result<usize, FileError> {
        loop {
            match self.input.read(&mut self.buffer[from..]) {
                Ok(count) => return Ok(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.broken(&error)),
            }
        }
    }

    fn broken(&self, error: &io::Error) -> FileError {
        // An error of the operating system is not a damaged file.
        if self.compressed && error.raw_os_error().is_none() {
            let reason = match error.kind() {
                io::ErrorKind::UnexpectedEof => "it ends early".to_owned(),
                _ => error.to_string(),
            };
            FileError::BadGzip { place: self.here(), reason }
        } else {
            FileError::Unreadable { path: self.path.clone(), reason: error.to_string() }
        }
    }

    /// Takes the byte that [`Scanner::peek`] returned.
    #[inline]
    fn advance(&mut self, letter: u8) {
        self.next += 1;
        if letter == b'\n' {
            (self.line, self.column) = (self.line + 1, 1);
        } else if letter & 0xc0 != 0x80 {
            self.column += 1;
        }
    }

    #[inline]
    fn skip_blanks(&mut self) -> Result<Option<u8>, FileError> {
        while let Some(letter) = self.peek()? {
            if !matches!(letter, b' ' | b'\t' | b'\r') {
                return Ok(Some(letter));
            }
            self.advance(letter);
        }
        Ok(None)
    }

    /// Takes the next word of this line. `None` at the end of the line.
    pub(crate) fn word(&mut self) -> Result<Option<&[u8]>, FileError> {
        self.word.clear();
        let first = self.skip_blanks()?;
        self.word_column = self.column;
        if matches!(first, None | Some(b'\n')) {
            return Ok(None);
        }
        while let Some(letter) = self.peek()? {
            let is_comma = self.splits_at_commas && letter == b',';
            if matches!(letter, b' ' | b'\t' | b'\r' | b'\n') || is_comma && !self.word.is_empty() {
                break;
            }
            if self.word.len() == WORD_BYTES_MAX {
                let found = format!("a word of more than {WORD_BYTES_MAX} characters");
                return Err(self.unexpected_found(found, "a number or a keyword"));
            }
            self.word.push(letter);
            self.advance(letter);
            if is_comma {
                break;
            }
        }
        Ok(Some(&self.word))
    }

    /// Skips the rest of this line. Returns false if the text ends before the line does.
    pub(crate) fn skip_line(&mut self) -> Result<bool, FileError> {
        while let Some(letter) = self.peek()? {
            self.advance(letter);
            if letter == b'\n' {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes the rest of this line. Returns at most its first `bytes_max` bytes.
    pub(crate) fn rest_of_line(&mut self, bytes_max: usize) -> Result<String, FileError> {
        let mut rest = Vec::new();
        while let Some(letter) = self.peek()? {
            self.advance(letter);
            if letter == b'\n' {
                break;
            }
            if rest.len() < bytes_max {
                rest.push(letter);
            }
        }
        Ok(String::from_utf8_lossy(&rest).into_owned())
    }

    /// Takes the end of this line. Fails if a word precedes the end; `expected` is for the error.
    pub(crate) fn end_line(&mut self, expected: &str) -> Result<(), FileError> {
        if self.word()?.is_some() {
            return Err(self.unexpected(expected));
        }
        self.skip_line().map(drop)
    }

    /// Skips to the next line that has a word and is not a comment. The first byte of a comment is
    /// one of `comments`. Returns false at the end of the text.
    pub(crate) fn next_line(&mut self, comments: &[u8]) -> Result<bool, FileError> {
        loop {
            match self.skip_blanks()? {
                None => return Ok(false),
                Some(letter) if letter != b'\n' && !comments.contains(&letter) => return Ok(true),
                Some(_) => {
                    self.skip_line()?;
                }
            }
        }
    }

    /// Takes a word that is a whole number in `range`. `what` describes the number in an error.
    #[inline]
    pub(crate) fn whole(&mut self, range: RangeInclusive<u64>, what: &str) -> Result<u64, FileError> {
        self.word()?;
        self.last_whole(range, what)
    }

    /// The value of the word that was read last, a whole number in `range`. `what` describes the
    /// number in an error.
    #[inline]
    pub(crate) fn last_whole(&self, range: RangeInclusive<u64>, what: &str) -> Result<u64, FileError> {
        match digits(&self.word) {
            Some(value) if range.contains(&value) => Ok(value),
            _ => Err(self.unexpected(&format!("{what} from {} to {}", range.start(), range.end()))),
        }
    }

    /// Takes a word that is a finite number. `what` describes the number in an error.
    pub(crate) fn number(&mut self, what: &str) -> Result<f64, FileError> {
        self.word()?;
        self.last_number(what)
    }

    /// The value of the word that was read last, a finite number. `what` describes the number in an
    /// error.
    pub(crate) fn last_number(&self, what: &str) -> Result<f64, FileError> {
        if let Some(value) = digits(&self.word).filter(|&value| value < 1 << 53) {
            return Ok(value as f64);
        }
        let value = core::str::from_utf8(&self.word).ok().and_then(|word| word.parse::<f64>().ok());
        match value.filter(|value| value.is_finite()) {
            Some(value) => Ok(value),
            None => Err(self.unexpected(&format!("{what}, a finite number"))),
        }
    }

    /// The value of the word that was read last: a finite number of single precision in `range`.
    /// `what` describes the number in an error.
    #[inline]
    pub(crate) fn last_single(&self, range: RangeInclusive<f32>, what: &str) -> Result<f32, FileError> {
        let value = core::str::from_utf8(&self.word).ok().and_then(|word| word.parse::<f32>().ok());
        match value.filter(|value| value.is_finite() && range.contains(value)) {
            Some(value) => Ok(value),
            None => Err(self.unexpected(what)),
        }
    }

    /// Takes a comma, if the next character after blanks is a comma. Returns whether it is.
    pub(crate) fn comma(&mut self) -> Result<bool, FileError> {
        let is_comma = self.skip_blanks()? == Some(b',');
        if is_comma {
            self.word_column = self.column;
            self.advance(b',');
        }
        Ok(is_comma)
    }

    /// Takes a whole number, with or without a sign, that double precision represents exactly.
    pub(crate) fn signed(&mut self, what: &str) -> Result<f64, FileError> {
        self.word()?;
        let (sign, magnitude) = match self.word.split_first() {
            Some((b'-', magnitude)) => (-1.0, magnitude),
            Some((b'+', magnitude)) => (1.0, magnitude),
            _ => (1.0, &self.word[..]),
        };
        match digits(magnitude).filter(|&value| value <= 1 << 53) {
            Some(value) => Ok(sign * value as f64),
            None => Err(self.unexpected(&format!("{what}, a whole number from -2^53 to 2^53"))),
        }
    }

    /// The error for the word that was read last, which is not as `expected`. If no word was read,
    /// the error says that the line or the file ends there.
    pub(crate) fn unexpected(&self, expected: &str) -> FileError {
        if !self.word.is_empty() {
            return self.unexpected_found(format!("`{}`", printable(&self.word)), expected);
        }
        if self.end == 0 {
            return FileError::Truncated { place: self.here(), expected: expected.to_owned() };
        }
        self.unexpected_found("the end of the line".to_owned(), expected)
    }

    /// The error of the value `found` at the position of the word that was read last.
    pub(crate) fn unexpected_found(&self, found: String, expected: &str) -> FileError {
        FileError::Unexpected { place: self.word_place(), found, expected: expected.to_owned() }
    }
}

/// The value of a word that consists of digits. `None` if the word is not a number below 2^64.
fn digits(word: &[u8]) -> Option<u64> {
    if word.is_empty() {
        return None;
    }
    word.iter().try_fold(0u64, |value, letter| {
        let digit = letter.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanner(text: &str) -> Scanner<'_> {
        Scanner::new(Path::new("f"), Box::new(text.as_bytes()), false)
    }

    fn sentence<T: core::fmt::Debug>(result: Result<T, FileError>) -> String {
        result.expect_err("an error").to_string()
    }

    #[test]
    fn words_have_a_line_and_a_column() {
        let mut scan = scanner("ab  cd\r\n\n\u{e4}x y");
        assert_eq!(scan.word(), Ok(Some(&b"ab"[..])));
        assert_eq!(scan.word(), Ok(Some(&b"cd"[..])));
        assert_eq!(scan.word_place().to_string(), "f:1:5");
        assert_eq!(scan.word(), Ok(None));
        assert_eq!(scan.next_line(b"#"), Ok(true));
        assert_eq!(scan.word(), Ok(Some("\u{e4}x".as_bytes())));
        assert_eq!(scan.word_place().to_string(), "f:3:1");
        assert_eq!(scan.word(), Ok(Some(&b"y"[..])));
        assert_eq!(scan.word_place().to_string(), "f:3:4");
        assert_eq!(scan.next_line(b"#"), Ok(false));
    }

    #[test]
    fn words_that_are_not_numbers_in_range_are_named() {
        assert_eq!(scanner("12").whole(1..=12, "a row"), Ok(12));
        assert_eq!(
            sentence(scanner("13").whole(1..=12, "a row")),
            "f:1:1: found `13`, expected a row from 1 to 12"
        );
        for text in ["x", "-1", "1.5", "99999999999999999999", "1\u{0}"] {
            assert!(sentence(scanner(text).whole(0..=9, "a row")).starts_with("f:1:1: found `"), "{text}");
        }
        assert_eq!(
            sentence(scanner(" \n1").whole(0..=9, "a row")),
            "f:1:2: found the end of the line, expected a row from 0 to 9"
        );
        assert_eq!(
            sentence(scanner("").whole(0..=9, "a row")),
            "f:1:1: the file ends here, expected a row from 0 to 9"
        );
        for (text, value) in
            [("1e3", 1e3), ("-0.5", -0.5), ("7", 7.0), ("18446744073709551615", 1.8446744073709552e19)]
        {
            assert_eq!(scanner(text).number("a weight"), Ok(value));
        }
        for text in ["nan", "inf", "1e999", "1d3", "--1", ""] {
            assert!(scanner(text).number("a weight").is_err(), "{text}");
        }
        for (text, value) in [("-3", Some(-3.0)), ("+3", Some(3.0)), ("9007199254740993", None), ("-", None)]
        {
            assert_eq!(scanner(text).signed("a weight").ok(), value, "{text}");
        }
    }

    #[test]
    fn an_endless_word_is_refused_in_bounded_memory() {
        let mut scan = Scanner::new(Path::new("f"), Box::new(io::repeat(b'7')), false);
        assert!(
            sentence(scan.word().map(|word| word.map(<[u8]>::to_vec))).contains("more than 128 characters")
        );
    }

    #[test]
    fn the_rest_of_a_line_is_an_error_or_skipped() {
        let mut scan = scanner("1 2\n3 4");
        assert_eq!(scan.whole(0..=9, "x"), Ok(1));
        assert_eq!(
            sentence(scan.end_line("the end of the line")),
            "f:1:3: found `2`, expected the end of the line"
        );
        assert_eq!(scan.skip_line(), Ok(true));
        assert_eq!(scan.rest_of_line(2), Ok("3 ".to_owned()));
        assert_eq!(scan.skip_line(), Ok(false));
    }
}
