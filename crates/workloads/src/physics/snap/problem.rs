//! The problem of SNAP, and its solution on the host.
//!
//! Space is a box of cells with vacuum around it. A direction is one of eight octants and an angle
//! within this octant. Energy is divided into groups. Each cell emits particles. The cells in the
//! middle scatter more particles than the others.

/// The size of a problem.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    /// The number of cells along x, which is also the number along y.
    pub(super) cells: usize,
    /// The number of cells along z.
    pub(super) layers: usize,
    /// The number of energy groups.
    pub(super) groups: usize,
    /// The number of angles in an octant.
    pub(super) angles: usize,
    /// The number of time steps.
    pub(super) steps: u64,
    /// The maximum number of outer iterations in a time step.
    pub(super) outers: u64,
    /// The maximum number of inner iterations in an outer iteration.
    pub(super) inners: u64,
    /// The inner iterations end after one whose largest relative change of the flux is at most this
    /// number. If that is the first inner iteration, the outer iterations end too.
    pub(super) tolerance: f64,
}

/// The length of a time step times the speed of the first energy group, divided by two.
const TIME_STEP: f64 = 0.1;
/// The length of the box along x.
const EDGE: f64 = 1.0;
/// The number of particles that a unit of volume emits in each energy group.
const EMISSION: f64 = 1.0;

/// The cross sections and directions of a problem.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    pub(super) size: Size,
    /// The total cross section for each energy group and cell.
    pub(super) total: Vec<f64>,
    /// The emission in each energy group and cell.
    pub(super) emission: Vec<f64>,
    /// The scattering from one energy group to another in each material, with the indices
    /// `[material][from][to]`.
    pub(super) scattering: Vec<f64>,
    /// The material of each cell.
    pub(super) material: Vec<u32>,
    /// For x, y and z: the cosine of each angle, divided by half the width of a cell.
    pub(super) cosines: [Vec<f64>; 3],
    /// For each energy group, the inverse of the speed of its particles, divided by half a time
    /// step.
    pub(super) slowness: Vec<f64>,
    /// The weight of each direction in the sum over all directions.
    pub(super) weight: f64,
}

impl Size {
    /// The number of cells.
    pub(super) fn volume(&self) -> usize {
        self.cells * self.cells * self.layers
    }

    /// The number of cells along each axis.
    pub(super) fn extents(&self) -> [usize; 3] {
        [self.cells, self.cells, self.layers]
    }

    /// The number of cells on the largest face of the box.
    pub(super) fn face(&self) -> usize {
        self.cells * self.cells.max(self.layers)
    }

    /// The number of pairs of an energy group and an angle.
    pub(super) fn pairs(&self) -> usize {
        self.groups * self.angles
    }

    /// The number of a cell. `steps` are the steps along the axes from the corner in which the
    /// sweep of an octant begins.
    pub(super) fn cell(&self, octant: usize, steps: [usize; 3]) -> usize {
        let place = |axis: usize| match octant >> axis & 1 {
            0 => steps[axis],
            _ => self.extents()[axis] - 1 - steps[axis],
        };
        (place(2) * self.cells + place(1)) * self.cells + place(0)
    }

    /// The planes of a sweep, in order. A plane is the set of cells whose steps, from the corner in
    /// which the sweep begins, have the same sum.
    pub(super) fn planes(&self) -> Vec<Vec<[usize; 3]>> {
        let mut planes = vec![Vec::new(); 2 * self.cells + self.layers - 2];
        for z in 0..self.layers {
            for y in 0..self.cells {
                for x in 0..self.cells {
                    planes[x + y + z].push([x, y, z]);
                }
            }
        }
        planes
    }
}

impl Problem {
    pub(super) fn new(size: Size) -> Problem {
        let Size { cells, groups, angles, .. } = size;
        let is_inner = |(at, cells): (usize, usize)| at >= cells / 4 && at < cells - cells / 4;
        let material = (0..size.volume()).map(|cell| {
            let place = [cell % cells, cell / cells % cells, cell / cells / cells];
            u32::from(cells > 2 && place.into_iter().zip(size.extents()).all(is_inner))
        });
        let material: Vec<u32> = material.collect();
        // The materials are those of SNAP: their total and scattering cross sections grow slowly
        // with the number of the energy group.
        let grows = |first: f64, group: usize| first + 0.01 * group as f64;
        let total = (0..groups).flat_map(|group| {
            let of = |material: &u32| grows([1.0, 2.0][*material as usize], group);
            material.iter().map(of).collect::<Vec<_>>()
        });
        let mut scattering = Vec::new();
        for first in [0.5, 1.2] {
            for from in 0..groups {
                let whole = grows(first, from);
                scattering.extend((0..groups).map(|to| whole * scatter_share(groups, from, to)));
            }
        }
        let width = EDGE / cells as f64;
        let step = 1.0 / angles as f64;
        let mu = |angle: usize| (angle as f64 + 0.5) * step;
        let eta = |angle: usize| 1.0 - mu(angle);
        let xi = |angle: usize| (1.0 - mu(angle) * mu(angle) - eta(angle) * eta(angle)).sqrt();
        let along = |cosine: &dyn Fn(usize) -> f64| (0..angles).map(|a| 2.0 * cosine(a) / width).collect();
        Problem {
            size,
            total: total.collect(),
            emission: vec![EMISSION; groups * size.volume()],
            scattering,
            cosines: [along(&mu), along(&eta), along(&xi)],
            slowness: (0..groups).map(|group| 2.0 / (TIME_STEP * (groups - group) as f64)).collect(),
            weight: 0.125 / angles as f64,
            material,
        }
    }

