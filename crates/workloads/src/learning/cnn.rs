//! The forward pass of a small convolutional network. Each layer is a kernel: convolution by 3 by 3
//! filters, activation, pooling of 2 by 2 pixels, a fully connected layer, and softmax. These are
//! layers of DNNMark.
//!
//! The arrays hold images one after another, each by channels, rows and columns. All numbers before
//! the softmax are multiples of a power of two, and so small that single precision represents them
//! exactly.

use kernel::prelude::*;

use super::{expect_numbers, multiples};
use crate::float::sum_in_group;
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload, grid_over};
use crate::settings::{BadSetting, Setting, Settings};

pub(crate) static CNN: Workload = Workload {
    name: "cnn",
    summary: "runs a small network forward: convolution, activation, pooling, fully connected layer, softmax",
    origin: "DNNMark (2017); Dalmia thesis, Table 5.2",
    room: Room::Learning,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("batch", "2"), ("side", "10"), ("filters", "3"), ("classes", "5")],
        small: &[],
        // Table 5.2 gives the images, 128 by 128 pixels of 3 channels, and the batch. We chose the
        // numbers of filters and classes.
        paper: &[("side", "128"), ("filters", "16")],
    },
    settings: &[
        Setting::count("batch", 4, 1, 1 << 12, "number of images"),
        Setting::count("channels", 3, 1, 1 << 10, "number of channels of an image"),
        Setting::count("side", 32, 2, 1 << 10, "number of rows and of columns of an image, an even number"),
        Setting::count("filters", 8, 1, 1 << 12, "number of filters of the convolution"),
        Setting::count("classes", 10, 1, 1 << 14, "number of outputs of the network for an image"),
    ],
    make: cnn,
};

/// The number of rows of a convolution filter. The number of columns is the same.
const FILTER: u64 = 3;

/// The largest relative difference between a probability and the same probability computed in
/// double precision.
const TOLERANCE: f64 = 1e-5;

/// The sizes of the network and of its images.
#[derive(Clone, Copy, Debug)]
struct Sizing {
    batch: u64,
    channels: u64,
    side: u64,
    filters: u64,
    classes: u64,
}

impl Sizing {
    fn pixels(&self) -> u64 {
        self.side * self.side
    }

    fn pooled_pixels(&self) -> u64 {
        self.pixels() / 4
    }

    /// The number of inputs of the fully connected layer for one image.
    fn features(&self) -> u64 {
        self.filters * self.pooled_pixels()
    }
}

#[derive(Clone, Copy, Debug)]
struct Network {
    sizes: Sizing,
    images: Array<f32>,
    filters: Array<f32>,
    biases: Array<f32>,
    convolved: Array<f32>,
    active: Array<f32>,
    pooled: Array<f32>,
    weights: Array<f32>,
    logits: Array<f32>,
    probabilities: Array<f32>,
}

/// The plane (a channel of an image) that a wavefront computes, and its first pixel there. Several
/// work-groups cover the `pixels` pixels of a plane. The pixels of a work-group belong to one
/// plane.
fn plane_of(w: &Wave, pixels: u64) -> (u64, u64) {
    let (group, groups) = (u64::from(w.work_group()), pixels.div_ceil(GROUP_ITEMS));
    (group / groups, group % groups * GROUP_ITEMS + u64::from(w.index() * w.lanes()))
}

/// The grid of a kernel that has a work-item for each pixel of each plane (a channel of an image).
fn grid_of_planes(shape: &Shape, planes: u64, pixels: u64) -> Grid {
    grid_over(shape, planes * pixels.next_multiple_of(GROUP_ITEMS))
}

async fn convolve(w: Wave, s: Network) {
    let Sizing { channels, side, filters, .. } = s.sizes;
    let pixels = s.sizes.pixels();
    let (plane, first) = plane_of(&w, pixels);
    let w = w.below(first, pixels);
    let (image, filter) = (plane / filters, plane % filters);
    let pixel = w.lane_id() + first as u32;
    let row = pixel / side as u32;
    let column = pixel - row * side as u32;
    let mut sum = Lanes::splat(0.0f32);
    for tap in 0..channels * FILTER * FILTER {
        let (channel, down, right) = (tap / 9, (tap / 3 % 3) as u32, (tap % 3) as u32);
        let weight = w.load(s.filters, filter * channels * 9 + tap);
        // Pixels beyond the edge count as zero. Below the edge, the subtraction of 1 wraps around
        // to a large number, which is beyond the edge too.
        let (y, x) = (row + down - 1, column + right - 1);
        let within = w.when(y.lt(side as u32) & x.lt(side as u32));
        let start = ((image * channels + channel) * pixels) as u32;
        let value = within.load(s.images, y * side as u32 + x + start);
        sum += value.await * weight.await;
    }
    w.store(s.convolved, Unit(plane * pixels + first), sum).await;
}

