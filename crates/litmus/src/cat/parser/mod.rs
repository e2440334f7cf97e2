//! The parser of memory models in the `.cat` language, with herd's grammar.
//!
//! Operators from loosest to tightest: `|`, `++`, `;`, `\`, `&`, `*` (a product), the
//! prefix `~`, the postfixes `+ * ? ^-1`, application.

mod expr;
mod statement;

use crate::parse::{Place, TextError};

use super::ast::{Binding, Bindings, Name, Pattern, Statement};
use super::lexer::{Kind, Token, lex};

/// The maximum nesting depth of the statements, conditions and expressions of a model.
const DEPTH_MAX: usize = 120;

/// The keywords of the `.cat` language, which cannot be names.
const KEYWORDS: [&str; 34] = [
    "let",
    "rec",
    "and",
    "when",
    "in",
    "fun",
    "match",
    "with",
    "end",
    "if",
    "then",
    "else",
    "try",
    "acyclic",
    "irreflexive",
    "empty",
    "flag",
    "as",
    "include",
    "show",
    "unshow",
    "procedure",
    "call",
    "forall",
    "do",
    "from",
    "enum",
    "instructions",
    "default",
    "undefined_unless",
    "assert",
    "subset",
    "begin",
    "debug",
];

/// The options that may follow the title of a model.
const OPTIONS: [&str; 6] = ["partialco", "withco", "withoutco", "withinit", "withoutinit", "compat"];

/// All names in a model and its included files. The number of a name is its index in this list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    list: Vec<String>,
}

impl Names {
    /// The number of the name `word`. Adds the name if it is new.
    pub(crate) fn intern(&mut self, word: &str) -> Name {
        if let Some(at) = self.list.iter().position(|known| known == word) {
            return Name(at as u32);
        }
        self.list.push(word.to_owned());
        Name((self.list.len() - 1) as u32)
    }

