//! Parsers for litmus tests. There are five text formats, and all are parsed into a [`Program`].
//!
//! A test consists of the keyword of its format and a name, an initial state in braces, the
//! threads, and a condition on the final states. An error names the line, the column, the text
//! found and the text expected.

mod c;
mod columns;
mod condition;
mod cursor;
mod error;
mod hash;
mod init;
mod lexer;
mod lisa;
mod ptx;
pub(crate) mod scanner;
mod scopes;
mod table;
mod vulkan;

pub use c::Macros;
pub use error::{Place, TextError, TextErrorKind};
pub use hash::hash;

use crate::program::{Dialect, Program};
use lexer::Words;

/// The maximum length of a test, in bytes.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// Reads a litmus test in any of the formats.
///
/// # Errors
/// The first error in the text, with its place.
pub fn parse(text: &str) -> Result<Program, TextError> {
    parse_with(text, Macros::kernel())
}

/// Reads a litmus test. For a test in C, `macros` replaces the macros of the Linux kernel.
///
/// # Errors
/// The first error in the text, with its place.
pub fn parse_with(text: &str, macros: &Macros) -> Result<Program, TextError> {
    if text.len() > TEXT_BYTES_MAX {
        let place = Place { line: 1, column: 1 };
        return Err(TextError::meaning(place, "the file is larger than one mebibyte"));
    }
    let words = |keyword: &str| match dialect(keyword) {
        Some(Dialect::OpenCl | Dialect::C11) => Words::C,
        _ => Words::Dotted,
    };
    let lexed = lexer::lex(text, words)?;
    match dialect(&lexed.keyword) {
        Some(Dialect::Ptx) => ptx::parse(lexed),
        Some(Dialect::Lisa) => lisa::parse(lexed),
        Some(Dialect::Vulkan) => vulkan::parse(lexed),
        Some(dialect) => c::parse(lexed, dialect, macros),
        None => {
            let found = format!("`{}`", lexed.keyword);
            let expected = "`OPENCL`, `PTX`, `VULKAN`, `C` or `LISA` to name the format";
            Err(TextError::expected(lexed.keyword_place, found, expected))
        }
    }
}

fn dialect(keyword: &str) -> Option<Dialect> {
    match keyword.to_ascii_uppercase().as_str() {
        "OPENCL" => Some(Dialect::OpenCl),
        "PTX" => Some(Dialect::Ptx),
        "VULKAN" => Some(Dialect::Vulkan),
        "C" | "C11" => Some(Dialect::C11),
        "LISA" | "BELL" => Some(Dialect::Lisa),
        _ => None,
    }
}
