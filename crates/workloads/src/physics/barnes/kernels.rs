//! The kernels of a time step of the simulation of gravity. They follow the six kernels of
//! Barnes-Hut in LonestarGPU.

use kernel::Target;
use kernel::prelude::*;

use super::octree::{HALF_STEP, SOFTENING, TIME_STEP, first_opening};
use crate::physics::all;

/// The entry of `children` for a child that does not exist.
pub(super) const EMPTY: u32 = u32::MAX;
/// The entry of `children` for a child that a work-item is replacing.
const LOCKED: u32 = u32::MAX - 1;
/// The entry of `start` for a cell whose parent has not set it yet.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// The arrays of the simulation. In `children`, a number below `bodies` is a body. Any other number
/// `child` is the cell `child - bodies`.
#[derive(Clone, Copy)]
pub(super) struct Arrays {
    pub(super) bodies: u32,
    pub(super) cells_max: u32,
    pub(super) place: [Array<f32>; 3],
    pub(super) velocity: [Array<f32>; 3],
    pub(super) acceleration: [Array<f32>; 3],
    pub(super) mass: Array<f32>,
    /// The smallest and the largest coordinates of each work-group's bodies: three arrays with the
    /// smallest along each axis, then three arrays with the largest.
    pub(super) bounds: [Array<f32>; 6],
    /// The elements by which the work-items of a work-group find their bounds, if these elements are
    /// not in local memory. Each work-group has its own part.
    pub(super) folded: Option<Array<f32>>,
    /// The number of work-groups that have written their bounds.
    pub(super) arrived: Array<u32>,
    /// The centre of the root cell along the three axes, and half the width of this cell.
    pub(super) root: Array<f32>,
    /// The eight children of each cell.
    pub(super) children: Array<u32>,
    /// The number of cells of the tree, in one element.
    pub(super) cells: Array<u32>,
    pub(super) cell_place: [Array<f32>; 3],
    pub(super) cell_mass: Array<f32>,
    /// The number of bodies in each cell and all cells below it.
    pub(super) below: Array<u32>,
    /// Whether `summarize` has computed the mass and the centre of each cell.
    pub(super) ready: Array<u32>,
    /// For each cell, the index in `sorted` of its first body.
    pub(super) start: Array<u32>,
    /// The numbers of the bodies, in the order of the tree.
    pub(super) sorted: Array<u32>,
    /// Two counters of the wavefronts that have taken their cells: one for `summarize`, one for
    /// `sort`.
    pub(super) taken: Array<u32>,
}

/// Finds the bounds of each work-group's bodies. The last work-group combines the bounds of all
/// work-groups and makes the root cell.
pub(super) async fn bounding_box(w: Wave, a: Arrays) {
    let items = u64::from(w.waves() * w.lanes());
    let first = u64::from(w.work_group()) * items;
    match a.folded {
        None => bounds_of_group(&w, &a, w.lds::<f32>(0, items as u32)).await,
        Some(folded) => bounds_of_group(&w, &a, folded.slice(first..first + items)).await,
    }
    if w.index() == 0 {
        let leader = w.leader();
        let before = leader.fetch_add(a.arrived, 0, 1, acq_rel(Level::Device)).await;
        if before == w.work_groups() - 1 {
            make_root(&w, &a).await;
        }
    }
}

/// Finds the bounds of the work-group's bodies. `folded` has an element for each work-item.
async fn bounds_of_group(w: &Wave, a: &Arrays, folded: impl Target<f32>) {
    let items = w.waves() * w.lanes();
    let (base, here) = (w.first_item(), u64::from(w.index() * w.lanes()));
    let within = w.below(base, u64::from(a.bodies));
    let places = all(a.place.map(|place| within.load(place, Unit(base)))).await;
    for (part, lesser) in [true, false].into_iter().enumerate() {
        let unused = if lesser { f32::INFINITY } else { -f32::INFINITY };
        for (axis, place) in places.into_iter().enumerate() {
            let own = Lanes::select(within.mask(), place, unused);
            w.store(folded, Unit(here), own).await;
            w.barrier().await;
            let mut half = items / 2;
            while half > 0 {
                let active = w.below(here, u64::from(half));
                let there = here + u64::from(half);
                let [one, other] =
                    all([active.load(folded, Unit(here)), active.load(folded, Unit(there))]).await;
                let better = if lesser { one.min(other) } else { one.max(other) };
                active.store(folded, Unit(here), better).await;
                w.barrier().await;
                half /= 2;
            }
            if w.index() == 0 {
                let bound = w.load(folded, 0).await;
                w.store(a.bounds[3 * part + axis], u64::from(w.work_group()), bound).await;
            }
            w.barrier().await;
        }
    }
}

