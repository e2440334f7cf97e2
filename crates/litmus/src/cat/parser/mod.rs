//! From text to steps: the grammar of herd's models.
//!
//! Operators from loosest to tightest: `|`, `++`, `;`, `\`, `&`, `*` (a
//! product), then `~` in front and `+ * ? ^-1` behind, then application.

mod expr;

use crate::parse::{Place, TextError};

use super::ast::{Binding, Bindings, Check, CheckKind, Name, Pattern, Step};
use super::lexer::{Kind, Token, lex};

/// What may stand where a step begins.
const STEPS: &str = "`let`, `acyclic`, `irreflexive`, `empty`, `flag` or another step";

/// How deeply a model may be nested.
const DEPTH_MAX: usize = 120;

/// Words that name nothing.
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

/// Words behind a title that are no part of it.
const OPTIONS: [&str; 6] = ["partialco", "withco", "withoutco", "withinit", "withoutinit", "compat"];

/// Names and their numbers, shared by a model and what it includes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    list: Vec<String>,
}

impl Names {
    /// The number of `word`.
    pub(crate) fn intern(&mut self, word: &str) -> Name {
        if let Some(at) = self.list.iter().position(|known| known == word) {
            return Name(at as u32);
        }
        self.list.push(word.to_owned());
        Name((self.list.len() - 1) as u32)
    }

    /// The name of that number.
    pub(crate) fn text(&self, name: Name) -> &str {
        &self.list[name.0 as usize]
    }

