//! Gaussian elimination with two kernels for each column, and the solution of the resulting system
//! on the host.

use kernel::prelude::*;

use super::lud::dominant;
use crate::data;
use crate::files::numbers::Table;
use crate::float::{less_product, near};
use crate::group::{grid_of, group_at, in_tile, members};
use crate::inputs::{NumberFile, NumberProgram};
use crate::instance::{Instance, Purpose, Room, Sizes, Workload, grid_over};
use crate::settings::{Setting, Settings};

pub(crate) static GAUSSIAN: Workload = Workload {
    name: "gaussian",
    summary: "solves linear equations by elimination, by two kernels for each column",
    origin: "Rodinia (2009); Dalmia thesis (2023), Tables 3.3 and 5.2",
    room: Room::Dense,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("n", "13")],
        small: &[],
        // The size is that of Table 5.2. Table 3.3 has 1024, which takes 64 times as long.
        paper: &[("n", "256")],
    },
    settings: &[
        Setting::count("n", 64, 2, 1 << 12, "number of equations and of unknowns"),
        Setting::policy(
            "block",
            &[("block-4", "4 by 4 work-items, as in Rodinia"), ("block-16", "16 by 16 work-items")],
            "the work-groups of the second kernel",
        ),
    ],
    make: |settings, seed| {
        let n = settings.count("n");
        Ok(gaussian(settings, move || random_equations(seed, n)))
    },
};

#[derive(Clone, Copy)]
struct Elimination {
    /// For each row and each column `t`, a factor: row `t` times this factor is subtracted from the
    /// row.
    m: Array<f32>,
    /// The coefficients of the equations.
    a: Array<f32>,
    /// The right-hand sides of the equations.
    b: Array<f32>,
    n: u32,
    /// The number of the column that is eliminated now.
    t: u32,
    /// The number of work-items along one side of a work-group of the kernel `fan2`.
    block: u32,
}

impl Elimination {
    /// Computes a factor for each row below row `t`: the kernel `fan2` subtracts row `t` times this
    /// factor from the row.
    async fn fan1(self, w: Wave) {
        let w = w.below(w.first_item(), u64::from(self.n - 1 - self.t));
        let index = (w.item() + self.t + 1) * self.n + self.t;
        let (value, pivot) = (w.load(self.a, index), w.load(self.a, u64::from(self.n * self.t + self.t)));
        let factor = value.await / pivot.await;
        w.store(self.m, index, factor);
    }

    /// Subtracts row `t` times a factor from each row below row `t`. The kernel `fan1` has computed
    /// the factor of each row. As in Rodinia, consecutive work-items have consecutive rows.
    async fn fan2(self, w: Wave) {
        let w = members(&w, self.block * self.block);
        let at = in_tile(&w, self.block);
        let (block_x, block_y) = group_at(&w, self.n.div_ceil(self.block));
        let (x, y) = (at.x + block_x * self.block, at.y + block_y * self.block);
        let w = w.when(x.lt(self.n - 1 - self.t) & y.lt(self.n - self.t));
        let row = x + self.t + 1;
        let (line, column) = (row * self.n, y + self.t);
        let factor = w.load(self.m, line + self.t);
        let (value, above) = (w.load(self.a, line + column), w.load(self.a, column + self.n * self.t));
        let factor = factor.await;
        let value = less_product(value.await, factor, above.await);
        w.store(self.a, line + column, value);
        let w = w.when(y.eq(0));
        let (value, above) = (w.load(self.b, row), w.load(self.b, u64::from(self.t)));
        let value = less_product(value.await, factor, above.await);
        w.store(self.b, row, value);
    }
}

/// A system of equations, with its solution if the solution is known.
struct Equations {
    a: Vec<f32>,
    b: Vec<f32>,
    solution: Option<Vec<f32>>,
}

/// The system of equations in a table. The last column has the right-hand sides.
fn given_equations(table: &Table) -> Equations {
    let rows = || table.numbers().chunks(table.columns() as usize);
    let split = |row: &[f32]| row.split_last().map_or(0.0, |(last, _)| *last);
    Equations {
        a: rows().flat_map(|row| &row[..row.len() - 1]).copied().collect(),
        b: rows().map(split).collect(),
        solution: None,
    }
}

