//! Tests of machines, scenarios, runs and their results.
//!
//! All of them are modules of one binary, because each binary is compiled and linked with the
//! simulator, the explorer and all protocols. The file `allocations.rs` remains a binary of its own,
//! because it replaces the allocator of its process with one that counts.

mod bad_systems;
mod bridge;
mod clocks;
mod compared;
mod golden;
mod hits;
mod hrf;
mod largest;
mod latencies;
mod levels;
mod litmus_races;
mod machine_changes;
mod narrow_machines;
mod pictures;
mod published;
mod races;
mod replay;
mod report;
mod reproduction;
mod runtime;
mod scenarios;
mod stc;
mod studies;
mod suite;
mod table2;
mod tasks;
#[path = "../../../explore/tests/explore_tests/toys/mod.rs"]
mod toys;
