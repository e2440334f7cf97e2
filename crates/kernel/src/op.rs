//! The posted operations of wavefronts and the host, for a driver.
//!
//! One table holds all operations of a run. Each slot of the table holds one operation, with the
//! values of its lanes. A driver reads the operands from [`Posted::data`], writes the values of a
//! load into the same buffer, and calls [`Ops::complete`]. Slots are reused. Once the table is
//! large enough for a run, a new operation needs no memory allocation.

use core::panic::Location;

use proto::{Addr, ArrayId, Hints, KernelId, Level, Order, Rmw, RmwKind, Width};

use crate::word::Packed;
use crate::work::Work;
use crate::{LANES_MAX, Mask};

/// The place of an operation in the source.
pub type Site = &'static Location<'static>;

/// The maximum number of operations that a wavefront can post between two awaits.
pub const OPS_PER_POLL_MAX: usize = 4096;

/// The number of an operation in flight. It is valid from the poll that posts
/// the operation until [`Ops::complete`], then recycled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpId(pub u32);

impl OpId {
    /// An operation without active lanes, complete from the start.
    pub(crate) const EMPTY: OpId = OpId(u32::MAX);
    /// An operation refused because of a fault. It never completes.
    pub(crate) const REFUSED: OpId = OpId(u32::MAX - 1);
}

/// The order, scope and hints of a synchronizing operation.
///
/// A scope is given by its level, for example work-group or chiplet. The driver derives the scope
/// instance from the level and the issuer: the issuer's own work-group, or the issuer's own
/// chiplet. Only for a named scope does the field `named` give the instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Semantics {
    /// The memory order of the operation.
    pub order: Order,
    /// The level of the scope.
    pub level: Level,
    /// The number of the named scope, if the level is [`Level::Named`].
    pub named: u32,
    /// Facts known to the program that the hardware may use.
    pub hints: Hints,
}

impl Semantics {
    /// The semantics of an ordinary data access.
    pub const PLAIN: Semantics = Semantics::new(Order::Plain, Level::WorkItem);

    /// An order at a level, without hints.
    #[must_use]
    pub const fn new(order: Order, level: Level) -> Self {
        Semantics { order, level, named: 0, hints: Hints { remote: false, commutative: false } }
    }

    /// Adds the hint of a remote operation: it synchronizes with narrower scopes
    /// elsewhere.
    #[must_use]
    pub const fn remote(mut self) -> Self {
        self.hints.remote = true;
        self
    }

    /// Adds the hint that the hardware may reorder this update with other
    /// commutative updates.
    #[must_use]
    pub const fn commutative(mut self) -> Self {
        self.hints.commutative = true;
        self
    }

    /// Sets the scope to the named scope `named`.
    #[must_use]
    pub const fn at_named(mut self, named: u32) -> Self {
        self.level = Level::Named;
        self.named = named;
        self
    }
}

/// The semantics of a relaxed operation at a scope level.
#[must_use]
pub const fn relaxed(level: Level) -> Semantics {
    Semantics::new(Order::Relaxed, level)
}

/// The semantics of an acquire at a scope level.
#[must_use]
pub const fn acquire(level: Level) -> Semantics {
    Semantics::new(Order::Acquire, level)
}

/// The semantics of a release at a scope level.
#[must_use]
pub const fn release(level: Level) -> Semantics {
    Semantics::new(Order::Release, level)
}

/// The semantics of an acquire-release operation at a scope level.
#[must_use]
pub const fn acq_rel(level: Level) -> Semantics {
    Semantics::new(Order::AcqRel, level)
}

/// The semantics of a sequentially consistent operation at a scope level.
#[must_use]
pub const fn seq_cst(level: Level) -> Semantics {
    Semantics::new(Order::SeqCst, level)
}

/// The effect of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Read the words of the active lanes into [`Posted::data`].
    Load,
    /// Write the words of the active lanes from [`Posted::data`].
    Store,
    /// Read-modify-write, lowest lane first. [`Posted::rmw`] gives the function
    /// of a lane. The old values replace the operands in [`Posted::data`].
    Rmw {
        /// The function. For a compare-exchange, [`Posted::rmw`] gives the
        /// expected value of each lane.
        kind: RmwKind,
        /// Whether the issuer uses the old values.
        uses_value: bool,
    },
    /// A fence, which orders other operations and accesses nothing.
    Fence,
    /// Wait for all wavefronts of the work-group. A wavefront that has ended
    /// never arrives. The barrier releases before and acquires after the wait,
    /// according to its semantics.
    Barrier,
    /// The host writes [`Posted::bulk`] at [`Posted::base`], untimed. Every
    /// later access by any agent sees the bytes.
    HostWrite,
    /// The host reads [`Posted::bulk`] at [`Posted::base`], untimed. It sees
    /// all writes that are visible to the device, dirty cached bytes included.
    HostRead,
    /// The host launches a kernel. Completes when the kernel has ended.
    Launch(KernelId),
}

