//! The messages between a first-level cache or port and the L2 banks.

use proto::{ByteMask, LineAddr, LineData, Message, NodeId, Op, Slot};

/// Where an access is performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum How {
    /// At the L2, for any registered owner of the line.
    Here,
    /// Where the line is: at the L2, or in the cache that is registered for it.
    Anywhere,
    /// At the L2, when nobody is registered for the line any more.
    Unregistered,
    /// In memory, when nobody is registered for the line any more.
    System,
}

/// How a bank answers an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// With [`ToL1::Done`] for the request that waits.
    Request(Slot),
    /// With [`ToL1::Data`]: an L1 takes the line.
    Line,
    /// With [`ToL1::WriteAck`]: nobody waits but a later flush.
    Posted {
        /// Echoed by the acknowledgement.
        parity: bool,
    },
}

/// To an L2 bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToBank {
    /// The whole line, please.
    Get {
        /// The line.
        line: LineAddr,
    },
    /// Dirty bytes that leave a first-level cache.
    Write {
        /// The line.
        line: LineAddr,
        /// Which bytes.
        mask: ByteMask,
        /// The bytes.
        data: LineData,
        /// Echoed by the acknowledgement.
        parity: bool,
    },
    /// A load, store or read-modify-write to be performed below.
    Access {
        /// The line.
        line: LineAddr,
        /// Which bytes.
        mask: ByteMask,
        /// The bytes to store, or the operands.
        data: LineData,
        /// Load, store or read-modify-write.
        op: Op,
        /// Where.
        how: How,
        /// How to answer.
        answer: Answer,
        /// Whom to answer: the sender, unless it only passes the access on.
        asker: NodeId,
    },
    /// Write all dirty bytes to memory, then say so.
    Flush {
        /// The request that waits.
        slot: Slot,
    },
    /// Drop all clean lines, then say so.
    Invalidate {
        /// The request that waits.
        slot: Slot,
    },
}

/// To a first-level cache or port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToL1 {
    /// The line that was asked for.
    Data {
        /// The line.
        line: LineAddr,
        /// Its bytes.
        data: LineData,
    },
    /// A write has been performed.
    WriteAck {
        /// The parity of the write.
        parity: bool,
    },
    /// An access has been performed.
    Done {
        /// The request that waits.
        slot: Slot,
        /// How many bytes it reads.
        bytes: u8,
        /// What it read.
        data: LineData,
    },
    /// A bank has flushed or invalidated.
    BankDone {
        /// The request that waits.
        slot: Slot,
    },
}

/// How many bytes an access carries to where it is performed.
pub(crate) fn operand_bytes(op: Op, mask: ByteMask) -> u32 {
    if matches!(op, Op::Store | Op::Rmw(_)) { mask.count() } else { 0 }
}

impl Message for ToBank {
    fn name(&self) -> &'static str {
        match self {
            ToBank::Get { .. } => "Get",
            ToBank::Write { .. } => "Write",
            ToBank::Access { .. } => "Access",
            ToBank::Flush { .. } => "Flush",
            ToBank::Invalidate { .. } => "Invalidate",
        }
    }

    fn payload_bytes(&self, _line_bytes: u32) -> u32 {
        match *self {
            ToBank::Write { mask, .. } => mask.count(),
            ToBank::Access { mask, op, .. } => operand_bytes(op, mask),
            ToBank::Get { .. } | ToBank::Flush { .. } | ToBank::Invalidate { .. } => 0,
        }
    }

    fn line(&self) -> Option<LineAddr> {
        match *self {
            ToBank::Get { line } | ToBank::Write { line, .. } | ToBank::Access { line, .. } => Some(line),
            ToBank::Flush { .. } | ToBank::Invalidate { .. } => None,
        }
    }

    fn is_access(&self) -> bool {
        matches!(self, ToBank::Get { .. } | ToBank::Write { .. } | ToBank::Access { .. })
    }

    fn forget_byte(&mut self) -> bool {
        match self {
            ToBank::Write { mask, .. } => mask.forget_first(),
            _ => false,
        }
    }
}

impl Message for ToL1 {
    fn name(&self) -> &'static str {
        match self {
            ToL1::Data { .. } => "Data",
            ToL1::WriteAck { .. } => "WriteAck",
            ToL1::Done { .. } => "Done",
            ToL1::BankDone { .. } => "BankDone",
        }
    }

    fn payload_bytes(&self, line_bytes: u32) -> u32 {
        match self {
            ToL1::Data { .. } => line_bytes,
            ToL1::Done { bytes, .. } => u32::from(*bytes),
            ToL1::WriteAck { .. } | ToL1::BankDone { .. } => 0,
        }
    }

    fn line(&self) -> Option<LineAddr> {
        match *self {
            ToL1::Data { line, .. } => Some(line),
            _ => None,
        }
    }

    fn is_access(&self) -> bool {
        false
    }
}
