//! Addresses, lines, byte masks and the bytes themselves.

use core::fmt;

/// The size in bytes of the largest line. A [`LineData`] always has this size. On a machine with
/// shorter lines, the bytes after the end of the line are zero.
pub const LINE_BYTES_MAX: usize = 128;

/// A byte address in the flat address space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Addr(pub u64);

/// The number of a line: its address divided by the line size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineAddr(pub u64);

/// A set of bytes of a line: bit `i` stands for byte `i`.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteMask(pub u128);

impl ByteMask {
    /// The empty mask, which selects no byte.
    pub const NONE: ByteMask = ByteMask(0);

    /// The mask of `count` bytes from `offset` on.
    ///
    /// # Panics
    /// If the range extends past the end of the largest line (`LINE_BYTES_MAX` bytes).
    #[inline]
    #[must_use]
    pub fn range(offset: usize, count: usize) -> Self {
        assert!(offset + count <= LINE_BYTES_MAX, "byte range leaves the line");
        if count == 0 {
            return Self::NONE;
        }
        ByteMask((u128::MAX >> (LINE_BYTES_MAX - count)) << offset)
    }

    /// The mask of all bytes of a line of `line_bytes` bytes.
    #[inline]
    #[must_use]
    pub fn full(line_bytes: usize) -> Self {
        Self::range(0, line_bytes)
    }

    /// Whether this mask selects no byte.
    #[inline]
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether this mask selects every byte that `other` selects.
    #[inline]
    #[must_use]
    pub fn contains(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }

    /// Whether any byte is in both masks.
    #[inline]
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The mask of the bytes that are in this mask, in `other`, or in both.
    #[inline]
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        ByteMask(self.0 | other.0)
    }

    /// The mask of the bytes that are in this mask and not in `other`.
    #[inline]
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        ByteMask(self.0 & !other.0)
    }

    /// The mask of the bytes that are in both masks.
    #[inline]
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        ByteMask(self.0 & other.0)
    }

    /// The number of bytes that this mask selects.
    #[inline]
    #[must_use]
    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Removes the lowest selected byte from the mask. Returns false if the mask is empty.
    pub fn forget_first(&mut self) -> bool {
        let Some(first) = self.first() else { return false };
        *self = self.minus(ByteMask::range(first, 1));
        true
    }

    /// The position of the lowest selected byte, or `None` if the mask is empty.
    #[inline]
    #[must_use]
    pub fn first(self) -> Option<usize> {
        (self.0 != 0).then(|| self.0.trailing_zeros() as usize)
    }

    /// The position of the highest selected byte, or `None` if the mask is empty.
    #[inline]
    #[must_use]
    pub fn last(self) -> Option<usize> {
        self.0.checked_ilog2().map(|bit| bit as usize)
    }
}

impl fmt::Debug for ByteMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// The width of a scalar access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Width {
    /// A width of one byte.
    W1 = 1,
    /// A width of two bytes.
    W2 = 2,
    /// A width of four bytes.
    W4 = 4,
    /// A width of eight bytes.
    W8 = 8,
}

impl Width {
    /// All widths, narrowest first.
    pub const ALL: [Width; 4] = [Width::W1, Width::W2, Width::W4, Width::W8];

    /// The number of bytes of this width.
    #[inline]
    #[must_use]
    pub const fn bytes(self) -> usize {
        self as usize
    }
}

/// The bytes of a line, little-endian.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(align(16))]
pub struct LineData(pub [u8; LINE_BYTES_MAX]);

impl Default for LineData {
    #[inline]
    fn default() -> Self {
        LineData([0; LINE_BYTES_MAX])
    }
}

/// A table that expands one bit for each byte to eight bits for each byte. The index is a mask of
/// eight bits, one for each of eight bytes. The entry is the 64-bit mask that selects all bits of
/// the selected bytes.
static SPREAD: [u64; 256] = {
    let mut table = [0u64; 256];
    let mut mask = 0;
    while mask < 256 {
        let mut byte = 0;
        while byte < 8 {
            if mask >> byte & 1 == 1 {
                table[mask] |= 0xff << (8 * byte);
            }
            byte += 1;
        }
        mask += 1;
    }
    table
};

