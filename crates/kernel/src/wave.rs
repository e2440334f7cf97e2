//! The handle through which a kernel sees its wavefront.

use core::panic::Location;
use std::rc::Rc;

use proto::{KernelId, Level, RmwKind};

use crate::agent::{Accepted, Agent, Loading, Shared};
use crate::array::{Lds, Target};
use crate::fault::{FaultKind, Who};
use crate::launch::Grid;
use crate::op::{Action, Placed, Semantics, Site, acq_rel};
use crate::place::Place;
use crate::word::Integer;
use crate::work::{Class, charge};
use crate::{Lanes, Mask, Word};

/// Where a wavefront stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Coords {
    /// Its work-group in the grid.
    pub work_group: u32,
    /// The wavefront in its work-group.
    pub wave: u32,
    /// The compute unit it runs on.
    pub compute_unit: u32,
}

#[derive(Debug)]
pub(crate) struct WaveCore {
    pub(crate) shared: Rc<Shared>,
    pub(crate) kernel: KernelId,
    pub(crate) grid: Grid,
    pub(crate) at: Coords,
}

/// A wavefront with the lanes that are active: cheap to clone, and a narrower
/// view ([`Wave::when`]) is just another handle.
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

    fn who(&self) -> Who {
        let kernel = self.shared.launches.borrow()[usize::from(self.kernel.0)].name.clone();
        Who::Wave { kernel, work_group: self.at.work_group, wave: self.at.wave }
    }
}

/// Coordinates and masks.
impl Wave {
    pub(crate) fn new(core: WaveCore) -> Self {
        let exec = core.shared.shape.full();
        Wave { core: Rc::new(core), exec }
    }

    /// How many lanes a wavefront has.
    #[inline]
    #[must_use]
    pub fn lanes(&self) -> u32 {
        self.core.shared.shape.lanes
    }

    /// The number of its work-group in the grid.
    #[inline]
    #[must_use]
    pub fn work_group(&self) -> u32 {
        self.core.at.work_group
    }

    /// How many work-groups the grid has.
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

    /// How many wavefronts a work-group has.
    #[inline]
    #[must_use]
    pub fn waves(&self) -> u32 {
        self.core.grid.waves
    }

    /// The number of this wavefront in the grid.
    #[inline]
    #[must_use]
    pub fn global_index(&self) -> u64 {
        u64::from(self.work_group()) * u64::from(self.waves()) + u64::from(self.index())
    }

    /// The compute unit it runs on.
    #[inline]
    #[must_use]
    pub fn compute_unit(&self) -> u32 {
        self.core.at.compute_unit
    }

    /// The number in the grid of the work-item in lane 0.
    #[inline]
    #[must_use]
    pub fn first_item(&self) -> u64 {
        self.global_index() * u64::from(self.lanes())
    }

    /// How many work-items the grid has.
    #[inline]
    #[must_use]
    pub fn items(&self) -> u64 {
        u64::from(self.work_groups()) * u64::from(self.waves()) * u64::from(self.lanes())
    }

    /// The number of each lane.
    #[inline]
    #[must_use]
    pub fn lane_id(&self) -> Lanes<u32> {
        Lanes::from_fn(|lane| lane as u32)
    }

    /// The number in the grid of each lane's work-item.
    #[inline]
    #[must_use]
    pub fn item(&self) -> Lanes<u32> {
        let first = self.first_item() as u32;
        Lanes::from_fn(|lane| first.wrapping_add(lane as u32))
    }

    /// The active lanes.
    #[inline]
    #[must_use]
    pub fn mask(&self) -> Mask {
        self.exec
    }

    /// Is any lane active?
    #[inline]
    #[must_use]
    pub fn any(&self) -> bool {
        self.exec.any()
    }

    /// The same wavefront with only those of its active lanes that are in `mask`.
    #[inline]
    #[must_use]
    pub fn when(&self, mask: Mask) -> Wave {
        charge(Class::Branch, 1);
        Wave { core: self.core.clone(), exec: self.exec & mask }
    }

    /// The same wavefront with only those active lanes that are not in `mask`.
    #[inline]
    #[must_use]
    pub fn unless(&self, mask: Mask) -> Wave {
        self.when(!mask)
    }

    /// The same wavefront with only its lowest active lane.
    #[inline]
    #[must_use]
    pub fn leader(&self) -> Wave {
        self.when(self.exec.first().map_or(Mask::NONE, Mask::lane))
    }

    /// The same wavefront with only the lanes `i` for which `base + i < end`.
    #[inline]
    #[must_use]
    pub fn below(&self, base: u64, end: u64) -> Wave {
        self.when(Mask::below(end.saturating_sub(base)))
    }

