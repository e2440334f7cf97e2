//! The kernels of a time step of the hydrodynamics, in the order in which the host launches them.

use std::rc::Rc;

use kernel::prelude::*;
use kernel::{Loading, Use};

use super::host::Mesh;
use super::zone::{
    Corner, Four, Pair, Start, compressions, corner_forces, geometry, limits, side_forces, state_half,
    viscous_forces, work,
};
use crate::physics::{all, grid_of};

type Reals = Lanes<f64>;

/// The number of work-items in a work-group.
pub(super) const GROUP_ITEMS: u64 = 64;

/// The arrays of the problem. An array of sides or corners has four entries for each zone: first
/// those for side 0 of all zones, then those for side 1 of all zones, and so on.
#[derive(Debug)]
pub(super) struct Arrays {
    pub(super) zones: u64,
    pub(super) points: Array<u32>,
    pub(super) first_corner: Array<u32>,
    pub(super) corners: Array<u32>,
    pub(super) axes: [Array<u32>; 2],
    // Arrays of points.
    pub(super) place: [Array<f64>; 2],
    place_half: [Array<f64>; 2],
    pub(super) velocity: [Array<f64>; 2],
    velocity_before: [Array<f64>; 2],
    force: [Array<f64>; 2],
    point_mass: Array<f64>,
    // Arrays of sides or corners.
    pub(super) fractions: Array<f64>,
    side_area: Array<f64>,
    side_force: [Array<f64>; 2],
    corner_mass: Array<f64>,
    corner_force: [Array<f64>; 2],
    compression: [Array<f64>; 4],
    // Arrays of zones.
    pub(super) mass: Array<f64>,
    pub(super) energy: Array<f64>,
    pub(super) whole: Array<f64>,
    pub(super) density: Array<f64>,
    pub(super) area: Array<f64>,
    area_half: Array<f64>,
    area_after: Array<f64>,
    width: Array<f64>,
    pressure: Array<f64>,
    speed: Array<f64>,
    work: Array<f64>,
    work_rate: Array<f64>,
    /// For each wavefront, the longest stable step and the largest relative change of an area in
    /// its zones.
    pub(super) limits: [Array<f64>; 2],
}

impl Arrays {
    pub(super) fn alloc(host: &Host, mesh: &Mesh) -> Arrays {
        let (zones, points) = (mesh.zones as u64, mesh.place[0].len() as u64);
        let pair = |name: &str, len: u64| ["x", "y"].map(|axis| host.alloc(format!("{name}-{axis}"), len));
        let of_zones = |name: &str| host.alloc::<f64>(name, zones);
        let grid = grid_of(&host.shape(), zones, GROUP_ITEMS);
        let waves = u64::from(grid.work_groups) * u64::from(grid.waves);
        Arrays {
            zones,
            points: host.alloc("points", 4 * zones),
            first_corner: host.alloc("first-corner", points + 1),
            corners: host.alloc("corners", 4 * zones),
            axes: [0, 1].map(|axis: usize| host.alloc(format!("axis-{axis}"), mesh.axes[axis].len() as u64)),
            place: pair("place", points),
            place_half: pair("half-place", points),
            velocity: pair("velocity", points),
            velocity_before: pair("old-velocity", points),
            force: pair("force", points),
            point_mass: host.alloc("point-mass", points),
            fractions: host.alloc("side-fraction", 4 * zones),
            side_area: host.alloc("side-area", 4 * zones),
            side_force: pair("side-force", 4 * zones),
            corner_mass: host.alloc("corner-mass", 4 * zones),
            corner_force: pair("corner-force", 4 * zones),
            compression: ["width", "change", "weight", "cosine"]
                .map(|name| host.alloc(format!("corner-{name}"), 4 * zones)),
            mass: of_zones("mass"),
            energy: of_zones("energy"),
            whole: of_zones("whole-energy"),
            density: of_zones("density"),
            area: of_zones("area"),
            area_half: of_zones("half-area"),
            area_after: of_zones("new-area"),
            width: of_zones("width"),
            pressure: of_zones("pressure"),
            speed: of_zones("sound-speed"),
            work: of_zones("work"),
            work_rate: of_zones("work-rate"),
            limits: ["stable-step", "area-change"].map(|name| host.alloc(name, waves)),
        }
    }
}

