//! Diffusion that reduces the speckles of an image.
//!
//! Each iteration sums the elements of a region of the image and their squares, in a tree of
//! launches. The host computes from the sums how much the region varies. Two kernels then compute
//! the coefficients of diffusion from the differences between neighbours, and the new image from
//! the coefficients.
//!
//! Rodinia has two versions, and this program has parts of both. The kernels that sum, and the
//! kernels of the diffusion (which use no local memory), are those of version 1. The region of
//! speckles (a part of the image), the work-groups of 16 by 16 pixels, and the size of the image in
//! the papers are those of version 2. Version 2 sums the region on the host; version 1 sums the
//! whole image.

use kernel::prelude::*;

use crate::data;
use crate::float::{near, sum_in_group};
use crate::group::{grid_of, group_at, in_tile};
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload};
use crate::settings::{BadSetting, Setting, Settings};

pub(crate) static SRAD: Workload = Workload {
    name: "srad",
    summary: "removes speckles from an image by diffusion: sums, coefficients, image",
    origin: "Rodinia (2009); Hechtman thesis (2014), section 4.5.1; Dalmia thesis (2023), Tables 3.3 and 5.2",
    room: Room::Stencil,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("rows", "37"), ("columns", "29"), ("region", "20"), ("iterations", "2")],
        small: &[],
        paper: &[("rows", "2048"), ("columns", "2048"), ("region", "128"), ("iterations", "2")],
    },
    settings: &[
        Setting::count("rows", 128, 2, 1 << 13, "number of rows of the image"),
        Setting::count("columns", 128, 2, 1 << 13, "number of columns of the image"),
        Setting::count("region", 64, 2, 1 << 13, "number of rows and of columns of the region of speckles"),
        Setting::count("iterations", 2, 1, 1000, "number of iterations"),
    ],
    make: srad,
};

/// The number of rows of pixels of a work-group, which is also the number of columns.
const TILE: u32 = 16;

const GROUP: u32 = GROUP_ITEMS as u32;

/// The rate of diffusion, as in Rodinia.
const LAMBDA: f32 = 0.5;

#[derive(Clone, Copy)]
struct Image {
    pixels: Array<f32>,
    coefficients: Array<f32>,
    /// The differences between each element and its neighbours above, below, to the left and to the
    /// right.
    differences: [Array<f32>; 4],
    rows: u32,
    columns: u32,
    region: u32,
}

/// Two arrays: sums of elements, and sums of their squares.
#[derive(Clone, Copy)]
struct Sums {
    values: Array<f32>,
    squares: Array<f32>,
}

impl Sums {
    fn alloc(host: &Host, names: [&str; 2], n: u64) -> Sums {
        Sums { values: host.alloc(names[0], n), squares: host.alloc(names[1], n) }
    }

    fn len(&self) -> u64 {
        self.values.len()
    }

    /// Sums one value of each work-item in a work-group, and stores the sum in one element of `to`.
    async fn reduce(w: Wave, from: Sums, to: Sums) {
        let base = w.first_item();
        let within = w.below(base, from.len());
        let (value, square) = (within.load(from.values, Unit(base)), within.load(from.squares, Unit(base)));
        let (value, square) = (value.await, square.await);
        for (offset, values, to) in [(0, value, to.values), (4 * GROUP, square, to.squares)] {
            let tree = w.lds::<f32>(offset, GROUP);
            sum_in_group(&w, tree, values).await;
            if w.index() == 0 {
                let total = w.load(tree, 0).await;
                w.store(to, u64::from(w.work_group()), total);
            }
        }
    }
}

impl Image {
    /// Copies the region of speckles, and stores the squares of its elements.
    async fn prepare(self, w: Wave, to: Sums) {
        let base = w.first_item();
        let item = w.item();
        let w = w.below(base, to.len());
        let row = item / self.region;
        let index = row * self.columns + (item - row * self.region);
        let value = w.load(self.pixels, index).await;
        w.store(to.values, Unit(base), value);
        w.store(to.squares, Unit(base), value * value);
    }

    /// The wavefront with only those lanes active that have an element, and the column, the row and
    /// the index of each lane's element.
    fn element(&self, w: &Wave) -> (Wave, Lanes<u32>, Lanes<u32>, Lanes<u32>) {
        let at = in_tile(w, TILE);
        let (tile_x, tile_y) = group_at(w, self.columns.div_ceil(TILE));
        let (x, y) = (at.x + tile_x * TILE, at.y + tile_y * TILE);
        (w.when(x.lt(self.columns) & y.lt(self.rows)), x, y, y * self.columns + x)
    }

