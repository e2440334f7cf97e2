//! The operations that wavefronts and the host post. A driver, such as a simulator, performs them.
//!
//! One table holds all operations of a run. Each slot of the table holds one operation, with the
//! values of its lanes. A driver reads the operands from [`Posted::data`], writes the values of a
//! load into the same buffer, and calls [`Ops::complete`]. The slot of a completed operation is
//! used again, so a table that is large enough for a run needs no further memory allocation.

use core::panic::Location;

use proto::{Addr, ArrayId, Hints, KernelId, Level, Order, Rmw, RmwKind, Width};

use crate::word::Packed;
use crate::work::Work;
use crate::{LANES_MAX, Mask};

/// The place in the source from which an operation is issued.
pub type Site = &'static Location<'static>;

/// The maximum number of operations that a wavefront can post between two awaits.
pub const OPS_PER_POLL_MAX: usize = 4096;

/// The number of an operation in flight. It is valid from the poll that posts the operation until
/// [`Ops::complete`]. A later operation may then get the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpId(pub u32);

impl OpId {
    /// The number that stands for any operation that accesses nothing, for example because no lane
    /// is active. Such an operation is complete from the start.
    pub(crate) const EMPTY: OpId = OpId(u32::MAX);
    /// The number that stands for any operation that is refused because of a fault. Such an
    /// operation never completes.
    pub(crate) const REFUSED: OpId = OpId(u32::MAX - 1);
}

/// The order, scope and hints of a synchronizing operation.
///
/// A scope is given by its level, for example work-group or chiplet. The driver (such as the
/// simulator) derives the scope instance from the level and the issuer: the issuer's own
/// work-group, or the issuer's own chiplet. Only for a named scope does the field `named` give the
/// instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Semantics {
    /// The memory order of the operation.
    pub order: Order,
    /// The level of the scope, for example work-group.
    pub level: Level,
    /// The number of the named scope, if the level is [`Level::Named`].
    pub named: u32,
    /// Properties of the operation, besides order and scope, that the program knows and that the
    /// hardware may use.
    pub hints: Hints,
}

impl Semantics {
    /// The semantics of an ordinary data access.
    pub const PLAIN: Semantics = Semantics::new(Order::Plain, Level::WorkItem);

    /// The semantics with this order and this scope level, without hints.
    #[must_use]
    pub const fn new(order: Order, level: Level) -> Self {
        Semantics { order, level, named: 0, hints: Hints { remote: false, commutative: false } }
    }

    /// Adds the hint that the operation is remote: it synchronizes with operations of narrower
    /// scopes on other compute units.
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
    /// A read-modify-write of the words of the active lanes, lowest lane first. [`Posted::rmw`]
    /// gives the operation of a lane. The old values replace the operands in [`Posted::data`].
    Rmw {
        /// The kind of operation, such as an addition. For a compare-exchange, [`Posted::rmw`]
        /// gives the expected value of each lane.
        kind: RmwKind,
        /// Whether the issuer uses the old values.
        uses_value: bool,
    },
    /// A fence, which orders other operations and makes no access.
    Fence,
    /// A wait for all wavefronts of the work-group. A wavefront that has ended never arrives. The
    /// barrier makes a release before the wait and an acquire after it, as far as its semantics
    /// include them.
    Barrier,
    /// The host writes the bytes [`Posted::bulk`] at the address [`Posted::base`]. The write takes
    /// no simulated time. Every later access by any agent sees the bytes.
    HostWrite,
    /// The host reads bytes at the address [`Posted::base`] into [`Posted::bulk`]. The read takes
    /// no simulated time. It sees all writes that are visible to the device, including writes whose
    /// bytes are still dirty in a cache.
    HostRead,
    /// The host launches this kernel. The operation is complete when the kernel has ended.
    Launch(KernelId),
}

/// The kind of memory that an operation accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// The global address space, which all agents share.
    Global,
    /// The local memory of the issuer's work-group. Addresses are offsets in it.
    Lds,
}

/// The way in which an operation gives the addresses of its lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressing {
    /// Lane `i` accesses the word at `base + i * width`. The field is `base`.
    Unit(Addr),
    /// Each lane has an address of its own, which [`Posted::addr`] returns.
    Gather,
    /// The lowest active lane accesses one address; the other lanes take no part.
    Single(Addr),
    /// The operation has no address: it is a fence, a barrier or a launch.
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    Free,
    Outstanding,
    /// The operation is outstanding, but its issuer may continue.
    Accepted,
    /// The operation is complete, but its issuer has not seen this yet.
    Done,
    /// The operation is outstanding, but its issuer no longer waits for it.
    Abandoned,
}

