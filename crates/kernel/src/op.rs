//! The operations that wavefronts and the host post, as a driver sees them.
//!
//! All operations of a run stand in one table. A slot holds its lanes' values
//! in place: a driver reads the operands from [`Posted::data`] and writes the
//! values of a load into the same buffer, then calls [`Ops::complete`]. Slots
//! are recycled, so that a run allocates nothing per operation once it is warm.

use core::panic::Location;

use proto::{Addr, ArrayId, Hints, KernelId, Level, Order, Rmw, RmwKind, Width};

use crate::word::Packed;
use crate::work::Work;
use crate::{LANES_MAX, Mask};

/// Where in the source an operation stands.
pub type Site = &'static Location<'static>;

/// The most operations that one wavefront may post between two awaits.
pub const OPS_PER_POLL_MAX: usize = 4096;

/// The number of an operation in flight. Numbers are recycled: one is valid
/// from the poll that posts it until [`Ops::complete`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpId(pub u32);

impl OpId {
    /// An operation with no active lane: complete before it is posted.
    pub(crate) const EMPTY: OpId = OpId(u32::MAX);
    /// An operation that was refused by a fault: never complete.
    pub(crate) const REFUSED: OpId = OpId(u32::MAX - 1);
}

/// The order, scope and hints of a synchronizing operation.
///
/// The scope is a level; which instance of that level is meant follows from
/// the issuer (its own work-group, its own chiplet) and is filled in by the
/// driver. Only a named scope says itself which one it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Semantics {
    /// The memory order.
    pub order: Order,
    /// The level of the scope.
    pub level: Level,
    /// Which named scope, when the level is [`Level::Named`].
    pub named: u32,
    /// What the program knows and the hardware may use.
    pub hints: Hints,
}

impl Semantics {
    /// An ordinary data access.
    pub const PLAIN: Semantics = Semantics::new(Order::Plain, Level::WorkItem);

    /// An order at a level.
    #[must_use]
    pub const fn new(order: Order, level: Level) -> Self {
        Semantics { order, level, named: 0, hints: Hints { remote: false, commutative: false } }
    }

    /// The same, synchronizing with narrower scopes elsewhere.
    #[must_use]
    pub const fn remote(mut self) -> Self {
        self.hints.remote = true;
        self
    }

    /// The same, and free to be reordered with other commutative updates.
    #[must_use]
    pub const fn commutative(mut self) -> Self {
        self.hints.commutative = true;
        self
    }

    /// The same at the named scope `named`.
    #[must_use]
    pub const fn at_named(mut self, named: u32) -> Self {
        self.level = Level::Named;
        self.named = named;
        self
    }
}

/// Relaxed at a level.
#[must_use]
pub const fn relaxed(level: Level) -> Semantics {
    Semantics::new(Order::Relaxed, level)
}

/// Acquire at a level.
#[must_use]
pub const fn acquire(level: Level) -> Semantics {
    Semantics::new(Order::Acquire, level)
}

/// Release at a level.
#[must_use]
pub const fn release(level: Level) -> Semantics {
    Semantics::new(Order::Release, level)
}

/// Acquire and release at a level.
#[must_use]
pub const fn acq_rel(level: Level) -> Semantics {
    Semantics::new(Order::AcqRel, level)
}

/// Sequentially consistent at a level.
#[must_use]
pub const fn seq_cst(level: Level) -> Semantics {
    Semantics::new(Order::SeqCst, level)
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Read the active lanes' words into [`Posted::data`].
    Load,
    /// Write the active lanes' words from [`Posted::data`].
    Store,
    /// Read-modify-write, lowest lane first. [`Posted::rmw`] gives what a lane
    /// does; the old values replace the operands in [`Posted::data`].
    Rmw {
        /// The function; for a compare-exchange ask [`Posted::rmw`] per lane.
        kind: RmwKind,
        /// Does the issuer look at the old values?
        uses_value: bool,
    },
    /// Order without an access.
    Fence,
    /// Wait until all wavefronts of the work-group are here; one that has
    /// ended never comes. Releases before, acquires after, as its semantics say.
    Barrier,
    /// The host writes [`Posted::bulk`] from [`Posted::base`] on, outside of
    /// the timed part: every later access of anyone sees the bytes.
    HostWrite,
    /// The host reads [`Posted::bulk`] from [`Posted::base`] on, outside of
    /// the timed part: it sees all that was written and made visible to the
    /// device, dirty cached bytes included.
    HostRead,
    /// The host launches a kernel; complete when the kernel has ended.
    Launch(KernelId),
}

/// Which memory an operation goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// The global address space.
    Global,
    /// The work-group's local data share; addresses are offsets in it.
    Lds,
}

