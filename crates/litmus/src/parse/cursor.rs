//! A cursor over tokens, with errors that say what was expected.

use super::error::{Place, TextError};
use super::lexer::{Kind, Token};

/// How deeply anything may be nested.
pub(super) const DEPTH_MAX: usize = 100;

/// Where the parser is.
pub(super) struct Cursor {
    tokens: Vec<Token>,
    at: usize,
}

impl Cursor {
    /// Over `tokens`, which end with [`Kind::End`].
    pub(super) fn new(tokens: Vec<Token>) -> Cursor {
        Cursor { tokens, at: 0 }
    }

    /// How many tokens were passed.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Back (or forth) to an earlier position.
    pub(super) fn seek(&mut self, position: usize) {
        self.at = position;
    }

    /// The tokens from there to here.
    pub(super) fn slice(&self, begin: usize) -> Vec<Token> {
        self.tokens[begin..self.at].to_vec()
    }

    /// Replaces the tokens from there to here, and goes back to the first.
    pub(super) fn replace(&mut self, begin: usize, tokens: Vec<Token>) {
        self.tokens.splice(begin..self.at, tokens);
        self.at = begin;
    }

    pub(super) fn peek(&self) -> &Kind {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> &Kind {
        self.tokens.get(self.at + ahead).map_or(&Kind::End, |token| &token.kind)
    }

    pub(super) fn place(&self) -> Place {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(Place::default(), |token| token.place)
    }

    pub(super) fn line(&self) -> u32 {
        self.place().line
    }

    pub(super) fn advance(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    pub(super) fn at_end(&self) -> bool {
        *self.peek() == Kind::End
    }

    /// The error that something else was expected here.
    pub(super) fn expected(&self, expected: impl Into<String>) -> TextError {
        TextError::expected(self.place(), self.peek().shown(), expected)
    }

    pub(super) fn is(&self, mark: &str) -> bool {
        matches!(self.peek(), Kind::Mark(m) if *m == mark)
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Kind::Word(w) if w == word)
    }

    /// Passes `mark` if it stands here.
    pub(super) fn eat(&mut self, mark: &str) -> bool {
        let here = self.is(mark);
        if here {
            self.advance();
        }
        here
    }

    /// Passes `word` if it stands here.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let here = self.is_word(word);
        if here {
            self.advance();
        }
        here
    }

    /// Passes `mark`, which must stand here.
    pub(super) fn expect(&mut self, mark: &str) -> Result<(), TextError> {
        if self.eat(mark) { Ok(()) } else { Err(self.expected(format!("`{mark}`"))) }
    }

    /// The word that must stand here.
    pub(super) fn word(&mut self, what: &str) -> Result<String, TextError> {
        match self.peek() {
            Kind::Word(word) => {
                let word = word.clone();
                self.advance();
                Ok(word)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// The number, with its sign, that must stand here.
    pub(super) fn number(&mut self, what: &str) -> Result<i64, TextError> {
        let negative = self.is("-") && matches!(self.peek_at(1), Kind::Number(_));
        if negative {
            self.advance();
        }
        match *self.peek() {
            Kind::Number(number) => {
                self.advance();
                Ok(if negative { number.wrapping_neg() } else { number })
            }
            _ => Err(self.expected(what)),
        }
    }

    /// The number of a thread, written `P3` or `3`, if one stands here and a
    /// colon follows.
    pub(super) fn thread_colon(&mut self) -> Option<usize> {
        if *self.peek_at(1) != Kind::Mark(":") {
            return None;
        }
        let number = match self.peek() {
            Kind::Number(number) => usize::try_from(*number).ok(),
            Kind::Word(word) => thread_number(word),
            _ => None,
        }?;
        self.advance();
        self.advance();
        Some(number)
    }
}

/// The 3 of `P3`.
pub(super) fn thread_number(word: &str) -> Option<usize> {
    let digits = word.strip_prefix('P')?;
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if plain { digits.parse().ok() } else { None }
}
