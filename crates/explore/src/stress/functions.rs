//! The functions of read-modify-writes of data words, as the check of their results computes them.
//!
//! All bytes of a data word are equal before and after every operation, so one byte stands for the
//! word. The code is independent of [`proto::Rmw::apply`], which it checks.

use super::layout::repeated;
use proto::{RmwKind, Width};

/// The function of a read-modify-write of data words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Function {
    Exchange,
    Add,
    Sub,
    Xor,
    And,
    Or,
    MinU,
    MaxU,
    MinS,
    MaxS,
    AddF,
}

/// The smallest difference of two magnitudes at which the sum of two floating-point numbers is the
/// number with the larger magnitude; see [`magnitude`].
const LOST: u8 = 16;

/// The exponent of a floating-point number whose bytes are all equal to `byte`, in steps of two
/// (single precision) or sixteen (double precision).
const fn magnitude(byte: u8) -> u8 {
    byte & 0x7f
}

impl Function {
    pub(super) const ALL: [Function; 11] = [
        Function::Exchange,
        Function::Add,
        Function::Sub,
        Function::Xor,
        Function::And,
        Function::Or,
        Function::MinU,
        Function::MaxU,
        Function::MinS,
        Function::MaxS,
        Function::AddF,
    ];

    /// Whether words of this width can have the function.
    pub(super) fn suits(self, width: Width) -> bool {
        self != Function::AddF || width >= Width::W4
    }

    /// The function in a request.
    pub(super) fn kind(self) -> RmwKind {
        match self {
            Function::Exchange => RmwKind::Exchange,
            Function::Add => RmwKind::Add,
            Function::Sub => RmwKind::Sub,
            Function::Xor => RmwKind::Xor,
            Function::And => RmwKind::And,
            Function::Or => RmwKind::Or,
            Function::MinU => RmwKind::MinU,
            Function::MaxU => RmwKind::MaxU,
            Function::MinS => RmwKind::MinS,
            Function::MaxS => RmwKind::MaxS,
            Function::AddF => RmwKind::AddF,
        }
    }

    /// The value that the function combines with the old value. It is `fresh` if possible. The
    /// result must not be 0, which no data word has, or 0xff, which is no number in floating point.
    pub(super) fn value(self, old: u8, fresh: u8) -> u8 {
        match self {
            Function::And if old & fresh == 0 => 0xff,
            Function::Or if old | fresh == 0xff => 0,
            Function::AddF if magnitude(old).abs_diff(magnitude(fresh)) < LOST => fresh ^ 0x40,
            _ => fresh,
        }
    }

    /// The new value of a word. An addition, a subtraction and an exclusive or have the operand
    /// that leads to `value`.
    pub(super) fn result(self, old: u8, value: u8) -> u8 {
        match self {
            Function::Exchange | Function::Add | Function::Sub | Function::Xor => value,
            Function::And => old & value,
            Function::Or => old | value,
            Function::MinU if old < value => old,
            Function::MaxU if old > value => old,
            Function::MinS if old.cast_signed() < value.cast_signed() => old,
            Function::MaxS if old.cast_signed() > value.cast_signed() => old,
            Function::AddF if magnitude(old) > magnitude(value) => old,
            Function::MinU | Function::MaxU | Function::MinS | Function::MaxS | Function::AddF => value,
        }
    }

    /// The operand in a request.
    pub(super) fn operand(self, old: u8, value: u8, width: Width) -> u64 {
        let [old_word, word] = [old, value].map(|byte| repeated(byte, width));
        match self {
            Function::Add => word.wrapping_sub(old_word),
            Function::Sub => old_word.wrapping_sub(word),
            Function::Xor => old_word ^ word,
            _ => word,
        }
    }

    /// The operand in a report, as the number that stands for each byte.
    pub(super) fn operand_text(self, old: u8, value: u8) -> i16 {
        match self {
            Function::Add => i16::from(value) - i16::from(old),
            Function::Sub => i16::from(old) - i16::from(value),
            Function::Xor => i16::from(old ^ value),
            _ => value.into(),
        }
    }

    /// The name of the function in a report.
    pub(super) fn name(self) -> &'static str {
        match self {
            Function::Exchange => "exchange",
            Function::Add => "add",
            Function::Sub => "subtract",
            Function::Xor => "xor",
            Function::And => "and",
            Function::Or => "or",
            Function::MinU => "unsigned minimum",
            Function::MaxU => "unsigned maximum",
            Function::MinS => "signed minimum",
            Function::MaxS => "signed maximum",
            Function::AddF => "floating-point add",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proto::Rmw;
    use std::collections::BTreeSet;

    #[test]
    fn results_are_those_of_the_operands() {
        for function in Function::ALL {
            let mut results = BTreeSet::new();
            for width in Width::ALL.into_iter().filter(|&width| function.suits(width)) {
                for (old, fresh) in (1..0xff).flat_map(|old| (1..0x80).map(move |fresh| (old, fresh))) {
                    let value = function.value(old, fresh);
                    let (operand, new) = (function.operand(old, value, width), function.result(old, value));
                    let rmw = Rmw { kind: function.kind(), width, uses_value: true };
                    let found = rmw.apply(repeated(old, width), operand & repeated(0xff, width));
                    assert_eq!(found, repeated(new, width), "{function:?} {width:?} {old} {value}");
                    assert!(new != 0 && new != 0xff, "{function:?} {width:?} {old} {value}");
                    results.insert(new);
                }
            }
            assert!(results.len() >= 126, "{function:?} has {} results", results.len());
        }
    }
}
