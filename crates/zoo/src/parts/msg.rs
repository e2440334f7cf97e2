//! The messages between a first-level cache or port and the L2 banks.

use proto::{ByteMask, LineAddr, LineData, NodeId, Op, Slot, messages};

/// The place where an access is performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessSite {
    /// The access is performed at the L2, even if a first-level cache is registered for the line.
    Here,
    /// The access is performed at the first-level cache that is registered for the line, or at the
    /// L2 if no cache is registered.
    Anywhere,
    /// The access is performed at the L2, after the line's registration has been recalled.
    Unregistered,
    /// The access is performed in memory, after the line's registration has been recalled.
    System,
}

/// The form in which a bank answers an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// The answer is [`ToL1::Done`] for the request that waits in this slot.
    Request(Slot),
    /// The answer is [`ToL1::Data`], which carries the whole line to an L1.
    Line,
    /// The answer is [`ToL1::WriteAck`]. Only a later flush waits for this ack.
    Posted {
        /// A bit that the write carries, and that the ack carries back. It distinguishes writes
        /// before a flush from later writes.
        parity: bool,
    },
}

messages! {
    /// A message to an L2 bank.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToBank {
        /// A request for the whole line.
        Get {
            /// The requested line.
            line: LineAddr,
        } [line(line), access],
        /// Dirty bytes that a first-level cache writes out.
        Write {
            /// The line of the dirty bytes.
            line: LineAddr,
            /// The mask of the dirty bytes.
            mask: ByteMask,
            /// The values of the dirty bytes, at their offsets in the line.
            data: LineData,
            /// A bit that the ack carries back. It distinguishes writes before a flush from later
            /// writes.
            parity: bool,
        } [line(line), bytes(|_| mask.count()), access, writes(mask)],
        /// A load, store or read-modify-write that is performed at the L2 or below.
        Access {
            /// The accessed line.
            line: LineAddr,
            /// The mask of the accessed bytes.
            mask: ByteMask,
            /// The bytes to store, or the operands of a read-modify-write.
            data: LineData,
            /// The operation: load, store or read-modify-write.
            op: Op,
            /// The place where the access is performed.
            site: AccessSite,
            /// The form in which the answer must be sent.
            answer: Answer,
            /// The receiver of the answer. It is not the sender if the sender only passes the
            /// access on.
            requester: NodeId,
        } [line(line), bytes(|_| operand_bytes(*op, *mask)), access],
        /// A request to write all dirty bytes of the bank to memory, and then answer.
        Flush {
            /// The slot of the waiting request.
            slot: Slot,
        },
        /// A request to invalidate all clean bytes of the bank, and then answer.
        Invalidate {
            /// The slot of the waiting request.
            slot: Slot,
        },
    }
}

messages! {
    /// A message to a first-level cache or port.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToL1 {
        /// The line that the receiver requested.
        Data {
            /// The address of the line.
            line: LineAddr,
            /// The bytes of the line.
            data: LineData,
        } [line(line), bytes(|line_bytes| line_bytes)],
        /// The ack of a write that has been performed.
        WriteAck {
            /// The bit that the write carried. It distinguishes writes before a flush from later
            /// writes.
            parity: bool,
        },
        /// The answer to an access that has been performed.
        Done {
            /// The slot of the waiting request.
            slot: Slot,
            /// The number of bytes that the access reads.
            bytes: u8,
            /// The bytes that the access reads, at their offsets in the line.
            data: LineData,
        } [bytes(|_| u32::from(*bytes))],
        /// The answer of a bank that has flushed or invalidated.
        BankDone {
            /// The slot of the waiting request.
            slot: Slot,
        },
    }
}

/// The number of operand bytes that the message of an access carries.
pub(crate) fn operand_bytes(op: Op, mask: ByteMask) -> u32 {
    if matches!(op, Op::Store | Op::Rmw(_)) { mask.count() } else { 0 }
}
