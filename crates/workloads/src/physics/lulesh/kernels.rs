//! The kernels of a time step, in the order in which the host launches them.
//!
//! Each kernel is a loop of LULESH over elements or nodes. Values that one loop passes to another
//! are in memory.

use std::rc::Rc;

use kernel::Use;
use kernel::prelude::*;

use super::domain::{Domain, GROUP_ITEMS};
use super::element::{
    Points, characteristic_length, hourglass_forces, node_normals, shape_derivatives, velocity_gradient,
    viscosity_gradients, volume, volume_derivatives,
};
use super::material::{self, Old};
use super::mesh::edge;
use crate::physics::all;

type Reals = Lanes<f64>;

/// The wavefront, and the number of its first work-item. Only those lanes stay active whose
/// work-item has a number below `count`.
fn over(w: &Wave, count: u64) -> (Wave, Unit) {
    let base = w.first_item();
    (w.below(base, count), Unit(base))
}

/// Loads the words at index `at` of several arrays.
async fn load<const N: usize>(w: &Wave, at: Unit, from: [Array<f64>; N]) -> [Reals; N] {
    all(from.map(|array| w.load(array, at))).await
}

/// Stores words at index `at` of several arrays.
async fn store<const N: usize>(w: &Wave, at: Unit, to: [Array<f64>; N], values: [Reals; N]) {
    for (array, value) in to.into_iter().zip(values) {
        w.store(array, at, value);
    }
    // The wavefront waits for the last store, so that it does not post too many operations at once.
    w.store(to[N - 1], at, values[N - 1]).await;
}

/// The nodes at the eight corners of each lane's element.
async fn nodes(w: &Wave, d: &Domain, Unit(base): Unit) -> [Lanes<u32>; 8] {
    all(core::array::from_fn(|corner| w.load(d.nodes, Unit(corner as u64 * d.elements + base)))).await
}

/// The values, in three arrays of nodes, at the eight nodes of each lane's element.
async fn of_nodes(w: &Wave, from: [Array<f64>; 3], nodes: &[Lanes<u32>; 8]) -> Points<Reals> {
    let mut points = [[Reals::splat(0.0); 8]; 3];
    for (axis, points) in points.iter_mut().enumerate() {
        *points = all(nodes.map(|node| w.load(from[axis], node))).await;
    }
    points
}

/// The values, in three arrays of corners, at the eight corners of each lane's element.
async fn of_corners(w: &Wave, d: &Domain, from: [Array<f64>; 3], Unit(base): Unit) -> Points<Reals> {
    let mut points = [[Reals::splat(0.0); 8]; 3];
    for (axis, points) in points.iter_mut().enumerate() {
        let at = |corner: usize| Unit(corner as u64 * d.elements + base);
        *points = all(core::array::from_fn(|corner| w.load(from[axis], at(corner)))).await;
    }
    points
}

async fn store_corners(w: &Wave, d: &Domain, to: [Array<f64>; 3], Unit(base): Unit, values: &Points<Reals>) {
    for (array, values) in to.into_iter().zip(values) {
        for (corner, value) in values.iter().enumerate() {
            let stored = w.store(array, Unit(corner as u64 * d.elements + base), *value);
            if corner == 7 {
                stored.await;
            }
        }
    }
}

async fn init_stress(w: Wave, d: Rc<Domain>) {
    let (w, at) = over(&w, d.elements);
    let [p, q] = load(&w, at, [d.p, d.q]).await;
    w.store(d.stress, at, -p - q).await;
}

async fn integrate_stress(w: Wave, d: Rc<Domain>) {
    let (w, at) = over(&w, d.elements);
    let nodes = nodes(&w, &d, at).await;
    let points = of_nodes(&w, d.place, &nodes).await;
    let stress = w.load(d.stress, at).await;
    let forces = node_normals(&points).map(|axis| axis.map(|normal| -(stress * normal)));
    store_corners(&w, &d, d.corner_force, at, &forces).await;
}

