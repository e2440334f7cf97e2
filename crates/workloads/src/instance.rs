//! Workloads, their register, and what one makes.

use core::fmt;

use kernel::{Answer, Grid, Program, Shape, WrongAnswer};

use crate::settings::{BadSetting, Setting, Settings, known_names};
use crate::{
    diagnosis, histogram, host_flag, locks, messages, pagerank, races, reduce, stealing, stress, vectors,
};

/// What a workload is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// To compare machines and protocols.
    Benchmark,
    /// To load one part of a machine as much as possible.
    Stress,
    /// To be stuck: a machine must end it with a diagnosis.
    Diagnosis,
    /// To race: a detector must report it.
    Race,
}

/// A workload.
#[derive(Clone, Copy)]
pub struct Workload {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// What it is for.
    pub purpose: Purpose,
    /// What can be set.
    pub settings: &'static [Setting],
    /// Makes an instance from settings and a seed.
    pub make: fn(&Settings, u64) -> Result<Instance, BadSetting>,
}

impl fmt::Debug for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workload").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Workload {
    /// Its settings at their defaults.
    #[must_use]
    pub fn defaults(&self) -> Settings {
        Settings::defaults(self.name, self.settings)
    }

    /// A program to run, and the check of its answer.
    ///
    /// # Errors
    /// If the settings do not go together.
    pub fn instance(&self, settings: &Settings, seed: u64) -> Result<Instance, BadSetting> {
        (self.make)(settings, seed)
    }
}

type Check = dyn Fn(&Answer) -> Result<(), WrongAnswer>;

/// A program to run, and the check of its answer.
pub struct Instance {
    /// The program.
    pub program: Program,
    check: Box<Check>,
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance").field("program", &self.program).finish_non_exhaustive()
    }
}

impl Instance {
    /// A program and the check of its answer against the host's reference.
    pub fn new(program: Program, check: impl Fn(&Answer) -> Result<(), WrongAnswer> + 'static) -> Self {
        Instance { program, check: Box::new(check) }
    }

    /// Takes it apart: the program is consumed by the run, the check is kept.
    #[must_use]
    pub fn into_parts(self) -> (Program, Box<Check>) {
        (self.program, self.check)
    }

    /// Checks an answer.
    ///
    /// # Errors
    /// The first element that differs from the reference.
    pub fn check(&self, answer: &Answer) -> Result<(), WrongAnswer> {
        (self.check)(answer)
    }
}

/// Work-items of a work-group in the workloads that do not care.
pub(crate) const GROUP_ITEMS: u64 = 256;

/// Work-groups of 256 work-items, enough of them for `items`.
#[must_use]
pub fn grid_over(shape: &Shape, items: u64) -> Grid {
    let waves = (GROUP_ITEMS as u32).div_ceil(shape.lanes.max(1));
    Grid::new(items.div_ceil(GROUP_ITEMS) as u32, waves)
}

static ALL: [&Workload; 25] = [
    &vectors::VEC_COPY,
    &vectors::VEC_ADD,
    &vectors::CACHE_REUSE,
    &reduce::REDUCE,
    &histogram::HISTOGRAM,
    &pagerank::PAGERANK_PUSH,
    &stealing::SSSP,
    &stealing::COLOR,
    &stealing::PAGERANK,
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

/// All workloads.
#[must_use]
pub fn all() -> &'static [&'static Workload] {
    &ALL
}

/// The workload of a name.
///
/// # Errors
/// A sentence that names the nearest known one.
pub fn find(name: &str) -> Result<&'static Workload, String> {
    let known: Vec<&str> = ALL.iter().map(|w| w.name).collect();
    ALL.iter()
        .find(|w| w.name == name)
        .copied()
        .ok_or_else(|| format!("there is no workload `{name}`; {}", known_names(name, &known)))
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