fn random_equations(seed: u64, n: u64) -> Equations {
    let a = dominant(seed, n);
    let solution: Vec<f32> = data::floats(!seed, n).into_iter().map(|x| x + 2.0).collect();
    let product =
        |row: &[f32]| -> f64 { row.iter().zip(&solution).map(|(a, x)| f64::from(*a) * f64::from(*x)).sum() };
    let b = a.chunks(n as usize).map(|row| product(row) as f32).collect();
    Equations { a, b, solution: Some(solution) }
}

/// Solves a triangular system of equations, from the last unknown to the first.
fn back_substitution(a: &[f32], b: &[f32]) -> Vec<f32> {
    let n = b.len();
    let mut x = vec![0.0f32; n];
    for i in (0..n).rev() {
        let row = &a[i * n..][..n];
        let known = (i + 1..n).fold(b[i], |rest, j| rest - row[j] * x[j]);
        x[i] = known / row[i];
    }
    x
}

/// The form of the workload that reads its equations from a file.
pub(crate) const GAUSSIAN_ON_FILES: NumberProgram = NumberProgram {
    workload: &GAUSSIAN,
    files: |settings| {
        let n = settings.count("n");
        vec![NumberFile::matrix("equations", n, (n + 1, "the setting `n` and one right-hand side"))]
    },
    settings: &[],
    make: |tables, settings, _| {
        let table = tables[0].clone();
        let Equations { mut a, mut b, .. } = given_equations(&table);
        eliminate(&mut a, &mut b);
        let x = back_substitution(&a, &b);
        if let Some(row) = a
            .chunks(b.len())
            .zip(&x)
            .position(|(row, x)| !row.iter().all(|value| value.is_finite()) || !x.is_finite())
        {
            return Err(settings.conflict(format!(
                "the elimination divides by zero or overflows in equation {}; the program does not exchange \
                 equations",
                row + 1
            )));
        }
        Ok(gaussian(settings, move || given_equations(&table)))
    },
};

fn gaussian(settings: &Settings, equations: impl Fn() -> Equations + Clone + 'static) -> Instance {
    let n = settings.count("n");
    let of_program = equations.clone();
    let block = if settings.is("block", "block-4") { 4 } else { 16 };
    let program = Program::new("gaussian", move |host| async move {
        let Equations { a, b, .. } = of_program();
        let first = Elimination {
            m: host.alloc("m", n * n),
            a: host.alloc("a", n * n),
            b: host.alloc("b", n),
            n: n as u32,
            t: 0,
            block,
        };
        host.write(first.a, &a).await;
        host.write(first.b, &b).await;
        let shape = host.shape();
        let side = n.div_ceil(u64::from(block));
        for t in 0..n as u32 - 1 {
            let e = Elimination { t, ..first };
            let kernel = Kernel::new("fan1", move |w| e.fan1(w)).uses([e.a.read(), e.m.write()]);
            host.launch(kernel, grid_over(&shape, n)).await;
            let kernel = Kernel::new("fan2", move |w| e.fan2(w));
            let kernel = kernel.uses([e.m.read(), e.a.read_write(), e.b.read_write()]);
            host.launch(kernel, grid_of(&shape, side * side, block * block)).await;
        }
        let (a, b) = (host.read(first.a).await, host.read(first.b).await);
        let x = back_substitution(&a, &b);
        Answer::new().with_array("m", &host, first.m).await.with("a", &a).with("b", &b).with("x", &x)
    });
    Instance::new(program, move |answer| {
        let Equations { mut a, mut b, solution } = equations();
        let m = eliminate(&mut a, &mut b);
        answer.expect("m", &m)?;
        answer.expect("a", &a)?;
        answer.expect("b", &b)?;
        match solution {
            Some(solution) => answer.compare("x", &solution, near::<f32>(1e-4, 0.0)),
            None => answer.expect("x", &back_substitution(&a, &b)),
        }
    })
}

/// Performs Gaussian elimination on the host, row by row. Returns, for each row and each column
/// `t`, the factor: row `t` times this factor is subtracted from the row.
fn eliminate(a: &mut [f32], b: &mut [f32]) -> Vec<f32> {
    let n = b.len();
    let mut m = vec![0.0f32; n * n];
    for row in 1..n {
        for t in 0..row {
            let factor = a[row * n + t] / a[t * n + t];
            m[row * n + t] = factor;
            for column in t..n {
                a[row * n + column] = (-factor).mul_add(a[t * n + column], a[row * n + column]);
            }
            b[row] = (-factor).mul_add(b[t], b[row]);
        }
    }
    m
}
