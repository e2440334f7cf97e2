//! Vectors with one scalar for each lane of a wavefront, and arithmetic on them.
//!
//! Arithmetic works on all lanes and has no side effect, so it needs no mask. The value of an
//! inactive lane has no meaning. A comparison may select an inactive lane; [`crate::Wave::when`]
//! ignores such lanes. Masks restrict memory accesses and [`Lanes::assign`].
//!
//! No operation panics. Integers wrap around on overflow. A quotient by zero has all bits set, and
//! a remainder by zero is the dividend. Shift counts are taken modulo the width of the type.

use core::fmt;
use core::ops::{Add, AddAssign, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Shl, Shr, Sub, SubAssign};

use proto::Width;

use crate::work::{Class, charge};
use crate::{LANES_MAX, Mask, Word};

/// One value for each lane of a wavefront.
#[derive(Clone, Copy)]
pub struct Lanes<T>([T; LANES_MAX]);

/// The right-hand side of a vector operation: another vector, or one scalar
/// for all lanes.
pub trait Operand<T: Word>: Copy {
    /// The value of the operand for `lane`.
    fn at(&self, lane: usize) -> T;
}

impl<T: Word> Operand<T> for T {
    #[inline]
    fn at(&self, _lane: usize) -> T {
        *self
    }
}

impl<T: Word> Operand<T> for Lanes<T> {
    #[inline]
    fn at(&self, lane: usize) -> T {
        self.0[lane]
    }
}

/// Charges the running wavefront with one operation of `class` on lanes of type `T`. An operation
/// on eight-byte lanes counts twice, except in [`Class::Double`].
#[inline]
fn charge_on<T: Word>(class: Class) {
    let twice = matches!(T::WIDTH, Width::W8) && class != Class::Double;
    charge(class, 1 + u32::from(twice));
}

impl<T: Word> Default for Lanes<T> {
    fn default() -> Self {
        Lanes([T::default(); LANES_MAX])
    }
}

impl<T: Word> fmt::Debug for Lanes<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0).finish()
    }
}

impl<T: Word> Lanes<T> {
    /// A vector with the same value in every lane.
    #[inline]
    #[must_use]
    pub fn splat(value: T) -> Self {
        Lanes([value; LANES_MAX])
    }

    /// A constant vector. `value` computes the value of a lane from the number of the lane. This
    /// costs the running wavefront no vector operation.
    #[inline]
    #[must_use]
    pub fn from_fn(value: impl FnMut(usize) -> T) -> Self {
        Lanes(core::array::from_fn(value))
    }

    /// The values of all lanes as an array, lane 0 first.
    #[inline]
    #[must_use]
    pub fn as_array(&self) -> &[T; LANES_MAX] {
        &self.0
    }

    #[inline]
    pub(crate) fn from_array(lanes: [T; LANES_MAX]) -> Self {
        Lanes(lanes)
    }

    /// The value of one lane.
    #[inline]
    #[must_use]
    pub fn get(&self, lane: usize) -> T {
        self.0[lane]
    }

    /// Replaces the values of the lanes in `mask` by those of `new`, and keeps the values of the
    /// other lanes. This costs the running wavefront no vector operation.
    #[inline]
    pub fn assign(&mut self, mask: Mask, new: impl Operand<T>) {
        for (lane, value) in self.0.iter_mut().enumerate() {
            if mask.has(lane) {
                *value = new.at(lane);
            }
        }
    }

    /// A vector that takes the values of `yes` in the lanes of `mask` and those of `no` in the
    /// other lanes.
    #[inline]
    #[must_use]
    pub fn select(mask: Mask, yes: impl Operand<T>, no: impl Operand<T>) -> Self {
        charge_on::<T>(Class::Select);
        Lanes(core::array::from_fn(|lane| if mask.has(lane) { yes.at(lane) } else { no.at(lane) }))
    }

    /// Applies a function to the value of each lane. Charges the running wavefront with one vector
    /// operation of `class`.
    #[inline]
    #[must_use]
    pub fn map<U: Word>(self, class: Class, mut function: impl FnMut(T) -> U) -> Lanes<U> {
        charge_on::<T>(class);
        Lanes(core::array::from_fn(|lane| function(self.0[lane])))
    }

