//! The gradients of a convolution's weights, by atomic float adds.
//!
//! The gradient of a weight is a sum over all pixels of all output images. A work-group handles
//! some output rows of one image, and 256 weights. Each work-item computes the sum for one weight
//! over these rows, and adds it to the gradient by one atomic add. The work-groups of all images
//! therefore add to the same gradients.

use kernel::prelude::*;

use super::{expect_numbers, multiples};
use crate::instance::{GROUP_ITEMS, Instance, NamedInput, Purpose, Room, Sizes, Workload, grid_over};
use crate::settings::{BadSetting, Setting, Settings};

pub(crate) static CONV_BACKWARD: Workload = Workload {
    name: "conv-backward",
    summary: "computes the gradients of a convolution's weights by atomic float adds",
    origin: "DNNMark (2017); Dalmia thesis, section 3.3.3 and Table 3.3",
    room: Room::Learning,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("batch", "2"), ("side", "9"), ("filters", "5"), ("rows", "4")],
        small: &[],
        // The images of Table 3.3 have 256 by 256 pixels in a batch of 128: see the input `bwc`.
        // The size `paper` is smaller, so that a run takes minutes.
        paper: &[("batch", "16"), ("side", "128")],
    },
    settings: &[
        Setting::count("batch", 4, 1, 1 << 12, "number of images"),
        Setting::count("channels", 3, 1, 1 << 12, "number of channels of an image"),
        Setting::count("side", 32, 1, 1 << 12, "number of rows and of columns of an image"),
        Setting::count("filters", 16, 1, 1 << 12, "number of filters"),
        Setting::count("filter-side", 3, 1, 31, "number of rows and of columns of a filter, an odd number"),
        Setting::count("stride", 1, 1, 16, "number of pixels from one position of a filter to the next"),
        Setting::count("rows", 4, 1, 1 << 12, "number of rows of the output that a work-group computes"),
    ],
    make: conv_backward,
};

/// Inputs with the images of Table 3.3 of the Dalmia thesis. The thesis does not give the filters.
/// The filters here are those of the first layer of each network, or our choice if the summary of
/// the input says so.
pub(crate) static INPUTS: [NamedInput; 6] = [
    NamedInput {
        name: "bwc",
        summary: "128 images of 256 by 256 pixels; 64 filters of 3 by 3, our choice",
        settings: &[("batch", "128"), ("side", "256"), ("filters", "64"), ("rows", "8")],
    },
    NamedInput {
        name: "alexnet",
        summary: "16 images of 227 by 227 pixels; 96 filters of 11 by 11, stride 4",
        settings: &[
            ("batch", "16"),
            ("side", "227"),
            ("filters", "96"),
            ("filter-side", "11"),
            ("stride", "4"),
        ],
    },
    NamedInput {
        name: "vgg-19",
        summary: "16 images of 112 by 112 pixels; 64 filters of 3 by 3",
        settings: &[("batch", "16"), ("side", "112"), ("filters", "64")],
    },
    NamedInput {
        name: "squeezenet",
        summary: "16 images of 224 by 224 pixels; 96 filters of 7 by 7, stride 2",
        settings: &[
            ("batch", "16"),
            ("side", "224"),
            ("filters", "96"),
            ("filter-side", "7"),
            ("stride", "2"),
        ],
    },
    NamedInput {
        name: "tiny-yolo",
        summary: "16 images of 416 by 416 pixels; 16 filters of 3 by 3",
        settings: &[("batch", "16"), ("side", "416"), ("filters", "16")],
    },
    NamedInput {
        name: "resnet",
        summary: "16 images of 256 by 256 pixels; 64 filters of 7 by 7, stride 2",
        settings: &[
            ("batch", "16"),
            ("side", "256"),
            ("filters", "64"),
            ("filter-side", "7"),
            ("stride", "2"),
        ],
    },
];

