//! Parses statements: definitions, checks, procedures, and conditional statements.

use crate::cat::ast::{Check, CheckKind, Statement};
use crate::cat::lexer::Kind;
use crate::parse::{Place, TextError};

use super::{KEYWORDS, Parser};

/// The words that may begin a statement, for error messages.
const STATEMENTS: &str = "`let`, `acyclic`, `irreflexive`, `empty`, `flag` or another statement";

impl Parser<'_> {
    /// Reads a statement. Returns `None` for a statement without an effect.
    pub(super) fn statement(&mut self) -> Result<Option<Statement>, TextError> {
        self.enter()?;
        let statement = self.statement_inner()?;
        self.depth -= 1;
        Ok(statement)
    }

    pub(super) fn statement_inner(&mut self) -> Result<Option<Statement>, TextError> {
        let place = self.place();
        // A flag is raised if its check holds. `assert` and `undefined_unless` are
        // raised if the check fails.
        let undefined = self.eat_word("undefined_unless");
        let unless = undefined || self.eat_word("assert");
        let flag = unless || self.eat_word("flag");
        if let Some(mut check) = self.check(place, flag)? {
            check.negated ^= unless;
            check.undefined = undefined;
            return Ok(Some(Statement::Check(check)));
        }
        if flag {
            return Err(self.expected("`acyclic`, `irreflexive` or `empty`"));
        }
        let Kind::Word(word) = self.peek().clone() else { return Err(self.expected(STATEMENTS)) };
        self.advance();
        let statement = match word.as_str() {
            "let" => self.definition(place)?,
            "include" => {
                let Kind::Text(file) = self.peek().clone() else {
                    return Err(self.expected("a file's name in quotes"));
                };
                self.advance();
                Statement::Include(place, file)
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
                Statement::Call(place, name, argument)
            }
            "forall" => {
                let name = self.name("a name")?;
                self.expect_word("in")?;
                let set = self.expr()?;
                self.expect_word("do")?;
                Statement::ForAll(place, name, set, self.statements_until_end()?)
            }
            "with" => {
                let name = self.name("a name")?;
                self.expect_word("from")?;
                Statement::With(place, name, self.expr()?)
            }
            "enum" => self.enumeration()?,
            "instructions" | "default" => self.instructions(place)?,
            // These declarations are accepted and ignored.
            "catdep" => return Ok(None),
            "events" | "relations" | "order" => {
                self.skip_declaration();
                return Ok(None);
            }
            "if" => self.conditional_statements()?,
            "match" => self.matching_statements()?,
            _ => {
                self.at -= 1;
                return Err(self.expected(STATEMENTS));
            }
        };
        Ok(Some(statement))
    }

    /// Reads the rest of a `let` statement: the definitions, an optional `when` with a check, and
    /// an optional word `in` at the end. Herd accepts this `in`, so some of its models have it.
    fn definition(&mut self, place: Place) -> Result<Statement, TextError> {
        let bindings = self.bindings()?;
        if !self.eat_word("when") {
            self.eat_word("in");
            return Ok(Statement::Let(bindings));
        }
        match self.check(place, false)? {
            Some(check) => {
                self.eat_word("in");
                Ok(Statement::Block(vec![Statement::Let(bindings), Statement::Check(check)]))
            }
            None => Err(self.expected("`acyclic`, `irreflexive` or `empty`")),
        }
    }

    pub(super) fn statements_until_end(&mut self) -> Result<Vec<Statement>, TextError> {
        let mut statements = Vec::new();
        while !self.eat_word("end") {
            if *self.peek() == Kind::End {
                return Err(self.expected("`end`"));
            }
            statements.extend(self.statement()?);
        }
        Ok(statements)
    }

    /// Reads `if c [then] ... [else ...] end`.
    pub(super) fn conditional_statements(&mut self) -> Result<Statement, TextError> {
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
                other.extend(self.statement()?);
            } else {
                then.extend(self.statement()?);
            }
        }
        Ok(Statement::If(condition, then, other))
    }

    /// Reads `match e with || 'tag -> ... || _ -> ... end`.
    fn matching_statements(&mut self) -> Result<Statement, TextError> {
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
            let mut statements = Vec::new();
            while !self.is("||") && !self.is_word("end") {
                if *self.peek() == Kind::End {
                    return Err(self.expected("`||` or `end`"));
                }
                statements.extend(self.statement()?);
            }
            arms.push((tag, statements));
            if !self.eat("||") {
                self.expect_word("end")?;
                return Ok(Statement::Match(subject, arms));
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

    /// Reads `show a, b` or `show e as name`, which has no effect.
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

    pub(super) fn procedure(&mut self) -> Result<Statement, TextError> {
        self.eat_word("rec");
        let name = self.name("a procedure's name")?;
        let pattern = self.pattern()?;
        self.expect("=")?;
        Ok(Statement::Procedure(name, pattern, self.statements_until_end()?))
    }

    pub(super) fn enumeration(&mut self) -> Result<Statement, TextError> {
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
                return Ok(Statement::Enum(name, tags));
            }
        }
    }

    /// Reads `instructions R[{'relaxed, 'acquire}]`: the annotations that a test may
    /// use.
    fn instructions(&mut self, place: Place) -> Result<Statement, TextError> {
        let kind = self.word("a kind of instruction such as `R`, `W` or `F`")?;
        self.expect("[")?;
        let sets = self.list("]")?;
        Ok(Statement::Instructions(place, kind, sets))
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
}