/// The kind of memory that an operation accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// The global address space, which all agents share.
    Global,
    /// The local memory of the work-group. Addresses are offsets in it.
    Lds,
}

/// The form of the lanes' addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressing {
    /// Lane `i` accesses the word at `base + i * width`.
    Unit(Addr),
    /// Each lane has an address of its own: see [`Posted::addr`].
    Gather,
    /// One lane accesses one address.
    Single(Addr),
    /// No address: a fence, a barrier, a launch.
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    Free,
    Outstanding,
    /// Complete, but not yet seen by the issuer.
    Done,
    /// Outstanding, but no longer awaited by the issuer.
    Abandoned,
}

/// An operation that an agent has issued.
#[derive(Debug)]
pub struct Posted {
    /// The kind of operation, such as a load or a fence.
    pub action: Action,
    /// The memory that it accesses: global or local.
    pub space: Space,
    /// The width of a word.
    pub width: Width,
    /// The active lanes, never empty for an access.
    pub exec: Mask,
    /// The addresses of its lanes.
    pub addressing: Addressing,
    /// The order, the scope level and the hints of the operation.
    pub semantics: Semantics,
    /// The array that is accessed. `ArrayId(0)` for an access of local memory and for an operation
    /// that is not an access.
    pub array: ArrayId,
    /// The place of the operation in the source.
    pub site: Site,
    /// The arithmetic of this wavefront since its previous operation, or since
    /// the start of this poll.
    pub work: Work,
    /// The packed operands of a store or read-modify-write, and the packed
    /// results of a load or read-modify-write. Only the words of the lanes in
    /// `exec` have a meaning. The driver writes the results of a load.
    pub data: Packed,
    /// The bytes of a host write or read.
    pub bulk: Vec<u8>,
    /// The values per lane that only some operations need. The first operation in this slot that
    /// needs them allocates them.
    per_lane: Option<Box<PerLane>>,
    slot: Slot,
}

/// The values per lane of gathers and compare-exchanges.
#[derive(Debug)]
struct PerLane {
    addrs: [u64; LANES_MAX],
    expected: Packed,
}

impl PerLane {
    const ZERO: PerLane = PerLane { addrs: [0; LANES_MAX], expected: Packed([0; 8 * LANES_MAX]) };
}

impl Posted {
    fn free() -> Self {
        Posted {
            action: Action::Fence,
            space: Space::Global,
            width: Width::W4,
            exec: Mask::NONE,
            addressing: Addressing::None,
            semantics: Semantics::PLAIN,
            array: ArrayId(0),
            site: Location::caller(),
            work: Work::default(),
            data: Packed::default(),
            bulk: Vec::new(),
            per_lane: None,
            slot: Slot::Free,
        }
    }

    /// The address of the word of `lane`.
    #[inline]
    #[must_use]
    pub fn addr(&self, lane: usize) -> Addr {
        match self.addressing {
            Addressing::Unit(base) => Addr(base.0 + (lane * self.width.bytes()) as u64),
            Addressing::Gather => Addr(self.addrs()[lane]),
            Addressing::Single(at) => at,
            Addressing::None => Addr(0),
        }
    }

    /// The addresses of a gather. Those of inactive lanes have no meaning.
    #[inline]
    #[must_use]
    pub fn addrs(&self) -> &[u64; LANES_MAX] {
        &self.per_lane().addrs
    }

    /// The first address of a host write or read.
    #[inline]
    #[must_use]
    pub fn base(&self) -> Addr {
        self.addr(0)
    }

    /// The operand or result of `lane`.
    #[inline]
    #[must_use]
    pub fn value(&self, lane: usize) -> u64 {
        self.data.get(lane, self.width)
    }

    /// Sets the result of `lane`.
    #[inline]
    pub fn set_value(&mut self, lane: usize, bits: u64) {
        self.data.set(lane, self.width, bits);
    }

    /// The read-modify-write of `lane`. `None` if the operation is not a read-modify-write.
    #[inline]
    #[must_use]
    pub fn rmw(&self, lane: usize) -> Option<Rmw> {
        let Action::Rmw { kind, uses_value } = self.action else { return None };
        let kind = match kind {
            RmwKind::CompareExchange { .. } => {
                RmwKind::CompareExchange { expected: self.per_lane().expected.get(lane, self.width) }
            }
            other => other,
        };
        Some(Rmw { kind, width: self.width, uses_value })
    }

    /// Whether the issuer gets results.
    #[inline]
    #[must_use]
    pub fn reads(&self) -> bool {
        match self.action {
            Action::Load => true,
            Action::Rmw { uses_value, .. } => uses_value,
            _ => false,
        }
    }

