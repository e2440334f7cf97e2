//! The messages of registration, beside those that every cache and bank
//! exchange.

use crate::parts::{self, How, operand_bytes};
use proto::{ByteMask, LineAddr, LineData, Message, NodeId, Op, Slot};

/// To an L2 bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToBank {
    /// What every bank is told. A flush or an invalidation recalls what is
    /// registered.
    Shared(parts::ToBank),
    /// Registration, please; or the bytes anew, from who is registered.
    Register {
        /// The line.
        line: LineAddr,
        /// The bytes that the atomic needs; none for a line with stored data.
        mask: ByteMask,
        /// The request that waits, if one waits for nothing else.
        slot: Option<Slot>,
    },
    /// Registration is given back, evicted or recalled.
    Return {
        /// The line.
        line: LineAddr,
        /// The bytes that were written while it was registered and have not left.
        mask: ByteMask,
        /// The bytes.
        data: LineData,
        /// Does the rest of the line travel with them?
        whole: bool,
    },
}

/// To a first-level cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToL1 {
    /// What every first-level cache is told.
    Shared(parts::ToL1),
    /// The line is registered to this cache.
    Grant {
        /// The line.
        line: LineAddr,
        /// The bytes that were asked for.
        mask: ByteMask,
        /// The request that waits.
        slot: Option<Slot>,
        /// The bytes of the whole line.
        data: LineData,
    },
    /// Give the registration of the line back.
    Recall {
        /// The line.
        line: LineAddr,
    },
    /// An access of another cache to a line that is registered here.
    Forward {
        /// The line.
        line: LineAddr,
        /// Which bytes.
        mask: ByteMask,
        /// The bytes to store, or the operands.
        data: LineData,
        /// Load, store or read-modify-write.
        op: Op,
        /// The request that waits.
        slot: Slot,
        /// Where it waits.
        asker: NodeId,
    },
    /// Send the line to another cache that loads data; it stays registered here.
    Serve {
        /// The line.
        line: LineAddr,
        /// Who waits for it.
        asker: NodeId,
    },
}

impl From<parts::ToBank> for ToBank {
    #[inline]
    fn from(msg: parts::ToBank) -> Self {
        ToBank::Shared(msg)
    }
}

impl From<parts::ToL1> for ToL1 {
    #[inline]
    fn from(msg: parts::ToL1) -> Self {
        ToL1::Shared(msg)
    }
}

impl Message for ToBank {
    fn name(&self) -> &'static str {
        match self {
            ToBank::Shared(msg) => msg.name(),
            ToBank::Register { .. } => "Register",
            ToBank::Return { .. } => "Return",
        }
    }

    fn payload_bytes(&self, line_bytes: u32) -> u32 {
        match *self {
            ToBank::Shared(ref msg) => msg.payload_bytes(line_bytes),
            ToBank::Register { .. } => 0,
            ToBank::Return { whole: true, .. } => line_bytes,
            ToBank::Return { mask, .. } => mask.count(),
        }
    }

    fn line(&self) -> Option<LineAddr> {
        match *self {
            ToBank::Shared(ref msg) => msg.line(),
            ToBank::Register { line, .. } | ToBank::Return { line, .. } => Some(line),
        }
    }

    fn is_access(&self) -> bool {
        match self {
            ToBank::Shared(msg) => msg.is_access(),
            ToBank::Register { .. } => true,
            ToBank::Return { .. } => false,
        }
    }

    /// A flush waits for writes, and a recall for a flush: neither may stand
    /// behind what waits for a recall. Nor may the word of who is registered
    /// that it needs the bytes anew.
    fn keeps_order(&self) -> bool {
        use parts::ToBank::{Access, Flush, Get, Invalidate, Write};
        match self {
            ToBank::Shared(Get { .. }) => true,
            ToBank::Shared(Access { how, op, .. }) => !(*how == How::Here && *op == Op::Store),
            ToBank::Shared(Write { .. } | Flush { .. } | Invalidate { .. }) => false,
            ToBank::Register { .. } | ToBank::Return { .. } => false,
        }
    }

    fn forget_byte(&mut self) -> bool {
        match self {
            ToBank::Shared(msg) => msg.forget_byte(),
            ToBank::Return { mask, .. } => mask.forget_first(),
            ToBank::Register { .. } => false,
        }
    }
}

impl Message for ToL1 {
    fn name(&self) -> &'static str {
        match self {
            ToL1::Shared(msg) => msg.name(),
            ToL1::Grant { .. } => "Grant",
            ToL1::Recall { .. } => "Recall",
            ToL1::Forward { .. } => "Forward",
            ToL1::Serve { .. } => "Serve",
        }
    }

    fn payload_bytes(&self, line_bytes: u32) -> u32 {
        match *self {
            ToL1::Shared(ref msg) => msg.payload_bytes(line_bytes),
            ToL1::Grant { .. } => line_bytes,
            ToL1::Forward { op, mask, .. } => operand_bytes(op, mask),
            ToL1::Recall { .. } | ToL1::Serve { .. } => 0,
        }
    }

    fn line(&self) -> Option<LineAddr> {
        match *self {
            ToL1::Shared(ref msg) => msg.line(),
            ToL1::Grant { line, .. }
            | ToL1::Recall { line }
            | ToL1::Forward { line, .. }
            | ToL1::Serve { line, .. } => Some(line),
        }
    }

    fn is_access(&self) -> bool {
        false
    }
}
