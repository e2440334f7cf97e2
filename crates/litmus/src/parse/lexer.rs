//! Litmus tests as tokens with places.

use super::error::{Place, TextError};

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word.
    Word(String),
    /// A number.
    Number(i64),
    /// A quoted text.
    Text(String),
    /// Punctuation.
    Mark(&'static str),
    /// The end.
    End,
}

impl Kind {
    /// The token as an error message shows it.
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

/// A token and where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) place: Place,
}

/// What words may hold, which differs between formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Words {
    /// Letters, digits and underscores.
    C,
    /// Also dots and a leading percent sign: `st.release.gpu`, `%r1`.
    Dotted,
}

/// Punctuation, longest first.
const MARKS: [&str; 48] = [
    "<<=", ">>=", "/\\", "\\/", "==", "!=", "<=", ">=", "=>", "&&", "||", "<<", ">>", "++", "--", "+=", "-=",
    "->", "*=", "&=", "|=", "^=", "(", ")", "{", "}", "[", "]", ";", ",", ":", "=", "<", ">", "+", "-", "*",
    "/", "%", "&", "|", "^", "~", "!", "@", "?", ".", "$",
];

/// Reads characters and knows where it is.
struct Scanner<'t> {
    rest: core::str::Chars<'t>,
    place: Place,
    words: Words,
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

    fn skip(&mut self, count: usize) {
        for _ in 0..count {
            self.bump();
        }
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> String {
        let mut word = String::new();
        while let Some(c) = self.peek().filter(|&c| accept(c)) {
            word.push(c);
            self.bump();
        }
        word
    }

    /// Skips blanks and comments: `// ...`, `/* ... */`, `(* ... *)`.
    fn skip_blank(&mut self) -> Result<(), TextError> {
        loop {
            if self.peek().is_some_and(char::is_whitespace) {
                self.bump();
            } else if self.starts_with("//") {
                self.take_while(|c| c != '\n');
            } else if self.starts_with("/*") {
                self.skip_comment("*/")?;
            } else if self.opens_comment() {
                self.skip_comment("*)")?;
            } else {
                return Ok(());
            }
        }
    }

    /// Does `(*` open a comment here? In C it may also open an expression such
    /// as `(*x)`, so there a blank must follow.
    fn opens_comment(&self) -> bool {
        let Some(rest) = self.rest.as_str().strip_prefix("(*") else { return false };
        let next = rest.chars().next();
        match self.words {
            Words::Dotted => next != Some(')'),
            Words::C => next.is_some_and(|c| c.is_whitespace() || c == '*'),
        }
    }

    fn skip_comment(&mut self, close: &str) -> Result<(), TextError> {
        let place = self.place;
        self.skip(2);
        while !self.starts_with(close) {
            if self.bump().is_none() {
                let expected = format!("`{close}` to close this comment");
                return Err(TextError::expected(place, "the end of the file", expected));
            }
        }
        self.skip(2);
        Ok(())
    }
}

/// The first line of a test and the tokens that follow its preamble.
pub(super) struct Lexed {
    /// The format's word.
    pub(super) keyword: String,
    /// Where it stands.
    pub(super) keyword_place: Place,
    /// The test's name.
    pub(super) name: String,
    /// The tokens from the opening brace on, closed by [`Kind::End`].
    pub(super) tokens: Vec<Token>,
}

/// Takes a test apart. `words_of` tells by the format's word what words hold.
pub(super) fn lex(text: &str, words_of: impl Fn(&str) -> Words) -> Result<Lexed, TextError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut scanner =
        Scanner { rest: text.chars(), place: Place { line: 1, column: 1 }, words: Words::Dotted };
    scanner.skip_blank()?;
    let keyword_place = scanner.place;
    let keyword = scanner.take_while(|c| !c.is_whitespace());
    let name = scanner.take_while(|c| c != '\n').trim().to_owned();
    skip_preamble(&mut scanner)?;
    let words = words_of(&keyword);
    scanner.words = words;
    let mut tokens = Vec::new();
    loop {
        scanner.skip_blank()?;
        let place = scanner.place;
        let kind = token(&mut scanner, words)?;
        let end = kind == Kind::End;
        tokens.push(Token { kind, place });
        if end {
            return Ok(Lexed { keyword, keyword_place, name, tokens });
        }
    }
}

/// Skips the description between the first line and the opening brace.
fn skip_preamble(scanner: &mut Scanner<'_>) -> Result<(), TextError> {
    loop {
        scanner.skip_blank()?;
        let place = scanner.place;
        match scanner.peek() {
            Some('{') => return Ok(()),
            Some('"') => {
                quoted(scanner)?;
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

fn quoted(scanner: &mut Scanner<'_>) -> Result<String, TextError> {
    let place = scanner.place;
    scanner.bump();
    let text = scanner.take_while(|c| c != '"');
    match scanner.bump() {
        Some(_) => Ok(text),
        None => Err(TextError::expected(place, "the end of the file", "`\"` to close this text")),
    }
}

fn token(scanner: &mut Scanner<'_>, words: Words) -> Result<Kind, TextError> {
    let place = scanner.place;
    let Some(first) = scanner.peek() else { return Ok(Kind::End) };
    if first.is_ascii_digit() {
        return number(scanner);
    }
    if first == '"' {
        return quoted(scanner).map(Kind::Text);
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
    for mark in MARKS {
        if scanner.starts_with(mark) {
            scanner.skip(mark.len());
            return Ok(Kind::Mark(mark));
        }
    }
    Err(TextError::expected(place, format!("`{first}`"), "a word, a number or punctuation"))
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
