//! Options of a run, such as its seed, limits and seeded faults.

use kernel::Posted;
use proto::{Level, SeededFault};

/// The options of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// The seed of the run. It varies the order of dispatch and the start times of wavefronts. Seed
    /// 0 varies nothing.
    pub seed: u64,
    /// The number of cycles without progress after which a run counts as stuck. A long computation
    /// extends this limit. The limit is never less than 16 round trips to memory or four periods of
    /// the longest timer.
    pub patience_cycles: u64,
    /// The maximum number of cycles of the run. A longer run fails. `None` means no limit.
    pub cycles_max: Option<u64>,
    /// A message to drop, as a seeded fault. `None` drops no message.
    pub drop: Option<DropMessage>,
    /// A seeded fault in the protocol's tables. `None` leaves the protocol as it is.
    pub seeded_fault: Option<SeededFault>,
    /// Whether every hit executes a full step of its controller. If false, hits use the shortcut
    /// [`proto::Controller::hit`]. Both give the same outcome of the run.
    pub steps_hits: bool,
    /// Whether the run uses the settings with which the explorer (the program that tries every
    /// schedule) verifies the protocol ([`proto::Protocol::EXPLORED`]), instead of the settings in
    /// the machine description.
    pub explored_settings: bool,
    /// Replacements for the scopes that the program names at certain places in its source.
    pub scopes: Vec<ScopeReplacement>,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions {
            seed: 0,
            patience_cycles: 500_000,
            cycles_max: None,
            drop: None,
            seeded_fault: None,
            steps_hits: false,
            explored_settings: false,
            scopes: Vec::new(),
        }
    }
}

/// A replacement for the scope level of the operations at one place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopeReplacement {
    /// The source file, as the compiler names it.
    pub file: String,
    /// The number of the line in the source file.
    pub line: u32,
    /// The column at which the operation begins in its line of the source file, as the compiler
    /// counts columns.
    pub column: u32,
    /// The scope level to replace. Operations at the same place in the source that name another
    /// level keep their level.
    pub from: Level,
    /// The scope level that replaces `from`.
    pub to: Level,
}

impl ScopeReplacement {
    /// Replaces the scope level of `op`, if `op` comes from the replacement's place in the source
    /// and names the level `from`.
    pub(crate) fn apply(&self, op: &mut Posted) {
        let site = (op.site.line(), op.site.column(), op.site.file());
        if op.semantics.level == self.from && site == (self.line, self.column, self.file.as_str()) {
            op.semantics.level = self.to;
        }
    }
}

/// The choice of a message that the network drops, as a seeded fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropMessage {
    /// The name of the message to drop, such as `GetS`.
    pub name: String,
    /// The position of the dropped message among all messages with this name, in the order in which
    /// they are sent. The first one is number 1.
    pub nth: u64,
}
