//! Tables of numbers: matrices and points, as text or as binary numbers.
//!
//! A text file has one row in each line. Blanks or commas separate numbers, and lines that begin
//! with `#` or `%` are comments. A binary file contains only the numbers, row by row, each as 4
//! bytes of single precision in little-endian order. The caller knows the shape of the table, so a
//! file of a different shape is an error.
//!
//! All numbers must be finite. A number that single precision cannot represent is rounded to the
//! nearest one that it can represent.

use core::ops::RangeInclusive;
use std::io::{self, Read, Write};
use std::path::Path;

use proto::words::counted;

use super::error::{FileError, printable_path};
use super::open::{Stream, open, unpacked};
use super::scan::Scanner;

/// A file format for tables of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumberFormat {
    /// A text with decimal numbers in lines.
    Text,
    /// Single-precision numbers in little-endian order.
    Binary,
}

impl NumberFormat {
    /// The format of a file by its name. A name that ends in `.f32` or `.bin`, and perhaps in `.gz`
    /// after it, means binary numbers. Any other name means text.
    #[must_use]
    pub fn of(path: &Path) -> NumberFormat {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        match name.ends_with(".f32") || name.ends_with(".bin") {
            true => NumberFormat::Binary,
            false => NumberFormat::Text,
        }
    }

    /// The name of the format in messages.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            NumberFormat::Text => "numbers as text",
            NumberFormat::Binary => "binary single-precision numbers",
        }
    }
}

/// The content that the reader expects in a file of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// The name of the thing that one row describes, such as `place`.
    pub row: &'static str,
    /// The number of numbers in a row. The text has their names, or the setting that determines how
    /// many there are.
    pub columns: (u64, &'static str),
    /// The range of the number of rows.
    pub rows: RangeInclusive<u64>,
    /// The range in which all numbers must lie.
    pub range: RangeInclusive<f32>,
    /// Whether each line of a text has one row. If false, the end of a line only separates numbers.
    pub row_in_line: bool,
    /// The maximum memory that the reader may use, in bytes.
    pub memory_bytes: u64,
}

/// All finite numbers.
pub const FINITE: RangeInclusive<f32> = f32::MIN..=f32::MAX;

/// A table of finite numbers, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    columns: u64,
    numbers: Vec<f32>,
}

impl Table {
    /// A table with this number of columns.
    ///
    /// # Panics
    /// If the numbers do not fill all rows.
    #[must_use]
    pub fn new(columns: u64, numbers: Vec<f32>) -> Table {
        assert!((numbers.len() as u64).is_multiple_of(columns), "{} numbers fill rows", numbers.len());
        Table { columns, numbers }
    }

    /// The number of numbers in a row.
    #[must_use]
    pub fn columns(&self) -> u64 {
        self.columns
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.numbers.len() as u64 / self.columns
    }

    /// All numbers of the table, row by row.
    #[must_use]
    pub fn numbers(&self) -> &[f32] {
        &self.numbers
    }

    /// The numbers in one column of the table.
    pub fn column(&self, column: usize) -> impl Iterator<Item = f32> + '_ {
        self.numbers.iter().copied().skip(column).step_by(self.columns as usize)
    }
}

/// Reads a file of numbers as a stream. A file with the magic number of gzip is
/// decompressed, whatever its name.
///
/// # Errors
/// If the file cannot be read, or its content is not as expected.
pub fn read(path: &Path, expected: &Expected) -> Result<Table, FileError> {
    read_from(open(path)?, path, NumberFormat::of(path), expected)
}

/// Reads numbers from a stream. Error messages name `path`.
///
/// # Errors
/// The errors of [`read`].
pub fn read_from<'a>(
    input: impl Read + 'a,
    path: &Path,
    format: NumberFormat,
    expected: &Expected,
) -> Result<Table, FileError> {
    let stream = unpacked(input, path)?;
    let numbers = match format {
        NumberFormat::Text => Text::new(stream, path, expected).read()?,
        NumberFormat::Binary => Binary { stream, path, expected }.read()?,
    };
    Ok(Table { columns: expected.columns.0, numbers })
}

impl Expected {
    /// A text for a message that says which numbers `range` allows.
    fn number(&self) -> String {
        match self.range == FINITE {
            true => "a finite number".to_owned(),
            false => format!("a number from {} to {}", self.range.start(), self.range.end()),
        }
    }

    /// A text for a message that says how many numbers a row has, and their names.
    fn row_of_numbers(&self) -> String {
        let (columns, names) = self.columns;
        format!("{} ({names})", counted(columns, "number"))
    }

