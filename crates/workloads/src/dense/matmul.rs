//! The product of two dense matrices.

use std::sync::Arc;

use kernel::prelude::*;

use crate::data;
use crate::fault::{Fault, planted};
use crate::files::numbers::Table;
use crate::float::{Float, fused, times};
use crate::group::{InTile, first_local, grid_of, group_at, in_tile};
use crate::inputs::{NumberFile, NumberProgram, Numbers};
use crate::instance::{Instance, Purpose, Room, Sizes, Workload};
use crate::policy::{TILES, has_global_tiles};
use crate::settings::{BadSetting, Setting, Settings};

const SIZES: Sizes = Sizes {
    tiny: &[("m", "40"), ("n", "33"), ("k", "35")],
    small: &[],
    // The papers give no size.
    paper: &[("m", "512"), ("n", "512"), ("k", "512")],
};

const M: Setting =
    Setting::count("m", 128, 1, 1 << 14, "number of rows of the first matrix and of the product");
const N: Setting =
    Setting::count("n", 128, 1, 1 << 14, "number of columns of the second matrix and of the product");
const K: Setting =
    Setting::count("k", 128, 1, 1 << 14, "number of columns of the first matrix and of rows of the second");
const KERNEL: Setting = Setting::policy(
    "kernel",
    &[
        ("tiled", "a tile of both matrices after the other, see the setting `tiles`"),
        ("naive", "all elements from global memory, without tiles and barriers"),
    ],
    "the algorithm",
);

pub(crate) static MATMUL: Workload = Workload {
    name: "matmul",
    summary: "multiplies two matrices, by tiles or naively",
    origin: "Hechtman thesis (2014), Table 3.2 and section 4.4.2 (AMD APP SDK)",
    room: Room::Dense,
    purpose: Purpose::Benchmark,
    sizes: SIZES,
    settings: &[
        M,
        N,
        K,
        KERNEL,
        TILES,
        Setting::policy(
            "type",
            &[("float", "4-byte floats"), ("double", "8-byte floats")],
            "the type of the elements",
        ),
    ],
    make: |settings, seed| product(settings, Matrices::random(settings, seed)),
};

pub(crate) static DGEMM: Workload = Workload {
    name: "dgemm",
    summary: "adds a scaled product of two matrices of doubles to a scaled matrix",
    origin: "DGEMM of the BLAS (1990)",
    room: Room::Dense,
    purpose: Purpose::Benchmark,
    sizes: SIZES,
    settings: &[M, N, K, KERNEL, TILES],
    make: |settings, seed| matmul::<f64>("dgemm", Some(SCALE), settings, Matrices::random(settings, seed)),
};

/// The number of rows of a tile. The number of columns is the same.
const TILE: u32 = 16;

/// The arrays and sizes of a product of matrices: `c = a * b`, or `c = alpha * a * b + beta * c`.
#[derive(Clone, Copy)]
struct Product<T> {
    a: Array<T>,
    b: Array<T>,
    c: Array<T>,
    m: u32,
    n: u32,
    k: u32,
    /// The factors `alpha` and `beta`, or `None` for the plain product.
    scale: Option<(T, T)>,
}

impl<T: Float> Product<T> {
    /// The column and the row of the element of the product that each lane computes.
    fn element(&self, w: &Wave, at: InTile) -> (Lanes<u32>, Lanes<u32>) {
        let (tile_x, tile_y) = group_at(w, self.n.div_ceil(TILE));
        (at.x + tile_x * TILE, at.y + tile_y * TILE)
    }

    /// Stores the sum of each lane. Lanes whose element is outside the product store nothing.
    async fn finish(&self, w: &Wave, (column, row): (Lanes<u32>, Lanes<u32>), sum: Lanes<T>) {
        let w = w.when(row.lt(self.m) & column.lt(self.n));
        let index = row * self.n + column;
        let value = match self.scale {
            None => sum,
            Some((alpha, beta)) => {
                let old = w.load(self.c, index).await;
                fused(sum, alpha, times(old, beta))
            }
        };
        w.store(self.c, index, value);
    }