/// The sizes of the convolution.
#[derive(Clone, Copy, Debug)]
struct Sizing {
    batch: u64,
    channels: u64,
    side: u64,
    filters: u64,
    filter_side: u64,
    stride: u64,
    /// The number of output rows that a work-group handles.
    rows: u64,
}

impl Sizing {
    /// The number of rows of an output image. The number of columns is the same. The filter is
    /// centred on each pixel of the input, so half a filter reaches beyond the edge.
    fn out_side(&self) -> u64 {
        (self.side - 1) / self.stride + 1
    }

    /// The number of weights of one filter.
    fn taps(&self) -> u64 {
        self.channels * self.filter_side * self.filter_side
    }

    fn weights(&self) -> u64 {
        self.filters * self.taps()
    }

    fn images(&self) -> u64 {
        self.batch * self.channels * self.side * self.side
    }

    fn outputs(&self) -> u64 {
        self.batch * self.filters * self.out_side() * self.out_side()
    }

    /// The number of work-groups along each of three dimensions: the weights, the output rows, and
    /// the images.
    fn groups(&self) -> [u64; 3] {
        [self.weights().div_ceil(GROUP_ITEMS), self.out_side().div_ceil(self.rows), self.batch]
    }
}

#[derive(Clone, Copy, Debug)]
struct Layer {
    sizes: Sizing,
    images: Array<f32>,
    /// The errors of the pixels of the output images.
    errors: Array<f32>,
    gradients: Array<f32>,
}

async fn gradients(w: Wave, s: Layer) {
    let Sizing { channels, side, filters, filter_side, stride, rows, .. } = s.sizes;
    let (group, out_side) = (u64::from(w.work_group()), s.sizes.out_side());
    let [of_weights, of_rows, _] = s.sizes.groups();
    let (part, band, image) =
        (group % of_weights, group / of_weights % of_rows, group / of_weights / of_rows);
    let first = part * GROUP_ITEMS + u64::from(w.index() * w.lanes());
    let w = w.below(first, s.sizes.weights());
    if !w.any() {
        return;
    }
    // Three numbers for each lane's weight: its filter, its channel, and its place in the filter.
    let weight = w.lane_id() + first as u32;
    let filter = weight / s.sizes.taps() as u32;
    let tap = weight - filter * s.sizes.taps() as u32;
    let line = tap / filter_side as u32;
    let right = tap - line * filter_side as u32;
    let channel = line / filter_side as u32;
    let down = line - channel * filter_side as u32;
    let plane = (channel + (image * channels) as u32) * (side * side) as u32;
    let out_plane = (filter + (image * filters) as u32) * (out_side * out_side) as u32;
    let half = (filter_side / 2) as u32;
    let mut sum = Lanes::splat(0.0f32);
    for y in band * rows..out_side.min((band + 1) * rows) {
        // Pixels beyond the edge count as zero. Below the edge, a subtraction wraps around to a
        // large number, which is beyond the edge too.
        let from_y = down + (y * stride) as u32 - half;
        let row_within = from_y.lt(side as u32);
        let row = plane + from_y * side as u32;
        for x in 0..out_side {
            let from_x = right + (x * stride) as u32 - half;
            let within = w.when(row_within & from_x.lt(side as u32));
            let error = w.load(s.errors, out_plane + (y * out_side + x) as u32);
            let value = within.load(s.images, row + from_x);
            sum += value.await * error.await;
        }
    }
    let add = relaxed(Level::Device).commutative();
    w.update(s.gradients, Unit(first), RmwKind::AddF, sum, add).await;
}

