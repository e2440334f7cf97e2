//! The functions of the Linux kernel's memory model, for its tests in C.
//!
//! What the model's `.def` file says of each function is said here: the accesses
//! and fences that it makes, and their annotations. The annotation `once` is the
//! set `Once` of a model.

use crate::program::{Access, BinaryOp, Cas, Expr, Fence, Instr, Order, RmwOp};

use super::super::error::TextError;
use super::super::lexer::Kind;
use super::Function;

/// The fence of that function: its annotation.
fn fence_tag(name: &str) -> Option<(&'static str, Order)> {
    Some(match name {
        "smp_mb" | "mb" => ("mb", Order::SeqCst),
        "smp_rmb" | "rmb" => ("rmb", Order::Relaxed),
        "smp_wmb" | "wmb" => ("wmb", Order::Relaxed),
        "barrier" => ("barrier", Order::Relaxed),
        "smp_mb__before_atomic" => ("before-atomic", Order::Relaxed),
        "smp_mb__after_atomic" => ("after-atomic", Order::Relaxed),
        "smp_mb__after_spinlock" => ("after-spinlock", Order::Relaxed),
        "smp_mb__after_unlock_lock" => ("after-unlock-lock", Order::Relaxed),
        "rcu_read_lock" => ("rcu-lock", Order::Relaxed),
        "rcu_read_unlock" => ("rcu-unlock", Order::Relaxed),
        "synchronize_rcu" | "synchronize_rcu_expedited" => ("sync-rcu", Order::SeqCst),
        _ => return None,
    })
}

/// The function without the order behind it, and that order: that of a
/// function without one is a full fence.
fn split_order(name: &str) -> (&str, Order, &'static str) {
    for (suffix, order, tag) in [
        ("_relaxed", Order::Relaxed, "once"),
        ("_acquire", Order::Acquire, "acquire"),
        ("_release", Order::Release, "release"),
    ] {
        if let Some(stem) = name.strip_suffix(suffix) {
            return (stem, order, tag);
        }
    }
    (name, Order::SeqCst, "mb")
}

/// `add` of `atomic_add_return`, and whether the new value is yielded.
fn counter_op(stem: &str) -> Option<(RmwOp, bool, Option<bool>)> {
    let name = stem.strip_prefix("atomic_")?;
    let (name, yields) = match name.strip_suffix("_return") {
        Some(name) => (name, Some(true)),
        None => (name, None),
    };
    Some(match name {
        "add" => (RmwOp::Add, true, yields),
        "sub" => (RmwOp::Sub, true, yields),
        "inc" => (RmwOp::Add, false, yields),
        "dec" => (RmwOp::Sub, false, yields),
        _ => return None,
    })
}