/// Adds the bias of a pixel's filter to the pixel, and replaces negative numbers by zero.
async fn activate(w: Wave, s: Network) {
    let pixels = s.sizes.pixels();
    let (plane, first) = plane_of(&w, pixels);
    let w = w.below(first, pixels);
    let bias = w.load(s.biases, plane % s.sizes.filters);
    let value = w.load(s.convolved, Unit(plane * pixels + first)).await + bias.await;
    w.store(s.active, Unit(plane * pixels + first), value.max(0.0)).await;
}

/// Replaces each square of 2 by 2 pixels by the largest of them.
async fn pool(w: Wave, s: Network) {
    let (side, pixels) = (s.sizes.side as u32, s.sizes.pooled_pixels());
    let (plane, first) = plane_of(&w, pixels);
    let w = w.below(first, pixels);
    let pixel = w.lane_id() + first as u32;
    let row = pixel / (side / 2);
    let column = pixel - row * (side / 2);
    let corner = row * (2 * side) + column * 2 + (plane * s.sizes.pixels()) as u32;
    let (one, two) = (w.load(s.active, corner), w.load(s.active, corner + 1));
    let (three, four) = (w.load(s.active, corner + side), w.load(s.active, corner + (side + 1)));
    let largest = one.await.max(two.await).max(three.await).max(four.await);
    w.store(s.pooled, Unit(plane * pixels + first), largest).await;
}

/// Computes the fully connected layer: each work-group multiplies all features of one image with
/// the weights of one class, and adds the products in local memory.
async fn connect(w: Wave, s: Network) {
    let (group, features) = (u64::from(w.work_group()), s.sizes.features());
    let (image, class) = (group / s.sizes.classes, group % s.sizes.classes);
    let items = w.waves() * w.lanes();
    let here = u64::from(w.index() * w.lanes());
    let mut sum = Lanes::splat(0.0f32);
    for base in (here..features).step_by(items as usize) {
        let w = w.below(base, features);
        let value = w.load(s.pooled, Unit(image * features + base));
        let weight = w.load(s.weights, Unit(class * features + base));
        sum += value.await * weight.await;
    }
    let sums = w.lds::<f32>(0, items);
    sum_in_group(&w, sums, sum).await;
    if w.index() == 0 {
        let total = w.load(sums, 0).await;
        w.store(s.logits, group, total).await;
    }
}

/// Turns the logits (the results of the fully connected layer) into probabilities. A wavefront
/// computes one image.
async fn softmax(w: Wave, s: Network) {
    let (first, classes) = (u64::from(w.work_group()) * s.sizes.classes, s.sizes.classes);
    let chunks = || (0..classes).step_by(w.lanes() as usize);
    let mut largest = f32::NEG_INFINITY;
    for base in chunks() {
        let w = w.below(base, classes);
        let logit = w.load(s.logits, Unit(first + base)).await;
        largest = largest.max(w.reduce(&logit, f32::NEG_INFINITY, Class::FloatAdd, f32::max));
    }
    let mut sum = 0.0;
    for base in chunks() {
        let w = w.below(base, classes);
        let logit = w.load(s.logits, Unit(first + base)).await;
        let power = (logit - largest).map(Class::Special, libm::expf);
        w.store(s.probabilities, Unit(first + base), power).await;
        sum += w.reduce(&power, 0.0, Class::FloatAdd, |a, b| a + b);
    }
    for base in chunks() {
        let w = w.below(base, classes);
        let power = w.load(s.probabilities, Unit(first + base)).await;
        w.store(s.probabilities, Unit(first + base), power / sum).await;
    }
}

