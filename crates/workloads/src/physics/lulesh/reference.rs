//! The Sedov problem on the host: plain loops over elements and nodes.
//!
//! The formulas are those of the kernels. A test compares the result with the published energies of
//! LULESH.

use super::element::{
    Points, characteristic_length, hourglass_forces, node_normals, shape_derivatives, velocity_gradient,
    viscosity_gradients, volume, volume_derivatives,
};
use super::material::{self, Clock, Old, STOP, UNBOUNDED};
use super::mesh::{Mesh, edge};

/// The state of the problem on the host.
#[derive(Debug)]
pub(super) struct State {
    mesh: Mesh,
    pub(super) clock: Clock,
    pub(super) place: [Vec<f64>; 3],
    pub(super) velocity: [Vec<f64>; 3],
    pub(super) e: Vec<f64>,
    pub(super) p: Vec<f64>,
    pub(super) q: Vec<f64>,
    pub(super) v: Vec<f64>,
    speed: Vec<f64>,
}

/// The values that a step computes for each element before the equation of state.
struct Kinematics {
    vnew: Vec<f64>,
    delv: Vec<f64>,
    vdov: Vec<f64>,
    length: Vec<f64>,
}

impl State {
    pub(super) fn new(cells: usize) -> State {
        let mesh = Mesh::new(cells);
        let (elements, nodes) = (mesh.elements(), mesh.node_count());
        let mut e = vec![0.0; elements];
        e[0] = mesh.origin_energy;
        let clock = Clock { time: 0.0, dt: mesh.first_dt, cycle: 0 };
        let [zero, still] = [elements, nodes].map(|count| vec![0.0; count]);
        State {
            clock,
            place: mesh.place.clone(),
            velocity: [still.clone(), still.clone(), still],
            e,
            p: zero.clone(),
            q: zero.clone(),
            v: vec![1.0; elements],
            speed: zero,
            mesh,
        }
    }

    /// Computes at most `steps` time steps.
    pub(super) fn run(&mut self, steps: u64) {
        let mut limits = (UNBOUNDED, UNBOUNDED);
        while self.clock.time < STOP && self.clock.cycle < steps {
            self.clock.advance(limits.0, limits.1);
            self.move_nodes();
            limits = self.update_elements();
        }
    }

    fn corners(&self, element: usize, of: &[Vec<f64>; 3]) -> Points<f64> {
        let elements = self.mesh.elements();
        let node = |corner: usize| self.mesh.nodes[corner * elements + element] as usize;
        [0, 1, 2].map(|axis| core::array::from_fn(|corner| of[axis][node(corner)]))
    }

    /// The forces on the nodes: the forces of stress plus those against the hourglass modes.
    fn forces(&self) -> [Vec<f64>; 3] {
        let elements = self.mesh.elements();
        let stress = |element: usize| {
            let stress = -self.p[element] - self.q[element];
            node_normals(&self.corners(element, &self.place))
                .map(|axis| axis.map(|normal| -(stress * normal)))
        };
        let hourglass = |element: usize| {
            let p = self.corners(element, &self.place);
            let determinant = self.mesh.volume[element] * self.v[element];
            let coefficient =
                -(self.speed[element] * self.mesh.volume[element] * 0.03) / libm::cbrt(determinant);
            let velocity = self.corners(element, &self.velocity);
            hourglass_forces(&p, &velocity, &volume_derivatives(&p), determinant, coefficient)
        };
        let mut forces = [0, 1, 2].map(|_| vec![0.0; self.mesh.node_count()]);
        for of_element in [&stress as &dyn Fn(usize) -> Points<f64>, &hourglass] {
            let parts: Vec<Points<f64>> = (0..elements).map(of_element).collect();
            for (axis, force) in forces.iter_mut().enumerate() {
                for (node, force) in force.iter_mut().enumerate() {
                    let corners = self.mesh.first_corner[node]..self.mesh.first_corner[node + 1];
                    let parts = corners.map(|at| {
                        let corner = self.mesh.corners[at as usize] as usize;
                        parts[corner % elements][axis][corner / elements]
                    });
                    *force += parts.fold(0.0, |sum, part| sum + part);
                }
            }
        }
        forces
    }

    fn move_nodes(&mut self) {
        let (forces, dt) = (self.forces(), self.clock.dt);
        for (axis, forces) in forces.into_iter().enumerate() {
            let mut acceleration: Vec<f64> =
                forces.iter().zip(&self.mesh.nodal_mass).map(|(force, mass)| force / mass).collect();
            self.mesh.symmetry[axis].iter().for_each(|node| acceleration[*node as usize] = 0.0);
            for (node, acceleration) in acceleration.into_iter().enumerate() {
                let velocity = material::velocity(self.velocity[axis][node], acceleration, dt);
                self.velocity[axis][node] = velocity;
                self.place[axis][node] += velocity * dt;
            }
        }
    }

