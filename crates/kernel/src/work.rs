//! Counts of the arithmetic of a wavefront.
//!
//! A vector operation increments the counter of its class. The executor
//! collects the counters, and a table of the machine gives the cost of a
//! class, so a kernel contains no tuned delay. Scalar code in plain Rust (loop
//! counters, base addresses) charges nothing: it models the scalar unit, which
//! runs beside the vector lanes.

use core::cell::Cell;

use proto::Symbol;

proto::symbols! {
    /// The classes of vector arithmetic.
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
        /// Float divide.
        FloatDiv,
        /// Square root.
        FloatSqrt,
        /// Compare into a mask.
        Compare,
        /// Choose by a mask.
        Select,
        /// Convert between types.
        Convert,
        /// Exponential, logarithm, trigonometry.
        Special,
        /// Move values between lanes.
        Shuffle,
        /// Change the execution mask.
        Branch,
    }
}

/// The number of classes.
pub const CLASSES: usize = Class::Branch as usize + 1;

/// The vector operations of each class. An operation on eight-byte lanes
/// counts twice, except in [`Class::Double`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work(pub [u32; CLASSES]);

impl Work {
    /// The count of one class.
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

    /// The used classes with their counts.
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

/// The operations charged since the last call. `None` if no operation was charged.
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
