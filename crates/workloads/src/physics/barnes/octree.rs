//! The bodies, the geometry of an octree, and the simulation on the host.
//!
//! The host inserts the bodies one by one and walks the tree by recursion. Its formulas have the
//! same order of operations as those of the kernels, so that the results are equal in every bit.

use kernel::rng::Rng;

use crate::files::numbers::Table;

/// The gravity between two bodies is softened below a certain distance. This is the square of that
/// distance.
pub(super) const SOFTENING: f32 = 0.0025;
/// The length of a time step.
pub(super) const TIME_STEP: f32 = 0.025;
/// Half the length of a time step.
pub(super) const HALF_STEP: f32 = TIME_STEP * 0.5;

/// The bodies of a simulation.
#[derive(Clone, Debug, Default)]
pub(super) struct Bodies {
    pub(super) place: [Vec<f32>; 3],
    pub(super) velocity: [Vec<f32>; 3],
    pub(super) acceleration: [Vec<f32>; 3],
    pub(super) mass: Vec<f32>,
}

impl Bodies {
    /// Random bodies at rest, in a ball that is denser in the middle.
    pub(super) fn new(seed: u64, count: usize) -> Bodies {
        let mut rng = Rng::new(seed);
        let mut bodies = Bodies {
            velocity: [0, 1, 2].map(|_| vec![0.0; count]),
            acceleration: [0, 1, 2].map(|_| vec![0.0; count]),
            ..Bodies::default()
        };
        while bodies.mass.len() < count {
            let place = [0, 1, 2].map(|_| (rng.below(1 << 21) as f32 - (1 << 20) as f32) / (1 << 20) as f32);
            let square: f32 = place.iter().map(|p| p * p).sum();
            if square > 1.0 {
                continue;
            }
            for (places, p) in bodies.place.iter_mut().zip(place) {
                places.push(p * square);
            }
            bodies.mass.push(1.0 / count as f32);
        }
        bodies
    }

    /// The bodies in a table, at rest. Each row has the place and the mass of a body.
    pub(super) fn of_table(table: &Table) -> Bodies {
        let still = || [0, 1, 2].map(|_| vec![0.0; table.rows() as usize]);
        Bodies {
            place: [0, 1, 2].map(|axis| table.column(axis).collect()),
            velocity: still(),
            acceleration: still(),
            mass: table.column(3).collect(),
        }
    }

    /// The numbers of two bodies at the same place. `None` if all places are different.
    pub(super) fn at_one_place(&self) -> Option<(usize, usize)> {
        // Adding zero makes negative zero equal to positive zero.
        let place = |body: usize| self.place_of(body).map(|coordinate| (coordinate + 0.0).to_bits());
        let mut order: Vec<usize> = (0..self.mass.len()).collect();
        order.sort_by_key(|body| place(*body));
        order.windows(2).find(|pair| place(pair[0]) == place(pair[1])).map(|pair| (pair[0], pair[1]))
    }

    fn place_of(&self, body: usize) -> [f32; 3] {
        [0, 1, 2].map(|axis| self.place[axis][body])
    }
}

/// A cube: its centre and half its width.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cube {
    pub(super) centre: [f32; 3],
    pub(super) half: f32,
}

impl Cube {
    /// The cube around all bodies, from their smallest and their largest coordinates.
    pub(super) fn around(least: [f32; 3], most: [f32; 3]) -> Cube {
        let widths = [0, 1, 2].map(|axis| most[axis] - least[axis]);
        Cube {
            centre: [0, 1, 2].map(|axis| (least[axis] + most[axis]) * 0.5),
            half: widths[0].max(widths[1]).max(widths[2]) * 0.5,
        }
    }

    fn octant(&self, place: [f32; 3]) -> usize {
        (0..3).filter(|axis| self.centre[*axis] < place[*axis]).map(|axis| 1_usize << axis).sum()
    }

    fn child(&self, octant: usize) -> Cube {
        let half = self.half * 0.5;
        let centre = [0, 1, 2].map(|axis| match octant >> axis & 1 {
            0 => self.centre[axis] - half,
            _ => self.centre[axis] + half,
        });
        Cube { centre, half }
    }
}

/// A child of a cell: a body, a cell, or nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Child {
    None,
    Body(usize),
    Cell(usize),
}

#[derive(Clone, Debug)]
struct Cell {
    children: [Child; 8],
    place: [f32; 3],
    mass: f32,
}

const EMPTY_CELL: Cell = Cell { children: [Child::None; 8], place: [0.0; 3], mass: 0.0 };

/// The octree that the host builds.
struct Tree<'a> {
    bodies: &'a Bodies,
    cells: Vec<Cell>,
    root: Cube,
}

