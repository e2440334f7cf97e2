//! The messages of registration, in addition to the shared ones.

use crate::parts::{self, AccessSite, operand_bytes};
use proto::{ByteMask, LineAddr, LineData, NodeId, Op, Slot, messages};

messages! {
    /// To an L2 bank. A flush or an invalidation recalls all registered lines.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToBank = Shared(parts::ToBank) [order(keeps_order)] {
        /// A request for registration. From the owner, a request for the bytes.
        Register {
            /// The line.
            line: LineAddr,
            /// The bytes that the atomic needs; none for a line with stored data.
            mask: ByteMask,
            /// The request that waits for the grant alone, if any.
            slot: Option<Slot>,
        } [line(line), access, order(false)],
        /// The return of a registration, after an eviction or a recall.
        Return {
            /// The line.
            line: LineAddr,
            /// The dirty bytes.
            mask: ByteMask,
            /// The bytes.
            data: LineData,
            /// Whether the message carries the rest of the line too.
            whole: bool,
        } [line(line), bytes(|line_bytes| if *whole { line_bytes } else { mask.count() }), writes(mask)],
    }
}

messages! {
    /// To a first-level cache.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToL1 = Shared(parts::ToL1) {
        /// The line is registered to this cache.
        Grant {
            /// The line.
            line: LineAddr,
            /// The requested bytes.
            mask: ByteMask,
            /// The waiting request.
            slot: Option<Slot>,
            /// The bytes of the whole line.
            data: LineData,
        } [line(line), bytes(|line_bytes| line_bytes)],
        /// A request to return the registration of the line.
        Recall {
            /// The line.
            line: LineAddr,
        } [line(line)],
        /// An access of another cache to a line that is registered here.
        Forward {
            /// The line.
            line: LineAddr,
            /// The accessed bytes.
            mask: ByteMask,
            /// The bytes to store, or the operands.
            data: LineData,
            /// Load, store or read-modify-write.
            op: Op,
            /// The waiting request.
            slot: Slot,
            /// The node of the waiting request.
            requester: NodeId,
        } [line(line), bytes(|_| operand_bytes(*op, *mask))],
        /// A request to send the line to another cache that loads data. The line stays
        /// registered here.
        Serve {
            /// The line.
            line: LineAddr,
            /// The cache that loads data.
            requester: NodeId,
        } [line(line)],
    }
}

/// Whether a message keeps its order behind parked accesses. A recall waits for a flush,
/// and a flush for writes. So a write or a flush must not wait behind an access that waits
/// for a recall. A request of the owner for the bytes must not either.
fn keeps_order(msg: &parts::ToBank) -> bool {
    use parts::ToBank::{Access, Flush, Get, Invalidate, Write};
    match msg {
        Get { .. } => true,
        Access { site, op, .. } => !(*site == AccessSite::Here && *op == Op::Store),
        Write { .. } | Flush { .. } | Invalidate { .. } => false,
    }
}
