//! Expressions over the registers of a thread.

use core::fmt;

use super::{LocId, Reg, Value, address_value};

/// An operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnaryOp {
    /// The negation `-a`.
    Neg,
    /// `!a`: one if `a` is zero, else zero.
    Not,
    /// The bitwise complement `~a`.
    BitNot,
}

/// A binary operator. Comparisons yield one or zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BinaryOp {
    /// The sum `a + b`. It wraps on overflow.
    Add,
    /// The difference `a - b`. It wraps on overflow.
    Sub,
    /// The product `a * b`. It wraps on overflow.
    Mul,
    /// The signed quotient `a / b`. It wraps on overflow.
    Div,
    /// The signed remainder `a % b`.
    Rem,
    /// The bitwise and, `a & b`.
    And,
    /// The bitwise or, `a | b`.
    Or,
    /// The bitwise exclusive or, `a ^ b`.
    Xor,
    /// The left shift `a << b`.
    Shl,
    /// The arithmetic right shift `a >> b`.
    Shr,
    /// The comparison `a == b`.
    Eq,
    /// The comparison `a != b`.
    Ne,
    /// The signed comparison `a < b`.
    Lt,
    /// The signed comparison `a <= b`.
    Le,
    /// The signed comparison `a > b`.
    Gt,
    /// The signed comparison `a >= b`.
    Ge,
}

/// A value computed from registers and constants.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Expr {
    /// A number.
    Const(Value),
    /// A register of the thread.
    Reg(Reg),
    /// The address of a location.
    Addr(LocId),
    /// A unary operator with its operand.
    Unary(UnaryOp, Box<Expr>),
    /// A binary operator with its operands.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
}

/// The reason why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvalError {
    /// A division by zero.
    Division,
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvalError::Division => f.write_str("a division by zero"),
        }
    }
}

impl BinaryOp {
    /// Applies the operator to `a` and `b`.
    ///
    /// # Errors
    /// If a divisor is zero.
    pub fn apply(self, a: Value, b: Value) -> Result<Value, EvalError> {
        Ok(match self {
            BinaryOp::Add => a.wrapping_add(b),
            BinaryOp::Sub => a.wrapping_sub(b),
            BinaryOp::Mul => a.wrapping_mul(b),
            BinaryOp::Div | BinaryOp::Rem if b == 0 => return Err(EvalError::Division),
            BinaryOp::Div => a.wrapping_div(b),
            BinaryOp::Rem => a.wrapping_rem(b),
            BinaryOp::And => a & b,
            BinaryOp::Or => a | b,
            BinaryOp::Xor => a ^ b,
            BinaryOp::Shl => a.wrapping_shl(b as u32),
            BinaryOp::Shr => a.wrapping_shr(b as u32),
            BinaryOp::Eq => Value::from(a == b),
            BinaryOp::Ne => Value::from(a != b),
            BinaryOp::Lt => Value::from(a < b),
            BinaryOp::Le => Value::from(a <= b),
            BinaryOp::Gt => Value::from(a > b),
            BinaryOp::Ge => Value::from(a >= b),
        })
    }

    /// The operator in C's notation.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::And => "&",
            BinaryOp::Or => "|",
            BinaryOp::Xor => "^",
            BinaryOp::Shl => "<<",
            BinaryOp::Shr => ">>",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
        }
    }
}

impl Expr {
    /// The expression `a op b`.
    #[must_use]
    pub fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
        Expr::Binary(op, Box::new(a), Box::new(b))
    }

    /// The expression `self == value`.
    #[must_use]
    pub fn equals(self, value: Value) -> Expr {
        Expr::binary(BinaryOp::Eq, self, Expr::Const(value))
    }

    /// The value of the expression, given the values of the registers.
    ///
    /// # Errors
    /// If a divisor is zero.
    pub fn eval(&self, registers: &[Value]) -> Result<Value, EvalError> {
        Ok(match self {
            Expr::Const(value) => *value,
            Expr::Reg(reg) => registers.get(usize::from(reg.0)).copied().unwrap_or(0),
            Expr::Addr(loc) => address_value(*loc),
            Expr::Unary(op, a) => {
                let a = a.eval(registers)?;
                match op {
                    UnaryOp::Neg => a.wrapping_neg(),
                    UnaryOp::Not => Value::from(a == 0),
                    UnaryOp::BitNot => !a,
                }
            }
            Expr::Binary(op, a, b) => op.apply(a.eval(registers)?, b.eval(registers)?)?,
        })
    }

    /// The location whose address the expression is. `None` if the expression is not just the
    /// address of a location.
    #[must_use]
    pub fn as_location(&self) -> Option<LocId> {
        match self {
            Expr::Addr(loc) => Some(*loc),
            _ => None,
        }
    }

    /// The number that the expression is. `None` if the expression is not just a number.
    #[must_use]
    pub fn as_const(&self) -> Option<Value> {
        match self {
            Expr::Const(value) => Some(*value),
            _ => None,
        }
    }

    /// Calls `visit` for every register of the expression.
    pub fn for_each_reg(&self, visit: &mut dyn FnMut(Reg)) {
        match self {
            Expr::Const(_) | Expr::Addr(_) => {}
            Expr::Reg(reg) => visit(*reg),
            Expr::Unary(_, a) => a.for_each_reg(visit),
            Expr::Binary(_, a, b) => {
                a.for_each_reg(visit);
                b.for_each_reg(visit);
            }
        }
    }

    /// Calls `visit` for every constant of the expression. An address counts as a constant.
    pub fn for_each_constant(&self, visit: &mut dyn FnMut(Value)) {
        match self {
            Expr::Const(value) => visit(*value),
            Expr::Addr(loc) => visit(address_value(*loc)),
            Expr::Reg(_) => {}
            Expr::Unary(_, a) => a.for_each_constant(visit),
            Expr::Binary(_, a, b) => {
                a.for_each_constant(visit);
                b.for_each_constant(visit);
            }
        }
    }

    /// The nesting depth of the expression.
    #[must_use]
    pub fn depth(&self) -> usize {
        match self {
            Expr::Const(_) | Expr::Addr(_) | Expr::Reg(_) => 1,
            Expr::Unary(_, a) => 1 + a.depth(),
            Expr::Binary(_, a, b) => 1 + a.depth().max(b.depth()),
        }
    }
}
