//! Parses PTX tests, with instructions such as `st.release.gpu x, 1` and `atom.acq_rel.sys.add r0,
//! x, 1`.

use crate::program::{
    Access, Barrier, BinaryOp, Cas, Dialect, Expr, Fence, FenceProxy, Instr, Order, Program, Proxy, RmwOp,
    ScopeId,
};

use super::columns::{self, Column, Form};
use super::cursor::Cursor;
use super::error::{Place, TextError};
use super::init::{self, Locations};
use super::lexer::{Kind, Lexed};
use super::table::Labels;

/// The default placement of threads: each thread has its own CTA (work-group), and all threads are
/// on one GPU.
const PTX_ALONE: [(&str, bool); 2] = [("cta", false), ("gpu", true)];

/// Reads a PTX test.
pub(super) fn parse(lexed: Lexed) -> Result<Program, TextError> {
    let mut cursor = Cursor::new(lexed.tokens);
    let mut locations = Locations::new();
    let inits = init::block(&mut cursor, Dialect::Ptx, &mut locations)?;
    let place = cursor.place();
    let (placement, count) = columns::header(&mut cursor)?;
    let scopes = placement.scopes(count, &PTX_ALONE, place)?;
    columns::columns(
        cursor,
        lexed.name,
        Form { dialect: Dialect::Ptx, locations, inits, scopes },
        |column, labels| column.instruction(labels),
    )
}

/// The parts of an opcode. For example, `atom.acq_rel.sys.add` has an operation, a memory order and
/// a scope.
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
            // A volatile access is a relaxed access at system scope.
            "volatile" | "mmio" => {
                of.order = Some(Order::Relaxed);
                of.scope.get_or_insert_with(|| "sys".to_owned());
            }
            "cta" | "cluster" | "gpu" | "sys" => of.scope = Some(part.to_owned()),
            // State spaces, types and vector widths have no effect.
            "global" | "shared" | "const" | "param" | "local" | "generic" | "u8" | "u16" | "u32" | "u64"
            | "s8" | "s16" | "s32" | "s64" | "b8" | "b16" | "b32" | "b64" | "f32" | "f64" | "aligned" => {}
            other => of.rest.push(other.to_owned()),
        }
    }
    of
}

impl Column<'_> {
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

    fn scope(&self, op: &Opcode) -> Result<ScopeId, TextError> {
        let Some(name) = &op.scope else {
            let expected = "a scope: `.cta`, `.cluster`, `.gpu` or `.sys`";
            return Err(TextError::expected(op.place, format!("`{}` without a scope", op.text), expected));
        };
        self.scopes
            .around(self.id, name)
            .ok_or_else(|| TextError::meaning(op.place, format!("thread P{} is in no `{name}`", self.id.0)))
    }

    /// The access that an instruction with this opcode makes. `orders` lists the memory orders that
    /// the instruction may have.
    fn access(&self, op: &Opcode, address: Expr, orders: &[Order]) -> Result<Access, TextError> {
        let mut access = Access::plain(address);
        access.proxy = match op.text.as_str() {
            "tld" => Proxy::Texture,
            "suld" | "sust" | "suatom" | "sured" => Proxy::Surface,
            "cold" => Proxy::Constant,
            _ => Proxy::Generic,
        };
        if let Some(rest) = op.rest.first() {
            let expected = format!("an order and a scope after `{}`", op.text);
            return Err(TextError::expected(op.place, format!("`.{rest}`"), expected));
        }
        let Some(order) = op.order else {
            if let Some(scope) = &op.scope {
                let sentence = format!("a weak `{}` takes no scope, found `.{scope}`", op.text);
                return Err(TextError::meaning(op.place, sentence));
            }
            return Ok(access);
        };
        if op.weak || !orders.contains(&order) {
            let sentence = format!("`{}` cannot have this memory order", op.text);
            return Err(TextError::meaning(op.place, sentence));
        }
        access.order = order;
        access.scope = Some(self.scope(op)?);
        Ok(access)
    }

    /// Parses a load. Also parses `ld r0, 2`, which only sets a register.
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
        // A read-modify-write without a memory order is relaxed.
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

    /// Parses `membar`, which is the old name of `fence.sc`.
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

    /// Parses a barrier, such as `bar.cta.sync instance [, id [, quorum]]`.
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
        let group = self
            .scopes
            .around(self.id, "cta")
            .ok_or_else(|| TextError::meaning(op.place, format!("thread P{} is in no `cta`", self.id.0)))?;
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

    /// Parses `await.acquire.gpu r0, x, 1`, which waits until `x` holds 1.
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
