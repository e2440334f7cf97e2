//! Tests of the simulator.
//!
//! All of them are modules of one binary, because each binary is compiled and linked with the whole
//! simulator.
#![allow(unreachable_pub, reason = "the macro of the contract writes public items")]

mod acknowledged;
mod attribution;
mod chiplets;
mod clocks;
mod common;
mod epochs;
mod leases;
mod levels;
mod memory_path;
mod memory_side;
mod owned;
mod posted;
mod races;
mod recency;
mod runs;
mod samples;
mod sectors;
mod split;
mod stuck;
#[path = "../../../explore/tests/explore_tests/toys/mod.rs"]
mod toys;
mod write_buffers;
