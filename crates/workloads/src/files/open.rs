//! Files as streams. The streams of files compressed by gzip are decompressed.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::error::FileError;

/// The content of a file as a stream, after decompression.
pub(crate) struct Stream<'a> {
    pub(crate) input: Box<dyn Read + 'a>,
    /// Whether the file is compressed.
    pub(crate) compressed: bool,
}

/// Opens a file for reading. The path of a folder is an error.
pub(crate) fn open(path: &Path) -> Result<File, FileError> {
    let unreadable =
        |error: io::Error| FileError::Unreadable { path: path.to_owned(), reason: error.to_string() };
    let file = File::open(path).map_err(unreadable)?;
    if file.metadata().map_err(unreadable)?.is_dir() {
        let reason = "the path is a directory, expected a file".to_owned();
        return Err(FileError::Unreadable { path: path.to_owned(), reason });
    }
    Ok(file)
}

/// Returns a stream of decompressed bytes if `input` begins with the magic number of gzip, whatever
/// the name of the file. Otherwise returns a stream of the same bytes.
pub(crate) fn unpacked<'a>(mut input: impl Read + 'a, path: &Path) -> Result<Stream<'a>, FileError> {
    const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
    let mut magic = Vec::new();
    input
        .by_ref()
        .take(GZIP_MAGIC.len() as u64)
        .read_to_end(&mut magic)
        .map_err(|error| FileError::Unreadable { path: path.to_owned(), reason: error.to_string() })?;
    let compressed = magic == GZIP_MAGIC;
    let whole = io::Cursor::new(magic).chain(input);
    let input: Box<dyn Read + 'a> =
        if compressed { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) };
    Ok(Stream { input, compressed })
}
