//! The decomposition of a matrix into a lower and an upper triangular matrix, in place, block by
//! block.
//!
//! A step decomposes one block on the diagonal, and then the blocks to its right and below it. It
//! subtracts the products of these blocks from the blocks that remain.

use kernel::prelude::*;

use crate::data;
use crate::float::{less_product, near};
use crate::group::{grid_of, group_at, in_tile, local_item, members};
use crate::inputs::{NumberFile, NumberProgram, Numbers};
use crate::instance::{Instance, Purpose, Room, Sizes, Workload};
use crate::settings::{BadSetting, Setting, Settings};

pub(crate) static LUD: Workload = Workload {
    name: "lud",
    summary: "factors a matrix into two triangular ones (LU), by three kernels for each diagonal block",
    origin: "Rodinia (2009); Hechtman thesis (2014), section 4.4.2; Dalmia thesis (2023), Tables 3.3 and 5.2",
    room: Room::Dense,
    purpose: Purpose::Benchmark,
    sizes: Sizes { tiny: &[("n", "48")], small: &[], paper: &[("n", "512")] },
    settings: &[Setting::count(
        "n",
        128,
        16,
        1 << 13,
        "number of rows and of columns of the matrix, a multiple of 16",
    )],
    make: lud,
};

/// The number of rows of a block. The number of columns is the same.
const B: u32 = 16;

#[derive(Clone, Copy)]
struct Decomposition {
    m: Array<f32>,
    n: u32,
    /// The number of the first row and first column of the block on the diagonal.
    first: u32,
}

impl Decomposition {
    /// The index in the matrix of an element, given its row and column. Both count from the first
    /// element of the block on the diagonal.
    fn at(&self, row: u32, column: u32) -> u32 {
        (self.first + row) * self.n + self.first + column
    }

    /// Decomposes the block on the diagonal, with as many work-items as the block has rows.
    async fn diagonal(self, w: Wave) {
        let w = members(&w, B);
        let tx = local_item(&w);
        let shadow = w.lds::<f32>(0, B * B);
        for row in 0..B {
            let values = w.load(self.m, tx + self.at(row, 0)).await;
            w.store(shadow, tx + row * B, values);
        }
        w.barrier().await;
        for i in 0..B - 1 {
            let beyond = w.when(tx.gt(i));
            let mut lower = beyond.load(shadow, tx * B + i).await;
            for j in 0..i {
                let l = beyond.load(shadow, tx * B + j);
                let u = beyond.load(shadow, u64::from(j * B + i));
                lower = less_product(lower, l.await, u.await);
            }
            let pivot = beyond.load(shadow, u64::from(i * B + i)).await;
            beyond.store(shadow, tx * B + i, lower / pivot);
            w.barrier().await;
            let mut upper = beyond.load(shadow, tx + (i + 1) * B).await;
            for j in 0..=i {
                let l = beyond.load(shadow, u64::from((i + 1) * B + j));
                let u = beyond.load(shadow, tx + j * B);
                upper = less_product(upper, u.await, l.await);
            }
            beyond.store(shadow, tx + (i + 1) * B, upper);
            w.barrier().await;
        }
        for row in 1..B {
            let values = w.load(shadow, tx + row * B).await;
            w.store(self.m, tx + self.at(row, 0), values);
        }
    }

    /// Decomposes two blocks in each work-group: the first half of the work-items has a block to
    /// the right of the diagonal block, the other half has a block below the diagonal block.
    async fn perimeter(self, w: Wave) {
        let item = local_item(&w);
        let tx = item & (B - 1);
        let (right, below) = (w.when(item.lt(B)), w.when(item.ge(B) & item.lt(2 * B)));
        let away = (w.work_group() + 1) * B;
        let diagonal = w.lds::<f32>(0, B * B);
        let row = w.lds::<f32>(4 * B * B, B * B);
        let column = w.lds::<f32>(8 * B * B, B * B);
        for i in 0..B {
            let half = if i < B / 2 { &right } else { &below };
            let values = half.load(self.m, tx + self.at(i, 0)).await;
            half.store(diagonal, tx + i * B, values);
        }
        for i in 0..B {
            let to_right = right.load(self.m, tx + self.at(i, away));
            let to_below = below.load(self.m, tx + self.at(away + i, 0));
            right.store(row, tx + i * B, to_right.await);
            below.store(column, tx + i * B, to_below.await);
        }
        w.barrier().await;
        for i in 1..B {
            let mut value = right.load(row, tx + i * B).await;
            for j in 0..i {
                let l = right.load(diagonal, u64::from(i * B + j));
                let u = right.load(row, tx + j * B);
                value = less_product(value, u.await, l.await);
            }
            right.store(row, tx + i * B, value);
        }
        for i in 0..B {
            let mut value = below.load(column, tx * B + i).await;
            for j in 0..i {
                let l = below.load(column, tx * B + j);
                let u = below.load(diagonal, u64::from(j * B + i));
                value = less_product(value, l.await, u.await);
            }
            let pivot = below.load(diagonal, u64::from(i * B + i)).await;
            below.store(column, tx * B + i, value / pivot);
        }
        w.barrier().await;
        for i in 0..B {
            let (of_row, of_column) = (right.load(row, tx + i * B), below.load(column, tx + i * B));
            right.store(self.m, tx + self.at(i, away), of_row.await);
            below.store(self.m, tx + self.at(away + i, 0), of_column.await);
        }
    }

