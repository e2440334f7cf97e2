//! Real numbers for formulas that both the host and a wavefront evaluate.

use core::ops::{Add, Div, Mul, Neg, Sub};

use kernel::Lanes;

/// A number (on the host), or one number for each lane (in a wavefront). Both forms round every
/// operation in the same way, so a formula gives the same bits on the host and on the machine.
pub(super) trait Real:
    Copy
    + Add<Output = Self>
    + Add<f64, Output = Self>
    + Sub<Output = Self>
    + Sub<f64, Output = Self>
    + Mul<Output = Self>
    + Mul<f64, Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The number `value`, in every lane if there are lanes.
    fn splat(value: f64) -> Self;
    /// The square root of this number.
    fn root(self) -> Self;
    /// The absolute value of this number.
    fn magnitude(self) -> Self;
    /// `yes` if `self < bound`, otherwise `no`. If there are lanes, each lane decides for itself.
    fn if_below(self, bound: f64, yes: Self, no: Self) -> Self;
    /// `yes` if `self > bound`, otherwise `no`. If there are lanes, each lane decides for itself.
    fn if_above(self, bound: f64, yes: Self, no: Self) -> Self;
    /// The smaller of two numbers.
    fn least(self, other: Self) -> Self;
    /// The larger of two numbers.
    fn most(self, other: Self) -> Self;
}

impl Real for f64 {
    fn splat(value: f64) -> f64 {
        value
    }
    fn root(self) -> f64 {
        self.sqrt()
    }
    fn magnitude(self) -> f64 {
        self.abs()
    }
    fn if_below(self, bound: f64, yes: f64, no: f64) -> f64 {
        if self < bound { yes } else { no }
    }
    fn if_above(self, bound: f64, yes: f64, no: f64) -> f64 {
        if self > bound { yes } else { no }
    }
    fn least(self, other: f64) -> f64 {
        self.min(other)
    }
    fn most(self, other: f64) -> f64 {
        self.max(other)
    }
}

impl Real for Lanes<f64> {
    fn splat(value: f64) -> Self {
        Lanes::splat(value)
    }
    fn root(self) -> Self {
        self.sqrt()
    }
    fn magnitude(self) -> Self {
        self.abs()
    }
    fn if_below(self, bound: f64, yes: Self, no: Self) -> Self {
        Lanes::select(self.lt(bound), yes, no)
    }
    fn if_above(self, bound: f64, yes: Self, no: Self) -> Self {
        Lanes::select(self.gt(bound), yes, no)
    }
    fn least(self, other: Self) -> Self {
        Lanes::<f64>::min(self, other)
    }
    fn most(self, other: Self) -> Self {
        Lanes::<f64>::max(self, other)
    }
}
