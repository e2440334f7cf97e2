//! The discrete wavelet transform of a picture. Each of its three colours is transformed in several
//! levels.
//!
//! A work-group transforms a tile in local memory, first along its rows and then along its columns.
//! It also loads the elements around the tile on which the results depend.

use kernel::charge;
use kernel::prelude::*;

use super::lifting::{Lifted, mirrored, transform};
use crate::data;
use crate::group::{grid_of, group_at, local_item};
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload, grid_over};
use crate::settings::{Setting, Settings};

pub(crate) static DWT2D: Workload = Workload {
    name: "dwt2d",
    summary: "transforms a picture by wavelets, level after level, in tiles with a halo",
    origin: "Rodinia (2010); Dalmia thesis (2023), Tables 3.3 and 5.2",
    room: Room::Dense,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("width", "41"), ("height", "19"), ("levels", "2")],
        small: &[],
        // The size is that of Table 3.3. Table 5.2 has 4096 rows and columns, which take 16 times
        // as long.
        paper: &[("width", "1024"), ("height", "1024")],
    },
    settings: &[
        Setting::count("width", 96, 1, 1 << 13, "number of columns of the picture"),
        Setting::count("height", 96, 1, 1 << 13, "number of rows of the picture"),
        Setting::count("levels", 3, 1, 16, "number of levels of the transform"),
        Setting::policy(
            "wavelet",
            &[("5-3", "the lossless wavelet of JPEG 2000"), ("9-7", "the lossy wavelet of JPEG 2000")],
            "the wavelet",
        ),
    ],
    make: |settings, seed| {
        // The arrays are the pixels, and an input and an output for each of three colours.
        let bytes = 4 * 7 * settings.count("width") * settings.count("height");
        settings.limit_arrays(&["width", "height"], bytes)?;
        let dwt = if settings.is("wavelet", "5-3") { dwt::<i32> } else { dwt::<f32> };
        Ok(dwt(settings, seed))
    },
};

/// The number of rows of a tile. The number of columns is the same.
const TILE: u32 = 32;

const COLOURS: [&str; 3] = ["red", "green", "blue"];

/// The transform of one colour at one level.
#[derive(Clone, Copy)]
struct Level2d<T> {
    from: Array<T>,
    to: Array<T>,
    /// The number of elements from the start of one row to the start of the next.
    stride: u32,
    /// The number of columns and the number of rows that are transformed at this level.
    size: [u32; 2],
}

/// Splits pixels into their three colours, and shifts the values of each colour so that they lie
/// around zero.
async fn split<T: Lifted>(w: Wave, pixels: Array<u32>, colours: [Array<T>; 3]) {
    let base = w.first_item();
    let w = w.below(base, pixels.len());
    let pixel = w.load(pixels, Unit(base)).await;
    for (shift, colour) in [16u32, 8, 0].into_iter().zip(colours) {
        w.store(colour, Unit(base), T::pixels((pixel >> shift) & 255));
    }
}

impl<T: Lifted> Level2d<T> {
    /// The number of rows of a tile with its halo (the elements around the tile). The number of
    /// columns is the same.
    const SIDE: u32 = TILE + 2 * T::STEPS;

    /// The number of columns and the number of rows of the part that the next level transforms (the
    /// low band).
    fn low(&self) -> [u32; 2] {
        self.size.map(|n| n.div_ceil(2))
    }

    /// Distributes the numbers from 0 to `count - 1` over the lanes of the work-group, in rounds.
    /// For each round, the iterator returns the wavefront and the number of each lane. Only those
    /// lanes are active that have a number in the round.
    fn rounds(w: &Wave, count: u32) -> impl Iterator<Item = (Wave, Lanes<u32>)> {
        let (stride, local) = (w.waves() * w.lanes(), local_item(w));
        let w = w.clone();
        (0..count).step_by(stride as usize).map(move |first| {
            let item = local + first;
            (w.when(item.lt(count)), item)
        })
    }

