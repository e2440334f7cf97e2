//! The requests of cores to the memory system.
//!
//! A request accesses one line. It carries everything that any protocol from the literature uses:
//! the operation, the memory order, the scope instance, the issuer, the hints and the array.

use crate::line::{ByteMask, LineAddr, LineData, Width};

crate::symbols! {
    /// The levels of the execution hierarchy that a scope can name.
    pub enum Level {
        /// The scope of one work-item.
        WorkItem,
        /// The scope of the work-items of one wavefront.
        SubGroup,
        /// The scope of the work-items of one work-group.
        WorkGroup,
        /// The scope of the work-groups of one chiplet.
        Chiplet,
        /// The scope of the whole GPU.
        Device,
        /// The scope of the GPU and the host.
        System,
        /// The scope of a named set of work-items outside the hierarchy.
        Named,
    }
}

/// A scope *instance*: a level and the number of one instance of this level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scope {
    /// The level of the scope.
    pub level: Level,
    /// The number of the instance within its level; 0 for the device and the system.
    pub instance: u32,
}

impl Scope {
    /// The scope of the whole GPU.
    pub const DEVICE: Scope = Scope { level: Level::Device, instance: 0 };
    /// The scope of the GPU and the host.
    pub const SYSTEM: Scope = Scope { level: Level::System, instance: 0 };

    /// The scope of the work-group with this number.
    #[must_use]
    pub const fn work_group(instance: u32) -> Scope {
        Scope { level: Level::WorkGroup, instance }
    }
}

crate::symbols! {
    /// The memory order of an access.
    pub enum Order {
        /// An ordinary data access, which is not atomic and orders nothing.
        Plain,
        /// An atomic access that orders no other access.
        Relaxed,
        /// Later accesses stay after this access.
        Acquire,
        /// Earlier accesses stay before this access.
        Release,
        /// Both `Acquire` and `Release`.
        AcqRel,
        /// As `AcqRel`; in addition, all accesses with this order are in one total order.
        SeqCst,
    }
}

impl Order {
    /// Whether the access is atomic.
    #[inline]
    #[must_use]
    pub const fn is_atomic(self) -> bool {
        !matches!(self, Order::Plain)
    }

    /// Whether the order includes an acquire. A store never acquires, whatever its order.
    #[inline]
    #[must_use]
    pub const fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::AcqRel | Order::SeqCst)
    }

    /// Whether the order includes a release. A load never releases, whatever its order.
    #[inline]
    #[must_use]
    pub const fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcqRel | Order::SeqCst)
    }
}

/// The function of a read-modify-write. It computes the new value from the old value and the
/// operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RmwKind {
    /// The sum of old value and operand, wrapping on overflow.
    Add,
    /// The old value minus the operand, wrapping on overflow.
    Sub,
    /// Bitwise and of old value and operand.
    And,
    /// Bitwise or of old value and operand.
    Or,
    /// Bitwise exclusive or of old value and operand.
    Xor,
    /// The smaller of old value and operand as unsigned numbers.
    MinU,
    /// The larger of old value and operand as unsigned numbers.
    MaxU,
    /// The smaller of old value and operand as signed numbers.
    MinS,
    /// The larger of old value and operand as signed numbers.
    MaxS,
    /// The sum of old value and operand as floating-point numbers: IEEE single precision for 4
    /// bytes, double precision for 8 bytes.
    AddF,
    /// The operand replaces the old value.
    Exchange,
    /// The operand replaces the old value if the old value equals `expected`.
    CompareExchange {
        /// The value with which the old value is compared.
        expected: u64,
    },
}

/// A read-modify-write of every word that the request's mask selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rmw {
    /// The function that computes the new value.
    pub kind: RmwKind,
    /// The width of each word.
    pub width: Width,
    /// Whether the issuer uses the old value.
    pub uses_value: bool,
}