    /// Applies a function to the values of each lane in `self` and `other`. Charges the running
    /// wavefront with one vector operation of `class`.
    #[inline]
    #[must_use]
    pub fn zip<U: Word, R: Word>(
        self,
        class: Class,
        other: impl Operand<U>,
        mut function: impl FnMut(T, U) -> R,
    ) -> Lanes<R> {
        charge_on::<T>(class);
        Lanes(core::array::from_fn(|lane| function(self.0[lane], other.at(lane))))
    }

    #[inline]
    fn compare(&self, other: impl Operand<T>, holds: impl Fn(T, T) -> bool) -> Mask {
        charge_on::<T>(Class::Compare);
        let mut mask = 0;
        for (lane, value) in self.0.iter().enumerate() {
            mask |= u64::from(holds(*value, other.at(lane))) << lane;
        }
        Mask(mask)
    }

    /// The mask of the lanes whose value equals that of `other`.
    #[inline]
    #[must_use]
    pub fn eq(&self, other: impl Operand<T>) -> Mask {
        self.compare(other, |a, b| a == b)
    }

    /// The mask of the lanes whose value differs from that of `other`.
    #[inline]
    #[must_use]
    pub fn ne(&self, other: impl Operand<T>) -> Mask {
        self.compare(other, |a, b| a != b)
    }

    /// The mask of the lanes whose value is less than that of `other`.
    #[inline]
    #[must_use]
    pub fn lt(&self, other: impl Operand<T>) -> Mask {
        self.compare(other, |a, b| a < b)
    }

    /// The mask of the lanes whose value is less than or equal to that of `other`.
    #[inline]
    #[must_use]
    pub fn le(&self, other: impl Operand<T>) -> Mask {
        self.compare(other, |a, b| a <= b)
    }

    /// The mask of the lanes whose value is greater than that of `other`.
    #[inline]
    #[must_use]
    pub fn gt(&self, other: impl Operand<T>) -> Mask {
        self.compare(other, |a, b| a > b)
    }

    /// The mask of the lanes whose value is greater than or equal to that of `other`.
    #[inline]
    #[must_use]
    pub fn ge(&self, other: impl Operand<T>) -> Mask {
        self.compare(other, |a, b| a >= b)
    }
}

macro_rules! operator {
    ($type:ty, $trait:ident, $method:ident, $class:ident, |$a:ident, $b:ident| $value:expr) => {
        impl<R: Operand<$type>> $trait<R> for Lanes<$type> {
            type Output = Lanes<$type>;
            #[inline]
            fn $method(self, other: R) -> Self {
                self.zip(Class::$class, other, |$a: $type, $b: $type| $value)
            }
        }
    };
}

macro_rules! integer_lanes {
    ($($type:ty),+) => { $(
        operator!($type, Add, add, Int, |a, b| a.wrapping_add(b));
        operator!($type, Sub, sub, Int, |a, b| a.wrapping_sub(b));
        operator!($type, Mul, mul, IntMul, |a, b| a.wrapping_mul(b));
        operator!($type, Div, div, IntDiv, |a, b| if b == 0 { !0 } else { a.wrapping_div(b) });
        operator!($type, Rem, rem, IntDiv, |a, b| if b == 0 { a } else { a.wrapping_rem(b) });
        operator!($type, BitAnd, bitand, Int, |a, b| a & b);
        operator!($type, BitOr, bitor, Int, |a, b| a | b);
        operator!($type, BitXor, bitxor, Int, |a, b| a ^ b);
        operator!($type, Shl, shl, Int, |a, b| a.wrapping_shl(b as u32));
        operator!($type, Shr, shr, Int, |a, b| a.wrapping_shr(b as u32));
        impl Not for Lanes<$type> {
            type Output = Self;
            #[inline]
            fn not(self) -> Self {
                self.map(Class::Int, |a| !a)
            }
        }
        impl Lanes<$type> {
            /// For each lane, the smaller of its values in `self` and `other`.
            #[inline]
            #[must_use]
            pub fn min(self, other: impl Operand<$type>) -> Self {
                self.zip(Class::Int, other, |a, b| a.min(b))
            }
            /// For each lane, the larger of its values in `self` and `other`.
            #[inline]
            #[must_use]
            pub fn max(self, other: impl Operand<$type>) -> Self {
                self.zip(Class::Int, other, |a, b| a.max(b))
            }
            /// The value of each lane, rotated to the left by `bits` bits.
            #[inline]
            #[must_use]
            pub fn rotate_left(self, bits: u32) -> Self {
                self.map(Class::Int, |a| a.rotate_left(bits))
            }
            /// The value of each lane, converted to single precision.
            #[inline]
            #[must_use]
            pub fn to_f32(self) -> Lanes<f32> {
                self.map(Class::Convert, |a| a as f32)
            }
            /// The value of each lane, converted to double precision.
            #[inline]
            #[must_use]
            pub fn to_f64(self) -> Lanes<f64> {
                self.map(Class::Convert, |a| a as f64)
            }
        }
    )+ };
}