    /// Loads all elements from the matrices in global memory. If `has_tiles`, the wavefronts of a
    /// work-group meet after each tile. So they load from the same tile at the same time, and may
    /// find its lines in the L1. The barrier orders no accesses, because no work-item writes the
    /// tiles.
    async fn naive(self, w: Wave, has_tiles: bool) {
        let at = in_tile(&w, TILE);
        let (column, row) = self.element(&w, at);
        let active = w.when(row.lt(self.m) & column.lt(self.n));
        let mut sum = Lanes::default();
        let (mut left, mut right) = (row * self.k, column);
        for term in 1..=self.k {
            let (x, y) = (active.load(self.a, left), active.load(self.b, right));
            sum = fused(x.await, y.await, sum);
            left += 1;
            right += self.n;
            if has_tiles && (term % TILE == 0 || term == self.k) {
                w.barrier_with(relaxed(Level::WorkGroup)).await;
            }
        }
        self.finish(&w, (column, row), sum).await;
    }

    /// Copies each tile into local memory, and loads its elements from there.
    async fn tiled(self, w: Wave) {
        let at = in_tile(&w, TILE);
        let (column, row) = self.element(&w, at);
        let here = Unit(first_local(&w));
        let left = w.lds::<T>(0, TILE * TILE);
        let right = w.lds::<T>(TILE * TILE * T::WIDTH.bytes() as u32, TILE * TILE);
        let mut sum = Lanes::default();
        for first in (0..self.k).step_by(TILE as usize) {
            let (x, y) = (at.x + first, at.y + first);
            let a = w.when(row.lt(self.m) & x.lt(self.k)).load(self.a, row * self.k + x);
            let b = w.when(y.lt(self.k) & column.lt(self.n)).load(self.b, y * self.n + column);
            let (a, b) = (a.await, b.await);
            w.store(left, here, a);
            w.store(right, here, b);
            if !planted(Fault::MissingBarrier) {
                w.barrier().await;
            }
            let (mut from_left, mut from_right) = (at.y * TILE, at.x);
            if planted(Fault::WrongIndex) {
                from_right = at.y;
            }
            for _ in first..self.k.min(first + TILE) {
                let (x, y) = (w.load(left, from_left), w.load(right, from_right));
                sum = fused(x.await, y.await, sum);
                from_left += 1;
                from_right += TILE;
            }
            w.barrier().await;
        }
        self.finish(&w, (column, row), sum).await;
    }
}

/// The elements of the matrices of a program, row by row.
#[derive(Clone)]
struct Matrices {
    a: Numbers,
    b: Numbers,
    c: Numbers,
}

impl Matrices {
    fn random(settings: &Settings, seed: u64) -> Matrices {
        let [m, n, k] = ["m", "n", "k"].map(|name| settings.count(name));
        let numbers = |seed, count| Numbers::generated(move || data::floats(seed, count));
        Matrices {
            a: numbers(seed, m * k),
            b: numbers(seed ^ 1 << 32, k * n),
            c: numbers(seed ^ 1 << 33, m * n),
        }
    }

    /// The matrices of a program: the two factors come from files, the matrix that is added is
    /// random.
    fn of_files(tables: &[Arc<Table>], settings: &Settings, seed: u64) -> Matrices {
        let [a, b] = [0, 1].map(|at| Numbers::Given(tables[at].clone()));
        Matrices { a, b, ..Matrices::random(settings, seed) }
    }

    fn get<T: Float>(&self) -> [Vec<T>; 3] {
        [&self.a, &self.b, &self.c]
            .map(|numbers| numbers.get().iter().map(|&x| T::of(f64::from(x))).collect())
    }
}

/// The descriptions of the files that hold the two factors.
fn files(settings: &Settings) -> Vec<NumberFile> {
    let [m, n, k] = ["m", "n", "k"].map(|name| settings.count(name));
    let (of_k, of_n) = ((k, "the setting `k`"), (n, "the setting `n`"));
    vec![NumberFile::matrix("left factor", m, of_k), NumberFile::matrix("right factor", k, of_n)]
}