/// Combines the bounds of all work-groups into the cube of the root cell.
async fn make_root(w: &Wave, a: &Arrays) {
    let mut bounds =
        [f32::INFINITY, f32::INFINITY, f32::INFINITY, -f32::INFINITY, -f32::INFINITY, -f32::INFINITY];
    for (part, bound) in bounds.iter_mut().enumerate() {
        let mut first = 0;
        while first < u64::from(w.work_groups()) {
            let active = w.below(first, u64::from(w.work_groups()));
            let values = active.load(a.bounds[part], Unit(first)).await;
            let combine = if part < 3 { f32::min } else { f32::max };
            let least = active.reduce(&values, *bound, Class::FloatAdd, combine);
            *bound = combine(*bound, least);
            first += u64::from(w.lanes());
        }
    }
    let [x0, y0, z0, x1, y1, z1] = bounds;
    let cube = super::octree::Cube::around([x0, y0, z0], [x1, y1, z1]);
    for (at, value) in cube.centre.into_iter().chain([cube.half]).enumerate() {
        w.store(a.root, at as u64, value).await;
    }
}

/// For each lane, a cube: its centre and half its width.
#[derive(Clone, Copy)]
struct Cubes {
    centre: [Lanes<f32>; 3],
    half: Lanes<f32>,
}

impl Cubes {
    async fn root(w: &Wave, a: &Arrays) -> Cubes {
        let mut root = [0.0; 4];
        for (at, value) in root.iter_mut().enumerate() {
            *value = w.load(a.root, at as u64).await;
        }
        let [x, y, z, half] = root.map(Lanes::splat);
        Cubes { centre: [x, y, z], half }
    }

    fn octant(&self, place: &[Lanes<f32>; 3]) -> Lanes<u32> {
        let mut octant = Lanes::splat(0);
        for (axis, (centre, place)) in self.centre.iter().zip(place).enumerate() {
            octant += Lanes::select(centre.lt(*place), 1_u32 << axis, 0);
        }
        octant
    }

    /// Replaces the cube of each lane in `lanes` by its eighth with the number `octant`.
    fn descend(&mut self, lanes: Mask, octant: Lanes<u32>) {
        let half = self.half * 0.5;
        for (axis, centre) in self.centre.iter_mut().enumerate() {
            let is_upper = (octant & (1_u32 << axis)).ne(0);
            centre.assign(lanes, Lanes::select(is_upper, *centre + half, *centre - half));
        }
        self.half.assign(lanes, half);
    }
}

/// Inserts the bodies into the tree. A work-item locks an entry of `children` by a
/// compare-exchange, and unlocks it when it stores the new child by a release. The lanes of a
/// wavefront never wait for each other: a lane that does not get a lock tries again after all lanes
/// have done their step.
pub(super) async fn build(w: Wave, a: Arrays) {
    let base = w.first_item();
    let w = w.below(base, u64::from(a.bodies));
    let body = w.item();
    let place = all(a.place.map(|place| w.load(place, Unit(base)))).await;
    let mut cubes = Cubes::root(&w, &a).await;
    let mut cell = Lanes::splat(0_u32);
    let mut pending = w.mask();
    while pending.any() {
        let octant = cubes.octant(&place);
        let slot = cell * 8 + octant;
        let child = w.when(pending).atomic_load(a.children, slot, acquire(Level::Device)).await;
        let is_cell = pending & child.ge(a.bodies) & child.lt(LOCKED);
        cell.assign(is_cell, child - a.bodies);
        cubes.descend(is_cell, octant);
        let tries = w.when(pending.minus(is_cell) & child.ne(LOCKED));
        let locked = Lanes::splat(LOCKED);
        let old = tries.compare_exchange(a.children, slot, child, locked, acquire(Level::Device)).await;
        let won = tries.mask() & old.eq(child);
        let (free, split) = (w.when(won & child.eq(EMPTY)), w.when(won & child.ne(EMPTY)));
        free.atomic_store(a.children, slot, body, release(Level::Device)).await;
        if split.any() {
            let top = split_cells(&split, &a, &place, cubes, octant, child).await;
            split.atomic_store(a.children, slot, top, release(Level::Device)).await;
        }
        pending = pending.minus(won);
    }
}

