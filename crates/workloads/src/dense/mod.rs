//! Streams, dense matrices, transforms.

mod babel_stream;
mod matmul;
mod square;

pub(crate) use babel_stream::BABEL_STREAM;
pub(crate) use matmul::{DGEMM, MATMUL};
pub(crate) use square::SQUARE;
