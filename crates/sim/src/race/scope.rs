//! Scope instances (such as work-group 3), and the interpretation of scopes by the race models.

use kernel::Semantics;
use proto::Level;

use crate::reports::probe::WaveAt;

/// A race model: a definition of race freedom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RaceModel {
    /// Data-race-free (DRF): scopes have no effect. Every operation synchronizes with the whole
    /// system.
    Drf,
    /// Heterogeneous-race-free, direct (HRF-direct): in a chain of synchronization, all operations
    /// must use the same scope instance.
    HrfDirect,
    /// Heterogeneous-race-free, indirect (HRF-indirect): in a chain of synchronization, operations
    /// may use different scopes.
    #[default]
    HrfIndirect,
}

impl RaceModel {
    /// All race models, each with its name on the command line.
    pub const ALL: [(&'static str, RaceModel); 3] = [
        ("drf", RaceModel::Drf),
        ("hrf-direct", RaceModel::HrfDirect),
        ("hrf-indirect", RaceModel::HrfIndirect),
    ];
}

/// The rule that decides with which releases an acquire synchronizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pairing {
    /// An acquire synchronizes with releases at its own location. A release fence publishes through
    /// later atomic writes. An acquire fence synchronizes with the releases that earlier atomic
    /// reads found.
    #[default]
    SameLocation,
    /// An acquire synchronizes with all earlier releases at its scope, at any location, as in the
    /// definitions of HRF. This rule hides a race if the timing of the run happens to order the two
    /// accesses of the race.
    AnyLocation,
}

/// One instance of a scope, for example work-group 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Instance {
    pub(super) level: Level,
    number: u64,
}

impl Instance {
    /// The only instance of system scope.
    pub(super) const SYSTEM: Instance = Instance { level: Level::System, number: 0 };
}

/// A thread with its position in the scope hierarchy: its work-group and its chiplet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) thread: u32,
    /// The number of the work-group, distinct from the work-groups of all other kernels. `None` for
    /// the host.
    pub(super) group: Option<u64>,
    /// The number of the thread's chiplet. `None` if the machine has one chiplet.
    pub(super) chiplet: Option<u32>,
    pub(super) at: WaveAt,
    /// The number of the name of the thread's kernel, in the order of first launches.
    pub(super) kernel: u16,
}

impl Standing {
    /// A number for the work-group of the wavefront at `at`. Work-groups of different kernels have
    /// different numbers.
    pub(super) fn group_of(at: &WaveAt) -> u64 {
        u64::from(at.kernel.0) << 32 | u64::from(at.work_group)
    }

    /// The scope instance that an operation of this thread with these semantics names.
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

    /// The narrowest scope level that has an instance with both threads.
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

/// The rank of a scope level: the wider the level, the higher the rank.
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

/// The wider of two scope levels.
pub(super) fn wider(a: Level, b: Level) -> Level {
    if rank(a) >= rank(b) { a } else { b }
}