impl Rmw {
    /// The new value of one word, from its old value and the operand.
    #[inline]
    #[must_use]
    pub fn apply(self, old: u64, operand: u64) -> u64 {
        let bits = 8 * self.width.bytes() as u32;
        let signed = |v: u64| ((v << (64 - bits)) as i64) >> (64 - bits);
        let new = match self.kind {
            RmwKind::Add => old.wrapping_add(operand),
            RmwKind::Sub => old.wrapping_sub(operand),
            RmwKind::And => old & operand,
            RmwKind::Or => old | operand,
            RmwKind::Xor => old ^ operand,
            RmwKind::MinU => old.min(operand),
            RmwKind::MaxU => old.max(operand),
            RmwKind::MinS => signed(old).min(signed(operand)) as u64,
            RmwKind::MaxS => signed(old).max(signed(operand)) as u64,
            RmwKind::AddF if self.width == Width::W8 => {
                (f64::from_bits(old) + f64::from_bits(operand)).to_bits()
            }
            RmwKind::AddF => {
                u64::from((f32::from_bits(old as u32) + f32::from_bits(operand as u32)).to_bits())
            }
            RmwKind::Exchange => operand,
            RmwKind::CompareExchange { expected } if old == expected & (u64::MAX >> (64 - bits)) => operand,
            RmwKind::CompareExchange { .. } => old,
        };
        new & (u64::MAX >> (64 - bits))
    }

    /// Performs the read-modify-write on every word of `line` that `mask` selects. The operands are
    /// at the same offsets in `operands`. Returns the old bytes.
    #[inline]
    pub fn perform(self, line: &mut LineData, operands: &LineData, mask: ByteMask) -> LineData {
        let mut old_bytes = LineData::default();
        let width = self.width.bytes();
        let mut left = mask;
        while let Some(offset) = left.first() {
            let old = line.read(offset, self.width);
            old_bytes.write(offset, self.width, old);
            line.write(offset, self.width, self.apply(old, operands.read(offset, self.width)));
            left = left.minus(ByteMask::range(offset, width));
        }
        old_bytes
    }
}

/// The number of a kernel in the running program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KernelId(pub u16);

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// Read the bytes that the request's mask selects.
    Load,
    /// Write the bytes that the request's mask selects.
    Store,
    /// Read-modify-write every word that the request's mask selects.
    Rmw(Rmw),
    /// Order other accesses. The operation itself accesses no line.
    Fence,
    /// The beginning of a kernel: an acquire at the request's scope. First the command processor
    /// issues one such request for the whole GPU. This request has system scope if the host has
    /// written since the last kernel, and device scope otherwise. Then every compute unit issues
    /// one such request at device scope.
    KernelBegin(KernelId),
    /// The end of a kernel: a release at the request's scope. First every compute unit issues one
    /// such request at device scope. Then the command processor issues one at system scope for the
    /// whole GPU, so that the host can read.
    KernelEnd(KernelId),
}

/// The work-item, wavefront and work-group that issue a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Issuer {
    /// The number of the issuing lane within its wavefront. If several lanes share the request, the
    /// number of the first of these lanes.
    pub work_item: u32,
    /// The number of the wavefront within its compute unit.
    pub wavefront: u32,
    /// The number of the work-group in the grid.
    pub work_group: u32,
}

/// Hints of the program to the hardware.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hints {
    /// Whether the operation also synchronizes with operations of other threads at narrower scopes
    /// (remote-scope promotion).
    pub remote: bool,
    /// Whether the operation is a commutative update, which may be reordered with other commutative
    /// updates of the same word.
    pub commutative: bool,
}

/// The number of the array (allocation) that an address belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArrayId(pub u16);

/// The kind of accesses that a kernel makes to an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessMode {
    /// The kernel only reads the array.
    Read,
    /// The kernel only writes the array.
    Write,
    /// The kernel reads and writes the array.
    ReadWrite,
}

/// The use of one array by one kernel of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArrayUse {
    /// The array that the kernel uses.
    pub array: ArrayId,
    /// The first line of the array.
    pub first: LineAddr,
    /// The number of lines of the array.
    pub lines: u64,
    /// The kind of accesses that the kernel makes to the array.
    pub mode: AccessMode,
}

/// A request of a core to the memory system, for one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Request {
    /// The operation that the request asks for.
    pub op: Op,
    /// The memory order of the operation.
    pub order: Order,
    /// The scope instance of the operation. Plain accesses ignore it.
    pub scope: Scope,
    /// The work-item, wavefront and work-group that issue the request.
    pub issuer: Issuer,
    /// Hints of the program to the hardware.
    pub hints: Hints,
    /// The array that the line belongs to.
    pub array: ArrayId,
    /// The line that the operation accesses. Fences and kernel boundaries ignore it.
    pub line: LineAddr,
    /// The bytes of the line that the operation accesses.
    pub mask: ByteMask,
    /// The bytes to store, or the operands of a read-modify-write.
    pub data: LineData,
}