    /// The name with this number.
    pub(crate) fn text(&self, name: Name) -> &str {
        &self.list[name.0 as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether one of the files that were parsed with this list uses the name `word`.
    pub(crate) fn contains(&self, word: &str) -> bool {
        self.list.iter().any(|known| known == word)
    }
}

/// The content of a parsed file.
pub(super) struct Parsed {
    /// The title of the model.
    pub(super) title: Option<String>,
    /// The words beside the title: the name of an architecture, and options of the model.
    pub(super) options: Vec<String>,
    pub(super) statements: Vec<Statement>,
}

/// Parses a model or a `.bell` file.
pub(super) fn parse(text: &str, names: &mut Names) -> Result<Parsed, TextError> {
    let mut parser = Parser { tokens: lex(text)?, at: 0, names, depth: 0 };
    let (title, options) = parser.title();
    let mut statements = Vec::new();
    while *parser.peek() != Kind::End {
        statements.extend(parser.statement()?);
    }
    Ok(Parsed { title, options, statements })
}

struct Parser<'n> {
    tokens: Vec<Token>,
    at: usize,
    names: &'n mut Names,
    depth: usize,
}

impl Parser<'_> {
    pub(super) fn peek(&self) -> &Kind {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> &Kind {
        self.tokens.get(self.at + ahead).map_or(&Kind::End, |t| &t.kind)
    }

    pub(super) fn place(&self) -> Place {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(Place::default(), |t| t.place)
    }

    pub(super) fn advance(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    pub(super) fn expected(&self, expected: impl Into<String>) -> TextError {
        TextError::expected(self.place(), self.peek().shown(), expected)
    }

    pub(super) fn is(&self, mark: &str) -> bool {
        matches!(self.peek(), Kind::Mark(m) if *m == mark)
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Kind::Word(w) if w == word)
    }

    pub(super) fn eat(&mut self, mark: &str) -> bool {
        let here = self.is(mark);
        if here {
            self.advance();
        }
        here
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let here = self.is_word(word);
        if here {
            self.advance();
        }
        here
    }

    pub(super) fn expect(&mut self, mark: &str) -> Result<(), TextError> {
        if self.eat(mark) { Ok(()) } else { Err(self.expected(format!("`{mark}`"))) }
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Result<(), TextError> {
        if self.eat_word(word) { Ok(()) } else { Err(self.expected(format!("`{word}`"))) }
    }

    pub(super) fn name(&mut self, what: &str) -> Result<Name, TextError> {
        match self.peek() {
            Kind::Word(word) if !KEYWORDS.contains(&word.as_str()) && word != "0" => {
                let name = self.names.intern(&word.clone());
                self.advance();
                Ok(name)
            }
            _ => Err(self.expected(what)),
        }
    }

    pub(super) fn enter(&mut self) -> Result<(), TextError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.expected(format!("a model with at most {DEPTH_MAX} levels of nesting")));
        }
        Ok(())
    }

    /// Reads the title at the start of a file: a quoted text or a word. A word before the quoted
    /// text, or a first word that a further word follows, names the architecture. Returns the title
    /// and the words beside it.
    pub(super) fn title(&mut self) -> (Option<String>, Vec<String>) {
        let mut words = Vec::new();
        loop {
            match self.peek() {
                Kind::Text(text) => {
                    let text = text.clone();
                    self.advance();
                    words.extend(self.options());
                    return (Some(text), words);
                }
                Kind::Word(word) if !KEYWORDS.contains(&word.as_str()) && words.is_empty() => {
                    words.push(word.clone());
                    self.advance();
                }
                _ if words.is_empty() => return (None, Vec::new()),
                _ => {
                    words.extend(self.options());
                    let option = |word: &&String| OPTIONS.contains(&word.as_str());
                    let title = words.get(1).filter(|word| !option(word)).unwrap_or(&words[0]).clone();
                    return (Some(title), words);
                }
            }
        }
    }

    fn options(&mut self) -> Vec<String> {
        let mut options = Vec::new();
        while let Kind::Word(word) = self.peek() {
            if KEYWORDS.contains(&word.as_str()) {
                break;
            }
            options.push(word.clone());
            self.advance();
        }
        options
    }

    pub(super) fn word(&mut self, what: &str) -> Result<String, TextError> {
        match self.peek().clone() {
            Kind::Word(word) => {
                self.advance();
                Ok(word)
            }
            _ => Err(self.expected(what)),
        }
    }

    pub(super) fn bindings(&mut self) -> Result<Bindings, TextError> {
        let recursive = self.eat_word("rec");
        let mut list = vec![self.binding()?];
        while self.eat_word("and") {
            list.push(self.binding()?);
        }
        Ok(Bindings { recursive, list })
    }

    pub(super) fn binding(&mut self) -> Result<Binding, TextError> {
        let place = self.place();
        let mut pattern = self.pattern()?;
        if let (Pattern::One(first), true) = (&pattern, self.is(",")) {
            let mut names = vec![*first];
            while self.eat(",") {
                names.push(self.pattern_name()?);
            }
            pattern = Pattern::Tuple(names);
        }
        let mut parameters = Vec::new();
        while !self.is("=") {
            if !matches!(pattern, Pattern::One(Some(_))) {
                return Err(self.expected("`=`"));
            }
            parameters.push(self.pattern()?);
        }
        self.expect("=")?;
        Ok(Binding { place, pattern, parameters, body: self.expr()? })
    }

    pub(super) fn pattern_name(&mut self) -> Result<Option<Name>, TextError> {
        if self.eat_word("_") { Ok(None) } else { self.name("a name").map(Some) }
    }

    pub(super) fn pattern(&mut self) -> Result<Pattern, TextError> {
        if !self.eat("(") {
            return self.pattern_name().map(Pattern::One);
        }
        let mut names = Vec::new();
        while !self.eat(")") {
            names.push(self.pattern_name()?);
            if !self.is(")") {
                self.expect(",")?;
            }
        }
        if names.len() == 1 { Ok(Pattern::One(names[0])) } else { Ok(Pattern::Tuple(names)) }
    }
}
