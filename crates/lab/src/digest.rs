//! Digests of bytes, used as unique names.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use sha2::{Digest as _, Sha256};

/// The SHA-256 digest of some bytes, in hexadecimal.
#[must_use]
pub(crate) fn of(bytes: &[u8]) -> String {
    in_hexadecimal(&Sha256::digest(bytes))
}

/// The SHA-256 digest of the content of a file in hexadecimal, and the number of bytes of the file.
pub(crate) fn of_file(path: &Path) -> io::Result<(String, u64)> {
    let mut file = File::open(path)?;
    // A pipe or a device is refused: it would be empty when the run reads it later, or it would
    // never end.
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("the path is not a regular file"));
    }
    let (mut digest, mut bytes, mut part) = (Sha256::new(), 0, vec![0; 1 << 16]);
    loop {
        let count = file.read(&mut part)?;
        if count == 0 {
            return Ok((in_hexadecimal(&digest.finalize()), bytes));
        }
        digest.update(&part[..count]);
        bytes += count as u64;
    }
}

fn in_hexadecimal(bytes: &[u8]) -> String {
    use core::fmt::Write as _;
    let mut text = String::new();
    for byte in bytes {
        // Writing to a string cannot fail.
        write!(text, "{byte:02x}").ok();
    }
    text
}

/// The number of letters in the name of a task.
pub(crate) const ID_LETTERS: usize = 32;

/// The name of a task. It is a digest of everything that determines the task's result.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskId(pub(crate) String);

impl TaskId {
    /// The name of the task that `text` describes.
    #[must_use]
    pub fn of(text: &str) -> TaskId {
        let mut id = of(text.as_bytes());
        id.truncate(ID_LETTERS);
        TaskId(id)
    }
}
