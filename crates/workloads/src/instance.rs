//! Workloads and their instances.

use core::fmt;

use kernel::{Answer, Grid, Program, Shape, WrongAnswer};

use crate::settings::{BadSetting, Setting, Settings};
use crate::tasks;

/// The purpose of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Compares machines and protocols.
    Benchmark,
    /// Loads one part of a machine as much as possible.
    Stress,
    /// Never ends: a machine must stop it with a diagnosis.
    Diagnosis,
    /// Has a race: a detector must report it.
    Race,
}

/// A named input: values of several settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedInput {
    /// The name of the input.
    pub name: &'static str,
    /// The description of the input, in one line.
    pub summary: &'static str,
    /// The names and values of the settings.
    pub settings: &'static [(&'static str, &'static str)],
}

/// A workload: a program with settings and inputs.
#[derive(Clone, Copy)]
pub struct Workload {
    /// The name of the workload.
    pub name: &'static str,
    /// The description of the workload, in one line.
    pub summary: &'static str,
    /// The purpose of the workload.
    pub purpose: Purpose,
    /// The settings of the workload.
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
    /// The settings of the workload at their defaults.
    #[must_use]
    pub fn defaults(&self) -> Settings {
        Settings::defaults(self.name, self.settings)
    }

    /// The inputs that the workload itself provides, by name.
    #[must_use]
    pub fn inputs(&self) -> &'static [NamedInput] {
        if self.name == tasks::UTS.name { &tasks::INPUTS } else { &[] }
    }

    /// A program and the check of its answer.
    ///
    /// # Errors
    /// If the settings contradict each other.
    pub fn instance(&self, settings: &Settings, seed: u64) -> Result<Instance, BadSetting> {
        (self.make)(settings, seed)
    }
}

type Check = dyn Fn(&Answer) -> Result<(), WrongAnswer>;

/// A program and the check of its answer.
pub struct Instance {
    /// The program that is run.
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

    /// The program, which a run consumes, and the check.
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

/// The default number of work-items in a work-group.
pub(crate) const GROUP_ITEMS: u64 = 256;

/// A grid of work-groups with 256 work-items each, for at least `items`.
#[must_use]
pub fn grid_over(shape: &Shape, items: u64) -> Grid {
    let waves = (GROUP_ITEMS as u32).div_ceil(shape.lanes.max(1));
    Grid::new(items.div_ceil(GROUP_ITEMS) as u32, waves)
}
