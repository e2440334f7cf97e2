//! Barnes-Hut: gravity of many bodies with an octree, after LonestarGPU.
//!
//! The kernel `bounding-box` is the only one that uses local memory. With the setting
//! `tiles=global`, it uses an array in global memory instead.
//!
//! Each time step runs a sequence of kernels. `bounding-box` finds the root cell, `clear` empties
//! the tree, `build` inserts the bodies with a lock on each child, `summarize` computes masses from
//! the leaves to the root, `sort` lists the bodies in the order of the tree, `force` walks the
//! tree, and `integrate` moves the bodies. In `summarize` and `sort`, a wavefront waits for cells
//! of other wavefronts. It takes its own cells from a counter when it starts, and waits only for
//! cells that were taken before. The kernels therefore end for any order of dispatch.
//!
//! The shape of the tree depends only on the places of the bodies, so sums over the tree have a
//! fixed order.

mod kernels;
mod octree;

use kernel::prelude::*;

use super::grid_of;
use crate::inputs::{NumberFile, NumberProgram};
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload};
use crate::policy::{TILES, has_global_tiles};
use crate::settings::{BadSetting, Setting, Settings};
use kernels::Arrays;
use octree::{Bodies, simulate};

pub(crate) static BARNES_HUT: Workload = Workload {
    name: "barnes-hut",
    summary: "gravity of many bodies: builds an octree with locks, summarizes, sorts and walks it",
    origin: "LonestarGPU (IISWC 2012), BH, after Burtscher and Pingali; Hechtman's thesis (2014), Table 3.2",
    room: Room::Physics,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("bodies", "150"), ("steps", "2")],
        small: &[],
        paper: &[("bodies", "16k"), ("steps", "2")],
    },
    settings: &[
        Setting::count("bodies", 1024, 2, 1 << 20, "number of bodies"),
        Setting::count("steps", 1, 1, 100, "number of time steps"),
        Setting::decimal(
            "angle",
            "0.5",
            (0, 4),
            "an angle in radians, at least 0.01: a cell that appears wider than this angle is opened",
        ),
        TILES,
    ],
    make: |settings, seed| {
        let count = settings.count("bodies") as usize;
        barnes_hut(settings, move || Bodies::new(seed, count))
    },
};

impl Arrays {
    fn alloc(host: &Host, bodies: u32, has_global_tiles: bool) -> Arrays {
        let count = u64::from(bodies);
        let cells = 4 * count + 64;
        let axes =
            |name: &str, len: u64| ["x", "y", "z"].map(|axis| host.alloc(format!("{name}-{axis}"), len));
        let grid = grid_of(&host.shape(), count, GROUP_ITEMS);
        let groups = u64::from(grid.work_groups);
        let mut arrays = Arrays {
            bodies,
            cells_max: cells as u32,
            place: axes("place", count),
            velocity: axes("velocity", count),
            acceleration: axes("acceleration", count),
            mass: host.alloc("mass", count),
            bounds: ["x-least", "y-least", "z-least", "x-most", "y-most", "z-most"]
                .map(|name| host.alloc(name, groups)),
            arrived: host.alloc("arrived", 1),
            root: host.alloc("root", 4),
            children: host.alloc("children", 8 * cells),
            cells: host.alloc("cells", 1),
            cell_place: axes("cell-place", cells),
            cell_mass: host.alloc("cell-mass", cells),
            below: host.alloc("below", cells),
            ready: host.alloc("ready", cells),
            start: host.alloc("start", cells),
            taken: host.alloc("taken", 2),
            sorted: host.alloc("sorted", count),
            folded: None,
        };
        if has_global_tiles {
            let items = u64::from(grid.waves * host.shape().lanes);
            arrays.folded = Some(host.alloc("folded", groups * items));
        }
        arrays
    }

    async fn build_tree(self, host: &Host) {
        let (shape, bodies) = (host.shape(), u64::from(self.bodies));
        host.write(self.arrived, &[0]).await;
        // The tree begins with one cell, the root.
        host.write(self.cells, &[1]).await;
        let kernel = Kernel::new("bounding-box", move |w| kernels::bounding_box(w, self))
            .uses(self.place.map(|array| array.read().in_parts(GROUP_ITEMS)))
            .uses(self.bounds.map(|array| array.read_write()))
            .uses([self.arrived.read_write(), self.root.write()]);
        let grid = grid_of(&shape, bodies, GROUP_ITEMS);
        match self.folded {
            None => host.launch(kernel, grid.lds_bytes(4 * GROUP_ITEMS as u32)).await,
            Some(folded) => {
                let part = u64::from(grid.waves * shape.lanes);
                let folded = folded.read_write().in_parts(part);
                host.launch(kernel.uses([folded]), grid).await
            }
        };
        let kernel = Kernel::new("clear", move |w| kernels::clear(w, self)).uses([
            self.children.write(),
            self.ready.write().in_parts(GROUP_ITEMS),
            self.start.write().in_parts(GROUP_ITEMS),
        ]);
        host.launch(kernel, grid_of(&shape, u64::from(self.cells_max), GROUP_ITEMS)).await;
        let kernel = Kernel::new("build", move |w| kernels::build(w, self))
            .uses(self.place.map(|array| array.read()))
            .uses([self.root.read(), self.children.read_write(), self.cells.read_write()]);
        host.launch(kernel, grid_of(&shape, bodies, GROUP_ITEMS)).await;
    }

