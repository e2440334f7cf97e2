//! Shared parts of protocols in which a GPU and hosts share memory through a stateless directory.
//!
//! * [`Directory`] is a bank of the stateless directory. It records no copies: for each access it asks
//!   all hosts, and for a write of a host it invalidates the copy of the GPU's L2. Memory is below it.
//! * [`HostTable`] is the table of a line in the cache of a host. The cache is that of
//!   [`crate::moesi`], which a directory without records asks about lines that it does not own.
//! * [`L2`] is a bank of the GPU's L2: the bank of [`crate::vi`] over the directory, with
//!   invalidations.
//!
//! Source: Hechtman, PhD thesis (Duke University, 2014), sections 4.2 and 4.4.1.

mod directory;
mod directory_table;
mod host_table;
mod l2;

pub use directory::Directory;
pub use directory_table::DirectoryTable;
pub use host_table::HostTable;
pub use l2::L2;

use crate::moesi::{self, Coherent};
use crate::parts::{self, HasL1Messages};
use proto::{Cx, LineAddr, NodeId, messages};

/// The equivalent mutants (undetectable seeded faults) of the cache of a host.
pub(crate) const HOST_EQUIVALENT: &str = include_str!("equivalent-host.txt");
/// The equivalent mutants of the bank of [`crate::vi`] over the directory, in addition to those of the
/// bank itself.
pub(crate) const L2_EQUIVALENT: &str = include_str!("equivalent-l2.txt");

messages! {
    /// A message to the directory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToDirectory = Host(moesi::ToDirectory), Gpu(parts::ToBank) {
        /// The L2 has no clean bytes of the line any more.
        Invalidated {
            /// The line.
            line: LineAddr,
        } [line(line)],
    }
}

messages! {
    /// A message to an L2.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToL2 = Above(parts::ToBank), Below(parts::ToL1) {
        /// A request to invalidate the clean bytes of the line, because a host writes the line.
        Invalidate {
            /// The line.
            line: LineAddr,
        } [line(line)],
    }
}

/// A protocol with a stateless directory. The directory answers the GPU with [`parts::ToL1`]: a read
/// with `Answer::Line` gets `ToL1::Data`, and any other operation gets `ToL1::Done` or
/// `ToL1::WriteAck`.
pub trait Stateless: Coherent + HasL1Messages {
    /// The index of the caches of hosts in [`proto::Protocol::KINDS`].
    const HOST: u8;
    /// Whether a write of a host waits until the GPU has acknowledged the invalidation of its copies.
    const WAITS_FOR_GPU: bool;

    /// Asks the L2 that has the copies of a line to invalidate them. Returns this L2, which
    /// acknowledges the invalidation.
    fn invalidate(line: LineAddr, cx: &mut Cx<'_, Self>) -> NodeId;

    /// Whether the directory drops the bytes that a host writes out while memory is being read, for a
    /// test of this duty.
    fn lacks_hold(params: &Self::Params) -> bool {
        let _ = params;
        false
    }

    /// Whether the directory writes the bytes of a host after those of the GPU, for a test of this
    /// duty.
    fn lacks_order(params: &Self::Params) -> bool {
        let _ = params;
        false
    }
}
