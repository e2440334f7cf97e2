//! Computes the line `Hash=...` that follows herd's output. Tools compare hashes to find out
//! whether two logs are of the same tests.
//!
//! A hash is the MD5 digest of three MD5 digests: the digest of the initial state, the digest of
//! the code, and the digest of the terms (registers and locations) of a final state. For `C` and
//! `LISA` tests these parts are written in the notation of herd 7.58, so Fencepost and herd print
//! the same hash. Herd does not know the other formats.

mod code;
mod initial;
mod md5;

use core::fmt::Write as _;

use crate::program::{Dialect, Program, Term};

use super::lexer::{self, Kind, Words};
use md5::md5;

/// The hash of a test. If the header of the test has a hash (`Hash=...`), the function returns this
/// hash. Otherwise it computes the hash from the test. A computed hash does not depend on the name,
/// the description, the filter and the values in the condition. For a C test it depends on the
/// blanks in the bodies of functions.
#[must_use]
pub fn hash(text: &str, program: &Program) -> String {
    if let Some(given) = in_header(text) {
        return given;
    }
    let Ok((initial, rest)) = lexer::sections(text) else { return String::new() };
    let code = match program.dialect {
        Dialect::C11 => code::functions(rest),
        Dialect::Lisa => code::columns(text).unwrap_or_default(),
        Dialect::OpenCl | Dialect::Ptx | Dialect::Vulkan => tokens(text),
    };
    let parts = [initial::written(&initial), code, observed(program)];
    let digests = parts.map(|part| md5(part.as_bytes())).concat();
    md5(&digests).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// The hash that the test's header gives. The header is the text before the initial state. `None`
/// if the header gives no hash.
fn in_header(text: &str) -> Option<String> {
    let header = text.lines().take_while(|line| !line.trim_start().starts_with('{'));
    header
        .filter_map(|line| line.trim().trim_matches('"').split_once('='))
        .find(|(key, hash)| key.trim().eq_ignore_ascii_case("hash") && !hash.trim().is_empty())
        .map(|(_, hash)| hash.trim().to_owned())
}

/// Writes the terms of a final state: registers sorted by thread and name, then locations sorted by
/// name, then elements of arrays.
fn observed(program: &Program) -> String {
    let mut terms: Vec<_> = program
        .state_terms()
        .into_iter()
        .map(|term| {
            let name = program.term_name(term);
            match term {
                Term::Reg(thread, _) => (0, usize::from(thread.0), name.clone(), 0, name),
                Term::Loc(_) | Term::Const(_) => {
                    let element = name.split_once('[').and_then(|(array, index)| {
                        Some((array.to_owned(), index.strip_suffix(']')?.parse::<usize>().ok()?))
                    });
                    match element {
                        Some((array, index)) => (2, 0, array, index, name),
                        None => (1, 0, name.clone(), 0, name),
                    }
                }
            }
        })
        .collect();
    terms.sort();
    terms.dedup();
    terms.into_iter().map(|(.., name)| name).collect::<Vec<_>>().join("; ")
}

/// Writes the tokens of the test from the initial state up to the condition, separated by blanks.
fn tokens(text: &str) -> String {
    let mut written = String::new();
    let Ok(lexed) = lexer::lex(text, |_| Words::Dotted) else { return written };
    let ends = |kind: &Kind| {
        matches!(kind, Kind::Word(word)
            if matches!(word.as_str(), "exists" | "forall" | "filter" | "locations" | "final"))
    };
    for token in lexed.tokens.iter().take_while(|token| !ends(&token.kind)) {
        let _ = match &token.kind {
            Kind::Word(word) => write!(written, "{word} "),
            Kind::Number(number) => write!(written, "{number} "),
            Kind::Text(text) => write!(written, "\"{text}\" "),
            Kind::Mark("~") | Kind::End => Ok(()),
            Kind::Mark(mark) => write!(written, "{mark} "),
        };
    }
    written
}
