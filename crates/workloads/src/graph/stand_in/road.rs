//! The stand-ins (generated replacements) for the road networks of the 9th DIMACS implementation
//! challenge.
//!
//! Original: from the TIGER/Line files of the US Census Bureau of the year 2000.
//! Vertices are crossings, ends and bends. The graph is nearly planar and
//! connected, with each road in both directions. The two networks nearest in
//! size with published statistics (NW and CAL, KONECT) have out-degrees of at
//! most 9 and 7, a Gini coefficient of the degrees of 0.22 and 0.21, a
//! clustering coefficient of 0.027 and 0.025, and diameters of 1,994 and 2,315
//! hops: 1.8 and 1.7 times the square root of the vertices. Lengths in the whole
//! USA are 1 to 368,885, with a mean of 2,949, a median of 1,447 and a deviation
//! of 4,074 (GAP benchmark). The numbering follows the map, so neighbours are
//! near in memory.
//!
//! Generator: it places crossings on a square lattice, with a diagonal in each cell. It keeps a
//! sparse net of long straight roads, which determines the diameter. It adds a random spanning
//! tree, and further roads until the number of edges is right; few of these are diagonals. Vertices
//! are numbered along a Hilbert curve of tiles. The length of a road is a product of three random
//! factors: one of the road, one of its neighbourhood and one of its region, because roads in towns
//! are short.

use kernel::rng::Rng;

use super::super::Csr;
use super::Size;
use super::draw::{exp2, normal, shuffle};
use super::edges::graph_of;
use crate::data::mix;

/// The number of lattice cells from one long road to the next.
const LONG_ROADS_APART: u32 = 12;
/// One of this many diagonals counts as a street. The generator selects streets before all other
/// diagonals.
const DIAGONALS_ONE_IN: u64 = 16;
const LENGTH_MEDIAN: f64 = 1447.0;
const LENGTH_MAX: f64 = 368_885.0;

struct Lattice {
    width: u32,
    vertices: u32,
    seed: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum RoadClass {
    Long,
    Street,
    Diagonal,
}

pub(super) fn generate(size: Size, seed: u64) -> Csr {
    let width = f64::from(size.vertices).sqrt().ceil() as u32;
    let lattice = Lattice { width, vertices: size.vertices, seed };
    let mut rng = Rng::new(seed);
    let edges = lattice.roads(size.edges, &mut rng);
    let number = lattice.numbers();
    let mut cell = vec![0; number.len()];
    for (from, &to) in (0..).zip(&number) {
        cell[to as usize] = from;
    }
    let edges: Vec<(u32, u32)> =
        edges.into_iter().map(|(u, v)| (number[u as usize], number[v as usize])).collect();
    let length = |u: u32, v: u32| lattice.length(cell[u as usize], cell[v as usize]);
    graph_of(size.vertices, &edges, Some(&length))
}

impl Lattice {
    /// All possible roads, in the order in which the generator considers them.
    fn candidates(&self, rng: &mut Rng) -> Vec<(RoadClass, (u32, u32))> {
        let mut all = Vec::with_capacity(3 * self.vertices as usize);
        for cell in 0..self.vertices {
            let (x, y) = (cell % self.width, cell / self.width);
            let long = |along: u32| {
                if along % LONG_ROADS_APART == LONG_ROADS_APART / 2 {
                    RoadClass::Long
                } else {
                    RoadClass::Street
                }
            };
            let mut try_road = |class, from: u32, to: u32| {
                if from < self.vertices && to < self.vertices {
                    all.push((class, (from, to)));
                }
            };
            if x + 1 < self.width {
                try_road(long(y), cell, cell + 1);
            }
            try_road(long(x), cell, cell + self.width);
            if x + 1 < self.width {
                let class =
                    if rng.below(DIAGONALS_ONE_IN) == 0 { RoadClass::Street } else { RoadClass::Diagonal };
                if rng.below(2) == 0 {
                    try_road(class, cell, cell + self.width + 1);
                } else {
                    try_road(class, cell + 1, cell + self.width);
                }
            }
        }
        shuffle(&mut all, rng);
        all.sort_by_key(|(class, _)| *class);
        all
    }