/// An operation that an agent has issued.
#[derive(Debug)]
pub struct Posted {
    /// The kind of operation, such as a load or a fence.
    pub action: Action,
    /// The kind of memory that the operation accesses: global or local.
    pub space: Space,
    /// The width of the word that each lane accesses.
    pub width: Width,
    /// The active lanes. An access has at least one.
    pub exec: Mask,
    /// The addresses of the active lanes.
    pub addressing: Addressing,
    /// The order, the scope level and the hints of the operation.
    pub semantics: Semantics,
    /// The array that the operation accesses, or `ArrayId(0)` if it accesses local memory or
    /// nothing.
    pub array: ArrayId,
    /// The place of the operation in the source.
    pub site: Site,
    /// The arithmetic that the issuing wavefront has done since its previous operation in the same
    /// poll, or since the start of the poll.
    pub work: Work,
    /// The operands of a store or read-modify-write, and then the results of a load or
    /// read-modify-write, packed by lane. Only the words of the lanes in `exec` have a meaning. The
    /// driver (such as the simulator) writes the results.
    pub data: Packed,
    /// The bytes that the host writes or reads in a copy.
    pub bulk: Vec<u8>,
    /// Values for each lane that only some operations need: the addresses of a gather, and the
    /// expected values of a compare-exchange. Each slot of the table of operations allocates the
    /// memory for these values when an operation first needs it, and keeps it for later operations.
    per_lane: Option<Box<PerLane>>,
    slot: Slot,
}

/// The addresses of the lanes of a gather, and the expected values of a compare-exchange.
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

    /// The address of the word that `lane` accesses.
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

    /// The addresses of the lanes of a gather. The entry of an inactive lane has no meaning.
    #[inline]
    #[must_use]
    pub fn addrs(&self) -> &[u64; LANES_MAX] {
        &self.per_lane().addrs
    }

    /// The first address of the memory that a copy by the host reads or writes.
    #[inline]
    #[must_use]
    pub fn base(&self) -> Addr {
        self.addr(0)
    }

    /// The operand of `lane`, or the result of `lane` once the driver (such as the simulator) has
    /// set it.
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

    /// The read-modify-write that `lane` performs. `None` if the operation is not a
    /// read-modify-write.
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

    /// Whether the operation gives values to its issuer.
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
    /// The operations that were posted since the last call of [`Ops::clear_posted`], in program
    /// order.
    #[inline]
    #[must_use]
    pub fn posted(&self) -> &[OpId] {
        &self.posted
    }

    /// Empties the list that [`Ops::posted`] returns. The operations stay in flight.
    #[inline]
    pub fn clear_posted(&mut self) {
        self.posted.clear();
    }

    /// The operation in flight with this number.
    ///
    /// # Panics
    /// If the table of operations has no slot with this number. If the slot exists, but its
    /// operation is no longer in flight, the returned operation has no meaning.
    #[inline]
    #[must_use]
    pub fn get(&self, id: OpId) -> &Posted {
        &self.chunks[id.0 as usize / CHUNK][id.0 as usize % CHUNK]
    }

    /// The operation in flight with this number, so that its results can be set.
    ///
    /// # Panics
    /// If the table of operations has no slot with this number. If the slot exists, but its
    /// operation is no longer in flight, the returned operation has no meaning.
    #[inline]
    pub fn get_mut(&mut self, id: OpId) -> &mut Posted {
        &mut self.chunks[id.0 as usize / CHUNK][id.0 as usize % CHUNK]
    }

    /// Completes an operation, so that its issuer may continue. The results of a load or
    /// read-modify-write must be in the operation's data. The number of the operation may be reused
    /// from now on.
    ///
    /// # Panics
    /// If the operation is not outstanding.
    #[inline]
    pub fn complete(&mut self, id: OpId) {
        let op = self.get_mut(id);
        match op.slot {
            Slot::Outstanding | Slot::Accepted => op.slot = Slot::Done,
            Slot::Abandoned => self.release(id),
            Slot::Free | Slot::Done => panic!("operation {id:?} is completed twice"),
        }
    }

    /// Lets the issuer of a store or update (a read-modify-write without a result) continue. The
    /// operation stays in flight until [`Ops::complete`].
    #[inline]
    pub fn accept(&mut self, id: OpId) {
        let op = self.get_mut(id);
        if op.slot == Slot::Outstanding {
            op.slot = Slot::Accepted;
        }
    }

    /// The number of operations that are in flight, or are complete but not yet seen by their
    /// issuer.
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

    /// Adds a chunk of slots to the table of operations. Returns the index of a free slot of the chunk.
    #[cold]
    fn grow(&mut self) -> u32 {
        let first = (self.chunks.len() * CHUNK) as u32;
        self.chunks.push(Box::new(core::array::from_fn(|_| Posted::free())));
        self.free.extend((first + 1..first + CHUNK as u32).rev());
        first
    }

    /// Removes the operation that was posted last, because it turned out to be faulty.
    #[cold]
    pub(crate) fn retract(&mut self) {
        if let Some(id) = self.posted.pop() {
            self.release(id);
        }
    }

    /// Whether the issuer of the operation may continue.
    #[inline]
    pub(crate) fn is_ready(&self, id: OpId) -> bool {
        matches!(self.get(id).slot, Slot::Done | Slot::Accepted)
    }

    #[inline]
    pub(crate) fn release(&mut self, id: OpId) {
        self.get_mut(id).slot = Slot::Free;
        self.free.push(id.0);
    }

    /// Records that the issuer of an operation no longer waits for the operation. If the operation
    /// is complete, its slot in the table of operations becomes free.
    #[inline]
    pub(crate) fn abandon(&mut self, id: OpId) {
        let op = self.get_mut(id);
        match op.slot {
            Slot::Outstanding | Slot::Accepted => op.slot = Slot::Abandoned,
            Slot::Done => self.release(id),
            Slot::Free | Slot::Abandoned => {}
        }
    }
}
