//! The temperature of a chip. Each launch computes several time steps, tile by tile in local
//! memory. In each step, one more element at each edge of a tile is left out.

use kernel::prelude::*;

use super::chip::{self, Chip, Inputs, simulation};
use crate::fault::{Fault, planted};
use crate::group::{first_local, grid_of, group_at, in_tile};
use crate::inputs::{NumberFile, NumberProgram};
use crate::instance::{Instance, Purpose, Room, Sizes, Workload};
use crate::settings::{BadSetting, Setting, Settings};

pub(crate) static HOTSPOT: Workload = Workload {
    name: "hotspot",
    summary: "computes the temperature of a chip, several steps of a tile at a time in local memory",
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

    async fn pyramid(self, w: Wave) {
        let at = in_tile(&w, TILE);
        let (tile_x, tile_y) = group_at(&w, self.columns.div_ceil(self.inner()));
        // In the first tiles, an element before the edge of the chip has a negative coordinate,
        // which wraps around to a large number.
        let x = at.x + (tile_x * self.inner()).wrapping_sub(self.count);
        let y = at.y + (tile_y * self.inner()).wrapping_sub(self.count);
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

        // At an edge of the chip, an element is its own neighbour.
        let place = at.y * TILE + at.x;
        let left = Lanes::select(x.eq(0), place, place - 1);
        let right = Lanes::select(x.eq(self.columns - 1), place, place + 1);
        let above = Lanes::select(y.eq(0), place, place - TILE);
        let below = Lanes::select(y.eq(self.rows - 1), place, place + TILE);
        let right = if planted(Fault::WrongIndex) { left } else { right };
        let mut inner = on_chip;
        for step in 0..self.count {
            let (first, last) = (step + 1, TILE - 2 - step);
            inner = inner & at.x.ge(first) & at.x.le(last) & at.y.ge(first) & at.y.le(last);
            let active = w.when(inner);
            let neighbours = [above, below, right, left].map(|place| active.load(temperature, place));
            let power = active.load(power, Unit(here));
            let [n, s, e, west] = neighbours;
            let (n, s, e, west) = (n.await, s.await, e.await, west.await);
            let f = self.factors;
            let columns = (n + s - own * 2.0) * f.along_columns;
            let rows = (e + west - own * 2.0) * f.along_rows;
            let outward = (-own + chip::AMBIENT) * f.outward;
            let change = (power.await + columns + rows + outward) * f.step_by_capacity;
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
    settings.limit_arrays(&["rows", "columns"], 12 * settings.count("rows") * settings.count("columns"))?;
    let (rows, columns) = (settings.count("rows") as u32, settings.count("columns") as u32);
    let (steps, pyramid) = (settings.count("steps"), settings.count("pyramid"));
    let factors = Factors::of(rows, columns);
    let counts = (0..steps).step_by(pyramid as usize).map(|first| (steps - first).min(pyramid) as u32);
    let launch = move |shape: &Shape, chip: Chip, count: u32| {
        let arguments = KernelArguments { chip, rows, columns, factors, count };
        let tiles = u64::from(rows.div_ceil(arguments.inner()) * columns.div_ceil(arguments.inner()));
        let grid = grid_of(shape, tiles, TILE * TILE).lds_bytes(8 * TILE * TILE);
        (Kernel::new("hotspot", move |w| arguments.pyramid(w)), grid)
    };
    let next = move |t: &[f32], power: &[f32]| next(t, power, rows as usize, columns as usize);
    Ok(simulation("hotspot", inputs, counts.collect(), launch, (steps, next)))
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
    use crate::fault::finds;

    #[test]
    fn the_check_finds_a_wrong_index_and_a_missing_barrier() {
        assert!(finds(&HOTSPOT, Fault::WrongIndex));
        assert!(finds(&HOTSPOT, Fault::MissingBarrier));
    }
}