    /// Whether the operation is a load, a store or a read-modify-write.
    #[inline]
    #[must_use]
    pub fn is_access(&self) -> bool {
        matches!(self.action, Action::Load | Action::Store | Action::Rmw { .. })
    }

    #[inline]
    fn per_lane(&self) -> &PerLane {
        self.per_lane.as_deref().unwrap_or(&PerLane::ZERO)
    }

    #[inline]
    fn per_lane_mut(&mut self) -> &mut PerLane {
        self.per_lane.get_or_insert_with(|| Box::new(PerLane::ZERO))
    }

    #[inline]
    pub(crate) fn addrs_mut(&mut self) -> &mut [u64; LANES_MAX] {
        &mut self.per_lane_mut().addrs
    }

    #[inline]
    pub(crate) fn expected_mut(&mut self) -> &mut Packed {
        &mut self.per_lane_mut().expected
    }
}

/// The number of slots that the table of operations gains each time it grows.
const CHUNK: usize = 32;

/// All operations of a run that are in flight.
#[derive(Debug, Default)]
pub struct Ops {
    /// The slots in chunks, so that the table grows without copying.
    chunks: Vec<Box<[Posted; CHUNK]>>,
    free: Vec<u32>,
    posted: Vec<OpId>,
}

impl Ops {
    /// The operations posted since [`Ops::clear_posted`], in program order.
    #[inline]
    #[must_use]
    pub fn posted(&self) -> &[OpId] {
        &self.posted
    }

    /// Clears the list of [`Ops::posted`]. The operations stay in flight.
    #[inline]
    pub fn clear_posted(&mut self) {
        self.posted.clear();
    }

    /// An operation in flight.
    ///
    /// # Panics
    /// If no such operation is in flight.
    #[inline]
    #[must_use]
    pub fn get(&self, id: OpId) -> &Posted {
        &self.chunks[id.0 as usize / CHUNK][id.0 as usize % CHUNK]
    }

    /// An operation in flight, mutable for its results.
    ///
    /// # Panics
    /// If no such operation is in flight.
    #[inline]
    pub fn get_mut(&mut self, id: OpId) -> &mut Posted {
        &mut self.chunks[id.0 as usize / CHUNK][id.0 as usize % CHUNK]
    }

    /// Completes an operation. The results of a load or read-modify-write are in the operation's
    /// data; a store or update is accepted; for any other operation, the issuer's wait is over. The
    /// number of the operation may be reused from now on.
    ///
    /// # Panics
    /// If the operation is not outstanding.
    #[inline]
    pub fn complete(&mut self, id: OpId) {
        let op = self.get_mut(id);
        match op.slot {
            Slot::Outstanding => op.slot = Slot::Done,
            Slot::Abandoned => self.release(id),
            Slot::Free | Slot::Done => panic!("operation {id:?} is completed twice"),
        }
    }

    /// The number of operations in flight, or complete but not yet seen.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.chunks.len() * CHUNK - self.free.len()
    }

    #[inline]
    pub(crate) fn post(&mut self, site: Site) -> (OpId, &mut Posted) {
        assert!(
            self.posted.len() < OPS_PER_POLL_MAX,
            "{site} posts more than {OPS_PER_POLL_MAX} operations without an await"
        );
        let id = OpId(self.free.pop().unwrap_or_else(|| self.grow()));
        self.posted.push(id);
        let op = self.get_mut(id);
        op.slot = Slot::Outstanding;
        op.site = site;
        op.work = crate::work::take().unwrap_or_default();
        (id, op)
    }

    /// Adds a chunk of slots and returns the first one.
    #[cold]
    fn grow(&mut self) -> u32 {
        let first = (self.chunks.len() * CHUNK) as u32;
        self.chunks.push(Box::new(core::array::from_fn(|_| Posted::free())));
        self.free.extend((first + 1..first + CHUNK as u32).rev());
        first
    }

    /// Removes the last posted operation.
    #[cold]
    pub(crate) fn retract(&mut self) {
        if let Some(id) = self.posted.pop() {
            self.release(id);
        }
    }

    #[inline]
    pub(crate) fn is_done(&self, id: OpId) -> bool {
        self.get(id).slot == Slot::Done
    }

    #[inline]
    pub(crate) fn release(&mut self, id: OpId) {
        self.get_mut(id).slot = Slot::Free;
        self.free.push(id.0);
    }

    /// Marks an operation as no longer awaited.
    #[inline]
    pub(crate) fn abandon(&mut self, id: OpId) {
        let op = self.get_mut(id);
        match op.slot {
            Slot::Outstanding => op.slot = Slot::Abandoned,
            Slot::Done => self.release(id),
            Slot::Free | Slot::Abandoned => {}
        }
    }
}
