//! PTX tests: `st.release.gpu x, 1`, `atom.acq_rel.sys.add r0, x, 1`.

use crate::program::{
    Access, Barrier, BinaryOp, Cas, Condition, Dialect, Expr, Fence, FenceProxy, Instr, Order, Program, Prop,
    Proxy, Quantifier, Reg, RmwOp, ScopeId, Scopes, Thread, ThreadId, Value,
};

use super::condition;
use super::cursor::{Cursor, thread_number};
use super::error::{Place, TextError};
use super::init::{self, Locations};
use super::lexer::{Kind, Lexed};
use super::scopes::Placement;
use super::table::{self, Labels};

/// Without a placement, each thread is a CTA of one GPU.
const PTX_ALONE: [(&str, bool); 2] = [("cta", false), ("gpu", true)];

/// Reads a PTX test.
pub(super) fn parse(lexed: Lexed) -> Result<Program, TextError> {
    let mut cursor = Cursor::new(lexed.tokens);
    let mut locations = Locations::new();
    let inits = init::block(&mut cursor, Dialect::Ptx, &mut locations)?;
    let place = cursor.place();
    let (placement, count) = header(&mut cursor)?;
    let scopes = placement.scopes(count, &PTX_ALONE, place)?;
    columns(cursor, lexed.name, Form { dialect: Dialect::Ptx, locations, inits, scopes }, |column, labels| {
        column.instruction(labels)
    })
}

/// What a test in columns has read before its code.
pub(super) struct Form {
    pub(super) dialect: Dialect,
    pub(super) locations: Locations,
    pub(super) inits: Vec<init::RegisterInit>,
    pub(super) scopes: Scopes,
}

/// Reads one instruction of a column.
pub(super) type Reader = fn(&mut Column<'_>, &mut Labels) -> Result<(), TextError>;

/// Reads the code in columns and what the test asks.
pub(super) fn columns(
    mut cursor: Cursor,
    name: String,
    form: Form,
    reader: Reader,
) -> Result<Program, TextError> {
    let Form { dialect, mut locations, inits, scopes } = form;
    let count = scopes.threads();
    let mut threads = init::threads(&inits, count)?;
    let table = table::cells(&mut cursor, count)?;
    let after = cursor.position();
    for (number, column) in table.columns.iter().enumerate() {
        let thread = core::mem::take(&mut threads[number]);
        let id = init::thread_id(number);
        let column_reader =
            Column { cursor: &mut cursor, id, scopes: &scopes, locations: &mut locations, thread };
        threads[number] = column_reader.read(column, reader)?;
    }
    cursor.seek(after);
    let mut program = Program {
        name,
        dialect,
        locations: locations.list,
        scopes,
        threads,
        system_order: Vec::new(),
        filter: None,
        condition: Condition { quantifier: Quantifier::Exists, prop: Prop::True },
        observed: Vec::new(),
    };
    init::finish(&mut program);
    condition::closing(&mut cursor, &mut program)?;
    Ok(program)
}

/// Reads `P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;`.
pub(super) fn header(cursor: &mut Cursor) -> Result<(Placement, usize), TextError> {
    let mut placement = Placement::default();
    let mut count = 0;
    loop {
        let number = match cursor.peek() {
            Kind::Word(word) => thread_number(word),
            _ => None,
        };
        let Some(number) = number else { return Err(cursor.expected(format!("`P{count}`"))) };
        count = super::c::next_thread(cursor, number, count)?;
        cursor.advance();
        if cursor.is("@") {
            placement.header(cursor, number)?;
        }
        if cursor.eat(";") {
            return Ok((placement, count));
        }
        if !cursor.eat("|") {
            return Err(cursor.expected("`|` or `;`"));
        }
    }
}

/// One thread while it is read.
pub(super) struct Column<'p> {
    pub(super) cursor: &'p mut Cursor,
    pub(super) id: ThreadId,
    pub(super) scopes: &'p Scopes,
    pub(super) locations: &'p mut Locations,
    pub(super) thread: Thread,
}

