//! Products of a sparse matrix in the CSR format and a vector.
//!
//! The matrix is random, or given by a file. The program multiplies repeatedly: each result is the
//! next vector, as in an iterative solver. Each launch therefore reads the whole matrix again. The
//! kernel `scalar` gives a row to each work-item, and `vector` gives a row to each wavefront.

use std::rc::Rc;

use kernel::prelude::*;
use kernel::rng::Rng;
use proto::words::counted;

use super::grid_of;
use crate::graph::{self, Offsets};
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload};
use crate::settings::{BadSetting, Setting, Settings};

pub(crate) static SPMV: Workload = Workload {
    name: "spmv",
    summary: "multiplies a sparse matrix in CSR form and a vector repeatedly",
    origin: "SHOC (2010) and Bell and Garland (SC 2009); Hechtman's thesis (2014), section 4.4",
    room: Room::Physics,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("rows", "500"), ("per-row", "9"), ("products", "3")],
        small: &[],
        paper: &[("rows", "128k"), ("per-row", "32"), ("products", "10")],
    },
    settings: &[
        Setting::count("rows", 2048, 1, 1 << 24, "number of rows and of columns of the matrix"),
        Setting::count("per-row", 8, 1, 1 << 12, "mean number of elements of a row that are not zero"),
        Setting::count("products", 3, 1, 1000, "number of consecutive products; each product is one launch"),
        Setting::policy(
            "rows-to",
            &[("scalar", "one work-item computes a row"), ("vector", "one wavefront computes a row")],
            "the work-items that compute a row",
        ),
    ],
    make: |settings, seed| {
        let (rows, per_row) = (settings.count("rows"), settings.count("per-row"));
        settings.limit_arrays(&["rows", "per-row"], 8 * rows * per_row.min(rows) + 12 * rows)?;
        spmv(random_matrix(seed, rows, per_row), settings)
    },
};

/// The names of the settings that describe the random matrix.
pub(crate) const SETTINGS_OF_MATRIX: [&str; 2] = ["rows", "per-row"];

/// A sparse matrix. The elements of row `r` have the indices from `offsets[r]` to `offsets[r + 1]`,
/// exclusive.
#[derive(Clone, Debug, PartialEq)]
struct Csr {
    offsets: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

/// A random matrix. The number of elements in a row is uniform from 0 to twice the mean. The
/// elements of a row are positive and their sum is at most one, so that repeated products do not
/// overflow.
fn random_matrix(seed: u64, rows: u64, per_row: u64) -> Csr {
    let mut rng = Rng::new(seed);
    let mut matrix = Csr { offsets: vec![0], columns: Vec::new(), values: Vec::new() };
    for _ in 0..rows {
        let length = rng.below(2 * per_row + 1).min(rows);
        let first = matrix.columns.len();
        matrix.columns.extend((0..length).map(|_| rng.below(rows) as u32));
        matrix.columns[first..].sort_unstable();
        let value = |_| (1 + rng.below(255)) as f32 / (256 * length) as f32;
        matrix.values.extend((0..length).map(value));
        matrix.offsets.push(matrix.columns.len() as u32);
    }
    matrix
}

impl Csr {
    /// The matrix that has an element for each arc of a graph: the weight of the arc, or 1 if there
    /// are no weights.
    fn of(graph: &graph::Csr, settings: &Settings) -> Result<Csr, BadSetting> {
        if graph.vertices() == 0 {
            return Err(settings.conflict("the graph has no vertex, expected at least one".to_owned()));
        }
        let Offsets::Narrow(offsets) = graph.offsets.clone() else {
            let why = "the graph has 4294967296 arcs or more, but the kernels count elements in 32 bits";
            return Err(settings.conflict(why.to_owned()));
        };
        let value = |arc| graph.weights.as_ref().map_or(1.0, |weights| weights.at(arc) as f32);
        let values = (0..graph.targets.len()).map(value).collect();
        Ok(Csr { offsets, columns: graph.targets.clone(), values })
    }

    fn rows(&self) -> u64 {
        self.offsets.len() as u64 - 1
    }

