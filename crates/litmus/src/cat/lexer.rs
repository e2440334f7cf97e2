//! Models as tokens.

use crate::parse::{Place, TextError};

/// What a token is.
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

const MARKS: [&str; 24] = [
    "^-1", "^+", "^*", "^?", "++", "||", "&&", "->", "|", ";", "\\", "&", "*", "+", "?", "~", "(", ")", "[",
    "]", "{", "}", ",", "=",
];

struct Scanner<'t> {
    rest: core::str::Chars<'t>,
    place: Place,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.clone().next()
    }

    fn starts_with(&self, prefix: &str) -> bool {
        self.rest.as_str().starts_with(prefix)
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        if c == '\n' {
            self.place.line += 1;
            self.place.column = 1;
        } else {
            self.place.column += 1;
        }
        Some(c)
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> String {
        let mut word = String::new();
        while let Some(c) = self.peek().filter(|&c| accept(c)) {
            word.push(c);
            self.bump();
        }
        word
    }

    /// Comments: `// ...` and `(* ... *)`, which nest.
    fn skip_blank(&mut self) -> Result<(), TextError> {
        loop {
            if self.peek().is_some_and(char::is_whitespace) {
                self.bump();
            } else if self.starts_with("//") {
                self.take_while(|c| c != '\n');
            } else if self.starts_with("(*") {
                self.skip_comment()?;
            } else {
                return Ok(());
            }
        }
    }

    fn skip_comment(&mut self) -> Result<(), TextError> {
        let place = self.place;
        let mut depth = 0usize;
        loop {
            if self.starts_with("(*") {
                depth += 1;
                self.bump();
                self.bump();
            } else if self.starts_with("*)") {
                depth -= 1;
                self.bump();
                self.bump();
                if depth == 0 {
                    return Ok(());
                }
            } else if self.bump().is_none() {
                return Err(TextError::expected(place, "the end of the file", "`*)` to close this comment"));
            }
        }
    }
}

/// Takes a model apart.
pub(super) fn lex(text: &str) -> Result<Vec<Token>, TextError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut scanner = Scanner { rest: text.chars(), place: Place { line: 1, column: 1 } };
    let mut tokens = Vec::new();
    loop {
        scanner.skip_blank()?;
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
        scanner.bump();
        let text = scanner.take_while(|c| c != '"');
        return match scanner.bump() {
            Some(_) => Ok(Kind::Text(text)),
            None => Err(TextError::expected(place, "the end of the file", "`\"` to close this text")),
        };
    }
    if first == '\'' {
        scanner.bump();
        let tag = scanner.take_while(word_char);
        if tag.is_empty() {
            return Err(TextError::expected(place, "`'`", "a tag's name behind `'`"));
        }
        return Ok(Kind::Tag(tag));
    }
    if first.is_alphanumeric() || first == '_' {
        let word = scanner.take_while(word_char);
        // `0` is a constant of its own, also in front of a dash.
        return Ok(Kind::Word(word));
    }
    for mark in MARKS {
        if scanner.starts_with(mark) {
            mark.chars().for_each(|_| {
                scanner.bump();
            });
            return Ok(Kind::Mark(mark));
        }
    }
    Err(TextError::expected(place, format!("`{first}`"), "a name, an operator or a keyword"))
}