    /// The roads of the network: the long roads, a spanning tree, and further roads until there are
    /// `count`.
    fn roads(&self, count: usize, rng: &mut Rng) -> Vec<(u32, u32)> {
        let mut trees = Forest::new(self.vertices);
        let (mut roads, mut spare) = (Vec::with_capacity(count), Vec::new());
        for (class, road) in self.candidates(rng) {
            if trees.join(road.0, road.1) || class == RoadClass::Long {
                roads.push(road);
            } else {
                spare.push(road);
            }
        }
        let missing = count.saturating_sub(roads.len());
        roads.extend(spare.into_iter().take(missing));
        roads
    }

    /// The number of each cell. Tiles are numbered along a Hilbert curve, and cells row by row
    /// within a tile.
    fn numbers(&self) -> Vec<u32> {
        const TILE: u32 = 8;
        let side = self.width.div_ceil(TILE).next_power_of_two();
        let mut order: Vec<(u64, u32)> = (0..self.vertices)
            .map(|cell| {
                let (x, y) = (cell % self.width, cell / self.width);
                (hilbert(side, x / TILE, y / TILE), cell)
            })
            .collect();
        order.sort_unstable();
        let mut number = vec![0; order.len()];
        for (to, (_, cell)) in (0..).zip(order) {
            number[cell as usize] = to;
        }
        number
    }

    /// The length of the road between the cells `u` and `v`.
    fn length(&self, u: u32, v: u32) -> u32 {
        const NEIGHBOURHOOD: u32 = 16;
        const REGION: u32 = 96;
        let (from, to) = (u.min(v), u.max(v));
        let factor = |level: u64, a: u32, b: u32| {
            let key = self.seed ^ u64::from(mix(a)) << 32 ^ u64::from(mix(b ^ 0x5bd1_e995)) ^ level << 60;
            normal(&mut Rng::new(key))
        };
        let tile = |cell: u32, side: u32| (cell % self.width / side, cell / self.width / side);
        let (near, far) = (tile(from, NEIGHBOURHOOD), tile(from, REGION));
        // The squares of these coefficients add up to the variance of the binary logarithm of a
        // length.
        let spread =
            1.15 * factor(1, from, to) + 0.8 * factor(2, near.0, near.1) + 0.8 * factor(3, far.0, far.1);
        (LENGTH_MEDIAN * exp2(spread)).clamp(1.0, LENGTH_MAX).round() as u32
    }
}

/// The position of the cell in column `x` and row `y` on the Hilbert curve through a square of side
/// `side`.
fn hilbert(side: u32, x: u32, y: u32) -> u64 {
    let (mut x, mut y, mut along) = (x, y, 0u64);
    let mut s = side / 2;
    while s > 0 {
        let (right, up) = (u32::from(x & s > 0), u32::from(y & s > 0));
        along += u64::from(s) * u64::from(s) * u64::from((3 * right) ^ up);
        if up == 0 {
            if right == 1 {
                (x, y) = (side - 1 - x, side - 1 - y);
            }
            (x, y) = (y, x);
        }
        s /= 2;
    }
    along
}

/// A spanning forest: for each vertex, a parent in its tree. This is union-find with path halving.
struct Forest(Vec<u32>);

impl Forest {
    fn new(vertices: u32) -> Self {
        Forest((0..vertices).collect())
    }

    fn root(&mut self, mut v: u32) -> u32 {
        while self.0[v as usize] != v {
            let above = self.0[self.0[v as usize] as usize];
            self.0[v as usize] = above;
            v = above;
        }
        v
    }

    /// Joins the trees of two vertices. Returns false if both vertices are in the same tree.
    fn join(&mut self, u: u32, v: u32) -> bool {
        let (u, v) = (self.root(u), self.root(v));
        // The smaller root becomes the root of both trees. The roads are shuffled, so any choice is
        // as good.
        self.0[u.max(v) as usize] = u.min(v);
        u != v
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_visits_each_cell_once_and_steps_to_a_neighbour() {
        let mut cells: Vec<(u64, u32, u32)> =
            (0..16).flat_map(|x| (0..16).map(move |y| (hilbert(16, x, y), x, y))).collect();
        cells.sort_unstable();
        assert!(cells.iter().map(|cell| cell.0).eq(0..256));
        assert!(
            cells.windows(2).all(|pair| pair[0].1.abs_diff(pair[1].1) + pair[0].2.abs_diff(pair[1].2) == 1)
        );
    }
}
