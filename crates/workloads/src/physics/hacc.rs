//! HACC: the short-range force of cosmological particles.
//!
//! The host sorts the particles into the cells of a chaining mesh, as HACC builds its tree on the
//! host. A cell is as wide as the range of the force, which is 3.116 grid spacings of the
//! long-range solver. A work-group of the kernel `short-force` computes a cell: it brings the
//! particles of this cell and its 26 neighbours through local memory, tile by tile. The force is
//! Newton's force, softened, minus the polynomial that the long-range solver covers. The kernel
//! `kick` then changes the velocities, and `stream` changes the places. These three kernels make
//! one substep. The particles are sorted anew after three substeps.
//!
//! The mesh is periodic: its opposite faces are adjacent.

use kernel::prelude::*;

use super::{all, grid_of};
use crate::data;
use crate::fault::{Fault, planted};
use crate::inputs::{NumberFile, NumberProgram};
use crate::instance::{Instance, Purpose, Room, Sizes, Workload};
use crate::settings::{Setting, Settings};

pub(crate) static HACC: Workload = Workload {
    name: "hacc",
    summary: "computes the short-range force between cosmological particles in a chaining mesh",
    origin: "HACC (SC 2012), short-range force; Dalmia's thesis (2023), Table 5.2",
    room: Room::Physics,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("particles", "150"), ("cells", "3"), ("steps", "1")],
        small: &[],
        // The thesis has 512 particles along an edge of the cube. The size `paper` is a small part
        // of that.
        paper: &[("particles", "32k"), ("cells", "8"), ("steps", "2")],
    },
    settings: &[
        Setting::count("particles", 2048, 1, 1 << 20, "number of particles"),
        Setting::count("cells", 4, 3, 64, "number of cells along an edge of the mesh"),
        Setting::count("steps", 1, 1, 100, "number of steps; the particles are sorted before each step"),
    ],
    make: |settings, seed| {
        let (count, cells) = (settings.count("particles"), settings.count("cells"));
        Ok(hacc(settings, move || Particles::random(seed, count, cells)))
    },
};

/// The number of work-items in a work-group. A tile in local memory has the same number of
/// particles.
const GROUP_ITEMS: u64 = 64;
/// The number of substeps after which the particles are sorted anew.
const SUBSTEPS: u64 = 3;
/// The change of velocity in a substep for one unit of force. The next constant, `STREAM`, is the
/// change of place for one unit of velocity.
const KICK: f32 = 1e-5;
const STREAM: f32 = 1e-2;
/// The square of the range of the force, which is 3.116326355 grid spacings of the long-range
/// solver. A cell is as wide as the range, so a squared distance in cell widths times this number
/// is a squared distance in grid spacings.
const RANGE_SQUARE: f32 = 9.711_49;
/// The softening of Newton's force: the square of a distance of 0.01 grid spacings.
const SOFTENING: f32 = 1e-4;
/// The coefficients of the long-range force, a polynomial in the squared distance in grid spacings,
/// as HACC fits it. At the range of the force, it equals Newton's force.
const LONG_RANGE: [f32; 6] =
    [0.269_327, -0.075_097_8, 0.011_480_8, -0.001_093_13, 0.000_060_549_1, -0.000_001_471_77];

/// The number by which a distance vector is multiplied to give the force. `square` is the squared
/// distance in cell widths.
fn factor(square: f32) -> f32 {
    let square = square * RANGE_SQUARE;
    let soft = square + SOFTENING;
    let newton = 1.0 / (soft * soft.sqrt());
    let long = LONG_RANGE.iter().rev().fold(0.0, |sum, coefficient| sum * square + coefficient);
    if square < RANGE_SQUARE { newton - long } else { 0.0 }
}

/// The particles, sorted by cell. Their places are in cell widths.
#[derive(Clone, Debug)]
struct Particles {
    place: [Vec<f32>; 3],
    velocity: [Vec<f32>; 3],
    /// The index of the first particle of each cell. The last entry is the number of particles.
    first: Vec<u32>,
}

