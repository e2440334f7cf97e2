//! Parses expressions and conditions.

use crate::parse::{Place, TextError};

use super::super::ast::{Arm, Comparison, Condition, Expr, Infix, Node, Prefix};
use super::super::lexer::Kind;
use super::{DEPTH_MAX, KEYWORDS, Parser};

impl Parser<'_> {
    pub(super) fn condition(&mut self) -> Result<Condition, TextError> {
        self.enter()?;
        let mut left = self.condition_and()?;
        while self.eat("||") || self.eat("|") {
            let right = self.condition_and()?;
            left = Condition::Or(Box::new(left), Box::new(right));
        }
        self.depth -= 1;
        Ok(left)
    }

    pub(super) fn condition_and(&mut self) -> Result<Condition, TextError> {
        let mut left = self.condition_atom()?;
        while self.eat("&&") || self.eat("&") {
            let right = self.condition_atom()?;
            left = Condition::And(Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    pub(super) fn condition_atom(&mut self) -> Result<Condition, TextError> {
        if self.is_variant_condition() {
            if self.eat("~") || self.eat_word("not") {
                self.enter()?;
                let inner = self.condition_atom()?;
                self.depth -= 1;
                return Ok(Condition::Not(Box::new(inner)));
            }
            if self.eat("(") {
                let inner = self.condition()?;
                self.expect(")")?;
                return Ok(inner);
            }
        }
        let named = matches!(self.peek_at(1), Kind::Text(_)) && self.eat_word("variant");
        match self.peek().clone() {
            Kind::Text(variant) => {
                self.advance();
                return Ok(Condition::Variant(variant));
            }
            _ if named => return Err(self.expected("a variant's name in quotes")),
            _ => {}
        }
        if self.eat_word("not") {
            self.enter()?;
            let inner = self.condition_atom()?;
            self.depth -= 1;
            return Ok(Condition::Not(Box::new(inner)));
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

    /// Whether the next tokens are a condition on a variant of the model. Such a condition is a
    /// quoted text. The marks `~` and `(` and the words `not` and `variant` may come before it.
    fn is_variant_condition(&self) -> bool {
        let mut ahead = 0;
        loop {
            match self.peek_at(ahead) {
                Kind::Mark("~" | "(") => ahead += 1,
                Kind::Word(word) if word == "not" || word == "variant" => ahead += 1,
                Kind::Text(_) => return true,
                _ => return false,
            }
        }
    }

    /// Reads an expression. Commas make a tuple.
    pub(super) fn expr(&mut self) -> Result<Expr, TextError> {
        let place = self.place();
        let first = self.single()?;
        if !self.is(",") {
            return Ok(first);
        }
        let mut members = vec![first];
        while self.eat(",") {
            members.push(self.single()?);
        }
        Ok(Self::make(place, Node::Tuple(members)))
    }

    /// Reads an expression without commas at its top level.
    fn single(&mut self) -> Result<Expr, TextError> {
        self.enter()?;
        let expr = self.expr_inner()?;
        self.depth -= 1;
        Ok(expr)
    }

    pub(super) fn make(place: Place, node: Node) -> Expr {
        Expr { place, node: Box::new(node) }
    }

    pub(super) fn expr_inner(&mut self) -> Result<Expr, TextError> {
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

    pub(super) fn matching(&mut self, place: Place) -> Result<Expr, TextError> {
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

    pub(super) fn arm(&mut self) -> Result<Arm, TextError> {
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
        if self.eat("|") {
            let middle = self.pattern_name()?;
            self.expect("++")?;
            let after = self.pattern_name()?;
            self.expect("->")?;
            return Ok(Arm::Split([first, middle, after], self.expr()?));
        }
        if self.eat("++") {
            let rest = self.pattern_name()?;
            self.expect("->")?;
            return Ok(Arm::Cons(first, rest, self.expr()?));
        }
        self.expect("->")?;
        Ok(Arm::Any(first, self.expr()?))
    }

    /// Reads a chain of operands that are joined by the binary operator of precedence level
    /// `level`. The operator of level 0, `|`, binds loosest.
    pub(super) fn infix(&mut self, level: usize) -> Result<Expr, TextError> {
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
            // An operand that begins with a keyword, such as `let ... in`, ends the
            // chain.
            let open = matches!(self.peek(), Kind::Word(w)
                if matches!(w.as_str(), "let" | "fun" | "if" | "try" | "match"));
            operands.push(if open { self.expr()? } else { self.infix(level + 1)? });
        }
        let join = |a: Expr, b: Expr| Self::make(a.place, Node::Infix(op, a, b));
        // Associative operators fold into balanced trees, so that a long chain is not a
        // deep tree.
        Ok(if left_associative {
            fold_left(operands, join)
        } else if op == Infix::Add {
            fold_right(operands, join)
        } else {
            fold_balanced(operands, &join)
        })
    }

    pub(super) fn prefix(&mut self) -> Result<Expr, TextError> {
        let place = self.place();
        if self.eat("~") {
            self.enter()?;
            let inner = self.prefix()?;
            self.depth -= 1;
            return Ok(Self::make(place, Node::Prefix(Prefix::Complement, inner)));
        }
        self.postfix()
    }

    pub(super) fn postfix(&mut self) -> Result<Expr, TextError> {
        let mut expr = self.application()?;
        let mut count = 0;
        loop {
            let op = match self.peek() {
                Kind::Mark("+" | "^+") => Prefix::Plus,
                Kind::Mark("?" | "^?") => Prefix::Optional,
                Kind::Mark("^-1") => Prefix::Inverse,
                Kind::Mark("^") if *self.peek_at(1) == Kind::Mark("-1") => {
                    self.advance();
                    Prefix::Inverse
                }
                Kind::Mark("^*") => Prefix::Star,
                // A star is the operator of a product if an operand follows, otherwise it is a
                // reflexive transitive closure.
                Kind::Mark("*") if !self.operand_follows() => Prefix::Star,
                _ => return Ok(expr),
            };
            self.advance();
            count += 1;
            if count > DEPTH_MAX {
                return Err(self.expected("fewer consecutive operators"));
            }
            expr = Self::make(expr.place, Node::Prefix(op, expr));
        }
    }

    pub(super) fn starts_operand(kind: &Kind) -> bool {
        match kind {
            Kind::Word(word) => !KEYWORDS.contains(&word.as_str()),
            Kind::Tag(_) => true,
            Kind::Mark(mark) => matches!(*mark, "(" | "[" | "{" | "~"),
            Kind::Text(_) | Kind::End => false,
        }
    }

    pub(super) fn operand_follows(&self) -> bool {
        Self::starts_operand(self.peek_at(1))
    }

    pub(super) fn application(&mut self) -> Result<Expr, TextError> {
        let mut expr = self.atom()?;
        let mut count = 0;
        // The application of a function, `f x` or `f(x, y)`. A square bracket after a name does not
        // begin an argument.
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

    pub(super) fn atom(&mut self) -> Result<Expr, TextError> {
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

    pub(super) fn list(&mut self, close: &str) -> Result<Vec<Expr>, TextError> {
        let mut members = Vec::new();
        while !self.eat(close) {
            members.push(self.single()?);
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