/// Copies into `to` the bytes of `from` that `mask` selects. The slices may be shorter than the
/// largest line. Bytes are copied in aligned groups of eight; a group that is not complete in both
/// slices is not copied.
#[inline]
pub fn copy_masked(to: &mut [u8], from: &[u8], mask: ByteMask) {
    let reach = to.len().min(from.len()) / 8 * 8;
    let all = u128::MAX >> (LINE_BYTES_MAX - reach.clamp(1, LINE_BYTES_MAX));
    let mut bits = mask.0 & all;
    if reach > 0 && bits == all {
        to[..reach].copy_from_slice(&from[..reach]);
        return;
    }
    while bits != 0 {
        let at = bits.trailing_zeros() as usize / 8 * 8;
        let part = (bits >> at & 0xff) as usize;
        bits &= !(0xff << at);
        let (Some(to), Some(from)) = (to.get_mut(at..at + 8), from.get(at..at + 8)) else { return };
        let select = SPREAD[part];
        let old = u64::from_le_bytes((&*to).try_into().unwrap_or_default());
        let new = u64::from_le_bytes(from.try_into().unwrap_or_default());
        to.copy_from_slice(&(old & !select | new & select).to_le_bytes());
    }
}

impl LineData {
    /// Overwrites the bytes that `mask` selects with the bytes of `from` at the same positions.
    #[inline]
    pub fn merge(&mut self, from: &LineData, mask: ByteMask) {
        copy_masked(&mut self.0, &from.0, mask);
    }

    /// A copy of these bytes in which every byte that `mask` does not select is zero.
    #[inline]
    #[must_use]
    pub fn masked(&self, mask: ByteMask) -> LineData {
        let mut out = LineData::default();
        out.merge(self, mask);
        out
    }

    /// The little-endian scalar of this width at byte `offset`.
    #[inline]
    #[must_use]
    pub fn read(&self, offset: usize, width: Width) -> u64 {
        let mut bytes = [0u8; 8];
        let n = width.bytes();
        bytes[..n].copy_from_slice(&self.0[offset..offset + n]);
        u64::from_le_bytes(bytes)
    }

    /// Writes the low bytes of `value`, as many as `width` says, at byte `offset`.
    #[inline]
    pub fn write(&mut self, offset: usize, width: Width, value: u64) {
        let n = width.bytes();
        self.0[offset..offset + n].copy_from_slice(&value.to_le_bytes()[..n]);
    }
}

impl fmt::Debug for LineData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.0.iter().rposition(|&b| b != 0).map_or(0, |i| i + 1);
        f.write_str("0x")?;
        if end == 0 {
            return f.write_str("0");
        }
        self.0[..end].iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_masked_merge_touches_only_the_masked_bytes() {
        for mask in [0u128, 1, 0xf0, 0xff, 0x1ff, u128::MAX, 1 << 127, 0xaaaa_5555 << 40] {
            let mut to = LineData([0x11; LINE_BYTES_MAX]);
            to.merge(&LineData([0x22; LINE_BYTES_MAX]), ByteMask(mask));
            for (i, byte) in to.0.iter().enumerate() {
                let want = if mask >> i & 1 == 1 { 0x22 } else { 0x11 };
                assert_eq!(*byte, want, "byte {i} under {mask:#x}");
            }
        }
    }

    #[test]
    fn a_range_may_end_with_the_last_byte_of_the_line() {
        assert_eq!(ByteMask::range(0, 0), ByteMask::NONE);
        assert_eq!(ByteMask::range(4, 4), ByteMask(0xf0));
        assert_eq!(ByteMask::full(128), ByteMask(u128::MAX));
        assert_eq!(ByteMask::range(127, 1).first(), Some(127));
    }

    #[test]
    fn a_scalar_reads_back_as_written() {
        let mut line = LineData::default();
        line.write(12, Width::W4, 0x1_dead_beef);
        assert_eq!(line.read(12, Width::W4), 0xdead_beef);
        assert_eq!(line.read(16, Width::W4), 0);
        assert_eq!(format!("{line:?}"), "0x000000000000000000000000efbeadde");
    }
}
