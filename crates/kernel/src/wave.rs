//! The handle by which the code of a kernel uses its wavefront.

use core::panic::Location;
use std::rc::Rc;

use proto::{KernelId, Level, RmwKind};

use crate::agent::{Accepted, Agent, Loading, Shared};
use crate::array::{Lds, Target};
use crate::fault::{FaultKind, Issuer};
use crate::launch::Grid;
use crate::op::{Action, Addressing, Semantics, Site, acq_rel};
use crate::place::Place;
use crate::word::Integer;
use crate::work::{Class, charge};
use crate::{Lanes, Mask, Word};

/// The coordinates of a wavefront: its work-group, its number there, and its compute unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Coords {
    /// The number of the work-group in the grid.
    pub work_group: u32,
    /// The number of the wavefront in its work-group.
    pub wave: u32,
    /// The number of the compute unit on which the wavefront runs.
    pub compute_unit: u32,
}

#[derive(Debug)]
pub(crate) struct WaveCore {
    pub(crate) shared: Rc<Shared>,
    pub(crate) kernel: KernelId,
    pub(crate) grid: Grid,
    pub(crate) at: Coords,
}

/// A wavefront with its active lanes. It is cheap to clone. [`Wave::when`]
/// gives a handle with fewer active lanes.
///
/// ```
/// # use kernel::prelude::*;
/// /// Adds where the flag is set.
/// async fn add_flagged(w: Wave, flag: Array<u32>, a: Array<f32>, b: Array<f32>) {
///     let at = Unit(w.first_item());
///     let flags = w.load(flag, at).await;
///     let w = w.when(flags.ne(0));
///     let (x, y) = (w.load(a, at), w.load(b, at)); // both in flight
///     let sum = x.await + y.await;
///     w.store(a, at, sum).await;
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Wave {
    core: Rc<WaveCore>,
    exec: Mask,
}

impl Agent for WaveCore {
    #[inline]
    fn shared(&self) -> &Rc<Shared> {
        &self.shared
    }

    fn issuer(&self) -> Issuer {
        let kernel = self.shared.launches.borrow()[usize::from(self.kernel.0)].name.clone();
        Issuer::Wave { kernel, work_group: self.at.work_group, wave: self.at.wave }
    }
}

/// The coordinates and the masks of a wavefront.
impl Wave {
    pub(crate) fn new(core: WaveCore) -> Self {
        let exec = core.shared.shape.full();
        Wave { core: Rc::new(core), exec }
    }

    /// The number of lanes of a wavefront.
    #[inline]
    #[must_use]
    pub fn lanes(&self) -> u32 {
        self.core.shared.shape.lanes
    }

    /// The number in the grid of this wavefront's work-group.
    #[inline]
    #[must_use]
    pub fn work_group(&self) -> u32 {
        self.core.at.work_group
    }

    /// The number of work-groups in the grid.
    #[inline]
    #[must_use]
    pub fn work_groups(&self) -> u32 {
        self.core.grid.work_groups
    }

    /// The number of this wavefront in its work-group.
    #[inline]
    #[must_use]
    pub fn index(&self) -> u32 {
        self.core.at.wave
    }

    /// The number of wavefronts in a work-group.
    #[inline]
    #[must_use]
    pub fn waves(&self) -> u32 {
        self.core.grid.waves
    }

    /// The number of this wavefront among all wavefronts of the grid.
    #[inline]
    #[must_use]
    pub fn global_index(&self) -> u64 {
        u64::from(self.work_group()) * u64::from(self.waves()) + u64::from(self.index())
    }

    /// The number of the compute unit on which the wavefront runs.
    #[inline]
    #[must_use]
    pub fn compute_unit(&self) -> u32 {
        self.core.at.compute_unit
    }

    /// The number in the grid of the work-item that lane 0 executes.
    #[inline]
    #[must_use]
    pub fn first_item(&self) -> u64 {
        self.global_index() * u64::from(self.lanes())
    }

    /// The number of work-items in the grid.
    #[inline]
    #[must_use]
    pub fn items(&self) -> u64 {
        u64::from(self.work_groups()) * u64::from(self.waves()) * u64::from(self.lanes())
    }

