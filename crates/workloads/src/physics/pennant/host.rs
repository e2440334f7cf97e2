//! The mesh of the Noh problem, and its solution on the host.

use super::zone::{
    self, Corner, Four, Pair, Start, compressions, corner_forces, geometry, side_forces, state_half,
    viscous_forces, work,
};

/// The energy per unit of mass of a zone at the start.
const COLD: f64 = 1e-9;
/// The length of the first time step.
const FIRST_STEP: f64 = 1e-4;

/// A square mesh: its points, and its zones with their sides and corners.
#[derive(Clone, Debug)]
pub(super) struct Mesh {
    pub(super) zones: usize,
    /// The points of each zone. Point `i` of zone `z` has the index `i * zones + z`.
    pub(super) points: Vec<u32>,
    /// For each point, the index in `corners` of its first corner.
    pub(super) first_corner: Vec<u32>,
    /// For each point, the corners of zones that lie at this point, as indices in `points`.
    pub(super) corners: Vec<u32>,
    /// The points on each of the axes x = 0 and y = 0.
    pub(super) axes: [Vec<u32>; 2],
    pub(super) place: [Vec<f64>; 2],
    pub(super) velocity: [Vec<f64>; 2],
    pub(super) area: Vec<f64>,
    /// For each side of a zone, the share of the zone's mass that belongs to this side.
    pub(super) fractions: Vec<f64>,
}

impl Mesh {
    /// The mesh of a quarter of the Noh problem: cold gas of density 1 that flows to the origin.
    pub(super) fn new(edge: usize) -> Mesh {
        let (side, zones) = (edge + 1, edge * edge);
        let mut points = vec![0; 4 * zones];
        for zone in 0..zones {
            let first = zone / edge * side + zone % edge;
            for (at, point) in [first, first + 1, first + side + 1, first + side].into_iter().enumerate() {
                points[at * zones + zone] = point as u32;
            }
        }
        let count = side * side;
        let along = |axis: usize, point: usize| [point % side, point / side][axis];
        let place =
            [0, 1].map(|axis| (0..count).map(|p| along(axis, p) as f64 / edge as f64).collect::<Vec<_>>());
        let velocity = [0, 1].map(|axis: usize| {
            let inward = |p: usize| {
                let radius = (place[0][p] * place[0][p] + place[1][p] * place[1][p]).sqrt();
                if radius > 0.0 { -place[axis][p] / radius } else { 0.0 }
            };
            (0..count).map(inward).collect()
        });
        let axes = [0, 1].map(|axis| (0..count).filter(|p| along(axis, *p) == 0).map(|p| p as u32).collect());
        let mut of_point = vec![Vec::new(); count];
        for zone in 0..zones {
            for at in (0..4).map(|corner| corner * zones + zone) {
                of_point[points[at] as usize].push(at as u32);
            }
        }
        let mut first_corner = vec![0];
        for corners in &of_point {
            first_corner.push(first_corner.last().copied().unwrap_or(0) + corners.len() as u32);
        }
        let corners = of_point.concat();
        let mut mesh = Mesh {
            zones,
            points,
            first_corner,
            corners,
            axes,
            place,
            velocity,
            area: Vec::new(),
            fractions: vec![0.0; 4 * zones],
        };
        for zone in 0..zones {
            let (areas, area, _) = geometry(&mesh.of_zone(zone, &mesh.place));
            mesh.area.push(area);
            (0..4).for_each(|side| mesh.fractions[side * zones + zone] = areas[side] / area);
        }
        mesh
    }

    /// The values in `of` at the four points of a zone.
    fn of_zone(&self, zone: usize, of: &[Vec<f64>; 2]) -> Four<f64> {
        core::array::from_fn(|at| {
            let point = self.points[at * self.zones + zone] as usize;
            [of[0][point], of[1][point]]
        })
    }
}

/// The length of the time step, and the number of steps so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    pub(super) dt: f64,
}

impl Clock {
    pub(super) fn new() -> Clock {
        Clock { dt: FIRST_STEP }
    }

    /// Chooses the length of the next time step from two results of the last step: the longest
    /// stable step, and the largest relative change of an area.
    pub(super) fn advance(&mut self, stable: f64, change: f64) {
        let by_area = if change > 0.0 { self.dt * 0.1 / change } else { f64::INFINITY };
        self.dt = (self.dt * 1.2).min(stable).min(by_area);
    }
}

/// The state of the problem as the host computes it.
#[derive(Debug)]
pub(super) struct State {
    mesh: Mesh,
    pub(super) place: [Vec<f64>; 2],
    pub(super) velocity: [Vec<f64>; 2],
    /// The total energy of each zone. The next field, `energy`, is the energy per unit of mass.
    pub(super) whole: Vec<f64>,
    pub(super) energy: Vec<f64>,
    pub(super) density: Vec<f64>,
    area: Vec<f64>,
    work_rate: Vec<f64>,
}

impl State {
    pub(super) fn new(edge: usize) -> State {
        let mesh = Mesh::new(edge);
        State {
            place: mesh.place.clone(),
            velocity: mesh.velocity.clone(),
            whole: mesh.area.iter().map(|mass| mass * COLD).collect(),
            energy: vec![COLD; mesh.zones],
            density: vec![1.0; mesh.zones],
            area: mesh.area.clone(),
            work_rate: vec![0.0; mesh.zones],
            mesh,
        }
    }

    pub(super) fn run(&mut self, steps: u64) {
        let mut clock = Clock::new();
        for _ in 0..steps {
            let (stable, change) = self.step(clock.dt);
            clock.advance(stable, change);
        }
    }

