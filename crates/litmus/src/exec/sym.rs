//! Symbolic values: values that depend on reads.

use std::rc::Rc;

use crate::exec::set::EventSet;
use crate::program::{BinaryOp, RmwOp, UnaryOp, Value};

/// A symbolic value: a term over the values that the events of one thread read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sym {
    /// A number.
    Const(Value),
    /// The value that the thread's n-th event reads.
    Read(u16),
    /// A unary operator with its operand.
    Unary(UnaryOp, Rc<Sym>),
    /// A binary operator with its operands.
    Binary(BinaryOp, Rc<Sym>, Rc<Sym>),
    /// The value that a read-modify-write writes: its operation, the value that it reads, and its
    /// operand.
    Rmw(RmwOp, Rc<Sym>, Rc<Sym>),
}

/// The reason why a value is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// The value depends on a read for which the search has not yet decided the write.
    Yet,
    /// The value does not exist, because the term divides by zero.
    Never,
}

impl Sym {
    pub(crate) fn constant(&self) -> Option<Value> {
        match self {
            Sym::Const(value) => Some(*value),
            _ => None,
        }
    }

    pub(crate) fn unary(op: UnaryOp, a: Sym) -> Sym {
        match a {
            Sym::Const(value) => Sym::Const(apply(op, value)),
            a => Sym::Unary(op, Rc::new(a)),
        }
    }

    /// Applies a binary operator. The result is a number if both operands are numbers. A division
    /// by zero stays a symbolic term, because it has no value.
    pub(crate) fn binary(op: BinaryOp, a: Sym, b: Sym) -> Sym {
        match (&a, &b) {
            (Sym::Const(x), Sym::Const(y)) => match op.apply(*x, *y) {
                Ok(value) => Sym::Const(value),
                Err(_) => Sym::Binary(op, Rc::new(a), Rc::new(b)),
            },
            _ => Sym::Binary(op, Rc::new(a), Rc::new(b)),
        }
    }

    pub(crate) fn rmw(op: RmwOp, old: Sym, operand: Sym) -> Sym {
        match (&old, &operand) {
            (_, _) if op == RmwOp::Exchange => operand,
            (Sym::Const(old), Sym::Const(operand)) => Sym::Const(op.apply(*old, *operand)),
            _ => Sym::Rmw(op, Rc::new(old), Rc::new(operand)),
        }
    }

    /// The number that the term denotes. `read` gives the values that the thread's events read.
    pub(crate) fn eval(&self, read: &impl Fn(u16) -> Option<Value>) -> Result<Value, Unknown> {
        Ok(match self {
            Sym::Const(value) => *value,
            Sym::Read(event) => read(*event).ok_or(Unknown::Yet)?,
            Sym::Unary(op, a) => apply(*op, a.eval(read)?),
            Sym::Binary(op, a, b) => op.apply(a.eval(read)?, b.eval(read)?).map_err(|_| Unknown::Never)?,
            Sym::Rmw(op, a, b) => op.apply(a.eval(read)?, b.eval(read)?),
        })
    }

    /// The events of the thread that read the values on which the term depends.
    pub(crate) fn reads(&self) -> EventSet {
        match self {
            Sym::Const(_) => EventSet::EMPTY,
            Sym::Read(event) => EventSet::only(usize::from(*event)),
            Sym::Unary(_, a) => a.reads(),
            Sym::Binary(_, a, b) | Sym::Rmw(_, a, b) => a.reads() | b.reads(),
        }
    }

    /// Equations that follow if this term is not zero. Each equation gives the value of a read. The
    /// read is given by the number of its event in the thread.
    pub(crate) fn equations(&self) -> Vec<(u16, Sym)> {
        match self {
            Sym::Read(_) | Sym::Const(_) | Sym::Rmw(..) => Vec::new(),
            Sym::Binary(BinaryOp::Eq, a, b) => {
                let of = |read: &Sym, value: &Sym| match read {
                    Sym::Read(event) => Some((*event, value.clone())),
                    _ => None,
                };
                of(a, b).into_iter().chain(of(b, a)).collect()
            }
            Sym::Binary(..) => Vec::new(),
            Sym::Unary(UnaryOp::Not, inner) => match &**inner {
                Sym::Read(event) => vec![(*event, Sym::Const(0))],
                Sym::Binary(BinaryOp::Ne, a, b) => {
                    Sym::Binary(BinaryOp::Eq, a.clone(), b.clone()).equations()
                }
                // After two negations, the inner value is not zero either.
                Sym::Unary(UnaryOp::Not, inner) => inner.equations(),
                _ => Vec::new(),
            },
            Sym::Unary(..) => Vec::new(),
        }
    }

    /// The nesting depth of the term.
    pub(crate) fn depth(&self) -> usize {
        match self {
            Sym::Const(_) | Sym::Read(_) => 1,
            Sym::Unary(_, a) => 1 + a.depth(),
            Sym::Binary(_, a, b) | Sym::Rmw(_, a, b) => 1 + a.depth().max(b.depth()),
        }
    }
}

fn apply(op: UnaryOp, a: Value) -> Value {
    match op {
        UnaryOp::Neg => a.wrapping_neg(),
        UnaryOp::Not => Value::from(a == 0),
        UnaryOp::BitNot => !a,
    }
}