    /// A vector in which each lane has its own number.
    #[inline]
    #[must_use]
    pub fn lane_id(&self) -> Lanes<u32> {
        Lanes::from_fn(|lane| lane as u32)
    }

    /// The number in the grid of the work-item that each lane executes.
    #[inline]
    #[must_use]
    pub fn item(&self) -> Lanes<u32> {
        let first = self.first_item() as u32;
        Lanes::from_fn(|lane| first.wrapping_add(lane as u32))
    }

    /// The mask of the active lanes.
    #[inline]
    #[must_use]
    pub fn mask(&self) -> Mask {
        self.exec
    }

    /// Whether any lane is active.
    #[inline]
    #[must_use]
    pub fn any(&self) -> bool {
        self.exec.any()
    }

    /// A handle of the same wavefront. Its active lanes are those active lanes of this handle that
    /// are in `mask`.
    #[inline]
    #[must_use]
    pub fn when(&self, mask: Mask) -> Wave {
        charge(Class::Branch, 1);
        Wave { core: self.core.clone(), exec: self.exec & mask }
    }

    /// A handle of the same wavefront. Its active lanes are those active lanes of this handle that
    /// are not in `mask`.
    #[inline]
    #[must_use]
    pub fn unless(&self, mask: Mask) -> Wave {
        self.when(!mask)
    }

    /// A handle of the same wavefront. Its only active lane is the lowest active lane of this
    /// handle.
    #[inline]
    #[must_use]
    pub fn leader(&self) -> Wave {
        self.when(self.exec.first().map_or(Mask::NONE, Mask::lane))
    }

    /// A handle of the same wavefront. Its active lanes are those active lanes `i` of this handle
    /// for which `base + i < end`.
    #[inline]
    #[must_use]
    pub fn below(&self, base: u64, end: u64) -> Wave {
        self.when(Mask::below(end.saturating_sub(base)))
    }

    /// The local memory of the work-group from byte `offset`, as an array of `len` words. If this
    /// range exceeds the local memory that the grid requests, the program has a fault.
    #[track_caller]
    #[must_use]
    pub fn lds<T: Word>(&self, offset: u32, len: u32) -> Lds<T> {
        let bytes = u64::from(len) * T::WIDTH.bytes() as u64;
        if u64::from(offset) + bytes > u64::from(self.core.grid.lds_bytes) {
            let array = "the local memory".to_owned();
            let (first, len) = (u64::from(offset), u64::from(self.core.grid.lds_bytes));
            self.core.refuse(FaultKind::BadSlice { array, first, count: bytes, len }, Location::caller());
        }
        Lds::new(u64::from(offset), u64::from(len))
    }

    /// Ends the run with an error of the program, whose text is `message`. The future never
    /// completes.
    #[track_caller]
    pub fn fail(&self, message: impl Into<String>) -> Accepted {
        let message = message.into();
        let id = self.core.refuse(FaultKind::Program { message }, Location::caller());
        self.core.accepted(id)
    }
}

/// Memory accesses. Each access takes an [`crate::Array`] or an [`Lds`], and a [`Place`]:
/// `Unit(base)` for consecutive elements, `Lanes<u32>` for one index in each lane, or `u64` for one
/// element that the lowest active lane accesses. Lanes that take no part in an access get the value
/// zero.
impl Wave {
    /// Loads data without synchronization, one element for each active lane.
    #[inline]
    #[track_caller]
    pub fn load<T: Word, P: Place>(&self, from: impl Target<T>, place: P) -> Loading<P, T> {
        self.loads(from, place, Semantics::PLAIN, Location::caller())
    }

    /// Loads atomically, one element for each active lane.
    #[inline]
    #[track_caller]
    pub fn atomic_load<T: Word, P: Place>(
        &self,
        from: impl Target<T>,
        place: P,
        semantics: Semantics,
    ) -> Loading<P, T> {
        self.loads(from, place, semantics, Location::caller())
    }

    #[inline]
    fn loads<T: Word, P: Place>(
        &self,
        from: impl Target<T>,
        place: P,
        semantics: Semantics,
        site: Site,
    ) -> Loading<P, T> {
        let id = self.core.post_access(self.exec, from, place, Action::Load, semantics, site, |_, _| ());
        self.core.loading(id)
    }

