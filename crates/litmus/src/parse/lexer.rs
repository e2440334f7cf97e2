//! The lexer of litmus tests.

use super::error::{Place, TextError};
use super::scanner::{Scanner, shown};

/// The kind of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The token is a word.
    Word(String),
    /// The token is a number.
    Number(i64),
    /// The token is quoted text.
    Text(String),
    /// The token is a punctuation mark.
    Mark(&'static str),
    /// The token stands for the end of the text.
    End,
}

impl Kind {
    /// The token as error messages show it.
    pub(super) fn shown(&self) -> String {
        match self {
            Kind::Word(word) => format!("`{word}`"),
            Kind::Number(number) => format!("`{number}`"),
            Kind::Text(_) => "a quoted text".to_owned(),
            Kind::Mark(mark) => format!("`{mark}`"),
            Kind::End => "the end of the file".to_owned(),
        }
    }
}

/// A token and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) place: Place,
}

/// The characters that words of a test may contain. Each test format uses one of these two sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Words {
    /// Words consist of letters, digits and underscores.
    C,
    /// Words consist of letters, digits, underscores, dots, and a leading percent sign, such as
    /// `st.release.gpu` and `%r1`.
    Dotted,
}

/// The punctuation marks of litmus tests. Longer marks come before shorter marks.
const MARKS: [&str; 48] = [
    "<<=", ">>=", "/\\", "\\/", "==", "!=", "<=", ">=", "=>", "&&", "||", "<<", ">>", "++", "--", "+=", "-=",
    "->", "*=", "&=", "|=", "^=", "(", ")", "{", "}", "[", "]", ";", ",", ":", "=", "<", ">", "+", "-", "*",
    "/", "%", "&", "|", "^", "~", "!", "@", "?", ".", "$",
];

/// Skips blanks and comments: `// ...`, `/* ... */`, `(* ... *)`.
fn skip_blank(scanner: &mut Scanner<'_>, words: Words) -> Result<(), TextError> {
    loop {
        if scanner.peek().is_some_and(char::is_whitespace) {
            scanner.bump();
        } else if scanner.starts_with("//") {
            scanner.take_while(|c| c != '\n');
        } else if scanner.starts_with("/*") {
            skip_comment(scanner, "*/")?;
        } else if opens_comment(scanner, words) {
            skip_comment(scanner, "*)")?;
        } else {
            return Ok(());
        }
    }
}

/// Whether `(*` begins a comment at this position. In C the characters `(*` may also begin an
/// expression such as `(*x)`. So in C they begin a comment only if a blank or another star follows
/// them.
fn opens_comment(scanner: &Scanner<'_>, words: Words) -> bool {
    let Some(rest) = scanner.rest().strip_prefix("(*") else { return false };
    let next = rest.chars().next();
    match words {
        Words::Dotted => next != Some(')'),
        Words::C => next.is_some_and(|c| c.is_whitespace() || c == '*'),
    }
}

fn skip_comment(scanner: &mut Scanner<'_>, close: &str) -> Result<(), TextError> {
    let place = scanner.place;
    scanner.skip(2);
    while !scanner.starts_with(close) {
        if scanner.bump().is_none() {
            let expected = format!("`{close}` to close this comment");
            return Err(TextError::expected(place, "the end of the file", expected));
        }
    }
    scanner.skip(2);
    Ok(())
}

/// The first line of a test, and the tokens after the description of the test.
pub(super) struct Lexed {
    /// The keyword of the test's format, such as `OPENCL`.
    pub(super) keyword: String,
    /// The place of the keyword.
    pub(super) keyword_place: Place,
    /// The name of the test.
    pub(super) name: String,
    /// The tokens from the opening brace of the initial state on. The last token is [`Kind::End`].
    pub(super) tokens: Vec<Token>,
}

/// Splits a test into tokens. `words_of` takes the keyword of the test's format, and returns the
/// characters that words of this format may contain.
pub(super) fn lex(text: &str, words_of: impl Fn(&str) -> Words) -> Result<Lexed, TextError> {
    let mut scanner = Scanner::new(text);
    skip_blank(&mut scanner, Words::Dotted)?;
    let keyword_place = scanner.place;
    let keyword = scanner.take_while(|c| !c.is_whitespace());
    let name = scanner.take_while(|c| c != '\n').trim().to_owned();
    skip_preamble(&mut scanner)?;
    let words = words_of(&keyword);
    Ok(Lexed { keyword, keyword_place, name, tokens: rest(&mut scanner, words)? })
}