    /// Computes the coefficient of diffusion of each element.
    async fn srad1(self, w: Wave, variation: f32) {
        let (w, x, y, index) = self.element(&w);
        // At an edge, an element is its own neighbour.
        let around = [
            Lanes::select(y.eq(0), index, index - self.columns),
            Lanes::select(y.eq(self.rows - 1), index, index + self.columns),
            Lanes::select(x.eq(0), index, index - 1),
            Lanes::select(x.eq(self.columns - 1), index, index + 1),
        ];
        let own = w.load(self.pixels, index);
        let loads = around.map(|place| w.load(self.pixels, place));
        let own = own.await;
        let (mut sum, mut squares) = (Lanes::splat(0.0f32), Lanes::splat(0.0f32));
        for (load, array) in loads.into_iter().zip(self.differences) {
            let difference = load.await - own;
            w.store(array, index, difference);
            sum += difference;
            squares = difference.mul_add(difference, squares);
        }
        let gradient = squares / (own * own);
        let laplacian = sum / own;
        let numerator = gradient * 0.5 - laplacian * laplacian * (1.0 / 16.0);
        let denominator = laplacian * 0.25 + 1.0;
        let own_variation = numerator / (denominator * denominator);
        let excess = (own_variation - variation) / (variation * (1.0 + variation));
        let coefficient = Lanes::splat(1.0f32) / (excess + 1.0);
        w.store(self.coefficients, index, coefficient.max(0.0).min(1.0));
    }

    /// Computes the image after the diffusion of one iteration.
    async fn srad2(self, w: Wave) {
        let (w, x, y, index) = self.element(&w);
        let below = Lanes::select(y.eq(self.rows - 1), index, index + self.columns);
        let right = Lanes::select(x.eq(self.columns - 1), index, index + 1);
        let places = [index, below, index, right];
        let coefficients = places.map(|place| w.load(self.coefficients, place));
        let differences = self.differences.map(|array| w.load(array, index));
        let own = w.load(self.pixels, index);
        let mut divergence = Lanes::splat(0.0f32);
        for (coefficient, difference) in coefficients.into_iter().zip(differences) {
            divergence = coefficient.await.mul_add(difference.await, divergence);
        }
        let value = divergence.mul_add(0.25 * LAMBDA, own.await);
        w.store(self.pixels, index, value);
    }

    /// The variance of the region divided by the square of its mean. The host reads the two sums,
    /// as in Rodinia.
    async fn variation(self, host: &Host, levels: &[Sums]) -> f32 {
        let shape = host.shape();
        let first = levels[0];
        let kernel = Kernel::new("srad-prepare", move |w| self.prepare(w, first));
        let tiles = |sums: Sums, n: u64| [sums.values.write(), sums.squares.write()].map(|u| u.in_parts(n));
        let [values, squares] = tiles(first, GROUP_ITEMS);
        let grid = grid_of(&shape, first.len().div_ceil(GROUP_ITEMS), GROUP);
        host.launch(kernel.uses([self.pixels.read(), values, squares]), grid).await;
        for pair in levels.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let kernel = Kernel::new("srad-reduce", move |w| Sums::reduce(w, from, to));
            let reads = [from.values.read(), from.squares.read()].map(|u| u.in_parts(GROUP_ITEMS));
            let kernel = kernel.uses(reads).uses(tiles(to, 1));
            host.launch(kernel, grid_of(&shape, to.len(), GROUP).lds_bytes(8 * GROUP)).await;
        }
        let last = levels[levels.len() - 1];
        let (sum, squares) = (host.load(last.values, 0).await, host.load(last.squares, 0).await);
        let n = first.len() as f32;
        let mean = sum / n;
        (squares / n - mean * mean) / (mean * mean)
    }

    async fn iterate(self, host: &Host, levels: &[Sums]) {
        let variation = self.variation(host, levels).await;
        let tiles = u64::from(self.rows.div_ceil(TILE) * self.columns.div_ceil(TILE));
        let grid = grid_of(&host.shape(), tiles, TILE * TILE);
        let kernel = Kernel::new("srad1", move |w| self.srad1(w, variation));
        let kernel = kernel.uses([self.pixels.read(), self.coefficients.write()]);
        host.launch(kernel.uses(self.differences.map(|array| array.write())), grid).await;
        let kernel = Kernel::new("srad2", move |w| self.srad2(w));
        let kernel = kernel.uses([self.pixels.read_write(), self.coefficients.read()]);
        host.launch(kernel.uses(self.differences.map(|array| array.read())), grid).await;
    }
}