    /// For each energy group and cell: the particles emitted there, and the particles scattered
    /// into this energy group from the others.
    fn outer_source(&self, flux: &[f64]) -> Vec<f64> {
        let (volume, groups) = (self.size.volume(), self.size.groups);
        let of = |at: usize| {
            let (to, cell) = (at / volume, at % volume);
            let first = self.material[cell] as usize * groups * groups;
            let others = (0..groups).filter(|from| *from != to);
            others.fold(self.emission[at], |sum, from| {
                sum + self.scattering[first + from * groups + to] * flux[from * volume + cell]
            })
        };
        (0..groups * volume).map(of).collect()
    }

    /// Computes the angular fluxes of all octants at the end of a time step, `after`, from those at
    /// its beginning, `before`.
    fn sweep(&self, source: &[f64], before: &[f64], after: &mut [f64]) {
        let Size { cells, angles, .. } = self.size;
        let (volume, pairs) = (self.size.volume(), self.size.pairs());
        for octant in 0..8 {
            for pair in 0..pairs {
                let (group, angle) = (pair / angles, pair % angles);
                let cosines = [0, 1, 2].map(|axis| self.cosines[axis][angle]);
                let mut faces = [0, 1, 2].map(|_| vec![0.0; self.size.face()]);
                for at in 0..volume {
                    let steps = [at % cells, at / cells % cells, at / cells / cells];
                    let [x, y, z] = steps;
                    let entries = [z * cells + y, z * cells + x, y * cells + x];
                    let cell = self.size.cell(octant, steps);
                    let end = (octant * volume + cell) * pairs + pair;
                    let at_group = group * volume + cell;
                    let incoming = [0, 1, 2].map(|axis| faces[axis][entries[axis]]);
                    let ingoing = before[end];
                    let slowness = self.slowness[group];
                    let sum = source[at_group]
                        + incoming[0] * cosines[0]
                        + incoming[1] * cosines[1]
                        + incoming[2] * cosines[2]
                        + ingoing * slowness;
                    let psi = sum / (self.total[at_group] + cosines[0] + cosines[1] + cosines[2] + slowness);
                    for axis in 0..3 {
                        faces[axis][entries[axis]] = 2.0 * psi - incoming[axis];
                    }
                    after[end] = 2.0 * psi - ingoing;
                }
            }
        }
    }

    /// The flux in each energy group and cell: the weighted sum over all directions.
    fn scalar_flux(&self, before: &[f64], after: &[f64]) -> Vec<f64> {
        let (volume, angles, pairs) = (self.size.volume(), self.size.angles, self.size.pairs());
        let of = |at: usize| {
            let (group, cell) = (at / volume, at % volume);
            let mut sum = 0.0;
            for octant in 0..8 {
                for angle in 0..angles {
                    let end = (octant * volume + cell) * pairs + group * angles + angle;
                    sum += (before[end] + after[end]) * 0.5;
                }
            }
            sum * self.weight
        };
        (0..self.size.groups * volume).map(of).collect()
    }

    /// Solves the problem on the host. Returns the flux, and the number of sweeps.
    pub(super) fn solve(&self) -> (Vec<f64>, u64) {
        let Size { steps, outers, inners, groups, tolerance, .. } = self.size;
        let volume = self.size.volume();
        let mut flux = vec![0.0; groups * volume];
        let mut before = vec![0.0; 8 * volume * self.size.pairs()];
        let (mut after, mut sweeps) = (before.clone(), 0);
        for _ in 0..steps {
            'outer: for _ in 0..outers {
                let outer = self.outer_source(&flux);
                for inner in 0..inners {
                    let within = |(at, outer): (usize, &f64)| {
                        let (group, material) = (at / volume, self.material[at % volume] as usize);
                        let scattering = self.scattering[(material * groups + group) * groups + group];
                        outer + scattering * flux[at]
                    };
                    let source: Vec<f64> = outer.iter().enumerate().map(within).collect();
                    self.sweep(&source, &before, &mut after);
                    sweeps += 1;
                    let next = self.scalar_flux(&before, &after);
                    let change = flux.iter().zip(&next).map(|(old, new)| relative_change(*old, *new));
                    let change = change.fold(0.0, f64::max);
                    flux = next;
                    match (change <= tolerance, inner) {
                        (true, 0) => break 'outer,
                        (true, _) => break,
                        _ => {}
                    }
                }
            }
            core::mem::swap(&mut before, &mut after);
        }
        (flux, sweeps)
    }
}