/// Sums the forces of each node's corners. If `adds` is true, the sum is added to the present force
/// of the node. Otherwise the sum replaces the force.
async fn gather_forces(w: Wave, d: Rc<Domain>, adds: bool) {
    let (w, at) = over(&w, d.node_count);
    let [first, end] = all([w.load(d.first_corner, at), w.load(d.first_corner, Unit(at.0 + 1))]).await;
    let mut sums = [Reals::splat(0.0); 3];
    let mut next = first;
    loop {
        let within = w.when(next.lt(end));
        if !within.any() {
            break;
        }
        let corner = within.load(d.corners, next).await;
        let parts = all(d.corner_force.map(|force| within.load(force, corner))).await;
        for (sum, part) in sums.iter_mut().zip(parts) {
            sum.assign(within.mask(), *sum + part);
        }
        next += 1;
    }
    if adds {
        let before = load(&w, at, d.force).await;
        sums = [0, 1, 2].map(|axis| before[axis] + sums[axis]);
    }
    store(&w, at, d.force, sums).await;
}

async fn hourglass_control(w: Wave, d: Rc<Domain>) {
    let (w, at) = over(&w, d.elements);
    let nodes = nodes(&w, &d, at).await;
    let points = of_nodes(&w, d.place, &nodes).await;
    store_corners(&w, &d, d.derivatives, at, &volume_derivatives(&points)).await;
    store_corners(&w, &d, d.corner_place, at, &points).await;
    let [volume, v] = load(&w, at, [d.volume, d.v]).await;
    w.store(d.determinant, at, volume * v).await;
}

async fn hourglass_force(w: Wave, d: Rc<Domain>) {
    let (w, at) = over(&w, d.elements);
    let nodes = nodes(&w, &d, at).await;
    let velocity = of_nodes(&w, d.velocity, &nodes).await;
    let derivatives = of_corners(&w, &d, d.derivatives, at).await;
    let points = of_corners(&w, &d, d.corner_place, at).await;
    let [determinant, speed, mass] = load(&w, at, [d.determinant, d.speed, d.mass]).await;
    let coefficient = -(speed * mass * 0.03) / determinant.map(Class::Special, libm::cbrt);
    let forces = hourglass_forces(&points, &velocity, &derivatives, determinant, coefficient);
    store_corners(&w, &d, d.corner_force, at, &forces).await;
}

async fn acceleration(w: Wave, d: Rc<Domain>) {
    let (w, at) = over(&w, d.node_count);
    let [x, y, z] = load(&w, at, d.force).await;
    let mass = w.load(d.nodal_mass, at).await;
    store(&w, at, d.acceleration, [x / mass, y / mass, z / mass]).await;
}

async fn boundary(w: Wave, d: Rc<Domain>, axis: usize) {
    let (w, at) = over(&w, d.symmetry[axis].len());
    let node = w.load(d.symmetry[axis], at).await;
    w.store(d.acceleration[axis], node, Reals::splat(0.0)).await;
}

async fn velocity(w: Wave, d: Rc<Domain>, dt: f64) {
    let (w, at) = over(&w, d.node_count);
    let (before, acceleration) = (load(&w, at, d.velocity).await, load(&w, at, d.acceleration).await);
    let after = [0, 1, 2].map(|axis| material::velocity(before[axis], acceleration[axis], dt));
    store(&w, at, d.velocity, after).await;
}

async fn position(w: Wave, d: Rc<Domain>, dt: f64) {
    let (w, at) = over(&w, d.node_count);
    let (place, velocity) = (load(&w, at, d.place).await, load(&w, at, d.velocity).await);
    store(&w, at, d.place, [0, 1, 2].map(|axis| place[axis] + velocity[axis] * dt)).await;
}

