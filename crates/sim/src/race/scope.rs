//! Which instance of a scope is meant, and the models' readings of scopes.

use kernel::Semantics;
use proto::Level;

use crate::reports::probe::WaveAt;

/// When is a program free of races?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RaceModel {
    /// Data-race-free: scopes play no part, every one is the whole system.
    Drf,
    /// Heterogeneous-race-free, direct: a chain of synchronization keeps to one scope instance.
    HrfDirect,
    /// Heterogeneous-race-free, indirect: the links of a chain may be of different scopes.
    #[default]
    HrfIndirect,
}

impl RaceModel {
    /// All models, with the names that the command line knows.
    pub const ALL: [(&'static str, RaceModel); 3] = [
        ("drf", RaceModel::Drf),
        ("hrf-direct", RaceModel::HrfDirect),
        ("hrf-indirect", RaceModel::HrfIndirect),
    ];
}

/// Which releases an acquire comes after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pairing {
    /// Those of its own location. A fence releases with the atomic writes that
    /// follow it, and acquires what the atomic reads before it found.
    #[default]
    SameLocation,
    /// All earlier ones of its scope, whatever their location, as the
    /// definitions of HRF say. This hides what only the timing of one run ordered.
    AnyLocation,
}

/// One instance of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Instance {
    pub(super) level: Level,
    number: u64,
}

impl Instance {
    /// The whole system.
    pub(super) const SYSTEM: Instance = Instance { level: Level::System, number: 0 };
}

/// Where a thread stands among the scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) thread: u32,
    /// The work-group, distinct from those of all other kernels; none is the host.
    pub(super) group: Option<u64>,
    /// None where the machine has one.
    pub(super) chiplet: Option<u32>,
    pub(super) at: WaveAt,
    /// The name of its kernel.
    pub(super) kernel: u16,
}

impl Standing {
    /// The number of the work-group `at` belongs to, over all kernels.
    pub(super) fn group_of(at: &WaveAt) -> u64 {
        u64::from(at.kernel.0) << 32 | u64::from(at.work_group)
    }

    /// The instance that an operation of this thread names.
    pub(super) fn instance(&self, semantics: &Semantics) -> Instance {
        let number = match semantics.level {
            Level::WorkItem | Level::SubGroup => u64::from(self.thread),
            Level::WorkGroup => self.group.unwrap_or(u64::MAX),
            Level::Chiplet => u64::from(self.chiplet.unwrap_or(0)),
            Level::Device | Level::System => 0,
            Level::Named => u64::from(semantics.named),
        };
        Instance { level: semantics.level, number }
    }

    /// The narrowest level whose scope holds both.
    pub(super) fn common(&self, other: &Standing) -> Level {
        match (self.group, other.group) {
            _ if self.thread == other.thread => Level::SubGroup,
            (None, _) | (_, None) => Level::System,
            (mine, theirs) if mine == theirs => Level::WorkGroup,
            _ if self.chiplet.is_some() && self.chiplet == other.chiplet => Level::Chiplet,
            _ => Level::Device,
        }
    }
}

/// The place of a level in the hierarchy, the narrowest first.
pub(super) fn rank(level: Level) -> u8 {
    match level {
        Level::WorkItem => 0,
        Level::SubGroup => 1,
        Level::WorkGroup => 2,
        Level::Chiplet => 3,
        Level::Device | Level::Named => 4,
        Level::System => 5,
    }
}

/// The wider of two levels.
pub(super) fn wider(a: Level, b: Level) -> Level {
    if rank(a) >= rank(b) { a } else { b }
}