    /// The quotient and the remainder of `item` divided by the constant `by`. The division is
    /// charged as a multiplication, because compilers divide by a constant in this way.
    fn divided(item: Lanes<u32>, by: u32) -> (Lanes<u32>, Lanes<u32>) {
        let quotient = item.map(Class::IntMul, |item| item / by);
        (quotient, item - quotient * by)
    }

    async fn load(&self, w: &Wave, tile: Lds<T>, first: [u32; 2]) {
        let [width, height] = self.size;
        for (w, item) in Self::rounds(w, Self::SIDE * Self::SIDE) {
            let (row, column) = Self::divided(item, Self::SIDE);
            let inside = |at: Lanes<u32>, first: u32, n: u32| {
                charge(Class::Int, 3);
                at.map(Class::Int, |at| {
                    let index = i64::from(first) + i64::from(at) - i64::from(T::STEPS);
                    mirrored(index, i64::from(n)) as u32
                })
            };
            let index = inside(row, first[1], height) * self.stride + inside(column, first[0], width);
            let values = w.load(self.from, index).await;
            w.store(tile, item, values);
        }
        w.barrier().await;
    }

    /// Performs all lifting steps on a tile, along its rows or along its columns. In each step, one
    /// more element at each end of a row or column is left out.
    async fn lift(w: &Wave, tile: Lds<T>, along_rows: bool) {
        let pairs = Self::SIDE / 2;
        let distance = if along_rows { 1 } else { Self::SIDE };
        for step in 0..T::STEPS {
            for (w, item) in Self::rounds(w, Self::SIDE * pairs) {
                let (row, column, position);
                if along_rows {
                    let (line, pair) = Self::divided(item, pairs);
                    position = pair * 2 + (1 - step % 2);
                    (row, column) = (line, position);
                } else {
                    let (pair, line) = Self::divided(item, Self::SIDE);
                    position = pair * 2 + (1 - step % 2);
                    (row, column) = (position, line);
                }
                let w = w.when(position.gt(step) & position.lt(Self::SIDE - 1 - step));
                let index = row * Self::SIDE + column;
                let (left, here) = (w.load(tile, index - distance), w.load(tile, index));
                let right = w.load(tile, index + distance);
                let value = T::lift(step, left.await, here.await, right.await);
                w.store(tile, index, value);
            }
            w.barrier().await;
        }
    }

    async fn store(&self, w: &Wave, tile: Lds<T>, first: [u32; 2]) {
        let [low_x, low_y] = self.low();
        // The results of each of the four bands are stored in turn, so that the stores of a band
        // are consecutive.
        for (high_y, high_x) in [(false, false), (false, true), (true, false), (true, true)] {
            for (w, item) in Self::rounds(w, TILE * TILE / 4) {
                let (row, column) = (item >> (TILE / 2).trailing_zeros(), item & (TILE / 2 - 1));
                let (x, y) = (column * 2 + u32::from(high_x), row * 2 + u32::from(high_y));
                let (to_x, to_y) = (column + first[0] / 2, row + first[1] / 2);
                let w = w.when((x + first[0]).lt(self.size[0]) & (y + first[1]).lt(self.size[1]));
                let value = w.load(tile, (y + T::STEPS) * Self::SIDE + x + T::STEPS).await;
                let to_x = if high_x { to_x + low_x } else { to_x };
                let to_y = if high_y { to_y + low_y } else { to_y };
                w.store(self.to, to_y * self.stride + to_x, T::scaled(value, [high_x, high_y]));
            }
        }
    }

    async fn forward(self, w: Wave) {
        let (tile_x, tile_y) = group_at(&w, self.size[0].div_ceil(TILE));
        let first = [tile_x * TILE, tile_y * TILE];
        let tile = w.lds::<T>(0, Self::SIDE * Self::SIDE);
        self.load(&w, tile, first).await;
        Self::lift(&w, tile, true).await;
        Self::lift(&w, tile, false).await;
        self.store(&w, tile, first).await;
    }

