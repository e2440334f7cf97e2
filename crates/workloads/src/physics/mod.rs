//! Physics and sparse solvers: sparse products, clustering and hydrodynamics.

mod kmeans;
pub(crate) mod lulesh;
mod real;
mod spmv;

pub(crate) use kmeans::KMEANS;
pub(crate) use lulesh::LULESH;
pub(crate) use spmv::SPMV;

use kernel::{Grid, Shape};

/// A grid of work-groups with at least `group_items` work-items each, for at least `items` in all.
fn grid_of(shape: &Shape, items: u64, group_items: u64) -> Grid {
    let lanes = u64::from(shape.lanes.max(1));
    Grid::new(items.div_ceil(group_items) as u32, group_items.div_ceil(lanes) as u32)
}
