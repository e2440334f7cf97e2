//! Counts of the arithmetic operations of a wavefront.
//!
//! A vector operation increments the counter of its class. The program that runs the wavefronts,
//! such as the simulator, reads the counters. A table of the machine gives the cycles of each
//! class. A kernel therefore contains no delays. Scalar code in plain Rust, such as loop counters
//! and base addresses, is not counted: it stands for code of the scalar unit, which runs beside the
//! vector lanes.

use core::cell::Cell;

use proto::Symbol;

proto::symbols! {
    /// The classes of vector arithmetic, by which its cost is determined.
    pub enum Class {
        /// Integer add, subtract, logic, shift, minimum, maximum.
        Int,
        /// Multiplication of integers.
        IntMul,
        /// Division and remainder of integers.
        IntDiv,
        /// Single-precision add, subtract, negate, minimum, maximum.
        FloatAdd,
        /// Multiplication in single precision, fused with an addition or not.
        FloatMul,
        /// Double-precision add, multiply, fused multiply-add and the like.
        Double,
        /// Floating-point division.
        FloatDiv,
        /// Floating-point square root.
        FloatSqrt,
        /// A comparison of two vectors, whose result is a mask.
        Compare,
        /// A choice between two values in each lane by a mask.
        Select,
        /// A conversion between types.
        Convert,
        /// An exponential, a logarithm or a trigonometric function.
        Special,
        /// A move of values between lanes.
        Shuffle,
        /// A change of the execution mask.
        Branch,
    }
}

/// The number of classes.
pub const CLASSES: usize = Class::Branch as usize + 1;

/// The number of vector operations of each class. An operation on eight-byte lanes counts twice,
/// except in [`Class::Double`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work(pub [u32; CLASSES]);

impl Work {
    /// The number of operations of one class.
    #[inline]
    #[must_use]
    pub fn of(&self, class: Class) -> u32 {
        self.0[class as usize]
    }

    /// Whether all counts are zero.
    #[inline]
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.0.iter().all(|&n| n == 0)
    }

    /// The classes with a count above zero, each with its count.
    pub fn iter(&self) -> impl Iterator<Item = (Class, u32)> + '_ {
        Class::ALL.iter().map(|&class| (class, self.of(class))).filter(|&(_, n)| n > 0)
    }
}

struct Meter {
    counts: [Cell<u32>; CLASSES],
    used: Cell<bool>,
}

thread_local! {
    static METER: Meter = const { Meter { counts: [const { Cell::new(0) }; CLASSES], used: Cell::new(false) } };
}

/// Charges `count` vector operations of `class` to the running wavefront.
#[inline]
pub fn charge(class: Class, count: u32) {
    METER.with(|meter| {
        let cell = &meter.counts[class as usize];
        cell.set(cell.get().saturating_add(count));
        meter.used.set(true);
    });
}

/// The operations that were charged since the last call of this function. `None` if no operation
/// was charged.
#[inline]
pub(crate) fn take() -> Option<Work> {
    METER.with(|meter| {
        if !meter.used.replace(false) {
            return None;
        }
        let mut work = Work::default();
        for (to, from) in work.0.iter_mut().zip(&meter.counts) {
            *to = from.replace(0);
        }
        Some(work)
    })
}
