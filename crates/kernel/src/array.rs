//! Typed arrays in global memory and in local memory.

use core::marker::PhantomData;
use core::ops::Range;

use proto::{AccessMode, Addr, ArrayId};

use crate::Word;
use crate::op::Space;

/// An array in global memory: its address, its length and its number. Kernels
/// copy it freely. It owns nothing.
#[derive(Debug)]
pub struct Array<T> {
    base: Addr,
    len: u64,
    id: ArrayId,
    word: PhantomData<fn() -> T>,
}

impl<T> Clone for Array<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Array<T> {}

impl<T: Word> Array<T> {
    pub(crate) fn new(base: Addr, len: u64, id: ArrayId) -> Self {
        Array { base, len, id, word: PhantomData }
    }

    /// The address of its first element.
    #[must_use]
    pub fn base(&self) -> Addr {
        self.base
    }

    /// The number of elements in the array.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the array has no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of the array in its program.
    #[must_use]
    pub fn id(&self) -> ArrayId {
        self.id
    }

    /// The size of the array in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.len * T::WIDTH.bytes() as u64
    }

    /// The elements of `range`, clipped to the array, under the same number.
    #[must_use]
    pub fn slice(&self, range: Range<u64>) -> Self {
        let first = range.start.min(self.len);
        let end = range.end.clamp(first, self.len);
        let base = Addr(self.base.0 + first * T::WIDTH.bytes() as u64);
        Array { base, len: end - first, id: self.id, word: PhantomData }
    }

    /// A declaration that a kernel reads all of it.
    #[must_use]
    pub fn read(&self) -> Use {
        self.used(AccessMode::Read)
    }

    /// A declaration that a kernel writes all of it.
    #[must_use]
    pub fn write(&self) -> Use {
        self.used(AccessMode::Write)
    }

    /// A declaration that a kernel reads and writes all of it.
    #[must_use]
    pub fn read_write(&self) -> Use {
        self.used(AccessMode::ReadWrite)
    }

    fn used(&self, mode: AccessMode) -> Use {
        Use { array: self.id, base: self.base, bytes: self.bytes(), mode }
    }
}

/// The local memory of a work-group as an array of words.
#[derive(Debug)]
pub struct Lds<T> {
    offset: u64,
    len: u64,
    word: PhantomData<fn() -> T>,
}

impl<T> Clone for Lds<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Lds<T> {}

impl<T: Word> Lds<T> {
    pub(crate) fn new(offset: u64, len: u64) -> Self {
        Lds { offset, len, word: PhantomData }
    }

    /// The number of elements in the array.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the array has no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// A declared use of the bytes of an array by a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The number of the array.
    pub array: ArrayId,
    /// The address of the first byte in use.
    pub base: Addr,
    /// The number of bytes in use.
    pub bytes: u64,
    /// Whether the kernel reads the bytes, writes them, or does both.
    pub mode: AccessMode,
}

/// The target of an access: an [`Array`] or an [`Lds`].
pub trait Target<T: Word>: Copy {
    /// The memory of the target.
    const SPACE: Space;
    /// The address of element 0.
    fn base(&self) -> u64;
    /// The number of elements in the array.
    fn len(&self) -> u64;
    /// Whether the array has no elements.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The number of the array.
    fn id(&self) -> ArrayId;
}

impl<T: Word> Target<T> for Array<T> {
    const SPACE: Space = Space::Global;
    #[inline]
    fn base(&self) -> u64 {
        self.base.0
    }
    #[inline]
    fn len(&self) -> u64 {
        self.len
    }
    #[inline]
    fn id(&self) -> ArrayId {
        self.id
    }
}

impl<T: Word> Target<T> for Lds<T> {
    const SPACE: Space = Space::Lds;
    #[inline]
    fn base(&self) -> u64 {
        self.offset
    }
    #[inline]
    fn len(&self) -> u64 {
        self.len
    }
    #[inline]
    fn id(&self) -> ArrayId {
        ArrayId(0)
    }
}

/// An array as a driver sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayInfo {
    /// The number of the array.
    pub id: ArrayId,
    /// The program's name for it.
    pub name: String,
    /// The address of the first byte of the array.
    pub base: Addr,
    /// The size of the array in bytes.
    pub bytes: u64,
    /// The number of elements in the array.
    pub len: u64,
    /// The name of the element's type.
    pub word: &'static str,
}
