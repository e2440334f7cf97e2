//! Streams, dense matrices, transforms.

mod babel_stream;
mod square;

pub(crate) use babel_stream::BABEL_STREAM;
pub(crate) use square::SQUARE;