/// An opcode such as `atom.acq_rel.sys.add`, taken apart.
struct Opcode {
    text: String,
    place: Place,
    order: Option<Order>,
    weak: bool,
    scope: Option<String>,
    rest: Vec<String>,
}

fn opcode(text: &str, place: Place) -> Opcode {
    let mut parts = text.split('.');
    let mut of = Opcode {
        text: parts.next().unwrap_or_default().to_owned(),
        place,
        order: None,
        weak: false,
        scope: None,
        rest: Vec::new(),
    };
    for part in parts {
        match part {
            "weak" => of.weak = true,
            "relaxed" => of.order = Some(Order::Relaxed),
            "acquire" => of.order = Some(Order::Acquire),
            "release" => of.order = Some(Order::Release),
            "acq_rel" => of.order = Some(Order::AcqRel),
            "sc" => of.order = Some(Order::SeqCst),
            // A volatile access is a relaxed one of the whole system.
            "volatile" | "mmio" => {
                of.order = Some(Order::Relaxed);
                of.scope.get_or_insert_with(|| "sys".to_owned());
            }
            "cta" | "cluster" | "gpu" | "sys" => of.scope = Some(part.to_owned()),
            // State spaces, types and vector widths say nothing here.
            "global" | "shared" | "const" | "param" | "local" | "generic" | "u8" | "u16" | "u32" | "u64"
            | "s8" | "s16" | "s32" | "s64" | "b8" | "b16" | "b32" | "b64" | "f32" | "f64" | "aligned" => {}
            other => of.rest.push(other.to_owned()),
        }
    }
    of
}

