//! Operations on memory, and what it answers.

use crate::line::{ByteMask, LineAddr, LineData};
use crate::node::{NodeId, Slot};
use crate::request::Rmw;

/// An operation on memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryOp {
    /// The line.
    pub line: LineAddr,
    /// What is done.
    pub access: MemoryAccess,
    /// Comes back with the reply.
    pub tag: MemoryTag,
}

/// What is done to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryAccess {
    /// Read the whole line.
    Read,
    /// Write the masked bytes.
    Write {
        /// Which bytes.
        mask: ByteMask,
        /// The bytes.
        data: LineData,
    },
    /// Read-modify-write the masked words in memory.
    Rmw {
        /// The function.
        rmw: Rmw,
        /// Which bytes.
        mask: ByteMask,
        /// The operands.
        data: LineData,
    },
}

impl MemoryAccess {
    /// Memory performs it on a line: what its answer carries.
    #[inline]
    pub fn perform(&self, line: &mut LineData) -> LineData {
        match self {
            MemoryAccess::Read => *line,
            MemoryAccess::Write { mask, data } => {
                line.merge(data, *mask);
                LineData::default()
            }
            MemoryAccess::Rmw { rmw, mask, data } => rmw.perform(line, data, *mask),
        }
    }
}

/// What a controller wants to be told when memory answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryTag {
    /// Whom it was done for.
    pub node: NodeId,
    /// A number of the controller's own.
    pub slot: Slot,
    /// Another one.
    pub note: u8,
}

/// Memory's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryReply {
    /// The operation.
    pub op: MemoryOp,
    /// The line as read, or the old bytes of a read-modify-write.
    pub data: LineData,
}
