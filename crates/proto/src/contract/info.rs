//! The description of a protocol: name, source, claims and needs.

use crate::issue::IssueRule;

/// The order in which messages between two nodes may arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channels {
    /// In the order in which they were sent, for each pair of nodes.
    Fifo,
    /// In any order.
    Unordered,
}

/// A memory model that a protocol promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The name of the memory model in `fencepost litmus`.
    pub model: &'static str,
    /// The cores for which the promise holds.
    pub cores: &'static [IssueRule],
    /// The mapping of the model's operations to requests.
    pub mapping: &'static str,
}

/// What a program must specify where work-groups share data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sharing {
    /// A scope that includes both sides. A narrower one orders nothing.
    Scoped,
    /// A scope that includes both sides, or a remote operation.
    Remote,
    /// Nothing: atomics are correct at any scope.
    Unscoped,
}

/// The description of a protocol.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Its name on the command line.
    pub name: &'static str,
    /// The idea, in one line.
    pub summary: &'static str,
    /// The paper and the sections that it follows.
    pub source: &'static str,
    /// The memory models that it promises.
    pub claims: &'static [Claim],
    /// The order of messages that it needs.
    pub channels: Channels,
    /// What programs must specify where work-groups share data.
    pub sharing: Sharing,
    /// The equivalent mutants, as texts. Each line holds the name of a seeded
    /// fault, ` # `, and the reason why no program can detect it. A `*` in a name
    /// stands for any text.
    pub equivalent: &'static [&'static str],
}

impl Info {
    /// The names of the equivalent mutants, each with its reason.
    pub fn equivalents(&self) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
        self.equivalent.iter().flat_map(|text| text.lines()).filter_map(|line| line.split_once(" # "))
    }
}