integer_lanes!(u8, u16, u32, u64, i32, i64);

macro_rules! float_lanes {
    ($($type:ty: $add:ident, $mul:ident);+) => { $(
        operator!($type, Add, add, $add, |a, b| a + b);
        operator!($type, Sub, sub, $add, |a, b| a - b);
        operator!($type, Mul, mul, $mul, |a, b| a * b);
        operator!($type, Div, div, FloatDiv, |a, b| a / b);
        impl Neg for Lanes<$type> {
            type Output = Self;
            #[inline]
            fn neg(self) -> Self {
                self.map(Class::$add, |a| -a)
            }
        }
        impl Lanes<$type> {
            /// For each lane, the smaller of its values in `self` and `other`.
            #[inline]
            #[must_use]
            pub fn min(self, other: impl Operand<$type>) -> Self {
                self.zip(Class::$add, other, |a, b| a.min(b))
            }
            /// For each lane, the larger of its values in `self` and `other`.
            #[inline]
            #[must_use]
            pub fn max(self, other: impl Operand<$type>) -> Self {
                self.zip(Class::$add, other, |a, b| a.max(b))
            }
            /// The absolute value of each lane.
            #[inline]
            #[must_use]
            pub fn abs(self) -> Self {
                self.map(Class::$add, |a| a.abs())
            }
            /// The square root of the value of each lane.
            #[inline]
            #[must_use]
            pub fn sqrt(self) -> Self {
                self.map(Class::FloatSqrt, |a| a.sqrt())
            }
            /// `self * factor + addend` in each lane, rounded only once.
            #[inline]
            #[must_use]
            pub fn mul_add(self, factor: impl Operand<$type>, addend: impl Operand<$type>) -> Self {
                charge_on::<$type>(Class::$mul);
                Lanes(core::array::from_fn(|i| self.0[i].mul_add(factor.at(i), addend.at(i))))
            }
        }
    )+ };
}

float_lanes!(f32: FloatAdd, FloatMul; f64: Double, Double);

macro_rules! convert {
    ($($from:ty => $to:ty: $method:ident),+ $(,)?) => { $(
        impl Lanes<$from> {
            /// The value of each lane, converted by the same rules as those of Rust's operator
            /// `as`.
            #[inline]
            #[must_use]
            pub fn $method(self) -> Lanes<$to> {
                self.map(Class::Convert, |a| a as $to)
            }
        }
    )+ };
}

convert!(
    u8 => u32: to_u32, u16 => u32: to_u32, i32 => u32: to_u32, u64 => u32: to_u32, i64 => u32: to_u32,
    f32 => u32: to_u32, f64 => u32: to_u32,
    u8 => u64: to_u64, u16 => u64: to_u64, u32 => u64: to_u64, i64 => u64: to_u64,
    u32 => i32: to_i32, i64 => i32: to_i32, f32 => i32: to_i32, f64 => i32: to_i32,
    i32 => i64: to_i64, u64 => i64: to_i64,
    u32 => u8: to_u8, u32 => u16: to_u16,
    f32 => f64: to_f64, f64 => f32: to_f32,
);

impl<T: Word, R> AddAssign<R> for Lanes<T>
where
    Lanes<T>: Add<R, Output = Lanes<T>>,
{
    #[inline]
    fn add_assign(&mut self, other: R) {
        *self = *self + other;
    }
}

impl<T: Word, R> SubAssign<R> for Lanes<T>
where
    Lanes<T>: Sub<R, Output = Lanes<T>>,
{
    #[inline]
    fn sub_assign(&mut self, other: R) {
        *self = *self - other;
    }
}