    /// Does some text use that word?
    pub(crate) fn has(&self, word: &str) -> bool {
        self.list.iter().any(|known| known == word)
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Does any of the files use that name?
    pub(crate) fn contains(&self, word: &str) -> bool {
        self.list.iter().any(|known| known == word)
    }
}

/// What a file holds.
pub(super) struct Parsed {
    /// The title.
    pub(super) title: Option<String>,
    /// Words beside the title: the architecture, options.
    pub(super) options: Vec<String>,
    pub(super) steps: Vec<Step>,
}

/// Reads a model or a `.bell` file.
pub(super) fn parse(text: &str, names: &mut Names) -> Result<Parsed, TextError> {
    let mut parser = Parser { tokens: lex(text)?, at: 0, names, depth: 0 };
    let (title, options) = parser.title();
    let mut steps = Vec::new();
    while *parser.peek() != Kind::End {
        steps.extend(parser.step()?);
    }
    Ok(Parsed { title, options, steps })
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

    pub(super) fn deeper(&mut self) -> Result<(), TextError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.expected("a model that is not nested so deeply"));
        }
        Ok(())
    }

    /// A title is a text, or words on their own at the top. A word in front of
    /// a text or of another word names the architecture.
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

    /// A step, or nothing for one without meaning here.
    pub(super) fn step(&mut self) -> Result<Option<Step>, TextError> {
        self.deeper()?;
        let step = self.step_inner()?;
        self.depth -= 1;
        Ok(step)
    }

    pub(super) fn step_inner(&mut self) -> Result<Option<Step>, TextError> {
        let place = self.place();
        // A flag is raised where its check holds, the others where theirs fails.
        let undefined = self.eat_word("undefined_unless");
        let unless = undefined || self.eat_word("assert");
        let flag = unless || self.eat_word("flag");
        if let Some(mut check) = self.check(place, flag)? {
            check.negated ^= unless;
            check.undefined = undefined;
            return Ok(Some(Step::Check(check)));
        }
        if flag {
            return Err(self.expected("`acyclic`, `irreflexive` or `empty`"));
        }
        let Kind::Word(word) = self.peek().clone() else { return Err(self.expected(STEPS)) };
        self.advance();
        let step = match word.as_str() {
            "let" => self.definition(place)?,
            "include" => {
                let Kind::Text(file) = self.peek().clone() else {
                    return Err(self.expected("a file's name in quotes"));
                };
                self.advance();
                Step::Include(place, file)
            }
            "show" | "unshow" => {
                self.show()?;
                return Ok(None);
            }
            "debug" => {
                self.expr()?;
                return Ok(None);
            }
            "procedure" => self.procedure()?,
            "call" => {
                let name = self.name("a procedure's name")?;
                let argument = self.atom()?;
                if self.eat_word("as") {
                    self.word("a name")?;
                }
                Step::Call(place, name, argument)
            }
            "forall" => {
                let name = self.name("a name")?;
                self.expect_word("in")?;
                let set = self.expr()?;
                self.expect_word("do")?;
                Step::ForAll(place, name, set, self.steps_until_end()?)
            }
            "with" => {
                let name = self.name("a name")?;
                self.expect_word("from")?;
                Step::With(place, name, self.expr()?)
            }
            "enum" => self.enumeration()?,
            "instructions" | "default" => self.instructions(place)?,
            // Declarations without a meaning of their own.
            "catdep" => return Ok(None),
            "events" | "relations" | "order" => {
                self.skip_declaration();
                return Ok(None);
            }
            "if" => self.conditional_steps()?,
            "match" => self.matching_steps()?,
            _ => {
                self.at -= 1;
                return Err(self.expected(STEPS));
            }
        };
        Ok(Some(step))
    }

    /// `let ...`, with herd's idle `in` behind it, or `when` and a check.
    fn definition(&mut self, place: Place) -> Result<Step, TextError> {
        let bindings = self.bindings()?;
        if !self.eat_word("when") {
            self.eat_word("in");
            return Ok(Step::Let(bindings));
        }
        match self.check(place, false)? {
            Some(check) => {
                self.eat_word("in");
                Ok(Step::Steps(vec![Step::Let(bindings), Step::Check(check)]))
            }
            None => Err(self.expected("`acyclic`, `irreflexive` or `empty`")),
        }
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

    pub(super) fn steps_until_end(&mut self) -> Result<Vec<Step>, TextError> {
        let mut steps = Vec::new();
        while !self.eat_word("end") {
            if *self.peek() == Kind::End {
                return Err(self.expected("`end`"));
            }
            steps.extend(self.step()?);
        }
        Ok(steps)
    }

    /// `if c [then] ... [else ...] end`
    pub(super) fn conditional_steps(&mut self) -> Result<Step, TextError> {
        let condition = self.condition()?;
        self.eat_word("then");
        let mut then = Vec::new();
        let mut other = Vec::new();
        let mut in_else = false;
        while !self.eat_word("end") {
            if !in_else && self.eat_word("else") {
                in_else = true;
            } else if *self.peek() == Kind::End {
                return Err(self.expected("`end`"));
            } else if in_else {
                other.extend(self.step()?);
            } else {
                then.extend(self.step()?);
            }
        }
        Ok(Step::If(condition, then, other))
    }

    /// `match e with || 'tag -> ... || _ -> ... end`
    fn matching_steps(&mut self) -> Result<Step, TextError> {
        let subject = self.expr()?;
        self.expect_word("with")?;
        self.eat("||");
        let mut arms = Vec::new();
        loop {
            let tag = match self.peek().clone() {
                Kind::Tag(tag) => Some(tag),
                Kind::Word(word) if word == "_" => None,
                _ => return Err(self.expected("a tag such as `'release`, or `_`")),
            };
            self.advance();
            self.expect("->")?;
            let mut steps = Vec::new();
            while !self.is("||") && !self.is_word("end") {
                if *self.peek() == Kind::End {
                    return Err(self.expected("`||` or `end`"));
                }
                steps.extend(self.step()?);
            }
            arms.push((tag, steps));
            if !self.eat("||") {
                self.expect_word("end")?;
                return Ok(Step::Match(subject, arms));
            }
        }
    }

    pub(super) fn check(&mut self, place: Place, flag: bool) -> Result<Option<Check>, TextError> {
        let negated = self.is("~");
        let kind = match self.peek_at(usize::from(negated)) {
            Kind::Word(word) => match word.as_str() {
                "acyclic" => CheckKind::Acyclic,
                "irreflexive" => CheckKind::Irreflexive,
                "empty" => CheckKind::Empty,
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        if negated {
            self.advance();
        }
        self.advance();
        let expr = self.expr()?;
        let name = if self.eat_word("as") { Some(self.word("a name for the check")?) } else { None };
        Ok(Some(Check { place, kind, negated, flag, undefined: false, expr, name }))
    }

    /// `show a, b`, `show e as name`: nothing is shown.
    pub(super) fn show(&mut self) -> Result<(), TextError> {
        loop {
            self.infix(0)?;
            if self.eat_word("as") {
                self.word("a name")?;
            }
            if !self.eat(",") {
                return Ok(());
            }
        }
    }

    pub(super) fn procedure(&mut self) -> Result<Step, TextError> {
        self.eat_word("rec");
        let name = self.name("a procedure's name")?;
        let pattern = self.pattern()?;
        self.expect("=")?;
        Ok(Step::Procedure(name, pattern, self.steps_until_end()?))
    }

    pub(super) fn enumeration(&mut self) -> Result<Step, TextError> {
        let name = self.name("the enumeration's name")?;
        self.expect("=")?;
        let mut tags = Vec::new();
        self.eat("||");
        loop {
            match self.peek().clone() {
                Kind::Tag(tag) => tags.push(tag),
                _ => return Err(self.expected("a tag such as `'relaxed`")),
            }
            self.advance();
            if !self.eat("||") {
                return Ok(Step::Enum(name, tags));
            }
        }
    }

    /// `instructions R[{'relaxed, 'acquire}]`: which annotations a test may
    /// use.
    fn instructions(&mut self, place: Place) -> Result<Step, TextError> {
        let kind = self.word("a kind of instruction such as `R`, `W` or `F`")?;
        self.expect("[")?;
        let sets = self.list("]")?;
        Ok(Step::Instructions(place, kind, sets))
    }

    fn skip_declaration(&mut self) {
        loop {
            match self.peek() {
                Kind::End => return,
                Kind::Word(word) if KEYWORDS.contains(&word.as_str()) => return,
                _ => self.advance(),
            }
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