impl Particles {
    fn random(seed: u64, count: u64, cells: u64) -> Particles {
        let axis = |axis: u64| {
            let values = data::floats(seed ^ axis << 56, count);
            values.into_iter().map(|value| (value + 1.0) * 0.5).collect()
        };
        Particles::at_rest([axis(1), axis(2), axis(3)], cells)
    }

    /// Particles at rest. The places in `place` are fractions of the width of the mesh.
    fn at_rest(place: [Vec<f32>; 3], cells: u64) -> Particles {
        let still = vec![0.0; place[0].len()];
        let in_cells = |value: f32| wrapped(value * cells as f32, cells);
        let mut particles = Particles {
            place: place.map(|axis| axis.into_iter().map(in_cells).collect()),
            velocity: [still.clone(), still.clone(), still],
            first: Vec::new(),
        };
        particles.sort(cells);
        particles
    }

    /// Sorts the particles by their cells. Particles of a cell keep their order.
    fn sort(&mut self, cells: u64) {
        let cell = |at: usize| {
            let [x, y, z] = [0, 1, 2].map(|axis| (self.place[axis][at] as u64).min(cells - 1));
            (z * cells + y) * cells + x
        };
        let of: Vec<u64> = (0..self.place[0].len()).map(cell).collect();
        let mut order: Vec<usize> = (0..of.len()).collect();
        order.sort_by_key(|at| of[*at]);
        for values in self.place.iter_mut().chain(&mut self.velocity) {
            *values = order.iter().map(|at| values[*at]).collect();
        }
        self.first = vec![0; (cells * cells * cells) as usize + 1];
        of.iter().for_each(|cell| self.first[*cell as usize + 1] += 1);
        (1..self.first.len()).for_each(|at| self.first[at] += self.first[at - 1]);
    }
}

/// The coordinate `value` after it is wrapped around into the periodic mesh.
fn wrapped(value: f32, cells: u64) -> f32 {
    let width = cells as f32;
    let above = if value < 0.0 { value + width } else { value };
    if above < width { above } else { above - width }
}

/// The 27 cells in and around a cell. Each has three shifts, which are added to the places of its
/// particles along the axes. A shift is not zero where the mesh wraps around.
fn around(cell: u64, cells: u64) -> impl Iterator<Item = (u64, [f32; 3])> {
    let place = [cell % cells, cell / cells % cells, cell / cells / cells];
    (0..27_u64).map(move |step| {
        let steps = [step % 3, step / 3 % 3, step / 9];
        let [x, y, z] = [0, 1, 2].map(|axis| (place[axis] + steps[axis] + cells - 1) % cells);
        let shift = [0, 1, 2].map(|axis| match (place[axis], steps[axis]) {
            (0, 0) => -(cells as f32),
            (last, 2) if last == cells - 1 => cells as f32,
            _ => 0.0,
        });
        ((z * cells + y) * cells + x, shift)
    })
}

#[derive(Clone, Copy)]
struct Arrays {
    cells: u64,
    place: [Array<f32>; 3],
    velocity: [Array<f32>; 3],
    force: [Array<f32>; 3],
    first: Array<u32>,
}

