//! The scalar types of lanes and arrays.

use core::fmt::Debug;

use proto::{RmwKind, Width};

/// The maximum number of lanes of a wavefront.
pub const LANES_MAX: usize = 64;

/// A word for each lane, packed as in memory: the word of lane `i` begins at byte `i * width`. The
/// words of an access to consecutive addresses therefore have the same layout in this buffer as in
/// a line, and are copied in one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub struct Packed(pub [u8; 8 * LANES_MAX]);

impl Default for Packed {
    fn default() -> Self {
        Packed([0; 8 * LANES_MAX])
    }
}

impl Packed {
    /// The word of one lane, read in little-endian order.
    #[inline]
    #[must_use]
    pub fn get(&self, lane: usize, width: Width) -> u64 {
        let n = width.bytes();
        let mut bytes = [0u8; 8];
        bytes[..n].copy_from_slice(&self.0[lane * n..(lane + 1) * n]);
        u64::from_le_bytes(bytes)
    }

    /// Sets the word of one lane to the low bytes of `bits`.
    #[inline]
    pub fn set(&mut self, lane: usize, width: Width, bits: u64) {
        let n = width.bytes();
        self.0[lane * n..(lane + 1) * n].copy_from_slice(&bits.to_le_bytes()[..n]);
    }
}

/// A scalar type whose values memory can hold.
pub trait Word: Copy + Default + PartialEq + PartialOrd + Debug + 'static {
    /// The width of the type.
    const WIDTH: Width;
    /// The name of the type in Rust, such as `u32`.
    const NAME: &'static str;
    /// The kind of read-modify-write that adds values of this type.
    const ADD: RmwKind;
    /// The bits of the value, extended to 64 bits with zeros.
    fn to_bits(self) -> u64;
    /// The value whose bits are the low bits of `bits`.
    fn from_bits(bits: u64) -> Self;
    /// Writes the values of the lanes, in order, to a packed buffer.
    fn pack(lanes: &[Self], to: &mut Packed);
    /// Reads the values of the first `count` lanes from a buffer that [`Word::pack`] has written.
    /// The other lanes get zero.
    fn unpack(from: &Packed, count: usize) -> [Self; LANES_MAX];
    /// The values whose little-endian representations follow one another in `bytes`.
    fn from_bytes(bytes: &[u8]) -> Vec<Self>;
    /// The little-endian bytes of `values`, one value after the other.
    fn to_bytes(values: &[Self]) -> Vec<u8>;
}

/// A [`Word`] with integer arithmetic.
pub trait Integer: Word {
    /// The kind of read-modify-write that keeps the smaller of the old value and the operand.
    const MIN: RmwKind;
    /// The kind of read-modify-write that keeps the larger of the old value and the operand.
    const MAX: RmwKind;
}

macro_rules! word {
    ($type:ty, $width:ident, $add:ident, |$v:ident| $to:expr, |$b:ident| $from:expr) => {
        impl Word for $type {
            const WIDTH: Width = Width::$width;
            const NAME: &'static str = stringify!($type);
            const ADD: RmwKind = RmwKind::$add;
            #[inline]
            fn to_bits(self) -> u64 {
                let $v = self;
                $to
            }
            #[inline]
            fn from_bits($b: u64) -> Self {
                $from
            }
            #[inline]
            fn pack(lanes: &[Self], to: &mut Packed) {
                for (to, lane) in to.0.chunks_exact_mut(size_of::<Self>()).zip(lanes) {
                    to.copy_from_slice(&lane.to_le_bytes());
                }
            }
            #[inline]
            fn unpack(from: &Packed, count: usize) -> [Self; LANES_MAX] {
                let mut lanes = [Self::default(); LANES_MAX];
                for (lane, from) in lanes[..count].iter_mut().zip(from.0.chunks_exact(size_of::<Self>())) {
                    *lane = Self::from_le_bytes(from.try_into().unwrap_or_default());
                }
                lanes
            }
            fn from_bytes(bytes: &[u8]) -> Vec<Self> {
                bytes
                    .chunks_exact(size_of::<Self>())
                    .map(|b| Self::from_le_bytes(b.try_into().unwrap_or_default()))
                    .collect()
            }
            fn to_bytes(values: &[Self]) -> Vec<u8> {
                let words: Vec<_> = values.iter().map(|value| value.to_le_bytes()).collect();
                words.into_flattened()
            }
        }
    };
}

word!(u8, W1, Add, |v| u64::from(v), |b| b as u8);
word!(u16, W2, Add, |v| u64::from(v), |b| b as u16);
word!(u32, W4, Add, |v| u64::from(v), |b| b as u32);
word!(u64, W8, Add, |v| v, |b| b);
word!(i32, W4, Add, |v| u64::from(v as u32), |b| b as u32 as i32);
word!(i64, W8, Add, |v| v as u64, |b| b as i64);
word!(f32, W4, AddF, |v| u64::from(v.to_bits()), |b| f32::from_bits(b as u32));
word!(f64, W8, AddF, |v| v.to_bits(), |b| f64::from_bits(b));

macro_rules! integer {
    ($($type:ty: $min:ident $max:ident),+) => {
        $(impl Integer for $type {
            const MIN: RmwKind = RmwKind::$min;
            const MAX: RmwKind = RmwKind::$max;
        })+
    };
}

integer!(u8: MinU MaxU, u16: MinU MaxU, u32: MinU MaxU, u64: MinU MaxU, i32: MinS MaxS, i64: MinS MaxS);
