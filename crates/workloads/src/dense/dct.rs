//! The discrete cosine transform of blocks of 8 by 8 pixels.

use core::f64::consts::PI;

use kernel::prelude::*;

use crate::data;
use crate::float::near;
use crate::group::{first_local, grid_of, group_at, in_tile, members};
use crate::instance::{Instance, Purpose, Room, Sizes, Workload};
use crate::settings::{BadSetting, Setting, Settings};

pub(crate) static DCT: Workload = Workload {
    name: "dct",
    summary: "transforms blocks of 8 by 8 pixels by two small matrix products in local memory",
    origin: "AMD APP SDK sample DCT; Hechtman thesis (2014), section 4.4.2",
    room: Room::Dense,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("width", "48"), ("height", "24")],
        small: &[],
        // The thesis gives no size.
        paper: &[("width", "1024"), ("height", "1024")],
    },
    settings: &[
        Setting::count("width", 256, 8, 1 << 14, "number of columns of the image, a multiple of 8"),
        Setting::count("height", 256, 8, 1 << 14, "number of rows of the image, a multiple of 8"),
        Setting::policy(
            "direction",
            &[("forward", "from pixels to frequencies"), ("inverse", "from frequencies to pixels")],
            "the direction of the transform",
        ),
    ],
    make: dct,
};

/// The number of rows of a block of pixels. The number of columns is the same.
const BLOCK: u32 = 8;

#[derive(Clone, Copy)]
struct Transform {
    input: Array<f32>,
    output: Array<f32>,
    /// The matrix of cosines, with one row for each frequency.
    cosines: Array<f32>,
    width: u32,
    is_inverse: bool,
}

impl Transform {
    /// Transforms one block in each work-group: multiplies it by the matrix of cosines, first along
    /// rows and then along columns.
    async fn block(self, w: Wave) {
        let at = in_tile(&w, BLOCK);
        let (block_x, block_y) = group_at(&w, self.width / BLOCK);
        let here = Unit(first_local(&w));
        let between = w.lds::<f32>(0, BLOCK * BLOCK);
        // The index of the first cosine for row or column `i`, and the distance to the next cosine.
        let cosine = |i: Lanes<u32>| if self.is_inverse { (i, BLOCK) } else { (i * BLOCK, 1) };
        let active = members(&w, BLOCK * BLOCK);

        let row = (at.y + block_y * BLOCK) * self.width + block_x * BLOCK;
        let (mut factor, step) = cosine(at.x);
        let mut sum = Lanes::splat(0.0f32);
        for i in 0..BLOCK {
            let (x, c) = (active.load(self.input, row + i), active.load(self.cosines, factor));
            sum = x.await.mul_add(c.await, sum);
            factor += step;
        }
        active.store(between, here, sum);
        w.barrier().await;

        let mut column = at.x;
        let (mut factor, step) = cosine(at.y);
        let mut sum = Lanes::splat(0.0f32);
        for _ in 0..BLOCK {
            let (x, c) = (active.load(between, column), active.load(self.cosines, factor));
            sum = x.await.mul_add(c.await, sum);
            column += BLOCK;
            factor += step;
        }
        let index = (at.y + block_y * BLOCK) * self.width + at.x + block_x * BLOCK;
        active.store(self.output, index, sum);
    }
}

/// The factor by which pixel `x` contributes to frequency `u`.
fn cosine(u: usize, x: usize) -> f64 {
    let scale = if u == 0 { libm::sqrt(0.125) } else { 0.5 };
    scale * libm::cos((2 * x + 1) as f64 * u as f64 * PI / 16.0)
}

fn dct(settings: &Settings, seed: u64) -> Result<Instance, BadSetting> {
    let (width, height) = (settings.count("width"), settings.count("height"));
    let is_inverse = settings.is("direction", "inverse");
    for (name, value) in [("width", width), ("height", height)] {
        if !value.is_multiple_of(u64::from(BLOCK)) {
            return Err(
                settings.conflict(format!("setting `{name}` is {value}, but must be a multiple of 8"))
            );
        }
    }
    settings.limit_arrays(&["width", "height"], 8 * width * height)?;
    let program = Program::new("dct", move |host| async move {
        let t = Transform {
            input: host.alloc("input", width * height),
            output: host.alloc("output", width * height),
            cosines: host.alloc("cosines", 64),
            width: width as u32,
            is_inverse,
        };
        let cosines: Vec<f32> = (0..64).map(|i| cosine(i / 8, i % 8) as f32).collect();
        host.write(t.input, &data::floats(seed, width * height)).await;
        host.write(t.cosines, &cosines).await;
        let kernel = Kernel::new("dct", move |w| t.block(w));
        let kernel = kernel.uses([t.input.read(), t.cosines.read(), t.output.write()]);
        let grid = grid_of(&host.shape(), width * height / 64, BLOCK * BLOCK);
        host.launch(kernel, grid.lds_bytes(4 * BLOCK * BLOCK)).await;
        Answer::new().with_array("output", &host, t.output).await
    });
    Ok(Instance::new(program, move |answer| {
        let image = data::floats(seed, width * height);
        answer.compare("output", &reference(&image, width as usize, is_inverse), near::<f32>(0.0, 1e-5))
    }))
}

