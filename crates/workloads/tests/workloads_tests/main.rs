//! Tests of the workloads and of the files that they read.
//!
//! All of them are modules of one binary, because each binary is compiled and linked with all
//! workloads.

mod answers;
mod graph_files;
mod number_files;
mod stand_ins;
mod stealing;
mod store_buffers;
mod tasks;
