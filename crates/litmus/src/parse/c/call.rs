//! Parses calls: atomics, fences, barriers and `await`.

use crate::program::{
    Access, Barrier, BinaryOp, Cas, Dialect, Expr, Fence, Instr, Level, Order, Proxy, RmwOp, ScopeId,
    level_of,
};

use super::super::error::{Place, TextError};
use super::super::lexer::Kind;
use super::Function;
use proto::Hints;

/// The memory order, failure order, scope and other properties of an atomic call.
struct Mode {
    order: Order,
    order_failure: Order,
    scope: ScopeId,
    remote: bool,
    commutative: bool,
    tags: Vec<String>,
}

impl Mode {
    fn access(&self, address: Expr) -> Access {
        Access {
            address,
            order: self.order,
            scope: Some(self.scope),
            proxy: Proxy::Generic,
            remote: self.remote,
            commutative: self.commutative,
            tags: self.tags.clone(),
        }
    }
}

/// The operation of an `atomic_fetch_...` call. `name` is the end of the call's name, such as `add`
/// for `atomic_fetch_add`.
fn fetch_op(name: &str) -> Option<RmwOp> {
    Some(match name {
        "add" => RmwOp::Add,
        "sub" => RmwOp::Sub,
        "and" => RmwOp::And,
        "or" => RmwOp::Or,
        "xor" => RmwOp::Xor,
        "min" => RmwOp::Min,
        "max" => RmwOp::Max,
        _ => return None,
    })
}

/// The number of a barrier, which is computed from its label. Equal labels give equal numbers, also
/// in different threads.
fn barrier_number(label: &str) -> i64 {
    let hash = label
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    (hash >> 2) as i64 + 1
}

fn order_of(word: &str) -> Option<Order> {
    Some(match word.strip_prefix("memory_order_").unwrap_or(word) {
        "relaxed" => Order::Relaxed,
        // All models here treat the order `consume` as `acquire`.
        "acquire" | "consume" => Order::Acquire,
        "release" => Order::Release,
        "acq_rel" => Order::AcqRel,
        "seq_cst" => Order::SeqCst,
        _ => return None,
    })
}

