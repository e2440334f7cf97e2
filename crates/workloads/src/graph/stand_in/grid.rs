//! The stand-in (generated replacement) for the matrix `ecology1`.
//!
//! Original: a matrix of circuit theory for animal movement. A landscape has
//! 1000 x 1000 cells, each joined to its four neighbours. The matrix has
//! 1,000,000 rows and 4,996,000 entries, including the diagonal (SuiteSparse
//! Matrix Collection, group McRae).
//!
//! Generator: it makes the same grid, row by row, without the diagonal. Nothing is random, so all
//! seeds give the same graph. At a smaller scale, the grid is as nearly square as possible.

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
