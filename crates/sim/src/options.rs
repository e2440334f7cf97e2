//! How to run a program on a machine.

use kernel::Posted;
use proto::{Level, Mutation};

/// How to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// Perturbs the order of dispatch and the moment at which wavefronts start.
    /// Seed 0 perturbs nothing.
    pub seed: u64,
    /// How long a run may go on without progress. A long computation is waited for,
    /// and at least 16 round trips to memory and four periods of the longest timer
    /// are waited in any case.
    pub patience_cycles: u64,
    /// A run that is longer than this is given up.
    pub cycles_max: Option<u64>,
    /// A message to lose on purpose.
    pub drop: Option<DropMessage>,
    /// A seeded fault in the protocol's tables.
    pub mutation: Option<Mutation>,
    /// Takes the step of every hit, instead of what the controller says that it does
    /// ([`proto::Controller::hit`]). The outcome is the same.
    pub steps_hits: bool,
    /// Scopes to run with in place of those the program names.
    pub scopes: Vec<OtherScope>,
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

/// Another level for what stands at one place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherScope {
    /// The source file.
    pub file: String,
    /// The line in it.
    pub line: u32,
    /// The column.
    pub column: u32,
    /// The level that the program names there; others stay.
    pub from: Level,
    /// The level that it runs with.
    pub to: Level,
}

impl OtherScope {
    /// Runs an operation at the other level, if it is one of those.
    pub(crate) fn apply(&self, op: &mut Posted) {
        let site = (op.site.line(), op.site.column(), op.site.file());
        if op.semantics.level == self.from && site == (self.line, self.column, self.file.as_str()) {
            op.semantics.level = self.to;
        }
    }
}

/// A message to lose on purpose: how a machine with a broken link or
/// controller behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropMessage {
    /// The message's name.
    pub name: String,
    /// Which one of that name, in the order of sending, from 1.
    pub nth: u64,
}
