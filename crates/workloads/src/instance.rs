//! Workloads and their instances.

use core::fmt;

use kernel::{Answer, Grid, Program, Shape, WrongAnswer};

use crate::settings::{BadSetting, Setting, Settings};
use crate::{learning, tasks};

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

/// The subject of a workload, which groups the lists.
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
    /// Tasks that make tasks.
    Tasks,
    /// Locks, flags and barriers.
    Synchronization,
    /// Programs that load or test one part of a machine or of a tool.
    Trial,
}

impl Room {
    /// The name of the room.
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

    /// The subject of the room, in one line.
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
            Room::Tasks => "tasks that make tasks",
            Room::Synchronization => "locks, flags and barriers",
            Room::Trial => "programs that load or test one part of a machine or of a tool",
        }
    }
}

/// A size at which every workload can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Size {
    /// For tests and the race detector: milliseconds.
    Tiny,
    /// For a look at a machine of eight compute units: less than a second.
    Small,
    /// The size of the paper that uses the workload, or one that fills its machine: minutes.
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

    /// The size with a name.
    #[must_use]
    pub fn find(name: &str) -> Option<Size> {
        Size::ALL.into_iter().find(|size| size.name() == name)
    }
}

/// The settings of each size that differ from the defaults: names and values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The settings of the size `tiny`.
    pub tiny: &'static [(&'static str, &'static str)],
    /// The settings of the size `small`.
    pub small: &'static [(&'static str, &'static str)],
    /// The settings of the size `paper`.
    pub paper: &'static [(&'static str, &'static str)],
}

impl Sizes {
    /// The defaults for all sizes, for a program of one size.
    pub(crate) const DEFAULT: Sizes = Sizes { tiny: &[], small: &[], paper: &[] };

    /// The settings of one size.
    #[must_use]
    pub fn of(&self, size: Size) -> &'static [(&'static str, &'static str)] {
        match size {
            Size::Tiny => self.tiny,
            Size::Small => self.small,
            Size::Paper => self.paper,
        }
    }
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
    /// The work that describes the algorithm, or that uses the program.
    pub origin: &'static str,
    /// The subject of the workload.
    pub room: Room,
    /// The purpose of the workload.
    pub purpose: Purpose,
    /// The settings of each size.
    pub sizes: Sizes,
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

    /// The settings of a size.
    ///
    /// # Errors
    /// If the workload declares a setting of this size that it does not have.
    pub fn sized(&self, size: Size) -> Result<Settings, BadSetting> {
        let mut settings = self.defaults();
        for (name, value) in self.sizes.of(size) {
            settings.set(name, value)?;
        }
        Ok(settings)
    }

    /// The inputs that the workload itself provides, by name.
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
