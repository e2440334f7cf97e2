//! Workloads on long arrays, dense matrices and transforms.

mod babel_stream;
mod convolution;
mod dct;
mod dwt;
mod fft;
mod floyd;
mod gaussian;
mod lifting;
mod lud;
mod matmul;
mod square;

pub(crate) use babel_stream::BABEL_STREAM;
pub(crate) use convolution::CONVOLUTION_2D;
pub(crate) use dct::DCT;
pub(crate) use dwt::DWT2D;
pub(crate) use fft::FFT;
pub(crate) use floyd::{FW, on_graph as floyd_on_graph};
pub(crate) use gaussian::{GAUSSIAN, GAUSSIAN_ON_FILES};
pub(crate) use lud::{LUD, LUD_ON_FILES};
pub(crate) use matmul::{DGEMM, DGEMM_ON_FILES, MATMUL, MATMUL_ON_FILES};
pub(crate) use square::SQUARE;
