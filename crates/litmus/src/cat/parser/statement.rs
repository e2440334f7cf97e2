//! Steps: definitions, checks, procedures, and what chooses among steps.

use crate::cat::ast::{Check, CheckKind, Step};
use crate::cat::lexer::Kind;
use crate::parse::{Place, TextError};

use super::{KEYWORDS, Parser};

/// What may stand where a step begins.
const STEPS: &str = "`let`, `acyclic`, `irreflexive`, `empty`, `flag` or another step";

impl Parser<'_> {
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
}