    /// Subtracts the product of two decomposed blocks from a block that is below and to the right
    /// of the diagonal block. Each element has one work-item.
    async fn internal(self, w: Wave) {
        let (block_x, block_y) = group_at(&w, (self.n - self.first) / B - 1);
        let (right, down) = ((block_x + 1) * B, (block_y + 1) * B);
        let at = in_tile(&w, B);
        let row = w.lds::<f32>(0, B * B);
        let column = w.lds::<f32>(4 * B * B, B * B);
        let here = at.y * B + at.x;
        let line = at.y * self.n + at.x;
        let (u, l) = (w.load(self.m, line + self.at(0, right)), w.load(self.m, line + self.at(down, 0)));
        w.store(row, here, u.await);
        w.store(column, here, l.await);
        w.barrier().await;
        let mut sum = Lanes::splat(0.0f32);
        for i in 0..B {
            let (l, u) = (w.load(column, at.y * B + i), w.load(row, at.x + i * B));
            sum = l.await.mul_add(u.await, sum);
        }
        let index = line + self.at(down, right);
        let value = w.load(self.m, index).await;
        w.store(self.m, index, value - sum);
    }

    async fn launch(self, host: &Host) {
        let shape = host.shape();
        let left = u64::from((self.n - self.first) / B - 1);
        let kernel = Kernel::new("lud-diagonal", move |w| self.diagonal(w)).uses([self.m.read_write()]);
        host.launch(kernel, grid_of(&shape, 1, B).lds_bytes(4 * B * B)).await;
        if left == 0 {
            return;
        }
        let kernel = Kernel::new("lud-perimeter", move |w| self.perimeter(w)).uses([self.m.read_write()]);
        host.launch(kernel, grid_of(&shape, left, 2 * B).lds_bytes(12 * B * B)).await;
        let kernel = Kernel::new("lud-internal", move |w| self.internal(w)).uses([self.m.read_write()]);
        host.launch(kernel, grid_of(&shape, left * left, B * B).lds_bytes(8 * B * B)).await;
    }
}

/// A random matrix. In each row, the diagonal element is larger than the sum of all others, so that
/// no search for pivots is necessary.
pub(super) fn dominant(seed: u64, n: u64) -> Vec<f32> {
    let mut values = data::floats(seed, n * n);
    values.iter_mut().step_by(n as usize + 1).for_each(|x| *x += n as f32);
    values
}

fn lud(settings: &Settings, seed: u64) -> Result<Instance, BadSetting> {
    let n = settings.count("n");
    decomposition(settings, Numbers::generated(move || dominant(seed, n)))
}

/// The form of the workload that reads its matrix from a file.
pub(crate) const LUD_ON_FILES: NumberProgram = NumberProgram {
    workload: &LUD,
    files: |settings| {
        let n = settings.count("n");
        vec![NumberFile::matrix("matrix", n, (n, "the setting `n`"))]
    },
    settings: &[],
    make: |tables, settings, _| {
        let (table, n) = (tables[0].clone(), settings.count("n") as usize);
        let triangles = reference(table.numbers(), n);
        if let Some(row) = triangles.chunks(n).position(|row| !row.iter().all(|value| value.is_finite())) {
            return Err(settings.conflict(format!(
                "the decomposition divides by zero or overflows in row {}; the program does not exchange rows",
                row + 1
            )));
        }
        decomposition(settings, Numbers::Given(table))
    },
};

fn decomposition(settings: &Settings, matrix: Numbers) -> Result<Instance, BadSetting> {
    let n = settings.count("n");
    if !n.is_multiple_of(u64::from(B)) {
        return Err(settings.conflict(format!("setting `n` is {n}, but must be a multiple of {B}")));
    }
    let of_program = matrix.clone();
    let program = Program::new("lud", move |host| async move {
        let m = host.alloc::<f32>("m", n * n);
        host.write(m, &of_program.get()).await;
        for first in (0..n as u32).step_by(B as usize) {
            Decomposition { m, n: n as u32, first }.launch(&host).await;
        }
        Answer::new().with_array("m", &host, m).await
    });
    Ok(Instance::new(program, move |answer| {
        let (wanted, n) = (matrix.get(), n as usize);
        let triangles = reference(&wanted, n);
        match matrix {
            Numbers::Generated(_) => compare(answer, &triangles, n),
            // For an arbitrary matrix, the triangular matrices may be inaccurate, but their product
            // is accurate.
            Numbers::Given(_) => {
                let mut products = Products::of(answer, n).into_iter();
                let mut wanted = wanted.iter();
                answer.compare("m", &triangles, |_, _| match (wanted.next(), products.next()) {
                    (Some(want), Some(found)) => found.is_near(*want, n),
                    _ => false,
                })
            }
        }
    }))
}