/// The absolute value of the relative change from `old` to `new`. `new` must not be zero.
pub(super) fn relative_change(old: f64, new: f64) -> f64 {
    ((new - old) / new).abs()
}

/// The share of the particles scattered in energy group `from` that go to energy group `to`. A
/// fifth of the particles stays in its group, a tenth gains energy, and the rest loses energy. In
/// the first and the last group, the particles for which there is no further group stay too.
fn scatter_share(groups: usize, from: usize, to: usize) -> f64 {
    let (up, down) = (from, groups - 1 - from);
    let stays = 0.2 + if up == 0 { 0.1 } else { 0.0 } + if down == 0 { 0.7 } else { 0.0 };
    match to.cmp(&from) {
        core::cmp::Ordering::Equal => stays,
        core::cmp::Ordering::Less => 0.1 / up as f64,
        core::cmp::Ordering::Greater => 0.7 / down as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size =
        Size { cells: 4, layers: 4, groups: 3, angles: 4, steps: 2, outers: 20, inners: 3, tolerance: 1e-4 };

    #[test]
    fn the_planes_hold_each_cell_once_and_only_cells_that_do_not_depend_on_each_other() {
        let planes = SIZE.planes();
        assert_eq!((planes.len(), planes.iter().map(Vec::len).sum::<usize>()), (10, 64));
        assert_eq!((planes[0].len(), planes[1].len(), planes[9].len()), (1, 3, 1));
        for octant in 0..8 {
            let mut cells: Vec<_> = planes.iter().flatten().map(|steps| SIZE.cell(octant, *steps)).collect();
            cells.sort_unstable();
            assert!(cells.into_iter().eq(0..64));
        }
    }

    #[test]
    fn the_planes_of_a_flat_and_of_a_high_box_hold_each_cell_once() {
        for layers in [1, 3, 7] {
            let size = Size { layers, ..SIZE };
            for octant in 0..8 {
                let mut cells: Vec<_> =
                    size.planes().iter().flatten().map(|steps| size.cell(octant, *steps)).collect();
                cells.sort_unstable();
                assert!(cells.into_iter().eq(0..16 * layers));
            }
        }
    }

    #[test]
    fn all_scattered_particles_go_somewhere() {
        for groups in 1..5 {
            for from in 0..groups {
                let sum: f64 = (0..groups).map(|to| scatter_share(groups, from, to)).sum();
                assert!((sum - 1.0).abs() < 1e-12, "{groups} {from}");
            }
        }
    }

    #[test]
    fn the_flux_of_one_cell_is_its_closed_form() {
        let size = Size { cells: 1, layers: 1, groups: 1, angles: 1, steps: 1, outers: 1, inners: 1, ..SIZE };
        let (flux, sweeps) = Problem::new(size).solve();
        // There is one angle with the cosines 1/2, 1/2 and sqrt(1/2). No particles come in, and the
        // slowness is 20.
        let psi = 1.0 / (1.0 + 1.0 + 1.0 + 2.0 * 0.5_f64.sqrt() + 20.0);
        assert!((flux[0] - psi).abs() < 1e-15, "{} {psi}", flux[0]);
        assert_eq!(sweeps, 1);
    }

    #[test]
    fn the_flux_converges_and_is_symmetric_by_reflection() {
        let (flux, sweeps) = Problem::new(SIZE).solve();
        assert!(sweeps < 2 * 20 * 3, "{sweeps} sweeps");
        let at = |group: usize, x: usize, y: usize, z: usize| flux[group * 64 + (z * 4 + y) * 4 + x];
        for group in 0..3 {
            for (x, y, z) in [(0, 1, 2), (1, 0, 0), (0, 0, 0)] {
                let (here, there) = (at(group, x, y, z), at(group, 3 - x, 3 - y, 3 - z));
                assert!((here - there).abs() <= here * 1e-12, "{here} {there}");
            }
            assert!(at(group, 1, 1, 1) > at(group, 0, 0, 0));
        }
    }
}
