//! From text to steps: the grammar of herd's models.
//!
//! Operators from loosest to tightest: `|`, `++`, `;`, `\`, `&`, `*` (a
//! product), then `~` in front and `+ * ? ^-1` behind, then application.

use crate::parse::{Place, TextError};

use super::ast::{
    Arm, Binding, Bindings, Check, CheckKind, Comparison, Condition, Expr, Infix, Name, Node, Pattern,
    Prefix, Step,
};
use super::lexer::{Kind, Token, lex};

/// How deeply a model may be nested.
const DEPTH_MAX: usize = 120;

/// Words that name nothing.
const KEYWORDS: [&str; 38] = [
    "let",
    "rec",
    "and",
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
    "not",
    "variant",
    "begin",
    "catdep",
    "events",
    "relations",
    "order",
];

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

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }
}

/// What a file holds.
pub(super) struct Parsed {
    /// The title, and words behind it.
    pub(super) title: Option<String>,
    pub(super) options: Vec<String>,
    pub(super) steps: Vec<Item>,
}

/// A step, or a file to be put in its place.
pub(super) enum Item {
    Step(Step),
    Include(Place, String),
}

/// Reads a model or a `.bell` file.
pub(super) fn parse(text: &str, names: &mut Names) -> Result<Parsed, TextError> {
    let mut parser = Parser { tokens: lex(text)?, at: 0, names, depth: 0 };
    let (title, options) = parser.title();
    let mut steps = Vec::new();
    while *parser.peek() != Kind::End {
        parser.item(&mut steps)?;
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
    fn peek(&self) -> &Kind {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> &Kind {
        self.tokens.get(self.at + ahead).map_or(&Kind::End, |t| &t.kind)
    }

    fn place(&self) -> Place {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(Place::default(), |t| t.place)
    }

    fn advance(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    fn expected(&self, expected: impl Into<String>) -> TextError {
        TextError::expected(self.place(), self.peek().shown(), expected)
    }

    fn is(&self, mark: &str) -> bool {
        matches!(self.peek(), Kind::Mark(m) if *m == mark)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Kind::Word(w) if w == word)
    }

    fn eat(&mut self, mark: &str) -> bool {
        let here = self.is(mark);
        if here {
            self.advance();
        }
        here
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let here = self.is_word(word);
        if here {
            self.advance();
        }
        here
    }

    fn expect(&mut self, mark: &str) -> Result<(), TextError> {
        if self.eat(mark) { Ok(()) } else { Err(self.expected(format!("`{mark}`"))) }
    }

    fn expect_word(&mut self, word: &str) -> Result<(), TextError> {
        if self.eat_word(word) { Ok(()) } else { Err(self.expected(format!("`{word}`"))) }
    }

    fn name(&mut self, what: &str) -> Result<Name, TextError> {
        match self.peek() {
            Kind::Word(word) if !KEYWORDS.contains(&word.as_str()) && word != "0" => {
                let name = self.names.intern(&word.clone());
                self.advance();
                Ok(name)
            }
            _ => Err(self.expected(what)),
        }
    }

    fn deeper(&mut self) -> Result<(), TextError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.expected("a model that is not nested so deeply"));
        }
        Ok(())
    }

    /// A title is a text, or a word that opens no step, on its own at the top.
    fn title(&mut self) -> (Option<String>, Vec<String>) {
        let title = match self.peek() {
            Kind::Text(text) => text.clone(),
            Kind::Word(word) if !KEYWORDS.contains(&word.as_str()) => word.clone(),
            _ => return (None, Vec::new()),
        };
        self.advance();
        let mut options = Vec::new();
        while let Kind::Word(word) = self.peek() {
            if KEYWORDS.contains(&word.as_str()) {
                break;
            }
            options.push(word.clone());
            self.advance();
        }
        (Some(title), options)
    }

    fn item(&mut self, steps: &mut Vec<Item>) -> Result<(), TextError> {
        let place = self.place();
        if self.eat_word("include") {
            let Kind::Text(file) = self.peek().clone() else {
                return Err(self.expected("a file's name in quotes"));
            };
            self.advance();
            steps.push(Item::Include(place, file));
            return Ok(());
        }
        if let Some(step) = self.step()? {
            steps.push(Item::Step(step));
        }
        Ok(())
    }

    /// A step, or nothing for one without meaning here.
    fn step(&mut self) -> Result<Option<Step>, TextError> {
        self.deeper()?;
        let step = self.step_inner()?;
        self.depth -= 1;
        Ok(step)
    }

    fn step_inner(&mut self) -> Result<Option<Step>, TextError> {
        let place = self.place();
        let flag = self.eat_word("flag") || self.eat_word("undefined_unless") || self.eat_word("assert");
        if let Some(check) = self.check(place, flag)? {
            return Ok(Some(Step::Check(check)));
        }
        if flag {
            return Err(self.expected("`acyclic`, `irreflexive` or `empty`"));
        }
        let Kind::Word(word) = self.peek().clone() else {
            return Err(self.expected("`let`, `acyclic`, `irreflexive`, `empty`, `flag` or another step"));
        };
        match word.as_str() {
            "let" => {
                self.advance();
                Ok(Some(Step::Let(self.bindings()?)))
            }
            "show" | "unshow" => {
                self.show()?;
                Ok(None)
            }
            "procedure" => self.procedure().map(Some),
            "call" => {
                self.advance();
                let name = self.name("a procedure's name")?;
                let argument = self.atom()?;
                if self.eat_word("as") {
                    self.word("a name")?;
                }
                Ok(Some(Step::Call(place, name, argument)))
            }
            "forall" => {
                self.advance();
                let name = self.name("a name")?;
                self.expect_word("in")?;
                let set = self.expr()?;
                self.expect_word("do")?;
                Ok(Some(Step::ForAll(place, name, set, self.steps_until_end()?)))
            }
            "with" => {
                self.advance();
                let name = self.name("a name")?;
                self.expect_word("from")?;
                Ok(Some(Step::With(place, name, self.expr()?)))
            }
            "enum" => self.enumeration().map(Some),
            "instructions" | "default" | "events" | "relations" | "order" => {
                self.skip_declaration();
                Ok(None)
            }
            "catdep" => {
                self.advance();
                Ok(None)
            }
            "if" => self.conditional_steps().map(Some),
            _ => Err(self.expected("`let`, `acyclic`, `irreflexive`, `empty`, `flag` or another step")),
        }
    }

    fn word(&mut self, what: &str) -> Result<String, TextError> {
        match self.peek().clone() {
            Kind::Word(word) => {
                self.advance();
                Ok(word)
            }
            _ => Err(self.expected(what)),
        }
    }

    fn steps_until_end(&mut self) -> Result<Vec<Step>, TextError> {
        let mut steps = Vec::new();
        while !self.eat_word("end") {
            if *self.peek() == Kind::End {
                return Err(self.expected("`end`"));
            }
            steps.extend(self.step()?);
        }
        Ok(steps)
    }

    fn conditional_steps(&mut self) -> Result<Step, TextError> {
        self.advance();
        let condition = self.condition()?;
        self.expect_word("then")?;
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

    fn check(&mut self, place: Place, flag: bool) -> Result<Option<Check>, TextError> {
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
        Ok(Some(Check { place, kind, negated, flag, expr, name }))
    }

    /// `show a, b`, `show e as name`: nothing is shown.
    fn show(&mut self) -> Result<(), TextError> {
        self.advance();
        loop {
            self.expr()?;
            if self.eat_word("as") {
                self.word("a name")?;
            }
            if !self.eat(",") {
                return Ok(());
            }
        }
    }

    fn procedure(&mut self) -> Result<Step, TextError> {
        self.advance();
        let name = self.name("a procedure's name")?;
        let pattern = self.pattern()?;
        self.expect("=")?;
        Ok(Step::Procedure(name, pattern, self.steps_until_end()?))
    }

    fn enumeration(&mut self) -> Result<Step, TextError> {
        self.advance();
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
    /// use. The test's own format decides that here.
    fn skip_declaration(&mut self) {
        self.advance();
        loop {
            match self.peek() {
                Kind::End => return,
                Kind::Word(word) if KEYWORDS.contains(&word.as_str()) => return,
                _ => self.advance(),
            }
        }
    }

    fn bindings(&mut self) -> Result<Bindings, TextError> {
        let recursive = self.eat_word("rec");
        let mut list = vec![self.binding()?];
        while self.eat_word("and") {
            list.push(self.binding()?);
        }
        Ok(Bindings { recursive, list })
    }

    fn binding(&mut self) -> Result<Binding, TextError> {
        let place = self.place();
        let pattern = self.pattern()?;
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

    fn pattern_name(&mut self) -> Result<Option<Name>, TextError> {
        if self.eat_word("_") { Ok(None) } else { self.name("a name").map(Some) }
    }

    fn pattern(&mut self) -> Result<Pattern, TextError> {
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

    fn condition(&mut self) -> Result<Condition, TextError> {
        self.deeper()?;
        let mut left = self.condition_and()?;
        while self.eat("||") {
            let right = self.condition_and()?;
            left = Condition::Or(Box::new(left), Box::new(right));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn condition_and(&mut self) -> Result<Condition, TextError> {
        let mut left = self.condition_atom()?;
        while self.eat("&&") {
            let right = self.condition_atom()?;
            left = Condition::And(Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn condition_atom(&mut self) -> Result<Condition, TextError> {
        if self.eat_word("not") || (self.is("~") && matches!(self.peek_at(1), Kind::Text(_))) {
            self.eat("~");
            self.deeper()?;
            let inner = self.condition_atom()?;
            self.depth -= 1;
            return Ok(Condition::Not(Box::new(inner)));
        }
        let named = self.eat_word("variant");
        match self.peek().clone() {
            Kind::Text(variant) => {
                self.advance();
                return Ok(Condition::Variant(variant));
            }
            _ if named => return Err(self.expected("a variant's name in quotes")),
            _ => {}
        }
        let left = self.expr()?;
        let comparison = if self.eat("=") {
            Comparison::Equal
        } else if self.eat_word("subset") {
            Comparison::Subset
        } else if self.eat_word("in") {
            Comparison::Member
        } else {
            return Err(self.expected("`=`, `subset` or `in`"));
        };
        Ok(Condition::Compare(comparison, left, self.expr()?))
    }

    /// Any expression.
    fn expr(&mut self) -> Result<Expr, TextError> {
        self.deeper()?;
        let expr = self.expr_inner()?;
        self.depth -= 1;
        Ok(expr)
    }

    fn make(place: Place, node: Node) -> Expr {
        Expr { place, node: Box::new(node) }
    }

    fn expr_inner(&mut self) -> Result<Expr, TextError> {
        let place = self.place();
        if self.eat_word("let") {
            let bindings = self.bindings()?;
            self.expect_word("in")?;
            return Ok(Self::make(place, Node::Let(bindings, self.expr()?)));
        }
        if self.eat_word("fun") {
            let pattern = self.pattern()?;
            self.expect("->")?;
            return Ok(Self::make(place, Node::Function(pattern, self.expr()?)));
        }
        if self.eat_word("if") {
            let condition = self.condition()?;
            self.expect_word("then")?;
            let then = self.expr()?;
            self.expect_word("else")?;
            return Ok(Self::make(place, Node::If(condition, then, self.expr()?)));
        }
        if self.eat_word("try") {
            let first = self.expr()?;
            self.expect_word("with")?;
            return Ok(Self::make(place, Node::Try(first, self.expr()?)));
        }
        if self.eat_word("match") {
            return self.matching(place);
        }
        self.infix(0)
    }

    fn matching(&mut self, place: Place) -> Result<Expr, TextError> {
        let subject = self.expr()?;
        self.expect_word("with")?;
        self.eat("||");
        let mut arms = Vec::new();
        loop {
            arms.push(self.arm()?);
            if self.eat_word("end") {
                return Ok(Self::make(place, Node::Match(subject, arms)));
            }
            if !self.eat("||") {
                return Err(self.expected("`||` or `end`"));
            }
        }
    }

    fn arm(&mut self) -> Result<Arm, TextError> {
        if let Kind::Tag(tag) = self.peek().clone() {
            self.advance();
            self.expect("->")?;
            return Ok(Arm::Tag(tag, self.expr()?));
        }
        if self.eat("{") {
            self.expect("}")?;
            self.expect("->")?;
            return Ok(Arm::Empty(self.expr()?));
        }
        let first = self.pattern_name()?;
        if self.eat("++") {
            let rest = self.pattern_name()?;
            self.expect("->")?;
            return Ok(Arm::Cons(first, rest, self.expr()?));
        }
        self.expect("->")?;
        Ok(Arm::Any(first, self.expr()?))
    }

    /// The operators of two operands, loosest first.
    fn infix(&mut self, level: usize) -> Result<Expr, TextError> {
        const LEVELS: [(&str, Infix, bool); 6] = [
            ("|", Infix::Union, false),
            ("++", Infix::Add, false),
            (";", Infix::Sequence, false),
            ("\\", Infix::Minus, true),
            ("&", Infix::Intersection, false),
            ("*", Infix::Product, false),
        ];
        let Some(&(mark, op, left_associative)) = LEVELS.get(level) else { return self.prefix() };
        let mut operands = vec![self.infix(level + 1)?];
        while self.is(mark) {
            self.advance();
            // A prefix construct such as `let ... in` may end a chain.
            let open = matches!(self.peek(), Kind::Word(w)
                if matches!(w.as_str(), "let" | "fun" | "if" | "try" | "match"));
            operands.push(if open { self.expr()? } else { self.infix(level + 1)? });
        }
        let join = |a: Expr, b: Expr| Self::make(a.place, Node::Infix(op, a, b));
        // Chains fold into balanced trees where order does not matter, so
        // that a long chain is not a deep tree.
        Ok(if left_associative {
            fold_left(operands, join)
        } else if op == Infix::Add {
            fold_right(operands, join)
        } else {
            fold_balanced(operands, &join)
        })
    }

    fn prefix(&mut self) -> Result<Expr, TextError> {
        let place = self.place();
        if self.eat("~") {
            self.deeper()?;
            let inner = self.prefix()?;
            self.depth -= 1;
            return Ok(Self::make(place, Node::Prefix(Prefix::Complement, inner)));
        }
        self.postfix()
    }

    fn postfix(&mut self) -> Result<Expr, TextError> {
        let mut expr = self.application()?;
        let mut count = 0;
        loop {
            let op = match self.peek() {
                Kind::Mark("+" | "^+") => Prefix::Plus,
                Kind::Mark("?" | "^?") => Prefix::Optional,
                Kind::Mark("^-1") => Prefix::Inverse,
                Kind::Mark("^*") => Prefix::Star,
                // A star in front of an operand is a product.
                Kind::Mark("*") if !self.operand_follows() => Prefix::Star,
                _ => return Ok(expr),
            };
            self.advance();
            count += 1;
            if count > DEPTH_MAX {
                return Err(self.expected("fewer operators behind one another"));
            }
            expr = Self::make(expr.place, Node::Prefix(op, expr));
        }
    }

    fn starts_operand(kind: &Kind) -> bool {
        match kind {
            Kind::Word(word) => !KEYWORDS.contains(&word.as_str()),
            Kind::Tag(_) => true,
            Kind::Mark(mark) => matches!(*mark, "(" | "[" | "{" | "~"),
            Kind::Text(_) | Kind::End => false,
        }
    }

    fn operand_follows(&self) -> bool {
        Self::starts_operand(self.peek_at(1))
    }

    fn application(&mut self) -> Result<Expr, TextError> {
        let mut expr = self.atom()?;
        let mut count = 0;
        // `f x`, `f(x, y)`. A bracket after a name is not an argument.
        while matches!(*expr.node, Node::Name(_) | Node::Apply(..))
            && Self::starts_operand(self.peek())
            && !self.is("[")
            && !self.is("~")
        {
            let argument = self.atom()?;
            count += 1;
            if count > DEPTH_MAX {
                return Err(self.expected("fewer arguments"));
            }
            expr = Self::make(expr.place, Node::Apply(expr, argument));
        }
        Ok(expr)
    }

    fn atom(&mut self) -> Result<Expr, TextError> {
        let place = self.place();
        match self.peek().clone() {
            Kind::Word(word) if word == "0" => {
                self.advance();
                Ok(Self::make(place, Node::Nothing))
            }
            Kind::Word(word) if word == "_" => {
                self.advance();
                Ok(Self::make(place, Node::Everything))
            }
            Kind::Word(word) if word == "begin" => {
                self.advance();
                let inner = self.expr()?;
                self.expect_word("end")?;
                Ok(inner)
            }
            Kind::Word(_) => {
                let name = self.name("an expression")?;
                Ok(Self::make(place, Node::Name(name)))
            }
            Kind::Tag(tag) => {
                self.advance();
                Ok(Self::make(place, Node::Tag(tag)))
            }
            Kind::Mark("[") => {
                self.advance();
                let inner = self.expr()?;
                self.expect("]")?;
                Ok(Self::make(place, Node::Prefix(Prefix::Identity, inner)))
            }
            Kind::Mark("{") => {
                self.advance();
                let members = self.list("}")?;
                Ok(Self::make(place, if members.is_empty() { Node::Nothing } else { Node::Set(members) }))
            }
            Kind::Mark("(") => {
                self.advance();
                let mut members = self.list(")")?;
                Ok(if members.len() == 1 {
                    members.remove(0)
                } else {
                    Self::make(place, Node::Tuple(members))
                })
            }
            _ => Err(self.expected("an expression")),
        }
    }

    fn list(&mut self, close: &str) -> Result<Vec<Expr>, TextError> {
        let mut members = Vec::new();
        while !self.eat(close) {
            members.push(self.expr()?);
            if !self.is(close) {
                if !self.eat(",") {
                    return Err(self.expected(format!("`,` or `{close}`")));
                }
                if self.is(close) {
                    return Err(self.expected("an expression"));
                }
            }
        }
        Ok(members)
    }
}

fn fold_left(operands: Vec<Expr>, join: impl Fn(Expr, Expr) -> Expr) -> Expr {
    let mut operands = operands.into_iter();
    let first = operands.next().expect("a chain has operands");
    operands.fold(first, join)
}

fn fold_right(mut operands: Vec<Expr>, join: impl Fn(Expr, Expr) -> Expr) -> Expr {
    let last = operands.pop().expect("a chain has operands");
    operands.into_iter().rfold(last, |right, left| join(left, right))
}

fn fold_balanced(mut operands: Vec<Expr>, join: &impl Fn(Expr, Expr) -> Expr) -> Expr {
    if operands.len() == 1 {
        return operands.remove(0);
    }
    let right = operands.split_off(operands.len().div_ceil(2));
    join(fold_balanced(operands, join), fold_balanced(right, join))
}
