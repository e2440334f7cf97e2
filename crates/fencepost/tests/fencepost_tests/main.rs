//! Tests of the command line, of the pages, and of the rules of the workspace.
//!
//! All of them are modules of one binary, because each binary is compiled and linked with all
//! crates. Only the tests of terminals are a second binary. Tests that need a process of their own
//! start one: the binary `fencepost`, or this binary with one of its ignored tests.

mod baseline;
mod cli;
mod common;
mod cycles;
mod dependencies;
mod docs;
mod floors;
mod graphs;
mod inputs;
mod litmus;
mod output;
mod race;
mod replay;
mod reproduce;
mod slurm;
mod sweep;
mod tables;
mod verify;