impl Column<'_> {
    fn read(mut self, cells: &[usize], reader: Reader) -> Result<Thread, TextError> {
        let mut labels = Labels::default();
        for &cell in cells {
            self.cursor.seek(cell);
            labels.read(self.cursor, self.thread.code.len())?;
            if !table::at_cell_end(self.cursor) {
                reader(&mut self, &mut labels)?;
            }
            table::cell_end(self.cursor)?;
        }
        labels.resolve(self.id, &mut self.thread.code)?;
        Ok(self.thread)
    }

    /// An instruction that only computes or jumps.
    pub(super) fn local(&mut self, word: &str, labels: &mut Labels) -> Result<Option<Instr>, TextError> {
        Ok(Some(match word {
            "mov" => {
                let dst = self.register()?;
                self.comma()?;
                Instr::Assign { dst, value: self.value()? }
            }
            "add" | "sub" | "mul" | "div" | "and" | "or" | "xor" => self.arithmetic(word)?,
            "goto" | "bra" => {
                labels.jump(self.cursor, self.thread.code.len())?;
                Instr::Jump { target: 0 }
            }
            "beq" | "bne" | "blt" | "bgt" | "ble" | "bge" => {
                let cmp = comparison(word);
                let left = self.value()?;
                self.comma()?;
                let right = self.value()?;
                self.comma()?;
                labels.jump(self.cursor, self.thread.code.len())?;
                Instr::Branch { cond: Expr::binary(cmp, left, right), target: 0, join: None }
            }
            _ => return Ok(None),
        }))
    }

    pub(super) fn emit(&mut self, line: u32, instr: Instr) -> usize {
        self.thread.code.push(instr);
        self.thread.lines.push(line);
        self.thread.code.len() - 1
    }

    fn instruction(&mut self, labels: &mut Labels) -> Result<(), TextError> {
        let place = self.cursor.place();
        let line = place.line;
        let text = self.cursor.word("an instruction such as `ld.weak`")?;
        let op = opcode(&text, place);
        let instr = match op.text.as_str() {
            "ld" | "tld" | "suld" | "cold" => self.load(&op)?,
            "st" | "sust" => self.store(&op)?,
            "atom" | "suatom" => self.atom(&op, true)?,
            "red" | "sured" => self.atom(&op, false)?,
            "fence" => self.fence(&op)?,
            "membar" => self.membar(&op)?,
            "bar" | "barrier" => self.barrier(&op)?,
            "await" => self.wait(&op)?,
            other => {
                if let Some(instr) = self.local(other, labels)? {
                    self.emit(line, instr);
                    return Ok(());
                }
                let expected = "an instruction such as `ld`, `st`, `atom`, `red`, `fence` or `bar`";
                return Err(TextError::expected(place, format!("`{text}`"), expected));
            }
        };
        self.emit(line, instr);
        Ok(())
    }

    pub(super) fn comma(&mut self) -> Result<(), TextError> {
        self.cursor.expect(",")
    }

    pub(super) fn register(&mut self) -> Result<Reg, TextError> {
        let name = self.cursor.word("a register")?;
        Ok(init::register(&mut self.thread, &name))
    }

    /// A number or a register that the thread has.
    pub(super) fn value(&mut self) -> Result<Expr, TextError> {
        if let Kind::Word(name) = self.cursor.peek().clone() {
            let place = self.cursor.place();
            self.cursor.advance();
            return match self.thread.register(&name) {
                Some(reg) => Ok(Expr::Reg(reg)),
                None => Err(TextError::meaning(
                    place,
                    format!("thread P{} has no register `{name}` here", self.id.0),
                )),
            };
        }
        self.cursor.number("a number or a register").map(Expr::Const)
    }

    /// `x`, `[x]`, or a register that holds an address.
    pub(super) fn address(&mut self) -> Result<Expr, TextError> {
        let bracket = self.cursor.eat("[");
        let place = self.cursor.place();
        let name = self.cursor.word("a location")?;
        let address = match (self.locations.find(&name), self.thread.register(&name)) {
            (Some(loc), _) => Expr::Addr(loc),
            (None, Some(reg)) => Expr::Reg(reg),
            (None, None) => Expr::Addr(table::new_location(self.locations, self.id, &name, place)?),
        };
        if bracket {
            self.cursor.expect("]")?;
        }
        Ok(address)
    }

    fn scope(&self, op: &Opcode) -> Result<ScopeId, TextError> {
        let Some(name) = &op.scope else {
            let expected = "a scope: `.cta`, `.cluster`, `.gpu` or `.sys`";
            return Err(TextError::expected(op.place, format!("`{}` without a scope", op.text), expected));
        };
        self.scopes.around(self.id, name).ok_or_else(|| {
            TextError::meaning(op.place, format!("thread P{} stands in no `{name}`", self.id.0))
        })
    }

    /// The access of an opcode whose order may be one of `orders`.
    fn access(&self, op: &Opcode, address: Expr, orders: &[Order]) -> Result<Access, TextError> {
        let mut access = Access::plain(address);
        access.proxy = match op.text.as_str() {
            "tld" => Proxy::Texture,
            "suld" | "sust" | "suatom" | "sured" => Proxy::Surface,
            "cold" => Proxy::Constant,
            _ => Proxy::Generic,
        };
        if let Some(rest) = op.rest.first() {
            let expected = format!("an order and a scope behind `{}`", op.text);
            return Err(TextError::expected(op.place, format!("`.{rest}`"), expected));
        }
        let Some(order) = op.order else {
            if let Some(scope) = &op.scope {
                let sentence = format!("a weak `{}` takes no scope, but `.{scope}` stands there", op.text);
                return Err(TextError::meaning(op.place, sentence));
            }
            return Ok(access);
        };
        if op.weak || !orders.contains(&order) {
            let sentence = format!("`{}` cannot have that order", op.text);
            return Err(TextError::meaning(op.place, sentence));
        }
        access.order = order;
        access.scope = Some(self.scope(op)?);
        Ok(access)
    }

    /// A load, or `ld r0, 2`, which only sets a register.
    fn load(&mut self, op: &Opcode) -> Result<Instr, TextError> {
        let dst = self.register()?;
        self.comma()?;
        let number = matches!(self.cursor.peek(), Kind::Number(_) | Kind::Mark("-"));
        let plain_register = op.order.is_none() && !op.weak && op.text == "ld";
        let register = match self.cursor.peek() {
            Kind::Word(name) => {
                plain_register && self.locations.find(name).is_none() && self.thread.register(name).is_some()
            }
            _ => false,
        };
        if number || register {
            return Ok(Instr::Assign { dst, value: self.value()? });
        }
        let address = self.address()?;
        let access = self.access(op, address, &[Order::Relaxed, Order::Acquire])?;
        Ok(Instr::Load { dst, access })
    }

    fn store(&mut self, op: &Opcode) -> Result<Instr, TextError> {
        let address = self.address()?;
        self.comma()?;
        let value = self.value()?;
        let access = self.access(op, address, &[Order::Relaxed, Order::Release])?;
        Ok(Instr::Store { access, value })
    }

    fn atom(&mut self, op: &Opcode, returns: bool) -> Result<Instr, TextError> {
        const ORDERS: [Order; 4] = [Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel];
        let mut inner = Opcode {
            rest: Vec::new(),
            text: op.text.clone(),
            scope: op.scope.clone(),
            ..opcode("", op.place)
        };
        // The order is relaxed where none is written.
        inner.order = Some(op.order.unwrap_or(Order::Relaxed));
        inner.scope.get_or_insert_with(|| "gpu".to_owned());
        let function = op.rest.first().map(String::as_str).unwrap_or_default();
        let dst = if returns {
            let dst = self.register()?;
            self.comma()?;
            Some(dst)
        } else {
            None
        };
        let address = self.address()?;
        let access = self.access(&inner, address, &ORDERS)?;
        self.comma()?;
        let operand = self.value()?;
        if function == "cas" && returns {
            self.comma()?;
            let desired = self.value()?;
            let order_failure = match access.order {
                Order::Release => Order::Relaxed,
                Order::AcqRel => Order::Acquire,
                order => order,
            };
            let cas =
                Cas { dst, success: None, access, expected: operand, desired, order_failure, weak: false };
            return Ok(Instr::Cas(Box::new(cas)));
        }
        let function = match function {
            "add" => RmwOp::Add,
            "sub" => RmwOp::Sub,
            "and" => RmwOp::And,
            "or" => RmwOp::Or,
            "xor" => RmwOp::Xor,
            "min" => RmwOp::Min,
            "max" => RmwOp::Max,
            "inc" => RmwOp::Inc,
            "dec" => RmwOp::Dec,
            "mul" => RmwOp::Mul,
            "div" => RmwOp::Div,
            "exch" if returns => RmwOp::Exchange,
            other => {
                let found = if other.is_empty() { format!("`{}`", op.text) } else { format!("`.{other}`") };
                let expected = "an operation such as `.add`, `.exch` or `.cas`";
                return Err(TextError::expected(op.place, found, expected));
            }
        };
        Ok(Instr::Rmw { dst, access, op: function, operand })
    }

    fn fence(&mut self, op: &Opcode) -> Result<Instr, TextError> {
        if op.rest.first().is_some_and(|part| part == "proxy") {
            return self.proxy_fence(op);
        }
        if let Some(rest) = op.rest.first() {
            return Err(TextError::expected(op.place, format!("`.{rest}`"), "`.sc`, `.acq_rel` or `.proxy`"));
        }
        let order = op.order.unwrap_or(Order::AcqRel);
        if op.weak || !matches!(order, Order::AcqRel | Order::SeqCst) {
            let found = format!("`{}` of another order", op.text);
            return Err(TextError::expected(op.place, found, "`.sc` or `.acq_rel`"));
        }
        let scope = self.scope(op)?;
        Ok(Instr::Fence(Fence {
            order,
            scope: Some(scope),
            global: true,
            local: true,
            proxy: None,
            remote: false,
            tags: Vec::new(),
            section: None,
        }))
    }

    fn proxy_fence(&mut self, op: &Opcode) -> Result<Instr, TextError> {
        let kind = op.rest.get(1).map(String::as_str).unwrap_or_default();
        let proxy = match (kind, op.rest.get(2)) {
            ("alias", None) => FenceProxy::Alias,
            ("texture" | "surface" | "constant", None) => {
                FenceProxy::Path(init::proxy_of(kind).unwrap_or_default())
            }
            _ => {
                let expected = "`.alias`, `.texture`, `.surface` or `.constant`";
                return Err(TextError::expected(op.place, format!("`.{kind}`"), expected));
            }
        };
        Ok(Instr::Fence(Fence {
            order: Order::Plain,
            scope: None,
            global: true,
            local: true,
            proxy: Some(proxy),
            remote: false,
            tags: Vec::new(),
            section: None,
        }))
    }

    /// The old name of `fence.sc`.
    fn membar(&mut self, op: &Opcode) -> Result<Instr, TextError> {
        let level = op.scope.as_deref().or(op.rest.first().map(String::as_str)).unwrap_or_default();
        let name = match level {
            "gl" => "gpu",
            "cta" | "gpu" | "sys" => level,
            _ => {
                return Err(TextError::expected(op.place, format!("`.{level}`"), "`.cta`, `.gl` or `.sys`"));
            }
        };
        let fence =
            Opcode { order: Some(Order::SeqCst), scope: Some(name.to_owned()), ..opcode("fence", op.place) };
        self.fence(&fence)
    }

    /// `bar.cta.sync instance [, id [, quorum]]`.
    fn barrier(&mut self, op: &Opcode) -> Result<Instr, TextError> {
        let arrive = match op.rest.first().map(String::as_str) {
            Some("sync") => false,
            Some("arrive") => true,
            other => {
                let found = other.map_or_else(|| format!("`{}`", op.text), |part| format!("`.{part}`"));
                return Err(TextError::expected(op.place, found, "`.sync` or `.arrive`"));
            }
        };
        let (instance, id, quorum) = self.barrier_operands(op.place)?;
        let group = self.scopes.around(self.id, "cta").ok_or_else(|| {
            TextError::meaning(op.place, format!("thread P{} stands in no `cta`", self.id.0))
        })?;
        Ok(Instr::Barrier(Barrier {
            group,
            scope: group,
            order: Order::AcqRel,
            instance,
            id,
            quorum,
            arrive,
            global: true,
            local: true,
            tags: Vec::new(),
        }))
    }

    /// Reads `instance [, id [, quorum]]`.
    pub(super) fn barrier_operands(
        &mut self,
        place: Place,
    ) -> Result<(Value, Expr, Option<Expr>), TextError> {
        let first = self.value()?;
        let (mut id, mut quorum) = (None, None);
        if self.cursor.eat(",") {
            id = Some(self.value()?);
        }
        if self.cursor.eat(",") {
            quorum = Some(self.value()?);
        }
        // One register alone names the resource; one number alone is both.
        let (instance, id) = match (first.as_const(), id) {
            (Some(instance), Some(id)) => (instance, id),
            (Some(instance), None) => (instance, Expr::Const(instance)),
            (None, None) => (-1, first),
            (None, Some(_)) => {
                let sentence = "the first operand of a barrier with two is a number";
                return Err(TextError::meaning(place, sentence));
            }
        };
        Ok((instance, id, quorum))
    }

    fn arithmetic(&mut self, word: &str) -> Result<Instr, TextError> {
        let dst = self.register()?;
        self.comma()?;
        let left = self.value()?;
        self.comma()?;
        let right = self.value()?;
        let operator = match word {
            "add" => BinaryOp::Add,
            "sub" => BinaryOp::Sub,
            "mul" => BinaryOp::Mul,
            "div" => BinaryOp::Div,
            "and" => BinaryOp::And,
            "or" => BinaryOp::Or,
            _ => BinaryOp::Xor,
        };
        Ok(Instr::Assign { dst, value: Expr::binary(operator, left, right) })
    }

    /// `await.acquire.gpu r0, x, 1`: waits until `x` holds 1.
    fn wait(&mut self, op: &Opcode) -> Result<Instr, TextError> {
        let dst = self.register()?;
        self.comma()?;
        let address = self.address()?;
        self.comma()?;
        let value = self.value()?;
        let access = self.access(op, address, &[Order::Relaxed, Order::Acquire])?;
        Ok(Instr::Await { dst: Some(dst), access, cmp: BinaryOp::Eq, value })
    }
}

fn comparison(text: &str) -> BinaryOp {
    match text {
        "beq" => BinaryOp::Eq,
        "bne" => BinaryOp::Ne,
        "blt" => BinaryOp::Lt,
        "bgt" => BinaryOp::Gt,
        "ble" => BinaryOp::Le,
        _ => BinaryOp::Ge,
    }
}
