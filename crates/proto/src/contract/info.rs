//! What a protocol says of itself.

use crate::issue::IssueRule;

/// In which order messages between two nodes may arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channels {
    /// In the order in which they were sent, for each pair of nodes.
    Fifo,
    /// In any order.
    Unordered,
}

/// What a protocol says it implements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The memory model, by the name the litmus tool knows.
    pub model: &'static str,
    /// The cores with which it implements the model.
    pub cores: &'static [IssueRule],
    /// How the model's operations become requests.
    pub mapping: &'static str,
}

/// What a program must say where work-groups share data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sharing {
    /// A scope that both sides are in: a narrower one orders nothing.
    Scoped,
    /// The same, or a remote operation, which reaches across narrower scopes.
    Remote,
    /// Nothing: atomics are correct whatever their scope.
    Unscoped,
}

/// What a protocol says of itself.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Its name on the command line.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// What it claims.
    pub claims: &'static [Claim],
    /// What it needs of the network.
    pub channels: Channels,
    /// What it needs of programs that share data.
    pub sharing: Sharing,
    /// The seeded faults that no program can notice, as texts: in each line the
    /// name of a fault, ` # `, and the reason. A `*` in a name stands for any
    /// text.
    pub equivalent: &'static [&'static str],
}

impl Info {
    /// The seeded faults that no program can notice, each with the reason.
    pub fn equivalents(&self) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
        self.equivalent.iter().flat_map(|text| text.lines()).filter_map(|line| line.split_once(" # "))
    }
}
