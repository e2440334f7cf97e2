//! Tests of kernels and host programs, and of the functional executor.
//!
//! All of them are modules of one binary, because each binary is compiled and linked with the whole
//! crate.

mod deque;
mod driver;
mod errors;
mod execution;
mod lanes;
