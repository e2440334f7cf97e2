//! Parses C expressions.

use crate::program::{Access, BinaryOp, Expr, Instr, UnaryOp};

use super::super::error::TextError;
use super::super::init;
use super::super::lexer::Kind;
use super::Function;

/// The binary operator with the symbol `mark`, and its precedence. `None` if `mark` is not a binary
/// operator.
fn binding(mark: &str) -> Option<(u8, BinaryOp)> {
    Some(match mark {
        "|" => (3, BinaryOp::Or),
        "^" => (4, BinaryOp::Xor),
        "&" => (5, BinaryOp::And),
        "==" => (6, BinaryOp::Eq),
        "!=" => (6, BinaryOp::Ne),
        "<" => (7, BinaryOp::Lt),
        "<=" => (7, BinaryOp::Le),
        ">" => (7, BinaryOp::Gt),
        ">=" => (7, BinaryOp::Ge),
        "<<" => (8, BinaryOp::Shl),
        ">>" => (8, BinaryOp::Shr),
        "+" => (9, BinaryOp::Add),
        "-" => (9, BinaryOp::Sub),
        "*" => (10, BinaryOp::Mul),
        "/" => (10, BinaryOp::Div),
        "%" => (10, BinaryOp::Rem),
        _ => return None,
    })
}

