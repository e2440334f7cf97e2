//! What a workload is, and what it makes.

use core::fmt;

use kernel::{Answer, Grid, Program, Shape, WrongAnswer};

use crate::settings::{BadSetting, Setting, Settings};
use crate::tasks;

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

/// An input by its name: settings that go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedInput {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// The settings, name and value.
    pub settings: &'static [(&'static str, &'static str)],
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

    /// The inputs that have names of their own.
    #[must_use]
    pub fn inputs(&self) -> &'static [NamedInput] {
        if self.name == tasks::UTS.name { &tasks::INPUTS } else { &[] }
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
