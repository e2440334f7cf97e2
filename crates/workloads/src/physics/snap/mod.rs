//! SNAP: the sweeps of discrete-ordinates particle transport.
//!
//! Energy is divided into groups. An outer iteration computes the scattering from each group to the
//! others. An inner iteration computes the scattering within each group, and then the sweep
//! computes the angular flux. For each of the eight octants of directions, the sweep starts at one
//! corner of the box and visits one plane of cells after the other. Each plane is a launch. A
//! work-item computes one angle and group of a cell by diamond differences. The fluxes on the faces
//! of cells are stored in memory. A kernel sums the angular fluxes of all directions, and the host
//! decides whether another iteration follows.
//!
//! Scattering is isotropic, and negative fluxes are not corrected.

mod problem;

use kernel::prelude::*;

use super::{all, grid_of};
use crate::instance::{Instance, Purpose, Room, Sizes, Workload};
use crate::settings::{Setting, Settings};
use problem::{Problem, Size, relative_change};

pub(crate) static SNAPC: Workload = Workload {
    name: "snapc",
    summary: "sweeps of discrete-ordinates particle transport, a launch for each plane of cells",
    origin: "SNAP (LANL); STC paper (TACO 2023), section 7",
    room: Room::Physics,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[
            ("cells", "3"),
            ("layers", "3"),
            ("groups", "2"),
            ("angles", "3"),
            ("outers", "2"),
            ("inners", "1"),
        ],
        small: &[],
        // The STC paper counts 2,992 launches in a time step, but does not describe the problem. A
        // sweep of this box takes 8 x 23 launches, the rest of an outer iteration takes 3, and 16
        // outer iterations take 2,992. The tolerance is smaller than the change in the last
        // iteration.
        paper: &[
            ("cells", "8"),
            ("layers", "9"),
            ("groups", "16"),
            ("angles", "16"),
            ("outers", "16"),
            ("inners", "1"),
            ("digits", "14"),
        ],
    },
    settings: &[
        Setting::count("cells", 5, 1, 64, "number of cells along each of two edges of the box"),
        Setting::count("layers", 5, 1, 64, "number of cells along the third edge of the box"),
        Setting::count("groups", 4, 1, 64, "number of energy groups"),
        Setting::count("angles", 6, 1, 256, "number of angles of an octant"),
        Setting::count("steps", 1, 1, 100, "number of time steps"),
        Setting::count("outers", 2, 1, 100, "maximum number of outer iterations of a time step"),
        Setting::count("inners", 2, 1, 100, "maximum number of inner iterations of an outer iteration"),
        Setting::count(
            "digits",
            4,
            1,
            15,
            "the iterations end at a relative change of 10^-N, where N is this number",
        ),
    ],
    make: |settings, _| {
        let names = ["cells", "layers", "groups", "angles"];
        let [cells, layers, groups, angles] = names.map(|name| settings.count(name));
        // The arrays are the fluxes of all directions of the eight octants, before and after a time
        // step.
        settings.limit_arrays(&names, 2 * 8 * 8 * cells.pow(2) * layers * groups * angles)?;
        Ok(snapc(settings))
    },
};

/// The number of work-items in a work-group.
const GROUP_ITEMS: u64 = 64;

/// The arrays of a problem. An array of groups has one entry for each energy group and cell.
#[derive(Clone, Copy)]
struct Arrays {
    cells: u32,
    layers: u32,
    groups: u32,
    angles: u32,
    total: Array<f64>,
    emission: Array<f64>,
    scattering: Array<f64>,
    material: Array<u32>,
    cosines: [Array<f64>; 3],
    slowness: Array<f64>,
    /// The cells in the order in which a sweep visits them, plane by plane. An entry has the steps
    /// from the corner where the sweep starts to the cell along the three axes, with ten bits for
    /// each axis.
    planes: Array<u32>,
    outer: Array<f64>,
    source: Array<f64>,
    flux: Array<f64>,
    flux_before: Array<f64>,
    /// For each wavefront, the largest relative change of the flux in its cells.
    change: Array<f64>,
    /// The fluxes on the faces of cells along each axis, for each energy group and angle.
    faces: [Array<f64>; 3],
}

