//! A cursor over the tokens of a text. Its errors name the token that was expected.

use super::error::{Place, TextError};
use super::lexer::{Kind, Token};

/// The maximum nesting depth that a parser accepts.
pub(super) const DEPTH_MAX: usize = 100;

/// A position in a list of tokens.
pub(super) struct Cursor {
    tokens: Vec<Token>,
    at: usize,
}

impl Cursor {
    /// A cursor at the start of `tokens`. The last token must be [`Kind::End`].
    pub(super) fn new(tokens: Vec<Token>) -> Cursor {
        Cursor { tokens, at: 0 }
    }

    /// The number of tokens before the cursor.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Moves to a position that [`Cursor::position`] returned.
    pub(super) fn seek(&mut self, position: usize) {
        self.at = position;
    }

    /// The tokens from the position `begin` up to the cursor.
    pub(super) fn slice(&self, begin: usize) -> Vec<Token> {
        self.tokens[begin..self.at].to_vec()
    }

    /// Replaces the tokens from `begin` to the cursor by `tokens`, and moves the cursor to `begin`.
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

    /// The error that the token at the cursor is not the expected one.
    pub(super) fn expected(&self, expected: impl Into<String>) -> TextError {
        TextError::expected(self.place(), self.peek().shown(), expected)
    }

    /// The error that the construct at the cursor is nested too deeply.
    pub(super) fn too_deep(&self, construct: &str) -> TextError {
        self.expected(format!("{construct} with at most {DEPTH_MAX} levels of nesting"))
    }

    pub(super) fn is(&self, mark: &str) -> bool {
        matches!(self.peek(), Kind::Mark(m) if *m == mark)
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Kind::Word(w) if w == word)
    }

    /// Skips `mark` if it is the next token. Returns whether `mark` was skipped.
    pub(super) fn eat(&mut self, mark: &str) -> bool {
        let here = self.is(mark);
        if here {
            self.advance();
        }
        here
    }

    /// Skips `word` if it is the next token. Returns whether `word` was skipped.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let here = self.is_word(word);
        if here {
            self.advance();
        }
        here
    }

    /// Skips `mark`. Fails if the next token is not `mark`.
    pub(super) fn expect(&mut self, mark: &str) -> Result<(), TextError> {
        if self.eat(mark) { Ok(()) } else { Err(self.expected(format!("`{mark}`"))) }
    }

    /// Reads a word. Fails if the next token is not a word. `what` describes the expected word in
    /// the error message.
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

    /// Reads a number with its sign. Fails if the next token is not a number. `what` describes the
    /// expected number in the error message.
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

    /// Reads the number of a thread and a colon, such as `P3:` or `3:`, if they come next.
    /// Otherwise reads nothing and returns `None`.
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

/// The number in a thread's name: 3 for `P3`.
pub(super) fn thread_number(word: &str) -> Option<usize> {
    let digits = word.strip_prefix('P')?;
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if plain { digits.parse().ok() } else { None }
}