/// The tokens of a text. The last token is [`Kind::End`].
pub(super) fn tokens(text: &str, words: Words) -> Result<Vec<Token>, TextError> {
    rest(&mut Scanner::new(text), words)
}

fn rest(scanner: &mut Scanner<'_>, words: Words) -> Result<Vec<Token>, TextError> {
    let mut tokens = Vec::new();
    loop {
        skip_blank(scanner, words)?;
        let place = scanner.place;
        let kind = token(scanner, words)?;
        let end = kind == Kind::End;
        tokens.push(Token { kind, place });
        if end {
            return Ok(tokens);
        }
    }
}

/// Splits a test at its initial state. Returns the text between the braces, without comments, and
/// the text after the closing brace.
///
/// # Errors
/// If there is no initial state, or its closing brace is missing.
pub(super) fn sections(text: &str) -> Result<(String, &str), TextError> {
    let mut scanner = Scanner::new(text);
    skip_blank(&mut scanner, Words::Dotted)?;
    scanner.take_while(|c| !c.is_whitespace());
    scanner.take_while(|c| c != '\n');
    skip_preamble(&mut scanner)?;
    let place = scanner.place;
    let (mut block, mut depth) = (String::new(), 0usize);
    loop {
        skip_blank(&mut scanner, Words::Dotted)?;
        let Some(c) = scanner.bump() else {
            return Err(TextError::expected(place, "the end of the file", "`}` to close the initial state"));
        };
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return Ok((block, scanner.rest())),
            '}' => depth -= 1,
            _ => {}
        }
        if depth > 1 || c != '{' {
            block.push(c);
        }
        if scanner.peek().is_some_and(char::is_whitespace) {
            block.push(' ');
        }
    }
}

/// The text after leading blanks and comments.
pub(super) fn skip_comments(text: &str) -> &str {
    let mut scanner = Scanner::new(text);
    match skip_blank(&mut scanner, Words::Dotted) {
        Ok(()) => scanner.rest(),
        Err(_) => "",
    }
}

/// Skips the description of a test, which is between the first line of the test and the opening
/// brace of the initial state.
fn skip_preamble(scanner: &mut Scanner<'_>) -> Result<(), TextError> {
    loop {
        skip_blank(scanner, Words::Dotted)?;
        let place = scanner.place;
        match scanner.peek() {
            Some('{') => return Ok(()),
            Some('"') => {
                scanner.quoted()?;
            }
            Some(_) => {
                scanner.bump();
            }
            None => {
                let expected = "`{` to open the initial state";
                return Err(TextError::expected(place, "the end of the file", expected));
            }
        }
    }
}

fn token(scanner: &mut Scanner<'_>, words: Words) -> Result<Kind, TextError> {
    let place = scanner.place;
    let Some(first) = scanner.peek() else { return Ok(Kind::End) };
    if first.is_ascii_digit() {
        return number(scanner);
    }
    if first == '"' {
        return scanner.quoted().map(Kind::Text);
    }
    let percent = first == '%' && words == Words::Dotted;
    if first.is_ascii_alphabetic() || first == '_' || percent {
        if percent {
            scanner.bump();
        }
        let word = scanner.take_while(|c| {
            c.is_ascii_alphanumeric() || c == '_' || c == '$' || (words == Words::Dotted && c == '.')
        });
        if word.is_empty() {
            return Err(TextError::expected(place, "`%`", "a register's name after `%`"));
        }
        return Ok(Kind::Word(word));
    }
    if let Some(mark) = scanner.mark(&MARKS) {
        return Ok(Kind::Mark(mark));
    }
    Err(TextError::expected(place, shown(first), "a word, a number or punctuation"))
}

fn number(scanner: &mut Scanner<'_>) -> Result<Kind, TextError> {
    let place = scanner.place;
    let word = scanner.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
    let plain = word.trim_end_matches(['u', 'U', 'l', 'L']);
    let parsed = match plain.strip_prefix("0x").or_else(|| plain.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok().map(|bits| bits as i64),
        None => plain.parse::<i64>().ok(),
    };
    match parsed {
        Some(value) => Ok(Kind::Number(value)),
        None => Err(TextError::expected(place, format!("`{word}`"), "a number of at most 64 bits")),
    }
}