impl Arrays {
    fn volume(&self) -> u32 {
        self.cells * self.cells * self.layers
    }
}

/// The scattering from energy group `from` to energy group `to`, in the material of each lane's
/// cell.
async fn scattering(
    w: &Wave,
    a: &Arrays,
    material: Lanes<u32>,
    from: Lanes<u32>,
    to: Lanes<u32>,
) -> Lanes<f64> {
    w.load(a.scattering, (material * a.groups + from) * a.groups + to).await
}

/// Computes the source of an outer iteration: the emission, plus the scattering from the other
/// energy groups.
async fn outer_source(w: Wave, a: Arrays) {
    let base = w.first_item();
    let w = w.below(base, a.outer.len());
    let (to, cell) = (w.item() / a.volume(), w.item() % a.volume());
    let (sum, material) = (w.load(a.emission, Unit(base)), w.load(a.material, cell));
    let (mut sum, material) = (sum.await, material.await);
    for from in 0..a.groups {
        let others = w.when(to.ne(from));
        let flux = others.load(a.flux, cell + from * a.volume());
        let share = scattering(&others, &a, material, Lanes::splat(from), to).await;
        sum.assign(others.mask(), sum + share * flux.await);
    }
    w.store(a.outer, Unit(base), sum).await;
}

/// Adds the scattering within each energy group to the source of the outer iteration. Copies the
/// flux to `flux_before`.
async fn inner_source(w: Wave, a: Arrays) {
    let base = w.first_item();
    let w = w.below(base, a.outer.len());
    let (group, cell) = (w.item() / a.volume(), w.item() % a.volume());
    let [outer, flux] = all([w.load(a.outer, Unit(base)), w.load(a.flux, Unit(base))]).await;
    let material = w.load(a.material, cell).await;
    let share = scattering(&w, &a, material, group, group).await;
    w.store(a.flux_before, Unit(base), flux);
    w.store(a.source, Unit(base), outer + share * flux).await;
}

/// Computes one plane of cells for the directions of an octant. The cells are `planes[first..end]`.
async fn sweep(w: Wave, a: Arrays, octant: u32, (first, end): (u64, u64), time: [Array<f64>; 2]) {
    let pairs = a.groups * a.angles;
    let base = w.first_item();
    let w = w.below(base, (end - first) * u64::from(pairs));
    let (at, pair) = (w.item() / pairs, w.item() % pairs);
    let (group, angle) = (pair / a.angles, pair % a.angles);
    let packed = w.load(a.planes, at + first as u32).await;
    let steps = [0, 10, 20].map(|bit: u32| (packed >> bit) & 1023);
    let place = |axis: usize| match octant >> axis & 1 {
        0 => steps[axis],
        _ => Lanes::splat([a.cells, a.cells, a.layers][axis] - 1) - steps[axis],
    };
    let cell = (place(2) * a.cells + place(1)) * a.cells + place(0);
    let cosines = all(a.cosines.map(|cosine| w.load(cosine, angle))).await;
    let [x, y, z] = steps;
    let entries = [z * a.cells + y, z * a.cells + x, y * a.cells + x].map(|face| face * pairs + pair);
    let mut incoming = [Lanes::splat(0.0_f64); 3];
    for axis in 0..3 {
        // No particles come into the box from the vacuum around it.
        incoming[axis] = w.when(steps[axis].ne(0)).load(a.faces[axis], entries[axis]).await;
    }
    let here = (cell + octant * a.volume()) * pairs + pair;
    let at_group = group * a.volume() + cell;
    let [source, total] = all([w.load(a.source, at_group), w.load(a.total, at_group)]).await;
    let [slowness, before] = all([w.load(a.slowness, group), w.load(time[0], here)]).await;
    let sum = source
        + incoming[0] * cosines[0]
        + incoming[1] * cosines[1]
        + incoming[2] * cosines[2]
        + before * slowness;
    let psi = sum / (total + cosines[0] + cosines[1] + cosines[2] + slowness);
    for axis in 0..3 {
        w.store(a.faces[axis], entries[axis], psi * 2.0 - incoming[axis]);
    }
    w.store(time[1], here, psi * 2.0 - before).await;
}