impl Function<'_> {
    /// Parses an expression, and emits a load for each word of memory that it reads.
    pub(super) fn expression(&mut self) -> Result<Expr, TextError> {
        self.logical(0)
    }

    /// Parses a chain of `a || b` (level 0) or of `a && b` (level 1).
    fn logical(&mut self, level: u8) -> Result<Expr, TextError> {
        self.enter()?;
        let mark = if level == 0 { "||" } else { "&&" };
        let mut left = self.logical_operand(level)?;
        while self.cursor.is(mark) {
            let line = self.cursor.line();
            self.cursor.advance();
            let is_or = level == 0;
            let result = self.temporary();
            let known = Self::truth(left.clone());
            let decide = self.here();
            self.emit(line, Instr::Assign { dst: result, value: known.clone() });
            let decided =
                if is_or { known.clone() } else { Expr::Unary(UnaryOp::Not, Box::new(known.clone())) };
            let branch = self.emit(line, Instr::Branch { cond: decided, target: 0, join: None });
            let before = self.here();
            let right = Self::truth(self.logical_operand(level)?);
            if self.here() == before {
                // The right operand has no instructions that the branch would skip, so the
                // assignment and the branch before it are removed.
                self.thread.code.truncate(decide);
                self.thread.lines.truncate(decide);
                left = Expr::binary(if is_or { BinaryOp::Or } else { BinaryOp::And }, known, right);
            } else {
                self.emit(line, Instr::Assign { dst: result, value: right });
                let end = self.here();
                self.patch(branch, end, Some(end));
                left = Expr::Reg(result);
            }
            if left.depth() > super::super::cursor::DEPTH_MAX {
                return Err(self.cursor.too_deep("an expression"));
            }
        }
        self.depth -= 1;
        Ok(left)
    }

    fn logical_operand(&mut self, level: u8) -> Result<Expr, TextError> {
        if level == 0 { self.logical(1) } else { self.arithmetic(3) }
    }

    fn arithmetic(&mut self, tightness: u8) -> Result<Expr, TextError> {
        self.enter()?;
        let start = self.here();
        let mut left = self.unary()?;
        while let Kind::Mark(mark) = *self.cursor.peek() {
            let Some((binds, op)) = binding(mark).filter(|&(binds, _)| binds >= tightness) else { break };
            self.cursor.advance();
            let middle = self.here();
            let right = self.arithmetic(binds + 1)?;
            if start < middle && middle < self.here() {
                let end = self.here();
                self.thread.unsequenced.push((start, middle, end));
            }
            left = Expr::binary(op, left, right);
            if left.depth() > super::super::cursor::DEPTH_MAX {
                return Err(self.cursor.too_deep("an expression"));
            }
        }
        self.depth -= 1;
        Ok(left)
    }

    /// Parses an operand with its prefix operators.
    pub(super) fn unary(&mut self) -> Result<Expr, TextError> {
        self.enter()?;
        let line = self.cursor.line();
        let value = if self.cursor.eat("-") {
            match self.unary()? {
                Expr::Const(value) => Expr::Const(value.wrapping_neg()),
                other => Expr::Unary(UnaryOp::Neg, Box::new(other)),
            }
        } else if self.cursor.eat("!") {
            Expr::Unary(UnaryOp::Not, Box::new(self.unary()?))
        } else if self.cursor.eat("~") {
            Expr::Unary(UnaryOp::BitNot, Box::new(self.unary()?))
        } else if self.cursor.eat("*") {
            let address = self.unary()?;
            self.load(line, Access::plain(address))
        } else if self.cursor.eat("&") {
            self.address_of()?
        } else {
            self.primary()?
        };
        self.depth -= 1;
        Ok(value)
    }

    /// Emits a load instruction into a new register. Returns this register as an expression.
    pub(super) fn load(&mut self, line: u32, access: Access) -> Expr {
        let dst = self.temporary();
        self.emit(line, Instr::Load { dst, access });
        Expr::Reg(dst)
    }

    fn address_of(&mut self) -> Result<Expr, TextError> {
        if matches!(self.cursor.peek_at(1), Kind::Mark("[")) {
            return self.element();
        }
        if self.cursor.eat("*") {
            return self.unary();
        }
        let place = self.cursor.place();
        let name = self.cursor.word("a location")?;
        match self.pointer(&name) {
            Some(address) => Ok(address),
            None => Err(TextError::meaning(place, format!("`{name}` is not a location of this thread"))),
        }
    }

    /// The address of a pointer parameter or of a location of the test. `None` for other names.
    fn pointer(&self, name: &str) -> Option<Expr> {
        let parameter = self.parameters.iter().find(|(known, _)| known == name).map(|&(_, loc)| loc);
        let shadowed = self.thread.register(name).is_some();
        let loc = parameter.or_else(|| if shadowed { None } else { self.locations.find(name) });
        loc.map(init::address)
    }

    /// Reads `name[index]`, and returns the address of this element.
    pub(super) fn element(&mut self) -> Result<Expr, TextError> {
        let place = self.cursor.place();
        let name = self.cursor.word("an array")?;
        let Some(base) = self.pointer(&name) else {
            return Err(TextError::meaning(place, format!("`{name}` is not an array of this thread")));
        };
        self.cursor.expect("[")?;
        let index = self.expression()?;
        self.cursor.expect("]")?;
        Ok(match (base, index) {
            (base, Expr::Const(0)) => base,
            (base, index) => Expr::binary(BinaryOp::Add, base, index),
        })
    }

    fn primary(&mut self) -> Result<Expr, TextError> {
        let place = self.cursor.place();
        let line = place.line;
        match self.cursor.peek().clone() {
            Kind::Number(number) => {
                self.cursor.advance();
                Ok(Expr::Const(number))
            }
            Kind::Mark("(") => {
                self.cursor.advance();
                if init::type_words(self.cursor).any {
                    self.cursor.expect(")")?;
                    return self.unary();
                }
                let value = self.expression()?;
                self.cursor.expect(")")?;
                Ok(value)
            }
            Kind::Word(_) if *self.cursor.peek_at(1) == Kind::Mark("(") || self.at_primitive() => self.call(),
            Kind::Word(_) if *self.cursor.peek_at(1) == Kind::Mark("[") => {
                let address = self.element()?;
                Ok(self.load(line, Access::plain(address)))
            }
            Kind::Word(name) => {
                self.cursor.advance();
                if name == "true" || name == "false" {
                    return Ok(Expr::Const(i64::from(name == "true")));
                }
                if let Some(reg) = self.thread.register(&name) {
                    return Ok(Expr::Reg(reg));
                }
                self.pointer(&name).ok_or_else(|| {
                    let sentence = format!("`{name}` is neither a register nor a location of this thread");
                    TextError::meaning(place, sentence)
                })
            }
            _ => Err(self.cursor.expected("an expression")),
        }
    }
}
