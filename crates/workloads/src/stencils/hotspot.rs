//! The temperature of a chip. Each launch computes several time steps, tile by tile. In each step,
//! one more element at each edge of a tile is left out.
//!
//! The tiles are in local memory. With the setting `tiles=global`, a work-item loads the neighbours
//! and the power from the arrays of the chip in the first step of a launch. The temperatures after
//! this step, which the next step needs, are in an array in global memory. Each work-group has a
//! part of this array.

use kernel::prelude::*;

use super::chip::{self, Chip, Inputs, simulation};
use crate::fault::{Fault, planted};
use crate::group::{InTile, first_local, grid_of, group_at, in_tile};
use crate::inputs::{NumberFile, NumberProgram};
use crate::instance::{Instance, Purpose, Room, Sizes, Workload};
use crate::policy::{TILES, has_global_tiles};
use crate::settings::{BadSetting, Setting, Settings};

pub(crate) static HOTSPOT: Workload = Workload {
    name: "hotspot",
    summary: "computes the temperature of a chip, several steps of a tile at a time",
    origin: "Rodinia (2009); Hechtman thesis (2014), Table 3.2; Dalmia thesis (2023), Tables 3.3 and 5.2",
    room: Room::Stencil,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("rows", "29"), ("columns", "41"), ("steps", "5")],
        small: &[],
        paper: &[("rows", "512"), ("columns", "512"), ("steps", "20")],
    },
    settings: &[
        Setting::count("rows", 128, 1, 1 << 14, "number of rows of the chip"),
        Setting::count("columns", 128, 1, 1 << 14, "number of columns of the chip"),
        Setting::count("steps", 4, 1, 1 << 20, "number of time steps"),
        Setting::count("pyramid", 2, 1, 7, "number of time steps that one launch computes"),
        TILES,
    ],
    make: hotspot,
};

/// The number of rows of a tile, which is also the number of its columns.
const TILE: u32 = 16;

/// The factors in the formula of a time step.
#[derive(Clone, Copy)]
struct Factors {
    step_by_capacity: f32,
    /// The inverse of the thermal resistance along rows. The next two fields are the inverse
    /// resistances along columns and to the surroundings.
    along_rows: f32,
    along_columns: f32,
    outward: f32,
}

impl Factors {
    fn of(rows: u32, columns: u32) -> Factors {
        let (height, width) = (chip::SIDE / f64::from(rows), chip::SIDE / f64::from(columns));
        let capacity = chip::FACTOR * chip::HEAT_SILICON * chip::THICKNESS * width * height;
        let sideways = 2.0 * chip::CONDUCTION_SILICON * chip::THICKNESS;
        Factors {
            step_by_capacity: (chip::step() / capacity) as f32,
            along_rows: (sideways * height / width) as f32,
            along_columns: (sideways * width / height) as f32,
            outward: (chip::CONDUCTION_SILICON * height * width / chip::THICKNESS) as f32,
        }
    }
}

/// The arguments of the kernel.
#[derive(Clone, Copy)]
struct KernelArguments {
    chip: Chip,
    rows: u32,
    columns: u32,
    factors: Factors,
    /// The number of time steps that this launch computes.
    count: u32,
}

impl KernelArguments {
    /// The number of rows of a tile whose results are stored. The number of columns is the same.
    fn inner(&self) -> u32 {
        TILE - 2 * self.count
    }

    /// The place of each lane's element in its tile, and the column and the row on the chip.
    fn element(&self, w: &Wave) -> (InTile, Lanes<u32>, Lanes<u32>) {
        let at = in_tile(w, TILE);
        let (tile_x, tile_y) = group_at(w, self.columns.div_ceil(self.inner()));
        // In the first tiles, an element before the edge of the chip has a negative coordinate,
        // which wraps around to a large number.
        let x = at.x + (tile_x * self.inner()).wrapping_sub(self.count);
        let y = at.y + (tile_y * self.inner()).wrapping_sub(self.count);
        (at, x, y)
    }

    /// The indices of the neighbours above, below, right and left of the element at `place`, in an
    /// array whose rows have `width` elements. At an edge of the chip, an element is its own
    /// neighbour.
    fn neighbours(&self, x: Lanes<u32>, y: Lanes<u32>, place: Lanes<u32>, width: u32) -> [Lanes<u32>; 4] {
        let left = Lanes::select(x.eq(0), place, place - 1);
        let right = Lanes::select(x.eq(self.columns - 1), place, place + 1);
        let above = Lanes::select(y.eq(0), place, place - width);
        let below = Lanes::select(y.eq(self.rows - 1), place, place + width);
        let right = if planted(Fault::WrongIndex) { left } else { right };
        [above, below, right, left]
    }