    /// The number of bytes that a reader needs for `count` numbers. When a vector grows, its old
    /// and its new memory exist together, and the new one has room for twice the numbers.
    fn needed_bytes(count: u64) -> u64 {
        const BYTES_OF_NUMBER: u64 = 3 * size_of::<f32>() as u64;
        count.saturating_mul(BYTES_OF_NUMBER)
    }

    fn count_max(&self) -> u64 {
        self.rows.end().saturating_mul(self.columns.0)
    }
}

/// The reader of a text file with a table of numbers.
struct Text<'a, 'e> {
    scan: Scanner<'a>,
    expected: &'e Expected,
    what: String,
    numbers: Vec<f32>,
}

const COMMENTS: &[u8] = b"#%";

impl<'a, 'e> Text<'a, 'e> {
    fn new(stream: Stream<'a>, path: &Path, expected: &'e Expected) -> Self {
        let Stream { input, compressed } = stream;
        let scan = Scanner::with_commas(path, input, compressed);
        Text { scan, expected, what: expected.number(), numbers: Vec::new() }
    }

    fn read(mut self) -> Result<Vec<f32>, FileError> {
        match self.expected.row_in_line {
            true => self.rows()?,
            false => self.lines()?,
        }
        Ok(self.numbers)
    }

    fn rows(&mut self) -> Result<(), FileError> {
        let (columns, rows) = (self.expected.columns.0, self.expected.rows.clone());
        let row = self.expected.row;
        let mut count = 0;
        while self.scan.next_line(COMMENTS)? {
            if count == *rows.end() {
                self.scan.word()?;
                let expected = format!("the end of the file after {}", counted(count, row));
                return Err(self.scan.unexpected(&expected));
            }
            count += 1;
            for column in 1..=columns {
                if self.scan.word()?.is_none() {
                    let expected =
                        format!("number {column} of a {row} of {}", self.expected.row_of_numbers());
                    return Err(self.scan.unexpected(&expected));
                }
                self.take()?;
                let continues = self.scan.comma()?;
                if continues && column == columns {
                    return Err(self.too_wide("`,`"));
                }
            }
            if let Some(found) = self.scan.word()? {
                let found = format!("`{}`", super::error::printable(found));
                return Err(self.too_wide(&found));
            }
            self.scan.skip_line()?;
        }
        if count < *rows.start() {
            self.scan.word()?;
            let expected = format!("{row} {} of {}", count + 1, rows.start());
            return Err(self.scan.unexpected(&expected));
        }
        Ok(())
    }

    /// The error of a row that has too many numbers.
    fn too_wide(&self, found: &str) -> FileError {
        let expected = format!("the end of the line after {}", self.expected.row_of_numbers());
        self.scan.unexpected_found(found.to_owned(), &expected)
    }

    /// Reads a text in which a row may extend over several lines. The number of rows is fixed.
    fn lines(&mut self) -> Result<(), FileError> {
        let (count, row) = (self.expected.count_max(), self.expected.row);
        let shape =
            format!("{} of {}", counted(*self.expected.rows.end(), row), self.expected.row_of_numbers());
        while self.scan.next_line(COMMENTS)? {
            while self.scan.word()?.is_some() {
                if self.numbers.len() as u64 == count {
                    return Err(self.scan.unexpected(&format!("the end of the file after {shape}")));
                }
                self.take()?;
                self.scan.comma()?;
            }
            self.scan.skip_line()?;
        }
        if (self.numbers.len() as u64) < count {
            self.scan.word()?;
            let expected = format!("number {} of {count}, {shape}", self.numbers.len() + 1);
            return Err(self.scan.unexpected(&expected));
        }
        Ok(())
    }

    /// Takes the word that was scanned last as the next number.
    #[inline]
    fn take(&mut self) -> Result<(), FileError> {
        let number = self.scan.last_single(self.expected.range.clone(), &self.what)?;
        let count = self.numbers.len() as u64 + 1;
        if Expected::needed_bytes(count) > self.expected.memory_bytes {
            return Err(FileError::TooLarge {
                place: self.scan.word_place(),
                size: format!("a table of at least {}", counted(count, "number")),
                needed_bytes: Expected::needed_bytes(count),
                budget_bytes: self.expected.memory_bytes,
            });
        }
        self.numbers.push(number);
        Ok(())
    }
}

/// The reader of a binary file with a table of numbers.
struct Binary<'a, 'e> {
    stream: Stream<'a>,
    path: &'e Path,
    expected: &'e Expected,
}

