//! The convolution of an image with a mask. It runs as one kernel, or as two kernels: one for the
//! rows and one for the columns.

use kernel::prelude::*;

use crate::data;
use crate::float::near;
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload, grid_over};
use crate::settings::{Setting, Settings};

pub(crate) static CONVOLUTION_2D: Workload = Workload {
    name: "convolution-2d",
    summary: "filters an image with a mask, by one kernel or by a kernel for rows and one for columns",
    origin: "AMD APP SDK sample SimpleConvolution; Hechtman thesis (2014), Table 3.2",
    room: Room::Dense,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("width", "50"), ("height", "37"), ("radius", "1")],
        small: &[],
        // The thesis gives no size.
        paper: &[("width", "2048"), ("height", "2048")],
    },
    settings: &[
        Setting::count("width", 256, 1, 1 << 14, "number of columns of the image"),
        Setting::count("height", 256, 1, 1 << 14, "number of rows of the image"),
        Setting::count("radius", 2, 0, 32, "number of columns of the mask on either side of its centre"),
        Setting::policy(
            "mask",
            &[
                ("separable", "one kernel filters the rows, then one the columns"),
                ("non-separable", "one kernel applies the whole mask"),
            ],
            "the form of the convolution",
        ),
    ],
    make: |settings, seed| {
        settings.limit_arrays(&["width", "height", "radius"], arrays_bytes(settings))?;
        Ok(convolution(settings, seed))
    },
};

/// The arrays of a convolution, and the sizes of the image and of the mask.
#[derive(Clone, Copy)]
struct Filtering {
    /// The image, surrounded by a margin of zeros.
    input: Array<f32>,
    /// The result of the kernel for the rows, with a margin of zeros above and below.
    between: Array<f32>,
    output: Array<f32>,
    /// The weights: those of the whole mask, or those of the filter for rows followed by those of
    /// the filter for columns.
    mask: Array<f32>,
    width: u32,
    /// The number of rows of the mask. The number of columns is the same.
    side: u32,
}

impl Filtering {
    /// The number of columns of the image and its margin.
    fn padded(&self) -> u32 {
        self.width + self.side - 1
    }

    /// The column and the row of the pixel that each lane computes. Both count from the first pixel
    /// of the image, without the margin.
    fn element(&self, w: &Wave) -> (Lanes<u32>, Lanes<u32>) {
        let item = w.item();
        let row = item / self.width;
        (item - row * self.width, row)
    }

    async fn non_separable(self, w: Wave) {
        let base = w.first_item();
        let (x, y) = self.element(&w);
        let w = w.below(base, self.output.len());
        let mut sum = Lanes::splat(0.0f32);
        let mut row = y * self.padded() + x;
        for j in 0..self.side {
            for i in 0..self.side {
                let value = w.load(self.input, row + i);
                let weight = w.load(self.mask, u64::from(j * self.side + i));
                sum = value.await.mul_add(weight.await, sum);
            }
            row += self.padded();
        }
        w.store(self.output, Unit(base), sum);
    }

    async fn rows(self, w: Wave) {
        let base = w.first_item();
        let (x, y) = self.element(&w);
        let w = w.below(base, self.between.len());
        let first = y * self.padded() + x;
        let mut sum = Lanes::splat(0.0f32);
        for i in 0..self.side {
            let value = w.load(self.input, first + i);
            let weight = w.load(self.mask, u64::from(i));
            sum = value.await.mul_add(weight.await, sum);
        }
        w.store(self.between, Unit(base), sum);
    }

    async fn columns(self, w: Wave) {
        let base = w.first_item();
        let w = w.below(base, self.output.len());
        let mut sum = Lanes::splat(0.0f32);
        for j in 0..self.side {
            let value = w.load(self.between, Unit(base + u64::from(j * self.width)));
            let weight = w.load(self.mask, u64::from(self.side + j));
            sum = value.await.mul_add(weight.await, sum);
        }
        w.store(self.output, Unit(base), sum);
    }

