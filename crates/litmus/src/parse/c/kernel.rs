//! Parses primitive operations such as `__load{once}(*x)`. The macros for functions of the Linux
//! kernel consist of such operations. Their notation is that of herd's `.def` files.
//!
//! An annotation puts an event into a set of the model: `once` puts it into the set `Once`. If a
//! read-modify-write is an acquire, its read is an acquire. If it is a release, its write is a
//! release. A fully ordered read-modify-write has a fence `mb` before and after it. A lock is a
//! word that is 1 while the lock is held. The read and the write that take a lock are in the sets
//! `LKR` and `LKW`. The write that releases a lock is in the set `UL`. A read that tests a lock is
//! in the set `LF`.

use crate::program::{Access, BinaryOp, Cas, Expr, Fence, Instr, Order, RmwOp, Section};

use super::super::error::TextError;
use super::super::lexer::Kind;
use super::Function;

/// The C memory order that is closest to an annotation of the Linux kernel's model.
fn order_of(tag: &str) -> Order {
    match tag {
        "acquire" | "LKR" => Order::Acquire,
        "release" | "UL" => Order::Release,
        "mb" | "sync-rcu" | "sync-srcu" => Order::SeqCst,
        _ => Order::Relaxed,
    }
}

impl Function<'_> {
    /// Whether the next token begins a primitive operation.
    pub(super) fn at_primitive(&self) -> bool {
        let marked = matches!(self.cursor.peek_at(1), Kind::Mark("(" | "{"));
        marked && matches!(self.cursor.peek(), Kind::Word(word) if word.starts_with("__"))
    }

    /// Parses a primitive operation, such as `__load{once}(*x)`. The value is zero if the operation
    /// returns no value.
    pub(super) fn primitive(&mut self) -> Result<Expr, TextError> {
        let (place, line) = (self.cursor.place(), self.cursor.line());
        let name = self.cursor.word("an operation")?;
        let tags = self.annotations()?;
        let tag = tags.first().map_or("", String::as_str);
        if name == "__fence" {
            self.tagged_fence(line, &tags, None);
            return Ok(Expr::Const(0));
        }
        self.cursor.expect("(")?;
        let value = match name.as_str() {
            "__load" => {
                let address = self.lvalue()?;
                let access = self.marked(address, tag, tags.clone());
                self.load(line, access)
            }
            "__store" => {
                let address = self.lvalue()?;
                let value = self.operand()?;
                let access = self.marked(address, tag, tags.clone());
                self.emit(line, Instr::Store { access, value });
                Expr::Const(0)
            }
            "__xchg" => {
                let address = self.expression()?;
                let operand = self.operand()?;
                self.update(line, address, RmwOp::Exchange, operand, tag)
            }
            "__cmpxchg" => {
                let address = self.expression()?;
                let (expected, desired) = (self.operand()?, self.operand()?);
                self.swap(line, address, expected, desired, tag)
            }
            "__atomic_op" => {
                let (address, op, _, operand) = self.calculation()?;
                self.update(line, address, op, operand, "noreturn");
                Expr::Const(0)
            }
            "__atomic_fetch_op" => {
                let (address, op, _, operand) = self.calculation()?;
                self.update(line, address, op, operand, tag)
            }
            "__atomic_op_return" => {
                let (address, op, sign, operand) = self.calculation()?;
                let old = self.update(line, address, op, operand.clone(), tag);
                Expr::binary(sign, old, operand)
            }
            "__atomic_add_unless" => {
                let address = self.expression()?;
                let operand = self.operand()?;
                self.cursor.expect(",")?;
                let place = self.cursor.place();
                let unless = self.expression()?;
                let mut known = true;
                unless.for_each_reg(&mut |_| known = false);
                let value = if known { unless.eval(&[]).ok() } else { None };
                let Some(value) = value else {
                    let expected = "a constant: if the location has this value, nothing is added";
                    return Err(TextError::expected(place, "an expression with registers", expected));
                };
                self.update(line, address, RmwOp::AddUnless(value), operand, "mb")
            }
            "__lock" => self.take_lock(line)?,
            "__trylock" => {
                let address = self.expression()?;
                let old = self.swap(line, address, Expr::Const(0), Expr::Const(1), "LKR");
                Expr::binary(BinaryOp::Eq, old, Expr::Const(0))
            }
            "__unlock" => {
                let address = self.expression()?;
                let access = self.marked(address, "UL", vec![String::from("UL")]);
                self.emit(line, Instr::Store { access, value: Expr::Const(0) });
                Expr::Const(0)
            }
            "__islocked" => {
                let address = self.expression()?;
                let access = self.marked(address, "LF", vec![String::from("LF")]);
                self.load(line, access)
            }
            "__srcu" => self.section(line, &tags)?,
            _ => {
                let expected = "an operation such as `__load`, `__store` or `__fence`";
                return Err(TextError::expected(place, format!("`{name}`"), expected));
            }
        };
        self.cursor.expect(")")?;
        Ok(value)
    }

    /// Reads annotations such as `{once}`. Returns an empty list if the next token is not an
    /// opening brace.
    fn annotations(&mut self) -> Result<Vec<String>, TextError> {
        let mut tags = Vec::new();
        if self.cursor.eat("{") {
            while !self.cursor.eat("}") {
                let mut tag = self.cursor.word("an annotation or `}`")?;
                while self.cursor.eat("-") {
                    tag.push('-');
                    tag.push_str(&self.cursor.word("the part of the annotation after `-`")?);
                }
                tags.push(tag);
                if !self.cursor.is("}") {
                    self.cursor.expect(",")?;
                }
            }
        }
        Ok(tags)
    }

    fn operand(&mut self) -> Result<Expr, TextError> {
        self.cursor.expect(",")?;
        self.expression()
    }

    /// Reads the arguments of a primitive operation that calculates a new value of a word, such as
    /// `x, +, 1`.
    fn calculation(&mut self) -> Result<(Expr, RmwOp, BinaryOp, Expr), TextError> {
        let address = self.expression()?;
        self.cursor.expect(",")?;
        let (op, sign) = match self.cursor.peek() {
            Kind::Mark("+") => (RmwOp::Add, BinaryOp::Add),
            Kind::Mark("-") => (RmwOp::Sub, BinaryOp::Sub),
            Kind::Mark("&") => (RmwOp::And, BinaryOp::And),
            Kind::Mark("|") => (RmwOp::Or, BinaryOp::Or),
            Kind::Mark("^") => (RmwOp::Xor, BinaryOp::Xor),
            _ => return Err(self.cursor.expected("`+`, `-`, `&`, `|` or `^`")),
        };
        self.cursor.advance();
        Ok((address, op, sign, self.operand()?))
    }

    fn tagged_fence(&mut self, line: u32, tags: &[String], section: Option<Box<Section>>) {
        let order = tags.first().map_or(Order::Relaxed, |tag| order_of(tag));
        let fence = Fence {
            order,
            scope: Some(self.default_scope()),
            global: true,
            local: true,
            proxy: None,
            remote: false,
            tags: tags.to_vec(),
            section,
        };
        self.emit(line, Instr::Fence(fence));
    }

    /// Parses the operations of an SRCU read-side critical section of the Linux kernel.
    /// `__srcu{srcu-lock}(x)` begins a section and returns a key. `__srcu{srcu-unlock}(x, key)`
    /// ends the section and takes the key.
    fn section(&mut self, line: u32, tags: &[String]) -> Result<Expr, TextError> {
        let address = self.expression()?;
        let key = if self.cursor.is(",") { Some(self.operand()?) } else { None };
        let dst = key.is_none().then(|| self.temporary());
        self.tagged_fence(line, tags, Some(Box::new(Section { address, key, dst })));
        Ok(dst.map_or(Expr::Const(0), Expr::Reg))
    }

    /// Parses `*x` or `a[1]`, and returns the address of this word.
    fn lvalue(&mut self) -> Result<Expr, TextError> {
        if self.cursor.eat("(") {
            let address = self.lvalue()?;
            self.cursor.expect(")")?;
            return Ok(address);
        }
        if self.cursor.eat("*") {
            return self.unary();
        }
        match (self.cursor.peek(), self.cursor.peek_at(1)) {
            (Kind::Word(_), Kind::Mark("[")) => self.element(),
            _ => Err(self.cursor.expected("`*x` or `a[1]`")),
        }
    }

    fn marked(&self, address: Expr, tag: &str, tags: Vec<String>) -> Access {
        let mut access = Access::atomic(address, order_of(tag), self.default_scope());
        access.tags = tags;
        access
    }

    fn update(&mut self, line: u32, address: Expr, op: RmwOp, operand: Expr, tag: &str) -> Expr {
        let dst = self.temporary();
        let access = self.marked(address, tag, vec![tag.to_owned()]);
        self.emit(line, Instr::Rmw { dst: Some(dst), access, op, operand });
        Expr::Reg(dst)
    }

    fn swap(&mut self, line: u32, address: Expr, expected: Expr, desired: Expr, tag: &str) -> Expr {
        let dst = self.temporary();
        let access = self.marked(address, tag, vec![tag.to_owned()]);
        let order_failure = Order::Relaxed;
        let cas =
            Cas { dst: Some(dst), success: None, access, expected, desired, order_failure, weak: false };
        self.emit(line, Instr::Cas(Box::new(cas)));
        Expr::Reg(dst)
    }

    /// Emits instructions that wait until the lock is free and then take it.
    fn take_lock(&mut self, line: u32) -> Result<Expr, TextError> {
        let address = self.expression()?;
        let top = self.here();
        let old = self.swap(line, address, Expr::Const(0), Expr::Const(1), "LKR");
        let cond = Expr::binary(BinaryOp::Ne, old, Expr::Const(0));
        let branch = self.emit(line, Instr::Branch { cond, target: top, join: None });
        let end = self.here();
        self.patch(branch, top, Some(end));
        Ok(Expr::Const(0))
    }
}
