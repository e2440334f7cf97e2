//! The workloads: programs that machines run, each with a reference that is computed on the host.
//!
//! A workload has a name, settings and a function that makes an [`Instance`]. An instance is a
//! program that uses the API of `kernel`, and the check of its answer. This crate contains nothing
//! about protocols or time. [`all`] lists the workloads.
//!
//! `docs/add-a-workload.md` explains how to add one.

pub mod data;
pub mod files;
pub mod graph;
pub mod inputs;
pub mod nearest;
pub mod stealing;
pub mod tasks;

mod dense;
mod diagnosis;
mod fault;
mod float;
mod group;
mod histogram;
mod host_flag;
mod instance;
mod learning;
mod locks;
mod messages;
mod pagerank;
mod physics;
mod policy;
mod races;
mod reduce;
mod settings;
mod sorting;
mod stencil;
mod stencils;
mod stress;
mod vectors;

use graph::programs;

pub use instance::{Instance, NamedInput, Purpose, Room, Size, Sizes, Workload, grid_over};
pub use settings::{BadSetting, Setting, SettingKind, Settings};

static ALL: &[&Workload] = &[
    &vectors::VEC_COPY,
    &vectors::VEC_ADD,
    &vectors::CACHE_REUSE,
    &dense::SQUARE,
    &dense::BABEL_STREAM,
    &dense::MATMUL,
    &dense::DGEMM,
    &dense::CONVOLUTION_2D,
    &dense::DCT,
    &dense::LUD,
    &dense::GAUSSIAN,
    &dense::FW,
    &dense::FFT,
    &dense::DWT2D,
    &reduce::REDUCE,
    &sorting::RADIX_SORT,
    &sorting::SCAN,
    &sorting::BTREE,
    &sorting::NN,
    &sorting::NW,
    &histogram::HISTOGRAM,
    &pagerank::PAGERANK_PUSH,
    &stealing::SSSP,
    &stealing::COLOR,
    &stealing::PAGERANK,
    &programs::BFS,
    &programs::SSSP_BELLMAN_FORD,
    &programs::COLOR_MAX,
    &programs::PAGERANK_PULL,
    &programs::BC,
    &programs::CC,
    &programs::CCA,
    &programs::MIS,
    &programs::APSP,
    &programs::DIJKSTRA,
    &learning::BACKPROP,
    &learning::CNN,
    &learning::CONV_BACKWARD,
    &learning::RNN_GRU,
    &learning::RNN_LSTM,
    &tasks::UTS,
    &tasks::QUEENS,
    &tasks::FIB,
    &stencil::STENCIL,
    &stencils::HOTSPOT,
    &stencils::HOTSPOT3D,
    &stencils::SRAD,
    &stencils::PATHFINDER,
    &stencils::HPGMG,
    &physics::SPMV,
    &physics::KMEANS,
    &physics::LULESH,
    &physics::SNAPC,
    &physics::BARNES_HUT,
    &physics::HACC,
    &physics::PENNANT,
    &messages::MESSAGE_PASSING,
    &host_flag::HOST_FLAG,
    &locks::LOCK_COUNTER,
    &locks::FG_SHARE,
    &stress::L1_RESIDENT,
    &stress::RANDOM_MISS,
    &diagnosis::SPIN_FOREVER,
    &diagnosis::BARRIER_SKIP,
    &diagnosis::SPIN_UNDISPATCHED,
    &races::MISSING_FENCE,
    &races::NARROW_SCOPE,
    &races::UNLOCKED_UPDATE,
    &races::BLOCK_BARRIER,
    &races::TWO_SCOPE_LOCK,
    &races::PLAIN_SPIN,
    &races::NO_ACQUIRE,
];

/// All workloads, in the order in which lists show them.
#[must_use]
pub fn all() -> &'static [&'static Workload] {
    ALL
}

/// The workload with this name.
///
/// # Errors
/// If there is no such workload. The error names the nearest known name.
pub fn find(name: &str) -> Result<&'static Workload, String> {
    let known: Vec<&str> = ALL.iter().map(|w| w.name).collect();
    ALL.iter()
        .find(|w| w.name == name)
        .copied()
        .ok_or_else(|| format!("there is no workload `{name}`; {}", settings::known_names(name, &known)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_workload_gets_the_nearest_name() {
        let message = find("vec-ad").map(|w| w.name).err().unwrap_or_default();
        assert!(message.starts_with("there is no workload `vec-ad`; did you mean `vec-add`?"), "{message}");
        assert_eq!(find("vec-add").map(|w| w.name), Ok("vec-add"));
    }
}
