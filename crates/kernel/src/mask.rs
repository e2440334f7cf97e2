//! Masks of lanes.

use core::fmt;
use core::ops::{BitAnd, BitOr, BitXor, Not};

use crate::LANES_MAX;

/// A set of lanes: bit `i` stands for lane `i`. Operations on masks run on the scalar unit and cost
/// the wavefront no vector operation.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Mask(pub u64);

impl Mask {
    /// The empty mask.
    pub const NONE: Mask = Mask(0);

    /// The mask of the lanes with numbers below `count`.
    #[inline]
    #[must_use]
    pub const fn below(count: u64) -> Mask {
        if count >= LANES_MAX as u64 { Mask(u64::MAX) } else { Mask((1 << count) - 1) }
    }

    /// The mask of one lane.
    #[inline]
    #[must_use]
    pub const fn lane(lane: usize) -> Mask {
        Mask(1 << lane)
    }

    /// Whether the mask contains any lane.
    #[inline]
    #[must_use]
    pub const fn any(self) -> bool {
        self.0 != 0
    }

    /// Whether the mask contains no lane.
    #[inline]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The number of lanes in the mask.
    #[inline]
    #[must_use]
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether the mask contains `lane`.
    #[inline]
    #[must_use]
    pub const fn has(self, lane: usize) -> bool {
        self.0 >> lane & 1 == 1
    }

    /// The lowest lane in the mask. `None` if the mask is empty.
    #[inline]
    #[must_use]
    pub fn first(self) -> Option<usize> {
        (self.0 != 0).then(|| self.0.trailing_zeros() as usize)
    }

    /// The highest lane in the mask. `None` if the mask is empty.
    #[inline]
    #[must_use]
    pub fn last(self) -> Option<usize> {
        (self.0 != 0).then(|| 63 - self.0.leading_zeros() as usize)
    }

    /// The lanes of this mask without those of `other`.
    #[inline]
    #[must_use]
    pub const fn minus(self, other: Mask) -> Mask {
        Mask(self.0 & !other.0)
    }

    /// The lanes in the mask, the lowest one first.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        core::iter::from_fn(move || {
            let lane = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(lane)
        })
    }
}

impl BitAnd for Mask {
    type Output = Mask;
    #[inline]
    fn bitand(self, other: Mask) -> Mask {
        Mask(self.0 & other.0)
    }
}

impl BitOr for Mask {
    type Output = Mask;
    #[inline]
    fn bitor(self, other: Mask) -> Mask {
        Mask(self.0 | other.0)
    }
}

impl BitXor for Mask {
    type Output = Mask;
    #[inline]
    fn bitxor(self, other: Mask) -> Mask {
        Mask(self.0 ^ other.0)
    }
}

impl Not for Mask {
    type Output = Mask;
    #[inline]
    fn not(self) -> Mask {
        Mask(!self.0)
    }
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}