    /// Adds up the contributions of the zones around a point to this point. `part` computes the
    /// contribution of a zone's corner.
    fn sum(&self, point: usize, part: impl Fn(usize, usize) -> f64) -> f64 {
        let corners = self.mesh.first_corner[point]..self.mesh.first_corner[point + 1];
        let corners = corners.map(|at| self.mesh.corners[at as usize] as usize);
        corners.fold(0.0, |sum, at| sum + part(at % self.mesh.zones, at / self.mesh.zones))
    }

    fn step(&mut self, dt: f64) -> (f64, f64) {
        let zones = self.mesh.zones;
        let middle = [0, 1].map(|axis: usize| {
            let moves = |(x, u): (&f64, &f64)| x + u * (0.5 * dt);
            self.place[axis].iter().zip(&self.velocity[axis]).map(moves).collect::<Vec<_>>()
        });
        let fractions =
            |zone: usize| core::array::from_fn::<f64, 4, _>(|side| self.mesh.fractions[side * zones + zone]);
        let (mut forces, mut speeds) = (Vec::new(), Vec::new());
        for zone in 0..zones {
            let (p, u) = (self.mesh.of_zone(zone, &middle), self.mesh.of_zone(zone, &self.velocity));
            let (areas, area, _) = geometry(&p);
            let mass = self.mesh.area[zone];
            let start = Start {
                mass,
                energy: self.energy[zone],
                density: self.density[zone],
                area: self.area[zone],
                work_rate: self.work_rate[zone],
            };
            let (pressure, speed) = state_half(start, area, dt);
            let density = mass / area;
            let sides = side_forces(&p, fractions(zone), (areas, area), (pressure, density, speed));
            let corners: [Corner<f64>; 4] = compressions(&p, &u);
            let viscous = viscous_forces(&p, &u, &corners, (density, speed));
            let sides: Four<f64> =
                core::array::from_fn(|side| [0, 1].map(|axis| sides[side][axis] + viscous[side][axis]));
            forces.push(sides);
            speeds.push((pressure, speed));
        }
        let before = self.velocity.clone();
        for point in 0..self.place[0].len() {
            let mass = self.sum(point, |zone, corner| {
                let fractions = fractions(zone);
                self.mesh.area[zone] * 0.5 * (fractions[corner] + fractions[(corner + 3) % 4])
            });
            let force: Pair<f64> =
                [0, 1].map(|axis| self.sum(point, |zone, corner| corner_forces(&forces[zone])[corner][axis]));
            for axis in 0..2 {
                let is_fixed = self.mesh.axes[axis].contains(&(point as u32));
                let force = if is_fixed { 0.0 } else { force[axis] };
                let old = self.velocity[axis][point];
                let after = old + force / mass * dt;
                self.place[axis][point] += (old + after) * (0.5 * dt);
                self.velocity[axis][point] = after;
            }
        }
        self.update_zones(dt, &before, &forces, &speeds)
    }

    fn update_zones(
        &mut self,
        dt: f64,
        before: &[Vec<f64>; 2],
        forces: &[Four<f64>],
        speeds: &[(f64, f64)],
    ) -> (f64, f64) {
        let (mut stable, mut change) = (f64::INFINITY, 0.0_f64);
        for zone in 0..self.mesh.zones {
            let (p, u) = (self.mesh.of_zone(zone, &self.place), self.mesh.of_zone(zone, &self.velocity));
            let (_, area, width) = geometry(&p);
            let mass = self.mesh.area[zone];
            let work = work(&forces[zone], &self.mesh.of_zone(zone, before), &u, dt);
            let (pressure, speed) = speeds[zone];
            let old = core::mem::replace(&mut self.area[zone], area);
            self.whole[zone] += work;
            self.work_rate[zone] = (work + pressure * (area - old)) * (1.0 / dt);
            self.energy[zone] = self.whole[zone] / mass;
            self.density[zone] = mass / area;
            let (step, relative) = zone::limits(&p, &u, width, speed, (old, area));
            (stable, change) = (stable.min(step), change.max(relative));
        }
        (stable, change)
    }

    /// The sum of the kinetic energy of all points and the internal energy of all zones.
    #[cfg(test)]
    fn total_energy(&self) -> f64 {
        let zones = self.mesh.zones;
        let mass = |point: usize| {
            self.sum(point, |zone, corner| {
                let at = |side: usize| self.mesh.fractions[side * zones + zone];
                self.mesh.area[zone] * 0.5 * (at(corner) + at((corner + 3) % 4))
            })
        };
        let kinetic = |point: usize| {
            let square: f64 = self.velocity.iter().map(|u| u[point] * u[point]).sum();
            0.5 * mass(point) * square
        };
        (0..self.place[0].len()).map(kinetic).sum::<f64>() + self.whole.iter().sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The scheme conserves the total energy except for rounding errors. Momentum is lost only at
    /// the axes.
    #[test]
    fn energy_is_conserved_while_it_turns_into_heat() {
        let mut state = State::new(8);
        let (before, cold) = (state.total_energy(), state.whole.iter().sum::<f64>());
        state.run(60);
        let after = state.total_energy();
        assert!((after / before - 1.0).abs() < 1e-12, "{before} {after}");
        assert!(state.whole.iter().sum::<f64>() > 1e3 * cold);
        assert!(state.density[0] > 1.5, "{}", state.density[0]);
    }

    #[test]
    fn the_flow_is_symmetric_about_the_diagonal() {
        let mut state = State::new(6);
        state.run(30);
        for (x, y) in [(1, 0), (3, 2), (5, 1)] {
            let (here, there) = (state.density[y * 6 + x], state.density[x * 6 + y]);
            assert!((here - there).abs() < 1e-10, "{here} {there}");
        }
    }
}