impl Request {
    /// Whether the request is an atomic access to a line.
    #[inline]
    #[must_use]
    pub fn is_atomic_access(&self) -> bool {
        match self.op {
            Op::Rmw(_) => true,
            Op::Load | Op::Store => self.order.is_atomic(),
            Op::Fence | Op::KernelBegin(_) | Op::KernelEnd(_) => false,
        }
    }

    /// Whether the request acquires. This depends on its operation and its memory order.
    #[inline]
    #[must_use]
    pub fn acquires(&self) -> bool {
        match self.op {
            Op::Load | Op::Rmw(_) | Op::Fence => self.order.acquires(),
            Op::KernelBegin(_) => true,
            Op::Store | Op::KernelEnd(_) => false,
        }
    }

    /// Whether the request releases. This depends on its operation and its memory order.
    #[inline]
    #[must_use]
    pub fn releases(&self) -> bool {
        match self.op {
            Op::Store | Op::Rmw(_) | Op::Fence => self.order.releases(),
            Op::KernelEnd(_) => true,
            Op::Load | Op::KernelBegin(_) => false,
        }
    }

    /// Whether the answer to the request carries bytes.
    #[inline]
    #[must_use]
    pub fn reads(&self) -> bool {
        match self.op {
            Op::Load => true,
            Op::Rmw(rmw) => rmw.uses_value,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rmw(kind: RmwKind, width: Width) -> Rmw {
        Rmw { kind, width, uses_value: true }
    }

    #[test]
    fn arithmetic_wraps_at_the_width() {
        assert_eq!(rmw(RmwKind::Add, Width::W4).apply(0xffff_ffff, 1), 0);
        assert_eq!(rmw(RmwKind::Sub, Width::W1).apply(0, 1), 0xff);
        assert_eq!(rmw(RmwKind::MinS, Width::W4).apply(0xffff_ffff, 0), 0xffff_ffff);
        assert_eq!(rmw(RmwKind::MaxS, Width::W4).apply(0xffff_ffff, 0), 0);
        assert_eq!(rmw(RmwKind::MaxU, Width::W8).apply(u64::MAX, 0), u64::MAX);
        let half = u64::from(0.5f32.to_bits());
        assert_eq!(rmw(RmwKind::AddF, Width::W4).apply(half, half), u64::from(1f32.to_bits()));
    }

    #[test]
    fn the_sign_decides_a_comparison_of_signed_numbers_only() {
        for width in Width::ALL {
            let top = 1 << (8 * width.bytes() - 1);
            for (kind, new) in
                [(RmwKind::MinU, 1), (RmwKind::MaxU, top), (RmwKind::MinS, top), (RmwKind::MaxS, 1)]
            {
                let (up, down) = (rmw(kind, width).apply(1, top), rmw(kind, width).apply(top, 1));
                assert_eq!((up, down), (new, new), "{kind:?} of {width:?}");
            }
        }
    }

    #[test]
    fn a_compare_exchange_writes_only_on_a_match() {
        let cas = rmw(RmwKind::CompareExchange { expected: 3 }, Width::W4);
        assert_eq!(cas.apply(3, 9), 9);
        assert_eq!(cas.apply(4, 9), 4);
        let minus_one = rmw(RmwKind::CompareExchange { expected: u64::MAX }, Width::W4);
        assert_eq!(minus_one.apply(0xffff_ffff, 9), 9, "only the bytes of the word count");
    }

    #[test]
    fn every_masked_word_is_updated_and_its_old_value_returned() {
        let mut line = LineData::default();
        line.write(0, Width::W4, 10);
        line.write(8, Width::W4, 20);
        let mut operands = LineData::default();
        operands.write(0, Width::W4, 1);
        operands.write(8, Width::W4, 2);
        let mask = ByteMask::range(0, 4).union(ByteMask::range(8, 4));
        let old = rmw(RmwKind::Add, Width::W4).perform(&mut line, &operands, mask);
        assert_eq!((old.read(0, Width::W4), old.read(8, Width::W4)), (10, 20));
        assert_eq!((line.read(0, Width::W4), line.read(8, Width::W4)), (11, 22));
        assert_eq!(line.read(4, Width::W4), 0);
    }
}
