//! The description of a protocol: name, source, claims and needs.

use crate::issue::IssueRule;

/// The order in which messages between two nodes may arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channels {
    /// Messages arrive in the order in which they were sent, for each pair of nodes.
    Fifo,
    /// Messages may arrive in any order.
    Unordered,
}

/// A memory model that a protocol promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The name of the memory model in `fencepost litmus`.
    pub model: &'static str,
    /// The issue rules of cores (in order, GPU, TSO, ...) for which the promise holds.
    pub cores: &'static [IssueRule],
    /// Whether the promise covers atomics that *widen*: an atomic widens if it both acquires and
    /// releases, at a wider scope than another release of the program. It may then pass on what it
    /// acquires from the narrower scope.
    pub widening: bool,
    /// The mapping of the memory model's operations to requests, in words.
    pub mapping: &'static str,
}

/// The scopes that a program must use when work-groups share data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sharing {
    /// The program must use a scope that includes all work-groups that share the data. A narrower
    /// scope orders nothing between these work-groups.
    Scoped,
    /// The program must use a scope that includes all work-groups that share the data, or a remote
    /// operation (an operation that also synchronizes with operations of other threads at narrower
    /// scopes).
    Remote,
    /// The program may use any scope, because an atomic of this protocol is correct at every scope.
    Unscoped,
}

/// The way in which hosts reach memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hosts {
    /// The accesses of hosts bypass the caches of the GPU. When a kernel has ended, memory has all
    /// bytes that the kernel has written, and no write to memory is outstanding. If a host has a
    /// cache, only its own acquires and releases keep the cache coherent.
    Direct,
    /// Hosts have caches that the protocol keeps coherent, without any synchronization. When a kernel
    /// has ended, dirty bytes may stay in caches. A host always reads and writes the current bytes of
    /// a line through its own controller.
    Cached,
}

/// The description of a protocol.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// The name of the protocol on the command line.
    pub name: &'static str,
    /// The idea of the protocol, in one line.
    pub summary: &'static str,
    /// The paper that the protocol follows, with the sections.
    pub source: &'static str,
    /// The memory models that the protocol promises.
    pub claims: &'static [Claim],
    /// The order of message arrival that the protocol needs from the network.
    pub channels: Channels,
    /// The scopes that programs must use when work-groups share data.
    pub sharing: Sharing,
    /// The way in which hosts reach memory.
    pub hosts: Hosts,
    /// The equivalent mutants (seeded faults that no program can detect), as texts. Each line of a
    /// text holds the name of a seeded fault, ` # `, and the reason why no program can detect the
    /// fault. A `*` in a name stands for any text.
    pub equivalent: &'static [&'static str],
}

impl Info {
    /// The names of the equivalent mutants (seeded faults that no program can detect), each with
    /// the reason why no program can detect the fault.
    pub fn equivalents(&self) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
        self.equivalent.iter().flat_map(|text| text.lines()).filter_map(|line| line.split_once(" # "))
    }
}
