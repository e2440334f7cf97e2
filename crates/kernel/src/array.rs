//! Typed arrays in global memory and in local memory.

use core::marker::PhantomData;
use core::ops::Range;

use proto::{AccessMode, Addr, ArrayId};

use crate::Word;
use crate::op::Space;

/// An array in global memory: its address, its length and its number. The value is only a handle,
/// which kernels copy freely; the elements are in the memory of the machine.
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

    /// The address of the first element of the array.
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

    /// The part of the array with the elements in `range`, as an array. Elements beyond the end are
    /// left out. The part keeps the number of the whole array.
    #[must_use]
    pub fn slice(&self, range: Range<u64>) -> Self {
        let first = range.start.min(self.len);
        let end = range.end.clamp(first, self.len);
        let base = Addr(self.base.0 + first * T::WIDTH.bytes() as u64);
        Array { base, len: end - first, id: self.id, word: PhantomData }
    }

    /// A declaration that a kernel reads the whole array.
    #[must_use]
    pub fn read(&self) -> Use {
        self.used(AccessMode::Read)
    }

    /// A declaration that a kernel writes the whole array.
    #[must_use]
    pub fn write(&self) -> Use {
        self.used(AccessMode::Write)
    }

    /// A declaration that a kernel reads and writes the whole array.
    #[must_use]
    pub fn read_write(&self) -> Use {
        self.used(AccessMode::ReadWrite)
    }

    fn used(&self, mode: AccessMode) -> Use {
        let width = T::WIDTH.bytes() as u64;
        Use { array: self.id, base: self.base, bytes: self.bytes(), mode, width, part: None }
    }
}

/// The local memory of a work-group, or a part of it, as an array of words.
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

/// The declaration that a kernel uses certain bytes of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The number of the array in its program.
    pub array: ArrayId,
    /// The address of the first byte of the array that the kernel uses.
    pub base: Addr,
    /// The number of bytes of the array that the kernel uses.
    pub bytes: u64,
    /// Whether the kernel reads the bytes, writes them, or does both.
    pub mode: AccessMode,
    /// The size in bytes of one element of the array.
    width: u64,
    /// The part of the bytes that each work-group touches, or `None` if a work-group may touch all
    /// of them.
    pub part: Option<GroupPart>,
}

/// The part of an array that one work-group touches. The parts of consecutive work-groups are
/// consecutive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupPart {
    /// The size of the part, in bytes.
    pub bytes: u64,
    /// The number of bytes before the part, and after it, that the work-group touches too.
    pub halo_bytes: u64,
}

impl Use {
    /// Declares that work-group `g` touches only the elements from `g * elements` to
    /// `(g + 1) * elements`.
    #[must_use]
    pub fn in_parts(self, elements: u64) -> Use {
        self.in_parts_with_halo(elements, 0)
    }

    /// Declares that work-group `g` touches only the elements from `g * elements` to `(g + 1) *
    /// elements`, and `halo` elements on either side of them.
    #[must_use]
    pub fn in_parts_with_halo(mut self, elements: u64, halo: u64) -> Use {
        self.part = Some(GroupPart { bytes: elements * self.width, halo_bytes: halo * self.width });
        self
    }

    /// Whether the declaration allows work-group `group` to make this access to the word at `at`.
    #[must_use]
    pub fn allows(&self, group: u32, at: Addr, access: AccessMode) -> bool {
        let is_allowed = self.mode == AccessMode::ReadWrite || self.mode == access;
        let Some(offset) = at.0.checked_sub(self.base.0).filter(|&offset| offset < self.bytes) else {
            return false;
        };
        let within = self.part.is_none_or(|GroupPart { bytes, halo_bytes }| {
            let first = u64::from(group) * bytes;
            offset + halo_bytes >= first && offset < first + bytes + halo_bytes
        });
        is_allowed && within
    }
}

/// The memory that an access is directed to: an [`Array`] or an [`Lds`].
pub trait Target<T: Word>: Copy {
    /// The kind of memory that contains the target: global or local.
    const SPACE: Space;
    /// The address of the first element.
    fn base(&self) -> u64;
    /// The number of elements in the target.
    fn len(&self) -> u64;
    /// Whether the target has no elements.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The number of the array in its program, or `ArrayId(0)` for local memory.
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

/// The description of an array for a driver: the program that runs kernels, such as the simulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayInfo {
    /// The number of the array in its program.
    pub id: ArrayId,
    /// The name that the program gives to the array.
    pub name: String,
    /// The address of the first byte of the array.
    pub base: Addr,
    /// The size of the array in bytes.
    pub bytes: u64,
    /// The number of elements in the array.
    pub len: u64,
    /// The name of the Rust type of the elements, such as `u32`.
    pub word: &'static str,
}
