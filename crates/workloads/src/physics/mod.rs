//! Physics and sparse solvers: sparse products, clustering, hydrodynamics, transport and gravity.

mod barnes;
mod hacc;
mod kmeans;
mod lulesh;
mod pennant;
mod real;
mod snap;
pub(crate) mod spmv;

pub(crate) use barnes::{BARNES_HUT, BARNES_HUT_ON_FILES};
pub(crate) use hacc::{HACC, HACC_ON_FILES};
pub(crate) use kmeans::{KMEANS, KMEANS_ON_FILES};
pub(crate) use lulesh::LULESH;
pub(crate) use pennant::PENNANT;
pub(crate) use snap::SNAPC;
pub(crate) use spmv::SPMV;

use kernel::{Grid, Loading, Place, Shape, Word};

/// A grid with at least `items` work-items, in work-groups of at least `group_items` work-items.
fn grid_of(shape: &Shape, items: u64, group_items: u64) -> Grid {
    let lanes = u64::from(shape.lanes.max(1));
    Grid::new(items.div_ceil(group_items) as u32, group_items.div_ceil(lanes) as u32)
}

/// Waits for several loads, and returns their values.
async fn all<const N: usize, P: Place, T: Word>(loads: [Loading<P, T>; N]) -> [P::Of<T>; N] {
    let mut values = [P::nothing::<T>(); N];
    for (value, load) in values.iter_mut().zip(loads) {
        *value = load.await;
    }
    values
}