impl Function<'_> {
    /// Reads a call. The value of a call that returns nothing is zero.
    pub(super) fn call(&mut self) -> Result<Expr, TextError> {
        if self.dialect == Dialect::C11 && self.at_primitive() {
            return self.primitive();
        }
        if let Kind::Word(name) = self.cursor.peek()
            && self.dialect == Dialect::C11
            && self.macros.has(name)
        {
            return self.expansion();
        }
        let place = self.cursor.place();
        let line = place.line;
        let full = self.cursor.word("a function")?;
        self.cursor.expect("(")?;
        let (name, commutative) = match full.strip_suffix("_commutative") {
            Some(name) if name.starts_with("atomic_fetch_") => (name, true),
            _ => (full.as_str(), false),
        };
        let (name, remote) = match name.strip_suffix("_remote") {
            Some(name) => (name, true),
            None => (name, false),
        };
        let (name, explicit) = match name.strip_suffix("_explicit") {
            Some(name) => (name, true),
            None => (name, false),
        };
        let value = match name {
            "atomic_load" => {
                let address = self.expression()?;
                let mode = self.mode(explicit, remote, false)?;
                self.check_order(place, mode.order, "load", &[Order::Release, Order::AcqRel])?;
                self.load(line, mode.access(address))
            }
            "atomic_store" | "atomic_init" => {
                let address = self.expression()?;
                self.cursor.expect(",")?;
                let value = self.expression()?;
                let access = if name == "atomic_init" {
                    Access::plain(address)
                } else {
                    let mode = self.mode(explicit, remote, false)?;
                    self.check_order(place, mode.order, "store", &[Order::Acquire, Order::AcqRel])?;
                    mode.access(address)
                };
                self.emit(line, Instr::Store { access, value });
                Expr::Const(0)
            }
            "atomic_exchange" => {
                self.fetch(line, RmwOp::Exchange, explicit, Hints { remote, commutative: false })?
            }
            "atomic_flag_test_and_set" | "atomic_flag_clear" => {
                self.flag(line, name == "atomic_flag_clear", explicit, remote)?
            }
            "atomic_compare_exchange_strong" => self.compare_exchange(line, false, explicit, remote)?,
            "atomic_compare_exchange_weak" => self.compare_exchange(line, true, explicit, remote)?,
            "atomic_work_item_fence" | "atomic_thread_fence" | "mem_fence" => {
                self.fence(line, name, remote)?;
                Expr::Const(0)
            }
            "barrier" | "work_group_barrier" | "sub_group_barrier" => {
                self.barrier(line, name == "sub_group_barrier")?;
                Expr::Const(0)
            }
            "await" => self.wait(line, remote)?,
            _ => match name.strip_prefix("atomic_fetch_").and_then(fetch_op) {
                Some(op) => self.fetch(line, op, explicit, Hints { remote, commutative })?,
                None => {
                    let expected = "an atomic operation, a fence, a barrier or `await`";
                    return Err(TextError::expected(place, format!("`{full}`"), expected));
                }
            },
        };
        self.cursor.expect(")")?;
        Ok(value)
    }

    /// Parses a call of a macro: expands the macro and parses the expansion, which is an expression
    /// or a block. Returns the value of the expression, or zero for a block.
    fn expansion(&mut self) -> Result<Expr, TextError> {
        self.enter()?;
        self.macros.expand(self.cursor, &mut self.expanded)?;
        let value = if self.cursor.is("{") {
            self.block()?;
            Expr::Const(0)
        } else {
            self.unary()?
        };
        self.depth -= 1;
        Ok(value)
    }

    fn check_order(&self, place: Place, order: Order, what: &str, not: &[Order]) -> Result<(), TextError> {
        // OpenCL forbids these orders too, but published OpenCL tests use them, so the parser
        // accepts them in OpenCL tests.
        if self.dialect == Dialect::OpenCl || !not.contains(&order) {
            return Ok(());
        }
        let sentence = format!("an atomic {what} cannot have the order {}", proto::Symbol::name(order));
        Err(TextError::meaning(place, sentence))
    }

    /// The default scope of an atomic operation: the device in OpenCL, the system in
    /// C11.
    pub(super) fn default_scope(&self) -> ScopeId {
        let level = if self.dialect == Dialect::OpenCl { Level::Device } else { Level::System };
        self.scopes
            .enclosing(self.id, level)
            .or_else(|| self.scopes.enclosing(self.id, Level::System))
            .unwrap_or_default()
    }

    /// Reads the optional arguments of an atomic call: `, order [, failure order] [, scope]`.
    fn mode(&mut self, explicit: bool, remote: bool, two_orders: bool) -> Result<Mode, TextError> {
        let mut mode = Mode {
            order: Order::SeqCst,
            order_failure: Order::SeqCst,
            scope: self.default_scope(),
            remote,
            commutative: false,
            tags: Vec::new(),
        };
        if explicit || self.cursor.is(",") {
            self.cursor.expect(",")?;
            mode.order = self.order()?;
            mode.order_failure = match mode.order {
                Order::AcqRel => Order::Acquire,
                Order::Release => Order::Relaxed,
                order => order,
            };
            if two_orders && self.cursor.eat(",") {
                mode.order_failure = self.order()?;
            }
            if self.cursor.eat(",") {
                mode.scope = self.scope()?;
            }
        }
        Ok(mode)
    }

    fn order(&mut self) -> Result<Order, TextError> {
        let found = match self.cursor.peek() {
            Kind::Word(word) => order_of(word),
            _ => None,
        };
        match found {
            Some(order) => {
                self.cursor.advance();
                Ok(order)
            }
            None => Err(self.cursor.expected("a memory order such as `memory_order_acquire`")),
        }
    }

    fn scope(&mut self) -> Result<ScopeId, TextError> {
        let place = self.cursor.place();
        let word = self.cursor.word("a memory scope such as `memory_scope_device`")?;
        let name = word.strip_prefix("memory_scope_").unwrap_or(&word);
        self.scopes.around(self.id, name).ok_or_else(|| {
            let known = level_of(name) != Level::Named || self.scopes.iter().any(|(_, s)| s.kind == name);
            if known {
                let sentence = format!("thread P{} is in no `{name}`", self.id.0);
                TextError::meaning(place, sentence)
            } else {
                TextError::expected(
                    place,
                    format!("`{word}`"),
                    "a memory scope such as `memory_scope_device`",
                )
            }
        })
    }

    fn fetch(&mut self, line: u32, op: RmwOp, explicit: bool, hints: Hints) -> Result<Expr, TextError> {
        let address = self.expression()?;
        self.cursor.expect(",")?;
        let operand = self.expression()?;
        let mode = self.mode(explicit, hints.remote, false)?;
        let mode = Mode { commutative: hints.commutative, ..mode };
        let dst = self.temporary();
        self.emit(line, Instr::Rmw { dst: Some(dst), access: mode.access(address), op, operand });
        Ok(Expr::Reg(dst))
    }

    fn flag(&mut self, line: u32, clear: bool, explicit: bool, remote: bool) -> Result<Expr, TextError> {
        let address = self.expression()?;
        let mode = self.mode(explicit, remote, false)?;
        let access = mode.access(address);
        if clear {
            self.emit(line, Instr::Store { access, value: Expr::Const(0) });
            return Ok(Expr::Const(0));
        }
        let dst = self.temporary();
        let operand = Expr::Const(1);
        self.emit(line, Instr::Rmw { dst: Some(dst), access, op: RmwOp::Exchange, operand });
        Ok(Expr::Reg(dst))
    }

    /// Reads the arguments of a compare-exchange. The expected value is in a word of memory, or in
    /// a variable of the thread (in the form `&variable`). If the exchange fails, this word or
    /// variable receives the old value.
    fn compare_exchange(
        &mut self,
        line: u32,
        weak: bool,
        explicit: bool,
        remote: bool,
    ) -> Result<Expr, TextError> {
        let address = self.expression()?;
        self.cursor.expect(",")?;
        let variable = match (self.cursor.peek(), self.cursor.peek_at(1)) {
            (Kind::Mark("&"), Kind::Word(name)) => self.thread.register(name),
            _ => None,
        };
        let (expected, place_of_expected) = if let Some(reg) = variable {
            self.cursor.advance();
            self.cursor.advance();
            (Expr::Reg(reg), None)
        } else {
            let at = self.expression()?;
            if at.as_const().is_some() {
                return Err(self
                    .cursor
                    .expected("a pointer, not a constant, as the argument before this one"));
            }
            (self.load(line, Access::plain(at.clone())), Some(at))
        };
        self.cursor.expect(",")?;
        let desired = self.expression()?;
        let mode = self.mode(explicit, remote, true)?;
        let (old, success) = (self.temporary(), self.temporary());
        let cas = Cas {
            dst: Some(old),
            success: Some(success),
            access: mode.access(address),
            expected,
            desired,
            order_failure: mode.order_failure,
            weak,
        };
        self.emit(line, Instr::Cas(Box::new(cas)));
        let branch = self.emit(line, Instr::Branch { cond: Expr::Reg(success), target: 0, join: None });
        let old = Expr::Reg(old);
        match (place_of_expected, variable) {
            (Some(at), _) => self.emit(line, Instr::Store { access: Access::plain(at), value: old }),
            (None, Some(dst)) => self.emit(line, Instr::Assign { dst, value: old }),
            (None, None) => branch,
        };
        let end = self.here();
        self.patch(branch, end, Some(end));
        Ok(Expr::Reg(success))
    }

    /// Reads the flags of a fence or a barrier, such as
    /// `CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE`. Returns two values: whether the flags include
    /// the global memory region, and whether they include the local memory region.
    fn regions(&mut self) -> Result<(bool, bool), TextError> {
        let (mut global, mut local) = (false, false);
        loop {
            let place = self.cursor.place();
            match self.cursor.word("`CLK_GLOBAL_MEM_FENCE` or `CLK_LOCAL_MEM_FENCE`")?.as_str() {
                "CLK_GLOBAL_MEM_FENCE" => global = true,
                "CLK_LOCAL_MEM_FENCE" => local = true,
                "CLK_IMAGE_MEM_FENCE" => {}
                other => {
                    let expected = "`CLK_GLOBAL_MEM_FENCE` or `CLK_LOCAL_MEM_FENCE`";
                    return Err(TextError::expected(place, format!("`{other}`"), expected));
                }
            }
            if !self.cursor.eat("|") {
                return Ok((global, local));
            }
        }
    }

    fn fence(&mut self, line: u32, name: &str, remote: bool) -> Result<(), TextError> {
        let (mut global, mut local) = (true, true);
        let (mut order, mut scope) = (Order::SeqCst, self.default_scope());
        if name == "atomic_thread_fence" {
            order = self.order()?;
            if self.cursor.eat(",") {
                scope = self.scope()?;
            }
        } else {
            (global, local) = self.regions()?;
            if name == "mem_fence" {
                order = Order::AcqRel;
                scope = self.scopes.enclosing(self.id, Level::WorkGroup).unwrap_or(scope);
            }
            if self.cursor.eat(",") {
                order = self.order()?;
            }
            if self.cursor.eat(",") {
                scope = self.scope()?;
            }
        }
        let fence = Fence {
            order,
            scope: Some(scope),
            global,
            local,
            proxy: None,
            remote,
            tags: Vec::new(),
            section: None,
        };
        self.emit(line, Instr::Fence(fence));
        Ok(())
    }

    fn barrier(&mut self, line: u32, sub_group: bool) -> Result<(), TextError> {
        let place = self.cursor.place();
        let (global, local) = self.regions()?;
        let level = if sub_group { Level::SubGroup } else { Level::WorkGroup };
        let Some(group) = self.scopes.enclosing(self.id, level) else {
            let sentence = format!("thread P{} is in no group of this barrier's level", self.id.0);
            return Err(TextError::meaning(place, sentence));
        };
        let scope = if self.cursor.eat(",") { self.scope()? } else { group };
        // If a label precedes the barrier, the label identifies the barrier across threads.
        let here = self.here();
        let instance = self.labels.at(here).map_or(0, barrier_number);
        self.emit(
            line,
            Instr::Barrier(Barrier {
                group,
                scope,
                order: Order::AcqRel,
                instance,
                id: Expr::Const(0),
                quorum: None,
                arrive: false,
                global,
                local,
                tags: Vec::new(),
            }),
        );
        Ok(())
    }

    /// Reads `await(x == v, order, scope)`. `x` may be any pointer, or `*pointer`.
    fn wait(&mut self, line: u32, remote: bool) -> Result<Expr, TextError> {
        self.cursor.eat("*");
        let address = self.unary()?;
        let cmp = match self.cursor.peek() {
            Kind::Mark("==") => BinaryOp::Eq,
            Kind::Mark("!=") => BinaryOp::Ne,
            Kind::Mark("<") => BinaryOp::Lt,
            Kind::Mark("<=") => BinaryOp::Le,
            Kind::Mark(">") => BinaryOp::Gt,
            Kind::Mark(">=") => BinaryOp::Ge,
            _ => return Err(self.cursor.expected("a comparison such as `==`")),
        };
        self.cursor.advance();
        let value = self.expression()?;
        let mode = self.mode(false, remote, false)?;
        let dst = self.temporary();
        self.emit(line, Instr::Await { dst: Some(dst), access: mode.access(address), cmp, value });
        Ok(Expr::Reg(dst))
    }
}