    fn kinematics(&self) -> Kinematics {
        let elements = self.mesh.elements();
        let [vnew, delv, vdov, length] = [0, 1, 2, 3].map(|_| Vec::with_capacity(elements));
        let mut kinematics = Kinematics { vnew, delv, vdov, length };
        for element in 0..elements {
            let mut p = self.corners(element, &self.place);
            let velocity = self.corners(element, &self.velocity);
            let volume = volume(&p);
            let relative = volume / self.mesh.volume[element];
            kinematics.vnew.push(relative);
            kinematics.delv.push(relative - self.v[element]);
            kinematics.length.push(characteristic_length(&p, volume));
            for (place, velocity) in p.iter_mut().flatten().zip(velocity.iter().flatten()) {
                *place -= velocity * (0.5 * self.clock.dt);
            }
            let (derivatives, jacobian) = shape_derivatives(&p);
            let [x, y, z] = velocity_gradient(&velocity, &derivatives, jacobian);
            kinematics.vdov.push(x + y + z);
        }
        kinematics
    }

    /// For each element, the linear part and the quadratic part of its viscosity.
    fn viscosities(&self, kinematics: &Kinematics) -> Vec<(f64, f64)> {
        let elements = 0..self.mesh.elements();
        let gradient = |element: usize| {
            let volume = self.mesh.volume[element] * kinematics.vnew[element];
            let p = self.corners(element, &self.place);
            viscosity_gradients(&p, &self.corners(element, &self.velocity), volume)
        };
        let gradients: Vec<_> = elements.clone().map(gradient).collect();
        let of = |element: usize| {
            let (delv, delx) = gradients[element];
            let phi = [0, 1, 2].map(|along| {
                let beyond = |face: usize| match self.mesh.neighbours[2 * along + face][element] {
                    edge::SYMMETRY => delv[along],
                    edge::FREE => 0.0,
                    other => gradients[other as usize].0[along],
                };
                material::limiter(delv[along], beyond(0), beyond(1))
            });
            let density = self.mesh.volume[element] / (self.mesh.volume[element] * kinematics.vnew[element]);
            material::viscosity(phi, delv, delx, density, kinematics.vdov[element])
        };
        elements.map(of).collect()
    }

    /// Updates the elements. Returns the two limits that they set to the next time step.
    fn update_elements(&mut self) -> (f64, f64) {
        let kinematics = self.kinematics();
        let viscosities = self.viscosities(&kinematics);
        let mut limits = (UNBOUNDED, UNBOUNDED);
        for (element, (linear, quadratic)) in viscosities.into_iter().enumerate() {
            let delv = kinematics.delv[element];
            let v = material::clamped_volume(kinematics.vnew[element]);
            let old = Old { e: self.e[element], p: self.p[element], q: self.q[element] };
            let (whole, half) = material::compressions(v, delv);
            let e = material::energy_half(old, delv);
            let p_half = material::pressure(e, half);
            let speed = material::sound_speed(e, material::half_volume(half), p_half.bvc, p_half.p);
            let q_half = material::viscous(delv, speed, linear, quadratic);
            let e = material::energy_whole(e, old, delv, p_half.p, q_half);
            let p = material::pressure(e, whole);
            let speed = material::sound_speed(e, v, p.bvc, p.p);
            let q = material::viscous(delv, speed, linear, quadratic);
            let e = material::energy_corrected(e, old, delv, (p_half.p, q_half), (p.p, q));
            let p = material::pressure(e, whole);
            let speed = material::sound_speed(e, v, p.bvc, p.p);
            (self.e[element], self.p[element]) = (e, p.p);
            self.q[element] = material::final_viscosity(delv, q_half, speed, linear, quadratic);
            self.speed[element] = speed;
            self.v[element] = material::settled_volume(kinematics.vnew[element]);
            let (courant, hydro) =
                material::time_limits(speed, kinematics.length[element], kinematics.vdov[element]);
            limits = (limits.0.min(courant), limits.1.min(hydro));
        }
        limits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For a cube with 5 elements along an edge, the authors of LULESH publish the number of steps
    /// and the final energy at the origin.
    #[test]
    fn the_blast_ends_with_the_published_energy() {
        let mut state = State::new(5);
        state.run(u64::MAX);
        assert_eq!((state.clock.cycle, format!("{:.6e}", state.e[0])), (72, "7.853665e3".to_owned()));
    }

    #[test]
    fn the_blast_is_symmetric_in_the_three_axes() {
        let mut state = State::new(4);
        state.run(20);
        let at = |x: usize, y: usize, z: usize| state.e[(z * 4 + y) * 4 + x];
        for (x, y, z) in [(1, 0, 0), (2, 1, 0), (3, 2, 1), (1, 1, 0)] {
            let all = [at(x, y, z), at(y, z, x), at(z, x, y), at(y, x, z)];
            assert!(all.iter().all(|e| (e - all[0]).abs() <= all[0].abs() * 1e-8), "{all:?}");
        }
    }
}