/// Computes the forces on the particles of one cell in each work-group. All wavefronts of the
/// work-group run the same rounds over particles, cells and tiles, so that all of them reach each
/// barrier.
async fn short_force(w: Wave, a: Arrays) {
    let cell = u64::from(w.work_group());
    let range = |cell: u64| [w.load(a.first, cell), w.load(a.first, cell + 1)];
    let [first, end] = all(range(cell)).await.map(u64::from);
    let here = u64::from(w.index() * w.lanes());
    let tile = [0, 1, 2].map(|axis| w.lds::<f32>(axis * 4 * GROUP_ITEMS as u32, GROUP_ITEMS as u32));
    let mut round = first;
    while round < end {
        let mine = w.below(round + here, end);
        let at = Unit(round + here);
        let place = all(a.place.map(|place| mine.load(place, at))).await;
        let mut sums = [Lanes::splat(0.0_f32); 3];
        for (other, shift) in around(cell, a.cells) {
            let [mut next, last] = all(range(other)).await.map(u64::from);
            while next < last {
                let theirs = w.below(next + here, last);
                let there = all(a.place.map(|place| theirs.load(place, Unit(next + here)))).await;
                for axis in 0..3 {
                    theirs.store(tile[axis], Unit(here), there[axis] + shift[axis]).await;
                }
                if !planted(Fault::MissingBarrier) {
                    w.barrier().await;
                }
                for particle in 0..(last - next).min(GROUP_ITEMS) {
                    let index = particle ^ u64::from(planted(Fault::WrongIndex));
                    let there = all(tile.map(|tile| w.load(tile, index))).await;
                    add_force(&mut sums, &place, there);
                }
                w.barrier().await;
                next += GROUP_ITEMS;
            }
        }
        for (array, sum) in a.force.into_iter().zip(sums) {
            mine.store(array, at, sum).await;
        }
        round += GROUP_ITEMS;
    }
}

/// Adds the force of one particle, at the place `there`, to the sums of all lanes.
fn add_force(sums: &mut [Lanes<f32>; 3], place: &[Lanes<f32>; 3], there: [f32; 3]) {
    let apart = [0, 1, 2].map(|axis| Lanes::splat(there[axis]) - place[axis]);
    let square = (apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2]) * RANGE_SQUARE;
    let soft = square + SOFTENING;
    let newton = Lanes::splat(1.0_f32) / (soft * soft.sqrt());
    let mut long = Lanes::splat(0.0_f32);
    for coefficient in LONG_RANGE.into_iter().rev() {
        long = long * square + coefficient;
    }
    let factor = Lanes::select(square.lt(RANGE_SQUARE), newton - long, 0.0);
    for (sum, apart) in sums.iter_mut().zip(apart) {
        *sum += apart * factor;
    }
}

/// Changes the velocities by the forces.
async fn kick(w: Wave, a: Arrays) {
    let base = w.first_item();
    let w = w.below(base, a.force[0].len());
    for axis in 0..3 {
        let [velocity, force] =
            all([a.velocity[axis], a.force[axis]].map(|array| w.load(array, Unit(base)))).await;
        w.store(a.velocity[axis], Unit(base), velocity + force * KICK).await;
    }
}

/// Changes the places by the velocities. If `wraps` is true, places beyond the periodic mesh are
/// wrapped around.
async fn stream(w: Wave, a: Arrays, wraps: bool) {
    let base = w.first_item();
    let w = w.below(base, a.force[0].len());
    for axis in 0..3 {
        let [place, velocity] =
            all([a.place[axis], a.velocity[axis]].map(|array| w.load(array, Unit(base)))).await;
        let mut place = place + velocity * STREAM;
        if wraps {
            let width = a.cells as f32;
            place = Lanes::select(place.lt(0.0), place + width, place);
            place = Lanes::select(place.lt(width), place, place - width);
        }
        w.store(a.place[axis], Unit(base), place).await;
    }
}

impl Arrays {
    fn alloc(host: &Host, count: u64, cells: u64) -> Arrays {
        let axes = |name: &str| ["x", "y", "z"].map(|axis| host.alloc(format!("{name}-{axis}"), count));
        let first = host.alloc("first", cells * cells * cells + 1);
        Arrays { cells, place: axes("place"), velocity: axes("velocity"), force: axes("force"), first }
    }

    async fn write(&self, host: &Host, particles: &Particles) {
        host.write(self.first, &particles.first).await;
        for axis in 0..3 {
            host.write(self.place[axis], &particles.place[axis]).await;
            host.write(self.velocity[axis], &particles.velocity[axis]).await;
        }
    }

