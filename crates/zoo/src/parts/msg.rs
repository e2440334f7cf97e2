//! The messages between a first-level cache or port and the L2 banks.

use proto::{ByteMask, LineAddr, LineData, NodeId, Op, Slot, messages};

/// The place where an access is performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessSite {
    /// At the L2, even if a cache is registered for the line.
    Here,
    /// At the cache that is registered for the line, or else at the L2.
    Anywhere,
    /// At the L2, after the recall of a registration.
    Unregistered,
    /// In memory, after the recall of a registration.
    System,
}

/// The answer of a bank to an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// [`ToL1::Done`] for the waiting request.
    Request(Slot),
    /// [`ToL1::Data`], with the line for an L1.
    Line,
    /// [`ToL1::WriteAck`]. Only a later flush waits for it.
    Posted {
        /// The ack echoes it.
        parity: bool,
    },
}

messages! {
    /// To an L2 bank.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToBank {
        /// A request for the whole line.
        Get {
            /// The line.
            line: LineAddr,
        } [line(line), access],
        /// Dirty bytes that a first-level cache writes out.
        Write {
            /// The line.
            line: LineAddr,
            /// The mask of the bytes.
            mask: ByteMask,
            /// The bytes.
            data: LineData,
            /// The ack echoes it.
            parity: bool,
        } [line(line), bytes(|_| mask.count()), access, writes(mask)],
        /// A load, store or read-modify-write to be performed below.
        Access {
            /// The line.
            line: LineAddr,
            /// The accessed bytes.
            mask: ByteMask,
            /// The bytes to store, or the operands.
            data: LineData,
            /// Load, store or read-modify-write.
            op: Op,
            /// The place where it is performed.
            site: AccessSite,
            /// The form of the answer.
            answer: Answer,
            /// The receiver of the answer. It differs from the sender if the sender
            /// passes the access on.
            requester: NodeId,
        } [line(line), bytes(|_| operand_bytes(*op, *mask)), access],
        /// A request to write all dirty bytes to memory and answer then.
        Flush {
            /// The waiting request.
            slot: Slot,
        },
        /// A request to invalidate all clean bytes and answer then.
        Invalidate {
            /// The waiting request.
            slot: Slot,
        },
    }
}

messages! {
    /// To a first-level cache or port.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToL1 {
        /// The requested line.
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
            /// The waiting request.
            slot: Slot,
            /// The number of bytes that it reads.
            bytes: u8,
            /// The bytes that it reads.
            data: LineData,
        } [bytes(|_| u32::from(*bytes))],
        /// A bank has flushed or invalidated.
        BankDone {
            /// The waiting request.
            slot: Slot,
        },
    }
}

/// The number of operand bytes that the message of an access carries.
pub(crate) fn operand_bytes(op: Op, mask: ByteMask) -> u32 {
    if matches!(op, Op::Store | Op::Rmw(_)) { mask.count() } else { 0 }
}