/// A random image. The logarithm of each element is between 0 and 1, as in Rodinia.
fn image(seed: u64, n: u64) -> Vec<f32> {
    data::floats(seed, n).into_iter().map(|x| libm::expf(x.abs())).collect()
}

fn srad(settings: &Settings, seed: u64) -> Result<Instance, BadSetting> {
    let (rows, columns) = (settings.count("rows") as u32, settings.count("columns") as u32);
    let (region, iterations) = (settings.count("region") as u32, settings.count("iterations"));
    if region > rows.min(columns) {
        let why = format!(
            "a region of {region} rows and columns exceeds the image of {rows} rows and {columns} columns"
        );
        return Err(settings.conflict(why));
    }
    let n = u64::from(rows) * u64::from(columns);
    // The arrays are the image, its coefficients, four arrays of differences, and two arrays of
    // sums over the region.
    let bytes = 4 * (6 * n + 2 * u64::from(region).pow(2));
    settings.limit_arrays(&["rows", "columns", "region"], bytes)?;
    let program = Program::new("srad", move |host| async move {
        let differences = ["above", "below", "left", "right"].map(|name| host.alloc(name, n));
        let pixels = host.alloc("image", n);
        let coefficients = host.alloc("coefficients", n);
        let image_of = Image { pixels, coefficients, differences, rows, columns, region };
        let mut levels = vec![Sums::alloc(&host, ["region", "region-squares"], u64::from(region * region))];
        while levels[levels.len() - 1].len() > 1 {
            let n = levels[levels.len() - 1].len().div_ceil(GROUP_ITEMS);
            levels.push(Sums::alloc(&host, ["sums", "sums-of-squares"], n));
        }
        host.write(pixels, &image(seed, n)).await;
        for _ in 0..iterations {
            image_of.iterate(&host, &levels).await;
        }
        Answer::new().with_array("image", &host, pixels).await
    });
    Ok(Instance::new(program, move |answer| {
        let mut pixels: Vec<f64> = image(seed, n).into_iter().map(f64::from).collect();
        for _ in 0..iterations {
            pixels = diffused(&pixels, columns as usize, region as usize);
        }
        let pixels: Vec<f32> = pixels.into_iter().map(|x| x as f32).collect();
        answer.compare("image", &pixels, near::<f32>(1e-4, 0.0))
    }))
}

/// The image after one iteration, in double precision, by the formulas of Yu and Acton (2002).
fn diffused(image: &[f64], columns: usize, region: usize) -> Vec<f64> {
    let rows = image.len() / columns;
    let speckles = || (0..region).flat_map(|y| &image[y * columns..][..region]);
    let count = (region * region) as f64;
    let mean = speckles().sum::<f64>() / count;
    let variance = speckles().map(|x| x * x).sum::<f64>() / count - mean * mean;
    let q0 = variance / (mean * mean);
    let at = |y: usize, x: usize| image[y * columns + x];
    let differences = |y: usize, x: usize| {
        let own = at(y, x);
        [
            at(y.saturating_sub(1), x) - own,
            at((y + 1).min(rows - 1), x) - own,
            at(y, x.saturating_sub(1)) - own,
            at(y, (x + 1).min(columns - 1)) - own,
        ]
    };
    let coefficient = |y: usize, x: usize| {
        let d = differences(y, x);
        let own = at(y, x);
        let gradient = d.iter().map(|d| d * d).sum::<f64>() / (own * own);
        let laplacian = d.iter().sum::<f64>() / own;
        let q = (0.5 * gradient - laplacian * laplacian / 16.0) / (1.0 + 0.25 * laplacian).powi(2);
        (1.0 / (1.0 + (q - q0) / (q0 * (1.0 + q0)))).clamp(0.0, 1.0)
    };
    let pixel = |y: usize, x: usize| {
        let [above, below, left, right] = differences(y, x);
        let own = coefficient(y, x) * (above + left);
        let divergence = own
            + coefficient((y + 1).min(rows - 1), x) * below
            + coefficient(y, (x + 1).min(columns - 1)) * right;
        at(y, x) + 0.25 * f64::from(LAMBDA) * divergence
    };
    (0..image.len()).map(|i| pixel(i / columns, i % columns)).collect()
}
