//! Parses tests in the LISA format of herd: instructions such as `w[release,device] x 1` and
//! `r[acquire] r0 x`, and scope trees.

use crate::program::{
    Access, BinaryOp, Cas, Condition, Dialect, Expr, Fence, Instr, Order, Program, Prop, Quantifier, Reg,
    RmwOp, ScopeId, Scopes, Thread, ThreadId,
};

use super::condition;
use super::cursor::{Cursor, DEPTH_MAX};
use super::error::{Place, TextError};
use super::init::{self, Locations};
use super::lexer::{Kind, Lexed};
use super::scopes::{Placement, level_name};
use super::table::{self, Labels};

/// Reads a LISA test.
pub(super) fn parse(lexed: Lexed) -> Result<Program, TextError> {
    let mut cursor = Cursor::new(lexed.tokens);
    let place = cursor.place();
    let tree = survey(&mut cursor)?;
    let mut locations = Locations::new();
    let inits = init::block(&mut cursor, Dialect::Lisa, &mut locations)?;
    super::c::skip_placement(&mut cursor)?;
    let (header, count) = super::columns::header(&mut cursor)?;
    let (tree, found) = tree;
    let placement = if found { &tree } else { &header };
    let scopes = placement.scopes(count, &[], place)?;
    let mut threads = init::threads(&inits, count)?;
    let table = table::cells(&mut cursor, count)?;
    let after = cursor.position();
    for (number, cells) in table.columns.iter().enumerate() {
        let thread = core::mem::take(&mut threads[number]);
        let id = init::thread_id(number);
        let column = Column { cursor: &mut cursor, id, scopes: &scopes, locations: &mut locations, thread };
        threads[number] = column.read(cells)?;
    }
    cursor.seek(after);
    tree.set_regions(&mut locations)?;
    let mut program = Program {
        name: lexed.name,
        dialect: Dialect::Lisa,
        locations: locations.list,
        scopes,
        threads,
        system_order: Vec::new(),
        filter: None,
        condition: Condition { quantifier: Quantifier::Exists, prop: Prop::True },
        observed: Vec::new(),
    };
    init::finish(&mut program);
    super::c::skip_placement(&mut cursor)?;
    condition::closing(&mut cursor, &mut program)?;
    Ok(program)
}

/// Reads the scope tree and the memory regions, which follow the code. Returns the placement of the
/// threads with these regions, and whether the test has a scope tree.
fn survey(cursor: &mut Cursor) -> Result<(Placement, bool), TextError> {
    let begin = cursor.position();
    let mut placement = Placement::default();
    let mut found = false;
    while !cursor.at_end() {
        let is_region = cursor.is_word("regions");
        if super::c::tree_clause(cursor, &mut placement)? {
            found |= !is_region;
        } else {
            cursor.advance();
        }
    }
    cursor.seek(begin);
    Ok((placement, found))
}

/// The annotations of an instruction, which are in square brackets.
struct Annotations {
    order: Option<Order>,
    scope: Option<ScopeId>,
    remote: bool,
    commutative: bool,
    tags: Vec<String>,
}

/// The state of the parser while it parses the column of one thread.
struct Column<'p> {
    cursor: &'p mut Cursor,
    id: ThreadId,
    scopes: &'p Scopes,
    locations: &'p mut Locations,
    thread: Thread,
}