    /// The local data share of the work-group from byte `offset` on, as an
    /// array of `len` words. More than the grid asked for is a fault.
    #[track_caller]
    #[must_use]
    pub fn lds<T: Word>(&self, offset: u32, len: u32) -> Lds<T> {
        let bytes = u64::from(len) * T::WIDTH.bytes() as u64;
        if u64::from(offset) + bytes > u64::from(self.core.grid.lds_bytes) {
            let array = "the local data share".to_owned();
            let (first, len) = (u64::from(offset), u64::from(self.core.grid.lds_bytes));
            self.core.refuse(FaultKind::BadSlice { array, first, count: bytes, len }, Location::caller());
        }
        Lds::new(u64::from(offset), u64::from(len))
    }

    /// Ends the run with an error of the program's own words; never returns.
    #[track_caller]
    pub fn fail(&self, message: impl Into<String>) -> Accepted {
        let message = message.into();
        let id = self.core.refuse(FaultKind::Program { message }, Location::caller());
        self.core.accepted(id)
    }
}

/// Memory. Each takes an [`crate::Array`] or an [`Lds`], and a [`Place`]: `Unit(base)`
/// for consecutive elements, `Lanes<u32>` for an index a lane, or one `u64`
/// for a single element touched by the lowest active lane. What comes back is
/// zero in the lanes that took no part.
impl Wave {
    /// Loads.
    #[inline]
    #[track_caller]
    pub fn load<T: Word, P: Place>(&self, from: impl Target<T>, place: P) -> Loading<P, T> {
        self.loads(from, place, Semantics::PLAIN, Location::caller())
    }

    /// Loads atomically.
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

    /// Stores. If two lanes name the same element the higher lane's value stays.
    #[inline]
    #[track_caller]
    pub fn store<T: Word, P: Place>(&self, to: impl Target<T>, place: P, values: P::Of<T>) -> Accepted {
        self.stores(to, place, values, Semantics::PLAIN, Location::caller())
    }

    /// Stores atomically.
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
    #[allow(clippy::too_many_arguments, reason = "the one door of all read-modify-writes")]
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

    /// Reads, modifies and writes atomically, lowest lane first; gives the old values.
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

    /// Reads, modifies and writes atomically; nobody looks at the old values.
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

    /// Adds atomically; gives the old values.
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

    /// Keeps the smaller atomically; gives the old values.
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

    /// Keeps the larger atomically; gives the old values.
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

    /// Replaces atomically; gives the old values.
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

    /// Replaces atomically where the old value is the expected one; gives the
    /// old values. A lane succeeded if its old value equals what it expected.
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

    /// Orders what comes before against what comes after.
    #[track_caller]
    pub fn fence(&self, semantics: Semantics) -> Accepted {
        let site = Location::caller();
        let id = self.core.post_other(Action::Fence, Placed::Nowhere, semantics, Vec::new(), self.exec, site);
        self.core.accepted(id)
    }

    /// Waits for all wavefronts of the work-group, releasing before and
    /// acquiring after at work-group scope.
    #[track_caller]
    pub fn barrier(&self) -> Accepted {
        self.barrier_with(acq_rel(Level::WorkGroup))
    }

    /// A barrier with other semantics. Local memory it always orders; of global
    /// memory, relaxed orders nothing.
    #[track_caller]
    pub fn barrier_with(&self, semantics: Semantics) -> Accepted {
        let site = Location::caller();
        let id =
            self.core.post_other(Action::Barrier, Placed::Nowhere, semantics, Vec::new(), self.exec, site);
        self.core.accepted(id)
    }
}

/// Between lanes.
impl Wave {
    /// The value of the lowest active lane, for all.
    #[inline]
    #[must_use]
    pub fn first<T: Word>(&self, values: &Lanes<T>) -> T {
        charge(Class::Shuffle, 1);
        self.exec.first().map_or(T::default(), |lane| values.get(lane))
    }

    /// Each lane takes the value of the lane it names (modulo the lane count).
    #[inline]
    #[must_use]
    pub fn shuffle<T: Word>(&self, values: &Lanes<T>, from: &Lanes<u32>) -> Lanes<T> {
        charge(Class::Shuffle, 1);
        let lanes = self.lanes();
        Lanes::from_fn(|lane| values.get((from.get(lane) % lanes) as usize))
    }

    /// Combines the active lanes' values pairwise, as a tree: as many steps
    /// as the lane count has bits, each a shuffle and one operation of `class`.
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

    /// How many lower lanes are active, in each lane: the position of a lane
    /// among the active ones.
    #[inline]
    #[must_use]
    pub fn rank(&self) -> Lanes<u32> {
        charge(Class::Int, 1);
        Lanes::from_fn(|lane| (self.exec.0 & Mask::below(lane as u64).0).count_ones())
    }
}