    async fn summarize_and_sort(self, host: &Host) {
        let count = host.read(self.cells).await.first().copied().unwrap_or(1);
        let grid = grid_of(&host.shape(), u64::from(count), GROUP_ITEMS);
        host.write(self.taken, &[0, 0]).await;
        let kernel = Kernel::new("summarize", move |w| kernels::summarize(w, self, count))
            .uses(self.place.map(|array| array.read()))
            .uses(self.cell_place.map(|array| array.read_write()))
            .uses([self.mass.read(), self.children.read()])
            .uses([self.cell_mass.read_write(), self.below.read_write(), self.ready.read_write()])
            .uses([self.taken.read_write()]);
        host.launch(kernel, grid).await;
        let kernel = Kernel::new("sort", move |w| kernels::sort(w, self, count))
            .uses([self.children.read(), self.below.read()])
            .uses([self.start.read_write(), self.sorted.write(), self.taken.read_write()]);
        host.launch(kernel, grid).await;
    }

    async fn move_bodies(self, host: &Host, angle: f32, is_first: bool) {
        let grid = grid_of(&host.shape(), u64::from(self.bodies), GROUP_ITEMS);
        let kernel = Kernel::new("force", move |w| kernels::force(w, self, angle, is_first))
            .uses(self.place.map(|array| array.read()))
            .uses(self.cell_place.map(|array| array.read()))
            .uses(self.velocity.map(|array| array.read_write()))
            .uses(self.acceleration.map(|array| array.read_write()))
            .uses([self.mass.read(), self.cell_mass.read(), self.children.read(), self.root.read()])
            .uses([self.sorted.read().in_parts(GROUP_ITEMS)]);
        host.launch(kernel, grid).await;
        let kernel = Kernel::new("integrate", move |w| kernels::integrate(w, self))
            .uses(self.place.map(|array| array.read_write().in_parts(GROUP_ITEMS)))
            .uses(self.velocity.map(|array| array.read_write().in_parts(GROUP_ITEMS)))
            .uses(self.acceleration.map(|array| array.read().in_parts(GROUP_ITEMS)));
        host.launch(kernel, grid).await;
    }
}

async fn run(host: Host, bodies: Bodies, angle: f32, steps: u64, has_global_tiles: bool) -> Answer {
    let arrays = Arrays::alloc(&host, bodies.mass.len() as u32, has_global_tiles);
    for (array, places) in arrays.place.into_iter().zip(&bodies.place) {
        host.write(array, places).await;
    }
    host.write(arrays.mass, &bodies.mass).await;
    for step in 0..steps {
        arrays.build_tree(&host).await;
        arrays.summarize_and_sort(&host).await;
        arrays.move_bodies(&host, angle, step == 0).await;
    }
    let mut answer = Answer::new();
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
        answer = answer
            .with_array(name, &host, arrays.place[axis])
            .await
            .with_array(format!("velocity-{name}"), &host, arrays.velocity[axis])
            .await;
    }
    let mut sorted = host.read(arrays.sorted).await;
    sorted.sort_unstable();
    answer.with("bodies", &sorted)
}

/// The form of the workload that reads its bodies from a file.
pub(crate) const BARNES_HUT_ON_FILES: NumberProgram = NumberProgram {
    workload: &BARNES_HUT,
    files: |_| {
        let file = NumberFile::new("bodies", "body", (4, "x, y, z and the mass"), 2..=1 << 20);
        vec![file.within(-FARTHEST..=FARTHEST)]
    },
    settings: &["bodies"],
    make: |tables, settings, _| {
        let bodies = Bodies::of_table(&tables[0]);
        if let Some(body) = bodies.mass.iter().position(|mass| *mass <= 0.0) {
            let (body, mass) = (body + 1, bodies.mass[body]);
            return Err(settings.conflict(format!("body {body} has the mass {mass}, expected more than 0")));
        }
        if let Some((one, other)) = bodies.at_one_place() {
            let (one, other) = (one + 1, other + 1);
            let why = format!("bodies {one} and {other} have the same place, expected different places");
            return Err(settings.conflict(why));
        }
        let table = tables[0].clone();
        barnes_hut(settings, move || Bodies::of_table(&table))
    },
};

/// The maximum magnitude of a number in a file.
const FARTHEST: f32 = 1e9;

/// The smallest opening angle. With a smaller angle, the walk visits the children of nearly all
/// cells.
const ANGLE_MIN: f64 = 0.01;

fn barnes_hut(
    settings: &Settings,
    bodies: impl Fn() -> Bodies + Clone + 'static,
) -> Result<Instance, BadSetting> {
    let (steps, angle) = (settings.count("steps"), settings.decimal("angle"));
    if angle < ANGLE_MIN {
        let why = format!("setting `angle` is {angle}, but must be at least {ANGLE_MIN}");
        return Err(settings.conflict(why));
    }
    let angle = angle as f32;
    let (of_program, is_global) = (bodies.clone(), has_global_tiles(settings));
    let program = Program::new("barnes-hut", move |host| run(host, of_program(), angle, steps, is_global));
    Ok(Instance::new(program, move |answer| {
        let mut bodies = bodies();
        simulate(&mut bodies, angle, steps);
        for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
            answer.expect(name, &bodies.place[axis])?;
            answer.expect(&format!("velocity-{name}"), &bodies.velocity[axis])?;
        }
        let all: Vec<u32> = (0..bodies.mass.len() as u32).collect();
        answer.expect("bodies", &all)
    }))
}