/// The images, filters, weights and biases of the network.
struct Inputs {
    images: Vec<f32>,
    filters: Vec<f32>,
    biases: Vec<f32>,
    weights: Vec<f32>,
}

impl Inputs {
    fn new(s: &Sizing, seed: u64) -> Inputs {
        Inputs {
            images: multiples(seed, s.batch * s.channels * s.pixels(), 7, 1.0),
            filters: multiples(seed ^ 1, s.filters * s.channels * FILTER * FILTER, 3, 1.0),
            biases: multiples(seed ^ 2, s.filters, 20, 1.0),
            // The weights are so small that the logits of the small network have a magnitude near
            // 1.
            weights: multiples(seed ^ 3, s.classes * s.features(), 1, 1.0 / 4096.0),
        }
    }

    /// The features of all images (the inputs of the fully connected layer), by plain loops in
    /// double precision.
    fn features(&self, s: &Sizing) -> Vec<f32> {
        let (channels, side) = (s.channels as usize, s.side as usize);
        let pixel = |image: usize, channel: usize, y: usize, x: usize| {
            // The image is surrounded by an edge of zeros that is one pixel wide.
            if y == 0 || x == 0 || y > side || x > side {
                return 0.0;
            }
            f64::from(self.images[((image * channels + channel) * side + y - 1) * side + x - 1])
        };
        let active = |image: usize, filter: usize, y: usize, x: usize| {
            let mut sum = f64::from(self.biases[filter]);
            for channel in 0..channels {
                for (down, right) in (0..9).map(|tap| (tap / 3, tap % 3)) {
                    let weight = self.filters[((filter * channels + channel) * 3 + down) * 3 + right];
                    sum += pixel(image, channel, y + down, x + right) * f64::from(weight);
                }
            }
            sum.max(0.0)
        };
        let mut features = Vec::with_capacity((s.batch * s.features()) as usize);
        for image in 0..s.batch as usize {
            for filter in 0..s.filters as usize {
                for (y, x) in (0..side / 2).flat_map(|y| (0..side / 2).map(move |x| (2 * y, 2 * x))) {
                    let four = [(y, x), (y, x + 1), (y + 1, x), (y + 1, x + 1)];
                    let four = four.map(|(y, x)| active(image, filter, y, x));
                    features.push(four.into_iter().fold(0.0, f64::max) as f32);
                }
            }
        }
        features
    }

    /// The logits of all images: the results of the fully connected layer.
    fn logits(&self, s: &Sizing, features: &[f32]) -> Vec<f32> {
        let width = s.features() as usize;
        let product = |values: &[f32], weights: &[f32]| {
            values.iter().zip(weights).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>() as f32
        };
        let of_image = |values| self.weights.chunks(width).map(move |weights| product(values, weights));
        features.chunks(width).flat_map(of_image).collect()
    }
}

/// The probabilities of the classes of each image, in double precision.
fn probabilities(s: &Sizing, logits: &[f32]) -> Vec<f32> {
    let of_image = |logits: &[f32]| {
        let largest = logits.iter().fold(f64::NEG_INFINITY, |most, &logit| most.max(f64::from(logit)));
        let powers: Vec<f64> = logits.iter().map(|&logit| libm::exp(f64::from(logit) - largest)).collect();
        let sum: f64 = powers.iter().sum();
        powers.into_iter().map(|power| (power / sum) as f32).collect::<Vec<_>>()
    };
    logits.chunks(s.classes as usize).flat_map(of_image).collect()
}

impl Network {
    async fn load(host: &Host, sizes: Sizing, seed: u64) -> Network {
        let inputs = Inputs::new(&sizes, seed);
        let (planes, outputs) = (sizes.batch * sizes.filters, sizes.batch * sizes.classes);
        let s = Network {
            sizes,
            images: host.alloc("images", inputs.images.len() as u64),
            filters: host.alloc("filters", inputs.filters.len() as u64),
            biases: host.alloc("biases", sizes.filters),
            convolved: host.alloc("convolved", planes * sizes.pixels()),
            active: host.alloc("active", planes * sizes.pixels()),
            pooled: host.alloc("pooled", planes * sizes.pooled_pixels()),
            weights: host.alloc("weights", inputs.weights.len() as u64),
            logits: host.alloc("logits", outputs),
            probabilities: host.alloc("probabilities", outputs),
        };
        host.write(s.images, &inputs.images).await;
        host.write(s.filters, &inputs.filters).await;
        host.write(s.biases, &inputs.biases).await;
        host.write(s.weights, &inputs.weights).await;
        s
    }

