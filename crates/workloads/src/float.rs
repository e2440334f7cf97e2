//! Arithmetic on floats of either precision, sums over a work-group, and comparisons with
//! tolerances.

use core::ops::{Add, Mul};

use kernel::prelude::*;
use kernel::{Operand, charge};

use crate::group::first_local;

/// A float of 4 or 8 bytes.
pub(crate) trait Float: Word + Add<Output = Self> + Mul<Output = Self> {
    /// The class of arithmetic, which determines the cost, to which additions of this type belong.
    const ADDS: Class;
    /// The class of arithmetic, which determines the cost, to which multiplications of this type
    /// belong.
    const MULTIPLIES: Class;
    /// The number of this type that is nearest to `value`.
    fn of(value: f64) -> Self;
    /// This number in double precision.
    fn wide(self) -> f64;
    /// `self * factor + addend`, rounded only once.
    fn fused(self, factor: Self, addend: Self) -> Self;
}

macro_rules! float {
    ($type:ty, $adds:ident, $multiplies:ident) => {
        impl Float for $type {
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

float!(f32, FloatAdd, FloatMul);
float!(f64, Double, Double);

/// `a + b` in each lane.
#[inline]
pub(crate) fn plus<T: Float>(a: Lanes<T>, b: impl Operand<T>) -> Lanes<T> {
    a.zip(T::ADDS, b, |x, y| x + y)
}

/// `a * b` in each lane.
#[inline]
pub(crate) fn times<T: Float>(a: Lanes<T>, b: impl Operand<T>) -> Lanes<T> {
    a.zip(T::MULTIPLIES, b, |x, y| x * y)
}

/// `a * b + c` in each lane, rounded only once.
#[inline]
pub(crate) fn fused<T: Float>(a: Lanes<T>, b: impl Operand<T>, c: impl Operand<T>) -> Lanes<T> {
    charge(T::MULTIPLIES, 1);
    Lanes::from_fn(|lane| a.get(lane).fused(b.at(lane), c.at(lane)))
}

/// `c - a * b` in each lane, rounded only once.
#[inline]
pub(crate) fn less_product(c: Lanes<f32>, a: Lanes<f32>, b: impl Operand<f32>) -> Lanes<f32> {
    charge(Class::FloatMul, 1);
    Lanes::from_fn(|lane| (-a.get(lane)).mul_add(b.at(lane), c.get(lane)))
}

/// Sums the values of all work-items of the work-group, as a binary tree in local memory. The sum
/// is in element 0 of `sums` at the end. The array `sums` has one element for each work-item, and
/// the number of work-items must be a power of two.
pub(crate) async fn sum_in_group<T: Float>(w: &Wave, sums: Lds<T>, values: Lanes<T>) {
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

/// A comparison of an expected value with a computed one. The comparison allows the larger of two
/// errors: `relative` times the magnitude of the expected value, and `absolute`.
pub(crate) fn near<T: Float>(relative: f64, absolute: f64) -> impl Fn(T, T) -> bool {
    move |want, have| {
        let (want, have) = (want.wide(), have.wide());
        (want - have).abs() <= (want.abs() * relative).max(absolute)
    }
}