    async fn launch(self, host: &Host, is_separable: bool) {
        let shape = host.shape();
        let output = self.output.write().in_parts(GROUP_ITEMS);
        if is_separable {
            let kernel = Kernel::new("convolution-rows", move |w| self.rows(w));
            let between = self.between.write().in_parts(GROUP_ITEMS);
            let kernel = kernel.uses([self.input.read(), self.mask.read(), between]);
            host.launch(kernel, grid_over(&shape, self.between.len())).await;
            let kernel = Kernel::new("convolution-columns", move |w| self.columns(w));
            let kernel = kernel.uses([self.between.read(), self.mask.read(), output]);
            host.launch(kernel, grid_over(&shape, self.output.len())).await;
        } else {
            let kernel = Kernel::new("convolution", move |w| self.non_separable(w));
            let kernel = kernel.uses([self.input.read(), self.mask.read(), output]);
            host.launch(kernel, grid_over(&shape, self.output.len())).await;
        }
    }
}

/// The size in bytes of three arrays: the image with its margin, the result of the kernel for the
/// rows, and the output.
fn arrays_bytes(settings: &Settings) -> u64 {
    let [width, height] = ["width", "height"].map(|name| settings.count(name));
    let margin = 2 * settings.count("radius");
    4 * ((width + margin) * (height + margin) + width * (height + margin) + width * height)
}

/// `count` random numbers from 0 to 1.
fn positive(seed: u64, count: u64) -> Vec<f32> {
    data::floats(seed, count).into_iter().map(f32::abs).collect()
}

/// Surrounds an image by a margin of zeros, `radius` elements wide.
fn padded(image: &[f32], width: usize, radius: usize) -> Vec<f32> {
    let row = |row: &[f32]| [vec![0.0; radius], row.to_vec(), vec![0.0; radius]].concat();
    let above = vec![0.0; radius * (width + 2 * radius)];
    let rows: Vec<f32> = image.chunks(width).flat_map(row).collect();
    [above.clone(), rows, above].concat()
}

fn convolution(settings: &Settings, seed: u64) -> Instance {
    let (width, height) = (settings.count("width"), settings.count("height"));
    let radius = settings.count("radius");
    let is_separable = settings.is("mask", "separable");
    let side = 2 * radius + 1;
    let inputs = move || (positive(seed, width * height), positive(!seed, 2 * side));
    let program = Program::new("convolution-2d", move |host| async move {
        let (image, filters) = inputs();
        let (of_rows, of_columns) = filters.split_at(side as usize);
        let image = padded(&image, width as usize, radius as usize);
        let mask: Vec<f32> = if is_separable {
            filters.clone()
        } else {
            of_columns.iter().flat_map(|y| of_rows.iter().map(move |x| x * y)).collect()
        };
        let f = Filtering {
            input: host.alloc("input", image.len() as u64),
            between: host.alloc("rows", width * (height + 2 * radius)),
            output: host.alloc("output", width * height),
            mask: host.alloc("mask", mask.len() as u64),
            width: width as u32,
            side: side as u32,
        };
        host.write(f.input, &image).await;
        host.write(f.mask, &mask).await;
        f.launch(&host, is_separable).await;
        Answer::new().with_array("output", &host, f.output).await
    });
    Instance::new(program, move |answer| {
        let (image, filters) = inputs();
        // All terms of a sum are positive, so the error of a sum is proportional to the sum.
        answer.compare("output", &reference(&image, &filters, width, radius), near::<f32>(1e-5, 0.0))
    })
}

/// The result of the convolution, computed on the host in double precision.
fn reference(image: &[f32], filters: &[f32], width: u64, radius: u64) -> Vec<f32> {
    let (width, radius) = (width as i64, radius as i64);
    let height = image.len() as i64 / width;
    let side = 2 * radius + 1;
    let at = |x: i64, y: i64| {
        let is_inside = (0..width).contains(&x) && (0..height).contains(&y);
        if is_inside { f64::from(image[(y * width + x) as usize]) } else { 0.0 }
    };
    let filtered = |x: i64, y: i64| {
        let mut sum = 0.0;
        for j in 0..side {
            let row: f64 =
                (0..side).map(|i| at(x + i - radius, y + j - radius) * f64::from(filters[i as usize])).sum();
            sum += row * f64::from(filters[(side + j) as usize]);
        }
        sum as f32
    };
    (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| filtered(x, y)).collect()
}