impl Binary<'_, '_> {
    fn read(mut self) -> Result<Vec<f32>, FileError> {
        const BUFFER_BYTES: usize = 1 << 16;
        let mut buffer = vec![0; BUFFER_BYTES];
        let (mut numbers, mut read_bytes) = (Vec::new(), 0);
        let count_max = self.expected.count_max().min(self.expected.memory_bytes / Expected::needed_bytes(1));
        loop {
            // If the last read ended within a number, the bytes of this number are at the beginning
            // of the buffer.
            let partial = (read_bytes % 4) as usize;
            let count = self.fill(&mut buffer[partial..], read_bytes)?;
            if count == 0 {
                break;
            }
            let end = partial + count;
            for bytes in buffer[..end].chunks_exact(4) {
                let place = 4 * numbers.len() as u64;
                if numbers.len() as u64 == count_max {
                    return Err(self.unexpected(place, "more bytes".to_owned(), self.end_of_file(count_max)));
                }
                numbers.push(self.number(place, bytes)?);
            }
            buffer.copy_within(end / 4 * 4..end, 0);
            read_bytes += count as u64;
        }
        self.check_size(read_bytes)?;
        Ok(numbers)
    }

    fn number(&self, place: u64, bytes: &[u8]) -> Result<f32, FileError> {
        let value = f32::from_le_bytes(bytes.try_into().unwrap_or_default());
        match value.is_finite() && self.expected.range.contains(&value) {
            true => Ok(value),
            false => Err(self.unexpected(place, value.to_string(), self.expected.number())),
        }
    }

    fn end_of_file(&self, count_max: u64) -> String {
        if count_max < self.expected.count_max() {
            let budget = super::error::bytes(self.expected.memory_bytes);
            return format!("the end of the file, because the reader may use at most {budget} of memory");
        }
        let rows = counted(*self.expected.rows.end(), self.expected.row);
        format!("the end of the file after {rows} of {}", self.expected.row_of_numbers())
    }

    fn check_size(&self, bytes: u64) -> Result<(), FileError> {
        let Expected { row, columns: (columns, _), rows, .. } = self.expected;
        let found = || format!("a file of {}", counted(bytes, "byte"));
        if !bytes.is_multiple_of(4 * columns) {
            let expected = format!(
                "a multiple of {} bytes, 4 for each of {}",
                4 * columns,
                self.expected.row_of_numbers()
            );
            return Err(self.unexpected(bytes, found(), expected));
        }
        if bytes / (4 * columns) < *rows.start() {
            let rows = counted(*rows.start(), row);
            let expected = format!("{rows} of {}", self.expected.row_of_numbers());
            return Err(self.unexpected(bytes, found(), expected));
        }
        Ok(())
    }

    fn unexpected(&self, byte: u64, found: String, expected: String) -> FileError {
        FileError::UnexpectedBytes { path: self.path.to_owned(), byte, found, expected }
    }

    /// Reads bytes into the buffer. Returns their number, which is 0 at the end of the file. `byte`
    /// is the number of bytes read before, for an error.
    fn fill(&mut self, buffer: &mut [u8], byte: u64) -> Result<usize, FileError> {
        loop {
            match self.stream.input.read(buffer) {
                Ok(count) => return Ok(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if self.stream.compressed && error.raw_os_error().is_none() => {
                    let reason = match error.kind() {
                        io::ErrorKind::UnexpectedEof => "it ends early".to_owned(),
                        _ => error.to_string(),
                    };
                    return Err(FileError::BadGzipBytes { path: self.path.to_owned(), byte, reason });
                }
                Err(error) => {
                    let reason = error.to_string();
                    return Err(FileError::Unreadable { path: self.path.to_owned(), reason });
                }
            }
        }
    }
}

/// Writes a table.
///
/// # Errors
/// If the stream fails.
pub fn write(table: &Table, format: NumberFormat, out: &mut dyn Write) -> io::Result<()> {
    for row in table.numbers.chunks(table.columns as usize) {
        match format {
            NumberFormat::Text => {
                let words: Vec<String> = row.iter().map(f32::to_string).collect();
                writeln!(out, "{}", words.join(","))?;
            }
            NumberFormat::Binary => {
                for number in row {
                    out.write_all(&number.to_le_bytes())?;
                }
            }
        }
    }
    Ok(())
}

/// A text of one line that says which file a table comes from.
#[must_use]
pub fn origin(path: &Path) -> String {
    format!("{}, {}", printable_path(path), NumberFormat::of(path).title())
}
