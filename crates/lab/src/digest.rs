//! Digests of bytes, used as unique names.

use sha2::{Digest as _, Sha256};

/// The SHA-256 digest of some bytes, in hexadecimal.
#[must_use]
pub(crate) fn of(bytes: &[u8]) -> String {
    use core::fmt::Write as _;
    let mut text = String::new();
    for byte in Sha256::digest(bytes) {
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