impl Column<'_> {
    fn read(mut self, cells: &[usize]) -> Result<Thread, TextError> {
        let mut labels = Labels::default();
        for &cell in cells {
            self.cursor.seek(cell);
            labels.read(self.cursor, self.thread.code.len())?;
            if !table::at_cell_end(self.cursor) {
                let line = self.cursor.line();
                let instr = self.instruction(&mut labels)?;
                self.thread.code.push(instr);
                self.thread.lines.push(line);
            }
            table::cell_end(self.cursor)?;
        }
        labels.resolve(self.id, &mut self.thread.code)?;
        Ok(self.thread)
    }

    fn instruction(&mut self, labels: &mut Labels) -> Result<Instr, TextError> {
        let place = self.cursor.place();
        let text = self.cursor.word("an instruction such as `r[]`, `w[]` or `f[]`")?;
        match text.as_str() {
            "r" => {
                let marks = self.marks(Order::Plain)?;
                let dst = self.register()?;
                let address = self.address()?;
                Ok(Instr::Load { dst, access: self.access(marks, address) })
            }
            "w" => {
                let marks = self.marks(Order::Plain)?;
                let address = self.address()?;
                let value = self.operand(0)?;
                Ok(Instr::Store { access: self.access(marks, address), value })
            }
            "f" => {
                let marks = self.marks(Order::SeqCst)?;
                let scope = marks.scope.unwrap_or_else(|| self.system());
                Ok(Instr::Fence(Fence {
                    order: marks.order.unwrap_or(Order::SeqCst),
                    scope: Some(scope),
                    global: true,
                    local: true,
                    proxy: None,
                    remote: marks.remote,
                    tags: marks.tags,
                    section: None,
                }))
            }
            "rmw" => self.rmw(),
            "mov" => {
                let dst = self.register()?;
                Ok(Instr::Assign { dst, value: self.operand(0)? })
            }
            "b" => {
                self.marks(Order::Plain)?;
                let cond = match (self.cursor.peek(), self.cursor.peek_at(1)) {
                    (Kind::Word(_), Kind::Word(_)) => Some(self.operand(0)?),
                    _ => None,
                };
                labels.jump(self.cursor, self.thread.code.len())?;
                Ok(match cond {
                    Some(cond) => Instr::Branch { cond, target: 0, join: None },
                    None => Instr::Jump { target: 0 },
                })
            }
            "await" => {
                let marks = self.marks(Order::Relaxed)?;
                let dst = self.register()?;
                let address = self.address()?;
                let value = self.operand(0)?;
                let access = self.access(marks, address);
                Ok(Instr::Await { dst: Some(dst), access, cmp: BinaryOp::Eq, value })
            }
            _ => {
                let expected = "an instruction: `r`, `w`, `f`, `rmw`, `mov`, `b` or `await`";
                Err(TextError::expected(place, format!("`{text}`"), expected))
            }
        }
    }

    /// Reads annotations, such as `[release, device]`. An annotation is one of these: a memory
    /// order, a level of the test's scope tree, `remote`, `commutative`, or the name of a set that
    /// a model defines.
    fn marks(&mut self, default: Order) -> Result<Annotations, TextError> {
        let mut marks =
            Annotations { order: None, scope: None, remote: false, commutative: false, tags: Vec::new() };
        self.cursor.expect("[")?;
        while !self.cursor.eat("]") {
            let place = self.cursor.place();
            let mut word = self.cursor.word("an annotation or `]`")?;
            while self.cursor.eat("-") {
                word.push('-');
                word.push_str(&self.cursor.word("the part of the annotation after `-`")?);
            }
            let lower = word.to_ascii_lowercase();
            marks.tags.push(word.clone());
            match lower.as_str() {
                "plain" | "weak" | "na" => marks.order = Some(Order::Plain),
                "relaxed" | "rlx" => marks.order = Some(Order::Relaxed),
                "acquire" | "acq" => marks.order = Some(Order::Acquire),
                "release" | "rel" => marks.order = Some(Order::Release),
                "acq_rel" => marks.order = Some(Order::AcqRel),
                "sc" | "seq_cst" => marks.order = Some(Order::SeqCst),
                "remote" => marks.remote = true,
                "commutative" => marks.commutative = true,
                _ => self.scope_or_tag(&word, place, &mut marks)?,
            }
            if !self.cursor.is("]") {
                self.cursor.expect(",")?;
            }
        }
        if marks.order.is_none() && default != Order::Plain {
            marks.order = Some(default);
        }
        Ok(marks)
    }

    fn scope_or_tag(&self, word: &str, place: Place, marks: &mut Annotations) -> Result<(), TextError> {
        let name = level_name(word);
        let kinds = [word, name.as_str()];
        if !self.scopes.iter().any(|(_, s)| kinds.contains(&s.kind.as_str())) {
            return Ok(());
        }
        let own = kinds.iter().find_map(|kind| self.scopes.enclosing_kind(self.id, kind));
        match own {
            Some(scope) => marks.scope = Some(scope),
            None => {
                return Err(TextError::meaning(place, format!("thread P{} is in no `{word}`", self.id.0)));
            }
        }
        Ok(())
    }

    fn system(&self) -> ScopeId {
        self.scopes.around(self.id, "system").unwrap_or_default()
    }

    fn access(&self, marks: Annotations, address: Expr) -> Access {
        let mut access = Access::plain(address);
        access.remote = marks.remote;
        access.commutative = marks.commutative;
        access.tags = marks.tags;
        // An access with a scope is atomic even if it has no memory order.
        let order = match (marks.order, marks.scope) {
            (Some(order), _) => order,
            (None, Some(_)) => Order::Relaxed,
            (None, None) => Order::Plain,
        };
        access.order = order;
        if order.is_atomic() {
            access.scope = Some(marks.scope.unwrap_or_else(|| self.system()));
        }
        access
    }

    /// Parses a read-modify-write, such as `rmw[marks] r1 (add r1 1) x`. An operand without an
    /// operator means an exchange.
    fn rmw(&mut self) -> Result<Instr, TextError> {
        let marks = self.marks(Order::Relaxed)?;
        let dst = self.register()?;
        let place = self.cursor.place();
        if !self.cursor.eat("(") {
            let operand = self.operand(0)?;
            let address = self.address()?;
            let access = self.access(marks, address);
            return Ok(Instr::Rmw { dst: Some(dst), access, op: RmwOp::Exchange, operand });
        }
        let name = self.cursor.word("an operation such as `add`")?;
        if name == "cas" {
            let expected = self.operand(0)?;
            self.cursor.eat(",");
            let desired = self.operand(0)?;
            self.cursor.expect(")")?;
            let address = self.address()?;
            let access = self.access(marks, address);
            let order_failure = match access.order {
                Order::Release => Order::Relaxed,
                Order::AcqRel => Order::Acquire,
                order => order,
            };
            let cas =
                Cas { dst: Some(dst), success: None, access, expected, desired, order_failure, weak: false };
            return Ok(Instr::Cas(Box::new(cas)));
        }
        let op = match name.as_str() {
            "add" => RmwOp::Add,
            "sub" => RmwOp::Sub,
            "and" => RmwOp::And,
            "or" => RmwOp::Or,
            "xor" => RmwOp::Xor,
            "xchg" | "exch" => RmwOp::Exchange,
            _ => {
                let expected = "`add`, `sub`, `and`, `or`, `xor`, `xchg` or `cas`";
                return Err(TextError::expected(place, format!("`{name}`"), expected));
            }
        };
        let first = self.operand(0)?;
        self.cursor.eat(",");
        // The destination register may also be the first operand.
        let operand = if self.cursor.is(")") {
            first
        } else if first == Expr::Reg(dst) {
            self.operand(0)?
        } else {
            let sentence = "the first operand of a read-modify-write must be its destination register";
            return Err(TextError::meaning(place, sentence));
        };
        self.cursor.expect(")")?;
        let address = self.address()?;
        Ok(Instr::Rmw { dst: Some(dst), access: self.access(marks, address), op, operand })
    }

    fn register(&mut self) -> Result<Reg, TextError> {
        let name = self.cursor.word("a register")?;
        Ok(init::register(&mut self.thread, &name))
    }

    /// Parses an operand: a number, a register, `&x`, or a calculation such as `(add r1 1)`.
    fn operand(&mut self, depth: usize) -> Result<Expr, TextError> {
        if depth > DEPTH_MAX {
            return Err(self.cursor.too_deep("an operand"));
        }
        if self.cursor.eat("(") {
            let place = self.cursor.place();
            let name = self.cursor.word("an operator such as `add`")?;
            let op = match name.as_str() {
                "add" => BinaryOp::Add,
                "sub" => BinaryOp::Sub,
                "mul" => BinaryOp::Mul,
                "and" => BinaryOp::And,
                "or" => BinaryOp::Or,
                "xor" => BinaryOp::Xor,
                "eq" => BinaryOp::Eq,
                "neq" | "ne" => BinaryOp::Ne,
                "lt" => BinaryOp::Lt,
                "gt" => BinaryOp::Gt,
                _ => {
                    let expected = "an operator: `add`, `sub`, `mul`, `and`, `or`, `xor`, `eq` or `neq`";
                    return Err(TextError::expected(place, format!("`{name}`"), expected));
                }
            };
            let left = self.operand(depth + 1)?;
            self.cursor.eat(",");
            let right = self.operand(depth + 1)?;
            self.cursor.expect(")")?;
            return Ok(Expr::binary(op, left, right));
        }
        self.cursor.eat("&");
        let Kind::Word(name) = self.cursor.peek().clone() else {
            return self.cursor.number("a number, a register or `(`").map(Expr::Const);
        };
        let place = self.cursor.place();
        self.cursor.advance();
        match (self.thread.register(&name), self.locations.find(&name)) {
            (Some(reg), _) => Ok(Expr::Reg(reg)),
            (None, Some(loc)) => Ok(Expr::Addr(loc)),
            (None, None) => {
                let sentence = format!("thread P{} has no register `{name}` here", self.id.0);
                Err(TextError::meaning(place, sentence))
            }
        }
    }

    /// Parses an address: `x`, `[x]`, `r1`, or `x + 1`.
    fn address(&mut self) -> Result<Expr, TextError> {
        let bracket = self.cursor.eat("[");
        let place = self.cursor.place();
        let name = self.cursor.word("a location")?;
        let base = match (self.locations.find(&name), self.thread.register(&name)) {
            (Some(loc), _) => Expr::Addr(loc),
            (None, Some(reg)) => Expr::Reg(reg),
            (None, None) => Expr::Addr(table::new_location(self.locations, self.id, &name, place)?),
        };
        let address =
            if self.cursor.eat("+") { Expr::binary(BinaryOp::Add, base, self.operand(0)?) } else { base };
        if bracket {
            self.cursor.expect("]")?;
        }
        Ok(address)
    }
}