/// Sums the angular fluxes of all directions for each energy group and cell, and finds the largest
/// relative change of the flux in the cells of each wavefront.
async fn scalar_flux(w: Wave, a: Arrays, weight: f64, time: [Array<f64>; 2]) {
    let base = w.first_item();
    let within = w.below(base, a.flux.len());
    let (group, cell) = (w.item() / a.volume(), w.item() % a.volume());
    let pairs = a.groups * a.angles;
    let mut sum = Lanes::splat(0.0_f64);
    for octant in 0..8 {
        for angle in 0..a.angles {
            let here = (cell + octant * a.volume()) * pairs + group * a.angles + angle;
            let [before, after] = all(time.map(|flux| within.load(flux, here))).await;
            sum += (before + after) * 0.5;
        }
    }
    let flux = sum * weight;
    let before = within.load(a.flux_before, Unit(base)).await;
    within.store(a.flux, Unit(base), flux);
    let change = before.zip(Class::Double, flux, relative_change);
    let largest = within.reduce(&change, 0.0, Class::Double, f64::max);
    w.store(a.change, w.global_index(), largest).await;
}

impl Arrays {
    fn alloc(host: &Host, problem: &Problem) -> Arrays {
        let Size { cells, layers, groups, angles, .. } = problem.size;
        let volume = problem.size.volume() as u64;
        let of_groups = |name: &str| host.alloc::<f64>(name, groups as u64 * volume);
        let grid = grid_of(&host.shape(), groups as u64 * volume, GROUP_ITEMS);
        let faces = (problem.size.face() * problem.size.pairs()) as u64;
        Arrays {
            cells: cells as u32,
            layers: layers as u32,
            groups: groups as u32,
            angles: angles as u32,
            total: of_groups("total"),
            emission: of_groups("emission"),
            scattering: host.alloc("scattering", problem.scattering.len() as u64),
            material: host.alloc("material", volume),
            cosines: ["mu", "eta", "xi"].map(|name| host.alloc(name, angles as u64)),
            slowness: host.alloc("slowness", groups as u64),
            planes: host.alloc("planes", volume),
            outer: of_groups("outer-source"),
            source: of_groups("source"),
            flux: of_groups("flux"),
            flux_before: of_groups("flux-before"),
            change: host.alloc("change", u64::from(grid.work_groups) * u64::from(grid.waves)),
            faces: ["faces-x", "faces-y", "faces-z"].map(|name| host.alloc(name, faces)),
        }
    }

    /// Writes the arrays of the problem to memory. The array `self.planes` lists the cells plane by
    /// plane. Returns, for each plane, the index after its last cell in this array.
    async fn write(&self, host: &Host, problem: &Problem) -> Vec<u64> {
        let planes = problem.size.planes();
        let packed: Vec<u32> =
            planes.iter().flatten().map(|[x, y, z]| (x | y << 10 | z << 20) as u32).collect();
        host.write(self.planes, &packed).await;
        host.write(self.total, &problem.total).await;
        host.write(self.emission, &problem.emission).await;
        host.write(self.scattering, &problem.scattering).await;
        host.write(self.material, &problem.material).await;
        host.write(self.slowness, &problem.slowness).await;
        for (array, cosines) in self.cosines.into_iter().zip(&problem.cosines) {
            host.write(array, cosines).await;
        }
        let sizes = planes.iter().map(|plane| plane.len() as u64);
        sizes
            .scan(0, |end, size| {
                *end += size;
                Some(*end)
            })
            .collect()
    }