    async fn substep(self, host: &Host, is_last: bool) {
        let shape = host.shape();
        let lds = 12 * GROUP_ITEMS as u32;
        let one = grid_of(&shape, GROUP_ITEMS, GROUP_ITEMS);
        let grid = Grid::new((self.first.len() - 1) as u32, one.waves).lds_bytes(lds);
        let kernel = Kernel::new("short-force", move |w| short_force(w, self))
            .uses(self.place.map(|array| array.read()))
            .uses(self.force.map(|array| array.write()))
            .uses([self.first.read()]);
        host.launch(kernel, grid).await;
        let grid = grid_of(&shape, self.force[0].len(), GROUP_ITEMS);
        let kernel = Kernel::new("kick", move |w| kick(w, self))
            .uses(self.force.map(|array| array.read().in_parts(GROUP_ITEMS)))
            .uses(self.velocity.map(|array| array.read_write().in_parts(GROUP_ITEMS)));
        host.launch(kernel, grid).await;
        let kernel = Kernel::new("stream", move |w| stream(w, self, is_last))
            .uses(self.velocity.map(|array| array.read().in_parts(GROUP_ITEMS)))
            .uses(self.place.map(|array| array.read_write().in_parts(GROUP_ITEMS)));
        host.launch(kernel, grid).await;
    }
}

async fn run(host: Host, mut particles: Particles, cells: u64, steps: u64) -> Answer {
    let arrays = Arrays::alloc(&host, particles.place[0].len() as u64, cells);
    for step in 0..steps {
        if step > 0 {
            particles.sort(cells);
        }
        arrays.write(&host, &particles).await;
        for substep in 0..SUBSTEPS {
            arrays.substep(&host, substep + 1 == SUBSTEPS).await;
        }
        for axis in 0..3 {
            particles.place[axis] = host.read(arrays.place[axis]).await;
            particles.velocity[axis] = host.read(arrays.velocity[axis]).await;
        }
    }
    let mut answer = Answer::new();
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
        answer = answer
            .with(name, &particles.place[axis])
            .with(format!("velocity-{name}"), &particles.velocity[axis]);
    }
    answer
}

impl Particles {
    /// The force on one particle, computed on the host.
    fn force(&self, at: usize, cell: u64, cells: u64) -> [f32; 3] {
        let mut sum = [0.0_f32; 3];
        for (other, shift) in around(cell, cells) {
            for particle in self.first[other as usize]..self.first[other as usize + 1] {
                let apart = [0, 1, 2]
                    .map(|axis| (self.place[axis][particle as usize] + shift[axis]) - self.place[axis][at]);
                let factor = factor(apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2]);
                (0..3).for_each(|axis| sum[axis] += apart[axis] * factor);
            }
        }
        sum
    }

    /// Simulates `steps` time steps on the host, particle by particle.
    fn simulate(&mut self, cells: u64, steps: u64) {
        for step in 0..steps {
            if step > 0 {
                self.sort(cells);
            }
            for substep in 0..SUBSTEPS {
                let mut forces = Vec::new();
                for cell in 0..cells * cells * cells {
                    for at in self.first[cell as usize]..self.first[cell as usize + 1] {
                        forces.push(self.force(at as usize, cell, cells));
                    }
                }
                for (at, force) in forces.into_iter().enumerate() {
                    for (axis, force) in force.into_iter().enumerate() {
                        self.velocity[axis][at] += force * KICK;
                        let place = self.place[axis][at] + self.velocity[axis][at] * STREAM;
                        let is_last = substep + 1 == SUBSTEPS;
                        self.place[axis][at] = if is_last { wrapped(place, cells) } else { place };
                    }
                }
            }
        }
    }
}

/// The form of the workload that reads its particles from a file.
pub(crate) const HACC_ON_FILES: NumberProgram = NumberProgram {
    workload: &HACC,
    files: |_| {
        let columns = (3, "x, y and z as fractions of the mesh");
        vec![NumberFile::new("particles", "particle", columns, 1..=1 << 20).within(0.0..=1.0)]
    },
    settings: &["particles"],
    make: |tables, settings, _| {
        let (table, cells) = (tables[0].clone(), settings.count("cells"));
        let place = move || [0, 1, 2].map(|axis| table.column(axis).collect());
        Ok(hacc(settings, move || Particles::at_rest(place(), cells)))
    },
};