/// The gradients of all weights on the host, by plain loops in double precision.
fn reference(s: &Sizing, images: &[f32], errors: &[f32]) -> Vec<f32> {
    let (side, out_side, half) = (s.side as usize, s.out_side() as usize, s.filter_side as usize / 2);
    let mut gradients = vec![0.0f64; s.weights() as usize];
    let mut errors = errors.iter();
    for image in 0..s.batch as usize {
        for filter in 0..s.filters as usize {
            for (y, x) in (0..out_side).flat_map(|y| (0..out_side).map(move |x| (y, x))) {
                let error = f64::from(errors.next().copied().unwrap_or_default());
                for tap in 0..s.taps() as usize {
                    let (line, right) = (tap / s.filter_side as usize, tap % s.filter_side as usize);
                    let (channel, down) = (line / s.filter_side as usize, line % s.filter_side as usize);
                    let (y, x) = (y * s.stride as usize + down, x * s.stride as usize + right);
                    if y < half || x < half || y - half >= side || x - half >= side {
                        continue;
                    }
                    let plane = image * s.channels as usize + channel;
                    let value = images[(plane * side + y - half) * side + x - half];
                    gradients[filter * s.taps() as usize + tap] += error * f64::from(value);
                }
            }
        }
    }
    gradients.into_iter().map(|gradient| gradient as f32).collect()
}

fn conv_backward(settings: &Settings, seed: u64) -> Result<Instance, BadSetting> {
    let [batch, channels, side, filters] =
        ["batch", "channels", "side", "filters"].map(|name| settings.count(name));
    let [filter_side, stride, rows] = ["filter-side", "stride", "rows"].map(|name| settings.count(name));
    if filter_side % 2 == 0 {
        return Err(settings.conflict(format!("`filter-side` is {filter_side}, expected an odd number")));
    }
    let sizes = Sizing { batch, channels, side, filters, filter_side, stride, rows };
    let largest = sizes.images().max(sizes.outputs()).max(sizes.weights());
    if largest > 1 << 30 {
        return Err(
            settings.conflict(format!("the largest array has {largest} numbers, expected at most 2^30"))
        );
    }
    // The numbers are whole, from -3 to 3. The gradients stay far below 2^24, so they are exact.
    let images = move || multiples(seed, sizes.images(), 3, 1.0);
    let errors = move || multiples(!seed, sizes.outputs(), 3, 1.0);
    let program = Program::new("conv-backward", move |host| async move {
        let s = Layer {
            sizes,
            images: host.alloc("images", sizes.images()),
            errors: host.alloc("errors", sizes.outputs()),
            gradients: host.alloc("gradients", sizes.weights()),
        };
        host.write(s.images, &images()).await;
        host.write(s.errors, &errors()).await;
        let groups: u64 = sizes.groups().iter().product();
        let grid = grid_over(&host.shape(), groups * GROUP_ITEMS);
        let kernel = Kernel::new("gradients", move |w| gradients(w, s));
        let uses = [s.images.read(), s.errors.read(), s.gradients.read_write()];
        host.launch(kernel.uses(uses), grid).await;
        Answer::new().with_array("gradients", &host, s.gradients).await
    });
    Ok(Instance::new(program, move |answer| {
        expect_numbers(answer, "gradients", &reference(&sizes, &images(), &errors()))
    }))
}

#[cfg(test)]
mod tests {
    use kernel::reference::{Options, run};

    use super::*;

    #[test]
    fn a_gradient_is_the_change_of_the_weighted_outputs() {
        // With a single pixel and a single error, only the weight in the middle of the filter has a
        // gradient.
        let sizes = Sizing { batch: 1, channels: 1, side: 1, filters: 1, filter_side: 3, stride: 1, rows: 1 };
        assert_eq!(reference(&sizes, &[3.0], &[2.0]), [0.0, 0.0, 0.0, 0.0, 6.0, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn wide_filters_with_a_stride_give_right_gradients() {
        for (side, filter_side, stride, rows) in
            [("11", "5", "2", "3"), ("12", "7", "4", "100"), ("1", "3", "1", "1")]
        {
            let mut settings = CONV_BACKWARD.defaults();
            for (name, value) in
                [("side", side), ("filter-side", filter_side), ("stride", stride), ("rows", rows)]
            {
                settings.set(name, value).unwrap();
            }
            let (program, check) = conv_backward(&settings, 3).unwrap().into_parts();
            assert_eq!(check(&run(program, &Options::default()).unwrap().answer), Ok(()));
        }
    }
}