/// The wavefront, and the number of its first work-item. Only those lanes stay active whose
/// work-item has a number below `count`.
fn over(w: &Wave, count: u64) -> (Wave, Unit) {
    let base = w.first_item();
    (w.below(base, count), Unit(base))
}

async fn load<const N: usize>(w: &Wave, at: Unit, from: [Array<f64>; N]) -> [Reals; N] {
    all(from.map(|array| w.load(array, at))).await
}

/// The values in `from` of the four sides or corners of each lane's zone.
async fn of_sides(w: &Wave, a: &Arrays, from: Array<f64>, Unit(base): Unit) -> [Reals; 4] {
    let of = |side: usize| -> Loading<Unit, f64> { w.load(from, Unit(side as u64 * a.zones + base)) };
    all(core::array::from_fn(of)).await
}

async fn store_sides(w: &Wave, a: &Arrays, to: Array<f64>, Unit(base): Unit, values: [Reals; 4]) {
    for (side, value) in values.into_iter().enumerate() {
        w.store(to, Unit(side as u64 * a.zones + base), value).await;
    }
}

async fn pairs_of_sides(w: &Wave, a: &Arrays, from: [Array<f64>; 2], at: Unit) -> Four<Reals> {
    let (x, y) = (of_sides(w, a, from[0], at).await, of_sides(w, a, from[1], at).await);
    core::array::from_fn(|side| [x[side], y[side]])
}

async fn store_pairs(w: &Wave, a: &Arrays, to: [Array<f64>; 2], at: Unit, values: Four<Reals>) {
    store_sides(w, a, to[0], at, values.map(|[x, _]| x)).await;
    store_sides(w, a, to[1], at, values.map(|[_, y]| y)).await;
}

/// The values in `from` at the four points of each lane's zone.
async fn of_points(w: &Wave, a: &Arrays, from: [Array<f64>; 2], Unit(base): Unit) -> Four<Reals> {
    let ids: [Lanes<u32>; 4] =
        all(core::array::from_fn(|at| w.load(a.points, Unit(at as u64 * a.zones + base)))).await;
    let x = all(ids.map(|id| w.load(from[0], id))).await;
    let y = all(ids.map(|id| w.load(from[1], id))).await;
    core::array::from_fn(|at| [x[at], y[at]])
}

async fn half_step(w: Wave, a: Rc<Arrays>, dt: f64) {
    let (w, at) = over(&w, a.point_mass.len());
    for axis in 0..2 {
        let [place, velocity] = load(&w, at, [a.place[axis], a.velocity[axis]]).await;
        w.store(a.place_half[axis], at, place + velocity * (0.5 * dt));
        w.store(a.velocity_before[axis], at, velocity).await;
    }
}

async fn geometry_half(w: Wave, a: Rc<Arrays>) {
    let (w, at) = over(&w, a.zones);
    let p = of_points(&w, &a, a.place_half, at).await;
    let (areas, area, _) = geometry(&p);
    store_sides(&w, &a, a.side_area, at, areas).await;
    w.store(a.area_half, at, area).await;
}

async fn corner_mass(w: Wave, a: Rc<Arrays>) {
    let (w, at) = over(&w, a.zones);
    let [mass] = load(&w, at, [a.mass]).await;
    let fractions = of_sides(&w, &a, a.fractions, at).await;
    let of = |corner: usize| mass * 0.5 * (fractions[corner] + fractions[(corner + 3) % 4]);
    store_sides(&w, &a, a.corner_mass, at, core::array::from_fn(of)).await;
}

async fn state(w: Wave, a: Rc<Arrays>, dt: f64) {
    let (w, at) = over(&w, a.zones);
    let [mass, energy, density, area, work_rate, half] =
        load(&w, at, [a.mass, a.energy, a.density, a.area, a.work_rate, a.area_half]).await;
    let (pressure, speed) = state_half(Start { mass, energy, density, area, work_rate }, half, dt);
    w.store(a.pressure, at, pressure);
    w.store(a.speed, at, speed).await;
}

async fn side_force(w: Wave, a: Rc<Arrays>) {
    let (w, at) = over(&w, a.zones);
    let p = of_points(&w, &a, a.place_half, at).await;
    let (areas, fractions) =
        (of_sides(&w, &a, a.side_area, at).await, of_sides(&w, &a, a.fractions, at).await);
    let [area, mass, pressure, speed] = load(&w, at, [a.area_half, a.mass, a.pressure, a.speed]).await;
    let forces = side_forces(&p, fractions, (areas, area), (pressure, mass / area, speed));
    store_pairs(&w, &a, a.side_force, at, forces).await;
}