    /// Launches the kernels of all layers, one after the other.
    async fn run(self, host: &Host) {
        let (s, shape) = (self, host.shape());
        let planes = s.sizes.batch * s.sizes.filters;
        let grid = grid_of_planes(&shape, planes, s.sizes.pixels());
        let kernel = Kernel::new("convolve", move |w| convolve(w, s));
        host.launch(kernel.uses([s.images.read(), s.filters.read(), s.convolved.write()]), grid).await;
        let kernel = Kernel::new("activate", move |w| activate(w, s));
        host.launch(kernel.uses([s.convolved.read(), s.biases.read(), s.active.write()]), grid).await;
        let kernel = Kernel::new("pool", move |w| pool(w, s)).uses([s.active.read(), s.pooled.write()]);
        host.launch(kernel, grid_of_planes(&shape, planes, s.sizes.pooled_pixels())).await;
        let grid = grid_over(&shape, s.sizes.batch * s.sizes.classes * GROUP_ITEMS);
        let grid = grid.lds_bytes(4 * grid.waves * shape.lanes);
        let kernel = Kernel::new("connect", move |w| connect(w, s)).uses([
            s.pooled.read(),
            s.weights.read(),
            s.logits.write().in_parts(1),
        ]);
        host.launch(kernel, grid).await;
        let kernel = Kernel::new("softmax", move |w| softmax(w, s)).uses([
            s.logits.read().in_parts(s.sizes.classes),
            s.probabilities.read_write().in_parts(s.sizes.classes),
        ]);
        host.launch(kernel, Grid::new(s.sizes.batch as u32, 1)).await;
    }
}

fn cnn(settings: &Settings, seed: u64) -> Result<Instance, BadSetting> {
    let [batch, channels, side, filters, classes] =
        ["batch", "channels", "side", "filters", "classes"].map(|name| settings.count(name));
    if side % 2 != 0 {
        return Err(settings.conflict(format!("`side` is {side}, expected an even number")));
    }
    let sizes = Sizing { batch, channels, side, filters, classes };
    let elements = batch * channels.max(filters) * sizes.pixels();
    let weights = classes * sizes.features();
    if elements.max(weights) > 1 << 28 {
        let why =
            format!("a layer has {elements} pixels and {weights} weights, expected at most 2^28 of each");
        return Err(settings.conflict(why));
    }
    let program = Program::new("cnn", move |host| async move {
        let s = Network::load(&host, sizes, seed).await;
        s.run(&host).await;
        let answer = Answer::new().with_array("features", &host, s.pooled).await;
        let answer = answer.with_array("logits", &host, s.logits).await;
        answer.with_array("probabilities", &host, s.probabilities).await
    });
    Ok(Instance::new(program, move |answer| {
        let inputs = Inputs::new(&sizes, seed);
        let features = inputs.features(&sizes);
        let logits = inputs.logits(&sizes, &features);
        expect_numbers(answer, "features", &features)?;
        expect_numbers(answer, "logits", &logits)?;
        answer.compare("probabilities", &probabilities(&sizes, &logits), |want, have| {
            (f64::from(want) - f64::from(have)).abs() <= f64::from(want) * TOLERANCE
        })
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sums_are_exact_in_single_precision_and_the_classes_differ() {
        let s = Sizing { batch: 2, channels: 3, side: 32, filters: 8, classes: 10 };
        let inputs = Inputs::new(&s, 4);
        let features = inputs.features(&s);
        let logits = inputs.logits(&s, &features);
        // All logits are multiples of 2^-12 and below 2^12, so 24 bits represent them.
        assert!(logits.iter().all(|logit| logit.abs() < 4096.0 && (logit * 4096.0).fract() == 0.0));
        let probabilities = probabilities(&s, &logits);
        let sum: f32 = probabilities[..10].iter().sum();
        assert!((sum - 1.0).abs() < 1e-5, "{sum}");
        let most = probabilities.iter().fold(0.0f32, |most, &p| most.max(p));
        assert!((0.15..0.999).contains(&most), "{most}");
    }
}
