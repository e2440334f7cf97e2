//! Workloads, and their instances: programs with checks of their answers.

use core::fmt;

use kernel::{Answer, Grid, Program, Shape, WrongAnswer};

use crate::settings::{BadSetting, Setting, Settings};
use crate::{learning, tasks};

/// The purpose of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// The workload serves to compare machines and protocols.
    Benchmark,
    /// The workload loads one part of a machine as much as possible.
    Stress,
    /// The program never ends. A machine must stop it with a diagnosis.
    Diagnosis,
    /// The program has a race, which a race detector must report.
    Race,
}

/// A group of workloads with one subject. Lists show the workloads by group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Room {
    /// Streams and dense matrices.
    Dense,
    /// Stencils and grids.
    Stencil,
    /// Sorting, scans, reductions and searches.
    Sorting,
    /// Graph algorithms.
    Graph,
    /// Physics and sparse solvers.
    Physics,
    /// Machine learning.
    Learning,
    /// Histograms and other atomics.
    Atomics,
    /// Tasks that create tasks.
    Tasks,
    /// Locks, flags and barriers.
    Synchronization,
    /// Programs that stress or test one part of a machine or of a tool.
    Trial,
}

impl Room {
    /// The name of this group of workloads.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Room::Dense => "dense",
            Room::Stencil => "stencil",
            Room::Sorting => "sorting",
            Room::Graph => "graph",
            Room::Physics => "physics",
            Room::Learning => "learning",
            Room::Atomics => "atomics",
            Room::Tasks => "tasks",
            Room::Synchronization => "synchronization",
            Room::Trial => "trial",
        }
    }

    /// The subject of this group of workloads, in one line.
    #[must_use]
    pub fn summary(self) -> &'static str {
        match self {
            Room::Dense => "streams and dense matrices",
            Room::Stencil => "stencils and grids",
            Room::Sorting => "sorting, scans, reductions and searches",
            Room::Graph => "graph algorithms",
            Room::Physics => "physics and sparse solvers",
            Room::Learning => "machine learning",
            Room::Atomics => "histograms and other atomics",
            Room::Tasks => "tasks that create tasks",
            Room::Synchronization => "locks, flags and barriers",
            Room::Trial => "programs that stress or test one part of a machine or of a tool",
        }
    }
}

/// A size of the input at which every workload can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Size {
    /// The size for tests and the race detector. A run takes milliseconds.
    Tiny,
    /// The size for a first look at a machine of eight compute units. A run takes less than a
    /// second.
    Small,
    /// The size in the paper that uses the workload, or a size that fills the machine of that
    /// paper. A run takes minutes.
    Paper,
}

impl Size {
    /// All sizes, the smallest first.
    pub const ALL: [Size; 3] = [Size::Tiny, Size::Small, Size::Paper];

    /// The name of the size.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Size::Tiny => "tiny",
            Size::Small => "small",
            Size::Paper => "paper",
        }
    }

    /// The size with this name.
    #[must_use]
    pub fn find(name: &str) -> Option<Size> {
        Size::ALL.into_iter().find(|size| size.name() == name)
    }
}

/// For each size, the names and values of those settings that differ from the defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The settings for the size `tiny` that differ from the defaults.
    pub tiny: &'static [(&'static str, &'static str)],
    /// The settings for the size `small` that differ from the defaults.
    pub small: &'static [(&'static str, &'static str)],
    /// The settings for the size `paper` that differ from the defaults.
    pub paper: &'static [(&'static str, &'static str)],
}

impl Sizes {
    /// The value for a workload whose settings have their defaults at all sizes.
    pub(crate) const DEFAULT: Sizes = Sizes { tiny: &[], small: &[], paper: &[] };

    /// The settings for one size that differ from the defaults.
    #[must_use]
    pub fn of(&self, size: Size) -> &'static [(&'static str, &'static str)] {
        match size {
            Size::Tiny => self.tiny,
            Size::Small => self.small,
            Size::Paper => self.paper,
        }
    }
}

/// An input with a name, which stands for the values of several settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedInput {
    /// The name of the input.
    pub name: &'static str,
    /// The description of the input, in one line.
    pub summary: &'static str,
    /// The names of settings, each with its value for this input.
    pub settings: &'static [(&'static str, &'static str)],
}

/// A workload: a program that has settings, inputs and a check of its answer.
#[derive(Clone, Copy)]
pub struct Workload {
    /// The name of the workload.
    pub name: &'static str,
    /// The description of the workload, in one line.
    pub summary: &'static str,
    /// The paper or benchmark that describes the algorithm, or that uses the program.
    pub origin: &'static str,
    /// The group of workloads to which this one belongs.
    pub room: Room,
    /// The purpose of the workload, such as a benchmark.
    pub purpose: Purpose,
    /// For each size, the settings that differ from the defaults.
    pub sizes: Sizes,
    /// The settings that a user can change.
    pub settings: &'static [Setting],
    /// Makes the program and its check from the settings and a seed.
    pub make: fn(&Settings, u64) -> Result<Instance, BadSetting>,
}

impl fmt::Debug for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workload").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Workload {
    /// The values of all settings if a user changes none.
    #[must_use]
    pub fn defaults(&self) -> Settings {
        Settings::defaults(self.name, self.settings)
    }

    /// The values of all settings for this size.
    ///
    /// # Errors
    /// If the workload gives a value to a setting for this size, but does not have this setting.
    pub fn sized(&self, size: Size) -> Result<Settings, BadSetting> {
        let mut settings = self.defaults();
        for (name, value) in self.sizes.of(size) {
            settings.set(name, value)?;
        }
        Ok(settings)
    }

    /// The named inputs that the workload provides.
    #[must_use]
    pub fn inputs(&self) -> &'static [NamedInput] {
        if self.name == tasks::UTS.name {
            &tasks::INPUTS
        } else if self.name == learning::CONV_BACKWARD.name {
            &learning::CONV_INPUTS
        } else {
            &[]
        }
    }

    /// Makes the program and its check from the settings and a seed.
    ///
    /// # Errors
    /// If the settings contradict each other.
    pub fn instance(&self, settings: &Settings, seed: u64) -> Result<Instance, BadSetting> {
        (self.make)(settings, seed)
    }
}

type Check = dyn Fn(&Answer) -> Result<(), WrongAnswer>;

/// A program, and the check of its answer against a reference.
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
    /// Combines a program with the function that checks its answer against a reference computed on
    /// the host.
    pub fn new(program: Program, check: impl Fn(&Answer) -> Result<(), WrongAnswer> + 'static) -> Self {
        Instance { program, check: Box::new(check) }
    }

    /// The program, which a run consumes, and the check of its answer.
    #[must_use]
    pub fn into_parts(self) -> (Program, Box<Check>) {
        (self.program, self.check)
    }

    /// Checks an answer of the program.
    ///
    /// # Errors
    /// If an element differs from the reference. The error describes the first such element.
    pub fn check(&self, answer: &Answer) -> Result<(), WrongAnswer> {
        (self.check)(answer)
    }
}

/// The default number of work-items in a work-group.
pub(crate) const GROUP_ITEMS: u64 = 256;

/// A grid with at least `items` work-items, in work-groups of 256.
#[must_use]
pub fn grid_over(shape: &Shape, items: u64) -> Grid {
    let waves = (GROUP_ITEMS as u32).div_ceil(shape.lanes.max(1));
    Grid::new(items.div_ceil(GROUP_ITEMS) as u32, waves)
}