    /// Stores without synchronization. If two lanes store to the same element, the value of the
    /// higher lane remains.
    #[inline]
    #[track_caller]
    pub fn store<T: Word, P: Place>(&self, to: impl Target<T>, place: P, values: P::Of<T>) -> Accepted {
        self.stores(to, place, values, Semantics::PLAIN, Location::caller())
    }

    /// Stores atomically, one element for each active lane.
    #[inline]
    #[track_caller]
    pub fn atomic_store<T: Word, P: Place>(
        &self,
        to: impl Target<T>,
        place: P,
        values: P::Of<T>,
        semantics: Semantics,
    ) -> Accepted {
        self.stores(to, place, values, semantics, Location::caller())
    }

    #[inline]
    fn stores<T: Word, P: Place>(
        &self,
        to: impl Target<T>,
        place: P,
        values: P::Of<T>,
        semantics: Semantics,
        site: Site,
    ) -> Accepted {
        let id = self.core.post_access(self.exec, to, place, Action::Store, semantics, site, |op, lanes| {
            P::pack(values, lanes, &mut op.data);
        });
        self.core.accepted(id)
    }

    #[inline]
    #[allow(clippy::too_many_arguments, reason = "all read-modify-writes go through this function")]
    fn post_rmw<T: Word, P: Place>(
        &self,
        at: impl Target<T>,
        place: P,
        kind: RmwKind,
        uses_value: bool,
        operands: P::Of<T>,
        semantics: Semantics,
        site: Site,
    ) -> crate::op::OpId {
        let action = Action::Rmw { kind, uses_value };
        self.core.post_access(self.exec, at, place, action, semantics, site, |op, lanes| {
            P::pack(operands, lanes, &mut op.data);
        })
    }

    /// Performs a read-modify-write for each active lane, lowest lane first. The value of the
    /// future has the old values of the elements.
    #[inline]
    #[track_caller]
    pub fn rmw<T: Word, P: Place>(
        &self,
        at: impl Target<T>,
        place: P,
        kind: RmwKind,
        operands: P::Of<T>,
        semantics: Semantics,
    ) -> Loading<P, T> {
        let id = self.post_rmw(at, place, kind, true, operands, semantics, Location::caller());
        self.core.loading(id)
    }

    /// Performs a read-modify-write for each active lane. The old values are not returned.
    #[inline]
    #[track_caller]
    pub fn update<T: Word, P: Place>(
        &self,
        at: impl Target<T>,
        place: P,
        kind: RmwKind,
        operands: P::Of<T>,
        semantics: Semantics,
    ) -> Accepted {
        let id = self.post_rmw(at, place, kind, false, operands, semantics, Location::caller());
        self.core.accepted(id)
    }

    /// Adds a value to each element atomically. The value of the future has the old values.
    #[inline]
    #[track_caller]
    pub fn fetch_add<T: Word, P: Place>(
        &self,
        at: impl Target<T>,
        place: P,
        operands: P::Of<T>,
        semantics: Semantics,
    ) -> Loading<P, T> {
        self.rmw(at, place, T::ADD, operands, semantics)
    }

    /// Replaces each element atomically by the smaller of its old value and the operand. The value
    /// of the future has the old values.
    #[inline]
    #[track_caller]
    pub fn fetch_min<T: Integer, P: Place>(
        &self,
        at: impl Target<T>,
        place: P,
        operands: P::Of<T>,
        semantics: Semantics,
    ) -> Loading<P, T> {
        self.rmw(at, place, T::MIN, operands, semantics)
    }

    /// Replaces each element atomically by the larger of its old value and the operand. The value
    /// of the future has the old values.
    #[inline]
    #[track_caller]
    pub fn fetch_max<T: Integer, P: Place>(
        &self,
        at: impl Target<T>,
        place: P,
        operands: P::Of<T>,
        semantics: Semantics,
    ) -> Loading<P, T> {
        self.rmw(at, place, T::MAX, operands, semantics)
    }