    async fn launch(&self, host: &Host, kernel: Kernel, items: u64) {
        host.launch(kernel, grid_of(&host.shape(), items, GROUP_ITEMS)).await;
    }

    async fn outer(self, host: &Host) {
        let uses = [
            self.emission.read().in_parts(GROUP_ITEMS),
            self.material.read(),
            self.flux.read(),
            self.scattering.read(),
            self.outer.write().in_parts(GROUP_ITEMS),
        ];
        let kernel = Kernel::new("outer-source", move |w| outer_source(w, self)).uses(uses);
        self.launch(host, kernel, self.outer.len()).await;
    }

    /// Runs one inner iteration. Returns the largest relative change of the flux.
    async fn inner(self, host: &Host, problem: &Problem, ends: &[u64], time: [Array<f64>; 2]) -> f64 {
        let uses = [
            self.outer.read().in_parts(GROUP_ITEMS),
            self.flux.read().in_parts(GROUP_ITEMS),
            self.material.read(),
            self.scattering.read(),
            self.flux_before.write().in_parts(GROUP_ITEMS),
            self.source.write().in_parts(GROUP_ITEMS),
        ];
        let kernel = Kernel::new("inner-source", move |w| inner_source(w, self)).uses(uses);
        self.launch(host, kernel, self.outer.len()).await;
        for octant in 0..8 {
            let mut first = 0;
            for &end in ends {
                let plane = (first, end);
                let reads = [self.planes.read(), self.slowness.read(), self.source.read(), self.total.read()];
                let kernel = Kernel::new("sweep", move |w| sweep(w, self, octant, plane, time))
                    .uses(reads)
                    .uses(self.cosines.map(|array| array.read()))
                    .uses(self.faces.map(|array| array.read_write()))
                    .uses([time[0].read(), time[1].write()]);
                self.launch(host, kernel, (end - first) * problem.size.pairs() as u64).await;
                first = end;
            }
        }
        let weight = problem.weight;
        let uses = [
            self.flux_before.read().in_parts(GROUP_ITEMS),
            self.flux.write().in_parts(GROUP_ITEMS),
            self.change.write(),
            time[0].read(),
            time[1].read(),
        ];
        let kernel = Kernel::new("scalar-flux", move |w| scalar_flux(w, self, weight, time)).uses(uses);
        self.launch(host, kernel, self.flux.len()).await;
        host.read(self.change).await.into_iter().fold(0.0, f64::max)
    }
}

async fn run(host: Host, problem: Problem) -> Answer {
    let arrays = Arrays::alloc(&host, &problem);
    let ends = arrays.write(&host, &problem).await;
    let directions = (8 * problem.size.volume() * problem.size.pairs()) as u64;
    let mut time = ["angular-flux", "next-angular-flux"].map(|name| host.alloc::<f64>(name, directions));
    let Size { steps, outers, inners, tolerance, .. } = problem.size;
    for _ in 0..steps {
        'outer: for _ in 0..outers {
            arrays.outer(&host).await;
            for inner in 0..inners {
                let change = arrays.inner(&host, &problem, &ends, time).await;
                match (change <= tolerance, inner) {
                    (true, 0) => break 'outer,
                    (true, _) => break,
                    _ => {}
                }
            }
        }
        time.swap(0, 1);
    }
    Answer::new().with_array("flux", &host, arrays.flux).await
}

fn snapc(settings: &Settings) -> Instance {
    let count = |name| settings.count(name);
    let size = Size {
        cells: count("cells") as usize,
        layers: count("layers") as usize,
        groups: count("groups") as usize,
        angles: count("angles") as usize,
        steps: count("steps"),
        outers: count("outers"),
        inners: count("inners"),
        tolerance: (0..count("digits")).fold(1.0, |tolerance, _| tolerance * 0.1),
    };
    let program = Program::new("snapc", move |host| run(host, Problem::new(size)));
    // The host computes cell by cell with the same operations for each cell, so all bits are equal.
    Instance::new(program, move |answer| answer.expect("flux", &Problem::new(size).solve().0))
}
