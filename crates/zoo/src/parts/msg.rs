//! The messages between a first-level cache or port and the L2 banks.

use proto::{ByteMask, LineAddr, LineData, NodeId, Op, Slot, messages};

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

messages! {
    /// To an L2 bank.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToBank {
        /// The whole line, please.
        Get {
            /// The line.
            line: LineAddr,
        } [line(line), access],
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
        } [line(line), bytes(|_| mask.count()), access, writes(mask)],
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
        } [line(line), bytes(|_| operand_bytes(*op, *mask)), access],
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
}

messages! {
    /// To a first-level cache or port.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToL1 {
        /// The line that was asked for.
        Data {
            /// The line.
            line: LineAddr,
            /// Its bytes.
            data: LineData,
        } [line(line), bytes(|line_bytes| line_bytes)],
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
        } [bytes(|_| u32::from(*bytes))],
        /// A bank has flushed or invalidated.
        BankDone {
            /// The request that waits.
            slot: Slot,
        },
    }
}

/// How many bytes an access carries to where it is performed.
pub(crate) fn operand_bytes(op: Op, mask: ByteMask) -> u32 {
    if matches!(op, Op::Store | Op::Rmw(_)) { mask.count() } else { 0 }
}