/// Makes new cells until the lane's body and the body `other` lie in different octants. Returns the
/// uppermost of the new cells, in the form of an entry of `children`.
async fn split_cells(
    w: &Wave,
    a: &Arrays,
    place: &[Lanes<f32>; 3],
    mut cubes: Cubes,
    octant: Lanes<u32>,
    other: Lanes<u32>,
) -> Lanes<u32> {
    let theirs = all(a.place.map(|place| w.load(place, other))).await;
    let mut cell = new_cells(w, a).await;
    let top = cell + a.bodies;
    cubes.descend(w.mask(), octant);
    let mut together = w.mask();
    while together.any() {
        let (mine, others) = (cubes.octant(place), cubes.octant(&theirs));
        let apart = w.when(together & mine.ne(others));
        apart.store(a.children, cell * 8 + mine, w.item());
        apart.store(a.children, cell * 8 + others, other).await;
        together = together & mine.eq(others);
        let deeper = w.when(together);
        if deeper.any() {
            let next = new_cells(&deeper, a).await;
            deeper.store(a.children, cell * 8 + mine, next + a.bodies).await;
            cubes.descend(together, mine);
            cell.assign(together, next);
        }
    }
    top
}

/// Takes a new cell for each lane. The eight children of a new cell do not exist.
async fn new_cells(w: &Wave, a: &Arrays) -> Lanes<u32> {
    let cell = w.fetch_add(a.cells, Lanes::splat(0), Lanes::splat(1), relaxed(Level::Device)).await;
    if (w.mask() & cell.ge(a.cells_max)).any() {
        w.fail(format!("the tree needs more than {} cells", a.cells_max)).await;
    }
    cell
}

/// The child of each lane's cell in an octant, and two wavefronts: in the first, only those lanes
/// are active whose child is a body; in the second, those whose child is a cell.
async fn children(w: &Wave, a: &Arrays, cell: Lanes<u32>, octant: u32) -> (Lanes<u32>, Wave, Wave) {
    let child = w.load(a.children, cell * 8 + octant).await;
    let used = w.when(child.ne(EMPTY));
    (child, used.when(child.lt(a.bodies)), used.when(child.ge(a.bodies)))
}

/// Takes the next cells for a wavefront. Returns the position of the first of these cells.
/// Wavefronts that have already started have taken all cells before this position.
async fn take_cells(w: &Wave, a: &Arrays, kernel: u64) -> u64 {
    let turn = w.leader().fetch_add(a.taken, kernel, 1, relaxed(Level::Device)).await;
    u64::from(turn) * u64::from(w.lanes())
}

/// Computes the masses and centres of the cells, the newest cells first. A cell is older than the
/// cells below it, so a wavefront waits only for cells that were taken before.
pub(super) async fn summarize(w: Wave, a: Arrays, count: u32) {
    let base = take_cells(&w, &a, 0).await;
    let w = w.below(base, u64::from(count));
    if !w.any() {
        return;
    }
    let cell = Lanes::splat(count - 1 - base as u32) - w.lane_id();
    let mut pending = w.mask();
    while pending.any() {
        // The lanes whose cell waits for no other cell.
        let mut free = pending;
        for octant in 0..8 {
            let (child, _, cells) = children(&w.when(pending), &a, cell, octant).await;
            let ready = cells.atomic_load(a.ready, child - a.bodies, acquire(Level::Device)).await;
            free = free.minus(cells.mask() & ready.eq(0));
        }
        let done = w.when(free);
        if done.any() {
            summarize_cells(&done, &a, cell).await;
            done.atomic_store(a.ready, cell, Lanes::splat(1), release(Level::Device)).await;
        }
        pending = pending.minus(free);
    }
}

async fn summarize_cells(w: &Wave, a: &Arrays, cell: Lanes<u32>) {
    let (mut sums, mut mass) = ([Lanes::splat(0.0_f32); 3], Lanes::splat(0.0_f32));
    let mut below = Lanes::splat(0_u32);
    for octant in 0..8 {
        let (child, bodies, cells) = children(w, a, cell, octant).await;
        let inner = child - a.bodies;
        let [mut m, of_cell] = all([bodies.load(a.mass, child), cells.load(a.cell_mass, inner)]).await;
        m.assign(cells.mask(), of_cell);
        let count = cells.load(a.below, inner).await;
        let used = bodies.mask() | cells.mask();
        mass.assign(used, mass + m);
        below.assign(bodies.mask(), below + 1);
        below.assign(cells.mask(), below + count);
        for (axis, sum) in sums.iter_mut().enumerate() {
            let [mut place, of_cell] =
                all([bodies.load(a.place[axis], child), cells.load(a.cell_place[axis], inner)]).await;
            place.assign(cells.mask(), of_cell);
            sum.assign(used, *sum + place * m);
        }
    }
    for (sum, place) in sums.into_iter().zip(a.cell_place) {
        w.store(place, cell, sum / mass);
    }
    w.store(a.cell_mass, cell, mass);
    w.store(a.below, cell, below).await;
}

