//! The messages between first-level caches and the banks of the L2.

use crate::vi::Answer;
use proto::{ByteMask, LineAddr, LineData, Message, NodeId, Op, Slot};

/// Where an access is performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum How {
    /// At the L2, whoever is registered for the line.
    Data,
    /// Where the line is: at the L2, or in the cache that is registered for it.
    Anywhere,
    /// At the L2, when nobody is registered for the line any more.
    Unregistered,
    /// In memory, when nobody is registered for the line any more.
    System,
}

/// To an L2 bank.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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
    /// Write all dirty bytes to memory, registered ones too, then say so.
    Flush {
        /// The request that waits.
        slot: Slot,
    },
    /// Recall what is registered and drop all that is clean, then say so.
    Invalidate {
        /// The request that waits.
        slot: Slot,
    },
}

/// To a first-level cache.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ToL1 {
    /// The line that was asked for.
    Data {
        /// The line.
        line: LineAddr,
        /// Its bytes.
        data: LineData,
    },
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

/// How many bytes an access carries towards memory.
fn carried(op: Op, mask: ByteMask) -> u32 {
    if matches!(op, Op::Store | Op::Rmw(_)) { mask.count() } else { 0 }
}

impl Message for ToBank {
    fn name(&self) -> &'static str {
        match self {
            ToBank::Get { .. } => "Get",
            ToBank::Write { .. } => "Write",
            ToBank::Access { .. } => "Access",
            ToBank::Register { .. } => "Register",
            ToBank::Return { .. } => "Return",
            ToBank::Flush { .. } => "Flush",
            ToBank::Invalidate { .. } => "Invalidate",
        }
    }

    fn payload_bytes(&self, line_bytes: u32) -> u32 {
        match *self {
            ToBank::Return { whole: true, .. } => line_bytes,
            ToBank::Write { mask, .. } | ToBank::Return { mask, .. } => mask.count(),
            ToBank::Access { mask, op, .. } => carried(op, mask),
            ToBank::Get { .. }
            | ToBank::Register { .. }
            | ToBank::Flush { .. }
            | ToBank::Invalidate { .. } => 0,
        }
    }

    fn line(&self) -> Option<LineAddr> {
        match *self {
            ToBank::Get { line }
            | ToBank::Write { line, .. }
            | ToBank::Access { line, .. }
            | ToBank::Register { line, .. }
            | ToBank::Return { line, .. } => Some(line),
            ToBank::Flush { .. } | ToBank::Invalidate { .. } => None,
        }
    }

    fn is_access(&self) -> bool {
        !matches!(self, ToBank::Return { .. } | ToBank::Flush { .. } | ToBank::Invalidate { .. })
    }

    /// A flush waits for writes, and a recall for a flush: neither may stand
    /// behind what waits for a recall. Nor may the word of who is registered
    /// that it needs the bytes anew.
    fn keeps_order(&self) -> bool {
        match self {
            ToBank::Get { .. } => true,
            ToBank::Access { how, op, .. } => !(*how == How::Data && *op == Op::Store),
            ToBank::Write { .. }
            | ToBank::Register { .. }
            | ToBank::Return { .. }
            | ToBank::Flush { .. }
            | ToBank::Invalidate { .. } => false,
        }
    }

    fn forget_byte(&mut self) -> bool {
        match self {
            ToBank::Write { mask, .. } | ToBank::Return { mask, .. } => mask.forget_first(),
            _ => false,
        }
    }
}

impl Message for ToL1 {
    fn name(&self) -> &'static str {
        match self {
            ToL1::Data { .. } => "Data",
            ToL1::Grant { .. } => "Grant",
            ToL1::Recall { .. } => "Recall",
            ToL1::Forward { .. } => "Forward",
            ToL1::Serve { .. } => "Serve",
            ToL1::WriteAck { .. } => "WriteAck",
            ToL1::Done { .. } => "Done",
            ToL1::BankDone { .. } => "BankDone",
        }
    }

    fn payload_bytes(&self, line_bytes: u32) -> u32 {
        match *self {
            ToL1::Data { .. } | ToL1::Grant { .. } => line_bytes,
            ToL1::Forward { op, mask, .. } => carried(op, mask),
            ToL1::Done { bytes, .. } => u32::from(bytes),
            ToL1::Recall { .. } | ToL1::Serve { .. } | ToL1::WriteAck { .. } | ToL1::BankDone { .. } => 0,
        }
    }

    fn line(&self) -> Option<LineAddr> {
        match *self {
            ToL1::Data { line, .. }
            | ToL1::Grant { line, .. }
            | ToL1::Recall { line }
            | ToL1::Forward { line, .. }
            | ToL1::Serve { line, .. } => Some(line),
            ToL1::WriteAck { .. } | ToL1::Done { .. } | ToL1::BankDone { .. } => None,
        }
    }

    fn is_access(&self) -> bool {
        false
    }
}