    /// The heat that flows to an element along columns, along rows and from the surroundings, from
    /// its temperature and those of its neighbours.
    fn flows(&self, own: Lanes<f32>, [n, s, e, west]: [Lanes<f32>; 4]) -> [Lanes<f32>; 3] {
        let f = self.factors;
        let columns = (n + s - own * 2.0) * f.along_columns;
        let rows = (e + west - own * 2.0) * f.along_rows;
        let outward = (-own + chip::AMBIENT) * f.outward;
        [columns, rows, outward]
    }

    async fn pyramid(self, w: Wave) {
        let (at, x, y) = self.element(&w);
        let on_chip = x.lt(self.columns) & y.lt(self.rows);
        let index = y * self.columns + x;
        let here = first_local(&w);
        let temperature = w.lds::<f32>(0, TILE * TILE);
        let power = w.lds::<f32>(4 * TILE * TILE, TILE * TILE);
        let loader = w.when(on_chip);
        let (t, p) = (loader.load(self.chip.from, index), loader.load(self.chip.power, index));
        let (mut own, p) = (t.await, p.await);
        w.store(temperature, Unit(here), own);
        w.store(power, Unit(here), p);
        w.barrier().await;

        let places = self.neighbours(x, y, at.y * TILE + at.x, TILE);
        let mut inner = on_chip;
        for step in 0..self.count {
            inner = inner & within(step, at);
            let active = w.when(inner);
            let [n, s, e, west] = places.map(|place| active.load(temperature, place));
            let power = active.load(power, Unit(here));
            let neighbours = [n.await, s.await, e.await, west.await];
            let [columns, rows, outward] = self.flows(own, neighbours);
            let change = (power.await + columns + rows + outward) * self.factors.step_by_capacity;
            own = Lanes::select(inner, own + change, own);
            if step + 1 < self.count {
                if !planted(Fault::MissingBarrier) {
                    w.barrier().await;
                }
                active.store(temperature, Unit(here), own);
                w.barrier().await;
            }
        }
        w.when(inner).store(self.chip.to, index, own);
    }

    /// The same as [`KernelArguments::pyramid`] without local memory. `tiles` has a tile for each
    /// work-group.
    async fn pyramid_in_global_memory(self, w: Wave, tiles: Array<f32>) {
        let (at, x, y) = self.element(&w);
        let mut inner = x.lt(self.columns) & y.lt(self.rows);
        let index = y * self.columns + x;
        let mut own = w.when(inner).load(self.chip.from, index).await;
        let on_chip = self.neighbours(x, y, index, self.columns);
        let first_of_tile = w.work_group() * TILE * TILE;
        let here = u64::from(first_of_tile) + first_local(&w);
        let on_tile = self.neighbours(x, y, at.y * TILE + at.x + first_of_tile, TILE);
        for step in 0..self.count {
            inner = inner & within(step, at);
            let active = w.when(inner);
            let (from, places) = if step == 0 { (self.chip.from, on_chip) } else { (tiles, on_tile) };
            let [n, s, e, west] = places.map(|place| active.load(from, place));
            let power = active.load(self.chip.power, index);
            let neighbours = [n.await, s.await, e.await, west.await];
            let [columns, rows, outward] = self.flows(own, neighbours);
            let change = (power.await + columns + rows + outward) * self.factors.step_by_capacity;
            own = Lanes::select(inner, own + change, own);
            if step + 1 < self.count {
                // The first step reads no tile.
                if step > 0 {
                    w.barrier().await;
                }
                active.store(tiles, Unit(here), own);
                if !planted(Fault::MissingBarrier) {
                    w.barrier().await;
                }
            }
        }
        w.when(inner).store(self.chip.to, index, own);
    }
}

/// The lanes whose element of the tile has a result after this time step of a launch.
fn within(step: u32, at: InTile) -> Mask {
    let (first, last) = (step + 1, TILE - 2 - step);
    at.x.ge(first) & at.x.le(last) & at.y.ge(first) & at.y.le(last)
}