impl Function<'_> {
    /// A call of a function of the kernel, whose bracket is open; none if it is
    /// no such function.
    pub(super) fn kernel_call(&mut self, line: u32, name: &str) -> Result<Option<Expr>, TextError> {
        if let Some((tag, order)) = fence_tag(name).filter(|_| self.cursor.is(")")) {
            let fence = Fence {
                order,
                scope: Some(self.default_scope()),
                global: true,
                local: true,
                proxy: None,
                remote: false,
                tags: vec![tag.to_owned()],
            };
            self.emit(line, Instr::Fence(fence));
            return Ok(Some(Expr::Const(0)));
        }
        let (stem, order, tag) = split_order(name);
        let value = match name {
            "READ_ONCE" | "rcu_dereference" | "rcu_dereference_protected" => {
                let address = self.lvalue()?;
                let access = self.marked(address, Order::Relaxed, "once");
                self.load(line, access)
            }
            "WRITE_ONCE" | "rcu_assign_pointer" => {
                let address = self.lvalue()?;
                let (order, tag) =
                    if name == "WRITE_ONCE" { (Order::Relaxed, "once") } else { (Order::Release, "release") };
                self.kernel_store(line, address, order, tag)?
            }
            "smp_load_acquire" | "atomic_read_acquire" | "atomic_read" => {
                let address = self.expression()?;
                let (order, tag) = if name == "atomic_read" {
                    (Order::Relaxed, "once")
                } else {
                    (Order::Acquire, "acquire")
                };
                let access = self.marked(address, order, tag);
                self.load(line, access)
            }
            "smp_store_release" | "atomic_set_release" | "atomic_set" => {
                let address = self.expression()?;
                let (order, tag) =
                    if name == "atomic_set" { (Order::Relaxed, "once") } else { (Order::Release, "release") };
                self.kernel_store(line, address, order, tag)?
            }
            "smp_store_mb" => {
                let address = self.lvalue()?;
                self.kernel_store(line, address, Order::Relaxed, "once")?;
                return self.full_fence(line);
            }
            "spin_lock" => self.spin_lock(line)?,
            "spin_unlock" => {
                let address = self.expression()?;
                let access = self.marked(address, Order::Release, "release");
                self.emit(line, Instr::Store { access, value: Expr::Const(0) });
                Expr::Const(0)
            }
            _ => match stem {
                "xchg" | "atomic_xchg" => {
                    let address = self.expression()?;
                    self.cursor.expect(",")?;
                    let operand = self.expression()?;
                    self.update(line, address, RmwOp::Exchange, operand, order, tag)
                }
                "cmpxchg" | "atomic_cmpxchg" => self.kernel_cas(line, order, tag)?,
                _ => match counter_op(stem) {
                    Some((op, takes_operand, yields)) => {
                        self.counter(line, op, takes_operand, yields.is_some(), order, tag)?
                    }
                    None => return Ok(None),
                },
            },
        };
        Ok(Some(value))
    }

    fn full_fence(&mut self, line: u32) -> Result<Option<Expr>, TextError> {
        let scope = Some(self.default_scope());
        let tags = vec!["mb".to_owned()];
        let order = Order::SeqCst;
        self.emit(
            line,
            Instr::Fence(Fence { order, scope, global: true, local: true, proxy: None, remote: false, tags }),
        );
        Ok(Some(Expr::Const(0)))
    }

    /// `*x` or `a[1]` as an address.
    fn lvalue(&mut self) -> Result<Expr, TextError> {
        if self.cursor.eat("*") {
            return self.unary();
        }
        match (self.cursor.peek(), self.cursor.peek_at(1)) {
            (Kind::Word(_), Kind::Mark("[")) => self.element(),
            _ => Err(self.cursor.expected("`*x` or `a[1]`")),
        }
    }

    fn marked(&self, address: Expr, order: Order, tag: &str) -> Access {
        let mut access = Access::atomic(address, order, self.default_scope());
        access.tags.push(tag.to_owned());
        access
    }

    fn kernel_store(&mut self, line: u32, address: Expr, order: Order, tag: &str) -> Result<Expr, TextError> {
        self.cursor.expect(",")?;
        let value = self.expression()?;
        let access = self.marked(address, order, tag);
        self.emit(line, Instr::Store { access, value });
        Ok(Expr::Const(0))
    }

    fn update(
        &mut self,
        line: u32,
        address: Expr,
        op: RmwOp,
        operand: Expr,
        order: Order,
        tag: &str,
    ) -> Expr {
        let dst = self.temporary();
        let access = self.marked(address, order, tag);
        self.emit(line, Instr::Rmw { dst: Some(dst), access, op, operand });
        Expr::Reg(dst)
    }

    /// `atomic_add(1, x)`, `atomic_inc(x)`: relaxed without `_return`.
    fn counter(
        &mut self,
        line: u32,
        op: RmwOp,
        takes_operand: bool,
        yields: bool,
        order: Order,
        tag: &str,
    ) -> Result<Expr, TextError> {
        let mut operand = Expr::Const(1);
        if takes_operand {
            operand = self.expression()?;
            self.cursor.expect(",")?;
        }
        let address = self.expression()?;
        if !yields {
            self.update(line, address, op, operand, Order::Relaxed, "noreturn");
            return Ok(Expr::Const(0));
        }
        let sign = if op == RmwOp::Add { BinaryOp::Add } else { BinaryOp::Sub };
        let old = self.update(line, address, op, operand.clone(), order, tag);
        Ok(Expr::binary(sign, old, operand))
    }

    fn kernel_cas(&mut self, line: u32, order: Order, tag: &str) -> Result<Expr, TextError> {
        let address = self.expression()?;
        self.cursor.expect(",")?;
        let expected = self.expression()?;
        self.cursor.expect(",")?;
        let desired = self.expression()?;
        let dst = self.temporary();
        let access = self.marked(address, order, tag);
        let cas = Cas {
            dst: Some(dst),
            success: None,
            access,
            expected,
            desired,
            order_failure: Order::Relaxed,
            weak: false,
        };
        self.emit(line, Instr::Cas(Box::new(cas)));
        Ok(Expr::Reg(dst))
    }

    /// Waits until the lock is free, and takes it.
    fn spin_lock(&mut self, line: u32) -> Result<Expr, TextError> {
        let address = self.expression()?;
        let top = self.here();
        let access = self.marked(address, Order::Acquire, "acquire");
        let dst = self.temporary();
        let cas = Cas {
            dst: Some(dst),
            success: None,
            access,
            expected: Expr::Const(0),
            desired: Expr::Const(1),
            order_failure: Order::Relaxed,
            weak: false,
        };
        self.emit(line, Instr::Cas(Box::new(cas)));
        let cond = Expr::binary(BinaryOp::Ne, Expr::Reg(dst), Expr::Const(0));
        let branch = self.emit(line, Instr::Branch { cond, target: top, join: None });
        let end = self.here();
        self.patch(branch, top, Some(end));
        Ok(Expr::Const(0))
    }
}