async fn compression(w: Wave, a: Rc<Arrays>) {
    let (w, at) = over(&w, a.zones);
    let p = of_points(&w, &a, a.place_half, at).await;
    let u = of_points(&w, &a, a.velocity, at).await;
    let corners = compressions(&p, &u);
    store_sides(&w, &a, a.compression[0], at, corners.map(|corner| corner.width)).await;
    store_sides(&w, &a, a.compression[1], at, corners.map(|corner| corner.change)).await;
    store_sides(&w, &a, a.compression[2], at, corners.map(|corner| corner.weight)).await;
    store_sides(&w, &a, a.compression[3], at, corners.map(|corner| corner.cosine)).await;
}

async fn viscosity(w: Wave, a: Rc<Arrays>) {
    let (w, at) = over(&w, a.zones);
    let p = of_points(&w, &a, a.place_half, at).await;
    let u = of_points(&w, &a, a.velocity, at).await;
    let mut of = [[Reals::splat(0.0); 4]; 4];
    for (values, array) in of.iter_mut().zip(a.compression) {
        *values = of_sides(&w, &a, array, at).await;
    }
    let [width, change, weight, cosine] = of;
    let corners: [Corner<Reals>; 4] = core::array::from_fn(|at| Corner {
        width: width[at],
        change: change[at],
        weight: weight[at],
        cosine: cosine[at],
    });
    let [area, mass, speed] = load(&w, at, [a.area_half, a.mass, a.speed]).await;
    let viscous = viscous_forces(&p, &u, &corners, (mass / area, speed));
    let forces = pairs_of_sides(&w, &a, a.side_force, at).await;
    let sum = |side: usize| [0, 1].map(|axis| forces[side][axis] + viscous[side][axis]);
    store_pairs(&w, &a, a.side_force, at, core::array::from_fn(sum)).await;
}

async fn corner_force(w: Wave, a: Rc<Arrays>) {
    let (w, at) = over(&w, a.zones);
    let forces = pairs_of_sides(&w, &a, a.side_force, at).await;
    store_pairs(&w, &a, a.corner_force, at, corner_forces(&forces)).await;
}

/// For each point, sums the masses and the forces of the corners that lie at it.
async fn gather(w: Wave, a: Rc<Arrays>) {
    let (w, at) = over(&w, a.point_mass.len());
    let [first, end] = all([w.load(a.first_corner, at), w.load(a.first_corner, Unit(at.0 + 1))]).await;
    let from = [a.corner_mass, a.corner_force[0], a.corner_force[1]];
    let mut sums = [Reals::splat(0.0); 3];
    let mut next = first;
    loop {
        let within = w.when(next.lt(end));
        if !within.any() {
            break;
        }
        let corner = within.load(a.corners, next).await;
        let parts = all(from.map(|array| within.load(array, corner))).await;
        for (sum, part) in sums.iter_mut().zip(parts) {
            sum.assign(within.mask(), *sum + part);
        }
        next += 1;
    }
    w.store(a.point_mass, at, sums[0]);
    w.store(a.force[0], at, sums[1]);
    w.store(a.force[1], at, sums[2]).await;
}

async fn boundary(w: Wave, a: Rc<Arrays>, axis: usize) {
    let (w, at) = over(&w, a.axes[axis].len());
    let point = w.load(a.axes[axis], at).await;
    w.store(a.force[axis], point, Reals::splat(0.0)).await;
}

async fn accelerate(w: Wave, a: Rc<Arrays>, dt: f64) {
    let (w, at) = over(&w, a.point_mass.len());
    let [mass] = load(&w, at, [a.point_mass]).await;
    for axis in 0..2 {
        let [force, before] = load(&w, at, [a.force[axis], a.velocity_before[axis]]).await;
        w.store(a.velocity[axis], at, before + force / mass * dt).await;
    }
}

async fn full_step(w: Wave, a: Rc<Arrays>, dt: f64) {
    let (w, at) = over(&w, a.point_mass.len());
    for axis in 0..2 {
        let [place, before, after] =
            load(&w, at, [a.place[axis], a.velocity_before[axis], a.velocity[axis]]).await;
        w.store(a.place[axis], at, place + (before + after) * (0.5 * dt)).await;
    }
}