    /// Replaces each element atomically by the given value. The value of the future has the old
    /// values.
    #[inline]
    #[track_caller]
    pub fn exchange<T: Word, P: Place>(
        &self,
        at: impl Target<T>,
        place: P,
        values: P::Of<T>,
        semantics: Semantics,
    ) -> Loading<P, T> {
        self.rmw(at, place, RmwKind::Exchange, values, semantics)
    }

    /// Replaces each element atomically if its old value equals the expected value. The value of
    /// the future has the old values. If the old value of a lane equals the expected value, the
    /// operation of this lane has succeeded.
    #[inline]
    #[track_caller]
    pub fn compare_exchange<T: Word, P: Place>(
        &self,
        at: impl Target<T>,
        place: P,
        expected: P::Of<T>,
        new: P::Of<T>,
        semantics: Semantics,
    ) -> Loading<P, T> {
        let kind = RmwKind::CompareExchange { expected: 0 };
        let action = Action::Rmw { kind, uses_value: true };
        let site = Location::caller();
        let id = self.core.post_access(self.exec, at, place, action, semantics, site, |op, lanes| {
            P::pack(new, lanes, &mut op.data);
            P::pack(expected, lanes, op.expected_mut());
        });
        self.core.loading(id)
    }

    /// Orders accesses before the fence and accesses after it, as `semantics` says.
    #[track_caller]
    pub fn fence(&self, semantics: Semantics) -> Accepted {
        let site = Location::caller();
        let id =
            self.core.post_other(Action::Fence, Addressing::None, semantics, Vec::new(), self.exec, site);
        self.core.accepted(id)
    }

    /// Waits for all wavefronts of the work-group. Makes a release before the wait and an acquire
    /// after it, at work-group scope.
    #[track_caller]
    pub fn barrier(&self) -> Accepted {
        self.barrier_with(acq_rel(Level::WorkGroup))
    }

    /// Waits for all wavefronts of the work-group, with the given semantics. The barrier orders
    /// accesses of local memory in any case. If it is relaxed, it does not order accesses of global
    /// memory.
    #[track_caller]
    pub fn barrier_with(&self, semantics: Semantics) -> Accepted {
        let site = Location::caller();
        let id =
            self.core.post_other(Action::Barrier, Addressing::None, semantics, Vec::new(), self.exec, site);
        self.core.accepted(id)
    }
}

/// Exchange of values between lanes.
impl Wave {
    /// The value of the lowest active lane in `values`.
    #[inline]
    #[must_use]
    pub fn first<T: Word>(&self, values: &Lanes<T>) -> T {
        charge(Class::Shuffle, 1);
        self.exec.first().map_or(T::default(), |lane| values.get(lane))
    }

    /// A vector in which lane `i` has the value of lane `from[i]`. The lane number `from[i]` is
    /// taken modulo the number of lanes.
    #[inline]
    #[must_use]
    pub fn shuffle<T: Word>(&self, values: &Lanes<T>, from: &Lanes<u32>) -> Lanes<T> {
        charge(Class::Shuffle, 1);
        let lanes = self.lanes();
        Lanes::from_fn(|lane| values.get((from.get(lane) % lanes) as usize))
    }

    /// Combines the values of the active lanes into one value, in pairs, as a binary tree. Each
    /// step halves the number of values, and charges the wavefront with a shuffle and one operation
    /// of `class`.
    #[must_use]
    pub fn reduce<T: Word>(
        &self,
        values: &Lanes<T>,
        identity: T,
        class: Class,
        mut combine: impl FnMut(T, T) -> T,
    ) -> T {
        let mut tree: [T; crate::LANES_MAX] =
            core::array::from_fn(|lane| if self.exec.has(lane) { values.get(lane) } else { identity });
        let mut half = self.lanes() as usize / 2;
        while half > 0 {
            charge(Class::Shuffle, 1);
            charge(class, 1);
            for lane in 0..half {
                tree[lane] = combine(tree[lane], tree[lane + half]);
            }
            half /= 2;
        }
        tree[0]
    }

    /// For each lane, the number of active lanes below it. For an active lane, this is its position
    /// among the active lanes.
    #[inline]
    #[must_use]
    pub fn rank(&self) -> Lanes<u32> {
        charge(Class::Int, 1);
        Lanes::from_fn(|lane| (self.exec.0 & Mask::below(lane as u64).0).count_ones())
    }
}