fn hotspot(settings: &Settings, seed: u64) -> Result<Instance, BadSetting> {
    let n = settings.count("rows") * settings.count("columns");
    on_inputs(settings, move || Inputs::random(seed, n))
}

/// The form of the workload that reads temperatures and power from files. As in Rodinia's files,
/// each line has one number, and the elements are in the order of rows.
pub(crate) const HOTSPOT_ON_FILES: NumberProgram = NumberProgram {
    workload: &HOTSPOT,
    files: |settings| {
        let (rows, columns) = (settings.count("rows"), (settings.count("columns"), "the setting `columns`"));
        ["temperatures", "power"]
            .map(|content| NumberFile::matrix(content, rows, columns).in_any_lines())
            .into()
    },
    settings: &[],
    make: |tables, settings, _| {
        let [temperatures, power] = [0, 1].map(|at| tables[at].clone());
        on_inputs(settings, move || Inputs {
            temperatures: temperatures.numbers().to_vec(),
            power: power.numbers().to_vec(),
        })
    },
};

fn on_inputs(
    settings: &Settings,
    inputs: impl Fn() -> Inputs + Clone + 'static,
) -> Result<Instance, BadSetting> {
    let (rows, columns) = (settings.count("rows") as u32, settings.count("columns") as u32);
    let (steps, pyramid) = (settings.count("steps"), settings.count("pyramid"));
    // A launch of more steps has more tiles.
    let inner = TILE - 2 * pyramid.min(steps) as u32;
    let tiles_max = u64::from(rows.div_ceil(inner)) * u64::from(columns.div_ceil(inner));
    let part = u64::from(TILE * TILE);
    let tiles = has_global_tiles(settings).then_some((tiles_max * part, part));
    let bytes = 12 * u64::from(rows) * u64::from(columns) + tiles.map_or(0, |(all, _)| 4 * all);
    settings.limit_arrays(&["rows", "columns"], bytes)?;
    let factors = Factors::of(rows, columns);
    let counts = (0..steps).step_by(pyramid as usize).map(|first| (steps - first).min(pyramid) as u32);
    let launch = move |shape: &Shape, chip: Chip, count: u32| {
        let arguments = KernelArguments { chip, rows, columns, factors, count };
        let tiles = u64::from(rows.div_ceil(arguments.inner()) * columns.div_ceil(arguments.inner()));
        let grid = grid_of(shape, tiles, TILE * TILE);
        match chip.tiles {
            None => {
                let kernel = Kernel::new("hotspot", move |w| arguments.pyramid(w));
                (kernel, grid.lds_bytes(8 * TILE * TILE))
            }
            Some(tiles) => {
                let run = move |w| arguments.pyramid_in_global_memory(w, tiles);
                (Kernel::new("hotspot", run), grid)
            }
        }
    };
    let next = move |t: &[f32], power: &[f32]| next(t, power, rows as usize, columns as usize);
    Ok(simulation("hotspot", inputs, counts.collect(), launch, tiles, (steps, next)))
}

/// The temperatures of the whole chip after one time step, computed on the host.
fn next(t: &[f32], power: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    let f = Factors::of(rows as u32, columns as u32);
    let mut after = vec![0.0; t.len()];
    for y in 0..rows {
        for x in 0..columns {
            let at = |x: usize, y: usize| t[y * columns + x];
            let own = at(x, y);
            let (n, s) = (at(x, y.saturating_sub(1)), at(x, (y + 1).min(rows - 1)));
            let (w, e) = (at(x.saturating_sub(1), y), at((x + 1).min(columns - 1), y));
            let along_columns = (n + s - own * 2.0) * f.along_columns;
            let along_rows = (e + w - own * 2.0) * f.along_rows;
            let outward = (-own + chip::AMBIENT) * f.outward;
            let sum = power[y * columns + x] + along_columns + along_rows + outward;
            after[y * columns + x] = own + sum * f.step_by_capacity;
        }
    }
    after
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::{finds, finds_with};

    #[test]
    fn the_check_finds_a_wrong_index_and_a_missing_barrier() {
        assert!(finds(&HOTSPOT, Fault::WrongIndex));
        assert!(finds(&HOTSPOT, Fault::MissingBarrier));
        assert!(finds_with(&HOTSPOT, &[("tiles", "global")], Fault::WrongIndex));
        assert!(finds_with(&HOTSPOT, &[("tiles", "global")], Fault::MissingBarrier));
    }
}
