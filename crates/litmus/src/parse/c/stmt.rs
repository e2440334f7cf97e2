//! Parses C statements.

use crate::program::{Access, Expr, Instr, UnaryOp};

use super::super::error::TextError;
use super::super::init;
use super::super::lexer::Kind;
use super::{END, Function};

impl Function<'_> {
    /// Parses a block, `{ statements }`.
    pub(super) fn block(&mut self) -> Result<(), TextError> {
        self.cursor.expect("{")?;
        while !self.cursor.eat("}") {
            if self.cursor.at_end() {
                return Err(self.cursor.expected("a statement or `}`"));
            }
            self.statement()?;
        }
        Ok(())
    }

    fn statement(&mut self) -> Result<(), TextError> {
        self.enter()?;
        let line = self.cursor.line();
        match self.cursor.peek().clone() {
            Kind::Mark("{") => self.block()?,
            Kind::Mark(";") => self.cursor.advance(),
            Kind::Word(word) => match word.as_str() {
                "if" => self.conditional(line)?,
                "while" => self.while_loop(line)?,
                "do" => self.do_loop(line)?,
                "for" => self.for_loop(line)?,
                "return" => {
                    self.cursor.advance();
                    if !self.cursor.is(";") {
                        self.expression()?;
                    }
                    self.cursor.expect(";")?;
                    self.emit(line, Instr::Jump { target: END });
                }
                "goto" => {
                    self.cursor.advance();
                    let at = self.emit(line, Instr::Jump { target: 0 });
                    self.labels.jump(self.cursor, at)?;
                    self.cursor.expect(";")?;
                }
                _ if *self.cursor.peek_at(1) == Kind::Mark(":") => {
                    let at = self.here();
                    self.labels.read(self.cursor, at)?;
                }
                _ => {
                    self.simple(line)?;
                    self.cursor.expect(";")?;
                }
            },
            _ => {
                self.simple(line)?;
                self.cursor.expect(";")?;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Parses a declaration, an assignment or a call, up to the semicolon.
    fn simple(&mut self, line: u32) -> Result<(), TextError> {
        let words = init::type_words(self.cursor);
        if words.any {
            return self.declaration(line);
        }
        if let Kind::Word(name) = self.cursor.peek().clone() {
            let assigns = matches!(self.cursor.peek_at(1), Kind::Mark("=" | "+=" | "-=" | "++" | "--"));
            if assigns {
                return self.assignment(line, &name);
            }
        }
        if self.cursor.is("*") {
            self.cursor.advance();
            let address = self.unary()?;
            self.cursor.expect("=")?;
            let value = self.expression()?;
            self.emit(line, Instr::Store { access: Access::plain(address), value });
            return Ok(());
        }
        if let (Kind::Word(_), Kind::Mark("[")) = (self.cursor.peek(), self.cursor.peek_at(1)) {
            let address = self.element()?;
            self.cursor.expect("=")?;
            let value = self.expression()?;
            self.emit(line, Instr::Store { access: Access::plain(address), value });
            return Ok(());
        }
        // The value of the statement is unused. A load stays, because it is an event. A
        // read-modify-write loses its destination register.
        let value = self.expression()?;
        if let (Expr::Reg(value), Some(Instr::Rmw { dst, .. })) = (value, self.thread.code.last_mut())
            && *dst == Some(value)
        {
            *dst = None;
        }
        Ok(())
    }

    fn declaration(&mut self, line: u32) -> Result<(), TextError> {
        loop {
            let place = self.cursor.place();
            let name = self.cursor.word("a variable's name")?;
            if self.parameters.iter().any(|(known, _)| *known == name) {
                let sentence = format!("`{name}` is already a parameter of this thread");
                return Err(TextError::meaning(place, sentence));
            }
            let dst = match self.thread.register(&name) {
                Some(known) => known,
                None => self.declare(&name),
            };
            if self.cursor.eat("=") {
                let value = self.expression()?;
                self.assign(line, dst, value);
            }
            if !self.cursor.eat(",") {
                return Ok(());
            }
        }
    }

    fn assignment(&mut self, line: u32, name: &str) -> Result<(), TextError> {
        let place = self.cursor.place();
        let plain = *self.cursor.peek_at(1) == Kind::Mark("=");
        let dst = match self.thread.register(name) {
            Some(dst) => dst,
            None if self.parameters.iter().any(|(known, _)| known == name) => {
                let sentence = format!("`{name}` is a pointer: write through it with `*{name} = ...`");
                return Err(TextError::meaning(place, sentence));
            }
            // As in herd, the first assignment to an unknown name declares a register.
            None if plain => self.declare(name),
            None => return Err(TextError::meaning(place, format!("register `{name}` has no value yet"))),
        };
        self.cursor.advance();
        let Kind::Mark(mark) = *self.cursor.peek() else { return Err(self.cursor.expected("`=`")) };
        self.cursor.advance();
        let value = match mark {
            "++" => Expr::binary(crate::program::BinaryOp::Add, Expr::Reg(dst), Expr::Const(1)),
            "--" => Expr::binary(crate::program::BinaryOp::Sub, Expr::Reg(dst), Expr::Const(1)),
            "+=" => {
                let by = self.expression()?;
                Expr::binary(crate::program::BinaryOp::Add, Expr::Reg(dst), by)
            }
            "-=" => {
                let by = self.expression()?;
                Expr::binary(crate::program::BinaryOp::Sub, Expr::Reg(dst), by)
            }
            _ => self.expression()?,
        };
        self.assign(line, dst, value);
        Ok(())
    }

    fn condition(&mut self) -> Result<Expr, TextError> {
        self.cursor.expect("(")?;
        let value = self.expression()?;
        self.cursor.expect(")")?;
        Ok(Self::truth(value))
    }

    fn branch_unless(&mut self, line: u32, cond: Expr) -> usize {
        let cond = Expr::Unary(UnaryOp::Not, Box::new(cond));
        self.emit(line, Instr::Branch { cond, target: 0, join: None })
    }

    fn conditional(&mut self, line: u32) -> Result<(), TextError> {
        self.cursor.advance();
        let cond = self.condition()?;
        let branch = self.branch_unless(line, cond);
        self.statement()?;
        if self.cursor.eat_word("else") {
            let skip = self.emit(line, Instr::Jump { target: 0 });
            let other = self.here();
            self.statement()?;
            let end = self.here();
            self.patch(skip, end, None);
            self.patch(branch, other, Some(end));
        } else {
            let end = self.here();
            self.patch(branch, end, Some(end));
        }
        Ok(())
    }

    fn while_loop(&mut self, line: u32) -> Result<(), TextError> {
        self.cursor.advance();
        let top = self.here();
        let cond = self.condition()?;
        let branch = self.branch_unless(line, cond);
        self.statement()?;
        self.emit(line, Instr::Jump { target: top });
        let end = self.here();
        self.patch(branch, end, Some(end));
        Ok(())
    }

    fn do_loop(&mut self, line: u32) -> Result<(), TextError> {
        self.cursor.advance();
        let top = self.here();
        self.statement()?;
        if !self.cursor.eat_word("while") {
            return Err(self.cursor.expected("`while`"));
        }
        let cond = self.condition()?;
        self.cursor.expect(";")?;
        let branch = self.emit(line, Instr::Branch { cond, target: top, join: None });
        let end = self.here();
        self.patch(branch, top, Some(end));
        Ok(())
    }

    fn for_loop(&mut self, line: u32) -> Result<(), TextError> {
        self.cursor.advance();
        self.cursor.expect("(")?;
        if !self.cursor.is(";") {
            self.simple(line)?;
        }
        self.cursor.expect(";")?;
        let top = self.here();
        let cond = if self.cursor.is(";") { Expr::Const(1) } else { self.expression()? };
        self.cursor.expect(";")?;
        let branch = self.branch_unless(line, Self::truth(cond));
        // The step of a `for` loop precedes the body in the text but runs after the body. So the
        // parser first skips the step, and parses it after the body.
        let step = self.cursor.position();
        self.skip_step()?;
        self.statement()?;
        let after = self.cursor.position();
        self.cursor.seek(step);
        if !self.cursor.is(")") {
            self.simple(line)?;
        }
        self.cursor.expect(")")?;
        self.cursor.seek(after);
        self.emit(line, Instr::Jump { target: top });
        let end = self.here();
        self.patch(branch, end, Some(end));
        Ok(())
    }

    fn skip_step(&mut self) -> Result<(), TextError> {
        let mut open = 1usize;
        while open > 0 {
            match self.cursor.peek() {
                Kind::Mark("(") => open += 1,
                Kind::Mark(")") => open -= 1,
                Kind::End => return Err(self.cursor.expected("`)`")),
                _ => {}
            }
            self.cursor.advance();
        }
        Ok(())
    }
}
