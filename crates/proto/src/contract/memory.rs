//! Operations on memory, and their replies.

use crate::line::{ByteMask, LineAddr, LineData};
use crate::node::{NodeId, Slot};
use crate::request::Rmw;

/// An operation on memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryOp {
    /// The line.
    pub line: LineAddr,
    /// The access.
    pub access: MemoryAccess,
    /// The reply echoes it.
    pub tag: MemoryTag,
}

/// An access to a line of memory.
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
    /// Performs the access on a line. Returns the bytes of the reply.
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

/// The context that a controller needs when memory replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryTag {
    /// The node on whose behalf the operation is.
    pub node: NodeId,
    /// A number with a meaning of the controller's choice.
    pub slot: Slot,
    /// Another such number.
    pub note: u8,
}

/// A reply of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryReply {
    /// The operation.
    pub op: MemoryOp,
    /// The line as read, or the old bytes of a read-modify-write.
    pub data: LineData,
}