    /// The largest error of an element after `products` products in single precision, relative to
    /// the sum of the absolute values of its terms. The bound counts half a unit in the last place
    /// for each operation on a term, and one further half unit for the reference. It holds for any
    /// order of the additions.
    fn error_share(&self, products: u64) -> f64 {
        let longest = self.offsets.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        f64::from(longest + 2) * products as f64 * f64::from(f32::EPSILON) / 2.0
    }
}

/// The matrix in the memory of the machine.
#[derive(Clone, Copy)]
struct Arrays {
    offsets: Array<u32>,
    columns: Array<u32>,
    values: Array<f32>,
}

/// Multiplies the matrix and `x`. Each work-item computes one row.
async fn scalar_rows(w: Wave, a: Arrays, x: Array<f32>, y: Array<f32>) {
    let base = w.first_item();
    let w = w.below(base, y.len());
    let (first, end) = (w.load(a.offsets, Unit(base)), w.load(a.offsets, Unit(base + 1)));
    let (mut at, end) = (first.await, end.await);
    let mut sum = Lanes::splat(0.0_f32);
    loop {
        let within = w.when(at.lt(end));
        if !within.any() {
            break;
        }
        let (column, value) = (within.load(a.columns, at), within.load(a.values, at));
        let x = within.load(x, column.await).await;
        let product = value.await * x;
        sum.assign(within.mask(), sum + product);
        at += 1;
    }
    w.store(y, Unit(base), sum).await;
}

/// Multiplies the matrix and `x`. Each wavefront computes one row.
async fn vector_rows(w: Wave, a: Arrays, x: Array<f32>, y: Array<f32>) {
    let row = w.global_index();
    if row >= y.len() {
        return;
    }
    let (first, end) = (w.load(a.offsets, row), w.load(a.offsets, row + 1));
    let (mut at, end) = (u64::from(first.await), u64::from(end.await));
    let mut sum = Lanes::splat(0.0_f32);
    while at < end {
        let within = w.below(at, end);
        let (column, value) = (within.load(a.columns, Unit(at)), within.load(a.values, Unit(at)));
        let x = within.load(x, column.await).await;
        let product = value.await * x;
        sum.assign(within.mask(), sum + product);
        at += u64::from(w.lanes());
    }
    let total = w.reduce(&sum, 0.0, Class::FloatAdd, |a, b| a + b);
    w.store(y, row, total).await;
}

/// Makes the program and its check for a given matrix.
pub(crate) fn on_matrix(graph: &graph::Csr, settings: &Settings, _seed: u64) -> Result<Instance, BadSetting> {
    let (matrix, products) = (Csr::of(graph, settings)?, settings.count("products"));
    let (_, magnitudes) = reference_vector(&matrix, products);
    if let Some(row) = magnitudes.iter().position(|value| *value > f64::from(f32::MAX)) {
        let products = counted(products, "product");
        return Err(settings.conflict(format!(
            "row {} overflows single precision after {products}; set `products` to a smaller number",
            row + 1
        )));
    }
    spmv(matrix, settings)
}

fn spmv(matrix: Csr, settings: &Settings) -> Result<Instance, BadSetting> {
    let (rows, products) = (matrix.rows(), settings.count("products"));
    let is_vector = settings.is("rows-to", "vector");
    let matrix = Rc::new(matrix);
    let reference = matrix.clone();
    let program = Program::new("spmv", move |host| async move {
        let a = Arrays {
            offsets: host.alloc("offsets", rows + 1),
            columns: host.alloc("columns", matrix.columns.len() as u64),
            values: host.alloc("elements", matrix.values.len() as u64),
        };
        let (mut x, mut y) = (host.alloc::<f32>("x", rows), host.alloc::<f32>("y", rows));
        host.write(a.offsets, &matrix.offsets).await;
        host.write(a.columns, &matrix.columns).await;
        host.write(a.values, &matrix.values).await;
        host.write(x, &vec![1.0; rows as usize]).await;
        let of_items = grid_of(&host.shape(), rows, GROUP_ITEMS);
        // The number of rows that a work-group computes.
        let (rows_of_group, grid) = match is_vector {
            true => (
                u64::from(of_items.waves),
                Grid::new(rows.div_ceil(u64::from(of_items.waves)) as u32, of_items.waves),
            ),
            false => (GROUP_ITEMS, of_items),
        };
        for _ in 0..products {
            let uses = [
                a.offsets.read().in_parts_with_halo(rows_of_group, 1),
                a.columns.read(),
                a.values.read(),
                x.read(),
                y.write().in_parts(rows_of_group),
            ];
            let kernel = match is_vector {
                true => Kernel::new("vector-rows", move |w| vector_rows(w, a, x, y)),
                false => Kernel::new("scalar-rows", move |w| scalar_rows(w, a, x, y)),
            };
            host.launch(kernel.uses(uses), grid).await;
            (x, y) = (y, x);
        }
        Answer::new().with_array("x", &host, x).await
    });
    Ok(Instance::new(program, move |answer| {
        let (want, magnitudes) = reference_vector(&reference, products);
        let share = reference.error_share(products);
        let mut magnitudes = magnitudes.into_iter();
        answer.compare("x", &want, |want: f32, have: f32| {
            let magnitude = magnitudes.next().unwrap_or(0.0);
            let tiny = if magnitude > 0.0 { f64::from(f32::MIN_POSITIVE) } else { 0.0 };
            (f64::from(want) - f64::from(have)).abs() <= magnitude * share + tiny
        })
    }))
}

/// The vector after `products` products with the matrix, computed on the host by columns and in
/// double precision. Also, for each element of the vector, the sum of the absolute values of its
/// terms.
fn reference_vector(matrix: &Csr, products: u64) -> (Vec<f32>, Vec<f64>) {
    let rows = matrix.offsets.len() - 1;
    let mut by_column: Vec<(u32, usize, f64)> = Vec::with_capacity(matrix.columns.len());
    for row in 0..rows {
        for at in matrix.offsets[row] as usize..matrix.offsets[row + 1] as usize {
            by_column.push((matrix.columns[at], row, f64::from(matrix.values[at])));
        }
    }
    by_column.sort_by_key(|(column, row, _)| (*column, *row));
    let (mut x, mut magnitudes) = (vec![1.0_f64; rows], vec![1.0_f64; rows]);
    for _ in 0..products {
        let (mut y, mut sums) = (vec![0.0; rows], vec![0.0; rows]);
        for (column, row, value) in &by_column {
            y[*row] += value * x[*column as usize];
            sums[*row] += value.abs() * magnitudes[*column as usize];
        }
        (x, magnitudes) = (y, sums);
    }
    (x.into_iter().map(|value| value as f32).collect(), magnitudes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_multiplies_a_small_matrix() {
        // [[1, 2], [0, 4]] has the square [[1, 10], [0, 16]].
        let matrix = Csr { offsets: vec![0, 2, 3], columns: vec![0, 1, 1], values: vec![1.0, 2.0, 4.0] };
        assert_eq!(reference_vector(&matrix, 1).0, [3.0, 4.0]);
        assert_eq!(reference_vector(&matrix, 2).0, [11.0, 16.0]);
        let signed = Csr { values: vec![1.0, -2.0, 4.0], ..matrix };
        assert_eq!(reference_vector(&signed, 2), (vec![-9.0, 16.0], vec![11.0, 16.0]));
    }

    #[test]
    fn a_random_matrix_is_well_formed_and_has_short_and_long_rows() {
        let matrix = random_matrix(3, 200, 8);
        assert_eq!(*matrix.offsets.last().unwrap_or(&0) as usize, matrix.columns.len());
        let lengths: Vec<u32> = matrix.offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!((lengths.iter().min(), lengths.iter().max()), (Some(&0), Some(&16)));
        for pair in matrix.offsets.windows(2) {
            let sum: f32 = matrix.values[pair[0] as usize..pair[1] as usize].iter().sum();
            assert!(sum <= 1.0, "{sum}");
        }
        assert!(matrix.columns.iter().all(|column| *column < 200));
    }
}
