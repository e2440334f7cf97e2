//! A name for bytes that no other bytes have.

use sha2::{Digest as _, Sha256};

/// SHA-256 in hexadecimal.
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