async fn geometry_full(w: Wave, a: Rc<Arrays>) {
    let (w, at) = over(&w, a.zones);
    let p = of_points(&w, &a, a.place, at).await;
    let (_, area, width) = geometry(&p);
    w.store(a.area_after, at, area);
    w.store(a.width, at, width).await;
}

async fn do_work(w: Wave, a: Rc<Arrays>, dt: f64) {
    let (w, at) = over(&w, a.zones);
    let before = of_points(&w, &a, a.velocity_before, at).await;
    let after = of_points(&w, &a, a.velocity, at).await;
    let forces = pairs_of_sides(&w, &a, a.side_force, at).await;
    let done = work(&forces, &before, &after, dt);
    let [whole] = load(&w, at, [a.whole]).await;
    w.store(a.work, at, done);
    w.store(a.whole, at, whole + done).await;
}

async fn energy(w: Wave, a: Rc<Arrays>, dt: f64) {
    let (w, at) = over(&w, a.zones);
    let [done, pressure, before, area, whole, mass] =
        load(&w, at, [a.work, a.pressure, a.area, a.area_after, a.whole, a.mass]).await;
    w.store(a.work_rate, at, (done + pressure * (area - before)) * (1.0 / dt));
    w.store(a.energy, at, whole / mass);
    w.store(a.density, at, mass / area).await;
}

/// Each wavefront finds the limits of the time step over its zones. The host then combines the
/// limits of all wavefronts.
async fn time_limits(w: Wave, a: Rc<Arrays>) {
    let (within, at) = over(&w, a.zones);
    let p = of_points(&within, &a, a.place, at).await;
    let u = of_points(&within, &a, a.velocity, at).await;
    let [width, speed, before, area] = load(&within, at, [a.width, a.speed, a.area, a.area_after]).await;
    let (stable, change) = limits(&p, &u, width, speed, (before, area));
    let stable = within.reduce(&stable, f64::INFINITY, Class::Double, f64::min);
    let change = within.reduce(&change, 0.0, Class::Double, f64::max);
    w.store(a.limits[0], w.global_index(), stable);
    w.store(a.limits[1], w.global_index(), change);
    within.store(a.area, at, area).await;
}

/// Declares that a work-group accesses only its own elements of certain arrays: it reads the arrays
/// in `read` and writes those in `write`.
fn own<const R: usize, const W: usize>(read: [Array<f64>; R], write: [Array<f64>; W]) -> Vec<Use> {
    let read = read.into_iter().map(|array| array.read().in_parts(GROUP_ITEMS));
    read.chain(write.into_iter().map(|array| array.write().in_parts(GROUP_ITEMS))).collect()
}

/// Declares that a work-group may access any element of certain arrays: it reads the arrays in
/// `read` and writes those in `write`.
fn any<const R: usize, const W: usize>(read: [Array<f64>; R], write: [Array<f64>; W]) -> Vec<Use> {
    let read = read.into_iter().map(|array| array.read());
    read.chain(write.into_iter().map(|array| array.write())).collect()
}

/// Declares that a work-group may read and write any element of these arrays.
fn both(arrays: [Array<f64>; 2]) -> [Use; 2] {
    arrays.map(|array| array.read_write())
}

