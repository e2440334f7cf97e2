//! The decomposition of a matrix into a lower and an upper triangle, in place, by blocks.
//!
//! A step decomposes one block of the diagonal, then the blocks to its right and below, and then
//! subtracts their product from the blocks that remain.

use kernel::prelude::*;

use crate::data;
use crate::group::{grid_of, group_at, in_tile, local_item, members};
use crate::instance::{Instance, Purpose, Room, Sizes, Workload};
use crate::real::{less_product, near};
use crate::settings::{BadSetting, Setting, Settings};

pub(crate) static LUD: Workload = Workload {
    name: "lud",
    summary: "decomposes a matrix into triangles, by three kernels for each block of the diagonal",
    origin: "Rodinia (2009); Hechtman thesis (2014), section 4.4.2; Dalmia thesis (2023), Tables 3.3 and 5.2",
    room: Room::Dense,
    purpose: Purpose::Benchmark,
    sizes: Sizes { tiny: &[("n", "48")], small: &[], paper: &[("n", "512")] },
    settings: &[Setting::count("n", 128, 16, 1 << 13, "rows and columns of the matrix, a multiple of 16")],
    make: lud,
};

/// The rows and the columns of a block.
const B: u32 = 16;

#[derive(Clone, Copy)]
struct Decomposition {
    m: Array<f32>,
    n: u32,
    /// The first row and column of the block on the diagonal.
    first: u32,
}

impl Decomposition {
    /// The index of an element relative to the block on the diagonal.
    fn at(&self, row: u32, column: u32) -> u32 {
        (self.first + row) * self.n + self.first + column
    }

    /// The block of the diagonal, by one row of work-items.
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

    /// A block to the right, by the first half of the work-items, and one below, by the other half.
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

    /// A block below and to the right, by a work-item for each element.
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

/// A matrix whose diagonal is larger than the rest of a row, so that no pivots need be searched.
pub(super) fn dominant(seed: u64, n: u64) -> Vec<f32> {
    let mut values = data::floats(seed, n * n);
    values.iter_mut().step_by(n as usize + 1).for_each(|x| *x += n as f32);
    values
}

fn lud(settings: &Settings, seed: u64) -> Result<Instance, BadSetting> {
    let n = settings.count("n");
    if !n.is_multiple_of(u64::from(B)) {
        return Err(settings.conflict(format!("setting `n` is {n}, but must be a multiple of {B}")));
    }
    let program = Program::new("lud", move |host| async move {
        let m = host.alloc::<f32>("m", n * n);
        host.write(m, &dominant(seed, n)).await;
        for first in (0..n as u32).step_by(B as usize) {
            Decomposition { m, n: n as u32, first }.launch(&host).await;
        }
        Answer::new().with("m", &host.read(m).await)
    });
    Ok(Instance::new(program, move |answer| {
        answer.compare("m", &reference(&dominant(seed, n), n as usize), near::<f32>(1e-5, 1e-5))
    }))
}

/// The triangles in double precision, row by row.
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
