//! Arithmetic on floats of either precision, sums in a work-group, and tolerances.

use core::ops::{Add, Mul};

use kernel::prelude::*;
use kernel::{Operand, charge};

use crate::group::first_local;

/// A float of 4 or 8 bytes.
pub(crate) trait Real: Word + Add<Output = Self> + Mul<Output = Self> {
    /// The class of additions.
    const ADDS: Class;
    /// The class of multiplications.
    const MULTIPLIES: Class;
    /// The nearest number of this type.
    fn of(value: f64) -> Self;
    /// The number in double precision.
    fn wide(self) -> f64;
    /// `self * factor + addend`, rounded once.
    fn fused(self, factor: Self, addend: Self) -> Self;
}

macro_rules! real {
    ($type:ty, $adds:ident, $multiplies:ident) => {
        impl Real for $type {
            const ADDS: Class = Class::$adds;
            const MULTIPLIES: Class = Class::$multiplies;
            #[inline]
            fn of(value: f64) -> Self {
                value as $type
            }
            #[inline]
            fn wide(self) -> f64 {
                f64::from(self)
            }
            #[inline]
            fn fused(self, factor: Self, addend: Self) -> Self {
                self.mul_add(factor, addend)
            }
        }
    };
}

real!(f32, FloatAdd, FloatMul);
real!(f64, Double, Double);

/// The sum of each pair.
#[inline]
pub(crate) fn plus<T: Real>(a: Lanes<T>, b: impl Operand<T>) -> Lanes<T> {
    a.zip(T::ADDS, b, |x, y| x + y)
}

/// The product of each pair.
#[inline]
pub(crate) fn times<T: Real>(a: Lanes<T>, b: impl Operand<T>) -> Lanes<T> {
    a.zip(T::MULTIPLIES, b, |x, y| x * y)
}

/// `a * b + c` in each lane, rounded once.
#[inline]
pub(crate) fn fused<T: Real>(a: Lanes<T>, b: impl Operand<T>, c: impl Operand<T>) -> Lanes<T> {
    charge(T::MULTIPLIES, 1);
    Lanes::from_fn(|lane| a.get(lane).fused(b.at(lane), c.at(lane)))
}

/// `c - a * b` in each lane, rounded once.
#[inline]
pub(crate) fn less_product(c: Lanes<f32>, a: Lanes<f32>, b: impl Operand<f32>) -> Lanes<f32> {
    charge(Class::FloatMul, 1);
    Lanes::from_fn(|lane| (-a.get(lane)).mul_add(b.at(lane), c.get(lane)))
}

/// Sums the values of all work-items of the work-group as a tree in local memory, and leaves the
/// sum in element 0 of `sums`, which has one element for each work-item. Their number is a power
/// of two.
pub(crate) async fn sum_in_group<T: Real>(w: &Wave, sums: Lds<T>, values: Lanes<T>) {
    let here = first_local(w);
    w.store(sums, Unit(here), values);
    w.barrier().await;
    let mut half = sums.len() / 2;
    while half > 0 {
        let active = w.below(here, half);
        let (mine, other) = (active.load(sums, Unit(here)), active.load(sums, Unit(here + half)));
        let pair = plus(mine.await, other.await);
        active.store(sums, Unit(here), pair);
        w.barrier().await;
        half /= 2;
    }
}

/// A comparison that allows an error relative to the expected value, or an absolute one.
pub(crate) fn near<T: Real>(relative: f64, absolute: f64) -> impl Fn(T, T) -> bool {
    move |want, have| {
        let (want, have) = (want.wide(), have.wide());
        (want - have).abs() <= (want.abs() * relative).max(absolute)
    }
}