impl Arrays {
    /// The kernels of a time step. Each has the number of its work-items.
    pub(super) fn kernels(self: &Rc<Self>, dt: f64) -> Vec<(Kernel, u64)> {
        let (a, zones, count) = (self, self.zones, self.point_mass.len());
        let [x, y] = a.place;
        let [hx, hy] = a.place_half;
        let [u, v] = a.velocity;
        let [bu, bv] = a.velocity_before;
        let [fx, fy] = a.force;
        let [sx, sy] = a.side_force;
        let [cx, cy] = a.corner_force;
        let [width, change, weight, cosine] = a.compression;
        let points = || [a.points.read()];
        let mut kernels = vec![
            (
                a.kernel("half-step", move |w, a| half_step(w, a, dt))
                    .uses(own([x, y, u, v], [hx, hy, bu, bv])),
                count,
            ),
            (
                a.kernel("geometry-half", geometry_half)
                    .uses(points())
                    .uses(any([hx, hy], [a.side_area]))
                    .uses(own([], [a.area_half])),
                zones,
            ),
            (
                a.kernel("corner-mass", corner_mass)
                    .uses(own([a.mass], []))
                    .uses(any([a.fractions], [a.corner_mass])),
                zones,
            ),
            (
                a.kernel("state", move |w, a| state(w, a, dt)).uses(own(
                    [a.mass, a.energy, a.density, a.area, a.work_rate, a.area_half],
                    [a.pressure, a.speed],
                )),
                zones,
            ),
            (
                a.kernel("side-force", side_force)
                    .uses(points())
                    .uses(any([hx, hy, a.side_area, a.fractions], [sx, sy]))
                    .uses(own([a.area_half, a.mass, a.pressure, a.speed], [])),
                zones,
            ),
            (
                a.kernel("compression", compression)
                    .uses(points())
                    .uses(any([hx, hy, u, v], [width, change, weight, cosine])),
                zones,
            ),
            (
                a.kernel("viscosity", viscosity)
                    .uses(points())
                    .uses(both([sx, sy]))
                    .uses(any([hx, hy, u, v, width, change, weight, cosine], []))
                    .uses(own([a.area_half, a.mass, a.speed], [])),
                zones,
            ),
            (a.kernel("corner-force", corner_force).uses(any([sx, sy], [cx, cy])), zones),
            (
                a.kernel("gather", gather)
                    .uses(any([a.corner_mass, cx, cy], []))
                    .uses([a.first_corner.read().in_parts_with_halo(GROUP_ITEMS, 1), a.corners.read()])
                    .uses(own([], [a.point_mass, fx, fy])),
                count,
            ),
        ];
        for (axis, name) in ["boundary-x", "boundary-y"].into_iter().enumerate() {
            let fixed = a.axes[axis];
            let kernel = a.kernel(name, move |w, a| boundary(w, a, axis));
            kernels.push((
                kernel.uses([fixed.read().in_parts(GROUP_ITEMS), a.force[axis].write()]),
                fixed.len(),
            ));
        }
        let kernel = a.kernel("accelerate", move |w, a| accelerate(w, a, dt));
        kernels.push((kernel.uses(own([a.point_mass, fx, fy, bu, bv], [u, v])), count));
        let kernel = a.kernel("full-step", move |w, a| full_step(w, a, dt));
        let moved = [x, y].map(|array| array.read_write().in_parts(GROUP_ITEMS));
        kernels.push((kernel.uses(own([bu, bv, u, v], [])).uses(moved), count));
        kernels.extend(self.zone_kernels(dt).into_iter().map(|kernel| (kernel, zones)));
        kernels
    }

    /// The kernels that update the zones after the points have moved.
    fn zone_kernels(self: &Rc<Self>, dt: f64) -> [Kernel; 4] {
        let a = self;
        let ([x, y], [u, v], [bu, bv], [sx, sy]): (Pair<_>, Pair<_>, Pair<_>, Pair<_>) =
            (a.place, a.velocity, a.velocity_before, a.side_force);
        let changed = |array: Array<f64>| [array.read_write().in_parts(GROUP_ITEMS)];
        [
            a.kernel("geometry-full", geometry_full)
                .uses([a.points.read()])
                .uses(any([x, y], []))
                .uses(own([], [a.area_after, a.width])),
            a.kernel("work", move |w, a| do_work(w, a, dt))
                .uses([a.points.read()])
                .uses(any([u, v, bu, bv, sx, sy], []))
                .uses(own([], [a.work]))
                .uses(changed(a.whole)),
            a.kernel("energy", move |w, a| energy(w, a, dt)).uses(own(
                [a.work, a.pressure, a.area, a.area_after, a.whole, a.mass],
                [a.work_rate, a.energy, a.density],
            )),
            a.kernel("time-limits", time_limits)
                .uses([a.points.read()])
                .uses(any([x, y, u, v], a.limits))
                .uses(own([a.width, a.speed, a.area_after], []))
                .uses(changed(a.area)),
        ]
    }

    fn kernel<F>(
        self: &Rc<Self>,
        name: &'static str,
        body: impl Fn(Wave, Rc<Arrays>) -> F + 'static,
    ) -> Kernel
    where
        F: Future<Output = ()> + 'static,
    {
        let arrays = self.clone();
        Kernel::new(name, move |w| body(w, arrays.clone()))
    }
}