/// The form of `matmul` that reads its matrices from files.
pub(crate) const MATMUL_ON_FILES: NumberProgram = NumberProgram {
    workload: &MATMUL,
    files,
    settings: &[],
    make: |tables, settings, seed| product(settings, Matrices::of_files(tables, settings, seed)),
};

/// The form of `dgemm` that reads its matrices from files.
pub(crate) const DGEMM_ON_FILES: NumberProgram = NumberProgram {
    workload: &DGEMM,
    files,
    settings: &[],
    make: |tables, settings, seed| {
        matmul::<f64>("dgemm", Some(SCALE), settings, Matrices::of_files(tables, settings, seed))
    },
};

/// Makes the plain product of matrices, in the precision that the settings select.
fn product(settings: &Settings, matrices: Matrices) -> Result<Instance, BadSetting> {
    match settings.is("type", "double") {
        true => matmul::<f64>("matmul", None, settings, matrices),
        false => matmul::<f32>("matmul", None, settings, matrices),
    }
}

/// The factor `alpha` of the product and the factor `beta` of the old matrix in `dgemm`.
const SCALE: (f64, f64) = (1.5, -0.5);

fn matmul<T: Float>(
    name: &'static str,
    scale: Option<(T, T)>,
    settings: &Settings,
    matrices: Matrices,
) -> Result<Instance, BadSetting> {
    let [m, n, k] = ["m", "n", "k"].map(|name| settings.count(name));
    let bytes = T::WIDTH.bytes() as u64 * (m * k + k * n + m * n);
    settings.limit_arrays(&["m", "n", "k"], bytes)?;
    let (m, n, k) = (m as u32, n as u32, k as u32);
    let is_tiled = settings.is("kernel", "tiled");
    let is_local = is_tiled && !has_global_tiles(settings);
    let of_check = matrices.clone();
    let program = Program::new(name, move |host| async move {
        let alloc = |name, count: u32| host.alloc::<T>(name, u64::from(count));
        let (a, b, c) = (alloc("a", m * k), alloc("b", k * n), alloc("c", m * n));
        let [left, right, old] = matrices.get();
        host.write(a, &left).await;
        host.write(b, &right).await;
        if scale.is_some() {
            host.write(c, &old).await;
        }
        let p = Product { a, b, c, m, n, k, scale };
        let result = if scale.is_some() { c.read_write() } else { c.write() };
        let uses = [a.read(), b.read(), result];
        let groups = u64::from(m.div_ceil(TILE)) * u64::from(n.div_ceil(TILE));
        let grid = grid_of(&host.shape(), groups, TILE * TILE);
        let name = if is_tiled { "matmul-tiled" } else { "matmul-naive" };
        if is_local {
            let bytes = 2 * TILE * TILE * T::WIDTH.bytes() as u32;
            let kernel = Kernel::new(name, move |w| p.tiled(w));
            host.launch(kernel.uses(uses), grid.lds_bytes(bytes)).await;
        } else {
            let kernel = Kernel::new(name, move |w| p.naive(w, is_tiled));
            host.launch(kernel.uses(uses), grid).await;
        }
        Answer::new().with_array("c", &host, c).await
    });
    Ok(Instance::new(program, move |answer| {
        let [a, b, mut c] = of_check.get::<T>();
        for row in 0..m as usize {
            // The host adds the terms of each element in ascending order, as the kernel does, but
            // computes a whole row at a time.
            let mut sums = vec![T::default(); n as usize];
            for i in 0..k as usize {
                let x = a[row * k as usize + i];
                let terms = &b[i * n as usize..][..n as usize];
                sums.iter_mut().zip(terms).for_each(|(sum, y)| *sum = x.fused(*y, *sum));
            }
            for (old, sum) in c[row * n as usize..].iter_mut().zip(sums) {
                *old = scale.map_or(sum, |(alpha, beta)| sum.fused(alpha, *old * beta));
            }
        }
        answer.expect("c", &c)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::finds;

    #[test]
    fn the_check_finds_a_wrong_index_and_a_missing_barrier() {
        assert!(finds(&MATMUL, Fault::WrongIndex));
        assert!(finds(&MATMUL, Fault::MissingBarrier));
    }
}