async fn kinematics(w: Wave, d: Rc<Domain>, dt: f64) {
    let (w, at) = over(&w, d.elements);
    let nodes = nodes(&w, &d, at).await;
    let mut points = of_nodes(&w, d.place, &nodes).await;
    let velocity = of_nodes(&w, d.velocity, &nodes).await;
    let [whole, v] = load(&w, at, [d.volume, d.v]).await;
    let volume = volume(&points);
    let relative = volume / whole;
    let length = characteristic_length(&points, volume);
    for (place, velocity) in points.iter_mut().flatten().zip(velocity.iter().flatten()) {
        *place -= *velocity * (0.5 * dt);
    }
    let (derivatives, jacobian) = shape_derivatives(&points);
    let [x, y, z] = velocity_gradient(&velocity, &derivatives, jacobian);
    store(&w, at, [d.vnew, d.delv, d.length, d.vdov], [relative, relative - v, length, x + y + z]).await;
}

async fn viscosity_gradient(w: Wave, d: Rc<Domain>) {
    let (w, at) = over(&w, d.elements);
    let nodes = nodes(&w, &d, at).await;
    let points = of_nodes(&w, d.place, &nodes).await;
    let velocity = of_nodes(&w, d.velocity, &nodes).await;
    let [volume, vnew] = load(&w, at, [d.volume, d.vnew]).await;
    let (delv, delx) = viscosity_gradients(&points, &velocity, volume * vnew);
    store(&w, at, d.delv_along, delv).await;
    store(&w, at, d.delx_along, delx).await;
}

async fn viscosity_region(w: Wave, d: Rc<Domain>) {
    let (w, at) = over(&w, d.elements);
    let (delv, delx) = (load(&w, at, d.delv_along).await, load(&w, at, d.delx_along).await);
    let mut phi = [Reals::splat(0.0); 3];
    for (along, phi) in phi.iter_mut().enumerate() {
        let mut beyond = [delv[along]; 2];
        for (face, beyond) in beyond.iter_mut().enumerate() {
            let other = w.load(d.neighbours[2 * along + face], at).await;
            let inside = w.when(other.lt(edge::FREE));
            beyond.assign(other.eq(edge::FREE), 0.0);
            let value = inside.load(d.delv_along[along], other).await;
            beyond.assign(inside.mask(), value);
        }
        *phi = material::limiter(delv[along], beyond[0], beyond[1]);
    }
    let [mass, volume, vnew, vdov] = load(&w, at, [d.mass, d.volume, d.vnew, d.vdov]).await;
    let (linear, quadratic) = material::viscosity(phi, delv, delx, mass / (volume * vnew), vdov);
    store(&w, at, [d.linear, d.quadratic], [linear, quadratic]).await;
}

async fn eos_begin(w: Wave, d: Rc<Domain>) {
    let (w, at) = over(&w, d.elements);
    let [vnew, delv, e, p, q] = load(&w, at, [d.vnew, d.delv, d.e, d.p, d.q]).await;
    let v = material::clamped_volume(vnew);
    let (whole, half) = material::compressions(v, delv);
    let to = [d.clamped, d.compression, d.compression_half, d.e_old, d.p_old, d.q_old];
    store(&w, at, to, [v, whole, half, e, p, q]).await;
}

async fn old(w: &Wave, d: &Domain, at: Unit) -> Old<Reals> {
    let [e, p, q] = load(w, at, [d.e_old, d.p_old, d.q_old]).await;
    Old { e, p, q }
}

async fn energy_half(w: Wave, d: Rc<Domain>) {
    let (w, at) = over(&w, d.elements);
    let delv = w.load(d.delv, at).await;
    let energy = material::energy_half(old(&w, &d, at).await, delv);
    w.store(d.e_new, at, energy).await;
}

/// Computes the pressure at the new energy. `compression` is the compression of the elements at
/// half the time step or at its end.
async fn pressure(w: Wave, d: Rc<Domain>, compression: Array<f64>, to: Array<f64>) {
    let (w, at) = over(&w, d.elements);
    let [energy, compression] = load(&w, at, [d.e_new, compression]).await;
    let pressure = material::pressure(energy, compression);
    store(&w, at, [to, d.bvc], [pressure.p, pressure.bvc]).await;
}