fn hacc(settings: &Settings, particles: impl Fn() -> Particles + Clone + 'static) -> Instance {
    let (cells, steps) = (settings.count("cells"), settings.count("steps"));
    let of_program = particles.clone();
    let program = Program::new("hacc", move |host| run(host, of_program(), cells, steps));
    Instance::new(program, move |answer| {
        // The host adds the forces in the same order as the kernel, so all bits are equal.
        let mut particles = particles();
        particles.simulate(cells, steps);
        for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
            answer.expect(name, &particles.place[axis])?;
            answer.expect(&format!("velocity-{name}"), &particles.velocity[axis])?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::finds_with;

    /// The number by which a distance vector is multiplied to give the force, as the public source
    /// of HACC computes it in the kernel `Step10`. `square` is the squared distance in grid
    /// spacings.
    fn published(square: f64) -> f64 {
        let (ma0, ma1, ma2) = (0.269327, -0.0750978, 0.0114808);
        let (ma3, ma4, ma5) = (-0.00109313, 0.0000605491, -0.00000147177);
        let rsm = 0.01;
        (square + rsm * rsm).powf(-1.5)
            - (ma0 + square * (ma1 + square * (ma2 + square * (ma3 + square * (ma4 + square * ma5)))))
    }

    #[test]
    fn the_factor_is_that_of_the_public_source() {
        let range = 3.116326355_f64;
        for step in 1..1000 {
            let distance = range * f64::from(step) / 1000.0;
            let found = f64::from(factor((distance / range).powi(2) as f32));
            let want = published(distance * distance);
            assert!((found - want).abs() < want.abs() * 1e-5 + 1e-6, "{distance}: {found} {want}");
        }
    }

    #[test]
    fn the_force_ends_at_its_range_without_a_jump() {
        // At this distance, the factor of Newton's force alone is 0.033.
        assert!(factor(0.999_999).abs() < 5e-5, "{}", factor(0.999_999));
        assert_eq!((factor(1.0), factor(4.0)), (0.0, 0.0));
        assert!(factor(0.25) > 0.05, "{}", factor(0.25));
    }

    #[test]
    fn the_force_is_that_of_all_pairs_within_range() {
        let cells = 3;
        let particles = Particles::random(4, 80, cells);
        let of_cell = |at: u32| particles.first.iter().rposition(|first| *first <= at).unwrap_or(0) as u64;
        for at in 0..80 {
            let mut sum = [0.0_f64; 3];
            for other in 0..80 {
                // Because the mesh is periodic, the nearest image of the other particle counts.
                let apart = [0, 1, 2].map(|axis| {
                    let apart = f64::from(particles.place[axis][other] - particles.place[axis][at as usize]);
                    apart - (apart / cells as f64).round() * cells as f64
                });
                let square: f64 = apart.iter().map(|a| a * a).sum();
                (0..3).for_each(|axis| sum[axis] += apart[axis] * f64::from(factor(square as f32)));
            }
            let found = particles.force(at as usize, of_cell(at), cells);
            for (found, want) in found.into_iter().zip(sum) {
                assert!((f64::from(found) - want).abs() < 1e-2 + want.abs() * 1e-3, "{at}: {found} {want}");
            }
        }
    }

    #[test]
    fn the_check_finds_a_wrong_index_and_a_missing_barrier() {
        // Both wavefronts of a work-group must have particles, so that each fault has an effect.
        for fault in [Fault::WrongIndex, Fault::MissingBarrier] {
            assert!(finds_with(&HACC, &[("particles", "1500"), ("cells", "3")], fault), "{fault:?}");
        }
    }

    #[test]
    fn sorted_particles_lie_in_their_cells() {
        let particles = Particles::random(9, 100, 4);
        assert_eq!(particles.first.last(), Some(&100));
        for cell in 0..64_u32 {
            for at in particles.first[cell as usize]..particles.first[cell as usize + 1] {
                let [x, y, z] = [0, 1, 2].map(|axis| particles.place[axis][at as usize] as u32);
                assert_eq!((z * 4 + y) * 4 + x, cell);
            }
        }
    }
}
