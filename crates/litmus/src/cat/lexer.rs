//! The lexer of memory models in the `.cat` language.

use crate::parse::scanner::{Scanner, shown};
use crate::parse::{Place, TextError};

/// The kind of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word(String),
    Tag(String),
    Text(String),
    Mark(&'static str),
    End,
}

impl Kind {
    pub(super) fn shown(&self) -> String {
        match self {
            Kind::Word(word) => format!("`{word}`"),
            Kind::Tag(tag) => format!("`'{tag}`"),
            Kind::Text(text) => format!("`\"{text}\"`"),
            Kind::Mark(mark) => format!("`{mark}`"),
            Kind::End => "the end of the file".to_owned(),
        }
    }
}

pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) place: Place,
}

const MARKS: [&str; 26] = [
    "^-1", "^+", "^*", "^?", "++", "||", "&&", "->", "-1", "^", "|", ";", "\\", "&", "*", "+", "?", "~", "(",
    ")", "[", "]", "{", "}", ",", "=",
];

/// Skips blanks and comments. The forms of a comment are `// ...`, `# ...`, `/* ... */` and
/// `(* ... *)`. Only comments of the last form may be nested.
fn skip_blank(scanner: &mut Scanner<'_>) -> Result<(), TextError> {
    loop {
        if scanner.peek().is_some_and(char::is_whitespace) {
            scanner.bump();
        } else if scanner.starts_with("//") || scanner.starts_with("#") {
            scanner.take_while(|c| c != '\n');
        } else if scanner.starts_with("/*") {
            skip_comment(scanner, None, "*/")?;
        } else if scanner.starts_with("(*") {
            skip_comment(scanner, Some("(*"), "*)")?;
        } else {
            return Ok(());
        }
    }
}

/// Skips a comment that ends with `close`. If `open` is given, comments nest. If opening and
/// closing marks do not pair up, the comment ends at the first closing mark.
fn skip_comment(scanner: &mut Scanner<'_>, open: Option<&str>, close: &str) -> Result<(), TextError> {
    let place = scanner.place;
    let rest = &scanner.rest()[2..];
    let nested = open.and_then(|open| closing(rest, open, close));
    let Some(length) = nested.or_else(|| rest.find(close)) else {
        let expected = format!("`{close}` to close this comment");
        return Err(TextError::expected(place, "the end of the file", expected));
    };
    let characters = rest[..length].chars().count();
    scanner.skip(2 + characters + close.len());
    Ok(())
}

/// The position in `text` of the mark `close` that ends the comment. Nested comments are skipped.
fn closing(text: &str, open: &str, close: &str) -> Option<usize> {
    let mut depth = 1usize;
    let mut at = 0;
    loop {
        let next = at + text[at..].find([open.as_bytes()[0] as char, close.as_bytes()[0] as char])?;
        let rest = &text[next..];
        if rest.starts_with(open) {
            depth += 1;
            at = next + open.len();
        } else if rest.starts_with(close) {
            depth -= 1;
            if depth == 0 {
                return Some(next);
            }
            at = next + close.len();
        } else {
            at = next + 1;
        }
    }
}

/// Splits the text of a memory model into tokens.
pub(super) fn lex(text: &str) -> Result<Vec<Token>, TextError> {
    let mut scanner = Scanner::new(text);
    let mut tokens = Vec::new();
    loop {
        skip_blank(&mut scanner)?;
        let place = scanner.place;
        let kind = token(&mut scanner)?;
        let end = kind == Kind::End;
        tokens.push(Token { kind, place });
        if end {
            return Ok(tokens);
        }
    }
}

fn word_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '\'')
}

fn token(scanner: &mut Scanner<'_>) -> Result<Kind, TextError> {
    let place = scanner.place;
    let Some(first) = scanner.peek() else { return Ok(Kind::End) };
    if first == '"' {
        return scanner.quoted().map(Kind::Text);
    }
    if first == '\'' {
        scanner.bump();
        let tag = scanner.take_while(word_char);
        if tag.is_empty() {
            return Err(TextError::expected(place, "`'`", "a tag's name after `'`"));
        }
        return Ok(Kind::Tag(tag));
    }
    if first.is_alphanumeric() || first == '_' {
        let word = scanner.take_while(word_char);
        // A dash can be a character of a word, even after `0`.
        return Ok(Kind::Word(word));
    }
    if let Some(mark) = scanner.mark(&MARKS) {
        return Ok(Kind::Mark(mark));
    }
    Err(TextError::expected(place, shown(first), "a name, an operator or a keyword"))
}