/// How the lanes' addresses are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// Lane `i` accesses the word at `base + i * width`.
    Unit(Addr),
    /// Each lane has an address of its own; see [`Posted::addr`].
    Gather,
    /// One lane, one address.
    Single(Addr),
    /// No address: a fence, a barrier, a launch.
    Nowhere,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    Free,
    Outstanding,
    /// Complete; the issuer has not yet looked.
    Done,
    /// Outstanding, and the issuer will not look.
    Abandoned,
}

/// A posted operation.
#[derive(Debug)]
pub struct Posted {
    /// What it does.
    pub action: Action,
    /// The memory it goes to.
    pub space: Space,
    /// The width of a word.
    pub width: Width,
    /// The lanes that take part; never empty for an access.
    pub exec: Mask,
    /// Where its lanes go.
    pub placed: Placed,
    /// Its order, scope level and hints.
    pub semantics: Semantics,
    /// The array it belongs to; `ArrayId(0)` for the LDS and for no access.
    pub array: ArrayId,
    /// Where it stands in the source.
    pub site: Site,
    /// The arithmetic since the previous operation of this wavefront was
    /// posted, or since it was last polled.
    pub work: Work,
    /// The packed operands of a store or read-modify-write, and the packed
    /// values that a load or read-modify-write returns. Only the words of the
    /// lanes in `exec` mean anything, and those of a load are the driver's to write.
    pub data: Packed,
    /// The bytes of a host write or read.
    pub bulk: Vec<u8>,
    /// Made by the first operation of this slot that needs it.
    per_lane: Option<Box<PerLane>>,
    slot: Slot,
}

/// What only gathers and compare-exchanges have for each lane.
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
            placed: Placed::Nowhere,
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
        match self.placed {
            Placed::Unit(base) => Addr(base.0 + (lane * self.width.bytes()) as u64),
            Placed::Gather => Addr(self.addrs()[lane]),
            Placed::Single(at) => at,
            Placed::Nowhere => Addr(0),
        }
    }

    /// The addresses of all lanes of a gather, meaningful where active.
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

    /// The operand or value of `lane`.
    #[inline]
    #[must_use]
    pub fn value(&self, lane: usize) -> u64 {
        self.data.get(lane, self.width)
    }

    /// Sets the value that `lane` gets back.
    #[inline]
    pub fn set_value(&mut self, lane: usize, bits: u64) {
        self.data.set(lane, self.width, bits);
    }

    /// What `lane` does to its word, if this is a read-modify-write.
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

    /// Does the issuer get values back?
    #[inline]
    #[must_use]
    pub fn reads(&self) -> bool {
        match self.action {
            Action::Load => true,
            Action::Rmw { uses_value, .. } => uses_value,
            _ => false,
        }
    }

    /// Is it a load, a store or a read-modify-write?
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

/// How many slots the table of operations grows by.
const CHUNK: usize = 32;

/// All operations of a run that are in flight.
#[derive(Debug, Default)]
pub struct Ops {
    /// Chunks of so many slots: the table grows without copying them.
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

    /// Forgets the list of [`Ops::posted`]; the operations stay in flight.
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

    /// An operation in flight, to write the values it returns.
    ///
    /// # Panics
    /// If no such operation is in flight.
    #[inline]
    pub fn get_mut(&mut self, id: OpId) -> &mut Posted {
        &mut self.chunks[id.0 as usize / CHUNK][id.0 as usize % CHUNK]
    }

    /// Says that the operation is complete: its values stand in its data (a
    /// load, a read-modify-write), it was accepted (a store, an update), or
    /// what it waits for has happened. Its number may be used anew after this.
    ///
    /// # Panics
    /// If the operation is not outstanding.
    #[inline]
    pub fn complete(&mut self, id: OpId) {
        let op = self.get_mut(id);
        match op.slot {
            Slot::Outstanding => op.slot = Slot::Done,
            Slot::Abandoned => self.release(id),
            Slot::Free | Slot::Done => panic!("operation {id:?} was completed twice"),
        }
    }

    /// How many operations are in flight, or complete and not yet looked at.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.chunks.len() * CHUNK - self.free.len()
    }

    #[inline]
    pub(crate) fn post(&mut self, site: Site) -> (OpId, &mut Posted) {
        assert!(
            self.posted.len() < OPS_PER_POLL_MAX,
            "more than {OPS_PER_POLL_MAX} operations without an await at {site}"
        );
        let id = OpId(self.free.pop().unwrap_or_else(|| self.grow()));
        self.posted.push(id);
        let op = self.get_mut(id);
        op.slot = Slot::Outstanding;
        op.site = site;
        op.work = crate::work::take().unwrap_or_default();
        (id, op)
    }

    /// Adds a chunk of slots and gives out the first of them.
    #[cold]
    fn grow(&mut self) -> u32 {
        let first = (self.chunks.len() * CHUNK) as u32;
        self.chunks.push(Box::new(core::array::from_fn(|_| Posted::free())));
        self.free.extend((first + 1..first + CHUNK as u32).rev());
        first
    }

    /// Takes back the operation that was posted last.
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

    /// The issuer no longer looks at it.
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
