//! The temperature of a chip with several layers. A work-item computes a column of elements through
//! all layers. It keeps the values of the layers above and below in registers.

use kernel::prelude::*;

use super::chip::{self, Chip, Inputs, simulation};
use crate::group::{grid_of, group_at, in_tile};
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload};
use crate::settings::{Setting, Settings};

pub(crate) static HOTSPOT3D: Workload = Workload {
    name: "hotspot3d",
    summary: "computes the temperature of a chip of several layers, a launch for each step",
    origin: "Rodinia (2009); Dalmia thesis (2023), Table 5.2",
    room: Room::Stencil,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("side", "35"), ("layers", "3"), ("steps", "3")],
        small: &[],
        paper: &[("side", "512"), ("layers", "8"), ("steps", "20")],
    },
    settings: &[
        Setting::count("side", 96, 1, 1 << 12, "number of rows and of columns of a layer"),
        Setting::count("layers", 4, 1, 64, "number of layers of the chip"),
        Setting::count("steps", 2, 1, 1 << 20, "number of time steps"),
    ],
    make: |settings, seed| {
        settings.limit_arrays(
            &["side", "layers"],
            12 * settings.count("side").pow(2) * settings.count("layers"),
        )?;
        Ok(hotspot3d(settings, seed))
    },
};

/// The number of columns that a work-group computes. It computes four rows.
const TILE_X: u32 = 64;
const TILE_Y: u32 = GROUP_ITEMS as u32 / TILE_X;

/// The factors by which an element and its neighbours are multiplied in a time step.
#[derive(Clone, Copy)]
struct Factors {
    step_by_capacity: f32,
    centre: f32,
    sideways: f32,
    vertical: f32,
}

impl Factors {
    fn of(side: u32, layers: u32) -> Factors {
        let (width, depth) = (chip::SIDE / f64::from(side), chip::THICKNESS / f64::from(layers));
        let capacity = chip::FACTOR * chip::HEAT_SILICON * chip::THICKNESS * width * width;
        let step_by_capacity = chip::step() / capacity;
        let sideways = step_by_capacity * 2.0 * chip::CONDUCTION_SILICON * chip::THICKNESS;
        let vertical = step_by_capacity * chip::CONDUCTION_SILICON * width * width / depth;
        Factors {
            step_by_capacity: step_by_capacity as f32,
            centre: (1.0 - (4.0 * sideways + 3.0 * vertical)) as f32,
            sideways: sideways as f32,
            vertical: vertical as f32,
        }
    }
}

/// The arguments of the kernel.
#[derive(Clone, Copy)]
struct KernelArguments {
    chip: Chip,
    side: u32,
    layers: u32,
    factors: Factors,
}

impl KernelArguments {
    async fn columns(self, w: Wave) {
        let at = in_tile(&w, TILE_X);
        let (tile_x, tile_y) = group_at(&w, self.side.div_ceil(TILE_X));
        let (x, y) = (at.x + tile_x * TILE_X, at.y + tile_y * TILE_Y);
        let w = w.when(x.lt(self.side) & y.lt(self.side));
        let mut index = y * self.side + x;
        // At an edge, an element is its own neighbour.
        let mut around = [
            Lanes::select(x.eq(0), index, index - 1),
            Lanes::select(x.eq(self.side - 1), index, index + 1),
            Lanes::select(y.eq(self.side - 1), index, index + self.side),
            Lanes::select(y.eq(0), index, index - self.side),
        ];
        let layer = self.side * self.side;
        let mut here = w.load(self.chip.from, index).await;
        let (mut below, mut above) = (here, here);
        let f = self.factors;
        for z in 0..self.layers {
            if z + 1 < self.layers {
                above = w.load(self.chip.from, index + layer).await;
            }
            let loads = around.map(|place| w.load(self.chip.from, place));
            let power = w.load(self.chip.power, index);
            let mut sum = here * f.centre;
            for load in loads {
                sum = load.await.mul_add(f.sideways, sum);
            }
            sum = above.mul_add(f.vertical, below.mul_add(f.vertical, sum));
            sum = power.await.mul_add(f.step_by_capacity, sum) + f.vertical * chip::AMBIENT;
            w.store(self.chip.to, index, sum);
            (below, here) = (here, above);
            index += layer;
            around = around.map(|place| place + layer);
        }
    }
}

fn hotspot3d(settings: &Settings, seed: u64) -> Instance {
    let (side, layers) = (settings.count("side") as u32, settings.count("layers") as u32);
    let steps = settings.count("steps");
    let n = u64::from(side * side) * u64::from(layers);
    let factors = Factors::of(side, layers);
    let launch = move |shape: &Shape, chip: Chip, (): ()| {
        let arguments = KernelArguments { chip, side, layers, factors };
        let tiles = u64::from(side.div_ceil(TILE_X) * side.div_ceil(TILE_Y));
        let kernel = Kernel::new("hotspot3d", move |w| arguments.columns(w));
        (kernel, grid_of(shape, tiles, TILE_X * TILE_Y))
    };
    let next = move |t: &[f32], power: &[f32]| next(t, power, side as usize, layers as usize);
    let inputs = move || Inputs::random(seed, n);
    simulation("hotspot3d", inputs, vec![(); steps as usize], launch, None, (steps, next))
}

/// The temperatures of the whole chip after one time step, computed on the host.
fn next(t: &[f32], power: &[f32], side: usize, layers: usize) -> Vec<f32> {
    let f = Factors::of(side as u32, layers as u32);
    let mut after = vec![0.0; t.len()];
    for (index, after) in after.iter_mut().enumerate() {
        let (x, y, z) = (index % side, index / side % side, index / side / side);
        let at = |x: usize, y: usize, z: usize| t[(z * side + y) * side + x];
        let mut sum = at(x, y, z) * f.centre;
        sum = at(x.saturating_sub(1), y, z).mul_add(f.sideways, sum);
        sum = at((x + 1).min(side - 1), y, z).mul_add(f.sideways, sum);
        sum = at(x, (y + 1).min(side - 1), z).mul_add(f.sideways, sum);
        sum = at(x, y.saturating_sub(1), z).mul_add(f.sideways, sum);
        sum = at(x, y, z.saturating_sub(1)).mul_add(f.vertical, sum);
        sum = at(x, y, (z + 1).min(layers - 1)).mul_add(f.vertical, sum);
        *after = power[index].mul_add(f.step_by_capacity, sum) + f.vertical * chip::AMBIENT;
    }
    after
}