/// Compares the decomposition of a matrix that [`dominant`] has made with its reference. The
/// elements of the lower triangle have the magnitude `1 / n`, those of the upper triangle the
/// magnitude 1, and those of the diagonal `n`. Each of these three kinds has its own tolerance.
fn compare(answer: &Answer, triangles: &[f32], n: usize) -> Result<(), WrongAnswer> {
    let below = near::<f32>(0.0, 1e-5 / n as f64);
    let above = near::<f32>(1e-5, 1e-5);
    let mut index = 0..n * n;
    answer.compare("m", triangles, |want, found| {
        let is_below = index.next().is_some_and(|index| index % n < index / n);
        if is_below { below(want, found) } else { above(want, found) }
    })
}

/// An element of the product of the two triangular matrices. The element is a sum of products.
#[derive(Clone, Copy, Debug, Default)]
struct Products {
    sum: f64,
    /// The sum of the absolute values of the products that add up to the element.
    magnitude: f64,
}

impl Products {
    /// The product of the two triangular matrices in an answer, element by element.
    fn of(answer: &Answer, n: usize) -> Vec<Products> {
        let bits = answer.parts().iter().filter(|part| part.name == "m").flat_map(|part| part.bits());
        let m: Vec<f64> = bits.map(|bits| f64::from(f32::from_bits(bits as u32))).collect();
        if m.len() != n * n {
            return Vec::new();
        }
        let mut products = vec![Products::default(); m.len()];
        for (row, sums) in products.chunks_mut(n).enumerate() {
            for k in 0..=row {
                let lower = if k == row { 1.0 } else { m[row * n + k] };
                for (column, found) in sums.iter_mut().enumerate().skip(k) {
                    let product = lower * m[k * n + column];
                    found.sum += product;
                    found.magnitude += product.abs();
                }
            }
        }
        products
    }

    /// Whether this element of the product differs from `want` by at most the error of a
    /// decomposition in single precision (Higham, Accuracy and Stability of Numerical Algorithms,
    /// theorem 9.3).
    fn is_near(&self, want: f32, n: usize) -> bool {
        let error = n as f64 * f64::from(f32::EPSILON) * self.magnitude;
        (self.sum - f64::from(want)).abs() <= error + f64::from(f32::MIN_POSITIVE)
    }
}

/// The decomposition on the host, in double precision, row by row. Both triangular matrices are in
/// one matrix.
fn reference(matrix: &[f32], n: usize) -> Vec<f32> {
    let mut m: Vec<f64> = matrix.iter().map(|&x| f64::from(x)).collect();
    for i in 1..n {
        let (above, rest) = m.split_at_mut(i * n);
        let row = &mut rest[..n];
        for k in 0..i {
            let upper = &above[k * n..][..n];
            row[k] /= upper[k];
            let factor = row[k];
            row[k + 1..].iter_mut().zip(&upper[k + 1..]).for_each(|(x, u)| *x -= factor * u);
        }
    }
    m.into_iter().map(|x| x as f32).collect()
}

#[cfg(test)]
mod tests {
    use kernel::reference::{Options, run};

    use super::*;

    const N: usize = 512;

    #[test]
    fn the_kernels_are_right_at_the_size_of_the_paper() {
        let mut settings = LUD.defaults();
        assert_eq!(settings.set("n", &N.to_string()), Ok(()));
        let (program, check) = lud(&settings, 3).unwrap_or_else(|error| panic!("{error}")).into_parts();
        let outcome = run(program, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(check(&outcome.answer), Ok(()));
    }

    #[test]
    fn the_check_finds_a_lost_update_of_a_block_at_the_lower_left() {
        let mut matrix = dominant(3, N as u64);
        let right = reference(&matrix, N);
        let answer = |triangles: &[f32]| Answer::new().with("m", triangles);
        assert_eq!(compare(&answer(&right), &right, N), Ok(()));
        // The first step subtracts the product of two blocks from the block with these elements. If
        // the test adds this product to the matrix, the decomposition is that of a run which loses
        // this update.
        let (rows, columns, step) = (N - 16..N, 16..32, 0..16);
        for row in rows.clone() {
            for column in columns.clone() {
                let product = |k: usize| right[row * N + k] * right[k * N + column];
                matrix[row * N + column] += step.clone().map(product).sum::<f32>();
            }
        }
        let lost = reference(&matrix, N);
        let mut wrong = right.clone();
        for row in rows {
            wrong[row * N + 16..row * N + 32].copy_from_slice(&lost[row * N + 16..row * N + 32]);
        }
        let index = compare(&answer(&wrong), &right, N).map_err(|wrong| wrong.index as usize);
        assert!(index.is_err_and(|index| index / N == N - 16 && columns.contains(&(index % N))), "{index:?}");
    }
}