async fn energy_whole(w: Wave, d: Rc<Domain>) {
    let (w, at) = over(&w, d.elements);
    let old = old(&w, &d, at).await;
    let [energy, half, bvc, p_half] = load(&w, at, [d.e_new, d.compression_half, d.bvc, d.p_half]).await;
    let [delv, linear, quadratic] = load(&w, at, [d.delv, d.linear, d.quadratic]).await;
    let speed = material::sound_speed(energy, material::half_volume(half), bvc, p_half);
    let q = material::viscous(delv, speed, linear, quadratic);
    let energy = material::energy_whole(energy, old, delv, p_half, q);
    store(&w, at, [d.q_new, d.e_new], [q, energy]).await;
}

async fn energy_corrected(w: Wave, d: Rc<Domain>) {
    let (w, at) = over(&w, d.elements);
    let old = old(&w, &d, at).await;
    let [energy, v, bvc, p, p_half, q_half] =
        load(&w, at, [d.e_new, d.clamped, d.bvc, d.p_new, d.p_half, d.q_new]).await;
    let [delv, linear, quadratic] = load(&w, at, [d.delv, d.linear, d.quadratic]).await;
    let speed = material::sound_speed(energy, v, bvc, p);
    let q = material::viscous(delv, speed, linear, quadratic);
    let energy = material::energy_corrected(energy, old, delv, (p_half, q_half), (p, q));
    w.store(d.e_new, at, energy).await;
}

async fn viscosity_final(w: Wave, d: Rc<Domain>) {
    let (w, at) = over(&w, d.elements);
    let [energy, v, bvc, p, before] = load(&w, at, [d.e_new, d.clamped, d.bvc, d.p_new, d.q_new]).await;
    let [delv, linear, quadratic] = load(&w, at, [d.delv, d.linear, d.quadratic]).await;
    let speed = material::sound_speed(energy, v, bvc, p);
    w.store(d.q_new, at, material::final_viscosity(delv, before, speed, linear, quadratic)).await;
}

async fn eos_end(w: Wave, d: Rc<Domain>) {
    let (w, at) = over(&w, d.elements);
    let [e, p, q, v, bvc] = load(&w, at, [d.e_new, d.p_new, d.q_new, d.clamped, d.bvc]).await;
    let speed = material::sound_speed(e, v, bvc, p);
    store(&w, at, [d.e, d.p, d.q, d.speed], [e, p, q, speed]).await;
}

async fn volumes(w: Wave, d: Rc<Domain>) {
    let (w, at) = over(&w, d.elements);
    let vnew = w.load(d.vnew, at).await;
    w.store(d.v, at, material::settled_volume(vnew)).await;
}

/// Each wavefront finds the smallest limits of the time step over its elements. The host then takes
/// the smallest limits of all wavefronts.
async fn time_limits(w: Wave, d: Rc<Domain>) {
    let (all, at) = over(&w, d.elements);
    let [speed, length, vdov] = load(&all, at, [d.speed, d.length, d.vdov]).await;
    let (courant, hydro) = material::time_limits(speed, length, vdov);
    for (limits, values) in d.limits.into_iter().zip([courant, hydro]) {
        let least = all.reduce(&values, material::UNBOUNDED, Class::Double, f64::min);
        w.store(limits, w.global_index(), least).await;
    }
}

/// The declared uses of arrays by a kernel. It reads the arrays in `read`, writes those in `write`,
/// and both reads and writes those in `both`. A work-group touches only its own elements.
fn uses<const R: usize, const W: usize, const B: usize>(
    read: [Array<f64>; R],
    write: [Array<f64>; W],
    both: [Array<f64>; B],
) -> Vec<Use> {
    let read = read.into_iter().map(|array| array.read().in_parts(GROUP_ITEMS));
    let write = write.into_iter().map(|array| array.write().in_parts(GROUP_ITEMS));
    let both = both.into_iter().map(|array| array.read_write().in_parts(GROUP_ITEMS));
    read.chain(write).chain(both).collect()
}

