//! Operations of controllers on memory, and the replies of memory.

use crate::line::{ByteMask, LineAddr, LineData};
use crate::node::{NodeId, Slot};
use crate::request::Rmw;

/// An operation that a controller sends to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryOp {
    /// The line that the operation accesses.
    pub line: LineAddr,
    /// The kind of access, with its bytes.
    pub access: MemoryAccess,
    /// The sender's context, which the reply carries back unchanged.
    pub tag: MemoryTag,
}

/// An access to a line of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryAccess {
    /// Read the whole line from memory.
    Read,
    /// Write the masked bytes to memory.
    Write {
        /// The bytes of the line to write.
        mask: ByteMask,
        /// The new values of these bytes, at their offsets in the line.
        data: LineData,
    },
    /// Read-modify-write the masked words in memory, and reply with the old bytes.
    Rmw {
        /// The function that computes each new word.
        rmw: Rmw,
        /// The bytes of the words to update.
        mask: ByteMask,
        /// The operands of the function, at the offsets of their words.
        data: LineData,
    },
}

impl MemoryAccess {
    /// Performs the access on the bytes of a line in memory. Returns the bytes that the reply of
    /// memory carries: the whole line for a read, the old bytes of the words for a
    /// read-modify-write, and zeros for a write.
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

/// The context that a controller needs when memory replies to its operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryTag {
    /// The node on whose behalf the operation is made, for example the cache that waits for the
    /// answer.
    pub node: NodeId,
    /// A number whose meaning the sending controller chooses, for example the slot of a request.
    pub slot: Slot,
    /// A second number whose meaning the sending controller chooses.
    pub note: u8,
}

/// A reply of memory to the controller that sent the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryReply {
    /// The operation that memory has performed.
    pub op: MemoryOp,
    /// The line as read, the old bytes of a read-modify-write, or zeros for a write.
    pub data: LineData,
}