impl Tree<'_> {
    fn new(bodies: &Bodies) -> Tree<'_> {
        let least = [0, 1, 2].map(|axis| bodies.place[axis].iter().copied().fold(f32::INFINITY, f32::min));
        let most = [0, 1, 2].map(|axis| bodies.place[axis].iter().copied().fold(-f32::INFINITY, f32::max));
        let mut tree = Tree { bodies, cells: vec![EMPTY_CELL], root: Cube::around(least, most) };
        for body in 0..bodies.mass.len() {
            tree.insert(body, 0, tree.root);
        }
        tree.summarize(0);
        tree
    }

    fn insert(&mut self, body: usize, cell: usize, cube: Cube) {
        let octant = cube.octant(self.bodies.place_of(body));
        match self.cells[cell].children[octant] {
            Child::None => self.cells[cell].children[octant] = Child::Body(body),
            Child::Cell(child) => self.insert(body, child, cube.child(octant)),
            Child::Body(other) => {
                let child = self.cells.len();
                self.cells.push(EMPTY_CELL);
                self.cells[cell].children[octant] = Child::Cell(child);
                self.insert(other, child, cube.child(octant));
                self.insert(body, child, cube.child(octant));
            }
        }
    }

    /// The centre of mass and the mass of a child. `None` if the child does not exist.
    fn of_child(&self, child: Child) -> Option<([f32; 3], f32)> {
        match child {
            Child::None => None,
            Child::Body(body) => Some((self.bodies.place_of(body), self.bodies.mass[body])),
            Child::Cell(cell) => Some((self.cells[cell].place, self.cells[cell].mass)),
        }
    }

    fn summarize(&mut self, cell: usize) {
        let (mut place, mut mass) = ([0.0; 3], 0.0);
        for child in self.cells[cell].children {
            if let Child::Cell(child) = child {
                self.summarize(child);
            }
            if let Some((of_child, m)) = self.of_child(child) {
                mass += m;
                (0..3).for_each(|axis| place[axis] += of_child[axis] * m);
            }
        }
        self.cells[cell].place = place.map(|sum| sum / mass);
        self.cells[cell].mass = mass;
    }

    /// Adds to `sum` the gravity of a cell's children on a body at the place `at`. If a child is a
    /// cell and its squared distance is below `opening`, its own children are used instead.
    /// `opening` is the squared width of the child, divided by the square of the opening angle.
    fn gravity(&self, at: [f32; 3], cell: usize, opening: f32, sum: &mut [f32; 3]) {
        for child in self.cells[cell].children {
            let Some((place, mass)) = self.of_child(child) else { continue };
            let apart = [0, 1, 2].map(|axis| place[axis] - at[axis]);
            let square = apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2];
            match child {
                Child::Cell(inner) if square < opening => self.gravity(at, inner, opening * 0.25, sum),
                _ => {
                    let inverse = 1.0 / (square + SOFTENING).sqrt();
                    let factor = mass * inverse * inverse * inverse;
                    (0..3).for_each(|axis| sum[axis] += apart[axis] * factor);
                }
            }
        }
    }
}

/// The squared width of a child of the root, divided by the square of the opening angle.
/// `root_half` is half the width of the root.
pub(super) fn first_opening(root_half: f32, angle: f32) -> f32 {
    root_half * root_half / (angle * angle)
}

/// Simulates `steps` time steps on the host.
pub(super) fn simulate(bodies: &mut Bodies, angle: f32, steps: u64) {
    for step in 0..steps {
        let tree = Tree::new(bodies);
        let opening = first_opening(tree.root.half, angle);
        let forces: Vec<[f32; 3]> = (0..bodies.mass.len())
            .map(|body| {
                let mut sum = [0.0; 3];
                tree.gravity(bodies.place_of(body), 0, opening, &mut sum);
                sum
            })
            .collect();
        for (body, force) in forces.into_iter().enumerate() {
            for (axis, force) in force.into_iter().enumerate() {
                if step > 0 {
                    bodies.velocity[axis][body] += (force - bodies.acceleration[axis][body]) * HALF_STEP;
                }
                bodies.acceleration[axis][body] = force;
                let change = force * HALF_STEP;
                let half = bodies.velocity[axis][body] + change;
                bodies.place[axis][body] += half * TIME_STEP;
                bodies.velocity[axis][body] = half + change;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The gravity of all bodies on the body `at`, added one by one in double precision.
    fn direct(bodies: &Bodies, at: usize) -> [f64; 3] {
        let mut sum = [0.0; 3];
        for body in 0..bodies.mass.len() {
            let apart = [0, 1, 2].map(|axis| f64::from(bodies.place[axis][body] - bodies.place[axis][at]));
            let square: f64 = apart.iter().map(|a| a * a).sum::<f64>() + f64::from(SOFTENING);
            (0..3)
                .for_each(|axis| sum[axis] += f64::from(bodies.mass[body]) * apart[axis] / square.powf(1.5));
        }
        sum
    }

    #[test]
    fn the_tree_approximates_the_direct_sum_and_equals_it_for_a_small_angle() {
        let bodies = Bodies::new(5, 200);
        let tree = Tree::new(&bodies);
        for (angle, tolerance) in [(0.5, 0.02), (0.01, 1e-4)] {
            let (mut wrong, mut whole) = (0.0, 0.0);
            for body in 0..200 {
                let mut found = [0.0; 3];
                tree.gravity(bodies.place_of(body), 0, first_opening(tree.root.half, angle), &mut found);
                for (found, want) in found.into_iter().zip(direct(&bodies, body)) {
                    wrong += (f64::from(found) - want).abs();
                    whole += want.abs();
                }
            }
            assert!(wrong < tolerance * whole, "angle {angle}: {wrong} of {whole}");
        }
    }

    #[test]
    fn the_root_holds_the_mass_of_all_bodies() {
        let bodies = Bodies::new(1, 64);
        let tree = Tree::new(&bodies);
        assert!((tree.cells[0].mass - 1.0).abs() < 1e-5);
        assert!(tree.cells.len() < 2 * 64, "{} cells", tree.cells.len());
    }
}