/// The declared uses of a kernel that may read any element of three arrays.
fn read_all(arrays: [Array<f64>; 3]) -> [Use; 3] {
    arrays.map(|array| array.read())
}

/// The declared uses of a kernel that may write any element of three arrays.
fn write_all(arrays: [Array<f64>; 3]) -> [Use; 3] {
    arrays.map(|array| array.write())
}

impl Domain {
    /// The kernels that move the nodes. Each has the number of its work-items.
    pub(super) fn node_kernels(self: &Rc<Self>, dt: f64) -> Vec<(Kernel, u64)> {
        let (d, elements, nodes) = (self, self.elements, self.node_count);
        let [fx, fy, fz] = d.force;
        let [vx, vy, vz] = d.velocity;
        let [ax, ay, az] = d.acceleration;
        let [px, py, pz] = d.place;
        let kernel = |name: &'static str| Named { name, domain: d.clone() };
        let gather = [d.first_corner.read().in_parts_with_halo(GROUP_ITEMS, 1), d.corners.read()];
        let mut kernels = vec![
            (kernel("init-stress").runs(init_stress).uses(uses([d.p, d.q], [d.stress], [])), elements),
            (
                kernel("integrate-stress")
                    .runs(integrate_stress)
                    .uses(uses([d.stress], [], []))
                    .uses([d.nodes.read()])
                    .uses(read_all(d.place))
                    .uses(write_all(d.corner_force)),
                elements,
            ),
            (
                kernel("gather-stress")
                    .runs(|w, d| gather_forces(w, d, false))
                    .uses(gather)
                    .uses(read_all(d.corner_force))
                    .uses(uses([], d.force, [])),
                nodes,
            ),
            (
                kernel("hourglass-control")
                    .runs(hourglass_control)
                    .uses(uses([d.volume, d.v], [d.determinant], []))
                    .uses([d.nodes.read()])
                    .uses(read_all(d.place))
                    .uses(write_all(d.derivatives))
                    .uses(write_all(d.corner_place)),
                elements,
            ),
            (
                kernel("hourglass-force")
                    .runs(hourglass_force)
                    .uses(uses([d.determinant, d.speed, d.mass], [], []))
                    .uses([d.nodes.read()])
                    .uses(read_all(d.velocity))
                    .uses(read_all(d.derivatives))
                    .uses(read_all(d.corner_place))
                    .uses(write_all(d.corner_force)),
                elements,
            ),
            (
                kernel("gather-hourglass")
                    .runs(|w, d| gather_forces(w, d, true))
                    .uses(gather)
                    .uses(read_all(d.corner_force))
                    .uses(uses([], [], d.force)),
                nodes,
            ),
            (
                kernel("acceleration").runs(acceleration).uses(uses(
                    [fx, fy, fz, d.nodal_mass],
                    d.acceleration,
                    [],
                )),
                nodes,
            ),
        ];
        for (axis, name) in ["boundary-x", "boundary-y", "boundary-z"].into_iter().enumerate() {
            let on_plane = d.symmetry[axis];
            let body = kernel(name).runs(move |w, d| boundary(w, d, axis));
            let uses = [on_plane.read().in_parts(GROUP_ITEMS), d.acceleration[axis].write()];
            kernels.push((body.uses(uses), on_plane.len()));
        }
        let body = kernel("velocity").runs(move |w, d| velocity(w, d, dt));
        kernels.push((body.uses(uses([ax, ay, az], [], [vx, vy, vz])), nodes));
        let body = kernel("position").runs(move |w, d| position(w, d, dt));
        kernels.push((body.uses(uses([vx, vy, vz], [], [px, py, pz])), nodes));
        kernels
    }