/// The transform of an image, computed on the host in double precision, by the definition of the
/// transform with four nested sums.
fn reference(image: &[f32], width: usize, is_inverse: bool) -> Vec<f32> {
    let factor = |to: usize, from: usize| if is_inverse { cosine(from, to) } else { cosine(to, from) };
    let factors: Vec<f64> = (0..64).map(|i| factor(i / 8, i % 8)).collect();
    let mut output = vec![0.0; image.len()];
    for (index, output) in output.iter_mut().enumerate() {
        let (x, y) = (index % width, index / width);
        let (first_x, first_y) = (x & !7, y & !7);
        let mut sum = 0.0;
        for j in 0..8 {
            for i in 0..8 {
                let pixel = f64::from(image[(first_y + j) * width + first_x + i]);
                sum += pixel * factors[(x & 7) * 8 + i] * factors[(y & 7) * 8 + j];
            }
        }
        *output = sum as f32;
    }
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of pixels, from the example of JPEG in the literature. The next constant,
    /// `FREQUENCIES`, is the transform of this block after 128 is subtracted from each pixel, in
    /// hundredths.
    const PIXELS: [[i16; 8]; 8] = [
        [52, 55, 61, 66, 70, 61, 64, 73],
        [63, 59, 55, 90, 109, 85, 69, 72],
        [62, 59, 68, 113, 144, 104, 66, 73],
        [63, 58, 71, 122, 154, 106, 70, 69],
        [67, 61, 68, 104, 126, 88, 68, 70],
        [79, 65, 60, 70, 77, 68, 58, 75],
        [85, 71, 64, 59, 55, 61, 65, 83],
        [87, 79, 69, 68, 65, 76, 78, 94],
    ];
    const FREQUENCIES: [[i32; 8]; 8] = [
        [-41538, -3019, -6120, 2724, 5612, -2010, -239, 46],
        [447, -2186, -6076, 1025, 1315, -709, -854, 488],
        [-4683, 737, 7713, -2456, -2891, 993, 542, -565],
        [-4853, 1207, 3410, -1476, -1024, 630, 183, 195],
        [1212, -655, -1320, -395, -187, 175, -279, 314],
        [-773, 291, 238, -594, -238, 94, 430, 185],
        [-103, 18, 42, -242, -88, -302, 412, -66],
        [-17, 14, -107, -419, -117, -10, 50, 168],
    ];

    #[test]
    fn the_transform_of_the_example_of_jpeg_has_the_published_numbers() {
        let pixels: Vec<f32> = PIXELS.concat().into_iter().map(|pixel| f32::from(pixel - 128)).collect();
        let frequencies: Vec<f32> =
            FREQUENCIES.concat().into_iter().map(|hundredths| hundredths as f32 / 100.0).collect();
        let near = |found: &[f32], want: &[f32], error: f32| {
            found.iter().zip(want).all(|(found, want)| (found - want).abs() < error)
        };
        assert!(near(&reference(&pixels, 8, false), &frequencies, 0.006));
        assert!(near(&reference(&frequencies, 8, true), &pixels, 0.05));
    }

    #[test]
    fn the_cosines_are_those_of_the_standard() {
        // The values of cos(k pi / 16) / 2, for k from 1 to 7.
        let halves = [0.490_393, 0.461_940, 0.415_735, 0.353_553, 0.277_785, 0.191_342, 0.097_545];
        for (k, half) in (1..8).zip(halves) {
            assert!((cosine(k, 0) - half).abs() < 1e-6, "{k}");
        }
        assert!((0..8).all(|x| (cosine(0, x) - 0.353_553).abs() < 1e-6));
        // For odd frequencies, the last cosine is the negative of the first one. For even
        // frequencies, it is the same.
        assert!((cosine(1, 7) + 0.490_393).abs() < 1e-6 && (cosine(2, 7) - 0.461_940).abs() < 1e-6);
    }
}
