//! Stands in for `ecology1`.
//!
//! Known: a matrix of circuit theory applied to animal movement, on a landscape
//! of 1000 x 1000 cells, each joined to its four neighbours: 1,000,000 rows,
//! 4,996,000 entries of which the diagonal is 1,000,000 (SuiteSparse Matrix
//! Collection, group McRae).
//!
//! Made: that grid, row by row, without the diagonal. It has no randomness, so
//! every seed gives the same. A smaller scale gives the grid nearest to a
//! square.

use super::super::Csr;
use super::Size;
use super::edges::graph_of;

pub(super) fn generate(size: Size, _seed: u64) -> Csr {
    let height = f64::from(size.vertices).sqrt().round().max(1.0) as u32;
    let width = (f64::from(size.vertices) / f64::from(height)).round().max(1.0) as u32;
    let mut edges = Vec::with_capacity(size.edges);
    for y in 0..height {
        for x in 0..width {
            let cell = y * width + x;
            if x + 1 < width {
                edges.push((cell, cell + 1));
            }
            if y + 1 < height {
                edges.push((cell, cell + width));
            }
        }
    }
    graph_of(width * height, &edges, None)
}