/// Lists the bodies in the order of the tree. For each cell, the wavefront waits until the parent
/// of the cell has set the `start` of the cell. A parent is older than its children, so a wavefront
/// waits only for cells that were taken before.
pub(super) async fn sort(w: Wave, a: Arrays, count: u32) {
    let base = take_cells(&w, &a, 1).await;
    let w = w.below(base, u64::from(count));
    let cell = w.lane_id() + base as u32;
    let mut pending = w.mask();
    while pending.any() {
        let waiting = w.when(pending);
        let start = waiting.atomic_load(a.start, Unit(base), relaxed(Level::Device)).await;
        let known = waiting.when(start.ne(UNKNOWN));
        let mut next = start;
        for octant in 0..8 {
            let (child, bodies, cells) = children(&known, &a, cell, octant).await;
            bodies.store(a.sorted, next, child).await;
            cells.atomic_store(a.start, child - a.bodies, next, relaxed(Level::Device)).await;
            let count = cells.load(a.below, child - a.bodies).await;
            next.assign(bodies.mask(), next + 1);
            next.assign(cells.mask(), next + count);
        }
        pending = pending.minus(known.mask());
    }
}

/// A part of the tree that a wavefront has not visited yet, and the lanes that need it.
struct Part {
    child: u32,
    lanes: Mask,
    opening: f32,
}

/// Computes the gravity on the bodies, which are taken in the order of the tree. A wavefront walks
/// the tree once for all its lanes. It visits the children of a cell only for those lanes whose
/// body is near the cell.
pub(super) async fn force(w: Wave, a: Arrays, angle: f32, is_first: bool) {
    let base = w.first_item();
    let w = w.below(base, u64::from(a.bodies));
    let body = w.load(a.sorted, Unit(base)).await;
    let place = all(a.place.map(|place| w.load(place, body))).await;
    let root_half = w.load(a.root, 3).await;
    let mut sums = [Lanes::splat(0.0_f32); 3];
    let mut parts = Vec::new();
    open(&w, &a, 0, first_opening(root_half, angle), &mut parts).await;
    while let Some(Part { child, lanes, opening }) = parts.pop() {
        let is_cell = child >= a.bodies;
        let from = u64::from(if is_cell { child - a.bodies } else { child });
        let (places, masses) = if is_cell { (a.cell_place, a.cell_mass) } else { (a.place, a.mass) };
        let mass = w.load(masses, from).await;
        let there = all(places.map(|array| w.load(array, from))).await;
        let apart = [0, 1, 2].map(|axis| Lanes::splat(there[axis]) - place[axis]);
        let square = apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2];
        let near = if is_cell { lanes & square.lt(opening) } else { Mask::NONE };
        let inverse = Lanes::splat(1.0_f32) / (square + SOFTENING).sqrt();
        let factor = Lanes::splat(mass) * inverse * inverse * inverse;
        for axis in 0..3 {
            sums[axis].assign(lanes.minus(near), sums[axis] + apart[axis] * factor);
        }
        if near.any() {
            open(&w.when(near), &a, from, opening * 0.25, &mut parts).await;
        }
    }
    for (axis, sum) in sums.into_iter().enumerate() {
        if !is_first {
            let [velocity, before] =
                all([w.load(a.velocity[axis], body), w.load(a.acceleration[axis], body)]).await;
            w.store(a.velocity[axis], body, velocity + (sum - before) * HALF_STEP);
        }
        w.store(a.acceleration[axis], body, sum).await;
    }
}

/// Adds the children of a cell to `parts`. The first child is added last, because the wavefront
/// takes the last part first.
async fn open(w: &Wave, a: &Arrays, cell: u64, opening: f32, parts: &mut Vec<Part>) {
    for octant in (0..8).rev() {
        let child = w.load(a.children, cell * 8 + octant).await;
        if child != EMPTY {
            parts.push(Part { child, lanes: w.mask(), opening });
        }
    }
}

/// Moves the bodies by one time step.
pub(super) async fn integrate(w: Wave, a: Arrays) {
    let base = w.first_item();
    let w = w.below(base, u64::from(a.bodies));
    for axis in 0..3 {
        let [place, velocity, acceleration] =
            all([a.place[axis], a.velocity[axis], a.acceleration[axis]]
                .map(|array| w.load(array, Unit(base))))
            .await;
        let change = acceleration * HALF_STEP;
        let half = velocity + change;
        w.store(a.place[axis], Unit(base), place + half * TIME_STEP);
        w.store(a.velocity[axis], Unit(base), half + change).await;
    }
}

/// Clears the fields of all cells before a new tree is built.
pub(super) async fn clear(w: Wave, a: Arrays) {
    let base = w.first_item();
    let w = w.below(base, u64::from(a.cells_max));
    for octant in 0..8 {
        w.store(a.children, w.item() * 8 + octant, Lanes::splat(EMPTY));
    }
    let is_root = w.item().eq(0);
    w.store(a.ready, Unit(base), Lanes::splat(0));
    w.store(a.start, Unit(base), Lanes::select(is_root, 0, UNKNOWN)).await;
}