    /// The kernels that update the elements after the nodes have moved. Each has a work-item for
    /// each element.
    pub(super) fn element_kernels(self: &Rc<Self>, dt: f64) -> Vec<Kernel> {
        let d = self;
        let kernel = |name: &'static str| Named { name, domain: d.clone() };
        let (half, whole) = (d.compression_half, d.compression);
        let [delv_x, delv_y, delv_z] = d.delv_along;
        let [delx_x, delx_y, delx_z] = d.delx_along;
        let eos = [d.delv, d.linear, d.quadratic];
        vec![
            kernel("kinematics")
                .runs(move |w, d| kinematics(w, d, dt))
                .uses(uses([d.volume, d.v], [d.vnew, d.delv, d.length, d.vdov], []))
                .uses([d.nodes.read()])
                .uses(read_all(d.place))
                .uses(read_all(d.velocity)),
            kernel("viscosity-gradient")
                .runs(viscosity_gradient)
                .uses(uses([d.volume, d.vnew], [delv_x, delv_y, delv_z, delx_x, delx_y, delx_z], []))
                .uses([d.nodes.read()])
                .uses(read_all(d.place))
                .uses(read_all(d.velocity)),
            kernel("viscosity-region")
                .runs(viscosity_region)
                .uses(uses(
                    [delx_x, delx_y, delx_z, d.mass, d.volume, d.vnew, d.vdov],
                    [d.linear, d.quadratic],
                    [],
                ))
                .uses(read_all(d.delv_along))
                .uses(d.neighbours.map(|array| array.read().in_parts(GROUP_ITEMS))),
            kernel("eos-begin").runs(eos_begin).uses(uses(
                [d.vnew, d.delv, d.e, d.p, d.q],
                [d.clamped, whole, half, d.e_old, d.p_old, d.q_old],
                [],
            )),
            kernel("energy-half").runs(energy_half).uses(uses(
                [d.delv, d.e_old, d.p_old, d.q_old],
                [d.e_new],
                [],
            )),
            kernel("pressure-half")
                .runs(move |w, d| {
                    let to = d.p_half;
                    pressure(w, d, half, to)
                })
                .uses(uses([d.e_new, half], [d.p_half, d.bvc], [])),
            kernel("energy-whole")
                .runs(energy_whole)
                .uses(uses([d.e_old, d.p_old, d.q_old, half, d.bvc, d.p_half], [d.q_new], [d.e_new]))
                .uses(uses(eos, [], [])),
            kernel("pressure-whole")
                .runs(move |w, d| {
                    let to = d.p_new;
                    pressure(w, d, whole, to)
                })
                .uses(uses([d.e_new, whole], [d.p_new, d.bvc], [])),
            kernel("energy-corrected")
                .runs(energy_corrected)
                .uses(uses(
                    [d.e_old, d.p_old, d.q_old, d.clamped, d.bvc, d.p_new, d.p_half, d.q_new],
                    [],
                    [d.e_new],
                ))
                .uses(uses(eos, [], [])),
            kernel("pressure-final")
                .runs(move |w, d| {
                    let to = d.p_new;
                    pressure(w, d, whole, to)
                })
                .uses(uses([d.e_new, whole], [d.p_new, d.bvc], [])),
            kernel("viscosity-final")
                .runs(viscosity_final)
                .uses(uses([d.e_new, d.clamped, d.bvc, d.p_new], [], [d.q_new]))
                .uses(uses(eos, [], [])),
            kernel("eos-end").runs(eos_end).uses(uses(
                [d.e_new, d.p_new, d.q_new, d.clamped, d.bvc],
                [d.e, d.p, d.q, d.speed],
                [],
            )),
            kernel("volumes").runs(volumes).uses(uses([d.vnew], [d.v], [])),
            kernel("time-limits")
                .runs(time_limits)
                .uses(uses([d.speed, d.length, d.vdov], [], []))
                .uses(d.limits.map(|array| array.write())),
        ]
    }
}

/// A kernel that has a name and arrays, but no code yet.
struct Named {
    name: &'static str,
    domain: Rc<Domain>,
}

impl Named {
    fn runs<F>(self, body: impl Fn(Wave, Rc<Domain>) -> F + 'static) -> Kernel
    where
        F: Future<Output = ()> + 'static,
    {
        Kernel::new(self.name, move |w| body(w, self.domain.clone()))
    }
}
