//! Options of a run.

use kernel::Posted;
use proto::{Level, Mutation};

/// The options of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// Perturbs the order of dispatch and the start times of wavefronts. Seed 0
    /// perturbs nothing.
    pub seed: u64,
    /// The cycles without progress after which a run is stuck. A long computation
    /// extends the limit. The limit is never less than 16 round trips to memory or
    /// four periods of the longest timer.
    pub patience_cycles: u64,
    /// A run that takes more cycles fails.
    pub cycles_max: Option<u64>,
    /// A message to drop, for fault injection.
    pub drop: Option<DropMessage>,
    /// A seeded fault in the protocol's tables.
    pub mutation: Option<Mutation>,
    /// Executes the step of every hit instead of the shortcut of
    /// [`proto::Controller::hit`]. The outcome is the same.
    pub steps_hits: bool,
    /// Scopes that replace those of the program.
    pub scopes: Vec<ScopeReplacement>,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions {
            seed: 0,
            patience_cycles: 500_000,
            cycles_max: None,
            drop: None,
            mutation: None,
            steps_hits: false,
            scopes: Vec::new(),
        }
    }
}

/// A replacement for the scope level at one place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopeReplacement {
    /// The source file.
    pub file: String,
    /// The line in the file.
    pub line: u32,
    /// The column in the line.
    pub column: u32,
    /// The level that the program names there. Operations with other levels keep
    /// theirs.
    pub from: Level,
    /// The level that replaces it.
    pub to: Level,
}

impl ScopeReplacement {
    /// Replaces the level of an operation that matches.
    pub(crate) fn apply(&self, op: &mut Posted) {
        let site = (op.site.line(), op.site.column(), op.site.file());
        if op.semantics.level == self.from && site == (self.line, self.column, self.file.as_str()) {
            op.semantics.level = self.to;
        }
    }
}

/// A message to drop, as a broken link or controller would.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropMessage {
    /// The message's name.
    pub name: String,
    /// Its number among the messages of that name, in the order of sending, from 1.
    pub nth: u64,
}