    /// Copies the low band (the part that the next level transforms) from the output back to the
    /// input.
    async fn copy_low(self, w: Wave) {
        let [width, height] = self.low();
        let item = w.item();
        let w = w.below(w.first_item(), u64::from(width * height));
        let row = item / width;
        let index = row * self.stride + (item - row * width);
        let values = w.load(self.to, index).await;
        w.store(self.from, index, values);
    }

    /// Launches the kernels of this level: the transform and, unless this level is the last one,
    /// the copy of the low band. Returns the next level.
    async fn launch(self, host: &Host, is_last: bool) -> Self {
        let shape = host.shape();
        let [tiles_x, tiles_y] = self.size.map(|n| u64::from(n.div_ceil(TILE)));
        let bytes = Self::SIDE * Self::SIDE * T::WIDTH.bytes() as u32;
        let grid = grid_of(&shape, tiles_x * tiles_y, GROUP_ITEMS as u32).lds_bytes(bytes);
        let kernel = Kernel::new("dwt-forward", move |w| self.forward(w));
        host.launch(kernel.uses([self.from.read(), self.to.write()]), grid).await;
        let [width, height] = self.low();
        if !is_last {
            let kernel = Kernel::new("dwt-copy", move |w| self.copy_low(w));
            let kernel = kernel.uses([self.to.read(), self.from.write()]);
            host.launch(kernel, grid_over(&shape, u64::from(width * height))).await;
        }
        Level2d { size: [width, height], ..self }
    }
}

fn dwt<T: Lifted>(settings: &Settings, seed: u64) -> Instance {
    let (width, height) = (settings.count("width"), settings.count("height"));
    let levels = settings.count("levels");
    let pixels = move || data::words_below(seed, width * height, 1 << 24);
    let program = Program::new("dwt2d", move |host| async move {
        let source = host.alloc::<u32>("pixels", width * height);
        host.write(source, &pixels()).await;
        let inputs = COLOURS.map(|name| host.alloc::<T>(format!("{name}-input"), width * height));
        let outputs = COLOURS.map(|name| host.alloc::<T>(name, width * height));
        let kernel = Kernel::new("dwt-split", move |w| split(w, source, inputs));
        let uses = [source.read(), inputs[0].write(), inputs[1].write(), inputs[2].write()];
        let uses = uses.map(|used| used.in_parts(GROUP_ITEMS));
        host.launch(kernel.uses(uses), grid_over(&host.shape(), width * height)).await;
        let mut answer = Answer::new();
        for ((from, to), name) in inputs.into_iter().zip(outputs).zip(COLOURS) {
            let size = [width as u32, height as u32];
            let mut level = Level2d { from, to, stride: width as u32, size };
            for number in 1..=levels {
                level = level.launch(&host, number == levels).await;
            }
            answer = answer.with_array(name, &host, to).await;
        }
        answer
    });
    Instance::new(program, move |answer| {
        for (shift, name) in [16u32, 8, 0].into_iter().zip(COLOURS) {
            let colour: Vec<T> = pixels().iter().map(|pixel| T::pixel((pixel >> shift) & 255)).collect();
            answer.expect(name, &reference(colour, width as usize, levels))?;
        }
        Ok(())
    })
}

/// The transform of a whole picture, computed on the host, one row or column at a time.
fn reference<T: Lifted>(mut picture: Vec<T>, stride: usize, levels: u64) -> Vec<T> {
    let (mut width, mut height) = (stride, picture.len() / stride);
    for _ in 0..levels {
        for row in 0..height {
            transform(&mut picture[row * stride..], 1, width);
        }
        for column in 0..width {
            transform(&mut picture[column..], stride, height);
        }
        let (low_x, low_y) = (width.div_ceil(2), height.div_ceil(2));
        for y in 0..height {
            for x in 0..width {
                let value = &mut picture[y * stride + x];
                *value = T::scaled_one(*value, [x >= low_x, y >= low_y]);
            }
        }
        (width, height) = (low_x, low_y);
    }
    picture
}
