//! The three ways to name the elements of an access, behind one trait.

use proto::{Addr, Width};

use crate::op::{Addressing, Posted};
use crate::word::Packed;
use crate::{Lanes, Mask, Word};

/// A way to name the elements that the lanes of an access use.
///
/// | form | lane `i` accesses | values |
/// |---|---|---|
/// | `Unit(base)` | element `base + i` | `Lanes<T>` |
/// | `Lanes<u32>` | element `indices[i]` | `Lanes<T>` |
/// | `u64` | element number `self`, in the lowest active lane only | one `T` |
pub trait Place: Copy {
    /// The type of the values of an access: [`Lanes`] if each lane has a value, or a single value.
    type Of<T: Word>: Copy;

    /// The lanes that take part in the access, out of the active lanes `exec`.
    #[doc(hidden)]
    fn lanes(exec: Mask) -> Mask;

    /// Writes the address of each active lane into `op`, whose active lanes are already set. The
    /// array begins at address `base` and has `len` elements of the width `width`.
    #[doc(hidden)]
    fn locate(self, op: &mut Posted, width: Width, base: u64, len: u64) -> Result<(), OutOfBounds>;

    #[doc(hidden)]
    fn pack<T: Word>(values: Self::Of<T>, lanes: Mask, to: &mut Packed);

    #[doc(hidden)]
    fn unpack<T: Word>(from: &Packed, lanes: Mask) -> Self::Of<T>;

    /// The value of a load or read-modify-write without active lanes.
    #[doc(hidden)]
    fn nothing<T: Word>() -> Self::Of<T>;
}

/// An index beyond the end of an array, and the lane that used the index.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct OutOfBounds {
    pub(crate) lane: usize,
    pub(crate) index: u64,
}

/// Unpacks the values of the lanes in `lanes`. The other lanes get zero.
#[inline]
fn unpack_lanes<T: Word>(from: &Packed, lanes: Mask) -> Lanes<T> {
    let mut values = T::unpack(from, width_of(lanes));
    // Most masks contain the lowest lanes without a gap; for these, no lane must be set to zero.
    if lanes.0 & lanes.0.wrapping_add(1) != 0 {
        for (lane, value) in values.iter_mut().enumerate() {
            if !lanes.has(lane) {
                *value = T::default();
            }
        }
    }
    Lanes::from_array(values)
}

/// One more than the number of the highest lane in `lanes`.
#[inline]
fn width_of(lanes: Mask) -> usize {
    (u64::BITS - lanes.0.leading_zeros()) as usize
}

/// The place of consecutive elements: lane `i` accesses element `self.0 + i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit(pub u64);

impl Place for Unit {
    type Of<T: Word> = Lanes<T>;

    #[inline]
    fn lanes(exec: Mask) -> Mask {
        exec
    }

    #[inline]
    fn locate(self, op: &mut Posted, width: Width, base: u64, len: u64) -> Result<(), OutOfBounds> {
        let last = op.exec.last().unwrap_or(0) as u64;
        if self.0.checked_add(last).is_none_or(|index| index >= len) {
            let within = len.saturating_sub(self.0);
            let lane = op.exec.minus(Mask::below(within)).first().unwrap_or(0);
            return Err(OutOfBounds { lane, index: self.0.saturating_add(lane as u64) });
        }
        op.addressing = Addressing::Unit(Addr(base + self.0 * width.bytes() as u64));
        Ok(())
    }

    #[inline]
    fn pack<T: Word>(values: Lanes<T>, lanes: Mask, to: &mut Packed) {
        T::pack(&values.as_array()[..width_of(lanes)], to);
    }

    #[inline]
    fn unpack<T: Word>(from: &Packed, lanes: Mask) -> Lanes<T> {
        unpack_lanes(from, lanes)
    }

    #[inline]
    fn nothing<T: Word>() -> Lanes<T> {
        Lanes::default()
    }
}

impl Place for Lanes<u32> {
    type Of<T: Word> = Lanes<T>;

    #[inline]
    fn lanes(exec: Mask) -> Mask {
        exec
    }

    #[inline]
    fn locate(self, op: &mut Posted, width: Width, base: u64, len: u64) -> Result<(), OutOfBounds> {
        op.addressing = Addressing::Gather;
        let exec = op.exec;
        let addrs = op.addrs_mut();
        let mut beyond = 0;
        for (lane, (addr, index)) in addrs.iter_mut().zip(self.as_array()).enumerate() {
            let index = u64::from(*index);
            beyond |= u64::from(index >= len) << lane;
            *addr = base + index * width.bytes() as u64;
        }
        match (Mask(beyond) & exec).first() {
            None => Ok(()),
            Some(lane) => Err(OutOfBounds { lane, index: u64::from(self.get(lane)) }),
        }
    }

    #[inline]
    fn pack<T: Word>(values: Lanes<T>, lanes: Mask, to: &mut Packed) {
        T::pack(&values.as_array()[..width_of(lanes)], to);
    }

    #[inline]
    fn unpack<T: Word>(from: &Packed, lanes: Mask) -> Lanes<T> {
        unpack_lanes(from, lanes)
    }

    #[inline]
    fn nothing<T: Word>() -> Lanes<T> {
        Lanes::default()
    }
}

impl Place for u64 {
    type Of<T: Word> = T;

    #[inline]
    fn lanes(exec: Mask) -> Mask {
        exec.first().map_or(Mask::NONE, Mask::lane)
    }

    #[inline]
    fn locate(self, op: &mut Posted, width: Width, base: u64, len: u64) -> Result<(), OutOfBounds> {
        if self >= len {
            return Err(OutOfBounds { lane: op.exec.first().unwrap_or(0), index: self });
        }
        op.addressing = Addressing::Single(Addr(base + self * width.bytes() as u64));
        Ok(())
    }

    #[inline]
    fn pack<T: Word>(value: T, lanes: Mask, to: &mut Packed) {
        to.set(lanes.first().unwrap_or(0), T::WIDTH, value.to_bits());
    }

    #[inline]
    fn unpack<T: Word>(from: &Packed, lanes: Mask) -> T {
        T::from_bits(from.get(lanes.first().unwrap_or(0), T::WIDTH))
    }

    #[inline]
    fn nothing<T: Word>() -> T {
        T::default()
    }
}
